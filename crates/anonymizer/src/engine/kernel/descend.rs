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

use super::split_position::SplitPosition;

/// A part of fewer rows is not worth handing to another thread.
const TASK_ROWS: usize = 4096;
/// A part that holds less than one row in this many of its set is not handed
/// out either: each task may add to the depth of the stack.
const TASK_SHARE: usize = 16;

/// A set on its way down: rows that can be parted into two sets.
pub trait Part: Send + Sized {
    /// Number of rows.
    fn size(&self) -> usize;

    /// The first `size` rows and the others.
    fn split_at(self, size: usize) -> (Self, Self);
}

impl Part for &mut [u32] {
    fn size(&self) -> usize {
        self.len()
    }

    fn split_at(self, size: usize) -> (Self, Self) {
        self.split_at_mut(size)
    }
}

/// A way to split a set in two.
pub trait Splitter<P>: Sync {
    /// Buffers that one task reuses from set to set.
    type Buffers: Send;

    /// Fresh buffers.
    fn buffers(&self) -> Self::Buffers;

    /// Puts one part of the set's rows before the other and returns its size,
    /// between 1 and one less than all; `None` if the set stays whole. The set
    /// is not empty.
    fn split(
        &self,
        set: &mut P,
        place: SplitPosition,
        buffers: &mut Self::Buffers,
    ) -> Option<usize>;
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

/// Splits a set until nothing can be split. Afterwards each group is a run of
/// its rows and `starts`, one a row, is true at the group's first.
pub fn descend<P: Part, S: Splitter<P>>(
    splitter: &S,
    set: P,
    starts: &mut [bool],
    place: SplitPosition,
    descent: &Descent<'_>,
) -> Result<(), EngineError> {
    if set.size() == 0 {
        return Ok(());
    }
    let mut buffers = splitter.buffers();
    go_down(splitter, (set, starts, place), &mut buffers, descent)
}

fn go_down<P: Part, S: Splitter<P>>(
    splitter: &S,
    (mut set, mut starts, mut place): (P, &mut [bool], SplitPosition),
    buffers: &mut S::Buffers,
    descent: &Descent<'_>,
) -> Result<(), EngineError> {
    loop {
        descent.context.check()?;
        let all = set.size();
        let Some(size) = splitter.split(&mut set, place, buffers) else {
            starts[0] = true;
            descent.finish(all);
            return Ok(());
        };
        let (left_set, right_set) = set.split_at(size);
        let (left_starts, right_starts) = starts.split_at_mut(size);
        let left = (left_set, left_starts, place.left());
        let right = (right_set, right_starts, place.right());
        let (small, large) = if 2 * size <= all {
            (left, right)
        } else {
            (right, left)
        };
        let smaller = size.min(all - size);
        if smaller >= TASK_ROWS && smaller * TASK_SHARE >= all {
            // This thread keeps its buffers: they are as large as the sets
            // that it has seen.
            let (one, other) = rayon::join(
                || go_down(splitter, large, buffers, descent),
                || go_down(splitter, small, &mut splitter.buffers(), descent),
            );
            return one.and(other);
        }
        go_down(splitter, small, buffers, descent)?;
        (set, starts, place) = large;
    }
}
