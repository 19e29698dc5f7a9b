//! What can be asked: the JSON form of a query and why one is refused.

use serde::{Deserialize, Serialize};

/// Predicates that a query may have.
pub const PREDICATES_MAX: usize = 64;

/// One query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    /// What is asked for.
    pub select: Select,
    /// One answer per value of this attribute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_by: Option<String>,
    /// All of these have to hold.
    #[serde(rename = "where", default, skip_serializing_if = "Vec::is_empty")]
    pub predicates: Vec<Predicate>,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Select {
    /// The number of records: `{"count": true}`.
    Count(True),
    /// The sum of a number: `{"sum": "salary"}`.
    Sum(String),
    /// The average of a number: `{"avg": "salary"}`.
    Avg(String),
}

/// The JSON value `true`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "bool", into = "bool")]
pub struct True;

impl TryFrom<bool> for True {
    type Error = &'static str;

    fn try_from(value: bool) -> Result<Self, Self::Error> {
        value.then_some(Self).ok_or("`count` is true or not there")
    }
}

impl From<True> for bool {
    fn from(_: True) -> bool {
        true
    }
}

/// A condition on one attribute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "PredicateDocument", into = "PredicateDocument")]
pub struct Predicate {
    /// The attribute.
    pub attribute: String,
    /// What its value must satisfy.
    pub test: Test,
}

/// What a value must satisfy.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// From lo to hi, both included.
    Between(Literal, Literal),
    /// One of these.
    In(Vec<Literal>),
    /// In this relation to the literal.
    Compare(Comparison, Literal),
}

/// How a value relates to a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `>=`
    AtLeast,
    /// `>`
    Greater,
}

/// A value in a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Literal {
    /// A whole number.
    Whole(i64),
    /// Any other number.
    Number(f64),
    /// A category or a day.
    Text(String),
}

/// A predicate as it is written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PredicateDocument {
    attribute: String,
    op: Operator,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    value: Option<Literal>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    values: Option<Vec<Literal>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lo: Option<Literal>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hi: Option<Literal>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Operator {
    #[serde(rename = "between")]
    Between,
    #[serde(rename = "in")]
    In,
    #[serde(rename = "<")]
    Less,
    #[serde(rename = "<=", alias = "≤")]
    AtMost,
    #[serde(rename = "=")]
    Equal,
    #[serde(rename = "!=", alias = "≠")]
    NotEqual,
    #[serde(rename = ">=", alias = "≥")]
    AtLeast,
    #[serde(rename = ">")]
    Greater,
}

impl TryFrom<PredicateDocument> for Predicate {
    type Error = &'static str;

    fn try_from(document: PredicateDocument) -> Result<Self, Self::Error> {
        let PredicateDocument {
            attribute,
            op,
            value,
            values,
            lo,
            hi,
        } = document;
        let comparison = match op {
            Operator::Between => None,
            Operator::In => None,
            Operator::Less => Some(Comparison::Less),
            Operator::AtMost => Some(Comparison::AtMost),
            Operator::Equal => Some(Comparison::Equal),
            Operator::NotEqual => Some(Comparison::NotEqual),
            Operator::AtLeast => Some(Comparison::AtLeast),
            Operator::Greater => Some(Comparison::Greater),
        };
        let test = match (op, comparison, value, values, lo, hi) {
            (Operator::Between, _, None, None, Some(lo), Some(hi)) => Test::Between(lo, hi),
            (Operator::In, _, None, Some(values), None, None) => Test::In(values),
            (_, Some(comparison), Some(value), None, None, None) => {
                Test::Compare(comparison, value)
            }
            _ => return Err("`between` takes `lo` and `hi`, `in` takes `values`, others `value`"),
        };
        Ok(Self { attribute, test })
    }
}

impl From<Predicate> for PredicateDocument {
    fn from(predicate: Predicate) -> Self {
        let mut document = Self {
            attribute: predicate.attribute,
            op: Operator::In,
            value: None,
            values: None,
            lo: None,
            hi: None,
        };
        match predicate.test {
            Test::Between(lo, hi) => {
                document.op = Operator::Between;
                (document.lo, document.hi) = (Some(lo), Some(hi));
            }
            Test::In(values) => document.values = Some(values),
            Test::Compare(comparison, value) => {
                document.op = match comparison {
                    Comparison::Less => Operator::Less,
                    Comparison::AtMost => Operator::AtMost,
                    Comparison::Equal => Operator::Equal,
                    Comparison::NotEqual => Operator::NotEqual,
                    Comparison::AtLeast => Operator::AtLeast,
                    Comparison::Greater => Operator::Greater,
                };
                document.value = Some(value);
            }
        }
        document
    }
}

/// Why a query is refused. Names positions in the query, never a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidQuery {
    /// A predicate (from 1) names no published attribute.
    #[error("predicate {0}: the attribute is not in the release")]
    UnknownAttribute(usize),
    /// A value does not fit the type of the predicate's attribute.
    #[error("predicate {0}: a value does not fit the attribute's type")]
    ValueUnfit(usize),
    /// Categories have no order to compare by.
    #[error("predicate {0}: categories are compared by `=`, `!=` and `in` alone")]
    Unordered(usize),
    /// A category that the hierarchy does not have.
    #[error("predicate {0}: a value is not in the attribute's hierarchy")]
    UnknownValue(usize),
    /// Too many predicates.
    #[error("a query has at most {PREDICATES_MAX} predicates")]
    TooManyPredicates,
    /// `select` or `group_by` names no published attribute.
    #[error("`{0}` names no attribute of the release")]
    UnknownTarget(&'static str),
    /// Sums and averages are of numbers.
    #[error("`select`: sums and averages are of integers and decimals")]
    NotANumber,
    /// Too many values to group by.
    #[error("`group_by`: the attribute has more than {0} values")]
    TooManyGroups(usize),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Query, serde_json::Error> {
        serde_json::from_str(text)
    }

    #[test]
    fn a_query_reads_back_as_it_was_written() {
        let text = r#"{"select":{"avg":"salary"},"group_by":"sex","where":[
            {"attribute":"age","op":"between","lo":30,"hi":39.5},
            {"attribute":"race","op":"in","values":["a","b"]},
            {"attribute":"born","op":"≥","value":"1970-01-01"}]}"#;
        let query = read(text).unwrap();
        let again = serde_json::to_string(&query).unwrap();
        assert_eq!(read(&again).unwrap(), query);
        assert!(again.contains(r#""op":">=""#));
        assert_eq!(
            query.predicates[2].test,
            Test::Compare(Comparison::AtLeast, Literal::Text("1970-01-01".into()))
        );
    }

    #[test]
    fn wrong_documents_are_refused() {
        for text in [
            r#"{"select":{"count":false}}"#,
            r#"{"select":{"count":true},"limit":3}"#,
            r#"{"select":{"count":true,"sum":"a"}}"#,
            r#"{"select":{"median":"a"}}"#,
            r#"{"select":{"count":true},"where":[{"attribute":"a","op":"like","value":"x"}]}"#,
            r#"{"select":{"count":true},"where":[{"attribute":"a","op":"<"}]}"#,
            r#"{"select":{"count":true},"where":[{"attribute":"a","op":"<","value":1,"lo":0}]}"#,
            r#"{"select":{"count":true},"where":[{"attribute":"a","op":"between","lo":0}]}"#,
            r#"{"select":{"count":true},"where":[{"attribute":"a","op":"=","value":null}]}"#,
            r#"{"select":{"count":true},"where":[{"attribute":"a","op":"=","value":1,"x":1}]}"#,
            r#"{"where":[]}"#,
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
