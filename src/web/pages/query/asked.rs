//! What a form asks, and the query that it means.
//!
//! The form goes on through as many rounds as somebody needs: each one carries
//! the whole of it. Attributes are named by their position, which stays the same
//! as long as the release does.

use axum::http::StatusCode;
use serde_json::{Map, Value, json};

use super::super::api::Failure;
use super::super::visitor::Posted;
use super::attributes::{Attribute, Kind};

/// Conditions that a form may have.
pub const CONDITIONS_MAX: usize = 16;

/// What a form asks.
#[derive(Default)]
pub struct Asked {
    /// Whether records are counted.
    pub count: bool,
    /// Numbers that are summed up.
    pub sums: Vec<usize>,
    /// Numbers that are averaged.
    pub averages: Vec<usize>,
    /// Attributes that are grouped by.
    pub groups: Vec<usize>,
    /// All of these have to hold.
    pub conditions: Vec<Asking>,
}

/// A condition as it is typed.
#[derive(Default)]
pub struct Asking {
    /// The attribute.
    pub attribute: usize,
    /// The word for its test.
    pub test: String,
    /// What it names: several of a category.
    pub values: Vec<String>,
    /// The upper end, where it names two.
    pub upper: String,
}

/// A place of the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// The condition of this number, from 0.
    Condition(usize),
    /// The sums.
    Sums,
    /// The averages.
    Averages,
    /// What is grouped by.
    Groups,
    /// No place of its own.
    Whole,
}

/// What is wrong, and where.
pub struct Wrong {
    /// Where.
    pub at: Spot,
    /// What, in a sentence.
    pub said: String,
    /// The status of an answer that says so.
    pub status: StatusCode,
}

/// A query, and which condition of the form each of its own is of.
pub struct Meant {
    /// The query.
    pub query: Value,
    of_form: Vec<usize>,
}

impl Asked {
    /// As in a form that nobody filled in yet.
    pub fn first() -> Self {
        Self {
            count: true,
            ..Self::default()
        }
    }

    /// As a form says; what names no attribute is left out.
    pub fn of(posted: &Posted, attributes: &[Attribute]) -> Self {
        let numbered = |name: &str| {
            let numbers = posted.texts(name).filter_map(|text| text.parse().ok());
            numbers.filter(|at| *at < attributes.len()).collect()
        };
        let rows = posted.texts("condition").take(CONDITIONS_MAX);
        let conditions = rows.filter_map(|row| {
            let field = |name: &str| format!("{name}.{row}");
            let attribute = posted.text(&field("attribute")).parse().ok();
            let of = attributes.get(attribute?)?;
            let value = field("value");
            let lines = posted.texts(&value).flat_map(str::lines);
            let lines = lines.map(str::trim).filter(|line| !line.is_empty());
            let values: Vec<String> = lines.map(str::to_owned).collect();
            Some(Asking {
                attribute: attribute?,
                test: posted.text(&field("test")).to_owned(),
                values: match of.kind {
                    Kind::Category => values,
                    _ => values.into_iter().take(1).collect(),
                },
                upper: posted.text(&field("upper")).trim().to_owned(),
            })
        });
        Self {
            count: posted.text("count") == "on",
            sums: numbered("sum"),
            averages: numbered("average"),
            groups: numbered("group"),
            conditions: conditions.collect(),
        }
    }

    /// The fields of a form that asks the same.
    pub fn fields(&self) -> Vec<(String, String)> {
        let mut fields = Vec::new();
        if self.count {
            fields.push(("count".into(), "on".into()));
        }
        for (name, positions) in [
            ("sum", &self.sums),
            ("average", &self.averages),
            ("group", &self.groups),
        ] {
            fields.extend(positions.iter().map(|at| (name.into(), at.to_string())));
        }
        for (row, asking) in self.conditions.iter().enumerate() {
            let mut field =
                |name: &str, value: String| fields.push((format!("{name}.{row}"), value));
            field("attribute", asking.attribute.to_string());
            field("test", asking.test.clone());
            field("upper", asking.upper.clone());
            for value in &asking.values {
                field("value", value.clone());
            }
            fields.push(("condition".into(), row.to_string()));
        }
        fields
    }

