//! Records of one schema, and what holds of all that is accepted.
//!
//! The limits are small, so that inputs of some hundred bytes reach them.

use std::io::Read;
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use vizard_anonymizer::microdata::value_text::{MISSING_LABEL, date_text};
use vizard_anonymizer::microdata::{
    Chunk, ChunkColumn, Doubt, HierarchyFormat, HierarchySet, HierarchySource, DoubtfulValues,
    ReadLimits, ReadSummary, RecordFormat, Schema, Sink, SubjectKeys, TableBuilder, TableError,
    Target, read_parquet_records, read_records,
};

/// The schema that records and preferences are read for.
pub const SCHEMA: &str = r#"{"name": "t", "subject_key": "id", "missing": "category", "attributes": [
    {"name": "id", "role": "identifier"},
    {"name": "n", "role": "semi_sensitive", "type": "integer"},
    {"name": "r", "role": "quasi_identifier", "type": "decimal"},
    {"name": "d", "role": "semi_sensitive", "type": "date"},
    {"name": "c", "role": "quasi_identifier", "type": "categorical"},
    {"name": "h", "role": "sensitive", "type": "categorical", "hierarchy": "h"}]}"#;

const LIMITS: ReadLimits = ReadLimits {
    records_max: 200,
    cell_bytes_max: 100,
    record_bytes_max: 8192,
    distinct_values_max: 20,
    json_depth_max: 8,
    growth_ratio_max: 100,
};

/// What records and preferences are read for.
pub fn target() -> Target<'static> {
    static GROUND: OnceLock<(Schema, HierarchySet)> = OnceLock::new();
    let (schema, hierarchies) = GROUND.get_or_init(|| {
        let tree = HierarchySource::read(b"a;x;*\nb;x;*\nc;*\n", HierarchyFormat::Csv);
        let hierarchies = HierarchySet::from([("h".into(), tree.expect("a tree"))]);
        (serde_json::from_str(SCHEMA).expect("a schema"), hierarchies)
    });
    Target {
        schema,
        hierarchies,
        limits: LIMITS,
    }
}

/// All that was read.
#[derive(Debug, PartialEq)]
pub struct Records {
    pub chunks: Vec<Chunk>,
    pub summary: ReadSummary,
}

impl Records {
    /// Reads records as text.
    pub fn of_text(input: impl Read, format: RecordFormat) -> Result<Self, TableError> {
        Self::collect(|target, subjects, sink| read_records(input, format, target, subjects, sink))
    }

    /// Reads records as Parquet.
    pub fn of_parquet(file: &[u8]) -> Result<Self, TableError> {
        let file = std::io::Cursor::new(file.to_vec());
        let mut room = Vec::new();
        Self::collect(|target, subjects, sink| {
            read_parquet_records(file, target, &mut room, subjects, sink)
        })
    }

    fn collect(
        read: impl FnOnce(&Target, &mut SubjectKeys, &mut Sink) -> Result<ReadSummary, TableError>,
    ) -> Result<Self, TableError> {
        let (mut chunks, mut keys) = (Vec::new(), Vec::new());
        let mut subjects = SubjectKeys::new([7; 16], &mut keys);
        let summary = read(&target(), &mut subjects, &mut |chunk| {
            chunks.push(chunk);
            Ok(())
        })?;
        Ok(Self { chunks, summary })
    }

    /// What holds of all that is accepted, however it came: it is within the
    /// limits, it is a table, and written as CSV or as NDJSON it is read as the
    /// same chunks with the same digest.
    pub fn check(&self) {
        assert!(self.summary.records <= LIMITS.records_max);
        for cell in self.chunks.iter().flat_map(cells) {
            let text = cell.text();
            assert!(!text.is_empty() && text.len() <= LIMITS.cell_bytes_max);
        }
        let schema = Arc::new(target().schema.clone());
        let mut builder = TableBuilder::new(schema, target().hierarchies).expect("they fit");
        for chunk in self.chunks.clone() {
            builder.push(chunk).expect("what was accepted fits");
        }
        let table = builder.finish().expect("what was accepted is a table");
        assert_eq!(table.records() as u64, self.summary.records);
        for (format, text) in [
            (RecordFormat::Csv, self.csv()),
            (RecordFormat::Ndjson, self.ndjson()),
        ] {
            let again = Self::of_text(text.as_bytes(), format);
            assert_eq!(again, Ok(self.rewritten()), "as {format:?}");
        }
    }

