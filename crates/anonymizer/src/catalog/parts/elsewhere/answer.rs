//! What a part gave, in numbers.

use serde::{Deserialize, Serialize};

use crate::engine::error::EngineError;
use crate::microdata::{AttributeType, Codes, SubjectIndex, Table};
use crate::release::{
    Cell, Cells, Content, Item, Lineage, PublishedColumn, PublishedTable, Release, TableLineage,
};

use super::words::{Texts, Words};

/// What a part gave; subjects are those of the whole table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PartAnswer {
    /// A release.
    Made(PartRelease),
    /// There is none with these parameters.
    Infeasible,
    /// Another refusal, which only the one who knows the texts can put in words.
    Refused,
}

/// The release of a part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartRelease {
    tables: Vec<TableAnswer>,
    lineage: Vec<(String, Vec<u32>)>,
    excluded: u64,
    unsatisfiable: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct TableAnswer {
    name: String,
    columns: Vec<ColumnAnswer>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ColumnAnswer {
    /// Rank of the attribute's name that the column's begins with, and the rest.
    name: (Option<u32>, String),
    content: Content,
    kind: Option<AttributeType>,
    cells: CellsAnswer,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum CellsAnswer {
    Numbers(Vec<u64>),
    Dictionary(Vec<u32>, Vec<CellAnswer>),
}

/// A cell: numbers by their bits, labels by their ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum CellAnswer {
    Empty,
    Masked,
    Integer(i64, i64),
    Decimal(u64, u64),
    Date(i32, i32),
    Label(u32),
    Set(Vec<u32>),
    Items(Vec<ItemAnswer>),
    OrMissing(Box<CellAnswer>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum ItemAnswer {
    Node(NodeAnswer),
    Union(Vec<NodeAnswer>),
}

/// A node by the rank of its label; one that is a number or a day is written as such.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum NodeAnswer {
    Label(u32),
    Number(String),
}

impl NodeAnswer {
    fn of(label: &str, words: Words) -> Result<Self, EngineError> {
        let is_number = |label: &str| {
            let mut bytes = label.bytes();
            bytes.all(|byte| byte.is_ascii_digit() || b"-+.e".contains(&byte))
        };
        match words.rank(label) {
            Some(rank) => Ok(Self::Label(rank)),
            None if is_number(label) => Ok(Self::Number(label.into())),
            None => Err(unfit()),
        }
    }

    fn read(self, texts: &Texts) -> Result<String, EngineError> {
        match self {
            Self::Label(rank) => texts.text(rank).cloned().ok_or_else(unfit),
            Self::Number(text) => Ok(text),
        }
    }
}

/// A text is no word, or a rank no text's.
fn unfit() -> EngineError {
    EngineError::Elsewhere("an answer is not about the table".into())
}

impl PartAnswer {
    /// Puts a release of a part in numbers.
    pub(super) fn of(release: &Release, part: &Table, words: Words) -> Result<Self, EngineError> {
        let subject = |&subject: &SubjectIndex| part.subject_in_whole(subject).0;
        let tables = release.tables.iter().map(|table| {
            let columns = table.columns.iter();
            let columns = columns.map(|column| ColumnAnswer::of(column, words));
            Ok(TableAnswer {
                name: table.name.clone(),
                columns: columns.collect::<Result<_, EngineError>>()?,
            })
        });
        let lineage = release.lineage.tables.iter();
        let lineage = lineage.map(|entry| {
            let subjects = entry.subjects.iter().map(subject).collect();
            (entry.table.clone(), subjects)
        });
        Ok(Self::Made(PartRelease {
            tables: tables.collect::<Result<_, EngineError>>()?,
            lineage: lineage.collect(),
            excluded: release.excluded,
            unsatisfiable: release.unsatisfiable.iter().map(subject).collect(),
        }))
    }
}

impl PartRelease {
    /// The release, with texts in the place of words.
    pub(super) fn read(self, texts: &Texts) -> Result<Release, EngineError> {
        let tables = self.tables.into_iter().map(|table| {
            let columns = table.columns.into_iter();
            let columns = columns.map(|column| column.read(texts));
            Ok(PublishedTable {
                name: table.name,
                columns: columns.collect::<Result<_, EngineError>>()?,
            })
        });
        let subjects = |of: Vec<u32>| of.into_iter().map(SubjectIndex).collect();
        let lineage = self.lineage.into_iter();
        let lineage = lineage.map(|(table, of)| TableLineage {
            table,
            subjects: subjects(of),
        });
        Ok(Release {
            tables: tables.collect::<Result<_, EngineError>>()?,
            lineage: Lineage {
                tables: lineage.collect(),
            },
            excluded: self.excluded,
            unsatisfiable: subjects(self.unsatisfiable),
            kept: None,
            parts: None,
        })
    }
}

impl ColumnAnswer {
    fn of(column: &PublishedColumn, words: Words) -> Result<Self, EngineError> {
        let (rank, rest) = words.split(&column.name);
        Ok(Self {
            name: (rank, rest.into()),
            content: column.content,
            kind: column.kind,
            cells: match &column.cells {
                Cells::Numbers(numbers) => CellsAnswer::Numbers(numbers.clone()),
                Cells::Dictionary { codes, cells } => {
                    let cells = cells.iter().map(|cell| CellAnswer::of(cell, words));
                    let cells = cells.collect::<Result<_, EngineError>>()?;
                    CellsAnswer::Dictionary(codes.iter().collect(), cells)
                }
            },
        })
    }

    fn read(self, texts: &Texts) -> Result<PublishedColumn, EngineError> {
        let (rank, mut name) = self.name;
        if let Some(rank) = rank {
            name.insert_str(0, texts.text(rank).ok_or_else(unfit)?);
        }
        Ok(PublishedColumn {
            name,
            content: self.content,
            kind: self.kind,
            cells: match self.cells {
                CellsAnswer::Numbers(numbers) => Cells::Numbers(numbers),
                CellsAnswer::Dictionary(codes, cells) => {
                    let all = cells.len();
                    if codes.iter().any(|&code| code as usize >= all) {
                        return Err(unfit());
                    }
                    let cells = cells.into_iter().map(|cell| cell.read(texts));
                    Cells::Dictionary {
                        codes: Codes::below(all, codes.into_iter()),
                        cells: cells.collect::<Result<_, EngineError>>()?,
                    }
                }
            },
        })
    }
}

fn ranks(labels: &[String], words: Words) -> Result<Vec<u32>, EngineError> {
    let ranks = labels.iter().map(|label| words.rank(label));
    ranks.collect::<Option<_>>().ok_or_else(unfit)
}

fn labels(ranks: &[u32], texts: &Texts) -> Result<Vec<String>, EngineError> {
    let labels = ranks.iter().map(|&rank| texts.text(rank).cloned());
    labels.collect::<Option<_>>().ok_or_else(unfit)
}

impl CellAnswer {
    fn of(cell: &Cell, words: Words) -> Result<Self, EngineError> {
        Ok(match cell {
            Cell::Empty => Self::Empty,
            Cell::Masked => Self::Masked,
            Cell::Integer(low, high) => Self::Integer(*low, *high),
            Cell::Decimal(low, high) => Self::Decimal(low.to_bits(), high.to_bits()),
            Cell::Date(low, high) => Self::Date(*low, *high),
            Cell::Label(label) => Self::Label(words.rank(label).ok_or_else(unfit)?),
            Cell::Set(labels) => Self::Set(ranks(labels, words)?),
            Cell::Items(items) => {
                let node = |label: &String| NodeAnswer::of(label, words);
                let items = items.iter().map(|item| match item {
                    Item::Node(label) => node(label).map(ItemAnswer::Node),
                    Item::Union(labels) => {
                        let labels = labels.iter().map(node).collect::<Result<_, EngineError>>();
                        labels.map(ItemAnswer::Union)
                    }
                });
                Self::Items(items.collect::<Result<_, EngineError>>()?)
            }
            Cell::OrMissing(inside) => Self::OrMissing(Box::new(Self::of(inside, words)?)),
        })
    }

    fn read(self, texts: &Texts) -> Result<Cell, EngineError> {
        let label = |rank: u32| texts.text(rank).cloned().ok_or_else(unfit);
        Ok(match self {
            Self::Empty => Cell::Empty,
            Self::Masked => Cell::Masked,
            Self::Integer(low, high) => Cell::Integer(low, high),
            Self::Decimal(low, high) => Cell::Decimal(f64::from_bits(low), f64::from_bits(high)),
            Self::Date(low, high) => Cell::Date(low, high),
            Self::Label(rank) => Cell::Label(label(rank)?),
            Self::Set(ranks) => Cell::Set(labels(&ranks, texts)?),
            Self::Items(items) => {
                let items = items.into_iter().map(|item| match item {
                    ItemAnswer::Node(node) => node.read(texts).map(Item::Node),
                    ItemAnswer::Union(nodes) => {
                        let labels = nodes.into_iter().map(|node| node.read(texts));
                        let mut labels: Vec<String> = labels.collect::<Result<_, EngineError>>()?;
                        // Numbers and words stand otherwise than numbers and texts.
                        labels.sort_unstable();
                        Ok(Item::Union(labels))
                    }
                });
                let mut items: Vec<Item> = items.collect::<Result<_, EngineError>>()?;
                items.sort_unstable();
                Cell::Items(items)
            }
            Self::OrMissing(inside) => Cell::OrMissing(Box::new(inside.read(texts)?)),
        })
    }
}
