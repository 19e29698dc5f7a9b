//! Groups as an adversary sees them: rows that look the same.
//!
//! Two rows look the same if every published cell of every attribute that may
//! be known (all but the insensitive ones) reads the same; "in a bucket" (the
//! empty cell) and `*` are categories of their own. The published group
//! number plays no part: two groups that look the same are one group to an
//! adversary, and rows of one group that look different are two.
//!
//! Sizes count distinct subjects. Linear in the number of cells: rows that
//! agree with the first row of their published group take its class, so that
//! only one row a group is hashed; the rest, if there is any, is hashed alone.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::microdata::Role;

use super::meaning::MeaningColumn;
use super::view::{NONE, View};

/// The subject of each row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subjects<'a> {
    /// Below `number`, or [`NONE`].
    pub(super) of_row: &'a [u32],
    /// Number of subjects.
    pub(super) number: usize,
}

/// Rows by what they look like.
#[derive(Debug)]
pub(super) struct Signatures {
    /// Class of each row, from 0.
    pub(super) class_of_row: Vec<u32>,
    /// Distinct subjects of each class.
    pub(super) sizes: Vec<u64>,
    /// Rows by class: those of class c are `rows[starts[c]..starts[c + 1]]`.
    pub(super) starts: Vec<u32>,
    pub(super) rows: Vec<u32>,
    /// Rows that look different from the first row of their published group.
    pub(super) strangers: Vec<u32>,
}

impl Signatures {
    /// Sorts the rows of a view by what they look like.
    pub(super) fn of(view: &View) -> Self {
        let known = view.attributes.iter();
        let known = known.filter(|attribute| attribute.role != Role::Insensitive);
        let columns: Vec<&MeaningColumn> = known.map(|attribute| &attribute.cells).collect();
        let subjects = Subjects {
            of_row: &view.records,
            number: view.table.records(),
        };
        Self::of_columns(view.group, &columns, subjects)
    }

    /// Sorts rows, with their published groups, by what these columns show.
    pub(super) fn of_columns(
        group: &[u64],
        columns: &[&MeaningColumn],
        subjects: Subjects,
    ) -> Self {
        let (mut leader_of_row, _) = first_rows(group);
        let strangers = set_strangers_apart(&mut leader_of_row, columns);
        let leaders = sorted_distinct(&leader_of_row);
        let mut classes = vec![0_u32; leaders.len()];
        let mut numbers = FxHashMap::default();
        for column in columns {
            refine(&mut classes, &mut numbers, |at| {
                column.look(leaders[at] as usize)
            });
        }
        let classes_count = classes.iter().max().map_or(0, |&last| last as usize + 1);
        let mut class_of_leader = vec![NONE; group.len()];
        for (&leader, &class) in leaders.iter().zip(&classes) {
            class_of_leader[leader as usize] = class;
        }
        let class_of_row = leader_of_row
            .iter()
            .map(|&leader| class_of_leader[leader as usize]);
        let class_of_row = class_of_row.collect();
        Self {
            strangers,
            ..Self::of_classes(class_of_row, classes_count, subjects)
        }
    }

    /// Sorts rows by their published group number, whatever they look like.
    pub(super) fn of_groups(group: &[u64], subjects: Subjects) -> Self {
        let (leader_of_row, groups) = first_rows(group);
        let mut seen = 0_u32;
        let mut class_of_row: Vec<u32> = Vec::with_capacity(group.len());
        for (row, &leader) in leader_of_row.iter().enumerate() {
            let leads = leader as usize == row;
            class_of_row.push(match leads {
                true => seen,
                false => class_of_row[leader as usize],
            });
            seen += u32::from(leads);
        }
        Self::of_classes(class_of_row, groups, subjects)
    }

    fn of_classes(class_of_row: Vec<u32>, classes: usize, subjects: Subjects) -> Self {
        let (starts, rows) = by_class(&class_of_row, classes);
        let sizes = sizes(subjects, &starts, &rows);
        Self {
            class_of_row,
            sizes,
            starts,
            rows,
            strangers: Vec::new(),
        }
    }

