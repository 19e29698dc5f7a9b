//! Query error: how well a release answers random counting queries.
//!
//! Draws random queries (workload.rs), answers each from the release and
//! counts it in the original table over the published records. Reported are
//! mean and median of (upper − lower)/actual and of |estimate − actual|/actual.
//! A query that no record satisfies has neither; it is drawn anew, up to 64
//! times, then left out and counted.

use rayon::prelude::*;
use serde::Serialize;

use crate::microdata::{Domain, Table};
use crate::release::{JoinError, Lineage, PublishedTable};

use super::count::Scratch;
use super::exact::ExactIndex;
use super::index::QueryIndex;
use super::sliced::{SLICED, SlicedRows};
use super::workload::{Workload, draw};

/// Title of the measure.
pub const TITLE: &str = "Query error";
/// Definition of the measure.
pub const DEFINITION: &str = "Seeded random counting queries of 1 to 4 predicates, answered from the release alone and counted in the original over the published records: mean and median of (upper − lower)/actual and of |estimate − actual|/actual. Queries that no record satisfies are drawn anew.";
/// Source of the measure.
pub const SOURCE: &str = "LGB (aggregate queries); bounds of counts are ours";

/// Draws before a query is left out.
const DRAWS_MAX: u32 = 64;

/// Query error of a release.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct QueryErrorSummary {
    /// Queries answered.
    pub queries: u32,
    /// Queries left out: no draw had a satisfying record.
    pub left_out: u32,
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
    let hierarchies = QueryIndex::hierarchies_of(table);
    let is_sliced = tables.iter().any(|table| table.name == SLICED);
    let index = match is_sliced {
        true => QueryIndex::of_sliced(tables, &hierarchies)?,
        false => QueryIndex::new(tables, &hierarchies)?.for_queries(workload.queries),
    };
    let sliced = match is_sliced {
        true => Some(SlicedRows::new(tables, &index)?),
        false => None,
    };
    let subjects = lineage.of(index.joined.name()).unwrap_or_default();
    let Some(exact) = ExactIndex::new(&index, table, subjects) else {
        return Err(JoinError {
            table: index.joined.name().into(),
            reason: "rows, lineage and originals do not fit together",
        });
    };
    let attributes = 0..index.joined.attributes().len();
    let domains: Vec<&Domain> = attributes.map(|at| exact.domain(at)).collect();
    let figures: Vec<Option<Figures>> = (0..workload.queries)
        .into_par_iter()
        .map_init(Scratch::default, |scratch, number| {
            let mut rng = workload.stream(number);
            (0..DRAWS_MAX).find_map(|_| {
                // A drawn query is valid: its values are of the domain.
                let drawn = draw(&domains, &mut rng).into_iter();
                let conditions = drawn.map(|(at, drawn)| {
                    let condition = drawn.condition(domains[at], index.domain(at));
                    Some((at, condition.ok()?))
                });
                let conditions = conditions.collect::<Option<_>>()?;
                let actual = exact.count(&index, &conditions);
                (actual > 0).then(|| {
                    let (estimate, lower, upper) = match &sliced {
                        Some(sliced) => {
                            let count = sliced.count(&index, &conditions);
                            (count.estimate, count.lower, count.upper)
                        }
                        None => {
                            let count = index.count(&conditions, scratch);
                            (count.estimate, count.lower, count.upper)
                        }
                    };
                    let actual_f = actual as f64;
                    (
                        (upper - lower) as f64 / actual_f,
                        (estimate - actual_f).abs() / actual_f,
                        (lower..=upper).contains(&actual),
                    )
                })
            })
        })
        .collect();
    Ok(sum_up(&figures))
}

fn sum_up(figures: &[Option<Figures>]) -> QueryErrorSummary {
    let answered: Vec<Figures> = figures.iter().flatten().copied().collect();
    QueryErrorSummary {
        queries: answered.len() as u32,
        left_out: (figures.len() - answered.len()) as u32,
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
