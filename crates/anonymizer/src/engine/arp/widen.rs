//! Blocks that are widened until they hold (*ours*).
//!
//! A block whose terms its neighbours cannot meet takes in the nearest blocks
//! of domain order, one on either side in turn, until what it holds meets all
//! members' own k and l. Everyone together does (`exclusion`), so widening ends,
//! and nobody has to be left out because of the block that they are in.
//!
//! Widened blocks can look like others again, or match further subjects, so
//! callers look again, round by round. Every round has fewer blocks; from the
//! fourth on a widened block takes in twice as many as in the round before, so
//! that there are few rounds however the data lie.

use rustc_hash::FxHashMap;

use crate::engine::kernel::is_eligible;

use super::frame::Goal;

/// Rounds in which blocks take in no more than they need.
const PATIENT_ROUNDS: u32 = 3;

/// What a widened block must have beside its members' terms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// The l of somebody who is not a member.
    pub l: u32,
    /// Further blocks that it takes in at least.
    pub more: usize,
}

impl Wanted {
    /// Nothing but the members' terms.
    pub const NOTHING: Self = Self { l: 1, more: 0 };

    /// What is wanted in this round, counted from 0.
    pub fn in_round(l: u32, round: u32) -> Self {
        let more = match round.checked_sub(PATIENT_ROUNDS) {
            None => 0,
            Some(doublings) => 1_usize.checked_shl(doublings).unwrap_or(usize::MAX),
        };
        Self { l, more }
    }
}

/// Joins the block at `at` with the nearest ones until it holds; the joined
/// ones are left empty. Blocks stand in domain order.
pub(super) fn widen(goal: &Goal<'_>, blocks: &mut [Vec<u32>], at: usize, wanted: Wanted) {
    let mut tally = BlockCounts::default();
    tally.add(goal, &blocks[at]);
    let (mut below, mut above) = (at, at + 1);
    let mut joined = 0;
    let mut goes_down = true;
    while joined < wanted.more || !tally.holds(wanted.l) {
        while below > 0 && blocks[below - 1].is_empty() {
            below -= 1;
        }
        while above < blocks.len() && blocks[above].is_empty() {
            above += 1;
        }
        let (has_below, has_above) = (below > 0, above < blocks.len());
        let other = match (has_below, has_above) {
            (false, false) => return,
            (true, true) if goes_down => below - 1,
            (true, false) => below - 1,
            _ => above,
        };
        goes_down = !goes_down;
        let taken = std::mem::take(&mut blocks[other]);
        tally.add(goal, &taken);
        blocks[at].extend(taken);
        joined += 1;
    }
}

/// What a block holds and its members ask for.
#[derive(Default)]
struct BlockCounts {
    counts: FxHashMap<u32, u64>,
    most: u64,
    size: u64,
    l: u32,
    k: u32,
}

impl BlockCounts {
    fn add(&mut self, goal: &Goal<'_>, rows: &[u32]) {
        for &row in rows {
            let count = self.counts.entry(goal.codes[row as usize]).or_default();
            *count += 1;
            self.most = self.most.max(*count);
        }
        self.size += rows.len() as u64;
        self.l = self.l.max(goal.need_of(rows));
        self.k = self.k.max(goal.k_of(rows));
    }

    fn holds(&self, l: u32) -> bool {
        is_eligible(self.most, self.size, self.l.max(l)) && u64::from(self.k) <= self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_ends_after_three_rounds_and_then_doubles() {
        let more = |round| Wanted::in_round(1, round).more;
        assert_eq!([0, 1, 2, 3, 4, 5].map(more), [0, 0, 0, 1, 2, 4]);
        assert_eq!(more(200), usize::MAX);
    }

    #[test]
    fn a_tally_holds_at_equality_and_not_below() {
        let tally = |most, size, k| BlockCounts {
            most,
            size,
            l: 2,
            k,
            ..BlockCounts::default()
        };
        assert!(tally(2, 6, 6).holds(3));
        assert!(!tally(2, 6, 6).holds(4));
        assert!(tally(3, 6, 1).holds(1));
        assert!(!tally(4, 6, 1).holds(1));
        assert!(!tally(1, 6, 7).holds(1));
    }
}
