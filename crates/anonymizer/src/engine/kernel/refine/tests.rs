//! Properties of a search: nothing is lost, every group holds, loss never
//! grows; and the small parts that it is made of.

use std::sync::Arc;

use proptest::prelude::*;
use rand::RngExt;

use super::measure::{Measure, words};
use super::*;
use crate::engine::kernel::groups::KOfRows;
use crate::microdata::{Domain, HierarchyFormat, HierarchySource, Values};

/// Numbers, a category with and one without a hierarchy.
fn columns(cells: &[(u32, u32, u32)]) -> Vec<CodedColumn> {
    let text = b"a;ab;*\nb;ab;*\nc;cd;*\nd;cd;*\ne;e;*\n";
    let Ok(HierarchySource::Tree(tree)) = HierarchySource::read(text, HierarchyFormat::Csv) else {
        panic!("the tree is well-formed");
    };
    let labels = |texts: &[&str]| texts.iter().map(|text| (*text).into()).collect();
    let numbers = Domain::new(Values::Integer(vec![0, 1, 2, 5, 9, 30]), None);
    let leaves = Domain::new(
        Values::Category(labels(&["a", "b", "c", "d", "e"])),
        Some(tree),
    );
    let words = Domain::new(Values::Category(labels(&["x", "y", "z"])), None);
    let column = |domain, codes: Vec<u32>| CodedColumn {
        domain: Arc::new(domain),
        codes: codes.into(),
    };
    vec![
        column(numbers, cells.iter().map(|cells| cells.0).collect()),
        column(leaves, cells.iter().map(|cells| cells.1).collect()),
        column(words, cells.iter().map(|cells| cells.2).collect()),
    ]
}

fn cells(count: usize, seed: u64) -> Vec<(u32, u32, u32)> {
    let mut random = RunContext::silent(seed).stream(0, 0);
    let mut cell = |values: u32| random.random_range(0..values);
    (0..count).map(|_| (cell(6), cell(5), cell(3))).collect()
}

struct Refined {
    before: f64,
    after: f64,
    groups: Vec<Vec<u32>>,
}

