//! Cuts of small sets written down by hand.

use std::sync::Arc;

use rand::RngExt;

use super::partition::Distinct;
use super::set::{Aside, CodedRows, Ends, RowCut};
use super::*;
use crate::engine::kernel::descend::Part;
use crate::microdata::{Domain, HierarchyFormat, HierarchySource, Values};

/// Parts of at least so many rows.
struct AtLeast(usize);

impl PartCondition for AtLeast {
    type Buffers = ();

    fn buffers(&self) {}

    fn least(&self) -> usize {
        1
    }

    fn holds(&self, rows: &[u32], (): &mut ()) -> bool {
        rows.len() >= self.0
    }
}

fn numbers(codes: &[u32]) -> CodedColumn {
    let values = (0..=*codes.iter().max().unwrap()).map(i64::from).collect();
    CodedColumn {
        domain: Arc::new(Domain::new(Values::Integer(values), None)),
        codes: codes.to_vec().into(),
    }
}

fn groups(
    columns: &[&CodedColumn],
    rules: (SplitChoice, Partitioning),
    least: usize,
) -> Vec<Vec<u32>> {
    groups_uncut(columns, rules, least, 0)
}

fn groups_uncut(
    columns: &[&CodedColumn],
    rules: (SplitChoice, Partitioning),
    least: usize,
    uncut: usize,
) -> Vec<Vec<u32>> {
    let context = RunContext::silent(7);
    let scales: Vec<Scale> = columns.iter().map(|c| Scale::new(&c.domain)).collect();
    let mondrian = Mondrian {
        context: &context,
        stage: 1,
        step: (1, 1),
        columns,
        scales: &scales,
        choice: rules.0,
        partitioning: rules.1,
        uncut,
    };
    let records: Vec<u32> = (0..columns[0].codes.len() as u32).collect();
    let found = mondrian.groups(&records, &AtLeast(least)).unwrap();
    let mut groups: Vec<Vec<u32>> = found.iter().map(<[u32]>::to_vec).collect();
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups.sort();
    groups
}

#[test]
fn strict_splits_keep_equal_values_together_and_relaxed_ones_are_even() {
    let column = numbers(&[0, 5, 5, 5, 5, 9]);
    let strict = groups(&[&column], (SplitChoice::Widest, Partitioning::Strict), 2);
    assert_eq!(strict, [[0, 1, 2, 3, 4, 5]]);
    let relaxed = groups(&[&column], (SplitChoice::Widest, Partitioning::Relaxed), 3);
    assert_eq!(relaxed.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3]);
    assert!(relaxed[0].contains(&0) && relaxed[1].contains(&5));
}

#[test]
fn sets_that_need_no_cut_stay_whole_and_larger_ones_are_cut_as_ever() {
    let codes: Vec<u32> = (0..500).map(|row| row * 7919 % 499).collect();
    let (one, other) = (numbers(&codes), numbers(&codes[250..]));
    let other = CodedColumn {
        codes: codes.iter().map(|&code| code % 17).collect(),
        ..other
    };
    let find = |uncut| {
        let rules = (SplitChoice::Gain, Partitioning::Strict);
        groups_uncut(&[&one, &other], rules, 3, uncut)
    };
    let (all, whole) = (find(0), find(60));
    assert!(2 * whole.len() < all.len());
    assert!(whole.iter().all(|group| (30..=60).contains(&group.len())));
    for group in &all {
        let is_in = |set: &Vec<u32>| group.iter().all(|row| set.contains(row));
        assert!(whole.iter().any(is_in));
    }
}

