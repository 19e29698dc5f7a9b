//! Which subject a published row came from. Private: kept for verification,
//! erasure and re-publication, and for two stewards who ask for one row
//! together; readable as a whole through no endpoint.
//!
//! Its text is CSV `table,row,subject` (row from 1), quoted as published
//! tables are. A table without rows leaves no line and is not read back.
//! [`LineageReader`] is the one reader of this text.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::io::Write;

use crate::microdata::{SubjectIndex, Table};

use super::csv::{End, Scanner, read_number, write_field};
use super::error::{WireError, WireFault};

/// Lineage of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableLineage {
    /// Name of the table.
    pub table: String,
    /// Subject of each row, in order of rows.
    pub subjects: Vec<SubjectIndex>,
}

/// Lineage of a release; tables without one subject a row (bucket tables) are
/// not in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lineage {
    /// One entry per table.
    pub tables: Vec<TableLineage>,
}

impl Lineage {
    /// Subjects of the rows of a table.
    pub fn of(&self, table: &str) -> Option<&[SubjectIndex]> {
        self.tables
            .iter()
            .find(|entry| entry.table == table)
            .map(|entry| entry.subjects.as_slice())
    }

    /// The lineage as CSV. `table` is the table that the release was made
    /// from; every subject of the lineage is one of its.
    pub fn to_csv(&self, table: &Table) -> Vec<u8> {
        let mut out = HEADER.as_bytes().to_vec();
        out.push(b'\n');
        for entry in &self.tables {
            let mut name = Vec::new();
            write_field(&mut name, &entry.table, false, false);
            for (row, subject) in entry.subjects.iter().enumerate() {
                out.extend_from_slice(&name);
                // Unwrap safety: a Vec takes any bytes.
                write!(out, ",{},", row + 1).unwrap();
                let key = table.subject_keys().get(subject.at());
                write_field(&mut out, key, false, false);
                out.push(b'\n');
            }
        }
        out
    }

    /// Reads what [`Lineage::to_csv`] wrote about the same `table`.
    ///
    /// # Errors
    /// `SubjectUnknown` for a subject that `table` does not have, `RowGap`
    /// where the rows of a table are not numbered one by one from 1, and
    /// whatever is not canonical CSV; each with its line, never the key.
    pub fn from_csv(bytes: &[u8], table: &Table) -> Result<Self, WireError> {
        let keys = table.subject_keys();
        let mut index_of = HashMap::with_capacity_and_hasher(keys.len(), Keyed::default());
        for (index, key) in keys.iter().enumerate() {
            index_of.insert(key, SubjectIndex::from_usize(index));
        }
        let mut reader = LineageReader::new(bytes)?;
        let mut lineage = Self::default();
        while let Some(line) = reader.next()? {
            let unknown = || WireError::at(WireFault::SubjectUnknown, line.number, "subject");
            let subject = *index_of.get(line.subject).ok_or_else(unknown)?;
            if line.row == 1 && lineage.of(line.table).is_none() {
                lineage.tables.push(TableLineage {
                    table: line.table.to_owned(),
                    subjects: Vec::new(),
                });
            }
            let gap = || WireError::at(WireFault::RowGap, line.number, "row");
            let last = lineage.tables.last_mut().ok_or_else(gap)?;
            if last.table != line.table || last.subjects.len() as u64 + 1 != line.row {
                return Err(gap());
            }
            last.subjects.push(subject);
        }
        Ok(lineage)
    }
}

/// A lineage's text without the rows of a subject; `None` where it has none.
/// Other rows keep their numbers: they are those of the published tables.
///
/// # Errors
/// Text that is no lineage.
pub fn without_subject(lineage: &[u8], subject: &str) -> Result<Option<Vec<u8>>, WireError> {
    let mut reader = LineageReader::new(lineage)?;
    let mut kept = Vec::with_capacity(lineage.len());
    kept.extend_from_slice(&lineage[..reader.position()]);
    loop {
        let begin = reader.position();
        let Some(line) = reader.next()? else { break };
        if line.subject != subject {
            kept.extend_from_slice(&lineage[begin..reader.position()]);
        }
    }
    Ok((kept.len() < lineage.len()).then_some(kept))
}

