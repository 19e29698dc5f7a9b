//! Query error: how well a release answers random counting queries.
//!
//! Draws random queries (workload.rs), answers each from the release and
//! counts it in the original table over the published records. Reported are
//! mean and median of (upper − lower)/actual and of |estimate − actual|/actual.
//! A query that no record satisfies has neither; it is drawn anew, up to 64
//! times, then left out and counted.
//!
//! Work has a budget, counted in values that are looked at and not in seconds,
//! so that the same release always has the same report. Queries are asked in
//! order of their numbers until it is used up; the others are counted as not
//! asked.

use std::ops::Range;

use rayon::prelude::*;
use serde::Serialize;

use crate::microdata::Table;
use crate::privacy::CancelFlag;
use crate::release::{JoinError, Lineage, PublishedTable};

use super::count::Scratch;
use super::exact::ExactIndex;
use super::index::{Conditions, QueryIndex};
use super::workload::{Drawn, Source, Workload, draw};

/// Title of the measure.
pub const TITLE: &str = "Query error";
/// Definition of the measure.
pub const DEFINITION: &str = "Seeded random counting queries of 1 to 4 predicates, answered from the release alone and counted in the original over the published records: mean and median of (upper − lower)/actual and of |estimate − actual|/actual. Queries that no record satisfies are drawn anew. On tables of very many values only the first queries are asked, until a budget of work is used up; the others are counted as not asked.";
/// Source of the measure.
pub const SOURCE: &str = "LGB (aggregate queries); bounds of counts are ours";

/// Draws before a query is left out.
const DRAWS_MAX: u32 = 64;
/// Parts of the budget after which work is added up again, about.
const PARTS: u64 = 16;
/// Queries that are asked before that, at least and at most.
const TOGETHER_MIN: u32 = 8;
const TOGETHER_MAX: u32 = 256;

/// Query error of a release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct QueryErrorSummary {
    /// Queries answered.
    pub queries: u32,
    /// Queries left out: no draw had a satisfying record.
    pub left_out: u32,
    /// Queries not asked: the budget of work was used up before.
    #[serde(skip_serializing_if = "is_none")]
    pub not_asked: u32,
    /// (upper − lower)/actual.
    pub relative_range: MeanMedian,
    /// |estimate − actual|/actual.
    pub relative_error: MeanMedian,
    /// Queries whose actual count lies between the bounds; all of them, or
    /// the release does not cover its source.
    pub within_bounds: u32,
}

/// Mean and median of a figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MeanMedian {
    /// Mean.
    pub mean: f64,
    /// Median; the mean of the middle two where there are two.
    pub median: f64,
}

/// One query's figures: range, error, whether actual is within the bounds.
type Figures = (f64, f64, bool);

/// Measures the query error of a release, in rayon's current pool.
///
/// Fails where the tables do not fit together or the lineage does not fit.
pub fn measure(
    table: &Table,
    tables: &[PublishedTable],
    lineage: &Lineage,
    workload: Workload,
) -> Result<QueryErrorSummary, JoinError> {
    let published = Published {
        tables,
        lineage,
        cancel: CancelFlag::never(),
    };
    let measured = measure_watched(table, published, workload, &mut |_| true)?;
    Ok(measured.unwrap_or_default())
}

/// A release with its lineage.
#[derive(Clone, Copy, Debug)]
pub struct Published<'a> {
    /// The published tables.
    pub tables: &'a [PublishedTable],
    /// The subject of each row.
    pub lineage: &'a Lineage,
    /// Heeded before each query.
    pub cancel: &'a CancelFlag,
}

/// The same, told to `watch` as the share that is done; `None` where it says
/// that the rest is not wanted.
///
/// Fails where the tables do not fit together or the lineage does not fit.
pub fn measure_watched(
    table: &Table,
    published: Published<'_>,
    workload: Workload,
    watch: &mut dyn FnMut(f64) -> bool,
) -> Result<Option<QueryErrorSummary>, JoinError> {
    let hierarchies = QueryIndex::hierarchies_of(table);
    let tables = published.tables;
    let index = QueryIndex::new(tables, &hierarchies)?.for_queries(workload.queries);
    let lineage = published.lineage.of(index.name);
    let Some(exact) = ExactIndex::new(&index, table, lineage.unwrap_or_default()) else {
        return Err(JoinError {
            table: index.name.into(),
            reason: "rows, lineage and originals do not fit together",
        });
    };
    let attributes = (0..index.attributes.len()).into_par_iter();
    let sources = attributes.map(|at| Source::new(exact.domain(at), index.domain(at)));
    let asker = Asker {
        sources: sources.collect(),
        exact: &exact,
        index: &index,
        workload,
        cancel: published.cancel,
    };
    Ok(asker.ask_all(watch))
}