    /// The query that it means.
    pub fn meant(&self, attributes: &[Attribute]) -> Result<Meant, Wrong> {
        let names = |positions: &[usize]| -> Vec<&str> {
            let known = positions.iter().filter_map(|at| attributes.get(*at));
            known.map(|attribute| attribute.name.as_str()).collect()
        };
        let (mut conditions, mut of_form) = (Vec::new(), Vec::new());
        for (row, asking) in self.conditions.iter().enumerate() {
            let written = asking.written(&attributes[asking.attribute]);
            let written = written.map_err(|said| Wrong {
                at: Spot::Condition(row),
                said: said.to_owned(),
                status: StatusCode::UNPROCESSABLE_ENTITY,
            })?;
            of_form.extend(written.iter().map(|_| row));
            conditions.extend(written);
        }
        let mut query = Map::new();
        if self.count {
            query.insert("count".into(), json!(true));
        }
        for (name, of) in [
            ("sum", &self.sums),
            ("avg", &self.averages),
            ("group_by", &self.groups),
        ] {
            if !of.is_empty() {
                query.insert(name.into(), json!(names(of)));
            }
        }
        if !conditions.is_empty() {
            query.insert("where".into(), json!(conditions));
        }
        let query = Value::Object(query);
        Ok(Meant { query, of_form })
    }
}

impl Asking {
    /// What the API takes for it: `is not` of several values is one for each.
    fn written(&self, attribute: &Attribute) -> Result<Vec<Value>, &'static str> {
        let name = &attribute.name;
        if attribute.kind == Kind::Category {
            return match (self.test.as_str(), self.values.as_slice()) {
                (_, []) => Err("Choose a value, or remove the condition."),
                ("!=", values) => {
                    let each = values.iter();
                    let each =
                        each.map(|value| json!({"attribute": name, "op": "!=", "value": value}));
                    Ok(each.collect())
                }
                (_, [value]) => Ok(vec![json!({"attribute": name, "op": "=", "value": value})]),
                (_, values) => Ok(vec![
                    json!({"attribute": name, "op": "in", "values": values}),
                ]),
            };
        }
        let value = self.values.first().map_or("", String::as_str);
        let literal = |text: &str| match attribute.kind {
            _ if text.is_empty() => Err("Give a value, or remove the condition."),
            Kind::Date => Ok(json!(text)),
            _ => number(text).ok_or("It is not a number."),
        };
        let condition = match self.test.as_str() {
            "between" => {
                json!({"attribute": name, "op": "between", "lo": literal(value)?, "hi": literal(&self.upper)?})
            }
            test => json!({"attribute": name, "op": test, "value": literal(value)?}),
        };
        Ok(vec![condition])
    }
}

fn number(text: &str) -> Option<Value> {
    let whole = text.parse::<i64>().ok().map(Value::from);
    let other = || {
        let number = text.parse::<f64>().ok().filter(|one| one.is_finite())?;
        Some(json!(number))
    };
    whole.or_else(other)
}

impl Meant {
    /// Where in the form the API found fault, and what it says, in plain words.
    pub fn wrong(&self, failure: &Failure) -> Wrong {
        let place = failure.parameter.split_once('[');
        let (list, at) = place.unwrap_or((&failure.parameter, ""));
        let at: Option<usize> = at.trim_end_matches(']').parse().ok();
        let is_of_cells = failure.detail.starts_with("`group_by` makes more than");
        let at = match (list, at) {
            ("where", Some(at)) => self.of_form.get(at).copied().map(Spot::Condition),
            ("sum", _) => Some(Spot::Sums),
            ("avg", _) => Some(Spot::Averages),
            ("group_by", _) => Some(Spot::Groups),
            _ if is_of_cells => Some(Spot::Groups),
            _ => None,
        };
        let prefix = format!("{}: ", failure.parameter);
        let detail = failure.detail.strip_prefix(&prefix);
        let detail = detail.unwrap_or(&failure.detail);
        let said = if is_of_cells {
            "That makes more than 1,000 combinations. Group by fewer attributes, or name some of their values in conditions.".into()
        } else if detail.contains("at least one of `count`") {
            "Choose what you want to know: the number of records, a sum or an average.".into()
        } else {
            sentence(detail)
        };
        Wrong {
            at: at.unwrap_or(Spot::Whole),
            said,
            status: failure.status,
        }
    }
}