/// Who stands behind one row of a published table.
#[derive(Clone, PartialEq, Eq)]
pub enum BehindRow {
    /// The subject of this key.
    Subject(String),
    /// The table has rows of one subject each, and none behind this one: it has
    /// no such row, or the subject was taken out.
    Nobody,
    /// No row of the table is of one subject.
    NoLineage,
}

/// Looks for the subject of a row (from 1) of `table` in a lineage's text.
///
/// # Errors
/// Text that is no lineage.
pub fn subject_of_row(lineage: &[u8], table: &str, row: u64) -> Result<BehindRow, WireError> {
    let mut reader = LineageReader::new(lineage)?;
    let mut behind = BehindRow::NoLineage;
    while let Some(line) = reader.next()? {
        if line.table == table {
            if line.row == row {
                return Ok(BehindRow::Subject(line.subject.to_owned()));
            }
            behind = BehindRow::Nobody;
        }
    }
    Ok(behind)
}

const HEADER: &str = "table,row,subject";

/// SipHash with fixed keys: subjects' keys come from users.
type Keyed = BuildHasherDefault<DefaultHasher>;

/// One line of a lineage's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineageRow<'r> {
    /// Number of the line that it begins in, from 1.
    number: u64,
    /// Name of the published table.
    pub table: &'r str,
    /// Row of that table, from 1.
    pub row: u64,
    /// Key of the subject that it is about.
    pub subject: &'r str,
}

/// Reads a lineage's text line by line, without the table it was made from.
pub struct LineageReader<'a> {
    scanner: Scanner<'a>,
    table: Vec<u8>,
    scratch: Vec<u8>,
}

impl<'a> LineageReader<'a> {
    /// A reader of the lines behind the header.
    ///
    /// # Errors
    /// Another header.
    pub fn new(bytes: &'a [u8]) -> Result<Self, WireError> {
        let rest = bytes.strip_prefix(HEADER.as_bytes());
        let rest = rest.and_then(|rest| rest.strip_prefix(b"\n"));
        let rest = rest.ok_or(WireError::line(WireFault::ColumnsDiffer, 1))?;
        Ok(Self {
            scanner: Scanner::new(rest, 3),
            table: Vec::new(),
            scratch: Vec::new(),
        })
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    /// What is not canonical CSV, with its line.
    #[expect(
        clippy::should_implement_trait,
        reason = "a line borrows from the reader"
    )]
    pub fn next(&mut self) -> Result<Option<LineageRow<'_>>, WireError> {
        if self.scanner.is_done() {
            return Ok(None);
        }
        let number = self.scanner.line_feeds() + 2;
        let at = |fault, column| WireError::at(fault, number, column);
        let Self {
            scanner,
            table,
            scratch,
        } = self;
        let name = field(scanner, scratch, End::Comma).map_err(|fault| at(fault, "table"))?;
        if name != table.as_slice() {
            name.clone_into(table);
        }
        let row = field(scanner, scratch, End::Comma)
            .and_then(read_number)
            .map_err(|fault| at(fault, "row"))?;
        let subject = field(scanner, scratch, End::Line).map_err(|fault| at(fault, "subject"))?;
        let text =
            |bytes, column| std::str::from_utf8(bytes).map_err(|_| at(WireFault::NotUtf8, column));
        Ok(Some(LineageRow {
            number,
            table: text(table, "table")?,
            row,
            subject: text(subject, "subject")?,
        }))
    }

    /// Bytes read of the whole text.
    fn position(&self) -> usize {
        HEADER.len() + 1 + self.scanner.position()
    }
}

