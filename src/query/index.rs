//! A release made ready for many queries.
//!
//! Rows are ordered by their published signature, so that a predicate on a
//! generalized attribute is looked up once a class. An attribute *varies by
//! row* where it is published exactly or its cell is in a bucket: then each
//! row has a state, the position of its cell, or behind all cells the
//! position of its pool (its bucket, or its group's buckets).

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use crate::microdata::{Hierarchy, Table};
use crate::release::{Cell, Content, JoinError, JoinedTable, PublishedTable};

use super::answer::{Answer, GroupAnswer, QueryAnswer};
use super::compile::compile;
use super::condition::Condition;
use super::count::Scratch;
use super::expression::{InvalidQuery, PREDICATES_MAX, Predicate, Query, Select};
use super::knowledge::PublicDomain;

/// Values that can be grouped by.
pub const GROUPS_MAX: usize = 1_000;

/// Hierarchies by the attribute that they are over; they are public.
pub type Hierarchies = BTreeMap<String, Arc<Hierarchy>>;

/// A release made ready for queries.
#[derive(Debug)]
pub struct QueryIndex<'a> {
    pub(super) joined: JoinedTable<'a>,
    pub(super) domains: Vec<PublicDomain>,
    /// Where the rows of each class begin; one more entry than classes.
    pub(super) starts: Vec<u32>,
    pub(super) columns: Vec<IndexedColumn>,
}

/// One attribute of the index.
#[derive(Debug)]
pub(super) struct IndexedColumn {
    /// Per class: position of its cell; for columns that vary by row in every
    /// class, [`BY_ROW`].
    pub(super) of_class: Vec<u32>,
    /// Per row in order of classes, where any row needs it.
    pub(super) of_row: Vec<u32>,
}

/// Says that rows of the class have states of their own.
pub(super) const BY_ROW: u32 = u32::MAX;

/// Conditions by attribute, each attribute once, in order.
pub(super) type Conditions = Vec<(usize, Condition)>;

impl<'a> QueryIndex<'a> {
    /// Indexes a release. Time is linear in rows × attributes.
    pub fn new(tables: &'a [PublishedTable], hierarchies: &Hierarchies) -> Result<Self, JoinError> {
        Ok(Self::of(JoinedTable::new(tables)?, hierarchies))
    }

    /// Indexes the attributes of a sliced release, to judge conditions on
    /// them; rows are counted by their buckets.
    pub(super) fn of_sliced(
        tables: &'a [PublishedTable],
        hierarchies: &Hierarchies,
    ) -> Result<Self, JoinError> {
        Ok(Self::of(JoinedTable::of_sliced(tables)?, hierarchies))
    }

    fn of(joined: JoinedTable<'a>, hierarchies: &Hierarchies) -> Self {
        let domains = joined
            .attributes()
            .par_iter()
            .map(|attribute| PublicDomain::of(attribute, hierarchies.get(attribute.name).cloned()))
            .collect();
        let (starts, rows) = joined.signatures().rows_by_class();
        let columns = (0..joined.attributes().len())
            .into_par_iter()
            .map(|at| IndexedColumn::new(&joined, at, &starts, &rows))
            .collect();
        Self {
            joined,
            domains,
            starts,
            columns,
        }
    }

    /// The hierarchies of a table's categories.
    pub fn hierarchies_of(table: &Table) -> Hierarchies {
        let schema = table.schema();
        let publishable = schema.publishable().into_iter();
        publishable
            .filter_map(|index| {
                let tree = table.coded(index)?.domain.hierarchy()?;
                Some((schema.attribute(index).name.clone(), Arc::clone(tree)))
            })
            .collect()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.joined.rows()
    }

