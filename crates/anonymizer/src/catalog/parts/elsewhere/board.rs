//! The board: a table as columns of numbers.
//!
//! Each row is a record, under its number in the table. Some records stand for their
//! subject, and are counted; sets are cut by what stands for them. With one record a
//! subject that is every record, by its own codes.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::engine::kernel::Included;
use crate::engine::kernel::companions::in_order;
use crate::microdata::{AttributeIndex, CodedColumn, Multiplicity, RecordIndex, Table};
use crate::privacy::{Model, Requirements, Seed};

use super::super::gathered::Gathered;

/// A column of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum BoardColumn {
    /// Number of the record.
    Record,
    /// Number of its subject.
    Subject,
    /// 1 for the record that stands for its subject, else 0.
    Counted,
    /// Position of what its subject asks for.
    Terms,
    /// The same for what is asked of sides of cuts, with what companions are lent.
    Lent,
    /// 1 and the position of the terms that the record is a companion for; 0 for none.
    Companion,
    /// Rank by the subject's place on the dataset's ring.
    Ring,
    /// Code by which the record is cut in the quasi-identifier at this position.
    Cut(u16),
    /// Code of the attribute at this position of the schema.
    Code(u16),
}

impl fmt::Display for BoardColumn {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record => to.write_str("record"),
            Self::Subject => to.write_str("subject"),
            Self::Counted => to.write_str("counted"),
            Self::Terms => to.write_str("terms"),
            Self::Lent => to.write_str("lent"),
            Self::Companion => to.write_str("companion"),
            Self::Ring => to.write_str("ring"),
            Self::Cut(at) => write!(to, "q{at}"),
            Self::Code(at) => write!(to, "c{at}"),
        }
    }
}

/// The name is of no column of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no column of a board")]
pub struct NoBoardColumn;

impl FromStr for BoardColumn {
    type Err = NoBoardColumn;

    fn from_str(name: &str) -> Result<Self, NoBoardColumn> {
        let plain = [
            Self::Record,
            Self::Subject,
            Self::Counted,
            Self::Terms,
            Self::Lent,
            Self::Companion,
            Self::Ring,
        ];
        if let Some(column) = plain.into_iter().find(|column| column.to_string() == name) {
            return Ok(column);
        }
        let at = |digits: &str| digits.parse().map_err(|_| NoBoardColumn);
        match name.split_at_checked(1) {
            Some(("q", digits)) => at(digits).map(Self::Cut),
            Some(("c", digits)) => at(digits).map(Self::Code),
            _ => Err(NoBoardColumn),
        }
    }
}

/// Rows of a board, column by column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoardRows(pub Vec<(BoardColumn, Vec<u32>)>);

impl BoardRows {
    /// The numbers of a column; nothing where there is none.
    pub fn column(&self, column: BoardColumn) -> &[u32] {
        let found = self.0.iter().find(|(of, _)| *of == column);
        found.map_or(&[], |(_, numbers)| numbers.as_slice())
    }
}

/// A table as numbers.
pub struct Board<'a> {
    table: &'a Table,
    requirements: &'a Requirements,
    lent: &'a Requirements,
    quasi: &'a [&'a CodedColumn],
    /// Positions in the schema of [`Self::quasi`].
    quasi_at: Vec<AttributeIndex>,
    /// Positions in the schema of the attributes whose values are asked about.
    asked: Vec<AttributeIndex>,
    /// The records of the board, ascending.
    records: Vec<u32>,
    /// The record that stands for each subject, where subjects have many.
    counted: Option<Vec<u32>>,
    /// By record of the table; nothing where nobody is a companion.
    companion: Vec<u32>,
    /// By record of the table; nothing where no engine asks for it.
    ring: Vec<u32>,
}

