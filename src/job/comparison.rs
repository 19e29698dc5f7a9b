//! Two releases side by side: every figure that both reports or both verifications
//! have, and how far it differs.

use serde::Serialize;
use serde_json::Value;

/// A figure of two releases.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ComparedFigure {
    /// Where it stands: `ncp.mean`, `attacks.inference.diagnosis.attained`.
    #[schema(examples("ncp.mean"))]
    pub figure: String,
    /// Of the first release; null where it has none.
    pub first: Option<f64>,
    /// Of the second.
    pub second: Option<f64>,
    /// Second − first, where both have it.
    pub difference: Option<f64>,
}

/// The figures of a release by their places, in the order of its documents.
type Figures = Vec<(String, f64)>;

/// Every figure of two releases, each a report and a verification: first those of
/// the reports, in the order of the first release, then what only the second has.
pub fn compared(first: (&Value, &Value), second: (&Value, &Value)) -> Vec<ComparedFigure> {
    let [first, second] = [first, second].map(figures);
    let of = |figures: &Figures, place: &str| {
        let found = figures.iter().find(|(name, _)| name == place);
        found.map(|(_, figure)| *figure)
    };
    let only_second = second
        .iter()
        .filter(|(place, _)| of(&first, place).is_none());
    let places = first.iter().chain(only_second).map(|(place, _)| place);
    places
        .map(|place| {
            let [one, other] = [&first, &second].map(|figures| of(figures, place));
            ComparedFigure {
                figure: place.clone(),
                first: one,
                second: other,
                difference: one.zip(other).map(|(one, other)| other - one),
            }
        })
        .collect()
}

fn figures((report, verification): (&Value, &Value)) -> Figures {
    let mut found = Figures::new();
    if let Some(records) = report["records"].as_f64() {
        found.push(("records".into(), records));
    }
    for (name, measure) in report["measures"].as_object().into_iter().flatten() {
        walk(&mut found, name, &measure["value"]);
    }
    for part in ["guarantees", "attacks"] {
        for check in verification[part].as_array().into_iter().flatten() {
            let kind = check["kind"].as_str().unwrap_or_default();
            let mut place = format!("{part}.{kind}");
            if let Some(attribute) = check["attribute"].as_str() {
                place = format!("{place}.{attribute}");
            }
            walk(&mut found, &format!("{place}.claimed"), &check["claimed"]);
            walk(&mut found, &format!("{place}.attained"), &check["attained"]);
            walk(&mut found, &place, &check["figures"]);
        }
    }
    found
}

/// Figures in the fields of a document. Lists are distributions and pairs, which a
/// single difference does not compare.
fn walk(found: &mut Figures, place: &str, value: &Value) {
    match value {
        Value::Number(number) => {
            if let Some(figure) = number.as_f64() {
                found.push((place.to_owned(), figure));
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                walk(found, &format!("{place}.{name}"), value);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn figures_stand_side_by_side_and_what_one_lacks_is_null() {
        let report = |ncp: f64| {
            json!({"records": 100, "measures": {
                "ncp": {"value": {"mean": ncp, "attributes": {"age": {"mean": 0.5}}}},
                "group_sizes": {"value": {"histogram": {"bins": [{"from": 1}]}}},
            }})
        };
        let mut second = report(0.3);
        second["measures"]["leakage"] = json!({"value": {"subjects": {"max": 0.2}}});
        let attack = json!({"attacks": [
            {"kind": "inference", "attribute": "illness", "attained": 0.5, "figures": {"lift": 1.5}}]});
        let found = compared((&report(0.25), &attack), (&second, &Value::Null));
        let told: Vec<(&str, Option<f64>, Option<f64>)> = found
            .iter()
            .map(|one| (one.figure.as_str(), one.first, one.second))
            .collect();
        assert_eq!(
            told,
            [
                ("records", Some(100.0), Some(100.0)),
                ("ncp.attributes.age.mean", Some(0.5), Some(0.5)),
                ("ncp.mean", Some(0.25), Some(0.3)),
                ("attacks.inference.illness.attained", Some(0.5), None),
                ("attacks.inference.illness.lift", Some(1.5), None),
                ("leakage.subjects.max", None, Some(0.2)),
            ]
        );
        assert_eq!(found[0].difference, Some(0.0));
        assert_eq!(found[5].difference, None);
    }
}
