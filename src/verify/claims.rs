//! `claims_match_policy`: the manifest claims what the job's policy asks for,
//! no less and no more.
//!
//! Less would let a release pass by promising nothing; more would promise
//! what nobody set out to keep. So the claims are compared as a set: one
//! `k_anonymity`, one claim for each semi-sensitive or sensitive attribute
//! (`min_spread` beside it where the policy has one), and `max_leakage` where
//! preferences were applied.

use crate::microdata::Schema;
use crate::privacy::{
    BlockForm, C, Diversity, L, Model, Policy, ProtectedIndex, ProtectedSet, Protection, Share, T,
};
use crate::release::{Guarantee, Manifest};

use super::evidence::Evidence;
use super::verdict::{Check, Failures};

/// A claim in exact terms, however its numbers were written.
#[derive(Clone, Debug, PartialEq)]
enum Claim<'a> {
    KAnonymity(u32),
    LDiversity(&'a str, u32),
    InGroupDiversity(&'a str, Diversity),
    TCloseness(&'a str, T, Share),
    MinSpread(&'a str, f64),
    MaxLeakage,
    MaxLeakageOf(&'a str),
    FingerprintK(u32),
    ValueL(u32),
    KmAnonymity(u32, u32),
    RandomizedResponse(&'a str, Share, Share),
    RingDiversity(&'a str, u32),
    /// A claim that no parameter type accepts.
    Unsound,
}

/// Compares the claims of the manifest with the policy.
pub(super) fn claims_match_policy(evidence: &Evidence) -> Check {
    let policy = evidence.requirements.policy();
    let mut wanted = wanted(evidence.table.schema(), policy);
    let mut failures = Failures::none();
    for guarantee in &evidence.manifest.guarantees {
        let claim = claim(guarantee);
        match wanted.iter().position(|wanted| *wanted == claim) {
            Some(at) => {
                wanted.swap_remove(at);
            }
            // Vacuous without preferences, but true.
            None if claim == Claim::MaxLeakage && !policy.apply_preferences => {}
            None => failures.add("the manifest claims something that the policy does not ask for"),
        }
    }
    for _ in wanted {
        failures.add("the manifest does not claim something that the policy asks for");
    }
    if evidence.manifest.format != Manifest::FORMAT {
        failures.add("the manifest is of another format");
    }
    if evidence.manifest.adversary.trim().is_empty() {
        failures.add("the manifest does not say against whom its claims hold");
    }
    if evidence.manifest.parameters.get("seed").is_some() {
        failures.add("the manifest names the seed");
    }
    Check::structure("claims_match_policy", &failures)
}

fn wanted<'a>(schema: &'a Schema, policy: &Policy) -> Vec<Claim<'a>> {
    match policy.model {
        Model::Bucketized | Model::Generalized { .. } | Model::Sliced(_) => {
            wanted_by_attribute(schema, policy)
        }
        Model::Fingerprints {
            k_group, value_l, ..
        } => {
            let mut wanted = vec![
                Claim::KAnonymity(k_group.get()),
                Claim::FingerprintK(policy.k.get()),
                Claim::LDiversity("*", fingerprint_l(policy)),
            ];
            wanted.extend((value_l > L::NONE).then_some(Claim::ValueL(value_l.get())));
            wanted.extend(policy.apply_preferences.then_some(Claim::MaxLeakage));
            wanted
        }
        Model::Itemsets { m, .. } => {
            let k = policy.k.get();
            let mut wanted = vec![Claim::KAnonymity(k), Claim::KmAnonymity(k, m)];
            wanted.extend(policy.apply_preferences.then_some(Claim::MaxLeakage));
            wanted
        }
        Model::Personalized { .. } => wanted_of_leakage(schema, policy),
        Model::Blocks { form, sensitive } => wanted_of_blocks(schema, policy, (form, sensitive)),
    }
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

/// Leakage is bounded for everyone, whether or not preferences are joined.
fn wanted_of_leakage<'a>(schema: &'a Schema, policy: &Policy) -> Vec<Claim<'a>> {
    let bounded = policy.protections.iter();
    let names = bounded.map(|&(index, _)| schema.attribute(index).name.as_str());
    std::iter::once(Claim::KAnonymity(policy.k.get()))
        .chain(names.map(Claim::MaxLeakageOf))
        .collect()
}

/// One claim for each attribute that is published in blocks.
fn wanted_of_blocks<'a>(
    schema: &'a Schema,
    policy: &Policy,
    (form, sensitive): (BlockForm, ProtectedSet),
) -> Vec<Claim<'a>> {
    let mut wanted = Vec::new();
    for (at, &(index, protection)) in (0..).zip(&policy.protections) {
        let Protection::Diversity { l, .. } = protection else {
            continue;
        };
        let name = schema.attribute(index).name.as_str();
        if sensitive.contains(ProtectedIndex(at)) {
            wanted.push(match form {
                BlockForm::Randomized {
                    retention,
                    max_posterior,
                } => Claim::RandomizedResponse(name, retention, max_posterior),
                BlockForm::Ring => Claim::RingDiversity(name, l.get()),
                _ => Claim::LDiversity(name, l.get()),
            });
        }
    }
    wanted.extend(policy.apply_preferences.then_some(Claim::MaxLeakage));
    wanted
}

fn wanted_by_attribute<'a>(schema: &'a Schema, policy: &Policy) -> Vec<Claim<'a>> {
    let mut wanted = vec![Claim::KAnonymity(policy.k.get())];
    for &(index, protection) in &policy.protections {
        let name = schema.attribute(index).name.as_str();
        match protection {
            Protection::Diversity { l, min_spread } => {
                wanted.push(Claim::LDiversity(name, l.get()));
                wanted.extend(min_spread.map(|spread| Claim::MinSpread(name, spread)));
            }
            Protection::Closeness { t, max_posterior } => {
                wanted.push(Claim::TCloseness(name, t, max_posterior));
            }
            Protection::Leakage { .. } => wanted.push(Claim::MaxLeakageOf(name)),
            Protection::InGroup {
                diversity,
                closeness,
            } => {
                wanted.extend(diversity.map(|kind| Claim::InGroupDiversity(name, kind)));
                wanted.extend(closeness.map(|t| Claim::TCloseness(name, t, Share::ALL)));
            }
        }
    }
    if policy.apply_preferences {
        wanted.push(Claim::MaxLeakage);
    }
    wanted
}

