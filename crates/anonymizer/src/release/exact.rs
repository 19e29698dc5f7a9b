//! Attributes that a release shows as they are, and how far they tell people
//! apart.
//!
//! A class of rows that look the same is k people to an adversary who knows
//! quasi-identifiers alone. Someone who knows one more attribute that every row shows
//! exactly has smaller classes, down to one person. So what is published
//! exactly is counted in the manifest, measured with the risk, and refused
//! where a record would stand out below its k (*ours*).
//!
//! Everything is read from the published tables, by position: a table that is
//! broken gives figures of what can be read.

use serde::{Deserialize, Serialize};

use super::table::{Cells, Content, PublishedColumn, PublishedTable};
use crate::microdata::{Role, RowClasses, Schema};

/// An attribute that a job publishes although it may identify people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcceptedExact {
    /// Name of the attribute.
    pub attribute: String,
    /// Why, 1 to 500 characters; published.
    pub reason: String,
}

/// One attribute whose raw values stand in the rows of people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExactAttribute {
    /// Name of the attribute.
    pub attribute: String,
    /// What the schema says it is to an adversary.
    pub role: Role,
    /// Different values.
    pub distinct: u64,
    /// Share of records whose value no other record has.
    pub unique_share: f64,
}

/// What a release publishes exactly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedExactly {
    /// The attributes, in the order of the columns.
    pub attributes: Vec<ExactAttribute>,
    /// Share of records that nobody equals in all of them but sensitive ones;
    /// none where no row holds all values of one record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unique_share: Option<f64>,
    /// The same, with the generalized cells of the row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unique_share_with_quasi_identifiers: Option<f64>,
}

/// Measures a release of this schema. `draws_values`: its sensitive columns
/// hold drawn values, nobody's own.
pub fn published_exactly(
    tables: &[PublishedTable],
    schema: &Schema,
    draws_values: bool,
) -> PublishedExactly {
    let Some(rows) = RowsOfPeople::of(tables, schema) else {
        return PublishedExactly::default();
    };
    let exact = rows.columns.iter().filter(|(role, column)| {
        column.content == Content::Exact && !(draws_values && *role == Role::Sensitive)
    });
    let attributes: Vec<ExactAttribute> = exact
        .map(|&(role, column)| rows.exact(role, column))
        .collect();
    let is_known = |&(role, column): &(Role, &PublishedColumn)| {
        column.content == Content::Exact && role != Role::Sensitive
    };
    let shares = rows.is_linked && rows.columns.iter().any(is_known);
    let share = |classes: RowClasses| unique(&classes) as f64 / rows.number.max(1) as f64;
    PublishedExactly {
        attributes,
        unique_share: shares.then(|| share(rows.classes(is_known))),
        unique_share_with_quasi_identifiers: shares
            .then(|| share(rows.classes(|(role, _)| *role != Role::Sensitive))),
    }
}

/// An attribute by which records stand out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandsOut {
    /// Name of the attribute.
    pub attribute: String,
    /// Records that look like fewer than their k when it is known as well.
    pub records: u64,
}

/// Rows of people by what they show to an adversary who knows everything but
/// sensitive values.
pub struct Exposure<'a> {
    rows: RowsOfPeople<'a>,
    /// The k of each row's record.
    k: &'a [u32],
}

impl<'a> Exposure<'a> {
    /// The rows of a release, with the k that each row's record needs; none
    /// where rows are not whole records.
    pub fn of(tables: &'a [PublishedTable], schema: &Schema, k: &'a [u32]) -> Option<Self> {
        let rows = RowsOfPeople::of(tables, schema)?;
        (rows.is_linked && k.len() == rows.number).then_some(Self { rows, k })
    }

