//! Blocks against their source.
//!
//! `block_contents_match`: the published values of each block are the source
//! values of its rows, value by value. Where a block keeps the set of values
//! that was shown of somebody before, it has them and others; it lacks the value
//! of those whose value changed to one that is not in the set.

use super::kept::{is_outdated, keeps_a_set};
use super::view::{BlockView, QuasiView};
use crate::verify::classes::same_multiset;
use crate::verify::verdict::{Check, Failures, Place};
use crate::verify::view::NONE;

/// `block_contents_match`.
pub(super) fn match_source(view: &QuasiView) -> Check {
    let mut failures = Failures::none();
    let mut codes: Vec<u32> = Vec::new();
    for block in &view.blocks {
        let history = view.requirements.history();
        let sets = history.map(|history| history.of(block.index));
        for at in 0..block.blocks.len() {
            codes.clear();
            let records = block.members.rows(at).iter();
            let records = records.map(|&row| view.records[row as usize]);
            let known = records.filter(|&record| record != NONE);
            let kept = sets.filter(|sets| keeps_a_set(view, block, sets, at));
            let is_outdated =
                |record| kept.is_some_and(|sets| is_outdated(block, sets, (record, at)));
            let known = known.filter(|&record| !is_outdated(record));
            codes.extend(known.map(|record| block.source.at(record as usize)));
            codes.sort_unstable();
            let holds = match kept {
                Some(_) => has_all(&codes, block, at),
                None => same_multiset(&codes, block.blocks.contents(at)),
            };
            if !holds {
                failures.add_at(block.name, Place::Bucket(at as u64 + 1));
            }
        }
    }
    Check::structure("block_contents_match", &failures)
}

/// Whether a block has all of these codes, each as often.
fn has_all(sorted: &[u32], block: &BlockView, at: usize) -> bool {
    let mut runs = sorted.chunk_by(|one, other| one == other);
    runs.all(|run| run.len() as u64 <= block.blocks.count(at, run[0]))
}
