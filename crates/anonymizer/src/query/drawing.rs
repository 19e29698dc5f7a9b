//! Drawing the queries of a workload until some record satisfies each.
//!
//! A query that no record satisfies is drawn anew. Whether a draw has a record is
//! known when every portion of the release was counted; so of each query the first
//! draw with a record so far is kept, and a portion is asked for the draws up to
//! that one alone. Most queries are settled by the first portion.
//!
//! How many queries the budget of work allows is told by figures of the whole
//! release ([`AttributeWork`]), so that portions change nothing. A portion is asked
//! for as many queries as the budget may allow at most.

use std::ops::Range;

use rayon::prelude::*;

use crate::microdata::Table;
use crate::privacy::CancelFlag;
use crate::release::{Cell, DistinctCells, JoinError};

use super::error::Published;
use super::exact::ExactIndex;
use super::index::{Hierarchies, QueryIndex};
use super::knowledge::Shown;
use super::places::{CellPlaces, Places};
use super::workload::{Drawn, Source, Workload, draw};

/// Draws before a query is left out.
const DRAWS_MAX: usize = 64;
/// Parts of the budget after which work is added up again, about.
const PARTS: u64 = 16;
/// Queries that are asked before that, at least and at most.
const TOGETHER_MIN: u32 = 8;
const TOGETHER_MAX: u32 = 256;

/// Conditions of a query, each on another attribute.
pub(super) type Draw = Vec<(usize, Drawn)>;

/// The queries of a workload while portions of a release are seen.
#[derive(Debug)]
pub struct Drawing {
    pub(super) workload: Workload,
    /// Rows of the whole release.
    rows: u64,
    /// Names of the attributes.
    names: Vec<String>,
    /// What the whole release shows of each attribute.
    pub(super) shown: Vec<Shown>,
    work: Vec<AttributeWork>,
    /// As many queries as the budget may allow, from the first.
    queries: Vec<Settled>,
}

/// What is known of one query.
#[derive(Clone, Debug, Default)]
struct Settled {
    /// The first draw that a record satisfies.
    first: Option<usize>,
    /// Records that satisfy it: those of portions before had none.
    actual: u64,
    /// The attributes of that draw.
    attributes: Vec<usize>,
    /// Values that counting each draw looks at, up to the first portion's.
    work: Vec<u64>,
}

/// A portion ready to be asked.
pub(super) struct Ready<'a> {
    pub(super) index: QueryIndex<'a>,
    pub(super) exact: ExactIndex<'a>,
    pub(super) cancel: &'a CancelFlag,
}

impl<'a> Ready<'a> {
    /// Indexes a portion of a release that shows this of each attribute.
    ///
    /// # Errors
    /// The tables do not fit together, or the lineage does not fit.
    pub(super) fn new(
        table: &'a Table,
        published: Published<'a>,
        (queries, shown): (u32, &[Shown]),
    ) -> Result<Self, JoinError> {
        let hierarchies: Hierarchies = QueryIndex::hierarchies_of(table);
        let index = QueryIndex::within(published.tables, &hierarchies, shown)?;
        let index = index.for_queries(queries);
        let lineage = published.lineage.of(index.name).unwrap_or_default();
        match ExactIndex::new(&index, table, lineage) {
            Some(exact) => Ok(Self {
                index,
                exact,
                cancel: published.cancel,
            }),
            None => Err(JoinError {
                table: index.name.into(),
                reason: "rows, lineage and originals do not fit together",
            }),
        }
    }

    /// The attributes that predicates are drawn on.
    pub(super) fn sources(&self) -> Vec<Source<'_>> {
        let attributes = (0..self.index.attributes.len()).into_par_iter();
        let source = |at| Source::new(self.exact.domain(at), self.index.domain(at));
        attributes.map(source).collect()
    }
}

impl Drawing {
    /// Nothing is seen yet of a release of so many rows.
    pub fn new(workload: Workload, rows: u64) -> Self {
        Self {
            workload,
            rows,
            names: Vec::new(),
            shown: Vec::new(),
            work: Vec::new(),
            queries: Vec::new(),
        }
    }

    /// Sees a portion, in rayon's current pool. `watch` is told the share that is
    /// done; the answer is false where it says that the rest is not wanted.
    ///
    /// # Errors
    /// The tables do not fit together, the lineage does not fit, or the portion has
    /// other columns than those seen before.
    pub fn see(
        &mut self,
        table: &Table,
        portion: Published<'_>,
        watch: &mut dyn FnMut(f64) -> bool,
    ) -> Result<bool, JoinError> {
        let ready = Ready::new(table, portion, (self.workload.queries, &[]))?;
        self.see_ready(&ready, watch)
    }

