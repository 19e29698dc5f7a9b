//! Splits a set until nothing can be split, on all threads of the pool.
//!
//! A [`Splitter`] rearranges the rows of one set so that one part comes
//! before the other; the parts are then sets of their own. Large parts are
//! handed to other threads; of two others the smaller one is finished first
//! and the larger one goes on in the same loop, so that the stack stays
//! shallow however uneven the splits are.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;

use super::place::Place;

/// A part of fewer rows is not worth handing to another thread.
const TASK_ROWS: usize = 4096;
/// A part that holds less than one row in this many of its set is not handed
/// out either: each task may add to the depth of the stack.
const TASK_SHARE: usize = 16;

/// A way to split a set in two.
pub trait Splitter: Sync {
    /// Buffers that one task reuses from set to set.
    type Buffers: Send;

    /// Fresh buffers.
    fn buffers(&self) -> Self::Buffers;

    /// Puts one part of `rows` before the other and returns its size, between
    /// 1 and `rows.len() - 1`; `None` if the set stays whole. `rows` is not
    /// empty.
    fn split(&self, rows: &mut [u32], place: Place, buffers: &mut Self::Buffers) -> Option<usize>;

    /// A splitter for these rows alone, numbered anew in their order, that has
    /// what it reads of them close together. `None` to go on with this one.
    fn near(&self, _rows: &[u32]) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }
}

/// Where a descent reports to and asks whether to go on.
pub struct Descent<'a> {
    /// The run.
    pub context: &'a RunContext<'a>,
    /// Number of the step, and of all steps.
    pub step: (u32, u32),
    /// What the step is.
    pub label: &'static str,
    /// Rows in finished groups.
    pub done: AtomicUsize,
    /// Rows of the whole step.
    pub total: usize,
}

impl Descent<'_> {
    fn finish(&self, rows: usize) {
        let done = self.done.fetch_add(rows, Ordering::Relaxed) + rows;
        let fraction = done as f64 / self.total.max(1) as f64;
        let (step, steps) = self.step;
        self.context
            .progress
            .report(step, steps, self.label, fraction);
    }
}

/// Splits `rows` until nothing can be split. Afterwards each group is a run
/// of `rows` and `starts` is true at its first row.
pub fn descend<S: Splitter>(
    splitter: &S,
    rows: &mut [u32],
    starts: &mut [bool],
    place: Place,
    descent: &Descent<'_>,
) -> Result<(), EngineError> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut buffers = splitter.buffers();
    go_down(splitter, (rows, starts, place), &mut buffers, descent)
}

type Set<'r> = (&'r mut [u32], &'r mut [bool], Place);

fn go_down<S: Splitter>(
    splitter: &S,
    set: Set<'_>,
    buffers: &mut S::Buffers,
    descent: &Descent<'_>,
) -> Result<(), EngineError> {
    let (mut rows, mut starts, mut place) = set;
    loop {
        descent.context.check()?;
        if let Some(near) = splitter.near(rows) {
            let far = rows.to_vec();
            let mut order: Vec<u32> = (0..rows.len() as u32).collect();
            let set: Set<'_> = (&mut order, starts, place);
            go_down(&near, set, &mut near.buffers(), descent)?;
            for (row, at) in rows.iter_mut().zip(order) {
                *row = far[at as usize];
            }
            return Ok(());
        }
        let Some(size) = splitter.split(rows, place, buffers) else {
            starts[0] = true;
            descent.finish(rows.len());
            return Ok(());
        };
        let all = rows.len();
        let (left_rows, right_rows) = rows.split_at_mut(size);
        let (left_starts, right_starts) = starts.split_at_mut(size);
        let left = (left_rows, left_starts, place.left());
        let right = (right_rows, right_starts, place.right());
        let (small, large) = match left.0.len() <= right.0.len() {
            true => (left, right),
            false => (right, left),
        };
        if small.0.len() >= TASK_ROWS && small.0.len() * TASK_SHARE >= all {
            let (one, other) = rayon::join(
                || go_down(splitter, small, &mut splitter.buffers(), descent),
                || go_down(splitter, large, &mut splitter.buffers(), descent),
            );
            return one.and(other);
        }
        go_down(splitter, small, buffers, descent)?;
        (rows, starts, place) = large;
    }
}