/// Asks the queries of a workload.
struct Asker<'a> {
    index: &'a QueryIndex<'a>,
    exact: &'a ExactIndex<'a>,
    sources: Vec<Source<'a>>,
    workload: Workload,
    cancel: &'a CancelFlag,
}

/// What one query showed, and the values that were looked at for it.
struct Asked {
    figures: Option<Figures>,
    work: u64,
}

impl Asker<'_> {
    /// Asks queries in order until the work is used up.
    fn ask_all(&self, watch: &mut dyn FnMut(f64) -> bool) -> Option<QueryErrorSummary> {
        let Workload {
            queries, work_max, ..
        } = self.workload;
        let (mut figures, mut work) = (Vec::new(), 0);
        let mut next = 0..queries.min(TOGETHER_MIN);
        while !next.is_empty() && work < work_max {
            let share = f64::from(next.start) / f64::from(queries);
            if !watch(share.max(work as f64 / work_max as f64)) {
                return None;
            }
            let asked = self.ask(next.clone());
            work += asked.iter().map(|asked| asked.work).sum::<u64>();
            figures.extend(asked.into_iter().map(|asked| asked.figures));
            let of_one = (work / u64::from(next.end)).max(1);
            let together = u32::try_from(work_max / PARTS / of_one).unwrap_or(u32::MAX);
            let together = together.clamp(TOGETHER_MIN, TOGETHER_MAX);
            next = next.end..queries.min(next.end.saturating_add(together));
        }
        Some(QueryErrorSummary {
            not_asked: queries - figures.len() as u32,
            ..sum_up(&figures)
        })
    }

    fn ask(&self, numbers: Range<u32>) -> Vec<Asked> {
        let numbers = numbers.into_par_iter();
        numbers
            .map_init(Scratch::default, |scratch, number| {
                self.cancel.heed();
                let mut rng = self.workload.stream(number);
                let mut work = 0;
                let figures = (0..DRAWS_MAX).find_map(|_| {
                    // A drawn query is valid: its values are of the domain.
                    let drawn = draw(&self.sources, &mut rng);
                    let actual = self.actual(&drawn, &mut work)?;
                    self.figures(drawn, actual, (scratch, &mut work))
                });
                Asked { figures, work }
            })
            .collect()
    }

    /// Records that satisfy; `None` where there is none.
    fn actual(&self, drawn: &[(usize, Drawn)], work: &mut u64) -> Option<u64> {
        let marks = drawn.iter().map(|(at, drawn)| {
            let source = &self.sources[*at];
            *work += drawn.work(source) + self.index.rows() as u64;
            Some((*at, drawn.marks(source).ok()?))
        });
        let marks = marks.collect::<Option<Vec<_>>>()?;
        let actual = self.exact.count_marked(marks.into_iter());
        (actual > 0).then_some(actual)
    }

    /// What the release says of a query.
    fn figures(
        &self,
        drawn: Vec<(usize, Drawn)>,
        actual: u64,
        (scratch, work): (&mut Scratch, &mut u64),
    ) -> Option<Figures> {
        let conditions = drawn.into_iter().map(|(at, drawn)| {
            *work += self.index.work(at);
            Some((at, drawn.condition(&self.sources[at]).ok()?))
        });
        let conditions: Conditions = conditions.collect::<Option<_>>()?;
        let count = self.index.count(&conditions, scratch);
        let actual_f = actual as f64;
        Some((
            (count.upper - count.lower) as f64 / actual_f,
            (count.estimate - actual_f).abs() / actual_f,
            (count.lower..=count.upper).contains(&actual),
        ))
    }
}

fn is_none(count: &u32) -> bool {
    *count == 0
}

fn sum_up(figures: &[Option<Figures>]) -> QueryErrorSummary {
    let answered: Vec<Figures> = figures.iter().flatten().copied().collect();
    QueryErrorSummary {
        queries: answered.len() as u32,
        left_out: (figures.len() - answered.len()) as u32,
        not_asked: 0,
        relative_range: mean_median(answered.iter().map(|figures| figures.0).collect()),
        relative_error: mean_median(answered.iter().map(|figures| figures.1).collect()),
        within_bounds: answered.iter().filter(|figures| figures.2).count() as u32,
    }
}

fn mean_median(mut figures: Vec<f64>) -> MeanMedian {
    let n = figures.len();
    if n == 0 {
        return MeanMedian::default();
    }
    figures.sort_by(f64::total_cmp);
    MeanMedian {
        mean: figures.iter().sum::<f64>() / n as f64,
        median: (figures[(n - 1) / 2] + figures[n / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_is_between_the_middle_two() {
        let figures = mean_median(vec![4.0, 1.0, 2.0, 9.0]);
        assert_eq!(
            figures,
            MeanMedian {
                mean: 4.0,
                median: 3.0
            }
        );
        assert_eq!(mean_median(Vec::new()), MeanMedian::default());
    }
}
