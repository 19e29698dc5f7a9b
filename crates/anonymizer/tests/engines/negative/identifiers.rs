//! Corruptions that publish who somebody is.

use rand::RngExt;
use sha2::{Digest, Sha256};
use vizard_anonymizer::microdata::TableColumn;
use vizard_anonymizer::release::{Cell, Cells, Content, PublishedColumn};

use super::{Corruption, Done, Random, any, corruption};
use crate::case::{Case, dictionary};

pub fn corruptions() -> Vec<Corruption> {
    vec![
        corruption(
            "copy the key into a column of its own",
            &["tables_and_columns", "no_source_identifier"],
            copy_key,
        ),
        corruption(
            "copy another identifier into a column of its own",
            &["tables_and_columns", "no_source_identifier"],
            copy_email,
        ),
        corruption(
            "publish SHA-256 of the key in hexadecimal",
            &["tables_and_columns", "no_source_identifier"],
            |case, random| hashed(case, random, hex),
        ),
        corruption(
            "publish SHA-256 of the key, cut short",
            &["tables_and_columns", "no_source_identifier"],
            |case, random| hashed(case, random, |digest| hex(digest)[..16].to_uppercase()),
        ),
        corruption(
            "publish SHA-256 of the key in Base64",
            &["tables_and_columns", "no_source_identifier"],
            |case, random| hashed(case, random, base64),
        ),
        corruption(
            "publish a digest that no key has",
            &["tables_and_columns", "no_source_identifier"],
            salted,
        ),
        corruption(
            "put a key in place of a label",
            &["cells_cover_their_source", "no_source_identifier"],
            key_for_label,
        ),
        corruption(
            "put a digest in place of an insensitive value",
            &["insensitive_exact", "no_source_identifier"],
            digest_for_ward,
        ),
        corruption(
            "put a key among the values of a bucket",
            &["buckets_well_formed", "no_source_identifier"],
            key_for_value,
        ),
        corruption(
            "hide a key inside a longer text",
            &["cells_cover_their_source", "no_source_identifier"],
            key_inside_label,
        ),
    ]
}

fn key(case: &Case, row: usize) -> String {
    case.table
        .subject_keys()
        .get(case.subjects()[row].at())
        .to_owned()
}

fn add_column(case: &mut Case, name: &str, content: Content, cells: Vec<Cell>) {
    let column = PublishedColumn {
        name: name.into(),
        content,
        kind: None,
        cells: dictionary(cells),
    };
    case.published_mut("microdata").columns.push(column);
}

fn copy_key(case: &mut Case, random: &mut Random) -> Done {
    let cells = (0..case.rows()).map(|row| Cell::Label(key(case, row)));
    let content = any(&[Content::Exact, Content::Generalized], random).unwrap();
    let name = any(&["patient", "id", "row"], random).unwrap();
    add_column(case, name, content, cells.collect());
    Done::Seal
}

fn copy_email(case: &mut Case, _: &mut Random) -> Done {
    let index = case.attribute("email");
    let TableColumn::Identifier(texts) = &case.table.columns()[index.at()] else {
        panic!("email is an identifier");
    };
    let cells = (0..case.rows()).map(|row| Cell::Label(texts.get(case.record(row).at()).into()));
    let cells = cells.collect();
    add_column(case, "contact", Content::Exact, cells);
    Done::Seal
}

fn hashed(case: &mut Case, _: &mut Random, write: impl Fn(&[u8]) -> String) -> Done {
    let cells = (0..case.rows()).map(|row| {
        let digest = Sha256::digest(key(case, row).as_bytes());
        Cell::Label(write(&digest))
    });
    let cells = cells.collect();
    add_column(case, "token", Content::Exact, cells);
    Done::Seal
}

/// 16 random bytes, as a salted MD5 would look.
fn salted(case: &mut Case, random: &mut Random) -> Done {
    let cells = (0..case.rows()).map(|_| {
        let bytes: Vec<u8> = (0..16).map(|_| random.random()).collect();
        Cell::Label(hex(&bytes))
    });
    let cells = cells.collect();
    add_column(case, "token", Content::Exact, cells);
    Done::Seal
}