    /// Number of classes.
    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// The rows of one class, ascending.
    pub(super) fn rows(&self, class: usize) -> &[u32] {
        &self.rows[self.starts[class] as usize..self.starts[class + 1] as usize]
    }

    /// Published number of the group that a class's first row is in.
    pub(super) fn group_number(&self, group: &[u64], class: usize) -> u64 {
        let first = self.rows(class).first();
        first.map_or(0, |&row| group[row as usize])
    }
}

/// The first row of each row's published group, and the number of groups.
fn first_rows(group: &[u64]) -> (Vec<u32>, usize) {
    // Whatever numbers are published: small ones index a table.
    let mut small = vec![NONE; group.len() + 1];
    let mut large: FxHashMap<u64, u32> = FxHashMap::default();
    let mut groups = 0;
    let mut leader: Vec<u32> = Vec::with_capacity(group.len());
    for (row, &group) in (0_u32..).zip(group) {
        let at = usize::try_from(group).unwrap_or(usize::MAX);
        let first = match small.get_mut(at) {
            Some(first) => first,
            None => large.entry(group).or_insert(NONE),
        };
        if *first == NONE {
            *first = row;
            groups += 1;
        }
        leader.push(*first);
    }
    (leader, groups)
}

/// Makes rows that do not look like the first row of their published group
/// their own leaders, and returns them.
fn set_strangers_apart(leader_of_row: &mut [u32], columns: &[&MeaningColumn]) -> Vec<u32> {
    let rows = leader_of_row.par_iter_mut().enumerate();
    let strangers = rows.filter_map(|(row, leader)| {
        let first = *leader as usize;
        let mut columns = columns.iter();
        let same = columns.all(|column| {
            let codes = column.codes;
            codes.at(row) == codes.at(first) || column.look(row) == column.look(first)
        });
        (!same).then(|| {
            *leader = row as u32;
            row as u32
        })
    });
    strangers.collect()
}

fn sorted_distinct(leader_of_row: &[u32]) -> Vec<u32> {
    let own = leader_of_row.iter().enumerate();
    own.filter(|&(row, &leader)| leader as usize == row)
        .map(|(_, &leader)| leader)
        .collect()
}

/// One more column: entries keep one class if they had it so far and have the
/// same look in this column too. `numbers` is scratch.
pub(super) fn refine(
    class: &mut [u32],
    numbers: &mut FxHashMap<(u32, u32), u32>,
    look: impl Fn(usize) -> u32,
) {
    numbers.clear();
    for (at, class) in class.iter_mut().enumerate() {
        let next = numbers.len() as u32;
        *class = *numbers.entry((*class, look(at))).or_insert(next);
    }
}

/// Rows sorted by class, by counting.
fn by_class(class_of_row: &[u32], classes: usize) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0_u32; classes + 1];
    for &class in class_of_row {
        starts[class as usize + 1] += 1;
    }
    for class in 0..classes {
        starts[class + 1] += starts[class];
    }
    let mut next = starts.clone();
    let mut rows = vec![0_u32; class_of_row.len()];
    for (row, &class) in class_of_row.iter().enumerate() {
        rows[next[class as usize] as usize] = row as u32;
        next[class as usize] += 1;
    }
    (starts, rows)
}

/// Distinct subjects of each class; rows without one count for nothing.
fn sizes(subjects: Subjects, starts: &[u32], rows: &[u32]) -> Vec<u64> {
    let mut counted_in = vec![NONE; subjects.number];
    let mut sizes = vec![0_u64; starts.len() - 1];
    for (class, size) in sizes.iter_mut().enumerate() {
        for &row in &rows[starts[class] as usize..starts[class + 1] as usize] {
            let subject = subjects.of_row[row as usize];
            if subject == NONE || counted_in[subject as usize] == class as u32 {
                continue;
            }
            counted_in[subject as usize] = class as u32;
            *size += 1;
        }
    }
    sizes
}
