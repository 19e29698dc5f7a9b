//! Losses inside one region of the search, over codes of the region's own.
//!
//! A region has a few thousand records, so each attribute has few values in
//! it. They are numbered anew from 0, in the order of the domain, in 16 bits:
//! the hull of a group is found by comparing several of them at a time, and
//! losses lie in small tables. Rows and hulls have one of a few fixed sizes
//! (`CELLS` attributes, `WORDS` words of bits), so that they are copied without
//! a loop.

use crate::engine::kernel::{Rows, Scale};

/// An attribute with more values in a region is reckoned instead of looked up.
const TABLE_VALUES_MAX: usize = 128;

/// How an attribute loses.
enum Column {
    /// Loss from one value to another: `tables[first + low * values + high]`.
    Table { first: usize, values: usize },
    /// A hierarchy: what is lost from one value to another is the most that is
    /// lost between two neighbours on the way. The most in a run of 1, 2, 4 …
    /// pairs of neighbours from a value on is
    /// `tables[first + power * values + value]`; two runs cover any way.
    Runs { first: usize, values: usize },
    /// The attribute's own scale, and the domain's code of each value.
    Scale(Scale, Vec<u32>),
    /// Loss of one value of a set, and where the bits of its values lie: in
    /// one word, or in several of its own.
    Set { share: f32, place: SetBits },
}

/// Where the bits of a set's values lie.
#[derive(Clone, Copy)]
struct SetBits {
    first_word: usize,
    first_bit: usize,
    bits: usize,
}

impl SetBits {
    /// The place of `bits` behind all the others; small sets share a word.
    fn behind(others: &[Self], bits: usize) -> Self {
        let next = others
            .last()
            .map_or(0, |last| last.first_word * 64 + last.first_bit + last.bits);
        let fits = next % 64 + bits <= 64;
        let next = if fits {
            next
        } else {
            next.next_multiple_of(64)
        };
        Self {
            first_word: next / 64,
            first_bit: next % 64,
            bits,
        }
    }

    /// Words up to the end of this place.
    fn words(self) -> usize {
        (self.first_word * 64 + self.first_bit + self.bits).div_ceil(64)
    }

    #[inline(always)]
    fn set(self, words: &mut [u64], value: usize) {
        let bit = self.first_bit + value;
        words[self.first_word + bit / 64] |= 1 << (bit % 64);
    }

    #[inline(always)]
    fn count(self, words: &[u64]) -> u32 {
        if self.bits <= 64 {
            let mask = u64::MAX >> (64 - self.bits);
            return (words[self.first_word] >> self.first_bit & mask).count_ones();
        }
        let words = &words[self.first_word..self.first_word + self.bits.div_ceil(64)];
        words.iter().map(|word| word.count_ones()).sum()
    }
}

/// The rows of a region, and what groups of them lose.
pub(super) struct Measure<const CELLS: usize, const WORDS: usize> {
    columns: Vec<Column>,
    tables: Vec<f32>,
    /// Columns that are sets, and where the bits of their values lie.
    sets: Vec<(usize, SetBits)>,
    rows: Vec<[i16; CELLS]>,
}

/// The hull of a group: lowest and highest value of each attribute, and the
/// values of each set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hull<const CELLS: usize, const WORDS: usize> {
    low: [i16; CELLS],
    high: [i16; CELLS],
    bits: [u64; WORDS],
}

/// Words of bits that the sets among the columns need for these rows.
pub(super) fn words(rows: &Rows, scales: &[Scale], members: &[u32]) -> usize {
    let sets = scales.iter().enumerate();
    let sets = sets.filter(|(_, scale)| matches!(scale, Scale::Set(_)));
    let mut places = Vec::new();
    for (at, _) in sets {
        places.push(SetBits::behind(&places, values_of(rows, at, members).len()));
    }
    places.last().map_or(0, |last| last.words())
}

/// Codes of a column that occur, ascending.
fn values_of(rows: &Rows, column: usize, members: &[u32]) -> Vec<u32> {
    let mut values: Vec<u32> = members.iter().map(|&row| rows.cell(row, column)).collect();
    values.sort_unstable();
    values.dedup();
    values
}

impl<const CELLS: usize, const WORDS: usize> Measure<CELLS, WORDS> {
    /// Takes over the given rows; they are numbered from 0 in that order.
    ///
    /// There are at most `CELLS` columns, and as many [`words`] as `WORDS`.
    pub fn new(rows: &Rows, scales: &[Scale], members: &[u32]) -> Self {
        let mut measure = Self {
            columns: Vec::with_capacity(scales.len()),
            tables: Vec::new(),
            sets: Vec::new(),
            rows: vec![[0; CELLS]; members.len()],
        };
        for (at, scale) in scales.iter().enumerate() {
            let values = values_of(rows, at, members);
            for (cells, &row) in measure.rows.iter_mut().zip(members) {
                let code = rows.cell(row, at);
                // A region has fewer rows than there are numbers in 16 bits.
                cells[at] = values.partition_point(|&value| value < code) as i16;
            }
            let column = measure.column(at, scale, values);
            measure.columns.push(column);
        }
        measure
    }

