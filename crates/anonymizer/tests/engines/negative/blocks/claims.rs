//! The manifest: claims, counts, digests; and terms and floors that the
//! release does not keep.

use serde_json::json;
use vizard_anonymizer::privacy::{BlockForm, L, Model, Policy, Protection, Requirements, Spread};
use vizard_anonymizer::release::Guarantee;

use super::base::{JOB_L, preferences};
use crate::case::Case;
use crate::negative::{Corruption, Done, Random, corruption};

const CLAIMS: &[&str] = &["claims_match_policy"];

pub fn corruptions() -> Vec<Corruption> {
    let mut all = claims();
    all.extend(texts());
    all.extend(terms());
    all
}

/// Claims that are not those of the policy.
fn claims() -> Vec<Corruption> {
    vec![
        corruption("claim more", CLAIMS, |case, _| claim(case, JOB_L + 1)),
        corruption("claim less", CLAIMS, |case, _| claim(case, JOB_L - 1)),
        corruption("claim k-anonymity", CLAIMS, |case, _| {
            let scope = "everyone".into();
            case.manifest
                .guarantees
                .push(Guarantee::KAnonymity { k: 2, scope });
            Done::Keep
        }),
        corruption("claim it of a quasi-identifier", CLAIMS, |case, _| {
            let attribute = "city".into();
            case.manifest.guarantees[0] = Guarantee::LDiversity {
                attribute,
                l: JOB_L,
            };
            Done::Keep
        }),
    ]
}

fn claim(case: &mut Case, claimed: u32) -> Done {
    if let Some(Guarantee::LDiversity { l, .. }) = case.manifest.guarantees.first_mut() {
        *l = claimed;
    }
    Done::Keep
}

/// Counts, digests and texts.
fn texts() -> Vec<Corruption> {
    vec![corruption(
        "name another engine of the policy's model",
        &["manifest_as_rendered"],
        |case, _| {
            case.manifest.engine = "ng".into();
            Done::Keep
        },
    )]
}

/// Terms and floors that the release does not keep.
fn terms() -> Vec<Corruption> {
    vec![
        corruption(
            "let somebody ask for more than their block has",
            &["max_leakage", "l_diversity"],
            |case, random| ask(case, random, json!({"max_leakage": 0.01})),
        ),
        corruption(
            "let somebody ask for more who look like them",
            &["max_leakage"],
            |case, random| ask(case, random, json!({"max_reidentification": 0.005})),
        ),
        corruption(
            "let somebody ask to be left out",
            &["exclusions_honoured"],
            |case, random| ask(case, random, json!({"exclude": true})),
        ),
        corruption(
            "raise the floor",
            &["l_diversity", "vector_posterior"],
            |case, _| {
                policy(case, |policy| {
                    policy.model.change_l(|_, l| *l = L::new(12).unwrap());
                })
            },
        ),
        corruption(
            "ask for values that lie farther apart",
            &["min_spread", "claims_match_policy"],
            |case, _| {
                let verdict = case.verdict();
                let mut checks = verdict.checks.iter();
                let Some(check) = checks.find(|check| check.kind == "min_spread") else {
                    return Done::Skip;
                };
                let more = check.attained.unwrap() * 1.01;
                policy(case, |policy| {
                    policy.model.change_spreads(|_, min_spread| {
                        if min_spread.get().is_some() {
                            *min_spread = Spread::AtLeast(more);
                        }
                    });
                })
            },
        ),
        corruption(
            "promise distinct values where only shares were kept",
            &["l_diversity"],
            |case, _| {
                if case.manifest.engine != "aip" {
                    return Done::Skip;
                }
                case.manifest.engine = "anatomy".into();
                case.ordered.engine = "anatomy".into();
                policy(case, |policy| {
                    if let Model::Blocks { form, .. } = &mut policy.model {
                        *form = BlockForm::Distinct;
                    }
                })
            },
        ),
    ]
}

/// Another policy, which the manifest claims to follow.
fn policy(case: &mut Case, change: impl Fn(&mut Policy)) -> Done {
    let mut policy = case.requirements.policy().clone();
    change(&mut policy);
    for claim in &mut case.manifest.guarantees {
        if let Guarantee::LDiversity { l, .. } = claim
            && let Some((_, Protection::Diversity { l: floor, .. })) = policy.protections().last()
        {
            *l = floor.get();
        }
    }
    case.requirements = Requirements::new(&case.table, policy, &preferences());
    Done::Keep
}

fn ask(case: &mut Case, random: &mut Random, document: serde_json::Value) -> Done {
    crate::negative::ask(case, random, preferences(), document)
}
