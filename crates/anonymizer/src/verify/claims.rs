//! `claims_match_policy`: the manifest claims what the job's policy asks for,
//! no less and no more, in the order and the words in which every release of
//! such a policy claims it.
//!
//! Less would let a release pass by promising nothing; more would promise
//! what nobody set out to keep. So the claims are written here anew from the
//! policy: one `k_anonymity`, one claim for each semi-sensitive or sensitive
//! attribute (`min_spread` beside it where the policy has one), and
//! `max_leakage` where preferences were applied.

use crate::microdata::{AttributeIndex, Schema};
use crate::privacy::{
    BlockForm, Diversity, InBlock, InBucket, InGroup, L, Model, Policy, ProtectedIndex, Recoding,
    Spread, T,
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
    let name = |index: AttributeIndex| schema.attribute(index).name.as_str();
    let k = policy.k.get();
    let mut claimed = match &policy.model {
        Model::Bucketized { protections } => {
            let mut claimed = vec![k_anonymity(k, AS_PUBLISHED)];
            let of_one = protections.iter();
            claimed.extend(of_one.flat_map(|&(at, own)| of_bucket(name(at), own)));
            claimed
        }
        Model::Generalized { protections, .. } => {
            let mut claimed = vec![k_anonymity(k, AS_PUBLISHED)];
            let of_one = protections.iter();
            claimed.extend(of_one.flat_map(|&(at, own)| of_group(name(at), own)));
            claimed
        }
        Model::Sliced { protections, .. } => {
            let scope = "records of a bucket, among which the columns are permuted";
            let mut claimed = vec![k_anonymity(k, scope)];
            let of_one = protections.iter();
            claimed.extend(of_one.flat_map(|&(at, own)| of_bucket(name(at), own)));
            claimed
        }
        Model::Fingerprints {
            k_group, value_l, ..
        } => {
            let mut claimed = vec![
                k_anonymity(k_group.get(), OF_A_GROUP),
                Guarantee::FingerprintK { k },
                l_diversity("*", fingerprint_l(policy)),
            ];
            let l = value_l.get();
            claimed.extend((*value_l > L::NONE).then_some(Guarantee::ValueL { l }));
            claimed
        }
        Model::Itemsets { m, .. } => {
            let m = *m;
            vec![k_anonymity(k, OF_A_GROUP), Guarantee::KmAnonymity { k, m }]
        }
        // Leakage is bounded for everyone, whether or not preferences are joined.
        Model::Personalized {
            recoding,
            sensitive,
            ..
        } => {
            let leakage = Guarantee::MaxLeakage {
                attribute: name(*sensitive).into(),
                scope: scope_of_leakage(*recoding).into(),
            };
            return vec![k_anonymity(k, AS_PUBLISHED), leakage];
        }
        Model::Blocks {
            form,
            sensitive,
            protections,
        } => {
            let published = (0..).zip(protections);
            let published = published.filter(|(at, _)| sensitive.contains(ProtectedIndex(*at)));
            let of_one = published.flat_map(|(_, &(at, own))| of_block(name(at), *form, own));
            of_one.collect()
        }
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

/// The scope of k where rows are records.
const AS_PUBLISHED: &str = "quasi-identifiers as published";
/// The scope of k where rows are subjects.
const OF_A_GROUP: &str = "subjects of a group";

fn k_anonymity(k: u32, scope: &str) -> Guarantee {
    let scope = scope.into();
    Guarantee::KAnonymity { k, scope }
}

fn l_diversity(attribute: &str, l: u32) -> Guarantee {
    let attribute = attribute.into();
    Guarantee::LDiversity { attribute, l }
}

fn t_closeness(attribute: &str, t: T, max_posterior: f64) -> Guarantee {
    Guarantee::TCloseness {
        attribute: attribute.into(),
        t: t.get(),
        max_posterior,
    }
}

fn spread(attribute: &str, min_spread: Spread) -> Option<Guarantee> {
    min_spread.get().map(|min_spread| Guarantee::MinSpread {
        attribute: attribute.into(),
        min_spread,
    })
}

/// The l of fingerprints: the strictest floor of any sensitive attribute.
pub(super) fn fingerprint_l(policy: &Policy) -> u32 {
    match &policy.model {
        Model::Fingerprints { l, .. } => l.iter().map(|(_, l)| l.get()).max().unwrap_or(1),
        _ => 1,
    }
}

fn scope_of_leakage(recoding: Recoding) -> &'static str {
    match recoding {
        Recoding::GroupCut => {
            "each subject's own preference and the job's bound, values weighted by their frequency"
        }
        Recoding::Paper => {
            "each subject's own preference and the job's bound, by the paper's measure alone"
        }
    }
}

/// The claims about an attribute that is published in blocks.
fn of_block(attribute: &str, form: BlockForm, own: InBlock) -> Vec<Guarantee> {
    let l = own.l.get();
    let name = attribute.to_owned();
    let first = match form {
        BlockForm::Randomized {
            retention,
            max_posterior,
        } => Guarantee::RandomizedResponse {
            attribute: name,
            retention: retention.get(),
            max_posterior: max_posterior.get(),
        },
        BlockForm::Ring => Guarantee::RingDiversity { attribute: name, l },
        _ => l_diversity(attribute, l),
    };
    let all = [Some(first), spread(attribute, own.min_spread)];
    all.into_iter().flatten().collect()
}

/// The claims about an attribute that is published in buckets.
fn of_bucket(attribute: &str, own: InBucket) -> Vec<Guarantee> {
    match own {
        InBucket::Diversity { l, min_spread } => {
            let all = [
                Some(l_diversity(attribute, l.get())),
                spread(attribute, min_spread),
            ];
            all.into_iter().flatten().collect()
        }
        InBucket::Closeness { t, max_posterior } => {
            vec![t_closeness(attribute, t, max_posterior.get())]
        }
    }
}

/// The claims about an attribute that is published beside groups.
fn of_group(attribute: &str, own: InGroup) -> Vec<Guarantee> {
    let diversity = own
        .diversity
        .map(|kind| of_diversity(kind, attribute.into()));
    let closeness = own.closeness.map(|t| t_closeness(attribute, t, 1.0));
    let all = [diversity, spread(attribute, own.min_spread), closeness];
    all.into_iter().flatten().collect()
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
