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
//!
//! Of a release in portions every portion is seen first ([`Drawing`]), which settles
//! the queries, and then asked ([`Asking`]).

use serde::Serialize;

use crate::microdata::Table;
use crate::privacy::CancelFlag;
use crate::release::{JoinError, Lineage, PublishedTable};

use super::workload::Workload;

pub use super::asking::Asking;
pub use super::drawing::Drawing;
use super::drawing::Ready;

/// Title of the measure.
pub const TITLE: &str = "Query error";
/// Definition of the measure.
pub const DEFINITION: &str = "Seeded random counting queries of 1 to 4 predicates, answered from the release alone and counted in the original over the published records: mean and median of (upper − lower)/actual and of |estimate − actual|/actual. Queries that no record satisfies are drawn anew. On tables of very many values only the first queries are asked, until a budget of work is used up; the others are counted as not asked.";
/// Source of the measure.
pub const SOURCE: &str = "LGB (aggregate queries); bounds of counts are ours";

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
pub(super) type Figures = (f64, f64, bool);

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
    let ready = Ready::new(table, published, (workload.queries, &[]))?;
    let mut drawing = Drawing::new(workload, ready.index.rows() as u64);
    // Drawing takes about as long as asking.
    if !drawing.see_ready(&ready, &mut |share| watch(share / 2.0))? {
        return Ok(None);
    }
    let mut asking = Asking::new(drawing);
    let is_wanted = asking.ask_ready(&ready, &mut |share| watch((1.0 + share) / 2.0));
    Ok(is_wanted.then(|| asking.finish()))
}

fn is_none(count: &u32) -> bool {
    *count == 0
}

pub(super) fn sum_up(figures: &[Option<Figures>]) -> QueryErrorSummary {
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
