//! Randomization: exact non-sensitive values beside sensitive values that
//! were kept with probability p, else drawn evenly from the values of their
//! block.
//!
//! What that tells depends on the whole block: other rows that show other
//! values make it likelier that a row shows its own. The claim is the bound
//! over every outcome ([`Share::posterior_of_kept`]). A subject whose own l
//! asks for less takes part all the same: in the blocks of everyone who shows
//! their quasi-identifiers *every* value is drawn, none kept on purpose
//! (*ours*), so that each of a block's values is as likely as any other. The
//! same goes for blocks so large that keeping would tell more than is claimed.

use rand::RngExt;
use rand_chacha::ChaCha12Rng;

use crate::engine::kernel::cells::value_cell;
use crate::engine::kernel::microdata_table::{EquivalenceClass, OwnCells, of_classes};
use crate::microdata::RecordIndex;
use crate::privacy::{Seed, Share};
use crate::release::Content;

use super::frame::{Frame, Goal};
use super::job::Made;

/// Publishes blocks of distinct values as rows of the table `microdata`.
pub(super) fn publish(
    frame: &Frame<'_>,
    goal: &Goal<'_>,
    blocks: &[Vec<u32>],
    (retention, max_posterior): (Share, Share),
) -> Made {
    let records = &frame.included.records;
    let column = goal.column.column;
    let code = |row: u32| column.codes.at(records[row as usize] as usize);
    let own = own_of_vector(frame, goal);
    let mut of_record = vec![0_u32; frame.included.table.records()];
    let mut values = Vec::new();
    for block in blocks {
        let mut vectors = block.iter().map(|&row| frame.vector_of[row as usize]);
        let keeps = retention.posterior_in_block(block.len() as u32) <= max_posterior
            && vectors.all(|vector| max_posterior.allows_times(own[vector as usize]));
        values.clear();
        values.extend(block.iter().map(|&row| code(row)));
        values.sort_unstable();
        for &row in block {
            // A stream a record, so that the verifier draws the same.
            let record = records[row as usize];
            let in_whole = frame.included.table.in_whole(RecordIndex(record));
            let stream = frame
                .context
                .seed
                .stream(Seed::RANDOMIZED_RESPONSE, in_whole.0.into());
            let kept = keeps.then_some(retention);
            let drawn = drawn(kept, values.len(), stream);
            of_record[record as usize] = drawn.map_or(code(row), |at| values[at]);
        }
    }
    let cells = OwnCells {
        attribute: goal.column.attribute,
        content: Content::Exact,
        of_record,
        cells: (0..column.domain.len() as u32)
            .map(|code| value_cell(&column.domain, code))
            .collect(),
    };
    let groups: Vec<Vec<u32>> = blocks
        .iter()
        .map(|block| block.iter().map(|&row| records[row as usize]).collect())
        .collect();
    let classes = (0..).zip(&groups).flat_map(|(group, members)| {
        let rows = members.chunks(1);
        rows.map(move |record| EquivalenceClass {
            group,
            records: record,
            covers: record,
            kept: None,
        })
    });
    let classes: Vec<EquivalenceClass<'_>> = classes.collect();
    let (table, lineage) = of_classes(frame.included, &classes, &[cells]);
    (vec![table], lineage)
}

/// Position of the value that is drawn from so many; none where a record's
/// own is kept.
fn drawn(kept: Option<Share>, values: usize, mut random: ChaCha12Rng) -> Option<usize> {
    let part = random.random_range(0..Share::WHOLE_PARTS as u32);
    match kept {
        Some(retention) if part < retention.parts() => None,
        _ => Some(random.random_range(0..values)),
    }
}

/// The strictest own l of each vector: rows with one vector are one to an
/// adversary, who averages over their blocks.
fn own_of_vector(frame: &Frame<'_>, goal: &Goal<'_>) -> Vec<u32> {
    let mut strictest = vec![1; frame.vectors];
    for (&record, &vector) in frame.included.records.iter().zip(&frame.vector_of) {
        let own = frame.included.terms(record).own.l[goal.column.index.at()];
        let strictest = &mut strictest[vector as usize];
        *strictest = own.max(*strictest);
    }
    strictest
}
