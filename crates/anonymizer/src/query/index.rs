//! A release made ready for many queries.
//!
//! Rows are ordered by their published signature, so that a predicate on a
//! generalized attribute is looked up once a class; what varies by row stands
//! in `columns`. A sliced release is counted by its buckets instead.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use crate::microdata::{Hierarchy, Table};
use crate::release::layout::is_sliced;
use crate::release::{JoinError, JoinedTable, PublishedTable};

use super::attribute::{Closed, IndexedAttribute};
use super::columns::IndexedColumn;
use super::compile::compile;
use super::condition::Condition;
use super::expression::{InvalidQuery, List, PREDICATES_MAX, Place, Predicate, Test, VALUES_MAX};
use super::knowledge::{PublicDomain, Shown};
use super::pairs::Pairs;
use super::sliced::SlicedRows;

/// Hierarchies by the attribute that they are over; they are public.
pub type Hierarchies = BTreeMap<String, Arc<Hierarchy>>;

/// A release made ready for queries.
#[derive(Debug)]
pub struct QueryIndex<'a> {
    /// Name of the table whose rows are about subjects.
    pub(super) name: &'static str,
    rows: usize,
    pub(super) attributes: Vec<IndexedAttribute<'a>>,
    pub(super) domains: Vec<PublicDomain>,
    /// Where the rows of each class begin; one more entry than classes.
    pub(super) starts: Vec<u32>,
    /// How many rows each class has.
    pub(super) sizes: Vec<f64>,
    pub(super) columns: Vec<IndexedColumn>,
    /// How classes look in two attributes, for many queries.
    pub(super) pairs: Pairs,
    /// The buckets of a sliced release: its rows are no records.
    pub(super) sliced: Option<SlicedRows>,
}

/// Conditions by attribute, each attribute once, in order.
pub(super) type Conditions = Vec<(usize, Condition)>;

impl<'a> QueryIndex<'a> {
    /// Indexes a release. Time is linear in rows × attributes.
    pub fn new(tables: &'a [PublishedTable], hierarchies: &Hierarchies) -> Result<Self, JoinError> {
        Self::within(tables, hierarchies, &[])
    }

    /// Indexes a portion of a release of which this is shown of each attribute.
    pub(super) fn within(
        tables: &'a [PublishedTable],
        hierarchies: &Hierarchies,
        shown: &[Shown],
    ) -> Result<Self, JoinError> {
        if !is_sliced(tables) {
            return Ok(Self::of(JoinedTable::new(tables)?, hierarchies, shown));
        }
        let index = Self::of(JoinedTable::of_sliced(tables)?, hierarchies, shown);
        let names: Vec<&str> = index.attributes.iter().map(|one| &*one.name).collect();
        let sliced = Some(SlicedRows::new(tables, &names)?);
        Ok(Self { sliced, ..index })
    }

    /// The same for as many queries: pairs of attributes are numbered where
    /// that is worth it.
    pub(super) fn for_queries(self, queries: u32) -> Self {
        let pairs = Pairs::of(self.columns.len(), queries);
        Self { pairs, ..self }
    }

    fn of(joined: JoinedTable<'a>, hierarchies: &Hierarchies, shown: &[Shown]) -> Self {
        let none = Shown::default();
        let attributes = joined.attributes().par_iter().enumerate();
        let domains = attributes
            .map(|(at, attribute)| {
                let hierarchy = hierarchies.get(attribute.name).cloned();
                PublicDomain::within(attribute, hierarchy, shown.get(at).unwrap_or(&none))
            })
            .collect();
        let signatures = joined.signatures();
        let (starts, rows) = signatures.rows_by_class();
        let sizes = signatures.sizes().iter().copied().map(f64::from).collect();
        let columns = (0..joined.attributes().len())
            .into_par_iter()
            .map(|at| IndexedColumn::new(&joined.attributes()[at], &starts, &rows))
            .collect();
        Self {
            name: joined.name(),
            rows: joined.rows(),
            attributes: joined
                .into_attributes()
                .into_iter()
                .map(Into::into)
                .collect(),
            domains,
            sizes,
            starts,
            columns,
            pairs: Pairs::default(),
            sliced: None,
        }
    }

    /// The same with all that it needs of the tables: it outlives them.
    pub fn into_owned(self) -> QueryIndex<'static> {
        let keeps_codes = self.sliced.is_some();
        let attributes = self.attributes.into_iter();
        QueryIndex {
            name: self.name,
            rows: self.rows,
            attributes: attributes.map(|one| one.into_owned(keeps_codes)).collect(),
            domains: self.domains,
            starts: self.starts,
            sizes: self.sizes,
            columns: self.columns,
            pairs: self.pairs,
            sliced: self.sliced,
        }
    }

    /// Nothing is answered that asks of this attribute.
    pub fn close(&mut self, attribute: &str, why: Closed) {
        let mut attributes = self.attributes.iter_mut();
        if let Some(found) = attributes.find(|one| one.name == attribute) {
            found.closed = Some(why);
        }
    }

    /// Memory that it takes, about; pairs of attributes are not counted.
    pub fn bytes(&self) -> u64 {
        let attributes = self.attributes.iter().map(IndexedAttribute::bytes);
        let columns = self.columns.iter().map(IndexedColumn::bytes);
        let classes = (size_of::<f64>() + size_of::<u32>()) * self.starts.len();
        let sliced = if self.sliced.is_some() {
            4 * self.rows
        } else {
            0
        };
        attributes.sum::<u64>() + columns.sum::<u64>() + (classes + sliced) as u64
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
        self.rows
    }

    /// What is public of an attribute's domain, by position.
    pub(super) fn domain(&self, at: usize) -> &PublicDomain {
        &self.domains[at]
    }

    /// Position among the published ones of the attribute that a query names at
    /// this place.
    pub(super) fn asked(&self, name: &str, place: Place) -> Result<usize, InvalidQuery> {
        let at = self.attributes.iter().position(|one| one.name == name);
        let at = at.ok_or(InvalidQuery::UnknownAttribute(place))?;
        match self.attributes[at].closed {
            None => Ok(at),
            Some(Closed::Withheld) => Err(InvalidQuery::Withheld(place)),
            Some(Closed::Drawn) => Err(InvalidQuery::Drawn(place)),
        }
    }

    /// Compiles predicates; those on one attribute become one condition.
    pub(super) fn conditions(&self, predicates: &[Predicate]) -> Result<Conditions, InvalidQuery> {
        if predicates.len() > PREDICATES_MAX {
            return Err(InvalidQuery::TooMany(List::Where, PREDICATES_MAX));
        }
        let mut conditions = Conditions::new();
        for (at, predicate) in predicates.iter().enumerate() {
            let place = List::Where.at(at);
            let named = self.asked(&predicate.attribute, place)?;
            if matches!(&predicate.test, Test::In(values) if values.len() > VALUES_MAX) {
                return Err(InvalidQuery::TooManyValues(place));
            }
            let condition = compile(&predicate.test, &self.domains[named], place)?;
            narrow(&mut conditions, named, condition);
        }
        Ok(conditions)
    }
}

/// Adds a condition to those that hold already.
pub(super) fn narrow(conditions: &mut Conditions, at: usize, condition: Condition) {
    match conditions.iter_mut().find(|(other, _)| *other == at) {
        Some((_, known)) => *known = known.clone().intersect(condition),
        None => conditions.push((at, condition)),
    }
}