#[test]
fn large_sets_that_others_part_further_are_cut_where_a_sample_saves_most() {
    // What is cut first saves a half of one attribute, or all of the other.
    let numbers_of = |code: fn(u32) -> u32| numbers(&(0..150_001).map(code).collect::<Vec<_>>());
    let wide = numbers_of(|row| row.wrapping_mul(2_654_435_761) >> 20);
    let halves = numbers_of(|row| (row / 3) % 2);
    let rules = (SplitChoice::Gain, Partitioning::Strict);
    let groups = groups_uncut(&[&wide, &halves], rules, 2, 40_000);
    assert_eq!(groups.len(), 4);
    assert_eq!(groups.iter().map(Vec::len).sum::<usize>(), 150_001);
    for group in groups {
        assert!(group.len() <= 40_000);
        assert!(group.iter().all(|row| (row / 3) % 2 == (group[0] / 3) % 2));
        let codes = |row: &u32| wide.codes.at(*row as usize);
        let ends = (group.iter().map(codes).min(), group.iter().map(codes).max());
        assert!(ends.0 >= Some(2040) || ends.1 <= Some(2055), "{ends:?}");
    }
}

#[test]
fn a_refused_cut_gives_way_to_the_next_widest_attribute() {
    let wide = numbers(&[0, 9, 9, 9]);
    let narrow = numbers(&[0, 0, 1, 1]);
    let narrow = CodedColumn {
        domain: numbers(&[3]).domain,
        ..narrow
    };
    let found = groups(
        &[&wide, &narrow],
        (SplitChoice::Widest, Partitioning::Strict),
        2,
    );
    assert_eq!(found, [[0, 1], [2, 3]]);
}

#[test]
fn gain_takes_the_cut_that_leaves_least_loss() {
    // Both ranges are whole; only the second and third attribute fall
    // apart together, by what the first one mixes.
    let first = numbers(&[0, 1, 0, 1]);
    let second = numbers(&[0, 0, 1, 1]);
    let third = numbers(&[0, 0, 1, 1]);
    let columns = [&first, &second, &third];
    for seed_order in [[0, 1, 2], [2, 0, 1]] {
        let columns = seed_order.map(|at: usize| columns[at]);
        let found = groups(&columns, (SplitChoice::Gain, Partitioning::Strict), 2);
        assert_eq!(found, [[0, 1], [2, 3]]);
    }
}

#[test]
fn categories_without_hierarchy_are_counted_by_the_values_present() {
    let mut distinct = Distinct::default();
    assert_eq!(distinct.count([4, 1, 4].into_iter(), 5), 2);
    assert_eq!(distinct.count([4].into_iter(), 5), 1);
    assert_eq!(distinct.count([8, 9].into_iter(), 10), 2);
}

#[test]
fn no_attributes_leave_everyone_in_one_group() {
    let column = numbers(&[1, 1, 1]);
    let rules = (SplitChoice::Widest, Partitioning::Relaxed);
    assert_eq!(groups(&[&column], rules, 1), [[0, 1, 2]]);
}

#[test]
fn gain_cuts_a_hierarchy_beside_the_branch_of_the_median() {
    // The median, a2, lies inside branch a: a cut there saves nothing, one
    // behind the branch leaves two nodes.
    let tree = HierarchySource::read(
        b"a1;a;*\na2;a;*\na3;a;*\nb1;b;*\nb2;b;*\n",
        HierarchyFormat::Csv,
    );
    let Ok(HierarchySource::Tree(tree)) = tree else {
        panic!("the tree is well-formed");
    };
    let labels = ["a1", "a2", "a3", "b1", "b2"].map(String::from);
    let column = CodedColumn {
        domain: Arc::new(Domain::new(Values::Category(labels.into()), Some(tree))),
        codes: vec![0, 1, 1, 2, 3, 4].into(),
    };
    for partitioning in [Partitioning::Strict, Partitioning::Relaxed] {
        let found = groups(&[&column], (SplitChoice::Gain, partitioning), 2);
        assert!(found.contains(&vec![4, 5]), "{partitioning:?}: {found:?}");
    }
}

