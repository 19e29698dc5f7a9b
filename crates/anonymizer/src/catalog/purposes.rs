//! The purposes of an operator: those that everybody has, and their own.
//!
//! An own purpose is as strict as a reader may ask: its risk is at most one in
//! two, and it hides each value among at least two. *Ours.*

use std::borrow::Cow;

use serde::Deserialize;

use super::purpose::{JobProposal, PURPOSES, Purpose, job_for};
use crate::inspect::Inspection;
use crate::privacy::Share;

/// Largest risk of an own purpose: two records alike.
const RISK_MAX: f64 = 0.5;
/// The l of an own purpose.
const L_RANGE: std::ops::RangeInclusive<u32> = 2..=1000;
/// Letters of a name.
const NAME_MAX: usize = 32;
/// Letters of readers and source.
const TEXT_MAX: usize = 300;
/// Purposes of one's own.
const OWN_MAX: usize = 50;

/// The purposes that a job is proposed for.
#[derive(Clone, Debug, PartialEq)]
pub struct Purposes(Vec<Purpose>);

/// A purpose as an operator writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnPurpose {
    name: String,
    max_reidentification: f64,
    l: u32,
    readers: String,
    source: String,
}

impl Default for Purposes {
    fn default() -> Self {
        Self(PURPOSES.to_vec())
    }
}

impl Purposes {
    /// The purposes of everybody, and behind them those of a JSON list of
    /// `{name, max_reidentification, l, readers, source}`.
    ///
    /// # Errors
    /// What is wrong, of the first purpose that is.
    pub fn with_own(json: &[u8]) -> Result<Self, String> {
        let own: Vec<OwnPurpose> = serde_json::from_slice(json).map_err(|error| {
            format!(
                "is no list of {{\"name\", \"max_reidentification\", \"l\", \"readers\", \
                 \"source\"}}: {error}"
            )
        })?;
        if own.len() > OWN_MAX {
            return Err(format!("has more than {OWN_MAX} purposes"));
        }
        let mut all = Self::default();
        for (at, purpose) in (1..).zip(own) {
            let purpose = checked(purpose).map_err(|what| format!("purpose {at}: {what}"))?;
            if all.find(&purpose.name).is_some() {
                return Err(format!(
                    "purpose {at}: there is a purpose called {}; choose another name",
                    purpose.name
                ));
            }
            all.0.push(purpose);
        }
        Ok(all)
    }

    /// The purpose of this name.
    pub fn find(&self, name: &str) -> Option<&Purpose> {
        self.0.iter().find(|purpose| purpose.name == name)
    }

    /// Their names, in order.
    pub fn names(&self) -> Vec<&str> {
        self.0.iter().map(|purpose| &*purpose.name).collect()
    }

    /// A job on an inspected file for each purpose that has one ([`job_for`]).
    pub fn jobs_for(&self, inspection: &Inspection) -> Vec<JobProposal> {
        let jobs = self.0.iter();
        jobs.filter_map(|purpose| job_for(purpose, inspection))
            .collect()
    }
}

fn checked(own: OwnPurpose) -> Result<Purpose, String> {
    let is_letter = |one: char| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '_';
    let begins = own.name.starts_with(|one: char| one.is_ascii_lowercase());
    if !begins || own.name.len() > NAME_MAX || !own.name.chars().all(is_letter) {
        return Err(format!(
            "name has 1 to {NAME_MAX} small letters a to z, digits and `_`, a letter first"
        ));
    }
    let share = Share::new(own.max_reidentification)
        .ok()
        .filter(|share| share.get() <= RISK_MAX);
    let Some(share) = share else {
        return Err(format!(
            "max_reidentification is above 0 (by at least 1e-9) and at most {RISK_MAX}"
        ));
    };
    if !L_RANGE.contains(&own.l) {
        let (least, most) = (L_RANGE.start(), L_RANGE.end());
        return Err(format!("l is from {least} to {most}"));
    }
    for (what, text) in [("readers", &own.readers), ("source", &own.source)] {
        let is_short = text.chars().count() <= TEXT_MAX;
        if text.trim().is_empty() || !is_short || text.contains(char::is_control) {
            return Err(format!(
                "{what} has 1 to {TEXT_MAX} characters and no control character"
            ));
        }
    }
    Ok(Purpose {
        name: Cow::Owned(own.name),
        max_reidentification: share.get(),
        l: own.l,
        readers: Cow::Owned(own.readers),
        source: Cow::Owned(own.source),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(list: &Value) -> Result<Purposes, String> {
        Purposes::with_own(list.to_string().as_bytes())
    }

    fn ward() -> Value {
        json!({"name": "ward_round", "max_reidentification": 0.333_333_334, "l": 2,
            "readers": "those who treat them", "source": "decision of the board, 2026"})
    }

    #[test]
    fn own_purposes_stand_behind_those_of_everybody() {
        let all = read(&json!([ward()])).unwrap();
        assert_eq!(all.names(), ["public", "contract", "ward_round"]);
        let own = all.find("ward_round").unwrap();
        assert_eq!((own.k(), own.l), (3, 2));
        assert_eq!(all.find("world"), None);
        assert_eq!(read(&json!([])), Ok(Purposes::default()));
    }

    #[test]
    fn a_risk_at_its_bounds_gives_the_least_k_that_keeps_it() {
        for (risk, k) in [
            (0.5, 2),
            (0.333_333_333, 4),
            (0.05, 20),
            (1e-9, 1_000_000_000),
        ] {
            let mut own = ward();
            own["max_reidentification"] = json!(risk);
            let all = read(&json!([own])).unwrap();
            assert_eq!(all.find("ward_round").map(Purpose::k), Some(k), "{risk}");
        }
    }

    #[test]
    fn what_is_no_purpose_is_refused_with_its_place_and_how_to_mend_it() {
        let with = |name: &str, value: Value| {
            let mut own = ward();
            own[name] = value;
            read(&json!([ward(), own])).unwrap_err()
        };
        for (name, value, said) in [
            ("name", json!("public"), "choose another name"),
            ("name", json!("ward_round"), "choose another name"),
            ("name", json!("Ward"), "small letters"),
            ("name", json!("2nd"), "a letter first"),
            ("name", json!(""), "a letter first"),
            ("name", json!("a".repeat(33)), "1 to 32"),
            ("max_reidentification", json!(0), "above 0"),
            ("max_reidentification", json!(0.500_000_001), "at most 0.5"),
            ("max_reidentification", json!(-0.1), "above 0"),
            ("l", json!(1), "from 2 to 1000"),
            ("l", json!(1001), "from 2 to 1000"),
            ("readers", json!(" "), "readers has"),
            ("source", json!("a\u{7}"), "no control character"),
            ("source", json!("a".repeat(301)), "1 to 300"),
        ] {
            let error = with(name, value.clone());
            assert!(error.contains(said), "{name} {value}: {error}");
            assert!(error.starts_with("purpose 2: "), "{error}");
        }
        for (name, value) in [("k", json!(5)), ("l", json!("5")), ("l", json!(-2))] {
            assert!(with(name, value).contains("is no list of"), "{name}");
        }
        assert!(read(&ward()).unwrap_err().contains("is no list of"));
        let many = vec![ward(); 51];
        assert!(read(&json!(many)).unwrap_err().contains("more than 50"));
        for text in ["", "[] []", "[{}]"] {
            assert!(Purposes::with_own(text.as_bytes()).is_err(), "{text}");
        }
    }
}
