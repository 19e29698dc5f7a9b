//! Corruptions of the manifest: claims, counts, digests; and terms that
//! became stricter after the release was made.

use rand::RngExt;
use serde_json::json;
use vizard_anonymizer::microdata::{Preference, Role};
use vizard_anonymizer::privacy::Requirements;
use vizard_anonymizer::release::Guarantee;

use super::super::case::Case;
use super::{Corruption, Done, Random, any, corruption};

const CLAIMS: &[&str] = &["claims_match_policy"];

pub fn corruptions() -> Vec<Corruption> {
    vec![
        corruption("claim another k", CLAIMS, claim_other_k),
        corruption("claim another l", CLAIMS, claim_other_l),
        corruption("claim another t or posterior", CLAIMS, claim_other_t),
        corruption("remove a guarantee", CLAIMS, remove_guarantee),
        corruption("repeat a guarantee", CLAIMS, repeat_guarantee),
        corruption("claim about another attribute", CLAIMS, claim_elsewhere),
        corruption(
            "name nobody as the adversary",
            &["manifest_as_rendered"],
            no_adversary,
        ),
        corruption("name the seed", &["manifest_as_rendered"], name_seed),
        corruption("count other records", &["every_record_once"], other_records),
        corruption(
            "count other excluded records",
            &["manifest_as_rendered"],
            other_excluded,
        ),
        corruption("count other rows", &["tables_and_columns"], other_rows),
        corruption("give another digest", &["table_digests"], other_digest),
        corruption(
            "describe a column wrongly",
            &["tables_and_columns"],
            other_column,
        ),
        corruption(
            "leave a table out of the manifest",
            &["tables_and_columns", "table_digests"],
            forget_table,
        ),
        corruption(
            "name another engine",
            &["manifest_as_rendered"],
            other_engine,
        ),
        corruption(
            "ask for a k that the groups do not have",
            &["k_anonymity", "max_leakage", "linkage"],
            stricter_k,
        ),
        corruption(
            "ask for an l that the buckets do not have",
            &["l_diversity", "max_leakage", "candidates_remain"],
            stricter_l,
        ),
        corruption(
            "flag a value that is published",
            &["flagged_cells_in_one_bucket"],
            flag_more,
        ),
        corruption(
            "ask to be left out of what is published",
            &["exclusions_honoured"],
            exclude_more,
        ),
    ]
}

fn change(case: &mut Case, change: impl Fn(&mut Guarantee) -> bool, random: &mut Random) -> Done {
    let mut changed: Vec<usize> = Vec::new();
    for (at, guarantee) in case.manifest.guarantees.iter().enumerate() {
        if change(&mut guarantee.clone()) {
            changed.push(at);
        }
    }
    let Some(at) = any(&changed, random) else {
        return Done::Skip;
    };
    change(&mut case.manifest.guarantees[at]);
    Done::Keep
}

fn claim_other_k(case: &mut Case, random: &mut Random) -> Done {
    let other = any(&[1, 3, 5, 100], random).unwrap();
    let set = |guarantee: &mut Guarantee| match guarantee {
        Guarantee::KAnonymity { k, .. } => {
            *k = other;
            true
        }
        _ => false,
    };
    change(case, set, random)
}

fn claim_other_l(case: &mut Case, random: &mut Random) -> Done {
    let more = random.random_range(0..2) == 0;
    let set = |guarantee: &mut Guarantee| match guarantee {
        Guarantee::LDiversity { l, .. } => {
            *l = if more { *l + 1 } else { *l - 1 };
            true
        }
        _ => false,
    };
    change(case, set, random)
}

fn claim_other_t(case: &mut Case, random: &mut Random) -> Done {
    let which = random.random_range(0..3);
    let set = |guarantee: &mut Guarantee| match guarantee {
        Guarantee::TCloseness {
            t, max_posterior, ..
        } => {
            match which {
                0 => *t = 0.1,
                1 => *t = f64::NAN,
                _ => *max_posterior = 0.5,
            }
            true
        }
        Guarantee::MinSpread { min_spread, .. } if which == 2 => {
            *min_spread += 1.0;
            true
        }
        _ => false,
    };
    change(case, set, random)
}

fn remove_guarantee(case: &mut Case, random: &mut Random) -> Done {
    let at = random.random_range(0..case.manifest.guarantees.len());
    case.manifest.guarantees.remove(at);
    Done::Keep
}

fn repeat_guarantee(case: &mut Case, random: &mut Random) -> Done {
    let again = any(&case.manifest.guarantees, random).unwrap();
    case.manifest.guarantees.push(again);
    Done::Keep
}

fn claim_elsewhere(case: &mut Case, random: &mut Random) -> Done {
    let set = |guarantee: &mut Guarantee| match guarantee {
        Guarantee::LDiversity { attribute, .. }
        | Guarantee::RandomizedResponse { attribute, .. }
        | Guarantee::RingDiversity { attribute, .. }
        | Guarantee::TCloseness { attribute, .. }
        | Guarantee::MinSpread { attribute, .. }
        | Guarantee::MaxLeakage { attribute, .. } => {
            *attribute = "city".into();
            true
        }
        _ => false,
    };
    change(case, set, random)
}

