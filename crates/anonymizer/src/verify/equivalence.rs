//! Equivalence classes: rows that an adversary cannot tell apart.
//!
//! Two rows are equivalent if every published cell of every attribute that may
//! be known (all but the insensitive ones) reads the same; "in a bucket" (the
//! empty cell) and `*` are categories of their own. The published group
//! number plays no part: two equivalent groups are one to an adversary, and
//! rows of one group that read differently are two.
//!
//! Sizes count distinct subjects. Linear in the number of cells: rows that
//! agree with the first row of their published group take its class, so that
//! only one row a group is hashed; the rest, if there is any, is hashed alone.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::microdata::{Role, refine_by_code};

use super::classes::Members;
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

impl<'a> Subjects<'a> {
    /// Those of a view, which are records.
    pub(super) fn of(view: &'a View) -> Self {
        Self {
            of_row: &view.records,
            number: view.table.records(),
        }
    }
}

/// Rows by what is published of them.
#[derive(Debug)]
pub(super) struct EquivalenceClasses {
    pub(super) members: Members,
    /// Distinct subjects of each class.
    pub(super) sizes: Vec<u64>,
    /// Rows that read differently from the first row of their published group.
    pub(super) mismatched: Vec<u32>,
}

impl EquivalenceClasses {
    /// Sorts the rows of a view by the attributes with a chosen role.
    pub(super) fn of_roles(view: &View, is_chosen: impl Fn(Role) -> bool) -> Self {
        let chosen = view.attributes.iter();
        let chosen = chosen.filter(|attribute| is_chosen(attribute.role));
        let columns: Vec<&MeaningColumn> = chosen.map(|attribute| &attribute.cells).collect();
        Self::of_columns(view.group, &columns, Subjects::of(view))
    }

    /// Sorts the rows of a view by what their quasi-identifiers show.
    pub(super) fn of_quasi_identifiers(view: &View) -> Self {
        Self::of_roles(view, |role| role == Role::QuasiIdentifier)
    }

    /// Sorts rows, with their published groups, by what these columns show.
    pub(super) fn of_columns(
        group: &[u64],
        columns: &[&MeaningColumn],
        subjects: Subjects,
    ) -> Self {
        let (mut leader_of_row, _) = first_rows(group);
        let mismatched = set_mismatched_apart(&mut leader_of_row, columns);
        let leaders = sorted_distinct(&leader_of_row);
        let mut classes = vec![0_u32; leaders.len()];
        for column in columns {
            refine_by_code(&mut classes, |at| column.category(leaders[at] as usize));
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
            mismatched,
            ..Self::of_classes(class_of_row, classes_count, subjects)
        }
    }

    /// Sorts rows by their published group number, whatever they show.
    pub(super) fn of_groups(group: &[u64], subjects: Subjects) -> Self {
        let (leader_of_row, groups) = first_rows(group);
        let mut seen = 0_u32;
        let mut class_of_row: Vec<u32> = Vec::with_capacity(group.len());
        for (row, &leader) in leader_of_row.iter().enumerate() {
            let leads = leader as usize == row;
            class_of_row.push(if leads {
                seen
            } else {
                class_of_row[leader as usize]
            });
            seen += u32::from(leads);
        }
        Self::of_classes(class_of_row, groups, subjects)
    }

    fn of_classes(class_of_row: Vec<u32>, classes: usize, subjects: Subjects) -> Self {
        let members = Members::of(class_of_row, classes);
        Self {
            sizes: sizes(subjects, &members),
            members,
            mismatched: Vec::new(),
        }
    }

    /// Number of classes.
    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// The rows of one class, ascending.
    pub(super) fn rows(&self, class: usize) -> &[u32] {
        self.members.rows(class)
    }

    /// The class of a row: each has one.
    #[inline]
    pub(super) fn class(&self, row: usize) -> usize {
        self.members.class_of_row[row] as usize
    }

    /// The class of each row.
    pub(super) fn of_rows(&self) -> &[u32] {
        &self.members.class_of_row
    }

    /// Published number of the group that a class's first row is in.
    pub(super) fn group_number(&self, group: &[u64], class: usize) -> u64 {
        let first = self.rows(class).first();
        first.map_or(0, |&row| group[row as usize])
    }
}

/// How many different groups are published.
pub(super) fn number_of_groups(group: &[u64]) -> usize {
    first_rows(group).1
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

/// Makes rows that read differently from the first row of their published
/// group their own leaders, and returns them.
fn set_mismatched_apart(leader_of_row: &mut [u32], columns: &[&MeaningColumn]) -> Vec<u32> {
    let rows = leader_of_row.par_iter_mut().enumerate();
    let mismatched = rows.filter_map(|(row, leader)| {
        let first = *leader as usize;
        let mut columns = columns.iter();
        let same = columns.all(|column| {
            let codes = column.codes;
            codes.at(row) == codes.at(first) || column.category(row) == column.category(first)
        });
        (!same).then(|| {
            *leader = row as u32;
            row as u32
        })
    });
    mismatched.collect()
}

fn sorted_distinct(leader_of_row: &[u32]) -> Vec<u32> {
    let own = leader_of_row.iter().enumerate();
    own.filter(|&(row, &leader)| leader as usize == row)
        .map(|(_, &leader)| leader)
        .collect()
}

/// Distinct subjects of each class; rows without one count for nothing.
fn sizes(subjects: Subjects, members: &Members) -> Vec<u64> {
    let mut counted_in = vec![NONE; subjects.number];
    let mut sizes = vec![0_u64; members.len()];
    for (class, size) in sizes.iter_mut().enumerate() {
        for &row in members.rows(class) {
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
