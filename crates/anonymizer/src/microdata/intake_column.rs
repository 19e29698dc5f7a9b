//! One attribute of the records that come in: checks a cell and keeps it.

use std::collections::{BTreeSet, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use super::attribute::{Attribute, AttributeType, Doubt, Role};
use super::cell;
use super::chunk::ChunkColumn;
use super::dialect::cell_rules::says_form;
use super::dictionary::TextDictionary;
use super::error::{CellErrorCode, TableError};
use super::hierarchy::{Hierarchy, HierarchySource};
use super::hint::Hint;
use super::limits::{ReadLimits, Target};
use super::number::{Number, leaf_keys};
use super::schema::MissingPolicy;
use super::text::TextColumn;
use super::text_cache::TextCache;
use super::value_text::{DAYS_FOR_NONE, MISSING_LABEL, date_days};

const FIRST_DAY: i32 = DAYS_FOR_NONE[0];
const LAST_DAY: i32 = DAYS_FOR_NONE[1];

/// The cells of one attribute in the open chunk.
pub(super) struct IntakeColumn {
    cells: Cells,
    /// What an empty cell becomes: the label of missing values, or nothing in
    /// an identifier that is not the subject key.
    empty: Option<&'static str>,
    /// Whether the schema says how cells are written: hints at it then are
    /// about something else.
    says_form: bool,
}

enum Cells {
    Text(TextColumn),
    /// Texts that are days, or nothing: others are counted from them.
    Days(TextColumn),
    Integer(NumberCells<i64>),
    Decimal(NumberCells<f64>),
    Date(NumberCells<i32>),
    Category(Box<CategoryCells>),
}

impl IntakeColumn {
    /// An empty column. The error: a hierarchy that is not given or does not
    /// fit the attribute.
    pub fn new(attribute: &Attribute, target: &Target<'_>) -> Result<Self, TableError> {
        let is_identifier = attribute.role == Role::Identifier;
        let index = target.schema.find(&attribute.name);
        let is_key = index == Some(target.schema.subject_key());
        let is_index_date = index.is_some_and(|index| target.schema.is_index_date(index));
        let is_category = target.schema.missing() == MissingPolicy::Category;
        let admits_missing = !is_identifier && is_category;
        let empty = if is_identifier {
            (!is_key && (!is_index_date || is_category)).then_some("")
        } else {
            admits_missing.then_some(MISSING_LABEL)
        };
        let cells = match attribute.kind {
            _ if is_identifier && is_index_date => Cells::Days(TextColumn::new()),
            _ if is_identifier => Cells::Text(TextColumn::new()),
            None => Cells::Text(TextColumn::new()),
            Some(kind) => {
                // Jobs hold the values that they make of these against a tree.
                let source = source_of(attribute, target)?;
                let source = source.filter(|_| attribute.transform.is_nothing());
                match kind {
                    AttributeType::Integer => {
                        Cells::Integer(NumberCells::new(source, admits_missing)?)
                    }
                    AttributeType::Decimal => {
                        Cells::Decimal(NumberCells::new(source, admits_missing)?)
                    }
                    AttributeType::Date => Cells::Date(NumberCells::new(source, admits_missing)?),
                    AttributeType::Categorical => {
                        Cells::Category(Box::new(CategoryCells::new(source, admits_missing)?))
                    }
                }
            }
        };
        let says_form = says_form(attribute, target.schema.format());
        Ok(Self {
            cells,
            empty,
            says_form,
        })
    }

    /// Checks the trimmed cells of a batch and keeps those that are sound.
    pub fn take<'b>(
        &mut self,
        cells: impl Iterator<Item = &'b [u8]>,
        limits: &ReadLimits,
    ) -> Taken {
        let mut taken = Taken::default();
        let missing = self.empty;
        match &mut self.cells {
            Cells::Category(column) => {
                taken.take(cells, missing, |cell| {
                    Ok((column.take(cell, limits)?, None))
                });
            }
            Cells::Integer(column) => {
                let mut zeros = 0;
                taken.take(cells, missing, |cell| {
                    let value = column.take(cell, limits)?;
                    let rewritten = value.and_then(|value| cell::integer_rewritten(cell, value));
                    zeros += u64::from(rewritten.is_some() && cell::has_leading_zero(cell));
                    Ok((size_of::<i64>(), rewritten))
                });
                taken.doubtful = [(Doubt::LeadingZeros, zeros), (Doubt::LeadingZeros, 0)];
            }
            Cells::Decimal(column) => taken.take(cells, missing, |cell| {
                let value = column.take(cell, limits)?;
                let rewritten = value.and_then(|value| cell::decimal_rewritten(cell, value));
                Ok((size_of::<f64>(), rewritten))
            }),
            Cells::Date(column) => {
                let [mut last, mut first] = [0; 2];
                taken.take(cells, missing, |cell| {
                    // A day is written in one way only.
                    let day = column.take(cell, limits)?;
                    last += u64::from(day == Some(LAST_DAY));
                    first += u64::from(day == Some(FIRST_DAY));
                    Ok((size_of::<i32>(), None))
                });
                taken.doubtful = [(Doubt::LastDay, last), (Doubt::FirstDay, first)];
            }
            Cells::Text(texts) => taken.take(cells, missing, |cell| {
                texts.push(cell::text(cell, limits.cell_bytes_max)?);
                Ok((cell.len() + size_of::<usize>(), None))
            }),
            Cells::Days(texts) => taken.take(cells, missing, |cell| {
                let text = cell::text(cell, limits.cell_bytes_max)?;
                if !text.is_empty() && date_days(text).is_none() {
                    return Err(<i32 as Number>::REFUSAL);
                }
                texts.push(text);
                Ok((cell.len() + size_of::<usize>(), None))
            }),
        }
        if self.says_form {
            taken.hints.retain(|hint| *hint == Hint::MissingWord);
        }
        taken
    }

    /// Hands the open chunk's cells over and begins the next chunk.
    pub fn close(&mut self) -> ChunkColumn {
        match &mut self.cells {
            Cells::Text(texts) | Cells::Days(texts) => ChunkColumn::Text(std::mem::take(texts)),
            Cells::Integer(cells) => cells.close(ChunkColumn::Integer),
            Cells::Decimal(cells) => cells.close(ChunkColumn::Decimal),
            Cells::Date(cells) => cells.close(ChunkColumn::Date),
            Cells::Category(cells) => cells.close(),
        }
    }
}