    /// Names of the insensitive attributes in the rows.
    pub fn insensitive(&self) -> Vec<&'a str> {
        let all = self.rows.columns.iter();
        all.filter(|(role, _)| *role == Role::Insensitive)
            .map(|(_, column)| column.name.as_str())
            .collect()
    }

    /// Records that look like fewer than their k to who knows, beside the
    /// published quasi-identifiers, these insensitive attributes.
    pub fn below_k(&self, known: &[&str]) -> u64 {
        let sizes = self.sizes(known);
        let below = sizes.iter().zip(self.k).filter(|(size, k)| size < k);
        below.count() as u64
    }

    /// Number of rows that look like each row.
    pub fn sizes(&self, known: &[&str]) -> Vec<u32> {
        let classes = self.classes(known);
        let sizes = classes.sizes();
        let rows = classes.of_row.iter();
        rows.map(|&class| sizes[class as usize]).collect()
    }

    /// Sizes of the classes of rows that look the same.
    pub fn class_sizes(&self, known: &[&str]) -> Vec<u32> {
        self.classes(known).sizes()
    }

    fn classes(&self, known: &[&str]) -> RowClasses {
        self.rows.classes(|(role, column)| match role {
            Role::Insensitive => known.contains(&column.name.as_str()),
            role => *role != Role::Sensitive,
        })
    }

    /// The attributes to accept, or to give another role, until no record
    /// stands out: each one that is enough by itself, and where none is, a
    /// least set of them. `accepted` are taken for unknown.
    pub fn stands_out(&self, accepted: &[&str]) -> Vec<StandsOut> {
        let mut open = self.insensitive();
        open.retain(|name| !accepted.contains(name));
        if open.is_empty() || self.below_k(&open) == 0 {
            return Vec::new();
        }
        let named = |attribute: &&str| StandsOut {
            attribute: (*attribute).to_owned(),
            records: self.below_k(&[attribute]),
        };
        let mut found: Vec<StandsOut> = open.iter().map(named).collect();
        found.retain(|one| one.records > 0);
        open.retain(|name| found.iter().all(|one| one.attribute != *name));
        // What none of the rest tells alone, some of them may tell together.
        while self.below_k(&open) > 0 {
            let records = self.below_k(&open);
            let Some(next) = open.pop() else { break };
            // Without it the rest is enough: it need not be named.
            if self.below_k(&open) == records {
                continue;
            }
            let attribute = next.to_owned();
            found.push(StandsOut { attribute, records });
        }
        let order = self.insensitive();
        found.sort_by_key(|one| order.iter().position(|name| *name == one.attribute));
        found
    }
}

/// The table with one row for each record or person.
struct RowsOfPeople<'a> {
    number: usize,
    /// The columns of attributes, with their roles.
    columns: Vec<(Role, &'a PublishedColumn)>,
    /// Whether all cells of a row are of one record.
    is_linked: bool,
}

impl<'a> RowsOfPeople<'a> {
    /// Every engine publishes it first.
    fn of(tables: &'a [PublishedTable], schema: &Schema) -> Option<Self> {
        let table = tables.first()?;
        let number = table.rows();
        let columns = table.columns.iter().filter_map(|column| {
            let attribute = schema.attribute(schema.find(&column.name)?);
            let is_whole = matches!(&column.cells, Cells::Dictionary { codes, .. }
                if codes.len() == number);
            is_whole.then_some((attribute.role, column))
        });
        // A table of the columns that are permuted stands beside sliced rows.
        let is_sliced = tables.iter().any(|table| {
            let mut columns = table.columns.iter();
            columns.any(|column| column.content == Content::Column)
        });
        Some(Self {
            number,
            columns: columns.collect(),
            is_linked: !is_sliced,
        })
    }

    fn exact(&self, role: Role, column: &PublishedColumn) -> ExactAttribute {
        let mut classes = RowClasses::whole(self.number);
        refine(&mut classes, column);
        ExactAttribute {
            attribute: column.name.clone(),
            role,
            distinct: classes.number as u64,
            unique_share: unique(&classes) as f64 / self.number.max(1) as f64,
        }
    }

    fn classes(&self, is_known: impl Fn(&(Role, &PublishedColumn)) -> bool) -> RowClasses {
        let mut classes = RowClasses::whole(self.number);
        for one in self.columns.iter().filter(|one| is_known(one)) {
            refine(&mut classes, one.1);
        }
        classes
    }
}

/// Rows stay in one class where they show the same cell in `column` too.
fn refine(classes: &mut RowClasses, column: &PublishedColumn) {
    if let Cells::Dictionary { codes, .. } = &column.cells {
        classes.refine_by_code(|row| codes.at(row));
    }
}

