//! The assignment phase of m-invariance (Xiao & Tao 2007), as local
//! bucketization uses it (`[LGB]` Alg. 2): divides an l-eligible set of cells
//! into buckets with at least L cells, each value at most once.
//!
//! While cells remain, with counts c₁ ≥ c₂ ≥ … of the remaining values and n′
//! cells left, take the smallest β ≥ L for which some α ≥ 1 keeps the rest
//! eligible,
//!
//! ```text
//! max(c₁ − α, c_{β+1}) · L ≤ n′ − α·β,
//! ```
//!
//! and the largest such α ≤ c_β; make α buckets of one cell of each of the β
//! most frequent values. Such a β exists: let f values have the highest count
//! c₁ and n′ = c₁·L + r. If f ≤ L or r ≥ L, β = L will do; else β = f, since
//! f·c₁ ≤ n′ gives f ≤ L + r.

use std::collections::BinaryHeap;
use std::ops::Range;

use super::runs::Runs;

/// Buffers that one task reuses from set to set.
#[derive(Debug, Default)]
pub(super) struct AssignmentBuffers {
    /// Remaining values: count, random rank, run. The most frequent on top.
    heap: BinaryHeap<(u32, u32, u32)>,
    taken: Vec<(u32, u32, u32)>,
    /// Next unassigned cell of each run of the set.
    next: Vec<u32>,
}

/// Divides the cells of an eligible set of `runs` into buckets of at least
/// `l` cells. `heads` has one entry per cell of the set and receives the
/// position (among all cells of the attribute) of the first cell of the
/// cell's bucket.
pub(super) fn assign_by_invariance(
    runs: &Runs,
    set: Range<usize>,
    l: u32,
    heads: &mut [u32],
    buffers: &mut AssignmentBuffers,
) {
    let AssignmentBuffers { heap, taken, next } = buffers;
    let base = runs.starts[set.start];
    next.clear();
    next.extend_from_slice(&runs.starts[set.clone()]);
    heap.clear();
    heap.extend(
        set.clone()
            .map(|run| (runs.count(run), runs.ranks[run], run as u32)),
    );
    let mut remaining = heads.len() as u64;
    while remaining > 0 {
        taken.clear();
        let alpha = loop {
            if let Some(most_frequent) = heap.pop() {
                taken.push(most_frequent);
            }
            let left_out = heap.peek().map_or(0, |&(count, ..)| count);
            if taken.len() < l as usize && left_out > 0 {
                continue;
            }
            let alpha = largest_alpha(taken, left_out, remaining, l);
            if alpha > 0 || left_out == 0 {
                // Eligible sets always find one; see the module's proof.
                debug_assert!(alpha > 0);
                break alpha.max(1);
            }
        };
        let head = next[taken[0].2 as usize - set.start];
        for &(count, rank, run) in taken.iter() {
            let cell = &mut next[run as usize - set.start];
            for turn in 0..alpha {
                heads[(*cell + turn - base) as usize] = head + turn;
            }
            *cell += alpha;
            if count > alpha {
                heap.push((count - alpha, rank, run));
            }
        }
        remaining -= u64::from(alpha) * taken.len() as u64;
    }
}

/// The largest α for which α buckets of the `taken` values leave an eligible
/// rest; 0 if there is none. `left_out` is the highest count not taken.
fn largest_alpha(taken: &[(u32, u32, u32)], left_out: u32, remaining: u64, l: u32) -> u32 {
    let beta = taken.len() as u64;
    let (l, most) = (u64::from(l), u64::from(taken[0].0));
    let least = u64::from(taken[taken.len() - 1].0);
    // c_{β+1} · L ≤ n′ − α·β
    let Some(spare) = remaining.checked_sub(u64::from(left_out) * l) else {
        return 0;
    };
    let mut alpha = least.min(spare / beta);
    // (c₁ − α) · L ≤ n′ − α·β; with β = L it holds because the set is eligible.
    if beta > l {
        alpha = alpha.min(remaining.saturating_sub(most * l) / (beta - l));
    }
    alpha as u32
}
