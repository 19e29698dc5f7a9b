//! A run of records on its way into the store or into a table.
//!
//! Readers yield chunks, the store keeps them as Parquet blobs, and the
//! builder joins them to a [`Table`](super::Table). Cells are typed and
//! valid: no empty cell, every category a leaf of its hierarchy, every
//! missing number named.

use super::error::TableError;
use super::text::TextColumn;

/// Records in a chunk; bounds the memory of an upload.
pub const CHUNK_RECORDS_MAX: usize = 65_536;
/// Bytes in memory after which a chunk is closed, however few its records.
pub const CHUNK_BYTES_MAX: usize = 6 << 20;
/// Bytes of a chunk as it is stored.
pub const CHUNK_STORED_BYTES_MAX: usize = 8 << 20;

/// Bytes of text: what a job holds of it, and writes, grows with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextSize {
    /// Of the text of all cells.
    pub cells_bytes: u64,
    /// Of the distinct texts of each chunk; a category counts once.
    pub labels_bytes: u64,
}

impl std::ops::AddAssign for TextSize {
    fn add_assign(&mut self, more: Self) {
        self.cells_bytes += more.cells_bytes;
        self.labels_bytes += more.labels_bytes;
    }
}

/// Takes chunks as they are closed.
pub type Sink<'a> = dyn FnMut(Chunk) -> Result<(), TableError> + 'a;

/// A run of records: one column per attribute, in schema order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chunk {
    /// Number of records.
    pub records: usize,
    /// One column per attribute.
    pub columns: Vec<ChunkColumn>,
}

/// One attribute of a chunk; one cell per record.
#[derive(Clone, Debug, PartialEq)]
pub enum ChunkColumn {
    /// Identifiers.
    Text(TextColumn),
    /// Whole numbers.
    Integer(Vec<i64>),
    /// Finite numbers; never the negative zero.
    Decimal(Vec<f64>),
    /// Days since 1970-01-01.
    Date(Vec<i32>),
    /// Categories: `codes` point into `labels`, each label once.
    Category {
        /// Distinct labels of this chunk, in order of first appearance.
        labels: TextColumn,
        /// One position in `labels` per record.
        codes: Vec<u32>,
    },
    /// Numbers or days some of which are missing.
    WithMissing {
        /// The numbers or days that are not, in order of records.
        known: Box<ChunkColumn>,
        /// Records whose value is missing, ascending; at least one.
        missing: Vec<u32>,
    },
}

impl Chunk {
    /// Bytes of its identifiers and categories; numbers and days are no text.
    pub fn text_size(&self) -> TextSize {
        let mut size = TextSize::default();
        for column in &self.columns {
            size += column.text_size();
        }
        size
    }

    /// The records for which `stays` holds, in order. A label that none of them
    /// has is not kept.
    #[must_use]
    pub fn filtered(self, stays: impl Fn(usize) -> bool) -> Self {
        let stays: Vec<bool> = (0..self.records).map(stays).collect();
        let columns = self.columns.into_iter();
        Self {
            records: stays.iter().filter(|&&stays| stays).count(),
            columns: columns.map(|column| column.filtered(&stays)).collect(),
        }
    }
}

/// The items whose place `stays`.
fn only<T>(items: Vec<T>, stays: &[bool]) -> Vec<T> {
    let kept = items.into_iter().zip(stays).filter(|(_, stays)| **stays);
    kept.map(|(item, _)| item).collect()
}

impl ChunkColumn {
    fn text_size(&self) -> TextSize {
        match self {
            Self::Text(texts) => TextSize {
                cells_bytes: texts.text_bytes() as u64,
                labels_bytes: texts.text_bytes() as u64,
            },
            Self::Category { labels, codes } => {
                let lengths: Vec<u64> = labels.iter().map(|label| label.len() as u64).collect();
                TextSize {
                    cells_bytes: codes.iter().map(|&code| lengths[code as usize]).sum(),
                    labels_bytes: labels.text_bytes() as u64,
                }
            }
            _ => TextSize::default(),
        }
    }

