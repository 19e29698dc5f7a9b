//! The columns of a file, counted while it streams by.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use rustc_hash::FxHashMap;

use super::given::Given;
use super::inspection::{InspectError, InspectLimits};
use crate::microdata::{ScannedRow, TableError};

/// Bytes of a cell that are kept; longer ones are free text whatever they say.
const KEPT_BYTES: usize = 256;
/// Smallest hashes that an estimate of distinct values keeps, and those of all
/// columns together.
const SKETCH_SIZE: usize = 4_096;
const SKETCHES_SIZE: usize = 1 << 20;
/// Forms of cells that are kept of a column with too many values to keep.
const SHAPES_MAX: usize = 64;

/// The same hashes each time, so that the same file has the same answer.
type Hashing = BuildHasherDefault<DefaultHasher>;

/// One column.
#[derive(Debug)]
pub(super) struct Column {
    /// What the form of the file says of its cells.
    pub given: Given,
    /// Distinct cells with their counts, the empty one aside, in order; those
    /// that came first where there are too many.
    pub values: Vec<(String, u64)>,
    /// The same while they are counted.
    counted: FxHashMap<String, u64>,
    /// A cell of each form of those that are not in `values`, and how many
    /// cells have it.
    shapes: BTreeMap<Vec<u8>, (String, u64)>,
    pub empty: u64,
    /// Cells that are no UTF-8.
    pub broken: u64,
    pub longest: usize,
    /// Cells with white space inside.
    pub with_spaces: u64,
    /// Whether there were more distinct values than are kept.
    pub is_full: bool,
    sketch: Sketch,
    unique: Unique,
    /// Distinct values that are kept.
    values_max: usize,
    /// A hash for each record that is measured.
    pub hashes: Vec<u32>,
}

/// Whether every record has a value of its own.
#[derive(Debug)]
enum Unique {
    /// So far; hashes of all values.
    SoFar(HashSet<u64>),
    /// A value came twice.
    No,
    /// There were too many to know.
    Unknown,
}

/// The smallest hashes of the distinct values.
#[derive(Debug)]
struct Sketch {
    smallest: BTreeSet<u64>,
    size: usize,
}

impl Sketch {
    fn add(&mut self, hash: u64) {
        let is_full = self.smallest.len() == self.size;
        if is_full && self.smallest.last().is_some_and(|&last| hash >= last) {
            return;
        }
        if self.smallest.insert(hash) && is_full {
            self.smallest.pop_last();
        }
    }

    /// How many distinct values there were, by how close the hashes lie.
    fn estimate(&self) -> u64 {
        match self.smallest.last() {
            Some(&last) if self.smallest.len() == self.size => {
                let share = last as f64 / u64::MAX as f64;
                ((self.size - 1) as f64 / share) as u64
            }
            _ => self.smallest.len() as u64,
        }
    }
}

impl Column {
    /// An empty column, one of `width`.
    fn new(width: usize, limits: &InspectLimits) -> Self {
        Self {
            given: Given::Text,
            values: Vec::new(),
            counted: FxHashMap::default(),
            shapes: BTreeMap::new(),
            empty: 0,
            broken: 0,
            longest: 0,
            with_spaces: 0,
            is_full: false,
            sketch: Sketch {
                smallest: BTreeSet::new(),
                size: (SKETCHES_SIZE / width.max(1)).clamp(64, SKETCH_SIZE),
            },
            unique: Unique::SoFar(HashSet::new()),
            values_max: limits
                .distinct_values_max
                .min(limits.values_max / width.max(1)),
            hashes: Vec::new(),
        }
    }

    /// Whether every one of `records` has a value of its own, as far as can be
    /// known.
    pub fn is_unique(&self, records: u64) -> bool {
        match self.unique {
            Unique::SoFar(_) => true,
            Unique::No => false,
            Unique::Unknown => self.distinct().0 * 100 >= records * 95,
        }
    }

