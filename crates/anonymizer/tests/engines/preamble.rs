//! What every release must be is checked for every family: a family that left
//! out the common checks would let one of these corruptions through.
//!
//! Each is made on every release of `corruptions::bases`. Most touch nothing
//! that a family looks at, so that the common checks alone can name them.

use std::collections::BTreeSet;

use serde_json::json;
use vizard_anonymizer::microdata::AttributeType;
use vizard_anonymizer::privacy::{Model, Requirements};
use vizard_anonymizer::release::{Cell, Content, Guarantee, PublishedColumn};

use crate::case::{Case, dictionary};
use crate::corruptions::bases::{self, wishes};

/// The checks of every release, whatever its family.
const COMMON: [&str; 11] = [
    "tables_and_columns",
    "claims_match_policy",
    "every_record_once",
    "every_subject_once",
    "exclusions_honoured",
    "exclusions_asked_for",
    "no_source_identifier",
    "rows_in_order",
    "numbered_by_content",
    "table_digests",
    "manifest_as_rendered",
];

/// The words for the families.
const FAMILIES: [&str; 6] = [
    "blocks",
    "bucketized",
    "generalized",
    "personalized",
    "persons",
    "sliced",
];

/// One way to break a release of any family.
struct Corruption {
    name: &'static str,
    /// One of these checks must fail: which one says who rows are about.
    named_by: &'static [&'static str],
    /// Whether no check of a family may notice it.
    is_common_alone: bool,
    apply: fn(&mut Case),
}

const CORRUPTIONS: [Corruption; 10] = [
    Corruption {
        name: "another digest",
        named_by: &["table_digests"],
        is_common_alone: true,
        apply: |case| case.manifest.tables[0].sha256 = "ab".repeat(32),
    },
    Corruption {
        name: "a claim less",
        named_by: &["claims_match_policy"],
        is_common_alone: true,
        apply: |case| drop(case.manifest.guarantees.pop()),
    },
    Corruption {
        name: "a claim more",
        named_by: &["claims_match_policy"],
        is_common_alone: true,
        apply: |case| {
            let scope = "quasi-identifiers as published".into();
            let more = Guarantee::KAnonymity { k: 1_000, scope };
            case.manifest.guarantees.push(more);
        },
    },
    Corruption {
        name: "one record more in the manifest",
        named_by: &["every_record_once", "every_subject_once"],
        is_common_alone: true,
        apply: |case| case.manifest.records += 1,
    },
    Corruption {
        name: "the keys in a column of their own",
        named_by: &["no_source_identifier"],
        is_common_alone: true,
        apply: publish_keys,
    },
    Corruption {
        name: "one table twice",
        named_by: &["tables_and_columns"],
        is_common_alone: true,
        apply: |case| {
            let again = case.published(case.row_table()).clone();
            case.tables.push(again);
            case.seal();
        },
    },
    Corruption {
        name: "a published subject who asked to be left out",
        named_by: &["exclusions_honoured"],
        is_common_alone: false,
        apply: ask_to_be_left_out,
    },
    Corruption {
        name: "two rows of one subject",
        named_by: &["every_record_once", "every_subject_once"],
        is_common_alone: false,
        apply: |case| {
            let first = case.subjects()[0];
            case.subjects_mut()[1] = first;
        },
    },
    Corruption {
        name: "a row without a subject",
        named_by: &["every_record_once", "every_subject_once"],
        is_common_alone: false,
        apply: |case| {
            case.subjects_mut().pop();
        },
    },
    Corruption {
        name: "all rows turned round",
        named_by: &["rows_in_order"],
        is_common_alone: false,
        apply: |case| {
            let rows: Vec<usize> = (0..case.rows()).rev().collect();
            case.take_rows(case.row_table(), &rows);
            case.seal();
        },
    },
];

fn publish_keys(case: &mut Case) {
    let keys = case.table.subject_keys();
    let cells = case.subjects().iter();
    let cells = cells.map(|subject| Cell::Label(keys.get(subject.at()).to_owned()));
    let column = PublishedColumn {
        name: "person".into(),
        content: Content::Exact,
        kind: Some(AttributeType::Categorical),
        cells: dictionary(cells.collect()),
    };
    let table = case.row_table();
    case.published_mut(table).columns.push(column);
    case.seal();
}

fn ask_to_be_left_out(case: &mut Case) {
    let subject = case.subjects()[0];
    let key = case.table.subject_keys().get(subject.at()).to_owned();
    let mut asked = wishes(&case.ordered.engine);
    asked.retain(|preference| *preference.subject != *key);
    let wish = json!({"subject": key, "exclude": true});
    asked.push(serde_json::from_value(wish).expect("a preference"));
    let policy = case.requirements.ordered().clone();
    case.requirements = Requirements::new(&case.table, policy, &asked);
}

fn family(case: &Case) -> &'static str {
    match case.requirements.policy().model {
        Model::Bucketized { .. } => "bucketized",
        Model::Generalized { .. } => "generalized",
        Model::Personalized { .. } => "personalized",
        Model::Fingerprints { .. } | Model::Itemsets { .. } => "persons",
        Model::Blocks { .. } => "blocks",
        Model::Sliced { .. } => "sliced",
    }
}

#[test]
fn no_family_leaves_out_what_every_release_must_be() {
    let mut missed = Vec::new();
    let mut families = BTreeSet::new();
    for base in bases::all() {
        families.insert(family(&base.case));
        for corruption in &CORRUPTIONS {
            let mut broken = base.case.clone();
            (corruption.apply)(&mut broken);
            let verdict = broken.verdict();
            let failed: Vec<&str> = verdict.failed().map(|check| check.kind).collect();
            let is_named = failed.iter().any(|kind| corruption.named_by.contains(kind));
            let is_alone = failed.iter().all(|kind| COMMON.contains(kind));
            if !is_named || (corruption.is_common_alone && !is_alone) {
                missed.push(format!("{}, {}: {failed:?}", base.name, corruption.name));
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    assert_eq!(families.into_iter().collect::<Vec<_>>(), FAMILIES);
}
