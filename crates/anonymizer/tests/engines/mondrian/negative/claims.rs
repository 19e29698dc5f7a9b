//! Corruptions of claims about values, and policies and terms that the release
//! does not keep.

use rand::RngExt;
use serde_json::json;
use vizard_anonymizer::privacy::{
    C, Diversity, InGroup, K, L, Model, Policy, Protection, Protections, Requirements, Spread, T,
};
use vizard_anonymizer::release::Guarantee;
use vizard_anonymizer::verify::Check;

use crate::case::{Case, buckets};
use crate::negative::claims::demand;
use crate::negative::{Corruption, Done, Random, any, corruption};

const CLAIMS: &[&str] = &["claims_match_policy"];

pub fn corruptions() -> Vec<Corruption> {
    let mut all = of_claims();
    all.extend(of_another_engine());
    all.extend(of_policies());
    all.extend(of_distances_and_sizes());
    all.extend(of_terms());
    all
}

/// Claims that are not those of the policy.
fn of_claims() -> Vec<Corruption> {
    vec![
        corruption("claim another l of values", CLAIMS, |case, random| {
            let by = any(&[-1, 1], random).unwrap();
            change(case, random, |claim| match claim {
                Guarantee::DistinctLDiversity { l, .. }
                | Guarantee::EntropyLDiversity { l, .. }
                | Guarantee::RecursiveLDiversity { l, .. } => {
                    *l = l.checked_add_signed(by).unwrap_or(9);
                    true
                }
                _ => false,
            })
        }),
        corruption("claim another c", CLAIMS, |case, random| {
            let other = any(&[1.5, 2.5, f64::NAN, -1.0], random).unwrap();
            change(case, random, |claim| match claim {
                Guarantee::RecursiveLDiversity { c, .. } => {
                    *c = other;
                    true
                }
                _ => false,
            })
        }),
        corruption("claim diversity of another kind", CLAIMS, other_kind),
    ]
}

/// Claims, engines and tables of something else.
fn of_another_engine() -> Vec<Corruption> {
    vec![
        corruption("claim diversity of buckets", CLAIMS, |case, random| {
            let attribute = any(&["disease", "salary"], random).unwrap().into();
            let claim = Guarantee::LDiversity { attribute, l: 2 };
            case.manifest.guarantees.push(claim);
            Done::Keep
        }),
        corruption(
            "claim a bound on one attribute's leak",
            CLAIMS,
            |case, _| {
                case.manifest.guarantees.push(Guarantee::MaxLeakage {
                    attribute: "disease".into(),
                    scope: "each subject's own preference".into(),
                });
                Done::Keep
            },
        ),
        corruption(
            "name the engine of buckets",
            &["manifest_as_rendered"],
            |case, _| {
                case.manifest.engine = "lgb".into();
                Done::Keep
            },
        ),
        corruption(
            "follow a policy of buckets",
            &["engine_known"],
            |case, _| {
                let mut policy = case.requirements.policy().clone();
                policy.model = buckets(case.table.schema());
                case.requirements = Requirements::new(&case.table, policy, &[]);
                Done::Keep
            },
        ),
        corruption(
            "publish nothing at all",
            &[
                "tables_and_columns",
                "k_anonymity",
                "max_leakage",
                "every_record_once",
            ],
            |case, _| {
                case.tables.clear();
                case.manifest.tables.clear();
                Done::Keep
            },
        ),
    ]
}

