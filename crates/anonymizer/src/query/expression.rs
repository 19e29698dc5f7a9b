//! What can be asked: the JSON form of a query and why one is refused.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

/// Combinations of values that can be answered for.
pub const CELLS_MAX: usize = 1_000;
/// Predicates that a query may have.
pub const PREDICATES_MAX: usize = 64;

/// Values that a predicate may name.
pub const VALUES_MAX: usize = 1_000;
/// Numbers that a query may sum up, and that it may average.
pub const MEASURES_MAX: usize = 16;
/// Attributes that a query may group by.
pub const GROUPS_MAX: usize = 8;

/// One query: at least one of `count`, `sum` and `avg`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    /// Whether the number of records is asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub count: bool,
    /// Numbers whose sums are asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sum: Vec<String>,
    /// Numbers whose averages are asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub avg: Vec<String>,
    /// One answer for each combination of values of these attributes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub group_by: Vec<String>,
    /// All of these have to hold.
    #[serde(rename = "where", default, skip_serializing_if = "Vec::is_empty")]
    pub predicates: Vec<Predicate>,
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
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    value: Option<Literal>,
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    values: Option<Vec<Literal>>,
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    lo: Option<Literal>,
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    hi: Option<Literal>,
}

/// A member that is there, which `null` is not.
fn given<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(from).map(Some)
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

/// A list of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// `where`
    Where,
    /// `sum`
    Sum,
    /// `avg`
    Avg,
    /// `group_by`
    GroupBy,
}

/// An entry of a list, from 0: `where[2]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The list.
    pub list: List,
    /// The entry's position.
    pub at: usize,
}

impl List {
    /// The list's entry number `at`, from 0.
    pub const fn at(self, at: usize) -> Place {
        Place { list: self, at }
    }
}

impl fmt::Display for List {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Where => "where",
            Self::Sum => "sum",
            Self::Avg => "avg",
            Self::GroupBy => "group_by",
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}[{}]", self.list, self.at)
    }
}

/// Why a query is refused. Names positions in the query, never a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidQuery {
    /// Nothing is asked for.
    #[error("ask for at least one of `count`, `sum` and `avg`")]
    NothingAsked,
    /// An entry names no published attribute.
    #[error("{0}: the attribute is not in the release")]
    UnknownAttribute(Place),
    /// A value does not fit the type of the predicate's attribute.
    #[error("{0}: a value does not fit the attribute's type")]
    ValueUnfit(Place),
    /// Categories have no order to compare by.
    #[error("{0}: categories are compared by `=`, `!=` and `in` alone")]
    Unordered(Place),
    /// A category that the hierarchy does not have.
    #[error("{0}: a value is not in the attribute's hierarchy")]
    UnknownValue(Place),
    /// Sums and averages are of numbers.
    #[error("{0}: sums and averages are of integers and decimals")]
    NotANumber(Place),
    /// An attribute is grouped by twice.
    #[error("{0}: the attribute is named before")]
    Repeated(Place),
    /// What the cells of the attribute stand for is not published.
    #[error(
        "{0}: the attribute is generalized by a hierarchy that is not published; ask without it"
    )]
    Withheld(Place),
    /// The attribute's values were drawn anew.
    #[error("{0}: values of the attribute were drawn anew, and bound no count; ask without it")]
    Drawn(Place),
    /// Values that cannot be listed.
    #[error("{0}: decimals and attributes of very many values cannot be grouped by")]
    Unlisted(Place),
    /// Too many entries of a list.
    #[error("`{0}` has at most {1} entries")]
    TooMany(List, usize),
    /// Too many values of a predicate.
    #[error("{0}: a condition has at most {VALUES_MAX} values")]
    TooManyValues(Place),
    /// Too many combinations of values.
    #[error(
        "`group_by` makes more than {CELLS_MAX} cells; group by fewer attributes, or name some of \
         their values in `where`"
    )]
    TooManyCells,
}

impl InvalidQuery {
    /// The entry at fault, where there is one.
    pub fn place(&self) -> Option<Place> {
        match self {
            Self::UnknownAttribute(place)
            | Self::ValueUnfit(place)
            | Self::Unordered(place)
            | Self::UnknownValue(place)
            | Self::NotANumber(place)
            | Self::Repeated(place)
            | Self::Withheld(place)
            | Self::Drawn(place)
            | Self::Unlisted(place)
            | Self::TooManyValues(place) => Some(*place),
            Self::NothingAsked | Self::TooMany(..) | Self::TooManyCells => None,
        }
    }

    /// Whether the query is larger than what is answered.
    pub fn is_of_size(&self) -> bool {
        matches!(
            self,
            Self::TooMany(..) | Self::TooManyValues(_) | Self::TooManyCells
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Query, serde_json::Error> {
        serde_json::from_str(text)
    }

    #[test]
    fn a_query_reads_back_as_it_was_written() {
        let text = r#"{"avg":["salary"],"group_by":["sex","ward"],"where":[
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
            r#"{"count":1}"#,
            r#"{"count":true,"limit":3}"#,
            r#"{"count":true,"sum":"a"}"#,
            r#"{"median":["a"]}"#,
            r#"{"count":true,"where":[{"attribute":"a","op":"like","value":"x"}]}"#,
            r#"{"count":true,"where":[{"attribute":"a","op":"<"}]}"#,
            r#"{"count":true,"where":[{"attribute":"a","op":"<","value":1,"lo":0}]}"#,
            r#"{"count":true,"where":[{"attribute":"a","op":"between","lo":0}]}"#,
            r#"{"count":true,"where":[{"attribute":"a","op":"=","value":null}]}"#,
            r#"{"count":true,"where":[{"attribute":"a","op":"=","value":1,"x":1}]}"#,
            r#"{"count":true,"where":[{"attribute":"a","op":"=","value":1,"lo":null}]}"#,
            r#"{"where":{}}"#,
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
