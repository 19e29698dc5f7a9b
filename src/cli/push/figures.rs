//! Figures of a report, and the bounds that they have to be within.
//!
//! A figure is named by a dotted path: `records`, or the name of a measure and
//! what stands below its `value`, as in `ncp.mean`. One that the report does not
//! have, or that is no number there, is within no bound.

use serde::Serialize;
use serde_json::Value;

use super::file::Publish;

/// A figure beside its bound.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Its path.
    pub name: String,
    /// Its value; absent where the report has no such number.
    pub value: Option<f64>,
    /// The largest value that is published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// The least one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// Whether it is within the bound.
    pub holds: bool,
}

impl Figure {
    /// What it is and what it should be.
    pub fn sentence(&self) -> String {
        let value = self.value.map_or_else(
            || "is not a number of the report".to_owned(),
            |value| format!("is {value}"),
        );
        let bound = match (self.at_most, self.at_least) {
            (Some(bound), _) => format!("at most {bound}"),
            (None, Some(bound)) => format!("at least {bound}"),
            (None, None) => "no bound".into(),
        };
        format!("{} {value}, {bound} is asked for", self.name)
    }
}

/// The figures that are asked for, by name: first those with a largest value.
pub fn compare(report: &Value, asked: &Publish) -> Vec<Figure> {
    let at_most = asked.if_at_most.iter().map(|(name, &bound)| {
        let value = figure(report, name);
        Figure {
            name: name.clone(),
            value,
            at_most: Some(bound),
            at_least: None,
            holds: value.is_some_and(|value| value <= bound),
        }
    });
    let at_least = asked.if_at_least.iter().map(|(name, &bound)| {
        let value = figure(report, name);
        Figure {
            name: name.clone(),
            value,
            at_most: None,
            at_least: Some(bound),
            holds: value.is_some_and(|value| value >= bound),
        }
    });
    at_most.chain(at_least).collect()
}

fn figure(report: &Value, name: &str) -> Option<f64> {
    if name == "records" {
        return report["records"].as_f64();
    }
    let (measure, path) = name.split_once('.')?;
    let value = report.get("measures")?.get(measure)?.get("value")?;
    let value = below(value, path)?.as_f64()?;
    // How far, to whichever side.
    let is_distance = name == "fit.difference";
    Some(if is_distance { value.abs() } else { value })
}

/// What stands at a path; names of attributes may have dots themselves.
fn below<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    if let Some(found) = value.get(path) {
        return Some(found);
    }
    let mut dots = path.match_indices('.');
    dots.find_map(|(at, _)| below(value.get(&path[..at])?, &path[at + 1..]))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    #[test]
    fn figures_are_found_by_their_path_and_held_against_their_bound() {
        let report = json!({"records": 40, "measures": {"ncp": {"value":
            {"mean": 0.2, "attributes": {"ward.no": {"mean": 0.5}}}},
            "risk": {"value": {"journalist": null}}}});
        let asked = Publish {
            if_at_most: BTreeMap::from([
                ("ncp.attributes.ward.no.mean".into(), 0.4),
                ("ncp.mean".into(), 0.2),
                ("ncp.mode".into(), 1.0),
                ("risk.journalist".into(), 1.0),
            ]),
            if_at_least: BTreeMap::from([("records".into(), 41.0)]),
        };
        let found = compare(&report, &asked);
        let held: Vec<_> = found.iter().map(|one| (one.value, one.holds)).collect();
        assert_eq!(
            held,
            [
                (Some(0.5), false),
                (Some(0.2), true),
                (None, false),
                (None, false),
                (Some(40.0), false)
            ]
        );
        assert_eq!(
            found[4].sentence(),
            "records is 40, at least 41 is asked for"
        );
    }
}