/// What came of an attribute's cells in a batch. Records are named by their
/// position in it.
#[derive(Default)]
pub(super) struct Taken {
    /// Bytes that the cells cost.
    pub bytes: usize,
    /// Cells at fault, in order.
    pub faults: Vec<(u32, CellErrorCode)>,
    /// Cells whose canonical text is another, in order.
    pub rewritten: Vec<(u32, String)>,
    /// Record behind which nothing was read: its value was one too many.
    pub last: Option<u32>,
    /// Cells kept as a missing value.
    pub missing: u64,
    /// Cells that may not be what they seem.
    pub doubtful: [(Doubt, u64); 2],
    /// What cells at fault look like.
    pub hints: BTreeSet<Hint>,
}

impl Taken {
    /// Hands each cell to `take`, which returns its cost and, where that is
    /// another, its canonical text; empty ones as `missing`, if that is given.
    #[inline]
    fn take<'b>(
        &mut self,
        cells: impl Iterator<Item = &'b [u8]>,
        missing: Option<&'static str>,
        mut take: impl FnMut(&[u8]) -> Result<(usize, Option<String>), CellErrorCode>,
    ) {
        for (record, cell) in (0..).zip(cells) {
            let found = match (cell, missing) {
                ([], Some(label)) => {
                    self.missing += 1;
                    let found = take(label.as_bytes());
                    let rewritten = (!label.is_empty()).then(|| label.to_owned());
                    found.map(|(bytes, _)| (bytes, rewritten))
                }
                ([], None) => Err(CellErrorCode::Missing),
                (cell, missing) => {
                    let is_label = missing.is_some_and(|label| cell == label.as_bytes());
                    self.missing += u64::from(is_label);
                    take(cell)
                }
            };
            match found {
                Ok((bytes, rewritten)) => {
                    self.bytes += bytes;
                    self.rewritten.extend(rewritten.map(|text| (record, text)));
                }
                Err(code) => {
                    self.faults.push((record, code));
                    self.hints.extend(Hint::of_cell(cell, code));
                    // More of them would only cost memory and time.
                    if code == CellErrorCode::TooManyValues {
                        self.last = Some(record);
                        return;
                    }
                }
            }
        }
    }
}

/// The hierarchy that an attribute names, fit for its type.
pub(super) fn source_of<'t>(
    attribute: &Attribute,
    target: &Target<'t>,
) -> Result<Option<&'t HierarchySource>, TableError> {
    let Some(name) = &attribute.hierarchy else {
        return Ok(None);
    };
    let source = target.hierarchies.get(name);
    let source = source.ok_or_else(|| TableError::HierarchyUnknown(name.clone()))?;
    let is_number = attribute.transform.days_since.is_some()
        || matches!(
            attribute.kind,
            Some(AttributeType::Integer | AttributeType::Decimal)
        );
    match source {
        HierarchySource::Intervals(_) if !is_number => Err(TableError::Hierarchy(
            "intervals are laid over integers and decimals only".into(),
        )),
        source => Ok(Some(source)),
    }
}

struct NumberCells<N> {
    values: Vec<N>,
    /// Records of the open chunk whose value is missing.
    missing: Vec<u32>,
    admits_missing: bool,
    /// Keys of the values that a tree has; `None` admits all.
    leaves: Option<HashSet<u64>>,
}