fn replace(case: &mut Case, name: &str, row: usize, text: String) {
    let mut cells = case.cells("microdata", name);
    cells[row] = Cell::Label(text);
    case.set_cells("microdata", name, cells);
}

fn key_for_label(case: &mut Case, random: &mut Random) -> Done {
    let row = random.random_range(0..case.rows());
    let name = any(&["city", "job"], random).unwrap();
    let text = key(case, row);
    replace(case, name, row, text);
    Done::Seal
}

fn key_inside_label(case: &mut Case, random: &mut Random) -> Done {
    let row = random.random_range(0..case.rows());
    let TableColumn::Identifier(_) = &case.table.columns()[0] else {
        panic!("the first attribute is the key");
    };
    // The e-mail's words are split at `@` and `.`; its first word names it.
    let text = format!("Oslo ({})", key(case, row));
    replace(case, "city", row, text);
    Done::Seal
}

fn digest_for_ward(case: &mut Case, random: &mut Random) -> Done {
    let row = random.random_range(0..case.rows());
    let digest = hex(&Sha256::digest(key(case, row).as_bytes()));
    replace(case, "ward", row, digest);
    Done::Seal
}

fn key_for_value(case: &mut Case, random: &mut Random) -> Done {
    let mut cells = case.cells("buckets", "value");
    let attributes = case.cells("buckets", "attribute");
    let disease = |at: &usize| attributes[*at] == Cell::Label("disease".into());
    let rows: Vec<usize> = (0..cells.len()).filter(disease).collect();
    let at = any(&rows, random).unwrap();
    cells[at] = Cell::Label(key(case, random.random_range(0..case.rows())));
    case.set_cells("buckets", "value", cells);
    Done::Seal
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let chunks = bytes.chunks(3).map(|chunk| {
        let bits = chunk
            .iter()
            .fold(0_u32, |bits, &byte| bits << 8 | u32::from(byte));
        let bits = bits << (8 * (3 - chunk.len()));
        let digits = (0..=chunk.len()).map(|at| ALPHABET[(bits >> (18 - 6 * at) & 63) as usize]);
        digits.map(char::from).collect::<String>()
    });
    chunks.collect()
}

/// A patient number that is also somebody's age, or a key that is a word of
/// a domain, is no leak.
#[test]
fn a_domain_value_that_equals_a_key_is_no_identifier() {
    let mut case = super::release(1, "row");
    let keys = (0..case.table.subjects()).map(|at| match at {
        5 => "Oslo".to_owned(),
        6 => "35".to_owned(),
        7 => "nurse".to_owned(),
        8 => "12".to_owned(),
        _ => format!("K{at}"),
    });
    let keys: Vec<String> = keys.collect();
    case.table = vizard_anonymizer::microdata::Table::new(
        case.table.schema().clone(),
        case.table.columns().to_vec(),
        keys.iter().map(String::as_str).collect(),
        Vec::new(),
    );
    let verdict = case.verdict();
    assert!(
        verdict.holds(),
        "{:#?}",
        verdict.failed().collect::<Vec<_>>()
    );
}

/// Numbers of groups that are the keys of the rows' subjects.
#[test]
fn keys_in_place_of_group_numbers_are_named() {
    let mut case = super::release(1, "row");
    let keys: Vec<String> = (1..=case.table.subjects())
        .map(|at| at.to_string())
        .collect();
    case.table = vizard_anonymizer::microdata::Table::new(
        case.table.schema().clone(),
        case.table.columns().to_vec(),
        keys.iter().map(String::as_str).collect(),
        Vec::new(),
    );
    let numbers = case
        .subjects()
        .iter()
        .map(|subject| u64::from(subject.0) + 1)
        .collect();
    let column = &mut case.published_mut("microdata").columns[0];
    column.cells = Cells::Numbers(numbers);
    case.seal();
    assert!(super::failed(&case).contains(&"no_source_identifier"));
}
