//! The manifest: claims, counts, digests; and terms and floors that the
//! release does not keep.

use rand::RngExt;
use serde_json::json;
use vizard_anonymizer::microdata::Preference;
use vizard_anonymizer::privacy::{K, L, Model, Policy, Requirements};
use vizard_anonymizer::release::Guarantee;

use super::base::{Engine, preferences};
use super::is_rmr;
use crate::case::Case;
use crate::negative::{Corruption, Done, Random, any, corruption};

const CLAIMS: &[&str] = &["claims_match_policy"];

pub fn corruptions() -> Vec<Corruption> {
    let mut all = guarantees();
    all.extend(descriptions());
    all.extend(floors());
    all.extend(terms());
    all
}

/// Claims that are not those of the policy.
fn guarantees() -> Vec<Corruption> {
    vec![
        corruption("claim more", CLAIMS, |case, random| claim(case, random, 1)),
        corruption("claim less", CLAIMS, |case, random| claim(case, random, -1)),
        corruption(
            "claim diversity of one attribute",
            CLAIMS,
            |case, random| {
                let attribute = any(&["disease", "drug"], random).unwrap().into();
                let l = 2;
                let claim = Guarantee::LDiversity { attribute, l };
                case.manifest.guarantees.push(claim);
                Done::Keep
            },
        ),
    ]
}

/// Digests, columns and names that are not those of the release.
fn descriptions() -> Vec<Corruption> {
    vec![
        corruption(
            "change the table, not its digest",
            &["table_digests"],
            |case, _| {
                let mut numbers = case.numbers("persons", "group");
                numbers.swap(0, 1);
                numbers[0] += 1;
                case.set_numbers("persons", "group", numbers);
                Done::Keep
            },
        ),
        corruption(
            "name another engine",
            &["manifest_as_rendered"],
            |case, random| {
                let other = if is_rmr(case) { "one_to_many" } else { "rmr" };
                let names = ["lgb", "mondrian", "", other];
                case.manifest.engine = any(&names, random).unwrap().into();
                Done::Keep
            },
        ),
    ]
}

/// Another number in some claim that has one.
fn claim(case: &mut Case, random: &mut Random, by: i32) -> Done {
    let claims = &mut case.manifest.guarantees;
    let numbers = claims.iter_mut().filter_map(|claim| match claim {
        Guarantee::KAnonymity { k, .. }
        | Guarantee::FingerprintK { k }
        | Guarantee::KmAnonymity { k, .. } => Some(k),
        Guarantee::LDiversity { l, .. } | Guarantee::ValueL { l } => Some(l),
        _ => None,
    });
    let mut numbers: Vec<&mut u32> = numbers.collect();
    let at = random.random_range(0..numbers.len());
    *numbers[at] = numbers[at].checked_add_signed(by).unwrap();
    Done::Keep
}

fn floors() -> Vec<Corruption> {
    vec![
        corruption(
            "ask for larger groups",
            &["k_anonymity", "linkage"],
            |case, _| {
                policy(case, |policy| match &mut policy.model {
                    Model::Fingerprints { k_group, .. } => increase(k_group),
                    Model::Itemsets { .. } => policy.k = K::new(13).unwrap(),
                    _ => {}
                })
            },
        ),
        corruption(
            "ask for one more of a fingerprint",
            &["fingerprint_k"],
            |case, _| {
                if is_rmr(case) {
                    Done::Skip
                } else {
                    policy(case, |policy| increase(&mut policy.k))
                }
            },
        ),
        corruption(
            "ask for one more of a combination",
            &["km_anonymity"],
            |case, _| {
                if is_rmr(case) {
                    policy(case, |policy| increase(&mut policy.k))
                } else {
                    Done::Skip
                }
            },
        ),
        corruption("ask for one more value", &["value_l"], |case, _| {
            if is_rmr(case) {
                Done::Skip
            } else {
                policy(case, |policy| {
                    if let Model::Fingerprints { value_l, .. } = &mut policy.model {
                        *value_l = L::new(value_l.get() + 1).unwrap();
                    }
                })
            }
        }),
    ]
}

/// Terms that somebody asks for once everything is published.
fn terms() -> Vec<Corruption> {
    vec![
        corruption(
            "let somebody ask for a larger group",
            &["k_anonymity", "max_leakage"],
            |case, random| ask(case, random, json!({"max_reidentification": 0.02})),
        ),
        corruption(
            "let somebody ask for more of theirs",
            &["max_leakage"],
            |case, random| ask(case, random, json!({"max_reidentification": 0.02})),
        ),
        corruption(
            "let somebody ask for another l",
            &["max_leakage"],
            |case, random| ask(case, random, json!({"max_leakage": 0.125})),
        ),
        corruption(
            "let somebody of a group ask for another l",
            &["l_diversity"],
            |case, random| {
                if is_rmr(case) {
                    Done::Skip
                } else {
                    ask(case, random, json!({"max_leakage": {"drug": 0.125}}))
                }
            },
        ),
        corruption(
            "let somebody ask to be left out",
            &["exclusions_honoured"],
            |case, random| ask(case, random, json!({"exclude": true})),
        ),
    ]
}

fn increase(k: &mut K) {
    *k = K::new(k.get() + 1).expect("a k");
}

fn given(case: &Case) -> Vec<Preference> {
    preferences(if is_rmr(case) {
        Engine::Rmr
    } else {
        Engine::OneToMany
    })
}

/// Another policy, which the manifest claims to follow.
fn policy(case: &mut Case, change: impl Fn(&mut Policy)) -> Done {
    let mut policy = case.requirements.policy().clone();
    change(&mut policy);
    let floor = policy.k.get();
    for claim in &mut case.manifest.guarantees {
        match (claim, &policy.model) {
            (Guarantee::KAnonymity { k, .. }, Model::Fingerprints { k_group, .. }) => {
                *k = k_group.get();
            }
            (Guarantee::ValueL { l }, Model::Fingerprints { value_l, .. }) => *l = value_l.get(),
            (
                Guarantee::KAnonymity { k, .. }
                | Guarantee::FingerprintK { k }
                | Guarantee::KmAnonymity { k, .. },
                _,
            ) => *k = floor,
            _ => {}
        }
    }
    case.requirements = Requirements::new(&case.table, policy, &given(case));
    Done::Keep
}

fn ask(case: &mut Case, random: &mut Random, document: serde_json::Value) -> Done {
    let given = given(case);
    crate::negative::ask(case, random, given, document)
}
