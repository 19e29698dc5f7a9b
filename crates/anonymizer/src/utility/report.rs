//! The report: each measure with what it means, where that comes from, and
//! who may see it.
//!
//! ```json
//! {"format": "vizard-report/1", "records": 30162, "measures": {
//!   "c_dm": {"title": "…", "audience": "analyst", "definition": "…", "source": "…",
//!            "value": {…}}}}
//! ```
//! A histogram inside a value is always `{"bins": [{"from", "to", "count"}]}`,
//! which is all that the page with pictures needs to know.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who may see a measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// Anyone who may see the release: computed from it alone.
    Analyst,
    /// Stewards: computed with the original table, preferences, lineage or a
    /// population table.
    Steward,
}

/// What a measure is.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// A short name for people.
    pub title: &'static str,
    /// Who may see it.
    pub audience: Audience,
    /// The definition, in words and symbols.
    pub definition: &'static str,
    /// Where the definition comes from.
    pub source: &'static str,
}

/// One measure of a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// A short name for people.
    pub title: String,
    /// Who may see it.
    pub audience: Audience,
    /// The definition, in words and symbols.
    pub definition: String,
    /// Where the definition comes from.
    pub source: String,
    /// The figures.
    pub value: Value,
}

/// Utility and risk of one release.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UtilityReport {
    /// `vizard-report/1`.
    pub format: String,
    /// Records published.
    pub records: u64,
    /// Measures by name.
    pub measures: BTreeMap<String, Measure>,
}

impl UtilityReport {
    /// The format that this program writes.
    pub const FORMAT: &'static str = "vizard-report/1";

    /// A report without measures.
    pub fn new(records: u64) -> Self {
        Self {
            format: Self::FORMAT.into(),
            records,
            measures: BTreeMap::new(),
        }
    }

    /// Adds a measure, in place of one of that name.
    pub fn insert(&mut self, name: &str, description: Description, figures: &impl Serialize) {
        let measure = Measure {
            title: description.title.into(),
            audience: description.audience,
            definition: description.definition.into(),
            source: description.source.into(),
            // Figures are plain structs with text keys; a figure that had no
            // JSON form would be shown as "nothing", never stop a job.
            value: serde_json::to_value(figures).unwrap_or(Value::Null),
        };
        self.measures.insert(name.into(), measure);
    }

    /// The figures of a measure.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.measures.get(name).map(|measure| &measure.value)
    }
}

/// The part of a report that analysts may see.
#[must_use]
pub fn public_part(report: &UtilityReport) -> UtilityReport {
    let measures = report.measures.iter();
    UtilityReport {
        format: report.format.clone(),
        records: report.records,
        measures: measures
            .filter(|(_, measure)| measure.audience == Audience::Analyst)
            .map(|(name, measure)| (name.clone(), measure.clone()))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOR_STEWARDS: Description = Description {
        title: "t",
        audience: Audience::Steward,
        definition: "d",
        source: "s",
    };

    #[test]
    fn analysts_see_no_measure_that_is_for_stewards() {
        let mut report = UtilityReport::new(3);
        report.insert("private", FOR_STEWARDS, &1);
        let open = Description {
            audience: Audience::Analyst,
            ..FOR_STEWARDS
        };
        report.insert("open", open, &2);
        let public = public_part(&report);
        assert_eq!(public.measures.keys().collect::<Vec<_>>(), ["open"]);
        assert_eq!(public.value("open"), Some(&Value::from(2)));
    }

    #[test]
    fn a_report_reads_back_as_it_was_written() {
        let mut report = UtilityReport::new(7);
        report.insert("m", FOR_STEWARDS, &[0.5, 1.0]);
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(
            serde_json::from_str::<UtilityReport>(&text).unwrap(),
            report
        );
    }
}