    /// The same records after their cells were written again: a number is
    /// written without leading zeros, so that nothing is asked about them.
    fn rewritten(&self) -> Self {
        let mut summary = self.summary.clone();
        let zeros = |question: &DoubtfulValues| question.doubt == Doubt::LeadingZeros;
        summary.questions.retain(|question| !zeros(question));
        Self {
            chunks: self.chunks.clone(),
            summary,
        }
    }

    fn csv(&self) -> String {
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let names = target().schema.attributes().iter();
        let names = names.map(|attribute| quoted(&attribute.name)).collect();
        let lines = self.chunks.iter().flat_map(|chunk| {
            let line = |row| {
                let cells = chunk.columns.iter();
                let cells = cells.map(|column| quoted(&Cell { column, row }.text()));
                cells.collect::<Vec<_>>()
            };
            (0..chunk.records).map(line)
        });
        let lines = std::iter::once(names).chain(lines);
        lines
            .map(|line: Vec<String>| line.join(",") + "\n")
            .collect()
    }

    fn ndjson(&self) -> String {
        let names = target().schema.attributes().iter();
        let names: Vec<&str> = names.map(|attribute| attribute.name.as_str()).collect();
        let lines = self.chunks.iter().flat_map(|chunk| {
            let line = |row| {
                let cells = names.iter().zip(&chunk.columns);
                let cells = cells.map(|(name, column)| {
                    let text = Cell { column, row }.text();
                    match column {
                        // Their texts are JSON numbers too.
                        ChunkColumn::Integer(_) | ChunkColumn::Decimal(_) => {
                            format!("\"{name}\":{text}")
                        }
                        _ => format!("\"{name}\":{}", Value::from(text)),
                    }
                });
                format!("{{{}}}\n", cells.collect::<Vec<_>>().join(","))
            };
            (0..chunk.records).map(line).collect::<Vec<_>>()
        });
        lines.collect()
    }
}

/// One cell of a chunk.
struct Cell<'c> {
    column: &'c ChunkColumn,
    row: usize,
}

impl Cell<'_> {
    fn text(&self) -> String {
        match self.column {
            ChunkColumn::Text(texts) => texts.get(self.row).into(),
            ChunkColumn::Integer(values) => values[self.row].to_string(),
            // With an exponent where it is long: 1e300 has 301 digits without.
            ChunkColumn::Decimal(values) => format!("{:?}", values[self.row]),
            ChunkColumn::Date(values) => date_text(values[self.row]),
            ChunkColumn::Category { labels, codes } => labels.get(codes[self.row] as usize).into(),
            ChunkColumn::WithMissing { known, missing } => {
                let before = missing.partition_point(|&record| (record as usize) < self.row);
                match missing.get(before) == Some(&(self.row as u32)) {
                    true => MISSING_LABEL.into(),
                    false => Cell {
                        column: known,
                        row: self.row - before,
                    }
                    .text(),
                }
            }
        }
    }
}

fn cells(chunk: &Chunk) -> impl Iterator<Item = Cell<'_>> {
    let rows = move |column| (0..chunk.records).map(move |row| Cell { column, row });
    chunk.columns.iter().flat_map(rows)
}

/// A text that comes a few bytes at a time: where it is cut must not matter.
pub struct Trickle<'a> {
    rest: &'a [u8],
    reads: usize,
}

impl<'a> Trickle<'a> {
    pub fn new(rest: &'a [u8]) -> Self {
        Self { rest, reads: 0 }
    }
}

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = [1, 7, 2, 13, 64][self.reads % 5].min(buffer.len());
        let count = count.min(self.rest.len());
        let (now, rest) = self.rest.split_at(count);
        buffer[..count].copy_from_slice(now);
        (self.rest, self.reads) = (rest, self.reads + 1);
        Ok(count)
    }
}