    /// Answers a query.
    pub fn answer(&self, query: &Query) -> Result<QueryAnswer, InvalidQuery> {
        let conditions = self.conditions(&query.predicates)?;
        let measure = match &query.select {
            Select::Count(_) => None,
            Select::Sum(name) | Select::Avg(name) => Some(self.measure(name)?),
        };
        let mut scratch = Scratch::default();
        let mut answer = |conditions: &Conditions| match (&query.select, measure) {
            (Select::Avg(_), Some(measure)) => self.average(measure, conditions),
            (_, Some(measure)) => self.sum(measure, conditions),
            (_, None) => self.count(conditions, &mut scratch).answer(),
        };
        let Some(name) = &query.group_by else {
            return Ok(QueryAnswer::Single(answer(&conditions)));
        };
        let position = self.position(name);
        let at = position.ok_or(InvalidQuery::UnknownTarget("group_by"))?;
        let values = self.domains[at].values(GROUPS_MAX);
        let values = values.ok_or(InvalidQuery::TooManyGroups(GROUPS_MAX))?;
        let mut groups = Vec::new();
        for value in &values {
            let mut conditions = conditions.clone();
            narrow(
                &mut conditions,
                at,
                Condition::only(value, &self.domains[at]),
            );
            let answer: Answer = answer(&conditions);
            if answer.groups_touched > 0 {
                groups.push(GroupAnswer {
                    value: exact_text(value),
                    answer,
                });
            }
        }
        Ok(QueryAnswer::Grouped {
            group_by: name.clone(),
            groups,
        })
    }

    /// What is public of an attribute's domain, by position.
    pub(super) fn domain(&self, at: usize) -> &PublicDomain {
        &self.domains[at]
    }

    /// Position of an attribute among the published ones.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        let attributes = self.joined.attributes();
        attributes
            .iter()
            .position(|attribute| attribute.name == name)
    }

    fn measure(&self, name: &str) -> Result<usize, InvalidQuery> {
        use crate::microdata::AttributeType::{Decimal, Integer};
        let at = self.position(name);
        let at = at.ok_or(InvalidQuery::UnknownTarget("select"))?;
        match self.domains[at].kind {
            Integer | Decimal => Ok(at),
            _ => Err(InvalidQuery::NotANumber),
        }
    }

    /// Compiles predicates; those on one attribute become one condition.
    pub(super) fn conditions(&self, predicates: &[Predicate]) -> Result<Conditions, InvalidQuery> {
        if predicates.len() > PREDICATES_MAX {
            return Err(InvalidQuery::TooManyPredicates);
        }
        let mut conditions = Conditions::new();
        for (number, predicate) in (1..).zip(predicates) {
            let at = self.position(&predicate.attribute);
            let at = at.ok_or(InvalidQuery::UnknownAttribute(number))?;
            let condition = compile(&predicate.test, &self.domains[at], number)?;
            narrow(&mut conditions, at, condition);
        }
        Ok(conditions)
    }
}

/// Adds a condition to those that hold already.
fn narrow(conditions: &mut Conditions, at: usize, condition: Condition) {
    match conditions.iter_mut().find(|(other, _)| *other == at) {
        Some((_, known)) => *known = known.clone().intersect(condition),
        None => conditions.push((at, condition)),
    }
}

impl IndexedColumn {
    fn new(joined: &JoinedTable<'_>, at: usize, starts: &[u32], rows: &[u32]) -> Self {
        let attribute = &joined.attributes()[at];
        let classes = starts.windows(2).map(|run| rows[run[0] as usize]);
        let of_class: Vec<u32> = classes
            .map(|first| {
                let code = attribute.codes.at(first as usize);
                let in_bucket = attribute.cells[code as usize] == Cell::Empty;
                match attribute.content {
                    Content::Generalized if !in_bucket => code,
                    _ => BY_ROW,
                }
            })
            .collect();
        if !of_class.contains(&BY_ROW) {
            return Self {
                of_class,
                of_row: Vec::new(),
            };
        }
        let cells = attribute.cells.len() as u32;
        let buckets = attribute.buckets.as_ref();
        let of_row = rows
            .iter()
            .map(|&row| {
                let code = attribute.codes.at(row as usize);
                let in_bucket = attribute.cells[code as usize] == Cell::Empty;
                let pool = buckets
                    .filter(|_| in_bucket)
                    .and_then(|buckets| buckets.pool_of(row as usize));
                pool.map_or(code, |pool| cells + pool)
            })
            .collect();
        Self { of_class, of_row }
    }
}

/// The text of an exact value.
fn exact_text(cell: &Cell) -> String {
    use crate::microdata::domain::{date_text, decimal_text};
    match cell {
        Cell::Integer(value, _) => value.to_string(),
        Cell::Decimal(value, _) => decimal_text(*value),
        Cell::Date(day, _) => date_text(*day),
        Cell::Label(label) => label.clone(),
        _ => String::new(),
    }
}