/// Rows that no other row equals.
fn unique(classes: &RowClasses) -> u64 {
    classes.sizes().iter().filter(|&&size| size == 1).count() as u64
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::microdata::Codes;
    use crate::release::Cell;

    fn schema() -> Schema {
        serde_json::from_value(json!({
            "name": "made", "subject_key": "id",
            "attributes": [
                {"name": "id", "role": "identifier"},
                {"name": "age", "role": "quasi_identifier", "type": "integer"},
                {"name": "ill", "role": "sensitive", "type": "categorical"},
                {"name": "a", "role": "insensitive", "type": "integer"},
                {"name": "b", "role": "insensitive", "type": "integer"},
                {"name": "c", "role": "insensitive", "type": "integer"}]
        }))
        .expect("a schema")
    }

    fn column(name: &str, content: Content, codes: &[u32]) -> PublishedColumn {
        let largest = codes.iter().max().copied().unwrap_or(0);
        PublishedColumn {
            name: name.into(),
            content,
            kind: None,
            cells: Cells::Dictionary {
                codes: Codes::below(largest as usize + 1, codes.iter().copied()),
                cells: (0..=i64::from(largest))
                    .map(|at| Cell::Integer(at, at))
                    .collect(),
            },
        }
    }

    /// Groups of three and seven; `a` sets records apart, `b` and `c` only together.
    fn table() -> PublishedTable {
        PublishedTable {
            name: "microdata".into(),
            columns: vec![
                column("age", Content::Generalized, &[0, 0, 0, 1, 1, 1, 1, 1, 1, 1]),
                column("ill", Content::Exact, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
                column("a", Content::Exact, &[0, 1, 1, 0, 0, 0, 0, 0, 0, 0]),
                column("b", Content::Exact, &[0, 0, 0, 1, 1, 1, 1, 0, 0, 0]),
                column("c", Content::Exact, &[0, 0, 0, 1, 1, 0, 0, 1, 1, 0]),
            ],
        }
    }

    #[test]
    fn what_stands_exactly_is_counted_alone_and_together() {
        let tables = [table()];
        let found = published_exactly(&tables, &schema(), false);
        let names = found.attributes.iter();
        let figures: Vec<(&str, u64, f64)> = names
            .map(|one| (one.attribute.as_str(), one.distinct, one.unique_share))
            .collect();
        assert_eq!(
            figures,
            [
                ("ill", 10, 1.0),
                ("a", 2, 0.0),
                ("b", 2, 0.0),
                ("c", 2, 0.0)
            ]
        );
        // a, b and c: 000, 100, 011, 010 and 001, twice each.
        assert_eq!(found.unique_share, Some(0.0));
        // With age the first and the last record are alone.
        assert_eq!(found.unique_share_with_quasi_identifiers, Some(0.2));
        let drawn = published_exactly(&tables, &schema(), true);
        assert!(drawn.attributes.iter().all(|one| one.attribute != "ill"));
    }

    #[test]
    fn records_below_their_k_are_counted_at_exact_equality() {
        let (tables, schema) = ([table()], schema());
        let below = |k: &[u32], known: &[&str]| {
            let exposure = Exposure::of(&tables, &schema, k).expect("rows");
            exposure.below_k(known)
        };
        assert_eq!(below(&[3; 10], &[]), 0);
        assert_eq!(below(&[4; 10], &[]), 3);
        assert_eq!(below(&[3; 10], &["a"]), 3);
        assert_eq!(below(&[3; 10], &["b"]), 0);
        assert_eq!(below(&[3; 10], &["c"]), 0);
        assert_eq!(below(&[2; 10], &["b", "c"]), 1);
        assert_eq!(below(&[3; 10], &["b", "c"]), 7);
        // One record asks for more than its class has.
        let mut own = [2; 10];
        own[4] = 3;
        assert_eq!(below(&own, &["b", "c"]), 2);
    }

    #[test]
    fn the_attributes_named_are_those_that_are_enough_and_no_more() {
        let (tables, schema) = ([table()], schema());
        let k = [3; 10];
        let exposure = Exposure::of(&tables, &schema, &k).expect("rows");
        let named = |accepted: &[&str]| {
            let found = exposure.stands_out(accepted);
            let names = found.into_iter().map(|one| (one.attribute, one.records));
            names.collect::<Vec<_>>()
        };
        // `a` is enough alone; of `b` and `c` one has to go.
        assert_eq!(named(&[]), [("a".to_owned(), 3), ("c".to_owned(), 7)]);
        assert_eq!(named(&["a"]), [("c".to_owned(), 7)]);
        assert_eq!(named(&["a", "b"]), []);
        assert_eq!(named(&["a", "c"]), []);
    }

    #[test]
    fn rows_whose_columns_are_permuted_show_no_record() {
        let mut columns = table();
        columns.name = "columns".into();
        columns.columns[0].content = Content::Column;
        let tables = [table(), columns];
        let found = published_exactly(&tables, &schema(), false);
        assert_eq!(found.unique_share, None);
        assert_eq!(found.attributes.len(), 4);
        assert!(Exposure::of(&tables, &schema(), &[1; 10]).is_none());
    }
}