/// Policies that ask for a little more than the release attains, which the
/// manifest claims to follow.
fn of_policies() -> Vec<Corruption> {
    vec![
        corruption(
            "ask for one more in a group",
            &["k_anonymity", "linkage"],
            |case, _| {
                let k = attained(case, "k_anonymity").attained.unwrap() as u32 + 1;
                policy(case, |policy| policy.k = K::new(k).unwrap())
            },
        ),
        corruption(
            "ask for one more distinct value",
            &["distinct_l_diversity"],
            |case, _| {
                stricter(case, "distinct_l_diversity", |check, diversity| {
                    let l = L::new(check.attained.unwrap() as u32 + 1).unwrap();
                    matches!(diversity, Diversity::Distinct(_)).then_some(Diversity::Distinct(l))
                })
            },
        ),
        corruption(
            "ask for more entropy",
            &["entropy_l_diversity"],
            |case, _| {
                stricter(case, "entropy_l_diversity", |check, diversity| {
                    let l = L::new((check.attained.unwrap() + 1e-6).floor() as u32 + 1).unwrap();
                    matches!(diversity, Diversity::Entropy(_)).then_some(Diversity::Entropy(l))
                })
            },
        ),
        corruption(
            "ask for the ratio that is attained",
            &["recursive_l_diversity"],
            |case, _| {
                stricter(
                    case,
                    "recursive_l_diversity",
                    |check, diversity| match diversity {
                        // Parts per billion round down: not above what is attained.
                        Diversity::Recursive { l, .. } => {
                            let c = (check.attained.unwrap() * 1e9).floor() / 1e9;
                            Some(Diversity::Recursive {
                                c: C::new(c).unwrap(),
                                l,
                            })
                        }
                        _ => None,
                    },
                )
            },
        ),
    ]
}

/// Policies and group numbers that leave groups too far away, or too small.
fn of_distances_and_sizes() -> Vec<Corruption> {
    vec![
        corruption(
            "ask for a smaller t",
            &["t_closeness", "skewness"],
            |case, _| {
                let Some(check) = find(case, "t_closeness") else {
                    return Done::Skip;
                };
                let t = T::new(check.attained.unwrap() - 1e-6).unwrap();
                policy(case, |policy| {
                    for (_, protection) in groups(policy) {
                        protection.closeness = protection.closeness.map(|_| t);
                    }
                })
            },
        ),
        corruption(
            "ask for values that lie farther apart",
            &["min_spread"],
            |case, _| {
                let Some(check) = find(case, "min_spread") else {
                    return Done::Skip;
                };
                let about = case.attribute(check.attribute.as_deref().unwrap());
                let more = check.attained.unwrap() * 1.01 + 0.01;
                policy(case, |policy| {
                    policy.model.change_spreads(|index, min_spread| {
                        if index == about {
                            *min_spread = Spread::AtLeast(more);
                        }
                    });
                })
            },
        ),
        corruption(
            "number half of a group apart",
            &["k_anonymity"],
            |case, random| {
                let mut numbers = case.numbers("microdata", "group");
                let last = numbers.iter().copied().max().unwrap();
                let rows = any(&case.groups(), random).unwrap();
                let apart = rows.len().min(3);
                rows[..apart]
                    .iter()
                    .for_each(|&row| numbers[row] = last + 1);
                case.set_numbers("microdata", "group", numbers);
                Done::Seal
            },
        ),
    ]
}

/// Terms of subjects that became stricter after the release was made.
fn of_terms() -> Vec<Corruption> {
    vec![
        corruption(
            "let somebody ask for a rarer value",
            &["max_leakage"],
            |case, random| {
                let row = random.random_range(0..case.rows());
                demand(
                    case,
                    row,
                    json!({"max_leakage": {"disease": 0.01, "salary": 0.01}}),
                )
            },
        ),
        corruption(
            "let somebody ask to be one of more",
            &["k_anonymity", "linkage", "max_leakage"],
            |case, random| {
                let row = random.random_range(0..case.rows());
                demand(case, row, json!({"max_reidentification": 0.004}))
            },
        ),
        corruption(
            "let somebody ask for one more than their group has",
            &["k_anonymity", "max_leakage"],
            |case, random| {
                let rows = any(&case.groups(), random).unwrap();
                let bound = 1.0 / (rows.len() as f64 + 1.0);
                demand(case, rows[0], json!({"max_reidentification": bound}))
            },
        ),
        corruption(
            "let somebody ask not to be there",
            &["exclusions_honoured"],
            |case, random| {
                let row = random.random_range(0..case.rows());
                demand(case, row, json!({"exclude": true}))
            },
        ),
    ]
}

