//! Cuts of small sets written down by hand.

use std::sync::Arc;

use super::partition::Distinct;
use super::*;
use crate::microdata::{Domain, HierarchyFormat, HierarchySource, Values};

/// Parts of at least so many rows.
struct AtLeast(usize);

impl Condition for AtLeast {
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
        codes: codes.into(),
    }
}

fn groups(
    columns: &[&CodedColumn],
    rules: (SplitChoice, Partitioning),
    least: usize,
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
        codes: vec![0, 1, 1, 2, 3, 4],
    };
    for partitioning in [Partitioning::Strict, Partitioning::Relaxed] {
        let found = groups(&[&column], (SplitChoice::Gain, partitioning), 2);
        assert!(found.contains(&vec![4, 5]), "{partitioning:?}: {found:?}");
    }
}