    /// Adds a cell; a hash of it. `unique_left` counts down what may be held of
    /// all columns.
    fn add(&mut self, cell: &[u8], hasher: &Hashing, unique_left: &mut usize) -> u32 {
        let Ok(text) = std::str::from_utf8(cell) else {
            self.broken += 1;
            return 0;
        };
        let text = text.trim();
        if text.is_empty() {
            self.empty += 1;
            return 0;
        }
        self.longest = self.longest.max(text.chars().count());
        self.with_spaces += u64::from(text.contains(' '));
        let end = text.floor_char_boundary(KEPT_BYTES);
        let kept = &text[..end];
        let hash = hasher.hash_one(text);
        if let Unique::SoFar(hashes) = &mut self.unique {
            let held = hashes.len();
            let is_new = hashes.insert(hash);
            if !is_new || *unique_left == 0 {
                // Columns that are not unique give their room to the others.
                *unique_left += held;
                self.unique = if is_new { Unique::Unknown } else { Unique::No };
            } else {
                *unique_left -= 1;
            }
        }
        match self.counted.get_mut(kept) {
            Some(count) => *count += 1,
            None => {
                self.sketch.add(hash);
                if self.counted.len() < self.values_max {
                    self.counted.insert(kept.to_owned(), 1);
                } else {
                    self.is_full = true;
                    self.add_shape(kept);
                }
            }
        }
        kept_hash(hash)
    }

    fn add_shape(&mut self, cell: &str) {
        let shape = shape(cell);
        if let Some((_, count)) = self.shapes.get_mut(&shape) {
            *count += 1;
        } else if self.shapes.len() < SHAPES_MAX {
            self.shapes.insert(shape, (cell.to_owned(), 1));
        }
    }

    /// Distinct values, and whether that is an estimate.
    pub fn distinct(&self) -> (u64, bool) {
        match &self.unique {
            Unique::SoFar(hashes) => (hashes.len() as u64, false),
            _ if !self.is_full => (self.values.len() as u64, false),
            _ => (self.sketch.estimate().max(self.values.len() as u64), true),
        }
    }

    /// Texts with the number of cells that they stand for: all distinct values
    /// that are kept, and one of each form of the others.
    pub fn texts(&self) -> impl Iterator<Item = (&str, u64)> {
        let values = self.values.iter();
        let values = values.map(|(text, count)| (text.as_str(), *count));
        let shapes = self.shapes.values();
        values.chain(shapes.map(|(text, count)| (text.as_str(), *count)))
    }

    /// Cells that are this text.
    pub fn count_of(&self, text: &str) -> Option<u64> {
        let at = self
            .values
            .binary_search_by(|(one, _)| one.as_str().cmp(text));
        at.ok().map(|at| self.values[at].1)
    }

    /// The values that are kept, by the hash that a record has for its cell.
    pub fn texts_by_hash(&self) -> FxHashMap<u32, &str> {
        let hasher = Hashing::default();
        let values = self.values.iter().map(|(text, _)| text.as_str());
        values
            .map(|text| (kept_hash(hasher.hash_one(text)), text))
            .collect()
    }

    /// Puts what was counted in order.
    fn finish(&mut self) {
        self.values = std::mem::take(&mut self.counted).into_iter().collect();
        self.values.sort_unstable();
    }
}

/// What a record keeps of a hash: no value has that of the empty cell, 0.
fn kept_hash(hash: u64) -> u32 {
    (hash >> 32) as u32 | 1
}

/// The cell with `9` for each run of digits and `a` for each run of letters.
fn shape(cell: &str) -> Vec<u8> {
    let mut shape = Vec::new();
    for one in cell.bytes() {
        let class = match one {
            b'0'..=b'9' => b'9',
            b'a'..=b'z' | b'A'..=b'Z' | 0x80.. => b'a',
            other => other,
        };
        if !matches!(class, b'9' | b'a') || shape.last() != Some(&class) {
            shape.push(class);
        }
    }
    shape
}