/// Columns of random codes below each of the given numbers.
fn drawn(rows: usize, values: &[u32]) -> Vec<CodedColumn> {
    let context = RunContext::silent(5);
    let mut random = context.stream(0, 0);
    let column = |&values: &u32| {
        let codes = (0..rows).map(|_| random.random_range(0..values));
        CodedColumn {
            domain: numbers(&[values]).domain,
            codes: codes.collect(),
        }
    };
    values.iter().map(column).collect()
}

#[test]
fn wide_cells_and_narrow_ones_give_the_same_groups() {
    // More columns than a strip has cells.
    let columns = drawn(3000, &[2, 9, 70, 500, 60_000, 3, 5, 8, 13, 21, 34]);
    let columns: Vec<&CodedColumn> = columns.iter().collect();
    let scales: Vec<Scale> = columns.iter().map(|c| Scale::new(&c.domain)).collect();
    let context = RunContext::silent(7);
    let records: Vec<u32> = (0..3000).rev().collect();
    for choice in [SplitChoice::Widest, SplitChoice::Gain] {
        for partitioning in [Partitioning::Strict, Partitioning::Relaxed] {
            let mondrian = Mondrian {
                context: &context,
                stage: 1,
                step: (1, 1),
                columns: &columns,
                scales: &scales,
                choice,
                partitioning,
                uncut: 0,
            };
            let descent = Descent {
                context: &context,
                step: (1, 1),
                label: "partition",
                done: 0.into(),
                total: records.len(),
            };
            let (least, place) = (AtLeast(5), SplitPosition::root(0));
            let narrow = mondrian.part::<u16, _>(&records, &least, place, &descent);
            let wide = mondrian.part::<u32, _>(&records, &least, place, &descent);
            let (narrow, wide) = (narrow.unwrap(), wide.unwrap());
            assert!(narrow.len() > 300);
            assert!(narrow.iter().eq(wide.iter()));
        }
    }
}

#[test]
fn a_set_moves_its_rows_as_the_cut_says() {
    let columns = drawn(500, &[7, 40, 3, 2, 2, 2, 2, 2, 11, 300]);
    let columns: Vec<&CodedColumn> = columns.iter().collect();
    let records: Vec<u32> = (0..500).collect();
    for (column, code, equals) in [(0, 3, usize::MAX), (9, 150, 1), (8, 5, 0), (1, 0, 4)] {
        let codes = &columns[column].codes;
        let mut equals_left = equals;
        let goes_left = |row: &u32| {
            let found = codes.at(*row as usize);
            let takes = found == code && equals_left > 0;
            equals_left -= usize::from(takes);
            found < code || takes
        };
        let (left, right): (Vec<u32>, Vec<u32>) = records.iter().copied().partition(goes_left);
        let cut = RowCut {
            column,
            code,
            equals,
            left: left.len(),
        };
        let mut coded = CodedRows::<u16>::gather(&columns, &records);
        let mut ends = [Ends::of(columns.len()), Ends::of(columns.len())];
        coded.set().ends_of_sides(cut, &mut ends);
        let (mut lefts, mut rights) = (Vec::new(), Vec::new());
        coded.set().sides(cut, &mut lefts, &mut rights);
        assert_eq!((&lefts, &rights), (&left, &right));
        coded.set().part(cut, &mut Aside::default());
        let (one, other) = coded.set().split_at(left.len());
        for ((set, rows), ends) in [one, other].into_iter().zip([left, right]).zip(ends) {
            assert_eq!(set.rows, rows);
            let mut own = Ends::of(columns.len());
            set.ends(&mut own);
            for (at, column) in columns.iter().enumerate() {
                let codes: Vec<u32> = rows
                    .iter()
                    .map(|&row| column.codes.at(row as usize))
                    .collect();
                assert!(set.column(at).eq(codes.iter().copied()));
                let (lowest, highest) = (codes.iter().min(), codes.iter().max());
                assert_eq!((lowest, highest), (own.lowest.get(at), own.highest.get(at)));
                assert_eq!(
                    (lowest, highest),
                    (ends.lowest.get(at), ends.highest.get(at))
                );
            }
        }
    }
}