    fn filtered(self, stays: &[bool]) -> Self {
        match self {
            Self::Text(texts) => {
                let kept = texts.iter().zip(stays).filter(|(_, stays)| **stays);
                Self::Text(kept.map(|(text, _)| text).collect())
            }
            Self::Integer(values) => Self::Integer(only(values, stays)),
            Self::Decimal(values) => Self::Decimal(only(values, stays)),
            Self::Date(values) => Self::Date(only(values, stays)),
            Self::Category { labels, codes } => {
                let mut renamed: Vec<Option<u32>> = vec![None; labels.len()];
                let mut kept = TextColumn::new();
                let codes = only(codes, stays).into_iter().map(|code| {
                    *renamed[code as usize].get_or_insert_with(|| {
                        kept.push(labels.get(code as usize));
                        kept.len() as u32 - 1
                    })
                });
                let codes = codes.collect();
                Self::Category {
                    labels: kept,
                    codes,
                }
            }
            Self::WithMissing { known, missing } => {
                let mut is_missing = vec![false; stays.len()];
                for &record in &missing {
                    is_missing[record as usize] = true;
                }
                let known_stays: Vec<bool> = (stays.iter().zip(&is_missing))
                    .filter(|(_, is_missing)| !**is_missing)
                    .map(|(&stays, _)| stays)
                    .collect();
                let known = known.filtered(&known_stays);
                let missing = (0..).zip(only(is_missing, stays));
                let missing: Vec<u32> = missing.filter(|next| next.1).map(|next| next.0).collect();
                if missing.is_empty() {
                    known
                } else {
                    Self::WithMissing {
                        known: Box::new(known),
                        missing,
                    }
                }
            }
        }
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        match self {
            Self::Text(texts) => texts.len(),
            Self::Integer(values) => values.len(),
            Self::Decimal(values) => values.len(),
            Self::Date(values) => values.len(),
            Self::Category { codes, .. } => codes.len(),
            Self::WithMissing { known, missing } => known.len() + missing.len(),
        }
    }

    /// Whether there is no cell.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filtered_chunk_holds_what_stays_and_no_label_of_what_goes() {
        let chunk = Chunk {
            records: 4,
            columns: vec![
                ChunkColumn::Text(["a", "b", "c", "d"].into_iter().collect()),
                ChunkColumn::Integer(vec![1, 2, 3, 4]),
                ChunkColumn::Category {
                    labels: ["gone", "late", "early"].into_iter().collect(),
                    codes: vec![0, 2, 0, 1],
                },
                ChunkColumn::WithMissing {
                    known: Box::new(ChunkColumn::Date(vec![10, 40])),
                    missing: vec![1, 2],
                },
                ChunkColumn::WithMissing {
                    known: Box::new(ChunkColumn::Decimal(vec![0.5, 1.5, 2.5])),
                    missing: vec![2],
                },
            ],
        };
        let kept = Chunk {
            records: 2,
            columns: vec![
                ChunkColumn::Text(["b", "d"].into_iter().collect()),
                ChunkColumn::Integer(vec![2, 4]),
                ChunkColumn::Category {
                    labels: ["early", "late"].into_iter().collect(),
                    codes: vec![0, 1],
                },
                ChunkColumn::WithMissing {
                    known: Box::new(ChunkColumn::Date(vec![40])),
                    missing: vec![0],
                },
                ChunkColumn::Decimal(vec![1.5, 2.5]),
            ],
        };
        assert_eq!(chunk.filtered(|record| record % 2 == 1), kept);
    }

    #[test]
    fn text_is_counted_by_the_cell_and_by_the_label() {
        let chunk = Chunk {
            records: 3,
            columns: vec![
                ChunkColumn::Text(["ab", "c", "äö"].into_iter().collect()),
                ChunkColumn::Integer(vec![1, 2, 3]),
                ChunkColumn::Category {
                    labels: ["north", "sea"].into_iter().collect(),
                    codes: vec![0, 1, 0],
                },
            ],
        };
        let size = TextSize {
            cells_bytes: 7 + 13,
            labels_bytes: 7 + 8,
        };
        assert_eq!(chunk.text_size(), size);
    }
}
