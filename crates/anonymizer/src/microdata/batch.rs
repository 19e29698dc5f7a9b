//! Records between their format and the columns that check them.
//!
//! A batch holds the trimmed cells of some records in the form that the
//! content digest reads, and where each cell stands, so that columns look at
//! their cells side by side while the next batch is filled.

use std::borrow::Cow;

use super::cell::trimmed;
use super::dialect::cell_rules::CellRules;
use super::digest;
use super::error::{CellErrorCode, TableError};
use super::index::AttributeIndex;
use super::limits::Target;
use super::row::{Fault, LinePosition, Row, Rows};
use super::schema::{MissingPolicy, Schema};

/// Records in a batch; chunks end with a batch, so it divides their number.
const BATCH_RECORDS_MAX: usize = 4096;
/// Bytes after which a batch is full, however few its records.
const BATCH_BYTES_MAX: usize = 256 << 10;

/// Some records, and what is wrong with rows that are none.
pub(super) struct Batch {
    /// The records as the digest reads them.
    text: Vec<u8>,
    /// For each column, where in `text` the cell of each record stands: its
    /// first byte and its length.
    cells: Vec<Vec<(u32, u32)>>,
    /// Line of each record.
    lines: Vec<u64>,
    /// For each table that records are joined from, the line of each record there.
    lines_in: Vec<Vec<u64>>,
    faults: Vec<Fault>,
    dropped: u64,
    /// For each column, the records left out that have no value there.
    gaps: Vec<u64>,
    /// Subject keys of the records left out, one behind the other, and where
    /// each ends.
    left_out: (Vec<u8>, Vec<usize>),
    /// Room for a cell that becomes canonical.
    room: Vec<u8>,
}

impl Batch {
    /// No record of so many columns.
    pub fn new(columns: usize) -> Self {
        Self {
            text: Vec::with_capacity(BATCH_BYTES_MAX * 2),
            cells: vec![Vec::with_capacity(BATCH_RECORDS_MAX); columns],
            lines: Vec::with_capacity(BATCH_RECORDS_MAX),
            lines_in: Vec::new(),
            faults: Vec::new(),
            dropped: 0,
            gaps: vec![0; columns],
            left_out: Default::default(),
            room: Vec::new(),
        }
    }

    /// Line of each record.
    pub fn lines(&self) -> &[u64] {
        &self.lines
    }

    /// The line of a record in a table that it is joined from; its own line where
    /// that table has none of it, or there are no tables.
    pub fn line_of(&self, record: usize, table: Option<usize>) -> u64 {
        let lines = table.and_then(|table| self.lines_in.get(table));
        let line = lines.map_or(0, |lines| lines[record]);
        if line == 0 { self.lines[record] } else { line }
    }

    /// Rows that are no records, in order of lines.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Records that the missing-value policy left out.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// For each column, the records left out that have no value there.
    pub fn gaps(&self) -> &[u64] {
        &self.gaps
    }

    /// The normalized subject keys of the records left out.
    pub fn left_out(&self) -> impl Iterator<Item = &[u8]> {
        let (keys, ends) = &self.left_out;
        let starts = std::iter::once(&0).chain(ends);
        starts.zip(ends).map(|(&start, &end)| &keys[start..end])
    }

    /// All records as the digest reads them.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The trimmed cells of a column, one a record; subject keys are normalized.
    pub fn column(&self, column: usize) -> impl Iterator<Item = &[u8]> {
        self.cells[column]
            .iter()
            .map(|&(start, length)| &self.text[start as usize..][..length as usize])
    }

    fn is_full(&self) -> bool {
        let (keys, ends) = &self.left_out;
        self.lines.len() == BATCH_RECORDS_MAX
            || self.text.len() >= BATCH_BYTES_MAX
            || ends.len() == BATCH_RECORDS_MAX
            || keys.len() >= BATCH_BYTES_MAX
    }

    fn clear(&mut self) {
        self.text.clear();
        self.cells.iter_mut().for_each(Vec::clear);
        self.lines.clear();
        self.lines_in.iter_mut().for_each(Vec::clear);
        self.faults.clear();
        self.dropped = 0;
        self.gaps.fill(0);
        self.left_out.0.clear();
        self.left_out.1.clear();
    }