    fn column(&mut self, at: usize, scale: &Scale, values: Vec<u32>) -> Column {
        match scale {
            Scale::Set(domain) => {
                let places: Vec<SetBits> = self.sets.iter().map(|&(_, place)| place).collect();
                let place = SetBits::behind(&places, values.len());
                self.sets.push((at, place));
                Column::Set {
                    share: 1.0 / *domain as f32,
                    place,
                }
            }
            _ if values.len() <= TABLE_VALUES_MAX => {
                let losses = values.iter().flat_map(|&low| {
                    let highs = values.iter();
                    highs.map(move |&high| scale.interval(low.min(high), low.max(high)))
                });
                let first = self.tables.len();
                self.tables.extend(losses);
                Column::Table {
                    first,
                    values: values.len(),
                }
            }
            Scale::Tree(_) => {
                let first = self.tables.len();
                let neighbours = values.windows(2);
                let losses = neighbours.map(|pair| scale.interval(pair[0], pair[1]));
                let mut runs: Vec<f32> = losses.collect();
                let mut length = 1;
                while !runs.is_empty() {
                    self.tables.extend(&runs);
                    self.tables.resize(self.tables.len() + length, 0.0);
                    let pairs = runs.iter().zip(runs.iter().skip(length));
                    runs = pairs.map(|(one, other)| one.max(*other)).collect();
                    length *= 2;
                }
                Column::Runs {
                    first,
                    values: values.len(),
                }
            }
            _ => Column::Scale(scale.clone(), values),
        }
    }

    /// Compares two rows attribute by attribute, in the given order of these.
    pub fn compare(&self, one: u16, other: u16, attributes: &[usize]) -> std::cmp::Ordering {
        let (one, other) = (&self.rows[one as usize], &self.rows[other as usize]);
        let differing = attributes.iter().find(|&&at| one[at] != other[at]);
        differing.map_or(std::cmp::Ordering::Equal, |&at| one[at].cmp(&other[at]))
    }

    /// The hull of one row.
    #[inline]
    pub fn around(&self, row: u32) -> Hull<CELLS, WORDS> {
        let cells = self.rows[row as usize];
        let mut hull = Hull {
            low: cells,
            high: cells,
            bits: [0; WORDS],
        };
        self.include_sets(&mut hull, &cells);
        hull
    }

    /// The hull with one row more.
    #[inline(always)]
    pub fn with(&self, mut hull: Hull<CELLS, WORDS>, row: u32) -> Hull<CELLS, WORDS> {
        self.include(&mut hull, row);
        hull
    }

    #[inline(always)]
    fn include(&self, hull: &mut Hull<CELLS, WORDS>, row: u32) {
        let cells = &self.rows[row as usize];
        let ends = hull.low.iter_mut().zip(&mut hull.high);
        for ((low, high), &cell) in ends.zip(cells) {
            *low = cell.min(*low);
            *high = cell.max(*high);
        }
        self.include_sets(hull, cells);
    }

    #[inline(always)]
    fn include_sets(&self, hull: &mut Hull<CELLS, WORDS>, cells: &[i16; CELLS]) {
        for &(at, place) in &self.sets {
            place.set(&mut hull.bits, cells[at] as usize);
        }
    }

    /// The hull of several rows, at least one.
    pub fn enclose(&self, rows: &[u32]) -> Hull<CELLS, WORDS> {
        let mut hull = self.around(rows[0]);
        for &row in &rows[1..] {
            self.include(&mut hull, row);
        }
        hull
    }

    /// The hull of several rows without one of them; one is left at least.
    pub fn enclose_without(&self, rows: &[u32], gone: u32) -> Hull<CELLS, WORDS> {
        let mut hull = self.around(if rows[0] == gone { rows[1] } else { rows[0] });
        for &row in rows {
            if row != gone {
                self.include(&mut hull, row);
            }
        }
        hull
    }

    /// Loss of one record of a group with this hull, summed over attributes.
    #[inline]
    pub fn loss(&self, hull: &Hull<CELLS, WORDS>) -> f32 {
        let mut loss = 0.0;
        let ends = hull.low.iter().zip(&hull.high);
        for ((&low, &high), column) in ends.zip(&self.columns) {
            let (low, high) = (low as usize, high as usize);
            loss += match column {
                // Nothing is lost from a value to itself: no branch that is hard to foresee.
                Column::Table { first, values } => self.tables[first + low * values + high],
                _ if low == high => 0.0,
                Column::Runs { first, values } => {
                    let power = (high - low).ilog2() as usize;
                    let runs = first + power * values;
                    self.tables[runs + low].max(self.tables[runs + high - (1 << power)])
                }
                Column::Scale(scale, codes) => scale.interval(codes[low], codes[high]),
                Column::Set { share, place } => place.count(&hull.bits) as f32 * share,
            };
        }
        loss
    }

    /// Whether the hull stays as it is without one of its rows, as far as that
    /// can be told from the row alone.
    #[inline]
    pub fn is_inside(&self, hull: &Hull<CELLS, WORDS>, row: u32) -> bool {
        let cells = &self.rows[row as usize];
        let mut is_at_end = false;
        let ends = hull.low.iter().zip(&hull.high);
        for ((&low, &high), &cell) in ends.zip(cells) {
            // Without a branch: all attributes are compared at once.
            is_at_end |= (low != high) & ((low == cell) | (high == cell));
        }
        let is_single = |&(at, _): &(usize, SetBits)| hull.low[at] == hull.high[at];
        !is_at_end && self.sets.iter().all(is_single)
    }

    /// Loss of publishing two rows as one.
    #[inline]
    pub fn pair(&self, one: u32, other: u32) -> f32 {
        self.loss(&self.with(self.around(one), other))
    }
}