/// All columns of a file.
#[derive(Debug)]
pub(super) struct Columns {
    pub records: u64,
    pub columns: Vec<Column>,
    /// The first lines that have other cells than the header, and how many
    /// there are.
    pub odd_lines: (Vec<u64>, u64),
    /// The first lines whose quotes are wrong, and how many there are.
    pub malformed: (Vec<u64>, u64),
    /// The line of a record that is too long, behind which nothing was read.
    pub too_long: Option<u64>,
}

/// Hands rows to what counts them, until that says false.
pub(super) type TakeRow<'t> = dyn FnMut(ScannedRow<'_>) -> bool + 't;

/// Reads the columns, what the form of the file says of each in `givens`; a last
/// row that the cut may have made short is left out.
pub(super) fn read(
    scan: impl FnOnce(&mut TakeRow<'_>) -> Result<(), TableError>,
    (givens, is_cut): (&[Given], bool),
    limits: &InspectLimits,
) -> Result<Columns, InspectError> {
    let width = givens.len();
    let hasher = Hashing::default();
    let new = || Column::new(width, limits);
    let mut columns: Vec<Column> = std::iter::repeat_with(new).take(width).collect();
    for (column, given) in columns.iter_mut().zip(givens) {
        column.given = *given;
    }
    let mut unique_left = limits.unique_max;
    let mut read = Columns {
        records: 0,
        columns: Vec::new(),
        odd_lines: Default::default(),
        malformed: Default::default(),
        too_long: None,
    };
    let mut measure = Measure::new(width, limits.cells_max);
    let mut cells: Vec<Vec<u8>> = Vec::new();
    let mut each = |row: ScannedRow<'_>| {
        match row {
            ScannedRow::Cells(line, row) => {
                // Whether a row is one is known behind its last cell.
                let mut count = 0;
                for cell in row {
                    match cells.get_mut(count) {
                        Some(room) => {
                            room.clear();
                            room.extend_from_slice(cell);
                        }
                        None => cells.push(cell.to_vec()),
                    }
                    count += 1;
                }
                if count != width {
                    note(&mut read.odd_lines, line);
                    return true;
                }
                read.records += 1;
                let is_measured = measure.wants(read.records);
                for (column, cell) in columns.iter_mut().zip(&cells) {
                    let hash = column.add(cell, &hasher, &mut unique_left);
                    if is_measured {
                        column.hashes.push(hash);
                    }
                }
                if is_measured
                    && measure.is_full(columns.first().map_or(0, |column| column.hashes.len()))
                {
                    measure.thin(&mut columns);
                }
            }
            ScannedRow::Malformed(line) => note(&mut read.malformed, line),
            ScannedRow::TooLong(line) => read.too_long = Some(line),
        }
        true
    };
    scan(&mut each)?;
    if is_cut {
        // The cut may have fallen into the last line.
        for lines in [&mut read.odd_lines, &mut read.malformed] {
            lines.1 = lines.1.saturating_sub(u64::from(lines.1 == 1));
        }
    }
    columns.iter_mut().for_each(Column::finish);
    read.columns = columns;
    Ok(read)
}

fn note((first, count): &mut (Vec<u64>, u64), line: u64) {
    *count += 1;
    if first.len() < 3 {
        first.push(line);
    }
}

/// Which records are measured: every one, or every second, fourth, ….
struct Measure {
    records_max: usize,
    step: u64,
}

impl Measure {
    fn new(width: usize, cells_max: usize) -> Self {
        Self {
            records_max: (cells_max / width.max(1)).max(1_000),
            step: 1,
        }
    }

    fn wants(&self, record: u64) -> bool {
        (record - 1).is_multiple_of(self.step)
    }

    fn is_full(&self, measured: usize) -> bool {
        measured > self.records_max
    }

    /// Lets every second record go.
    fn thin(&mut self, columns: &mut [Column]) {
        self.step *= 2;
        for column in columns {
            let mut at = 0;
            column.hashes.retain(|_| {
                at += 1;
                at % 2 == 1
            });
        }
    }
}