    pub(super) fn see_ready(
        &mut self,
        ready: &Ready<'_>,
        watch: &mut dyn FnMut(f64) -> bool,
    ) -> Result<bool, JoinError> {
        let attributes = &ready.index.attributes;
        let is_first = self.names.is_empty();
        if is_first {
            self.names = attributes.iter().map(|one| one.name.to_string()).collect();
            self.shown = vec![Shown::default(); attributes.len()];
            self.work = vec![AttributeWork::default(); attributes.len()];
        }
        self.must_know(ready)?;
        for at in 0..attributes.len() {
            self.shown[at].add(ready.index.domain(at));
            self.work[at].see(&ready.index, at);
        }
        let sources = ready.sources();
        if is_first {
            return Ok(self.settle_first(ready, &sources, watch));
        }
        let number = self.queries.len() as u32;
        for first in (0..number).step_by(TOGETHER_MAX as usize) {
            if !watch(f64::from(first) / f64::from(number)) {
                return Ok(false);
            }
            self.settle(first..number.min(first + TOGETHER_MAX), ready, &sources);
        }
        Ok(true)
    }

    /// Refuses a portion with other columns than those seen before.
    pub(super) fn must_know(&self, ready: &Ready<'_>) -> Result<(), JoinError> {
        let names = ready.index.attributes.iter().map(|one| &*one.name);
        if names.eq(self.names.iter()) {
            return Ok(());
        }
        Err(JoinError {
            table: ready.index.name.into(),
            reason: "portions differ in their columns",
        })
    }

    /// Draws as many queries as the budget may allow.
    fn settle_first(
        &mut self,
        ready: &Ready<'_>,
        sources: &[Source<'_>],
        watch: &mut dyn FnMut(f64) -> bool,
    ) -> bool {
        let Workload {
            queries, work_max, ..
        } = self.workload;
        // Less than what the queries will take: redrawing comes on top.
        let (mut least, mut reach) = (0_u64, queries.min(TOGETHER_MIN));
        let mut number = 0;
        while number < reach {
            let share = f64::from(number) / f64::from(queries);
            if !watch(share.max(least as f64 / work_max as f64).min(1.0)) {
                return false;
            }
            let end = reach.min(number.saturating_add(TOGETHER_MAX));
            self.queries.resize(end as usize, Settled::default());
            self.settle(number..end, ready, sources);
            for asked in number..end {
                if least >= work_max {
                    break;
                }
                let work = self.queries[asked as usize].work.first();
                least = least.saturating_add(work.copied().unwrap_or(0));
                let together = together(work_max, least, asked + 1);
                reach = reach.max(queries.min((asked + 1).saturating_add(together)));
            }
            number = end;
        }
        true
    }

    /// Asks a portion for the draws of some queries that are not settled.
    fn settle(&mut self, numbers: Range<u32>, ready: &Ready<'_>, sources: &[Source<'_>]) {
        let (workload, rows) = (self.workload, self.rows);
        let queries = &mut self.queries[numbers.start as usize..numbers.end as usize];
        let queries = queries.par_iter_mut().zip(numbers.into_par_iter());
        queries.for_each(|(settled, number)| {
            ready.cancel.heed();
            let mut rng = workload.stream(number);
            for at in 0..settled.first.map_or(DRAWS_MAX, |first| first + 1) {
                // A drawn query is valid: its values are of the domain.
                let drawn = draw(sources, &mut rng);
                if settled.work.len() <= at {
                    let work = drawn
                        .iter()
                        .map(|(at, drawn)| drawn.work(&sources[*at]) + rows);
                    settled.work.push(work.sum());
                }
                let actual = actual(ready, sources, &drawn);
                if settled.first == Some(at) {
                    settled.actual += actual;
                } else if actual > 0 {
                    settled.first = Some(at);
                    settled.actual = actual;
                    settled.attributes = drawn.iter().map(|(at, _)| *at).collect();
                    break;
                }
            }
        });
    }