impl<N: Number> NumberCells<N> {
    fn new(source: Option<&HierarchySource>, admits_missing: bool) -> Result<Self, TableError> {
        let leaves = match source {
            Some(HierarchySource::Tree(tree)) => {
                check_missing_label(tree, admits_missing)?;
                Some(leaf_keys::<N>(tree)?)
            }
            _ => None,
        };
        Ok(Self {
            values: Vec::new(),
            missing: Vec::new(),
            admits_missing,
            leaves,
        })
    }

    /// Keeps a cell; its value is `None` where it is missing.
    #[inline]
    fn take(&mut self, cell: &[u8], limits: &ReadLimits) -> Result<Option<N>, CellErrorCode> {
        if self.admits_missing && cell == MISSING_LABEL.as_bytes() {
            let record = self.values.len() + self.missing.len();
            self.missing.push(record as u32);
            return Ok(None);
        }
        if cell.len() > limits.cell_bytes_max {
            return Err(CellErrorCode::CellTooLong);
        }
        let value = N::read(cell).ok_or_else(|| match std::str::from_utf8(cell) {
            Ok(_) => N::REFUSAL,
            Err(_) => CellErrorCode::NotUtf8,
        })?;
        match &self.leaves {
            Some(leaves) if !leaves.contains(&value.key()) => Err(CellErrorCode::NotInHierarchy),
            _ => {
                self.values.push(value);
                Ok(Some(value))
            }
        }
    }

    fn close(&mut self, wrap: impl FnOnce(Vec<N>) -> ChunkColumn) -> ChunkColumn {
        let known = wrap(std::mem::take(&mut self.values));
        if self.missing.is_empty() {
            known
        } else {
            ChunkColumn::WithMissing {
                known: Box::new(known),
                missing: std::mem::take(&mut self.missing),
            }
        }
    }
}

/// The label of missing values is a leaf of a tree, or is not in it.
fn check_missing_label(tree: &Hierarchy, admits_missing: bool) -> Result<(), TableError> {
    let stands_above = tree.find(MISSING_LABEL).is_some() && tree.leaf(MISSING_LABEL).is_none();
    if admits_missing && stands_above {
        Err(TableError::Hierarchy(
            "the label of missing values stands above leaves".into(),
        ))
    } else {
        Ok(())
    }
}

struct CategoryCells {
    dictionary: TextDictionary,
    codes: Vec<u32>,
    text_cache: TextCache,
    tree: Option<Arc<Hierarchy>>,
    admits_missing: bool,
    /// Hashes of the distinct labels of the whole upload, without a tree.
    distinct: HashSet<u64>,
    hasher: RandomState,
}

impl CategoryCells {
    fn new(source: Option<&HierarchySource>, admits_missing: bool) -> Result<Self, TableError> {
        let tree = match source {
            Some(HierarchySource::Tree(tree)) => Some(tree.clone()),
            _ => None,
        };
        if let Some(tree) = &tree {
            check_missing_label(tree, admits_missing)?;
        }
        Ok(Self {
            dictionary: TextDictionary::default(),
            codes: Vec::new(),
            text_cache: TextCache::default(),
            tree,
            admits_missing,
            distinct: HashSet::new(),
            hasher: RandomState::new(),
        })
    }

    #[inline]
    fn take(&mut self, cell: &[u8], limits: &ReadLimits) -> Result<usize, CellErrorCode> {
        let texts = self.dictionary.texts();
        let text_of = |code: u32| texts.bytes_at(code as usize);
        if let Some(code) = self.text_cache.find(cell, text_of) {
            self.codes.push(code);
            return Ok(size_of::<u32>());
        }
        let (code, bytes) = self.look_up(cell, limits)?;
        self.text_cache.note(cell, code);
        self.codes.push(code);
        Ok(bytes + size_of::<u32>())
    }

    /// The number of a label in the open chunk, and the bytes that a new one
    /// costs.
    fn look_up(&mut self, cell: &[u8], limits: &ReadLimits) -> Result<(u32, usize), CellErrorCode> {
        let label = cell::text(cell, limits.cell_bytes_max)?;
        if let Some(code) = self.dictionary.find(label) {
            return Ok((code, 0));
        }
        match &self.tree {
            Some(tree) => {
                let stands_for_missing = self.admits_missing && label == MISSING_LABEL;
                if !stands_for_missing && tree.leaf(label).is_none() {
                    return Err(CellErrorCode::NotInHierarchy);
                }
            }
            None => {
                let hash = self.hasher.hash_one(label);
                if self.distinct.len() < limits.distinct_values_max {
                    self.distinct.insert(hash);
                } else if !self.distinct.contains(&hash) {
                    return Err(CellErrorCode::TooManyValues);
                }
            }
        }
        let (code, _) = self.dictionary.intern(label);
        Ok((code, label.len() + size_of::<[usize; 3]>()))
    }

    fn close(&mut self) -> ChunkColumn {
        self.text_cache = TextCache::default();
        ChunkColumn::Category {
            labels: self.dictionary.take_texts(),
            codes: std::mem::take(&mut self.codes),
        }
    }
}
