//! Claims that `lgb` alone could make, and terms that
//! became stricter after the release was made.

use rand::RngExt;
use serde_json::json;
use vizard_anonymizer::microdata::{Preference, Role};
use vizard_anonymizer::privacy::Requirements;
use vizard_anonymizer::release::Guarantee;

use super::{Corruption, Done, Random, any, corruption};
use crate::case::Case;

const CLAIMS: &[&str] = &["claims_match_policy"];

pub fn corruptions() -> Vec<Corruption> {
    vec![
        corruption("claim another k", CLAIMS, claim_other_k),
        corruption("claim another l", CLAIMS, claim_other_l),
        corruption("claim another t or posterior", CLAIMS, claim_other_t),
        corruption("claim about another attribute", CLAIMS, claim_elsewhere),
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