    /// Queries that the budget allows, from the first.
    pub(super) fn allowed(&self) -> u32 {
        let Workload {
            queries, work_max, ..
        } = self.workload;
        let mut work = 0;
        let mut next = 0..queries.min(TOGETHER_MIN);
        while !next.is_empty() && work < work_max {
            let asked = self.queries[next.start as usize..next.end as usize].iter();
            work += asked.map(|settled| self.work_of(settled)).sum::<u64>();
            let together = together(work_max, work, next.end);
            next = next.end..queries.min(next.end.saturating_add(together));
        }
        next.start
    }

    /// Values that a query looks at in the whole release, about.
    fn work_of(&self, settled: &Settled) -> u64 {
        let draws = settled.first.map_or(settled.work.len(), |first| first + 1);
        let counted: u64 = settled.work.iter().take(draws).sum();
        let answered = settled.attributes.iter();
        counted + answered.map(|&at| self.work[at].of(self.rows)).sum::<u64>()
    }

    /// Records of the original that satisfy a query.
    pub(super) fn actual(&self, number: u32) -> u64 {
        self.queries[number as usize].actual
    }

    /// The draw of a query that is asked; none where no draw had a record.
    pub(super) fn draw(&self, number: u32, sources: &[Source<'_>]) -> Option<Draw> {
        let first = self.queries[number as usize].first?;
        let mut rng = self.workload.stream(number);
        (0..=first).map(|_| draw(sources, &mut rng)).last()
    }
}

/// Queries that are asked before work is added up again, where so many took so much.
fn together(work_max: u64, work: u64, asked: u32) -> u32 {
    let of_one = (work / u64::from(asked)).max(1);
    let together = u32::try_from(work_max / PARTS / of_one).unwrap_or(u32::MAX);
    together.clamp(TOGETHER_MIN, TOGETHER_MAX)
}

/// Records of a portion that satisfy a draw.
fn actual(ready: &Ready<'_>, sources: &[Source<'_>], drawn: &Draw) -> u64 {
    let marks = drawn
        .iter()
        .map(|(at, drawn)| Some((*at, drawn.marks(&sources[*at]).ok()?)));
    let marks: Option<Vec<_>> = marks.collect();
    marks.map_or(0, |marks| ready.exact.count_marked(marks.into_iter()))
}

/// Values that answering a condition on an attribute looks at, about.
#[derive(Clone, Debug, Default)]
struct AttributeWork {
    cells: DistinctCells,
    /// Values of the list of buckets.
    values: DistinctCells,
    /// Positions that cells and values show beyond one each.
    places: u64,
    has_buckets: bool,
    classes: u64,
    is_by_row: bool,
}

impl AttributeWork {
    fn see(&mut self, index: &QueryIndex<'_>, at: usize) {
        let (attribute, domain) = (&index.attributes[at], index.domain(at));
        self.places += new_places(&mut self.cells, &attribute.cells, &domain.cells, |_| true);
        if let Some(buckets) = &attribute.buckets {
            self.has_buckets = true;
            // The list has a dictionary for all attributes together.
            let cells = buckets.cells();
            let mut held = vec![false; cells.len()];
            (0..buckets.len())
                .flat_map(|bucket| buckets.coded_run(bucket))
                .for_each(|(value, _)| held[value as usize] = true);
            let is_held = |at: usize| held[at];
            self.places += new_places(&mut self.values, cells, &domain.values, is_held);
        }
        let column = &index.columns[at];
        self.classes += column.of_class.len() as u64;
        self.is_by_row |= !column.of_row.is_empty();
    }

    /// In a release of so many rows.
    fn of(&self, rows: u64) -> u64 {
        let cells = (self.cells.len() + self.values.len()) as u64 + self.places;
        let times = u64::from(self.has_buckets) + u64::from(self.is_by_row);
        cells + self.classes + times * rows
    }
}

/// Sees the cells that are wanted; how many positions the new ones of a category show.
fn new_places(
    seen: &mut DistinctCells,
    cells: &[Cell],
    places: &Places,
    is_wanted: impl Fn(usize) -> bool,
) -> u64 {
    let mut shown = places.shown();
    let mut new = 0;
    for (at, cell) in cells.iter().enumerate() {
        let places = shown.next().map_or(0, |shown| match shown {
            CellPlaces::Members { from, to, .. } => 1 + u64::from(to - from),
            CellPlaces::Nothing | CellPlaces::Run(..) => 1,
        });
        new += if is_wanted(at) && seen.add(cell) {
            places
        } else {
            0
        };
    }
    new
}
