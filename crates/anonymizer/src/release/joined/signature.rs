//! Rows that look the same on the generalized attributes.
//!
//! Signatures are found by refinement: all rows begin in one class, and each
//! attribute splits the classes by its cells. That is exact (no digest can
//! collide), takes one pass an attribute, and numbers classes in order of
//! their first row. Rows that look like the first row of their published group
//! go where it goes, so that mostly one row a group is split.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::JoinedAttribute;
use crate::microdata::Codes;

/// A direct table of class × cell is used up to this many entries, and up to
/// so many a row: filling a larger one takes longer than hashing the rows.
const TABLE_ENTRIES_MAX: usize = 1 << 23;
const TABLE_ENTRIES_PER_ROW: usize = 64;

/// The classes of rows with equal signatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signatures {
    class_of: Vec<u32>,
    sizes: Vec<u32>,
}

impl Signatures {
    /// Rows by their cells of the attributes. Rows of one published group
    /// mostly look the same, which is seen without looking anything up.
    pub(super) fn of(
        rows: usize,
        groups: Option<&[u64]>,
        attributes: &[&JoinedAttribute<'_>],
    ) -> Self {
        let merged: Vec<Vec<u32>> = attributes
            .par_iter()
            .map(|attribute| merge_equal_cells(attribute))
            .collect();
        let columns: Vec<Column<'_>> = attributes
            .iter()
            .zip(&merged)
            .map(|(attribute, merged)| Column {
                codes: &attribute.codes,
                merged,
            })
            .collect();
        let mut class_of = match groups {
            Some(groups) if groups.len() == rows => leaders(groups, &columns),
            _ => (0..rows as u32).collect(),
        };
        let leads = |&row: &u32| class_of[row as usize] == row;
        let leaders: Vec<u32> = (0..rows as u32).filter(leads).collect();
        let mut classes_of_leaders = vec![0_u32; leaders.len()];
        let mut classes = usize::from(rows > 0);
        for column in &columns {
            let codes = leaders.iter().map(|&row| column.code(row as usize));
            classes = refine(&mut classes_of_leaders, classes, column.merged.len(), codes);
        }
        let mut of_leaders = classes_of_leaders.into_iter();
        for row in 0..rows {
            let leader = class_of[row] as usize;
            // A leader stands before its rows, so it knows its class already.
            class_of[row] = if leader == row {
                of_leaders.next().unwrap_or_default()
            } else {
                class_of[leader]
            };
        }
        Self::counted(class_of, classes)
    }

    /// The classes of rows that are equal in these and in the `other`
    /// signatures of the same rows.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let mut class_of = self.class_of.clone();
        let others = other.class_of.iter().copied();
        let classes = refine(&mut class_of, self.len(), other.len(), others);
        Self::counted(class_of, classes)
    }

    fn counted(class_of: Vec<u32>, classes: usize) -> Self {
        let mut sizes = vec![0_u32; classes];
        for &class in &class_of {
            sizes[class as usize] += 1;
        }
        Self { class_of, sizes }
    }

    /// The class of each row, counted from 0.
    pub fn class_of(&self) -> &[u32] {
        &self.class_of
    }

    /// Number of rows of each class; none is 0.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// Number of classes.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Rows in order of their classes: the rows of class c are
    /// `rows[starts[c]..starts[c + 1]]`, ascending.
    pub fn rows_by_class(&self) -> (Vec<u32>, Vec<u32>) {
        let mut starts = Vec::with_capacity(self.len() + 1);
        let mut total = 0_u32;
        starts.push(0);
        for &size in &self.sizes {
            total += size;
            starts.push(total);
        }
        let mut next = starts.clone();
        let mut rows = vec![0_u32; self.class_of.len()];
        for (row, &class) in self.class_of.iter().enumerate() {
            let place = &mut next[class as usize];
            rows[*place as usize] = row as u32;
            *place += 1;
        }
        (starts, rows)
    }
}

/// The cells of one attribute.
struct Column<'a> {
    codes: &'a Codes,
    /// The code that stands for each code.
    merged: &'a [u32],
}

impl Column<'_> {
    fn code(&self, row: usize) -> u32 {
        self.merged[self.codes.at(row) as usize]
    }

    fn has_equal(&self, row: usize, other: usize) -> bool {
        self.codes.at(row) == self.codes.at(other) || self.code(row) == self.code(other)
    }
}

