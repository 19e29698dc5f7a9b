//! From coded columns to groups.

use divan::Bencher;
use divan::counter::ItemsCount;
use vizard_anonymizer::engine::RunContext;
use vizard_anonymizer::engine::kernel::groups::KOfRows;
use vizard_anonymizer::engine::kernel::{
    BoxLayout, Cover, Effort, Groups, Mondrian, Partitioning, Refinement, Rows, Scale, SplitChoice,
};

use crate::made::{RECORDS, SEED, quasi_columns};

const K: u32 = 10;
/// Records that are refined: a few regions, so that a sample takes no minute.
const REFINED: usize = 10_000;

fn records(count: usize) -> Vec<u32> {
    (0..count as u32).collect()
}

fn scales() -> Vec<Scale> {
    let columns = quasi_columns();
    columns
        .iter()
        .map(|column| Scale::new(&column.domain))
        .collect()
}

fn partition(records: &[u32], choice: SplitChoice) -> Groups {
    let mondrian = Mondrian {
        context: &RunContext::silent(SEED),
        stage: 0,
        step: (1, 1),
        columns: &quasi_columns(),
        scales: &scales(),
        choice,
        partitioning: Partitioning::Strict,
        uncut: 0,
    };
    let groups = mondrian.groups(records, &KOfRows::Same(K));
    groups.expect("nobody cancels it")
}

/// Codes of all quasi-identifiers, column by column to row by row.
#[divan::bench]
fn rows_gathered(bencher: Bencher) {
    let (columns, records) = (quasi_columns(), records(RECORDS));
    let bencher = bencher.counter(ItemsCount::new(RECORDS));
    bencher.bench(|| Rows::gather(&columns, &records));
}

/// The whole table cut at medians until k forbids it.
#[divan::bench(args = [SplitChoice::Widest, SplitChoice::Gain])]
fn partition_into_groups(bencher: Bencher, choice: &SplitChoice) {
    let records = records(RECORDS);
    let bencher = bencher.counter(ItemsCount::new(RECORDS));
    bencher.bench(|| partition(&records, *choice));
}

/// The box around every group, and its loss.
#[divan::bench]
fn groups_covered(bencher: Bencher) {
    let groups = partition(&records(RECORDS), SplitChoice::Widest);
    let space = BoxLayout::new(&scales());
    let rows = space.gather(&quasi_columns(), groups.records());
    let sizes: Vec<usize> = groups.iter().map(<[u32]>::len).collect();
    bencher.counter(ItemsCount::new(RECORDS)).bench(|| {
        let mut cover = Cover::new(&space);
        let (mut next, mut loss) = (0, 0.0);
        for size in &sizes {
            cover.start(rows.row(next));
            for row in next + 1..next + *size as u32 {
                cover.include(rows.row(row));
            }
            loss += cover.loss();
            next += *size as u32;
        }
        loss
    });
}

/// What each row would add to the box of one group, as peeling asks.
#[divan::bench]
fn rows_offered_to_a_cover(bencher: Bencher) {
    let space = BoxLayout::new(&scales());
    let rows = space.gather(&quasi_columns(), &records(RECORDS));
    let mut cover = Cover::new(&space);
    cover.start(rows.row(0));
    (1..K).for_each(|row| cover.include(rows.row(row)));
    bencher.counter(ItemsCount::new(RECORDS)).bench(|| {
        let growths = (0..RECORDS as u32).map(|row| cover.growth(rows.row(row)));
        growths.fold(f32::INFINITY, f32::min)
    });
}

/// Local search from Mondrian's groups: seeds, then regions side by side.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn groups_refined(bencher: Bencher) {
    let records = records(REFINED);
    let groups = partition(&records, SplitChoice::Widest);
    let (context, columns, scales) = (RunContext::silent(SEED), quasi_columns(), scales());
    let refinement = Refinement {
        context: &context,
        stage: 1,
        step: (1, 1),
        columns: &columns,
        scales: &scales,
        effort: Effort::Fast,
    };
    let bencher = bencher.counter(ItemsCount::new(REFINED));
    bencher
        .with_inputs(|| groups.clone())
        .bench_values(|groups| {
            let refined = refinement.refine(&records, groups, &KOfRows::Same(K));
            refined.expect("nobody cancels it")
        });
}
