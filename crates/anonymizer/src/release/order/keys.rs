//! What rows show, packed so that rows compare as a few whole numbers do.

use rayon::prelude::*;

use crate::microdata::of_width;
use crate::release::table::{Cells, PublishedColumn};

use super::compare_cells;

/// Rows that one task packs; their keys fit into a cache.
const ROWS_PER_TASK: usize = 8192;

/// One key a row; keys compare as the rows' cells from the left do.
pub(super) struct Keys {
    words: usize,
    of_rows: Vec<u64>,
}

/// Where the values of a column stand in a key.
#[derive(Clone, Copy)]
pub(super) struct Place {
    word: usize,
    shift: u32,
    bits: u32,
}

impl Place {
    /// The places of columns from the left, whose values take so many bits at the
    /// most, and the number of words of a key.
    pub fn of(bits: impl Iterator<Item = u32>) -> (Vec<Self>, usize) {
        let (mut word, mut left) = (0, u64::BITS);
        let places = bits.map(|bits| {
            if bits > left {
                word += 1;
                left = u64::BITS;
            }
            left -= bits;
            // A place of no bits may stand at the very end of a word.
            let shift = left % u64::BITS;
            Self { word, shift, bits }
        });
        let places = places.collect();
        (places, word + 1)
    }

    /// Adds a value to a key that has 0 here.
    #[inline]
    pub fn put(self, key: &mut [u64], value: u64) {
        key[self.word] |= value << self.shift;
    }

    /// The value in a key.
    #[inline]
    pub fn get(self, key: &[u64]) -> u64 {
        match self.bits {
            0 => 0,
            bits => key[self.word] >> self.shift & u64::MAX >> (u64::BITS - bits),
        }
    }
}

/// A column and its place in a key.
struct Field<'a> {
    column: &'a PublishedColumn,
    /// Rank of each cell of a dictionary.
    ranks: Vec<u32>,
    place: Place,
}

impl Keys {
    /// The keys of all rows in some columns of one table.
    pub fn of(columns: &[&PublishedColumn], rows: usize) -> Self {
        let ranked: Vec<(Vec<u32>, u32)> = columns.par_iter().map(|column| ranks(column)).collect();
        let (places, words) = Place::of(ranked.iter().map(|&(_, bits)| bits));
        let fields = columns.iter().zip(ranked).zip(places);
        let fields = fields.map(|((column, (ranks, _)), place)| Field {
            column,
            ranks,
            place,
        });
        let fields: Vec<Field<'_>> = fields.filter(|field| field.place.bits > 0).collect();
        let mut of_rows = vec![0_u64; rows * words];
        let tasks = of_rows.par_chunks_mut(ROWS_PER_TASK * words).enumerate();
        tasks.for_each(|(task, keys)| {
            for field in &fields {
                field.fill(keys, (task * ROWS_PER_TASK, words));
            }
        });
        Self { words, of_rows }
    }

    /// Sorts rows, which ascend, by their keys; those with the same stay as they are.
    pub fn sort(&self, rows: &mut [u32]) {
        if self.words > 2 {
            let key = |row: u32| (self.row(row), row);
            rows.sort_unstable_by(|&one, &other| key(one).cmp(&key(other)));
            return;
        }
        let key = |row: u32| {
            let words = self.row(row).iter();
            words.fold(0_u128, |key, &word| key << u64::BITS | u128::from(word))
        };
        rows.sort_unstable_by_key(|&row| (key(row), row));
    }

    /// The key of a row.
    #[inline]
    pub fn row(&self, row: u32) -> &[u64] {
        let start = row as usize * self.words;
        &self.of_rows[start..start + self.words]
    }
}

impl Field<'_> {
    /// Adds the column to the keys of the rows from `first` on.
    fn fill(&self, keys: &mut [u64], (first, words): (usize, usize)) {
        let keys = keys.chunks_exact_mut(words);
        match &self.column.cells {
            Cells::Numbers(numbers) => {
                for (key, number) in keys.zip(&numbers[first..]) {
                    self.place.put(key, *number);
                }
            }
            Cells::Dictionary { codes, .. } => of_width!(codes, codes => {
                for (key, &code) in keys.zip(&codes[first..]) {
                    self.place.put(key, self.ranks[code as usize].into());
                }
            }),
        }
    }
}

/// The rank of each row's cell in one column; numbers are their own.
pub(super) fn ranks_of_rows(column: &PublishedColumn) -> Vec<u64> {
    match &column.cells {
        Cells::Numbers(numbers) => numbers.clone(),
        Cells::Dictionary { codes, .. } => {
            let (ranks, _) = ranks(column);
            codes
                .iter()
                .map(|code| ranks[code as usize].into())
                .collect()
        }
    }
}

/// The rank of each cell of a dictionary (none for numbers), equal cells
/// having one, and the bits that the largest takes.
fn ranks(column: &PublishedColumn) -> (Vec<u32>, u32) {
    match &column.cells {
        Cells::Numbers(numbers) => {
            let largest = numbers.iter().copied().max().unwrap_or(0);
            (Vec::new(), u64::BITS - largest.leading_zeros())
        }
        Cells::Dictionary { cells, .. } => {
            let mut order: Vec<u32> = (0..cells.len() as u32).collect();
            let cell = |at: u32| &cells[at as usize];
            order.sort_unstable_by(|&one, &other| compare_cells(cell(one), cell(other)));
            let mut ranks = vec![0_u32; cells.len()];
            let mut rank = 0;
            for pair in order.windows(2) {
                rank += u32::from(compare_cells(cell(pair[0]), cell(pair[1])).is_ne());
                ranks[pair[1] as usize] = rank;
            }
            (ranks, u32::BITS - rank.leading_zeros())
        }
    }
}
