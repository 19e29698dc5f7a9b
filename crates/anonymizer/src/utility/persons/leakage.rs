//! Leakage: the share of a subject's own published fingerprint in their group.
//!
//! An adversary who knows everyone's quasi-identifiers learns a subject's
//! published fingerprint with that probability. A subject's limit is 1/l, l
//! the strictest of job and subject over all sensitive attributes; a subject
//! is *near* it from nine tenths of it on.

use serde::Serialize;

use crate::microdata::SubjectIndex;

use super::prepared::PreparedPersons;
use crate::utility::leakage::{Leak, LeakageSummary, sum_up};
use crate::utility::report::{Audience, Description};

/// What this measure is.
pub const DESCRIPTION: Description = Description {
    title: "Leakage",
    audience: Audience::Steward,
    definition: "Distribution over subjects of the share of their own published fingerprint in their group, and how many subjects are within a tenth of their limit. Counts are rounded to tens.",
    source: "1:M: Gong et al. 2017, Anonymizing 1:M microdata with high utility, Knowledge-Based Systems (l-diversity of fingerprints); limits are those of each subject's preference and the job",
};

/// Leakage of a release of persons.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PersonsLeakage {
    /// Probability of each subject's own published fingerprint.
    pub subjects: LeakageSummary,
}

/// Measures all persons.
pub fn measure(prepared: &PreparedPersons<'_>) -> PersonsLeakage {
    let alike = prepared.groups.and(&prepared.fingerprints);
    let limits = limits(prepared);
    let classes = alike.class_of().iter().zip(prepared.groups.class_of());
    let leaks: Vec<Leak> = classes
        .zip(prepared.subjects)
        .map(|((&own, &group), &subject)| {
            let size = |sizes: &[u32], class: u32| f64::from(sizes[class as usize]);
            let share = size(alike.sizes(), own) / size(prepared.groups.sizes(), group);
            (share, share / limit(prepared, &limits, subject))
        })
        .collect();
    PersonsLeakage {
        subjects: sum_up(&leaks),
    }
}

/// The limit of each distinct set of terms.
fn limits(prepared: &PreparedPersons<'_>) -> Vec<f64> {
    let terms = prepared.evidence.requirements.distinct_terms().iter();
    let strictest = terms.map(|terms| terms.l.iter().copied().max().unwrap_or(1));
    strictest.map(|l| 1.0 / f64::from(l.max(1))).collect()
}

/// All records of a subject have the same terms.
fn limit(prepared: &PreparedPersons<'_>, limits: &[f64], subject: SubjectIndex) -> f64 {
    let record = prepared.records.of_subject(subject)[0];
    limits[prepared
        .evidence
        .requirements
        .terms_of_record()
        .at(record.at()) as usize]
}