fn refined(
    columns: &[CodedColumn],
    start: &[Vec<u32>],
    condition: &impl PartCondition,
    (effort, context): (Effort, &RunContext<'_>),
) -> Result<Refined, EngineError> {
    let columns: Vec<&CodedColumn> = columns.iter().collect();
    let scales: Vec<Scale> = columns
        .iter()
        .map(|column| Scale::new(&column.domain))
        .collect();
    let records: Vec<u32> = (0..columns[0].codes.len() as u32).collect();
    let mut starts = vec![false; records.len()];
    let mut next = 0;
    for group in start {
        starts[next] = true;
        next += group.len();
    }
    let refinement = Refinement {
        context,
        stage: 1,
        step: (1, 1),
        columns: &columns,
        scales: &scales,
        effort,
    };
    let groups = Groups::from_starts(start.concat(), &starts);
    let groups = refinement.refine(&records, groups, condition)?;
    let groups: Vec<Vec<u32>> = groups.iter().map(<[u32]>::to_vec).collect();
    let space = BoxLayout::new(&scales);
    let rows = space.gather(&columns, &records);
    let loss = |groups: &[Vec<u32>]| {
        let losses = groups.iter().map(|group| {
            let mut cover = Cover::new(&space);
            cover.start(rows.row(group[0]));
            group[1..]
                .iter()
                .for_each(|&row| cover.include(rows.row(row)));
            f64::from(cover.loss()) * group.len() as f64
        });
        losses.sum::<f64>()
    };
    Ok(Refined {
        before: loss(start),
        after: loss(&groups),
        groups,
    })
}

/// Groups of `k` rows in the order of the records, the last one larger.
fn in_order(count: usize, k: usize) -> Vec<Vec<u32>> {
    let rows: Vec<u32> = (0..count as u32).collect();
    let (even, rest) = rows.split_at(count / k * k);
    let mut groups: Vec<Vec<u32>> = even.chunks(k).map(<[u32]>::to_vec).collect();
    if let Some(last) = groups.last_mut() {
        last.extend_from_slice(rest);
    }
    groups
}

/// Every value's share in a group is near its share in all rows.
struct Even {
    values: Vec<u32>,
    /// Largest distance (half the sum of differences).
    t: f64,
    /// Whether it says which rows are of one kind.
    tells: bool,
}

impl Even {
    const VALUES: usize = 4;

    fn shares(&self, rows: impl Iterator<Item = u32>) -> [f64; Self::VALUES] {
        let mut counts = [0.0; Self::VALUES];
        rows.for_each(|row| counts[self.values[row as usize] as usize] += 1.0);
        let size: f64 = counts.iter().sum();
        counts.map(|count| count / size)
    }
}

impl PartCondition for Even {
    type Buffers = ();

    fn buffers(&self) {}

    fn least(&self) -> usize {
        2
    }

    fn kind(&self, row: u32) -> Option<u32> {
        self.tells.then(|| self.values[row as usize])
    }

    fn holds(&self, rows: &[u32], (): &mut ()) -> bool {
        let all = self.shares(0..self.values.len() as u32);
        let here = self.shares(rows.iter().copied());
        let apart: f64 = all
            .iter()
            .zip(here)
            .map(|(all, here)| (all - here).abs())
            .sum();
        rows.len() >= 2 && apart / 2.0 <= self.t + 1e-12
    }
}

#[test]
fn quotas_are_nearly_as_many_groups_as_can_hold() {
    let columns = columns(&cells(2_000, 7));
    let columns: Vec<&CodedColumn> = columns.iter().collect();
    let scales: Vec<Scale> = columns
        .iter()
        .map(|column| Scale::new(&column.domain))
        .collect();
    let rows: Vec<u32> = (0..2_000).collect();
    let space = BoxLayout::new(&scales);
    let find = |t, tells| {
        // Shares of 10, 20, 30 and 40 %.
        let values = [3, 2, 1, 3, 2, 0, 3, 2, 1, 3];
        let even = Even {
            values: rows.iter().map(|&row| values[row as usize % 10]).collect(),
            t,
            tells,
        };
        let quotas = Quotas {
            context: &RunContext::silent(1),
            codes: &Rows::gather(&columns, &rows),
            rows: &space.gather(&columns, &rows),
            space: &space,
            condition: &even,
            readings: 1_000,
        };
        let found = quotas.find(&rows).unwrap()?;
        assert!(found.iter().all(|group| even.holds(group, &mut ())));
        let mut all = found.concat();
        all.sort_unstable();
        assert_eq!(all, rows);
        Some(found.len())
    };
    assert_eq!(find(0.2, false), None);
    // Exact shares need ten rows, and a third more is left as room.
    let exact = find(0.0, true);
    assert!(exact.is_none_or(|groups| groups <= 200), "{exact:?}");
    let loose = find(0.2, true).expect("there are such groups");
    assert!((200..=1_000).contains(&loose), "{loose}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn groups_hold_whatever_shares_of_values_they_must_have(
        count in 2_usize..300, skew in 1_u32..40, t in 0.0..1.0_f64, tells: bool, seed in any::<u64>(),
    ) {
        let columns = columns(&cells(count, seed));
        let values = (0..count as u32).map(|row| (row.wrapping_mul(2_654_435_761) >> 8) % skew % 4);
        let even = Even { values: values.collect(), t, tells };
        let all = [(0..count as u32).collect()];
        let found = refined(&columns, &all, &even, (Effort::Fast, &RunContext::silent(seed)));
        let found = found.expect("nobody cancels");
        prop_assert!(found.after <= found.before + 1e-3, "{} {}", found.after, found.before);
        for group in &found.groups {
            prop_assert!(even.holds(group, &mut ()));
        }
        let mut rows = found.groups.concat();
        rows.sort_unstable();
        prop_assert_eq!(rows, (0..count as u32).collect::<Vec<_>>());
    }

    #[test]
    fn every_record_stays_every_group_holds_and_loss_never_grows(
        count in 12_usize..300, k in 1_usize..6, own in 2_u32..9, seed in any::<u64>(),
    ) {
        let columns = columns(&cells(count, seed));
        let start = in_order(count, k.max(own as usize));
        let asked = (0..count as u32).map(|row| if row % 7 == 0 { own } else { k as u32 });
        let asked = KOfRows::each(asked.collect());
        let found = refined(&columns, &start, &asked, (Effort::Fast, &RunContext::silent(seed)));
        let found = found.expect("nobody cancels");
        prop_assert!(found.after <= found.before + 1e-3, "{} {}", found.after, found.before);
        for group in &found.groups {
            prop_assert!(group.len() >= asked.of(group));
        }
        let mut all = found.groups.concat();
        all.sort_unstable();
        prop_assert_eq!(all, (0..count as u32).collect::<Vec<_>>());
    }

    #[test]
    fn a_hull_loses_what_the_box_around_its_rows_loses(seed in any::<u64>()) {
        let columns = columns(&cells(40, seed));
        let columns: Vec<&CodedColumn> = columns.iter().collect();
        let scales: Vec<Scale> = columns.iter().map(|column| Scale::new(&column.domain)).collect();
        let records: Vec<u32> = (0..40).collect();
        let codes = Rows::gather(&columns, &records);
        let space = BoxLayout::new(&scales);
        let rows = space.gather(&columns, &records);
        let members: Vec<u32> = (0..40).step_by(3).collect();
        prop_assert_eq!(words(&codes, &scales, &members), 1);
        let measure = Measure::<4, 1>::new(&codes, &scales, &members);
        for size in 1..members.len() {
            let numbers: Vec<u32> = (0..size as u32).collect();
            let hull = measure.enclose(&numbers);
            let mut cover = Cover::new(&space);
            cover.start(rows.row(members[0]));
            members[1..size].iter().for_each(|&row| cover.include(rows.row(row)));
            prop_assert!((measure.loss(&hull) - cover.loss()).abs() < 1e-5);
            for row in 0..size as u32 {
                if size > 1 && measure.is_inside(&hull, row) {
                    let without = measure.enclose_without(&numbers, row);
                    prop_assert_eq!(measure.loss(&without), measure.loss(&hull));
                }
            }
        }
    }
}

#[test]
fn what_is_lost_between_many_leaves_is_looked_up_as_it_is_reckoned() {
    let lines = (0..400).map(|leaf| format!("{leaf};{}-;{}+;*\n", leaf / 7, leaf / 91));
    let text: String = lines.collect();
    let source = HierarchySource::read(text.as_bytes(), HierarchyFormat::Csv);
    let Ok(HierarchySource::Tree(tree)) = source else {
        panic!("the tree is well-formed");
    };
    let labels = (0..400).map(|leaf| leaf.to_string()).collect();
    let column = CodedColumn {
        domain: Arc::new(Domain::new(Values::Category(labels), Some(tree))),
        codes: (0..400).collect(),
    };
    let scales = [Scale::new(&column.domain)];
    let members: Vec<u32> = (0..400).filter(|leaf| leaf % 5 != 2).collect();
    let rows = Rows::gather(&[&column], &members);
    let numbers: Vec<u32> = (0..members.len() as u32).collect();
    let measure = Measure::<16, 0>::new(&rows, &scales, &numbers);
    for (one, &low) in (0..).zip(&members) {
        for (other, &high) in (0..).zip(&members) {
            let reckoned = scales[0].interval(low.min(high), low.max(high));
            assert_eq!(measure.pair(one, other), reckoned, "{low} {high}");
        }
    }
}

#[test]
fn rows_left_have_the_keys_and_means_of_their_attributes() {
    let mut columns = columns(&cells(600, 3));
    columns.push(CodedColumn {
        domain: Arc::new(Domain::new(Values::Integer((0..3000).collect()), None)),
        codes: (0..600).map(|row| row * 1777 % 3000).collect(),
    });
    let columns: Vec<&CodedColumn> = columns.iter().collect();
    let levels = columns.iter().enumerate().map(|(at, column)| {
        let scale = Scale::new(&column.domain);
        levels::levels(at, &scale, column.domain.len())
    });
    let levels: Vec<Vec<levels::Level>> = levels.collect();
    let all: Vec<u32> = (0..600).collect();
    let codes = Rows::gather(&columns, &all);
    let mut left = unassigned::Unassigned::of(&codes, &all, &levels);
    let mut keys = Vec::new();
    // Each turn the rows with one value of the first attribute leave.
    for turn in 0..5 {
        let means = left.means(&levels);
        for (at, (levels, means)) in levels.iter().zip(&means).enumerate() {
            assert_eq!(levels.len(), means.len());
            for (level, mean) in levels.iter().zip(means) {
                let losses = left
                    .rows
                    .iter()
                    .map(|&row| level.loss[codes.cell(row, at) as usize]);
                let sum: f64 = losses.map(f64::from).sum();
                assert!((sum / left.len() as f64 - f64::from(*mean)).abs() < 1e-6);
            }
        }
        for raised in 0..12_usize {
            let choice = levels.iter().enumerate();
            let choice = choice.map(|(at, levels)| (raised * (at + 1) % levels.len()) as u8);
            let choice: Vec<u8> = choice.collect();
            left.keys(&choice, &levels, &mut keys);
            let expected = left.rows.iter().map(|&row| {
                let of_levels = choice.iter().zip(&levels).enumerate();
                let keys = of_levels.filter_map(|(at, (&level, levels))| {
                    let keys = &levels[level as usize].keys;
                    keys.get(codes.cell(row, at) as usize)
                });
                keys.fold(0, |all, key| all ^ key)
            });
            assert_eq!(keys, expected.collect::<Vec<u64>>());
        }
        let taken = left.rows.iter().map(|&row| codes.cell(row, 0) == turn);
        let taken: Vec<bool> = taken.collect();
        left.keep(&taken);
    }
    assert!(!left.rows.is_empty() && left.rows.iter().all(|&row| codes.cell(row, 0) == 5));
}

/// Uses a search by `fast`, changed as asked, of all rows for groups of four.
fn with_search<T>(
    columns: &[&CodedColumn],
    change: impl FnOnce(&mut Budget),
    work: impl FnOnce(&Search<'_, KOfRows>) -> T,
) -> T {
    let scales = columns.iter().map(|column| Scale::new(&column.domain));
    let scales: Vec<Scale> = scales.collect();
    let records: Vec<u32> = (0..columns[0].codes.len() as u32).collect();
    let context = RunContext::silent(1);
    let refinement = Refinement {
        context: &context,
        stage: 1,
        step: (1, 1),
        columns,
        scales: &scales,
        effort: Effort::Fast,
    };
    let mut budget = Effort::Fast.budget().expect("there is a search");
    change(&mut budget);
    let space = BoxLayout::new(&scales);
    work(&Search {
        refinement: &refinement,
        records: &records,
        codes: Rows::gather(columns, &records),
        rows: space.gather(columns, &records),
        space,
        condition: &KOfRows::Same(4),
        budget,
    })
}

#[test]
fn where_no_seeds_are_found_uncut_sets_are_cut() {
    let columns = columns(&cells(300, 11));
    let columns: Vec<&CodedColumn> = columns.iter().collect();
    let records: Vec<u32> = (0..300).collect();
    let begin = |search: &Search<'_, KOfRows>| search.begin(vec![records.clone()]);
    let begun = with_search(&columns, |budget| budget.readings = 0, begin);
    let begun = begun.expect("nobody cancels");
    assert!(begun.len() > 20, "{}", begun.len());
    assert!(begun.iter().all(|group| group.len() >= 4));
    let mut all = begun.concat();
    all.sort_unstable();
    assert_eq!(all, records);
}

/// What the search makes of groups of four rows each of one attribute, if it
/// tries one region first: loss before and after.
fn searched_after_a_try(codes: Vec<u32>) -> (f64, f64) {
    let numbers = Domain::new(Values::Integer((0..100).collect()), None);
    let column = CodedColumn {
        domain: Arc::new(numbers),
        codes: codes.into(),
    };
    let work = |search: &Search<'_, KOfRows>| {
        let groups = search.records.chunks(4).map(<[u32]>::to_vec);
        let groups: Vec<Vec<u32>> = groups.collect();
        let before = search.loss(&groups);
        let found = search.go_on(groups).expect("nobody cancels");
        (before, search.loss(&found))
    };
    with_search(&[&column], |budget| budget.regions_tried = 1, work)
}

#[test]
fn regions_are_searched_only_if_it_pays_in_those_that_are_tried() {
    let regions = |even: usize| {
        let rows = 0..(10 * REGION_RECORDS) as u32;
        // Rows come in order of regions; those of an even one lose nothing.
        rows.map(move |row| {
            if row as usize / REGION_RECORDS == even {
                10 * even as u32
            } else {
                10 * (row / REGION_RECORDS as u32) + 1 + row.wrapping_mul(2_654_435_761) % 9
            }
        })
    };
    let (before, after) = searched_after_a_try(regions(0).collect());
    assert_eq!(before, after, "the first region is tried, and cannot gain");
    let (before, after) = searched_after_a_try(regions(5).collect());
    assert!(after < 0.5 * before, "{after} of {before}");
}

#[test]
fn the_groups_do_not_depend_on_threads() {
    let columns = columns(&cells(9_000, 5));
    let start = in_order(9_000, 4);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let context = RunContext::silent(3);
        let run = || {
            refined(
                &columns,
                &start,
                &KOfRows::Same(4),
                (Effort::Fast, &context),
            )
        };
        pool.expect("a pool")
            .install(run)
            .expect("nobody cancels")
            .groups
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn a_search_finds_the_groups_of_equal_records_and_best_is_no_worse_than_fast() {
    // Eight kinds of records, five of each, all mixed up.
    let kinds: Vec<(u32, u32, u32)> = (0..40).map(|at| (at % 4, at % 8 / 4, at % 2)).collect();
    let columns = columns(&kinds);
    let start = in_order(40, 5);
    for effort in [Effort::Fast, Effort::Best] {
        let context = RunContext::silent(1);
        let found = refined(&columns, &start, &KOfRows::Same(5), (effort, &context));
        assert_eq!(found.expect("nobody cancels").after, 0.0);
    }
}

#[test]
fn a_search_that_is_cancelled_ends() {
    let context = RunContext::silent(1);
    context.cancel.cancel();
    let (columns, start) = (columns(&cells(100, 1)), in_order(100, 5));
    let found = refined(
        &columns,
        &start,
        &KOfRows::Same(5),
        (Effort::Best, &context),
    );
    assert!(matches!(found, Err(EngineError::Cancelled)));
}
