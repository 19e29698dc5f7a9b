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

use rustc_hash::FxHashMap;

use crate::microdata::Role;

use super::view::{NONE, View};

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
        let (leader_of_row, strangers) = leaders(view);
        let leaders = sorted_distinct(&leader_of_row);
        let classes = classes(view, &leaders);
        let classes_count = classes.iter().max().map_or(0, |&last| last as usize + 1);
        let mut class_of_leader = vec![NONE; view.rows()];
        for (&leader, &class) in leaders.iter().zip(&classes) {
            class_of_leader[leader as usize] = class;
        }
        let class_of_row = leader_of_row
            .iter()
            .map(|&leader| class_of_leader[leader as usize]);
        let class_of_row: Vec<u32> = class_of_row.collect();
        let (starts, rows) = by_class(&class_of_row, classes_count);
        let sizes = sizes(view, &starts, &rows);
        Self {
            class_of_row,
            sizes,
            starts,
            rows,
            strangers,
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
    pub(super) fn group_number(&self, view: &View, class: usize) -> u64 {
        let first = self.rows(class).first();
        first.map_or(0, |&row| view.group[row as usize])
    }
}

/// For each row an earlier row, or itself, that it looks like: the first row
/// of its published group if it does, else the row itself (a stranger).
fn leaders(view: &View) -> (Vec<u32>, Vec<u32>) {
    let mut first_of_group: FxHashMap<u64, u32> = FxHashMap::default();
    let mut leader: Vec<u32> = Vec::with_capacity(view.rows());
    for (row, &group) in view.group.iter().enumerate() {
        leader.push(*first_of_group.entry(group).or_insert(row as u32));
    }
    let mut strangers = Vec::new();
    for (row, leader) in leader.iter_mut().enumerate() {
        let first = *leader as usize;
        let same = known_attributes(view).all(|at| {
            let cells = &view.attributes[at].cells;
            cells.look(row) == cells.look(first)
        });
        if !same {
            *leader = row as u32;
            strangers.push(row as u32);
        }
    }
    (leader, strangers)
}

/// Positions of the attributes that an adversary may know.
fn known_attributes(view: &View) -> impl Iterator<Item = usize> {
    let all = view.attributes.iter().enumerate();
    all.filter(|(_, attribute)| attribute.role != Role::Insensitive)
        .map(|(at, _)| at)
}

fn sorted_distinct(leader_of_row: &[u32]) -> Vec<u32> {
    let own = leader_of_row.iter().enumerate();
    own.filter(|&(row, &leader)| leader as usize == row)
        .map(|(_, &leader)| leader)
        .collect()
}

/// Class of each of `rows`, one attribute after the other: rows have the same
/// class if they had it so far and look the same on the next attribute.
fn classes(view: &View, rows: &[u32]) -> Vec<u32> {
    let mut class = vec![0_u32; rows.len()];
    let mut numbers: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    for at in known_attributes(view) {
        let cells = &view.attributes[at].cells;
        numbers.clear();
        for (class, &row) in class.iter_mut().zip(rows) {
            let next = numbers.len() as u32;
            *class = *numbers
                .entry((*class, cells.look(row as usize)))
                .or_insert(next);
        }
    }
    class
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
fn sizes(view: &View, starts: &[u32], rows: &[u32]) -> Vec<u64> {
    let mut counted_in = vec![NONE; view.table.records()];
    let mut sizes = vec![0_u64; starts.len() - 1];
    for (class, size) in sizes.iter_mut().enumerate() {
        for &row in &rows[starts[class] as usize..starts[class + 1] as usize] {
            let record = view.records[row as usize];
            if record == NONE || counted_in[record as usize] == class as u32 {
                continue;
            }
            counted_in[record as usize] = class as u32;
            *size += 1;
        }
    }
    sizes
}
