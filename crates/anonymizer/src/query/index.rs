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

use crate::microdata::{Codes, Hierarchy, Table};
use crate::release::{Cell, Content, JoinError, JoinedAttribute, JoinedTable, PublishedTable};

use super::answer::{Answer, GroupAnswer, QueryAnswer};
use super::compile::compile;
use super::condition::Condition;
use super::count::Scratch;
use super::expression::{InvalidQuery, PREDICATES_MAX, Predicate, Query, Select};
use super::knowledge::PublicDomain;
use super::pairs::Pairs;

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
    /// How many rows each class has.
    pub(super) sizes: Vec<f64>,
    pub(super) columns: Vec<IndexedColumn>,
    /// How classes look in two attributes, for many queries.
    pub(super) pairs: Pairs,
}

/// One attribute of the index.
#[derive(Debug)]
pub(super) struct IndexedColumn {
    /// Per class: position of its cell; the number of cells where its rows
    /// have states of their own.
    pub(super) of_class: Codes,
    /// Whether rows of every class have states of their own.
    pub(super) is_of_rows_alone: bool,
    /// Per row in order of classes, where any row needs it.
    pub(super) of_row: Vec<u32>,
    /// The cells of an attribute that is published exactly, without buckets.
    pub(super) exact: Option<RankedCells>,
    /// Number of cells.
    cells: u32,
}

/// The cells of rows, numbered in ascending order of what they publish, so
/// that those between two values have numbers between two.
#[derive(Debug)]
pub(super) struct RankedCells {
    /// Positions of the cells in ascending order.
    pub(super) order: Vec<u32>,
    /// Per row in order of classes: place of its cell in `order`.
    pub(super) ranks: Codes,
}

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

    /// The same for as many queries: pairs of attributes are numbered where
    /// that is worth it.
    pub(super) fn for_queries(self, queries: u32) -> Self {
        let pairs = Pairs::of(self.columns.len(), queries);
        Self { pairs, ..self }
    }

    fn of(joined: JoinedTable<'a>, hierarchies: &Hierarchies) -> Self {
        let domains = joined
            .attributes()
            .par_iter()
            .map(|attribute| PublicDomain::of(attribute, hierarchies.get(attribute.name).cloned()))
            .collect();
        let signatures = joined.signatures();
        let (starts, rows) = signatures.rows_by_class();
        let sizes = signatures.sizes().iter().copied().map(f64::from).collect();
        let columns = (0..joined.attributes().len())
            .into_par_iter()
            .map(|at| IndexedColumn::new(&joined.attributes()[at], &starts, &rows))
            .collect();
        Self {
            joined,
            domains,
            sizes,
            starts,
            columns,
            pairs: Pairs::default(),
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

    /// Values that answering a condition on an attribute looks at, about.
    pub(super) fn work(&self, at: usize) -> u64 {
        let attribute = &self.joined.attributes()[at];
        let domain = &self.domains[at];
        let column = &self.columns[at];
        let pools = attribute.buckets.as_ref().map_or(0, |buckets| {
            (buckets.cells().len() + self.rows()) as u64 + domain.values.work()
        });
        let cells = attribute.cells.len() as u64 + domain.cells.work();
        cells + pools + (column.of_class.len() + column.of_row.len()) as u64
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
    fn new(attribute: &JoinedAttribute<'_>, starts: &[u32], rows: &[u32]) -> Self {
        let cells = attribute.cells.len() as u32;
        let in_bucket = |code: u32| attribute.cells[code as usize] == Cell::Empty;
        let classes = starts[..starts.len() - 1].iter();
        let of_class = classes.map(|&first| {
            let code = attribute.codes.at(rows[first as usize] as usize);
            match attribute.content {
                Content::Generalized if !in_bucket(code) => code,
                _ => cells,
            }
        });
        let mut column = Self {
            of_class: Codes::below(cells as usize + 1, of_class),
            is_of_rows_alone: false,
            of_row: Vec::new(),
            exact: None,
            cells,
        };
        if !column.of_class.iter().any(|code| code == cells) {
            return column;
        }
        column.is_of_rows_alone = column.of_class.iter().all(|code| code == cells);
        let buckets = attribute.buckets.as_ref();
        let of_row = rows.iter().map(|&row| {
            let code = attribute.codes.at(row as usize);
            let pool = buckets
                .filter(|_| in_bucket(code))
                .and_then(|buckets| buckets.pool_of(row as usize));
            pool.map_or(code, |pool| cells + pool)
        });
        column.of_row = of_row.collect();
        if buckets.is_none() && attribute.content == Content::Exact {
            column.exact = Some(RankedCells::new(attribute.cells, &column.of_row));
        }
        column
    }

    /// Whether rows of a class have states of their own.
    #[inline]
    pub(super) fn is_by_row(&self, class: usize) -> bool {
        self.of_class.at(class) == self.cells
    }

    /// State of a row of a class.
    #[inline]
    pub(super) fn state(&self, class: usize, row: usize) -> usize {
        match self.of_class.at(class) {
            code if code == self.cells => self.of_row[row] as usize,
            code => code as usize,
        }
    }
}

impl RankedCells {
    fn new(cells: &[Cell], of_row: &[u32]) -> Self {
        let mut order: Vec<u32> = (0..cells.len() as u32).collect();
        order.sort_by(|&one, &other| {
            let [one, other] = [one, other].map(|at| &cells[at as usize]);
            // Cells hold finite numbers only: all of a column can be compared.
            one.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal)
        });
        let mut rank_of = vec![0; cells.len()];
        for (rank, &at) in (0..).zip(&order) {
            rank_of[at as usize] = rank;
        }
        let ranks = of_row.iter().map(|&at| rank_of[at as usize]);
        Self {
            ranks: Codes::below(cells.len(), ranks),
            order,
        }
    }
}

/// The text of an exact value.
fn exact_text(cell: &Cell) -> String {
    use crate::microdata::value_text::{date_text, decimal_text};
    match cell {
        Cell::Integer(value, _) => value.to_string(),
        Cell::Decimal(value, _) => decimal_text(*value),
        Cell::Date(day, _) => date_text(*day),
        Cell::Label(label) => label.clone(),
        _ => String::new(),
    }
}