fn no_adversary(case: &mut Case, _: &mut Random) -> Done {
    case.manifest.adversary = " ".into();
    Done::Keep
}

fn name_seed(case: &mut Case, _: &mut Random) -> Done {
    case.manifest.parameters["seed"] = json!(7);
    Done::Keep
}

fn other_records(case: &mut Case, random: &mut Random) -> Done {
    case.manifest.records = any(&[0, 178, 180, u64::MAX], random).unwrap();
    Done::Keep
}

fn other_excluded(case: &mut Case, random: &mut Random) -> Done {
    case.manifest.excluded = any(&[2, 180, u64::MAX], random).unwrap();
    Done::Keep
}

fn other_rows(case: &mut Case, random: &mut Random) -> Done {
    let at = random.random_range(0..case.manifest.tables.len());
    case.manifest.tables[at].rows += 1;
    Done::Keep
}

fn other_digest(case: &mut Case, random: &mut Random) -> Done {
    let at = random.random_range(0..case.manifest.tables.len());
    case.manifest.tables[at].sha256 = any(&["", "00", &"ab".repeat(32)], random).unwrap().into();
    Done::Keep
}

fn other_column(case: &mut Case, random: &mut Random) -> Done {
    let table = random.random_range(0..case.manifest.tables.len());
    let columns = &mut case.manifest.tables[table].columns;
    let at = random.random_range(0..columns.len());
    match random.random_range(0..3) {
        0 => columns[at].name.push('x'),
        1 => drop(columns.remove(at)),
        _ => columns[at].masked = !columns[at].masked,
    }
    Done::Keep
}

fn forget_table(case: &mut Case, random: &mut Random) -> Done {
    let at = random.random_range(0..case.manifest.tables.len());
    case.manifest.tables.remove(at);
    Done::Keep
}

fn other_engine(case: &mut Case, _: &mut Random) -> Done {
    case.manifest.engine = "unknown".into();
    Done::Keep
}

/// Joins one more preference with the policy of the release.
pub fn demand(case: &mut Case, row: usize, terms: serde_json::Value) -> Done {
    let key = case
        .table
        .subject_keys()
        .get(case.subjects()[row].at())
        .to_owned();
    let mut document = terms;
    document["subject"] = json!(key);
    let preference: Preference = serde_json::from_value(document).expect("a preference");
    // Everybody else keeps asking for what the release was made for.
    let before = case.requirements.clone();
    let all = (0..case.table.records()).map(|at| {
        let terms = before.of(vizard_anonymizer::microdata::RecordIndex::from_usize(at));
        let flagged = before
            .protected()
            .filter(|&index| terms.flags.contains(index));
        let names = flagged.map(|index| {
            case.table
                .schema()
                .attribute(before.attribute(index))
                .name
                .clone()
        });
        let names: Vec<String> = names.collect();
        let key = case.table.subject_keys().get(at);
        let document = json!({"subject": key, "sensitive": names, "exclude": terms.exclude});
        serde_json::from_value(document).expect("a preference")
    });
    let mut preferences: Vec<Preference> = all.collect();
    preferences.retain(|other| other.subject != key);
    preferences.push(preference);
    case.requirements = Requirements::new(&case.table, before.policy().clone(), &preferences);
    Done::Keep
}

fn sensitive_names(case: &Case, row: usize) -> Vec<&'static str> {
    ["age", "sex"]
        .into_iter()
        .filter(|name| {
            let attribute = case.table.schema().attribute(case.attribute(name));
            attribute.role == Role::SemiSensitive && case.flagged(name, row)
        })
        .collect()
}

fn stricter_k(case: &mut Case, random: &mut Random) -> Done {
    let row = random.random_range(0..case.rows());
    let names = sensitive_names(case, row);
    demand(
        case,
        row,
        json!({"sensitive": names, "max_reidentification": 0.005}),
    )
}

fn stricter_l(case: &mut Case, random: &mut Random) -> Done {
    let row = random.random_range(0..case.rows());
    let names = sensitive_names(case, row);
    demand(case, row, json!({"sensitive": names, "max_leakage": 0.01}))
}

/// The age is published as an interval; now it should not be.
fn flag_more(case: &mut Case, random: &mut Random) -> Done {
    let cells = case.cells("microdata", "age");
    let shown = |row: &usize| matches!(cells[*row], vizard_anonymizer::release::Cell::Integer(..));
    let row = any(&(0..case.rows()).filter(shown).collect::<Vec<_>>(), random).unwrap();
    demand(case, row, json!({"sensitive": ["age", "sex"]}))
}

fn exclude_more(case: &mut Case, random: &mut Random) -> Done {
    let row = random.random_range(0..case.rows());
    let names = sensitive_names(case, row);
    demand(case, row, json!({"sensitive": names, "exclude": true}))
}
