//! What is wrong with a manifest whatever its engine: claims, counts, digests,
//! descriptions and texts that are not those of the release.

use rand::RngExt;
use serde_json::json;

use super::{Corruption, Done, Random, any, corruption};
use crate::case::Case;

const CLAIMS: &[&str] = &["claims_match_policy"];

pub fn corruptions() -> Vec<Corruption> {
    let mut all = claims_and_texts();
    all.extend(counts());
    all.extend(descriptions());
    all
}

fn claims_and_texts() -> Vec<Corruption> {
    vec![
        corruption("claim nothing of one kind", CLAIMS, |case, random| {
            let at = random.random_range(0..case.manifest.guarantees.len());
            case.manifest.guarantees.remove(at);
            Done::Keep
        }),
        corruption("claim something twice", CLAIMS, |case, random| {
            let again = any(&case.manifest.guarantees, random).unwrap();
            case.manifest.guarantees.push(again);
            Done::Keep
        }),
        corruption(
            "name nobody as the adversary",
            &["manifest_as_rendered"],
            |case, random| {
                case.manifest.adversary = any(&[" ", "\t", ""], random).unwrap().into();
                Done::Keep
            },
        ),
        corruption("name the seed", &["manifest_as_rendered"], |case, _| {
            case.manifest.parameters["seed"] = json!(7);
            Done::Keep
        }),
        corruption(
            "replace the parameters",
            &["manifest_as_rendered"],
            |case, _| {
                case.manifest.parameters = json!({"seed": 7});
                Done::Keep
            },
        ),
        corruption(
            "write another format",
            &["manifest_as_rendered"],
            |case, random| {
                let formats = ["vizard-release/0", "vizard-release/9", ""];
                case.manifest.format = any(&formats, random).unwrap().into();
                Done::Keep
            },
        ),
        corruption(
            "name an engine that there is not",
            &["manifest_as_rendered"],
            |case, random| {
                let names = ["unknown", "", "personalised", "slice"];
                case.manifest.engine = any(&names, random).unwrap().into();
                Done::Keep
            },
        ),
    ]
}

fn counts() -> Vec<Corruption> {
    vec![
        corruption(
            "count other excluded records",
            &["manifest_as_rendered"],
            |case, random| {
                case.manifest.excluded = any(&[2, 180, u64::MAX], random).unwrap();
                Done::Keep
            },
        ),
        corruption(
            "count other records",
            &["every_record_once"],
            |case, random| other_records(case, false, random),
        ),
        corruption(
            "count other persons",
            &["every_subject_once"],
            |case, random| other_records(case, true, random),
        ),
        corruption(
            "count more rows",
            &["tables_and_columns"],
            |case, random| other_rows(case, 1, random),
        ),
        corruption(
            "count fewer rows",
            &["tables_and_columns"],
            |case, random| other_rows(case, -1, random),
        ),
    ]
}

/// Of the tables: their digests, columns and number.
fn descriptions() -> Vec<Corruption> {
    vec![
        corruption("give another digest", &["table_digests"], |case, random| {
            let at = random.random_range(0..case.manifest.tables.len());
            let digests = ["", "00", &"ab".repeat(32), &"0".repeat(64)];
            case.manifest.tables[at].sha256 = any(&digests, random).unwrap().into();
            Done::Keep
        }),
        corruption(
            "change one digit of a digest",
            &["table_digests"],
            |case, random| {
                let digest = &mut case.manifest.tables[0].sha256;
                let at = random.random_range(0..digest.len());
                let other = match digest.as_bytes()[at] {
                    b'0' => "1",
                    _ => "0",
                };
                digest.replace_range(at..=at, other);
                Done::Keep
            },
        ),
        corruption(
            "describe a column wrongly",
            &["tables_and_columns"],
            |case, random| {
                let table = random.random_range(0..case.manifest.tables.len());
                let columns = &mut case.manifest.tables[table].columns;
                let at = random.random_range(0..columns.len());
                match random.random_range(0..3) {
                    0 => columns[at].name.push('x'),
                    1 => drop(columns.remove(at)),
                    _ => columns[at].masked = !columns[at].masked,
                }
                Done::Keep
            },
        ),
        corruption(
            "leave a table out of the manifest",
            &["tables_and_columns", "table_digests"],
            |case, random| {
                let at = random.random_range(0..case.manifest.tables.len());
                case.manifest.tables.remove(at);
                Done::Keep
            },
        ),
        corruption(
            "describe a table twice",
            &["tables_and_columns"],
            |case, _| {
                let again = case.manifest.tables[0].clone();
                case.manifest.tables.push(again);
                Done::Keep
            },
        ),
    ]
}

fn other_rows(case: &mut Case, by: i64, random: &mut Random) -> Done {
    let at = random.random_range(0..case.manifest.tables.len());
    let rows = &mut case.manifest.tables[at].rows;
    *rows = rows.saturating_add_signed(by);
    Done::Keep
}

/// Another number of records, where rows are records (`persons` is false) or
/// persons.
fn other_records(case: &mut Case, persons: bool, random: &mut Random) -> Done {
    if persons != (case.tables[0].name == "persons") {
        return Done::Skip;
    }
    let records = case.manifest.records;
    case.manifest.records = any(&[0, records - 1, records + 1, u64::MAX], random).unwrap();
    Done::Keep
}
