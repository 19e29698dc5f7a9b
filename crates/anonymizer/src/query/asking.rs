//! Asking a release the queries that were drawn, portion by portion.
//!
//! What bounds and estimates are made from adds up; a query's figures are taken when
//! every portion was asked. Counts of the original are known since queries were drawn.

use rayon::prelude::*;

use crate::microdata::Table;
use crate::release::JoinError;

use super::count::{Count, Scratch};
use super::drawing::{Drawing, Ready};
use super::error::{Figures, Published, QueryErrorSummary, sum_up};
use super::index::Conditions;
use super::tally::Tally;
use super::workload::Source;

/// Queries that are asked before the share that is done is told.
const TOGETHER: u32 = 64;

/// The queries of a workload while portions of a release are asked.
#[derive(Debug)]
pub struct Asking {
    drawing: Drawing,
    /// One for each query that the budget allows; none where no draw had a record.
    sums: Vec<Option<Tally>>,
}

impl Asking {
    /// Nothing is asked yet of a release of which every portion was seen.
    pub fn new(drawing: Drawing) -> Self {
        let allowed = drawing.allowed();
        Self {
            sums: vec![None; allowed as usize],
            drawing,
        }
    }

    /// Asks a portion, in rayon's current pool. `watch` is told the share that is
    /// done; the answer is false where it says that the rest is not wanted.
    ///
    /// # Errors
    /// The tables do not fit together, the lineage does not fit, or the portion has
    /// other columns than those seen before.
    pub fn ask(
        &mut self,
        table: &Table,
        portion: Published<'_>,
        watch: &mut dyn FnMut(f64) -> bool,
    ) -> Result<bool, JoinError> {
        let known = (self.drawing.workload.queries, &*self.drawing.shown);
        let ready = Ready::new(table, portion, known)?;
        self.drawing.must_know(&ready)?;
        Ok(self.ask_ready(&ready, watch))
    }

    pub(super) fn ask_ready(
        &mut self,
        ready: &Ready<'_>,
        watch: &mut dyn FnMut(f64) -> bool,
    ) -> bool {
        let sources = ready.sources();
        let allowed = self.sums.len() as u32;
        for first in (0..allowed).step_by(TOGETHER as usize) {
            if !watch(f64::from(first) / f64::from(allowed)) {
                return false;
            }
            let numbers = first..allowed.min(first + TOGETHER);
            let found: Vec<Option<Tally>> = numbers
                .into_par_iter()
                .map_init(Scratch::default, |scratch, number| {
                    ready.cancel.heed();
                    tally((&self.drawing, number), (ready, &sources), scratch)
                })
                .collect();
            for (sums, found) in self.sums[first as usize..].iter_mut().zip(found) {
                if let Some(found) = found {
                    sums.get_or_insert_default().add(&found);
                }
            }
        }
        true
    }

    /// The figures of all queries.
    pub fn finish(self) -> QueryErrorSummary {
        let sums = (0..).zip(&self.sums);
        let figures =
            sums.map(|(number, sums)| figures(self.drawing.actual(number), sums.as_ref()?.count()));
        let figures: Vec<Option<Figures>> = figures.collect();
        QueryErrorSummary {
            not_asked: self.drawing.workload.queries - figures.len() as u32,
            ..sum_up(&figures)
        }
    }
}

/// What a portion says of a query; nothing where no draw had a record.
fn tally(
    (drawing, number): (&Drawing, u32),
    (ready, sources): (&Ready<'_>, &[Source<'_>]),
    scratch: &mut Scratch,
) -> Option<Tally> {
    let drawn = drawing.draw(number, sources)?;
    let conditions = drawn
        .into_iter()
        .map(|(at, drawn)| Some((at, drawn.condition(&sources[at]).ok()?)));
    let conditions: Conditions = conditions.collect::<Option<_>>()?;
    Some(ready.index.tally(&conditions, scratch))
}

fn figures(actual: u64, count: Count) -> Option<Figures> {
    let actual_f = actual as f64;
    (actual > 0).then(|| {
        (
            (count.upper - count.lower) as f64 / actual_f,
            (count.estimate - actual_f).abs() / actual_f,
            (count.lower..=count.upper).contains(&actual),
        )
    })
}
