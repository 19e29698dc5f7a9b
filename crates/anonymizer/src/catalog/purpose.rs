//! What a release is for, and a job that fits it.
//!
//! A purpose names the largest risk that its readers may have of finding a
//! person, from which k follows, and the l that is wished for. [`job_for`] takes
//! both to what a file allows, and says what it took back. *Ours.*

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};

use super::engines::Engine;
use crate::engine::{EngineError, RunContext};
use crate::inspect::{Inspection, SensitiveCount};
use crate::microdata::{Multiplicity, Table};
use crate::privacy::{Requirements, Share};

/// t of a sensitive attribute of which no l hides the most frequent value.
const T_OF_SKEWED: f64 = 0.2;

/// What a release is for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Purpose {
    /// What the command line and the API call it.
    pub name: Cow<'static, str>,
    /// Largest probability with which a reader finds a person's record, in parts
    /// per billion at the finest.
    pub max_reidentification: f64,
    /// Values among which a reader cannot tell a person's, if the data have so
    /// many.
    pub l: u32,
    /// Who may read it.
    pub readers: Cow<'static, str>,
    /// Where the threshold comes from.
    pub source: Cow<'static, str>,
}

/// The purposes that every operator has; [`Purposes`](super::Purposes) adds
/// their own.
pub static PURPOSES: [Purpose; 2] = [
    Purpose {
        name: Cow::Borrowed("public"),
        max_reidentification: 0.09,
        l: 5,
        readers: Cow::Borrowed("anybody"),
        source: Cow::Borrowed(
            "European Medicines Agency, Policy 0070 guidance, and Health Canada, Public \
             Release of Clinical Information: 0.09",
        ),
    },
    Purpose {
        name: Cow::Borrowed("contract"),
        max_reidentification: 0.2,
        l: 3,
        readers: Cow::Borrowed("researchers who signed that they will not look for people"),
        source: Cow::Borrowed(
            "cells of five, El Emam, Guide to the De-Identification of Personal Health \
             Information, 2013: 0.2",
        ),
    },
];

/// A job that fits a purpose.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobProposal {
    /// The purpose.
    pub purpose: String,
    /// What the job calls its engine.
    pub engine: &'static str,
    /// Its parameters.
    pub parameters: Value,
    /// Why, a sentence each.
    pub reasons: Vec<String>,
}

impl Purpose {
    /// The least k that keeps its risk: who finds a person's group finds one of
    /// k records.
    pub fn k(&self) -> u32 {
        // Every purpose is a share.
        Share::new(self.max_reidentification).map_or(u32::MAX, Share::reciprocal_ceiling)
    }
}

/// A job on an inspected file; `None` where no schema is proposed, or where
/// people have many records and nothing is sensitive: what is published of them
/// is their sensitive values.
///
/// The engine looks at the whole table, and may still find the parameters
/// infeasible; then it names the strongest that hold.
pub fn job_for(purpose: &Purpose, inspection: &Inspection) -> Option<JobProposal> {
    let schema = inspection.schema.as_ref()?;
    let is_many = schema.multiplicity() == Multiplicity::Many;
    if is_many && inspection.sensitive.is_empty() {
        return None;
    }
    let k = purpose.k();
    let mut reasons = vec![
        format!(
            "for {}: found with a probability of at most {}, and one of {} values where the data \
             have so many",
            purpose.readers, purpose.max_reidentification, purpose.l
        ),
        format!(
            "k = {k}: at most 1 in {k} records is a person's, {:.3} ≤ {} ({})",
            1.0 / f64::from(k),
            purpose.max_reidentification,
            purpose.source
        ),
    ];
    let bounds: Vec<(&SensitiveCount, u32)> = inspection
        .sensitive
        .iter()
        .map(|count| (count, l_max(count, inspection.records)))
        .collect();
    if schema.has_row_keys() {
        reasons.push("each row is taken for one person: no column says who is who".into());
    }
    let of_sets = inspection.sets_of_values.as_deref();
    let tried = of_sets.and_then(|table| l_of_sets(table, purpose));
    if let Some(most) = tried.filter(|most| (2..purpose.l).contains(most)) {
        reasons.push(format!(
            "at most l = {most} is possible with k = {k}, as was tried: more people than 1 in {} have \
             one set of values",
            most + 1
        ));
    }
    // Of many records a person sets of values count, and no single ones.
    if tried.is_none() {
        reasons.extend(frequent(purpose, &bounds, inspection.records));
    }
    let hides_nothing = match tried {
        Some(most) => most < 2,
        None => bounds.iter().any(|(_, most)| *most < 2),
    };
    if is_many && hides_nothing {
        reasons.push(
            "no l hides a value, or a set of values, that most people have: declare that attribute \
             otherwise, or the job ends as infeasible"
                .into(),
        );
    }
    let multiplicity = if is_many {
        Records::Many { tried }
    } else {
        Records::One
    };
    let (engine, parameters, why) = engine_for((purpose, multiplicity), &bounds);
    reasons.push(why.into());
    Some(JobProposal {
        purpose: purpose.name.to_string(),
        engine,
        parameters,
        reasons,
    })
}