/// A clause as a sentence.
fn sentence(clause: &str) -> String {
    let mut characters = clause.chars();
    let first = characters.next().map(|first| first.to_uppercase());
    let first: String = first.into_iter().flatten().collect();
    let end = if clause.ends_with('.') { "" } else { "." };
    format!("{first}{}{end}", characters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes() -> Vec<Attribute> {
        let kinds = [
            ("age", Kind::Integer),
            ("ward", Kind::Category),
            ("day", Kind::Date),
        ];
        let attributes = kinds.map(|(name, kind)| Attribute {
            name: name.into(),
            kind,
        });
        attributes.into()
    }

    fn asking(attribute: usize, test: &str, values: &[&str], upper: &str) -> Asking {
        Asking {
            attribute,
            test: test.into(),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
            upper: upper.into(),
        }
    }

    #[test]
    fn a_form_becomes_the_query_that_it_means() {
        let asked = Asked {
            averages: vec![0],
            groups: vec![1],
            conditions: vec![
                asking(1, "!=", &["red", "blue"], ""),
                asking(0, "between", &["30"], "39.5"),
                asking(2, ">=", &["2026-03-01"], ""),
                asking(1, "=", &["red", "warm"], ""),
            ],
            ..Asked::first()
        };
        let meant = asked.meant(&attributes()).ok().expect("it fits");
        assert_eq!(
            meant.query,
            json!({"count": true, "avg": ["age"], "group_by": ["ward"], "where": [
                {"attribute": "ward", "op": "!=", "value": "red"},
                {"attribute": "ward", "op": "!=", "value": "blue"},
                {"attribute": "age", "op": "between", "lo": 30, "hi": 39.5},
                {"attribute": "day", "op": ">=", "value": "2026-03-01"},
                {"attribute": "ward", "op": "in", "values": ["red", "warm"]}]})
        );
        let refused = |parameter: &str, detail: &str| {
            let mut failure = Failure::form(StatusCode::UNPROCESSABLE_ENTITY, detail);
            failure.parameter = parameter.into();
            let wrong = meant.wrong(&failure);
            (wrong.at, wrong.said)
        };
        assert_eq!(
            refused("where[3]", "where[3]: a value does not fit"),
            (Spot::Condition(2), "A value does not fit.".into())
        );
        assert_eq!(refused("group_by[0]", "no").0, Spot::Groups);
        let (at, said) = refused("", "`group_by` makes more than 1000 cells; group by fewer");
        assert!(at == Spot::Groups && said.starts_with("That makes"));
    }

    #[test]
    fn what_is_not_given_is_told_at_its_condition() {
        for (asked, said) in [
            (asking(0, "<", &[], ""), "Give a value"),
            (asking(0, "between", &["1"], ""), "Give a value"),
            (asking(0, "=", &["1e999"], ""), "not a number"),
            (asking(1, "=", &[], ""), "Choose a value"),
        ] {
            let asked = Asked {
                conditions: vec![asking(0, ">", &["1"], ""), asked],
                ..Asked::first()
            };
            let wrong = asked.meant(&attributes()).err().expect("it does not fit");
            assert_eq!(wrong.at, Spot::Condition(1));
            assert!(wrong.said.contains(said), "{}", wrong.said);
        }
    }
}