fn field<'s, 'a: 's>(
    scanner: &mut Scanner<'a>,
    scratch: &'s mut Vec<u8>,
    expected: End,
) -> Result<&'s [u8], WireFault> {
    match scanner.field(scratch)? {
        (field, end) if end == expected => Ok(field),
        _ => Err(WireFault::WrongCellCount),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn the_rows_of_one_subject_go_and_all_others_stay_as_they_are() {
        let text =
            b"table,row,subject\nst,1,\"a,b\"\nst,2,c\nst,3,subject\nqit,1,\"a,b\"\nqit,2,d\n";
        let rest = |subject: &str| without_subject(text, subject).unwrap();
        let kept = rest("a,b").unwrap();
        assert_eq!(
            String::from_utf8(kept).unwrap(),
            "table,row,subject\nst,2,c\nst,3,subject\nqit,2,d\n"
        );
        let kept = String::from_utf8(rest("subject").unwrap()).unwrap();
        assert!(kept.starts_with("table,row,subject\n") && !kept.contains("st,3"));
        assert_eq!(rest("a"), None);
        assert!(without_subject(b"table,row,subject\nst,1\n", "a").is_err());
    }

    #[test]
    fn the_subject_of_a_row_is_found_by_table_and_number() {
        let text = b"table,row,subject\nst,1,\"a,b\"\nst,3,c\nqit,1,d\n";
        let behind = |table, row| subject_of_row(text, table, row).ok();
        let subject = |key: &str| Some(BehindRow::Subject(key.to_owned()));
        assert!(behind("st", 1) == subject("a,b") && behind("st", 3) == subject("c"));
        assert!(behind("qit", 1) == subject("d"));
        assert!(behind("st", 2) == Some(BehindRow::Nobody), "taken out");
        assert!(behind("qit", 2) == Some(BehindRow::Nobody), "past the end");
        assert!(behind("s", 1) == Some(BehindRow::NoLineage));
        assert!(subject_of_row(b"table,row\n", "st", 1).is_err());
    }

    use crate::microdata::{Schema, TableColumn, TextColumn};

    /// A table of nothing but subjects.
    fn table(keys: &[&str]) -> Table {
        let schema: Schema = serde_json::from_value(serde_json::json!({
            "name": "people",
            "subject_key": "id",
            "attributes": [{"name": "id", "role": "identifier"}],
        }))
        .unwrap();
        let keys = keys.iter().copied().collect();
        let columns = vec![TableColumn::Identifier(TextColumn::new())];
        Table::new(Arc::new(schema), columns, keys, Vec::new())
    }

    fn lineage(tables: &[(&str, &[u32])]) -> Lineage {
        let entry = |&(name, subjects): &(&str, &[u32])| TableLineage {
            table: name.into(),
            subjects: subjects.iter().map(|&index| SubjectIndex(index)).collect(),
        };
        Lineage {
            tables: tables.iter().map(entry).collect(),
        }
    }

    #[test]
    fn lineage_reads_back_as_written() {
        let table = table(&["p1", "p,\"2\"", "p\n3"]);
        let lineage = lineage(&[("microdata", &[2, 0, 1]), ("a,b", &[1, 1])]);
        let text = lineage.to_csv(&table);
        assert!(text.starts_with(b"table,row,subject\nmicrodata,1,\"p\n3\"\nmicrodata,2,p1\n"));
        assert_eq!(Lineage::from_csv(&text, &table), Ok(lineage));
        let none = Lineage::default();
        assert_eq!(Lineage::from_csv(&none.to_csv(&table), &table), Ok(none));
    }

    #[test]
    fn what_is_wrong_with_a_lineage_is_said_with_its_line() {
        let table = table(&["p1", "p2"]);
        let cases = [
            ("m,1,p1\nm,2,p9\n", 3, WireFault::SubjectUnknown),
            ("m,1,p1\nm,3,p2\n", 3, WireFault::RowGap),
            ("m,2,p1\n", 2, WireFault::RowGap),
            ("m,1,p1\nm,1,p2\n", 3, WireFault::RowGap),
            ("m,1,p1\nn,1,p1\nm,2,p2\n", 4, WireFault::RowGap),
            ("m,1,p1\nn,2,p1\n", 3, WireFault::RowGap),
            ("m,x,p1\n", 2, WireFault::NotANumber),
            ("m,1\n", 2, WireFault::WrongCellCount),
            ("m,1,p1,\n", 2, WireFault::WrongCellCount),
            ("m,1,p1", 2, WireFault::Malformed),
        ];
        for (lines, line, fault) in cases {
            let text = format!("{HEADER}\n{lines}");
            let error = Lineage::from_csv(text.as_bytes(), &table).unwrap_err();
            assert_eq!((error.line, error.fault), (Some(line), fault), "{lines:?}");
        }
        let error = Lineage::from_csv(b"table,row\n", &table).unwrap_err();
        assert_eq!(error.fault, WireFault::ColumnsDiffer);
    }
}