impl<'a> Board<'a> {
    pub(in crate::catalog::parts) fn of(
        gathered: &'a Gathered<'a>,
        lent: &'a Requirements,
        quasi: (&'a [&'a CodedColumn], Vec<AttributeIndex>),
        (asked, secret): (Vec<AttributeIndex>, &Seed),
    ) -> Self {
        let (table, requirements) = (gathered.table, &gathered.requirements);
        let counted = match table.schema().multiplicity() {
            Multiplicity::One => None,
            Multiplicity::Many => {
                let mut of_subject = vec![0; table.subjects()];
                for &unit in &gathered.units {
                    of_subject[table.subject_of(RecordIndex(unit)).at()] = unit;
                }
                Some(of_subject)
            }
        };
        let mut companion = Vec::new();
        if let Some(companions) = requirements.companions() {
            companion.resize(table.records(), 0);
            for &(record, terms) in companions {
                companion[record.at()] = terms + 1;
            }
        }
        Self {
            table,
            requirements,
            lent,
            quasi: quasi.0,
            quasi_at: quasi.1,
            asked,
            records: gathered.records(&gathered.units),
            counted,
            companion,
            ring: ring(gathered, secret),
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.records.len()
    }

    /// The columns that there are.
    pub fn columns(&self) -> Vec<BoardColumn> {
        let mut columns = vec![BoardColumn::Record, BoardColumn::Terms, BoardColumn::Lent];
        if self.counted.is_some() {
            columns.extend([BoardColumn::Subject, BoardColumn::Counted]);
            columns.extend((0..self.quasi.len() as u16).map(BoardColumn::Cut));
        }
        if !self.companion.is_empty() {
            columns.push(BoardColumn::Companion);
        }
        if !self.ring.is_empty() {
            columns.push(BoardColumn::Ring);
        }
        let attributes = (0..self.table.columns().len() as u16).map(AttributeIndex);
        let coded = attributes.filter(|&at| self.table.coded(at).is_some());
        columns.extend(coded.map(|at| BoardColumn::Code(at.0)));
        columns
    }

    /// The column by which sets are cut in the quasi-identifier at a position.
    pub fn cut_by(&self, quasi: usize) -> BoardColumn {
        match self.counted {
            Some(_) => BoardColumn::Cut(quasi as u16),
            None => BoardColumn::Code(self.quasi_at[quasi].0),
        }
    }

    /// Number of quasi-identifiers.
    pub fn quasi_identifiers(&self) -> usize {
        self.quasi.len()
    }

    /// The columns whose values are asked about on sides of cuts.
    pub fn asked(&self) -> impl Iterator<Item = BoardColumn> + '_ {
        self.asked.iter().map(|at| BoardColumn::Code(at.0))
    }

    /// Whether only rows with a 1 in [`BoardColumn::Counted`] are counted.
    pub fn counts_some(&self) -> bool {
        self.counted.is_some()
    }

    /// These rows.
    pub fn some_rows(&self, rows: Range<usize>) -> BoardRows {
        let records = &self.records[rows];
        let columns = self.columns().into_iter();
        BoardRows(
            columns
                .map(|column| (column, self.numbers(column, records)))
                .collect(),
        )
    }

    fn numbers(&self, column: BoardColumn, records: &[u32]) -> Vec<u32> {
        let subject = |record: u32| self.table.subject_of(RecordIndex(record));
        let unit = |record: u32| match &self.counted {
            Some(of_subject) => of_subject[subject(record).at()],
            None => record,
        };
        let of =
            |number: &dyn Fn(u32) -> u32| records.iter().map(|&record| number(record)).collect();
        let code = |column: &CodedColumn, record: u32| column.codes.at(record as usize);
        match column {
            BoardColumn::Record => records.to_vec(),
            BoardColumn::Subject => of(&|record| subject(record).0),
            BoardColumn::Counted => of(&|record| u32::from(unit(record) == record)),
            BoardColumn::Terms => {
                of(&|record| self.requirements.terms_of_record().at(record as usize))
            }
            BoardColumn::Lent => of(&|record| self.lent.terms_of_record().at(record as usize)),
            BoardColumn::Companion => of(&|record| self.companion[record as usize]),
            BoardColumn::Ring => of(&|record| self.ring[record as usize]),
            BoardColumn::Cut(at) => {
                let column = self.quasi[usize::from(at)];
                of(&|record| code(column, unit(record)))
            }
            BoardColumn::Code(at) => match self.table.coded(AttributeIndex(at)) {
                Some(column) => of(&|record| code(column, record)),
                None => Vec::new(),
            },
        }
    }
}

/// The rank of each record by its place on the dataset's ring, which keys of subjects
/// decide; only where values are published beside groups an engine asks for it.
fn ring(gathered: &Gathered<'_>, secret: &Seed) -> Vec<u32> {
    let table = gathered.table;
    let is_asked = matches!(
        gathered.requirements.policy().model,
        Model::Generalized { .. }
    );
    let included = Included::gather(table, &gathered.requirements);
    let Some(included) = included.ok().filter(|_| is_asked) else {
        return Vec::new();
    };
    let mut ring = vec![0; table.records()];
    let places = in_order(&included, gathered.units.clone(), secret);
    for (rank, (_, record)) in (0..).zip(places) {
        ring[record as usize] = rank;
    }
    ring
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_known_by_their_names() {
        for column in [
            BoardColumn::Record,
            BoardColumn::Subject,
            BoardColumn::Counted,
            BoardColumn::Terms,
            BoardColumn::Lent,
            BoardColumn::Companion,
            BoardColumn::Ring,
            BoardColumn::Cut(0),
            BoardColumn::Code(65_535),
        ] {
            assert_eq!(column.to_string().parse(), Ok(column));
        }
        for name in ["", "c", "q-1", "c65536", "records", "x1"] {
            assert_eq!(name.parse::<BoardColumn>(), Err(NoBoardColumn), "{name}");
        }
    }
}
