//! `claims_match_policy`: the manifest claims what the job's policy asks for,
//! no less and no more, in the order and the words in which every release of
//! such a policy claims it.
//!
//! Less would let a release pass by promising nothing; more would promise
//! what nobody set out to keep. So the claims are written here anew from the
//! policy: one `k_anonymity`, one claim for each semi-sensitive or sensitive
//! attribute (`min_spread` beside it where the policy has one), and
//! `max_leakage` where preferences were applied.

use crate::microdata::Schema;
use crate::privacy::{
    BlockForm, Diversity, L, Model, Policy, ProtectedIndex, ProtectedSet, Protection, Recoding,
};
use crate::release::Guarantee;

use super::evidence::Evidence;
use super::verdict::{Check, Failures, Section};

/// Compares the claims of the manifest with the policy.
pub(super) fn claims_match_policy(evidence: &Evidence) -> Check {
    let wanted = claimed(evidence.table.schema(), evidence.requirements.ordered());
    let found = &evidence.manifest.guarantees;
    let mut failures = Failures::none();
    if found.iter().any(|claim| !wanted.contains(claim)) {
        failures.add("the manifest claims something that the policy does not ask for");
    }
    if wanted.iter().any(|claim| !found.contains(claim)) {
        failures.add("the manifest does not claim something that the policy asks for");
    }
    if failures.count == 0 && *found != wanted {
        failures.add("the claims of the manifest are out of order, or one is there twice");
    }
    Check::structure("claims_match_policy", &failures)
}

/// What a release under this policy claims.
pub(super) fn claimed(schema: &Schema, policy: &Policy) -> Vec<Guarantee> {
    let mut claimed = match policy.model {
        Model::Bucketized | Model::Generalized { .. } => {
            by_attribute(schema, policy, "quasi-identifiers as published")
        }
        Model::Sliced(_) => by_attribute(
            schema,
            policy,
            "records of a bucket, among which the columns are permuted",
        ),
        Model::Fingerprints {
            k_group, value_l, ..
        } => {
            let mut claimed = vec![
                k_anonymity(k_group.get(), OF_A_GROUP),
                Guarantee::FingerprintK { k: policy.k.get() },
                Guarantee::LDiversity {
                    attribute: "*".into(),
                    l: fingerprint_l(policy),
                },
            ];
            let l = value_l.get();
            claimed.extend((value_l > L::NONE).then_some(Guarantee::ValueL { l }));
            claimed
        }
        Model::Itemsets { m, .. } => {
            let k = policy.k.get();
            vec![k_anonymity(k, OF_A_GROUP), Guarantee::KmAnonymity { k, m }]
        }
        // Leakage is bounded for everyone, whether or not preferences are joined.
        Model::Personalized { recoding, .. } => return of_leakage(schema, policy, recoding),
        Model::Blocks { form, sensitive } => of_blocks(schema, policy, (form, sensitive)),
    };
    claimed.extend(policy.apply_preferences.then(|| Guarantee::MaxLeakage {
        attribute: "*".into(),
        scope: "each subject's own preference".into(),
    }));
    claimed
}

/// The guarantees that the checks of such a release must speak of: what it
/// claims, and each subject's own terms whether they are claimed or not. Each
/// entry is one that was not examined.
pub(super) fn must_be_shown(schema: &Schema, policy: &Policy) -> Vec<Check> {
    let mut entries: Vec<Check> = claimed(schema, policy).iter().map(unexamined).collect();
    let leakage = Check::not_examined(Section::Guarantee, "max_leakage");
    let is_said = entries.iter().any(|entry| entry.kind == leakage.kind);
    entries.extend((!is_said).then(|| leakage.about("*").claiming(1.0)));
    entries
}

/// The entry of a claim that was not examined.
fn unexamined(claim: &Guarantee) -> Check {
    let check = |kind, claimed| Check::not_examined(Section::Guarantee, kind).claiming(claimed);
    let of = |kind, attribute: &str, claimed| check(kind, claimed).about(attribute);
    match claim {
        Guarantee::KAnonymity { k, .. } => check("k_anonymity", f64::from(*k)),
        Guarantee::LDiversity { attribute, l } => of("l_diversity", attribute, f64::from(*l)),
        Guarantee::DistinctLDiversity { attribute, l } => {
            of("distinct_l_diversity", attribute, f64::from(*l))
        }
        Guarantee::EntropyLDiversity { attribute, l } => {
            of("entropy_l_diversity", attribute, f64::from(*l))
        }
        Guarantee::RecursiveLDiversity { attribute, c, .. } => {
            of("recursive_l_diversity", attribute, *c)
        }
        Guarantee::TCloseness { attribute, t, .. } => of("t_closeness", attribute, *t),
        Guarantee::MinSpread {
            attribute,
            min_spread,
        } => of("min_spread", attribute, *min_spread),
        Guarantee::FingerprintK { k } => check("fingerprint_k", f64::from(*k)),
        Guarantee::ValueL { l } => check("value_l", f64::from(*l)),
        Guarantee::KmAnonymity { k, .. } => check("km_anonymity", f64::from(*k)),
        Guarantee::RandomizedResponse {
            attribute,
            max_posterior,
            ..
        } => of("randomized_response", attribute, *max_posterior),
        Guarantee::RingDiversity { attribute, l } => of("ring_diversity", attribute, f64::from(*l)),
        Guarantee::MaxLeakage { attribute, .. } => of("max_leakage", attribute, 1.0),
    }
}