    /// Adds the row at hand, whose attributes stand in `columns`; a record that
    /// lacks a value that is needed is only counted, and its subject noted.
    /// Whether it was added.
    fn push(
        &mut self,
        line: u64,
        rows: &impl Rows,
        (columns, rules): (&[usize], &CellRules),
        needs: &Needs<'_>,
    ) -> bool {
        let before = self.text.len();
        let room = &mut self.room;
        let read = |at: usize| {
            let column = columns[at];
            (trimmed(rows.cell(column)), rows.is_written(column))
        };
        // An identifier becomes no other text, and needs no room.
        let (mut no_room, number);
        let key = match needs.number {
            Some(of_record) => {
                number = of_record.to_string();
                Cow::Borrowed(number.as_bytes())
            }
            None => {
                let (cell, is_written) = read(needs.key);
                no_room = Vec::new();
                let key = rules.canonical(needs.key, cell, (is_written, &mut no_room));
                needs.schema.normalized_key_cell(key)
            }
        };
        digest::write_record(&mut self.text);
        for at in 0..columns.len() {
            let cell = if at == needs.key {
                &key[..]
            } else {
                let (cell, is_written) = read(at);
                rules.canonical(at, cell, (is_written, room))
            };
            if cell.is_empty() && needs.values[at] {
                self.text.truncate(before);
                self.cells[..at].iter_mut().for_each(|cells| {
                    cells.pop();
                });
                self.dropped += 1;
                for at in 0..columns.len() {
                    let is_gap = if at == needs.key {
                        key.is_empty()
                    } else {
                        let (cell, is_written) = read(at);
                        rules.canonical(at, cell, (is_written, room)).is_empty()
                    };
                    self.gaps[at] += u64::from(is_gap);
                }
                let (keys, ends) = &mut self.left_out;
                keys.extend_from_slice(&key);
                ends.push(keys.len());
                return false;
            }
            digest::write_cell(&mut self.text, cell);
            let start = self.text.len() - cell.len();
            self.cells[at].push((start as u32, cell.len() as u32));
        }
        self.lines.push(line);
        self.lines_in.resize_with(rows.tables(), Vec::new);
        for (table, lines) in self.lines_in.iter_mut().enumerate() {
            lines.push(rows.line_in(table));
        }
        true
    }
}

/// What a record must have.
struct Needs<'t> {
    /// Says what is done with subject keys.
    schema: &'t Schema,
    /// Place of the subject key among the attributes.
    key: usize,
    /// Number of the record at hand, where that is its key.
    number: Option<u64>,
    /// For each attribute, whether a record without its value is left out.
    values: Vec<bool>,
}

/// Fills batches with the rows of a format.
pub(super) struct Filler<'r, R> {
    rows: &'r mut R,
    /// Where each attribute stands; of one without a column anywhere.
    columns: &'r [usize],
    rules: CellRules,
    /// Cells of every row.
    width: usize,
    needs: Needs<'r>,
    records_left: u64,
}

impl<'r, R: Rows> Filler<'r, R> {
    /// Begins with the next row; all have `width` cells.
    pub fn new(
        rows: &'r mut R,
        (columns, width): (&'r [usize], usize),
        target: &Target<'r>,
    ) -> Self {
        let schema = target.schema;
        let drops = schema.missing() == MissingPolicy::Drop;
        let all = schema.select(|_| true).into_iter();
        Self {
            rows,
            columns,
            rules: CellRules::of(schema),
            width,
            needs: Needs {
                schema,
                key: schema.subject_key().at(),
                number: schema.has_row_keys().then_some(0),
                values: all
                    .map(|index| drops && !schema.may_be_empty(index))
                    .collect(),
            },
            records_left: target.limits.records_max,
        }
    }

    /// The fault with the attribute whose cell it stands in.
    fn placed(&self, mut fault: Fault) -> Fault {
        if let Some(LinePosition::Cell(cell)) = fault.place {
            let at = self.columns.iter().position(|&column| column + 1 == cell);
            fault.attribute = at.map(AttributeIndex::from_usize);
        }
        fault
    }

    /// Fills a batch anew; whether another one may follow.
    pub fn fill(&mut self, batch: &mut Batch) -> Result<bool, TableError> {
        batch.clear();
        while !batch.is_full() {
            let fault = match self.rows.next_row()? {
                Row::Cells(line) if self.rows.width() != self.width => {
                    Fault::cell_count(line, self.rows.width(), self.width)
                }
                Row::Cells(line) if self.records_left == 0 => {
                    let code = CellErrorCode::TooManyRecords;
                    batch.faults.push(Fault::of_line(line, code));
                    return Ok(false);
                }
                Row::Cells(line) => {
                    // A record that is left out has its number all the same.
                    self.needs.number = self.needs.number.map(|number| number + 1);
                    let read = (self.columns, &self.rules);
                    if batch.push(line, self.rows, read, &self.needs) {
                        self.records_left -= 1;
                    }
                    continue;
                }
                Row::Fault(fault) => self.placed(fault),
                Row::Stop(fault) => {
                    batch.faults.push(fault);
                    return Ok(false);
                }
                Row::End => return Ok(false),
            };
            batch.faults.push(fault);
            if batch.faults.len() == BATCH_RECORDS_MAX {
                break;
            }
        }
        Ok(true)
    }
}
