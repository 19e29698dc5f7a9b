//! Ring generalization (`ng`): a row for each record of a block, whose
//! quasi-identifiers cover a window of the ring that the block's records
//! stand in.
//!
//! The ring has distinct sensitive values among any L adjacent records, L the
//! strictest of the block. Row j covers the records j to j + w − 1; w is L, or
//! the least multiple of L that is at least K. Its sensitive value is that of
//! record j + h, with *one* random h of 0 to w − 1 for the block (*ours*: the
//! original publishes the value of record j, and who knows that reads off
//! everyone's).
//!
//! So a record is covered by w rows, and the one with its own value is any of
//! them with equal chance, provided that nothing tells h: the values in order
//! of the ring are a rotation of the same cyclic pattern for every h. The
//! pattern is therefore made from the counts of the values alone, and who
//! stands where among those of a value is drawn at random, not by nearness
//! (*ours*; the search for near neighbours would tell). A window of w records
//! has no value more than w/L times, so P(s) ≤ 1/L.

use rand::{Rng, RngExt};
use rand_chacha::ChaCha12Rng;

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::kernel::microdata_table::{EquivalenceClass, of_classes};
use crate::microdata::{RecordIndex, Table};
use crate::privacy::{BlockForm, Requirements, Seed};
use crate::release::Release;

use super::frame::{Blocks, Frame, Goal};
use super::initial::{Least, partition, window};
use super::job::{Job, Made};
use super::params::InitialParams;

/// Publishes the initial partition of the sensitive attribute by rings.
///
/// Errors as of [`run`](super::run).
pub fn run(
    table: &Table,
    requirements: &Requirements,
    params: &InitialParams,
    context: &RunContext<'_>,
) -> Result<Release, EngineError> {
    params.policy(table.schema(), BlockForm::Ring)?;
    let job = Job::new(
        (table, requirements),
        params.l,
        params.max_excluded,
        context,
    )?;
    let how = (params.partitioning, Least::Window);
    let blocks: &Blocks<'_> = &|frame, goal, rows| partition(frame, goal, how, rows);
    job.run(blocks, |frame, parts| {
        let mut rings = Vec::new();
        for (goal, blocks) in &parts {
            let blocks = blocks.iter();
            rings = blocks.map(|block| ring(frame, goal, block)).collect();
        }
        publish(frame, &rings)
    })
}

/// The records of a block in a ring.
struct Ring {
    /// Records in order, the first w of them once more at the end.
    records: Vec<u32>,
    /// Records of the block.
    size: usize,
    window: usize,
    shift: usize,
}

fn ring(frame: &Frame<'_>, goal: &Goal<'_>, block: &[u32]) -> Ring {
    let mut members: Vec<u32> = block
        .iter()
        .map(|&row| frame.included.records[row as usize])
        .collect();
    members.sort_unstable();
    let first = members.first().copied().unwrap_or(0);
    let first = frame.included.table.in_whole(RecordIndex(first));
    let mut random = frame.context.seed.stream(Seed::RINGS, first.0.into());
    let l = goal.need_of(block);
    let window = window(l, goal.k_of(block)) as usize;
    let codes = &goal.column.column.codes;
    let code = |record: u32| codes.at(record as usize);
    let mut records = order(code, &members, l as usize, &mut random);
    for at in 0..window {
        records.push(records[at]);
    }
    Ring {
        records,
        size: block.len(),
        window,
        shift: random.random_range(0..window),
    }
}

/// The records of an eligible block, given in the order of the table, in a
/// ring: any `l` adjacent ones have different values.
///
/// One number is drawn for each record, then one for each value in the order
/// of the domain; they decide among the records of a value, and among values
/// that are equally frequent. The verifier draws the same.
///
/// With q = ⌊size / l⌋ rounds, the records sorted by value, most frequent
/// value first, are dealt out round by round. A value has at most q records,
/// so it is in a round at most once, at the same place in neighbouring rounds
/// or, past the last round, one place later in the first: never less than a
/// round, l records, apart.
fn order(code: impl Fn(u32) -> u32, block: &[u32], l: usize, random: &mut ChaCha12Rng) -> Vec<u32> {
    let drawn = block
        .iter()
        .map(|&record| (code(record), random.next_u64(), record));
    let mut drawn: Vec<(u32, u64, u32)> = drawn.collect();
    drawn.sort_unstable();
    let runs = drawn.chunk_by(|one, other| one.0 == other.0);
    let runs = runs.map(|run| (std::cmp::Reverse(run.len()), random.next_u64(), run));
    let mut runs: Vec<_> = runs.collect();
    runs.sort_unstable();
    let sorted = runs.iter().flat_map(|(.., run)| run.iter());
    let sorted: Vec<u32> = sorted.map(|&(.., record)| record).collect();
    let rounds = (block.len() / l.max(1)).max(1);
    let dealt = (0..rounds).flat_map(|round| sorted.iter().skip(round).step_by(rounds));
    dealt.copied().collect()
}

fn publish(frame: &Frame<'_>, rings: &[Ring]) -> Made {
    let mut classes = Vec::with_capacity(frame.rows());
    for (group, ring) in (0..).zip(rings) {
        for row in 0..ring.size {
            let owner = (row + ring.shift) % ring.size;
            classes.push(EquivalenceClass {
                group,
                records: &ring.records[owner..=owner],
                covers: &ring.records[row..row + ring.window],
                kept: None,
            });
        }
    }
    let (table, lineage) = of_classes(frame.included, &classes, &[]);
    (vec![table], lineage)
}

#[cfg(test)]
mod tests {
    use rand_chacha::rand_core::SeedableRng;

    use super::*;

    #[test]
    fn any_l_adjacent_records_of_a_ring_have_different_values() {
        let mut random = ChaCha12Rng::seed_from_u64(1);
        let mut tested = 0;
        for _ in 0..3_000 {
            let (size, values) = (random.random_range(1..60), random.random_range(1..12_u32));
            let codes: Vec<u32> = (0..size)
                .map(|_| {
                    random
                        .random_range(0..values)
                        .min(random.random_range(0..values))
                })
                .collect();
            let most = (0..values).map(|value| codes.iter().filter(|&&code| code == value).count());
            let l = size / most.max().unwrap_or(1);
            let block: Vec<u32> = (0..size as u32).collect();
            let code = |record: u32| codes[record as usize];
            let ring = order(code, &block, l, &mut random);
            let mut sorted = ring.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, block);
            for start in 0..size {
                let window = (0..l).map(|at| codes[ring[(start + at) % size] as usize]);
                let mut window: Vec<u32> = window.collect();
                window.sort_unstable();
                window.dedup();
                assert_eq!(window.len(), l, "{codes:?}");
            }
            tested += usize::from(l > 1);
        }
        assert!(tested > 1_000, "{tested} tested");
    }

    #[test]
    fn a_window_is_a_multiple_of_l_that_is_at_least_k() {
        assert_eq!(
            [window(5, 1), window(5, 5), window(5, 6), window(3, 20)],
            [5, 5, 10, 21]
        );
    }
}