/// Which values are too frequent for the purpose's l, a sentence each.
fn frequent(purpose: &Purpose, bounds: &[(&SensitiveCount, u32)], records: u64) -> Vec<String> {
    let too_frequent = bounds.iter().filter(|(_, most)| *most < purpose.l);
    let told = too_frequent.map(|(count, most)| {
        format!(
            "{}: at most l = {most} is possible, since {} of {records} records have one value{}",
            count.attribute,
            count.most_frequent,
            match count.missing {
                0 => String::new(),
                missing => format!(" and {missing} have none"),
            }
        )
    });
    told.collect()
}

/// How many records a person has, and of many the largest l that was tried.
enum Records {
    One,
    Many { tried: Option<u32> },
}

/// The largest l up to the purpose's with which people's sets of values can be
/// published, tried on the sets alone: quasi-identifiers ask for no other l.
/// Nothing where no l is to blame.
fn l_of_sets(table: &Table, purpose: &Purpose) -> Option<u32> {
    let run = |l: u32| {
        let parameters = one_to_many(purpose.k(), l);
        let engine = Engine::parse("one_to_many", &parameters, table.schema())?;
        let requirements = Requirements::new(table, engine.policy(table.schema())?, &[]);
        engine.run(table, &requirements, &RunContext::silent(0))
    };
    let mut l = purpose.l;
    while l > 1 {
        match run(l) {
            Ok(_) => return Some(l),
            Err(EngineError::Infeasible(answer)) if answer.parameter == "l" => {
                // What it names was tried with everything else the same.
                let named = answer.strongest_value.map_or(1, |value| value as u32);
                l = named.min(l - 1);
            }
            Err(_) => return None,
        }
    }
    Some(1)
}

fn one_to_many(k: u32, l: u32) -> Value {
    json!({"k": k, "k_group": k, "l": l})
}

/// The engine for sensitive attributes with the largest l that each allows, its
/// parameters, and why.
fn engine_for(
    (purpose, records): (&Purpose, Records),
    bounds: &[(&SensitiveCount, u32)],
) -> (&'static str, Value, &'static str) {
    let k = purpose.k();
    if let Records::Many { tried } = records {
        let least = tried.or_else(|| bounds.iter().map(|(_, most)| *most).min());
        let l = least.map_or(purpose.l, |least| least.min(purpose.l)).max(2);
        return (
            "one_to_many",
            one_to_many(k, l),
            "one_to_many: people have many records",
        );
    }
    if bounds.is_empty() {
        return (
            "mondrian",
            json!({"k": k}),
            "mondrian: nothing is sensitive, so records are made alike alone",
        );
    }
    let own_l = |(count, most): &(&SensitiveCount, u32)| {
        let own = match most {
            0 | 1 => json!({"t_closeness": T_OF_SKEWED}),
            most => json!({"l": (*most).min(purpose.l)}),
        };
        (count.attribute.clone(), own)
    };
    if bounds.iter().any(|(_, most)| *most < 2) {
        let attributes: serde_json::Map<_, _> = bounds.iter().map(own_l).collect();
        return (
            "mondrian",
            json!({"k": k, "attributes": attributes}),
            "mondrian: a sensitive attribute has one value in more than half of the records, which \
             no l can hide; groups must be like the whole table instead (t-closeness)",
        );
    }
    let strict = bounds.iter().filter(|(_, most)| *most < purpose.l);
    let attributes: serde_json::Map<_, _> = strict.map(own_l).collect();
    let mut parameters = json!({"k": k, "l": purpose.l, "generalization": "ncp"});
    if !attributes.is_empty() {
        parameters["attributes"] = attributes.into();
    }
    (
        "lgb",
        parameters,
        "lgb: one record a person, quasi-identifiers are generalized, and sensitive values stand in \
         buckets of l; people can have terms of their own",
    )
}

/// The largest l that the frequencies allow: no value may be more than 1 in l,
/// and where values are missing one more is kept.
fn l_max(count: &SensitiveCount, records: u64) -> u32 {
    let shares = |of: u64| records.checked_div(of).unwrap_or(u64::MAX);
    let known = shares(count.most_frequent).min(count.distinct);
    let most = match count.missing {
        0 => known,
        missing => shares(missing).min(known).saturating_sub(1),
    };
    u32::try_from(most).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k_keeps_the_risk_of_its_purpose_and_is_the_least_that_does() {
        for purpose in &PURPOSES {
            let k = f64::from(purpose.k());
            assert!(1.0 / k <= purpose.max_reidentification, "{}", purpose.name);
            assert!(
                1.0 / (k - 1.0) > purpose.max_reidentification,
                "{}",
                purpose.name
            );
        }
        assert_eq!(PURPOSES.each_ref().map(Purpose::k), [12, 5]);
    }

    #[test]
    fn l_goes_as_far_as_frequencies_and_missing_values_allow() {
        let l = |most_frequent, missing, distinct| {
            let count = SensitiveCount {
                attribute: "a".into(),
                most_frequent,
                missing,
                distinct,
            };
            l_max(&count, 100)
        };
        assert_eq!(l(20, 0, 50), 5);
        assert_eq!(l(21, 0, 50), 4);
        assert_eq!(l(20, 0, 3), 3);
        assert_eq!(l(20, 10, 50), 4);
        assert_eq!(l(1, 25, 100), 3);
        assert_eq!(l(75, 0, 2), 1);
    }
}
