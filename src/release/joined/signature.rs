//! Rows that look the same on the generalized attributes.
//!
//! Signatures are found by refinement: all rows begin in one class, and each
//! attribute splits the classes by its cells. That is exact (no digest can
//! collide), takes one pass an attribute, and numbers classes in order of
//! their first row.

use rustc_hash::FxHashMap;

use super::JoinedAttribute;

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
    /// Refines `rows` rows by the cells of the attributes.
    pub(super) fn of<'a, 'b: 'a>(
        rows: usize,
        attributes: impl Iterator<Item = &'a JoinedAttribute<'b>>,
    ) -> Self {
        let mut class_of = vec![0_u32; rows];
        let mut classes = usize::from(rows > 0);
        for attribute in attributes {
            let codes = merge_equal_cells(attribute);
            let codes = attribute.codes.iter().map(|&code| codes[code as usize]);
            classes = refine(&mut class_of, classes, attribute.cells.len(), codes);
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
