//! What a release claims follows from the policy it was made under.
//!
//! Engines claim nothing of their own: [`guarantees`] is the only place that
//! makes claims. The verifier derives its own list and refuses a manifest that
//! claims less or more.

use crate::microdata::Schema;
use crate::privacy::{BlockForm, Diversity, Model, Policy, Protection, Recoding};

use super::Guarantee;

/// The claims of a release under `policy`, which is the policy as ordered:
/// first k, then each protected attribute in schema order, then what subjects
/// ask for.
pub fn guarantees(policy: &Policy, schema: &Schema) -> Vec<Guarantee> {
    let mut claims = of_everyone(policy);
    match &policy.model {
        // A fingerprint joins all sensitive attributes; itemsets claim no l.
        Model::Fingerprints { .. } | Model::Itemsets { .. } => {}
        // One sensitive attribute under a bound that every subject may tighten.
        Model::Personalized { recoding, .. } => {
            let attributes = policy.protections();
            claims.extend(attributes.map(|(attribute, _)| Guarantee::MaxLeakage {
                attribute: schema.attribute(attribute).name.clone(),
                scope: scope_of(*recoding).into(),
            }));
            return claims;
        }
        Model::Blocks {
            form, sensitive, ..
        } => {
            for (at, (attribute, protection)) in (0..).zip(policy.protections()) {
                if sensitive.contains(crate::privacy::ProtectedIndex(at)) {
                    let attribute = &schema.attribute(attribute).name;
                    claims.extend(of_blocks(*form, attribute, protection));
                }
            }
        }
        Model::Bucketized { .. } | Model::Generalized { .. } | Model::Sliced { .. } => {
            for (attribute, protection) in policy.protections() {
                claims.extend(of_attribute(&schema.attribute(attribute).name, protection));
            }
        }
    }
    if policy.apply_preferences {
        claims.push(Guarantee::MaxLeakage {
            attribute: "*".into(),
            scope: "each subject's own preference".into(),
        });
    }
    claims
}

/// Claims about whole rows or subjects, whatever attribute is looked at.
fn of_everyone(policy: &Policy) -> Vec<Guarantee> {
    let k = policy.k.get();
    let of = |k: u32, scope: &str| Guarantee::KAnonymity {
        k,
        scope: scope.into(),
    };
    match &policy.model {
        Model::Bucketized { .. } | Model::Generalized { .. } | Model::Personalized { .. } => {
            vec![of(k, "quasi-identifiers as published")]
        }
        Model::Sliced { .. } => {
            let scope = "records of a bucket, among which the columns are permuted";
            vec![of(k, scope)]
        }
        Model::Itemsets { m, .. } => {
            vec![
                of(k, "subjects of a group"),
                Guarantee::KmAnonymity { k, m: *m },
            ]
        }
        Model::Fingerprints {
            k_group,
            value_l,
            l,
            ..
        } => {
            let mut claims = vec![
                of(k_group.get(), "subjects of a group"),
                Guarantee::FingerprintK { k },
            ];
            // The l of every sensitive attribute is that of fingerprints.
            if let Some((_, l)) = l.first() {
                claims.push(Guarantee::LDiversity {
                    attribute: "*".into(),
                    l: l.get(),
                });
            }
            let l = value_l.get();
            claims.extend((l > 1).then_some(Guarantee::ValueL { l }));
            claims
        }
        Model::Blocks { .. } => Vec::new(),
    }
}

/// Claims about the sensitive values of blocks in this form.
fn of_blocks(form: BlockForm, attribute: &str, protection: Protection) -> Vec<Guarantee> {
    let mut claims = of_attribute(attribute, protection);
    let attribute = attribute.to_owned();
    if let Some(first) = claims.first_mut()
        && let Guarantee::LDiversity { l, .. } = *first
    {
        match form {
            BlockForm::Randomized {
                retention,
                max_posterior,
            } => {
                *first = Guarantee::RandomizedResponse {
                    attribute,
                    retention: retention.get(),
                    max_posterior: max_posterior.get(),
                }
            }
            BlockForm::Ring => *first = Guarantee::RingDiversity { attribute, l },
            _ => {}
        }
    }
    claims
}

/// Claims about the values of a protected attribute.
fn of_attribute(attribute: &str, protection: Protection) -> Vec<Guarantee> {
    let attribute = || attribute.to_owned();
    let spread = protection
        .min_spread()
        .map(|min_spread| Guarantee::MinSpread {
            attribute: attribute(),
            min_spread,
        });
    let (first, last) = match protection {
        Protection::Diversity { l, .. } => {
            let (attribute, l) = (attribute(), l.get());
            (Some(Guarantee::LDiversity { attribute, l }), None)
        }
        Protection::Closeness { t, max_posterior } => {
            let closeness = Guarantee::TCloseness {
                attribute: attribute(),
                t: t.get(),
                max_posterior: max_posterior.get(),
            };
            (Some(closeness), None)
        }
        Protection::InGroup {
            diversity,
            closeness,
            ..
        } => {
            let closeness = closeness.map(|t| Guarantee::TCloseness {
                attribute: attribute(),
                t: t.get(),
                max_posterior: 1.0,
            });
            let diversity = diversity.map(|kind| of_diversity(kind, attribute()));
            (diversity, closeness)
        }
        // A bound on each subject's leakage, which no group claims.
        Protection::Leakage { .. } => (None, None),
    };
    [first, spread, last].into_iter().flatten().collect()
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

const fn scope_of(recoding: Recoding) -> &'static str {
    match recoding {
        Recoding::GroupCut => {
            "each subject's own preference and the job's bound, values weighted by their frequency"
        }
        Recoding::Paper => {
            "each subject's own preference and the job's bound, by the paper's measure alone"
        }
    }
}