/// The scope of k where rows are subjects.
const OF_A_GROUP: &str = "subjects of a group";

fn k_anonymity(k: u32, scope: &str) -> Guarantee {
    let scope = scope.into();
    Guarantee::KAnonymity { k, scope }
}

/// The l of fingerprints: the strictest floor of any sensitive attribute.
pub(super) fn fingerprint_l(policy: &Policy) -> u32 {
    let floors = policy.protections.iter();
    let floors = floors.map(|(_, protection)| match protection {
        Protection::Diversity { l, .. } => l.get(),
        Protection::Closeness { .. } | Protection::Leakage { .. } | Protection::InGroup { .. } => 1,
    });
    floors.max().unwrap_or(1)
}

fn of_leakage(schema: &Schema, policy: &Policy, recoding: Recoding) -> Vec<Guarantee> {
    let scope = match recoding {
        Recoding::GroupCut => {
            "each subject's own preference and the job's bound, values weighted by their frequency"
        }
        Recoding::Paper => {
            "each subject's own preference and the job's bound, by the paper's measure alone"
        }
    };
    let bounded = policy.protections.iter();
    let leakage = bounded.map(|&(index, _)| Guarantee::MaxLeakage {
        attribute: schema.attribute(index).name.clone(),
        scope: scope.into(),
    });
    std::iter::once(k_anonymity(
        policy.k.get(),
        "quasi-identifiers as published",
    ))
    .chain(leakage)
    .collect()
}

/// One claim for each attribute that is published in blocks.
fn of_blocks(
    schema: &Schema,
    policy: &Policy,
    (form, sensitive): (BlockForm, ProtectedSet),
) -> Vec<Guarantee> {
    let mut claimed = Vec::new();
    for (at, &(index, protection)) in (0..).zip(&policy.protections) {
        let Protection::Diversity { l, min_spread } = protection else {
            continue;
        };
        if !sensitive.contains(ProtectedIndex(at)) {
            continue;
        }
        let attribute = schema.attribute(index).name.clone();
        let l = l.get();
        claimed.push(match form {
            BlockForm::Randomized {
                retention,
                max_posterior,
            } => Guarantee::RandomizedResponse {
                attribute,
                retention: retention.get(),
                max_posterior: max_posterior.get(),
            },
            BlockForm::Ring => Guarantee::RingDiversity { attribute, l },
            _ => Guarantee::LDiversity { attribute, l },
        });
        claimed.extend(min_spread.get().map(|min_spread| Guarantee::MinSpread {
            attribute: schema.attribute(index).name.clone(),
            min_spread,
        }));
    }
    claimed
}

fn by_attribute(schema: &Schema, policy: &Policy, scope: &str) -> Vec<Guarantee> {
    let mut claimed = vec![k_anonymity(policy.k.get(), scope)];
    for &(index, protection) in &policy.protections {
        let attribute = schema.attribute(index).name.clone();
        match protection {
            Protection::Diversity { l, min_spread } => {
                claimed.push(Guarantee::LDiversity {
                    attribute: attribute.clone(),
                    l: l.get(),
                });
                claimed.extend(min_spread.get().map(|min_spread| Guarantee::MinSpread {
                    attribute,
                    min_spread,
                }));
            }
            Protection::Closeness { t, max_posterior } => claimed.push(Guarantee::TCloseness {
                attribute,
                t: t.get(),
                max_posterior: max_posterior.get(),
            }),
            Protection::InGroup {
                diversity,
                closeness,
                min_spread,
            } => {
                claimed.extend(diversity.map(|kind| of_diversity(kind, attribute.clone())));
                claimed.extend(min_spread.get().map(|min_spread| Guarantee::MinSpread {
                    attribute: attribute.clone(),
                    min_spread,
                }));
                claimed.extend(closeness.map(|t| Guarantee::TCloseness {
                    attribute,
                    t: t.get(),
                    max_posterior: 1.0,
                }));
            }
            // No policy of these models bounds leakage for everyone.
            Protection::Leakage { .. } => {}
        }
    }
    claimed
}

fn of_diversity(diversity: Diversity, attribute: String) -> Guarantee {
    let l = diversity.l().get();
    match diversity {
        Diversity::Distinct(_) => Guarantee::DistinctLDiversity { attribute, l },
        Diversity::Entropy(_) => Guarantee::EntropyLDiversity { attribute, l },
        Diversity::Recursive { c, .. } => Guarantee::RecursiveLDiversity {
            attribute,
            c: c.get(),
            l,
        },
    }
}
