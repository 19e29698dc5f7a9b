//! The manifest, and terms and floors that the release does not keep.

use serde_json::json;
use vizard_anonymizer::privacy::{InBucket, K, L, Model, Policy, Requirements, Share, Spread, T};
use vizard_anonymizer::release::Guarantee;

use super::base::wishes;
use crate::case::Case;
use crate::negative::{Corruption, Done, Random, any, corruption};

const CLAIMS: &[&str] = &["claims_match_policy"];

pub fn corruptions() -> Vec<Corruption> {
    let mut all = guarantees();
    all.extend(texts());
    all.extend(floors());
    all
}

fn claim(case: &mut Case, more: bool) -> Done {
    for guarantee in &mut case.manifest.guarantees {
        match guarantee {
            Guarantee::LDiversity { l, .. } if more => *l += 1,
            Guarantee::LDiversity { l, .. } => *l -= 1,
            Guarantee::TCloseness { t, .. } if more => *t /= 2.0,
            Guarantee::TCloseness { t, .. } => *t += 0.1,
            _ => {}
        }
    }
    Done::Keep
}

fn guarantees() -> Vec<Corruption> {
    vec![
        corruption("claim more", CLAIMS, |case, _| claim(case, true)),
        corruption("claim less", CLAIMS, |case, _| claim(case, false)),
        corruption("claim a spread", CLAIMS, |case, _| {
            let attribute = "job".into();
            let min_spread = 2.0;
            let claim = Guarantee::MinSpread {
                attribute,
                min_spread,
            };
            case.manifest.guarantees.push(claim);
            Done::Keep
        }),
        corruption(
            "claim diversity of a quasi-identifier",
            CLAIMS,
            |case, _| {
                let attribute = "city".into();
                case.manifest
                    .guarantees
                    .push(Guarantee::LDiversity { attribute, l: 2 });
                Done::Keep
            },
        ),
        corruption("claim a larger k", CLAIMS, |case, _| {
            if let Some(Guarantee::KAnonymity { k, .. }) = case.manifest.guarantees.first_mut() {
                *k += 1;
            }
            Done::Keep
        }),
    ]
}

fn texts() -> Vec<Corruption> {
    vec![corruption(
        "be of another engine",
        &["manifest_as_rendered"],
        |case, random| {
            case.manifest.engine = any(&["lgb", "one_to_many", "slice"], random)
                .unwrap()
                .into();
            Done::Keep
        },
    )]
}

/// The protection of the first sensitive attribute.
fn first(policy: &Policy) -> InBucket {
    match &policy.model {
        Model::Sliced { protections, .. } => protections[0].1,
        _ => panic!("the policy is of slicing"),
    }
}

fn set_first(policy: &mut Policy, protection: InBucket) {
    match &mut policy.model {
        Model::Sliced { protections, .. } => protections[0].1 = protection,
        _ => panic!("the policy is of slicing"),
    }
}

/// Another policy, which the manifest claims to follow.
fn policy(case: &mut Case, change: impl Fn(&mut Policy)) -> Done {
    let mut policy = case.requirements.policy().clone();
    change(&mut policy);
    for claim in &mut case.manifest.guarantees {
        match (claim, first(&policy)) {
            (Guarantee::KAnonymity { k, .. }, _) => *k = policy.k.get(),
            (Guarantee::LDiversity { l, .. }, InBucket::Diversity { l: floor, .. }) => {
                *l = floor.get();
            }
            (Guarantee::TCloseness { t, .. }, InBucket::Closeness { t: bound, .. }) => {
                *t = bound.get();
            }
            _ => {}
        }
    }
    case.requirements = Requirements::new(&case.table, policy, &wishes());
    Done::Keep
}

fn floors() -> Vec<Corruption> {
    vec![
        corruption(
            "ask for an l that nobody has",
            &["l_diversity", "max_leakage"],
            |case, _| {
                let diverse = matches!(
                    first(case.requirements.policy()),
                    InBucket::Diversity { .. }
                );
                let protection = InBucket::Diversity {
                    l: L::new(7).unwrap(),
                    min_spread: Spread::Nothing,
                };
                if diverse {
                    policy(case, |policy| set_first(policy, protection))
                } else {
                    Done::Skip
                }
            },
        ),
        corruption(
            "ask for a t that nothing has",
            &["t_closeness"],
            |case, _| {
                let diverse = matches!(
                    first(case.requirements.policy()),
                    InBucket::Diversity { .. }
                );
                let protection = InBucket::Closeness {
                    t: T::new(0.01).unwrap(),
                    max_posterior: Share::ALL,
                };
                if diverse {
                    Done::Skip
                } else {
                    policy(case, |policy| set_first(policy, protection))
                }
            },
        ),
        corruption(
            "ask for a k that no bucket has",
            &["k_anonymity", "linkage"],
            |case, _| policy(case, |policy| policy.k = K::new(200).unwrap()),
        ),
        corruption(
            "let a subject ask for more than can be",
            &["max_leakage"],
            |case, random| {
                if matches!(
                    first(case.requirements.policy()),
                    InBucket::Closeness { .. }
                ) {
                    return ask(case, random, json!({"max_leakage": {"job": 0.01}}));
                }
                ask(case, random, json!({"max_leakage": 0.01}))
            },
        ),
        corruption(
            "let a subject ask for a larger bucket",
            &["k_anonymity", "max_leakage", "linkage"],
            |case, random| ask(case, random, json!({"max_reidentification": 0.005})),
        ),
        corruption(
            "let a subject ask to be left out",
            &["exclusions_honoured"],
            |case, random| ask(case, random, json!({"exclude": true})),
        ),
    ]
}

fn ask(case: &mut Case, random: &mut Random, document: serde_json::Value) -> Done {
    crate::negative::ask(case, random, wishes(), document)
}