fn claim(guarantee: &Guarantee) -> Claim<'_> {
    match guarantee {
        Guarantee::KAnonymity { k, .. } => Claim::KAnonymity(*k),
        Guarantee::LDiversity { attribute, l } => Claim::LDiversity(attribute, *l),
        Guarantee::DistinctLDiversity { attribute, l } => match L::new(*l) {
            Ok(l) => Claim::InGroupDiversity(attribute, Diversity::Distinct(l)),
            Err(_) => Claim::Unsound,
        },
        Guarantee::EntropyLDiversity { attribute, l } => match L::new(*l) {
            Ok(l) => Claim::InGroupDiversity(attribute, Diversity::Entropy(l)),
            Err(_) => Claim::Unsound,
        },
        Guarantee::RecursiveLDiversity { attribute, c, l } => match (C::new(*c), L::new(*l)) {
            (Ok(c), Ok(l)) => Claim::InGroupDiversity(attribute, Diversity::Recursive { c, l }),
            _ => Claim::Unsound,
        },
        Guarantee::TCloseness {
            attribute,
            t,
            max_posterior,
        } => match (T::new(*t), Share::new(*max_posterior)) {
            (Ok(t), Ok(share)) => Claim::TCloseness(attribute, t, share),
            _ => Claim::Unsound,
        },
        Guarantee::MinSpread {
            attribute,
            min_spread,
        } => Claim::MinSpread(attribute, *min_spread),
        Guarantee::MaxLeakage { attribute, .. } if attribute == "*" => Claim::MaxLeakage,
        Guarantee::MaxLeakage { attribute, .. } => Claim::MaxLeakageOf(attribute),
        Guarantee::FingerprintK { k } => Claim::FingerprintK(*k),
        Guarantee::ValueL { l } => Claim::ValueL(*l),
        Guarantee::RandomizedResponse {
            attribute,
            retention,
            max_posterior,
        } => match (Share::new(*retention), Share::new(*max_posterior)) {
            (Ok(retention), Ok(posterior)) => {
                Claim::RandomizedResponse(attribute, retention, posterior)
            }
            _ => Claim::Unsound,
        },
        Guarantee::RingDiversity { attribute, l } => Claim::RingDiversity(attribute, *l),
        Guarantee::KmAnonymity { k, m } => Claim::KmAnonymity(*k, *m),
    }
}