fn change(case: &mut Case, random: &mut Random, change: impl Fn(&mut Guarantee) -> bool) -> Done {
    let claims = case.manifest.guarantees.iter().enumerate();
    let fits = claims.filter(|(_, claim)| change(&mut (*claim).clone()));
    let fits: Vec<usize> = fits.map(|(at, _)| at).collect();
    let Some(at) = any(&fits, random) else {
        return Done::Skip;
    };
    change(&mut case.manifest.guarantees[at]);
    Done::Keep
}

fn other_kind(case: &mut Case, random: &mut Random) -> Done {
    change(case, random, |claim| {
        let (attribute, l) = match claim {
            Guarantee::DistinctLDiversity { attribute, l }
            | Guarantee::RecursiveLDiversity { attribute, l, .. } => (attribute.clone(), *l),
            _ => return false,
        };
        *claim = Guarantee::EntropyLDiversity { attribute, l };
        true
    })
}

fn find(case: &Case, kind: &str) -> Option<Check> {
    let mut checks = case.verdict().checks.into_iter();
    checks.rfind(|check| check.kind == kind)
}

fn attained(case: &Case, kind: &str) -> Check {
    find(case, kind).expect("the check is made")
}

/// The protections of a policy of groups.
fn groups(policy: &mut Policy) -> &mut Protections<InGroup> {
    match &mut policy.model {
        Model::Generalized { protections, .. } => protections,
        _ => panic!("the policy is of groups"),
    }
}

/// Another policy, which the manifest claims to follow.
fn policy(case: &mut Case, change: impl Fn(&mut Policy)) -> Done {
    let mut policy = case.requirements.policy().clone();
    change(&mut policy);
    let schema = case.table.schema();
    let kept = |claim: &Guarantee| matches!(claim, Guarantee::MaxLeakage { .. });
    case.manifest.guarantees.retain(kept);
    case.manifest.guarantees.push(Guarantee::KAnonymity {
        k: policy.k.get(),
        scope: "quasi-identifiers as published".into(),
    });
    for (index, protection) in policy.protections() {
        let attribute = || schema.attribute(index).name.clone();
        if let Protection::InGroup {
            diversity,
            closeness,
            min_spread,
        } = protection
        {
            let spread = min_spread.get().map(|min_spread| Guarantee::MinSpread {
                attribute: attribute(),
                min_spread,
            });
            let claim = diversity.map(|kind| of_diversity(kind, attribute()));
            case.manifest.guarantees.extend(claim);
            case.manifest.guarantees.extend(spread);
            case.manifest
                .guarantees
                .extend(closeness.map(|t| Guarantee::TCloseness {
                    attribute: attribute(),
                    t: t.get(),
                    max_posterior: 1.0,
                }));
        }
    }
    case.requirements = case.requirements.under(policy);
    Done::Keep
}

fn of_diversity(diversity: Diversity, attribute: String) -> Guarantee {
    match diversity {
        Diversity::Distinct(l) => Guarantee::DistinctLDiversity {
            attribute,
            l: l.get(),
        },
        Diversity::Entropy(l) => Guarantee::EntropyLDiversity {
            attribute,
            l: l.get(),
        },
        Diversity::Recursive { c, l } => Guarantee::RecursiveLDiversity {
            attribute,
            c: c.get(),
            l: l.get(),
        },
    }
}

/// Asks for a little more diversity of the attribute whose check this is.
fn stricter(
    case: &mut Case,
    kind: &str,
    more: impl Fn(&Check, Diversity) -> Option<Diversity>,
) -> Done {
    let Some(check) = find(case, kind) else {
        return Done::Skip;
    };
    let about = case.attribute(check.attribute.as_deref().unwrap());
    policy(case, |policy| {
        for (index, protection) in groups(policy) {
            if let Some(old) = &mut protection.diversity
                && *index == about
            {
                *old = more(&check, *old).expect("the check is of that kind");
            }
        }
    })
}