/// For each row the first row of its published group, or the row itself where
/// it does not look like that one.
fn leaders(groups: &[u64], columns: &[Column<'_>]) -> Vec<u32> {
    let mut leaders = first_rows(groups);
    let rows = leaders.par_iter_mut().enumerate();
    rows.for_each(|(row, leader)| {
        let first = *leader as usize;
        if !columns.iter().all(|column| column.has_equal(row, first)) {
            *leader = row as u32;
        }
    });
    leaders
}

/// The first row of each row's published group.
fn first_rows(groups: &[u64]) -> Vec<u32> {
    const UNSEEN: u32 = u32::MAX;
    let last = groups.iter().copied().max().unwrap_or(0);
    // Groups are numbered from 1, unless somebody wrote other numbers.
    if last <= groups.len() as u64 {
        let mut first = vec![UNSEEN; last as usize + 1];
        let rows = (0..).zip(groups);
        return rows
            .map(|(row, &group)| {
                let first = &mut first[group as usize];
                *first = (*first).min(row);
                *first
            })
            .collect();
    }
    let mut first: FxHashMap<u64, u32> = FxHashMap::default();
    let rows = (0..).zip(groups);
    rows.map(|(row, &group)| *first.entry(group).or_insert(row))
        .collect()
}

/// A dictionary may hold one cell twice; equal cells get the first's code.
fn merge_equal_cells(attribute: &JoinedAttribute<'_>) -> Vec<u32> {
    let mut order: Vec<u32> = (0..attribute.cells.len() as u32).collect();
    let cell = |code: u32| &attribute.cells[code as usize];
    order.sort_by(|&left, &right| {
        let cells = cell(left).partial_cmp(cell(right));
        cells
            .unwrap_or(std::cmp::Ordering::Equal)
            .then(left.cmp(&right))
    });
    let mut merged: Vec<u32> = (0..attribute.cells.len() as u32).collect();
    for pair in order.windows(2) {
        if cell(pair[0]) == cell(pair[1]) {
            merged[pair[1] as usize] = merged[pair[0] as usize];
        }
    }
    merged
}

/// Splits the classes by codes below `cells`, one a row; returns how many
/// there are now.
fn refine(
    class_of: &mut [u32],
    classes: usize,
    cells: usize,
    codes: impl Iterator<Item = u32>,
) -> usize {
    let mut next = 0_u32;
    let most = TABLE_ENTRIES_MAX.min(class_of.len().saturating_mul(TABLE_ENTRIES_PER_ROW));
    let keys = class_of.iter_mut().zip(codes);
    if classes.saturating_mul(cells) <= most {
        const UNSEEN: u32 = u32::MAX;
        let mut table = vec![UNSEEN; classes * cells];
        for (class, code) in keys {
            let entry = &mut table[*class as usize * cells + code as usize];
            if *entry == UNSEEN {
                *entry = next;
                next += 1;
            }
            *class = *entry;
        }
    } else {
        let mut table: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        for (class, code) in keys {
            *class = *table.entry((*class, code)).or_insert_with(|| {
                next += 1;
                next - 1
            });
        }
    }
    next as usize
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use proptest::prelude::*;

    use super::*;
    use crate::microdata::AttributeType;
    use crate::release::{Cell, Content};

    /// Cells of which the last says the same as the first.
    const CELLS: [Cell; 4] = [
        Cell::Integer(1, 1),
        Cell::Integer(1, 2),
        Cell::Masked,
        Cell::Integer(1, 1),
    ];

    fn attribute(codes: Vec<u32>) -> JoinedAttribute<'static> {
        JoinedAttribute {
            name: "x",
            kind: AttributeType::Integer,
            content: Content::Generalized,
            codes: Cow::Owned(codes.into()),
            cells: &CELLS,
            buckets: None,
        }
    }

    /// Classes by comparing every row with every row before it.
    fn naive(rows: usize, attributes: &[&JoinedAttribute<'_>]) -> Vec<u32> {
        let alike = |one: usize, other: usize| {
            let mut attributes = attributes.iter();
            attributes.all(|attribute| attribute.cell(one) == attribute.cell(other))
        };
        let mut classes = 0;
        let mut class_of: Vec<u32> = Vec::new();
        for row in 0..rows {
            let known = (0..row).find(|&before| alike(before, row));
            let class = known.map_or(classes, |before| class_of[before]);
            classes = classes.max(class + 1);
            class_of.push(class);
        }
        class_of
    }

    proptest! {
        #[test]
        fn classes_are_those_of_equal_cells_whatever_the_groups_say(
            rows in prop::collection::vec((0_u32..4, 0_u32..4, 0_u64..6), 0..40),
            far: bool,
        ) {
            let one = attribute(rows.iter().map(|row| row.0).collect());
            let other = attribute(rows.iter().map(|row| row.1).collect());
            let attributes = [&one, &other];
            let step = if far { u64::MAX / 6 } else { 1 };
            let groups: Vec<u64> = rows.iter().map(|row| row.2 * step).collect();
            let wanted = naive(rows.len(), &attributes);
            for groups in [None, Some(groups.as_slice())] {
                let found = Signatures::of(rows.len(), groups, &attributes);
                prop_assert_eq!(found.class_of(), &wanted[..]);
                prop_assert_eq!(found.len(), wanted.iter().max().map_or(0, |&last| last as usize + 1));
            }
        }
    }
}
