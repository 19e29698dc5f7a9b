//! Joins chunks to a [`Table`]: orders each domain and codes each cell.
//!
//! Values are kept as they come, categories as provisional codes; when all
//! chunks are there, values are ranked, which is one counting pass for most
//! attributes, and labels are put in their order. There is no `String` per
//! cell and no lookup by text per cell.

use std::sync::Arc;

use rayon::prelude::*;

use super::chunk::{Chunk, ChunkColumn};
use super::codes::Codes;
use super::column::CodedColumn;
use super::dictionary::TextDictionary;
use super::domain::{Domain, Values};
use super::error::TableError;
use super::hierarchy::{Hierarchy, HierarchySet, HierarchySource};
use super::index::{AttributeIndex, Code};
use super::normalize::{Merged, representatives};
use super::number::{Number, ranked, tree_over};
use super::schema::{Attribute, AttributeType, Multiplicity, Role, Schema};
use super::spelling::Form;
use super::table::{Table, TableColumn};
use super::text::TextColumn;
use super::value_text::MISSING_LABEL;

/// A table under construction.
pub struct TableBuilder {
    schema: Arc<Schema>,
    columns: Vec<Building>,
    records: usize,
    /// Distinct subjects, where a subject may have many records.
    subjects: TextDictionary,
    subject_of: Vec<u32>,
    /// The only subject keys, where each record is its own subject.
    subject_keys: TextColumn,
}

/// One attribute under construction.
enum Building {
    SubjectKey,
    Identifier(TextColumn),
    Integer(Known<i64>, Option<HierarchySource>),
    Decimal(Known<f64>, Option<HierarchySource>),
    Date(Known<i32>, Option<HierarchySource>),
    Category {
        codes: Codes,
        labels: Labels,
        forms: Vec<Form>,
    },
}

/// What was taken together in one column.
#[derive(Default)]
struct Taken {
    spellings: u64,
    records: u64,
}

/// The numbers or days of an attribute, and which records have none.
struct Known<N> {
    values: Vec<N>,
    /// Records whose value is missing, ascending.
    missing: Vec<u32>,
}

impl<N> Known<N> {
    fn none() -> Self {
        Self {
            values: Vec::new(),
            missing: Vec::new(),
        }
    }

    /// Appends a chunk's values; `missing` are records of the chunk.
    fn extend(&mut self, values: Vec<N>, missing: Vec<u32>) {
        let before = (self.values.len() + self.missing.len()) as u32;
        self.missing
            .extend(missing.into_iter().map(|record| before + record));
        self.values.extend(values);
    }
}

/// The labels of a category and their provisional codes.
enum Labels {
    /// Codes are those of the leaves; behind the last one the missing value.
    Tree {
        tree: Arc<Hierarchy>,
        has_missing: bool,
    },
    /// Codes are in order of first appearance.
    Free(TextDictionary),
}

impl TableBuilder {
    /// A table without records. Hierarchies that the schema does not name are
    /// ignored; one that it names and that is absent is
    /// [`TableError::HierarchyUnknown`].
    pub fn new(schema: Arc<Schema>, hierarchies: &HierarchySet) -> Result<Self, TableError> {
        let columns = (0_usize..).zip(schema.attributes());
        let columns = columns
            .map(|(at, attribute)| {
                if at == schema.subject_key().at() {
                    Ok(Building::SubjectKey)
                } else {
                    Building::new(attribute, hierarchies)
                }
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            schema,
            columns,
            records: 0,
            subjects: TextDictionary::default(),
            subject_of: Vec::new(),
            subject_keys: TextColumn::new(),
        })
    }

    /// Adds the records of a chunk. [`TableError::Chunk`]: it was not made
    /// for this schema and these hierarchies.
    pub fn push(&mut self, chunk: Chunk) -> Result<(), TableError> {
        let fits = chunk.columns.len() == self.columns.len()
            && chunk
                .columns
                .iter()
                .all(|cells| cells.len() == chunk.records);
        if !fits {
            return Err(unfit("columns"));
        }
        self.records += chunk.records;
        if self.records >= u32::MAX as usize {
            return Err(unfit("number of records"));
        }
        for (at, cells) in chunk.columns.into_iter().enumerate() {
            match (&mut self.columns[at], cells) {
                (Building::SubjectKey, ChunkColumn::Text(keys)) => self.push_subjects(&keys),
                (Building::SubjectKey, _) => return Err(unfit("subject keys")),
                (column, cells) => column.push(cells)?,
            }
        }
        Ok(())
    }

    /// The table of all records pushed. Uses rayon's current pool.
    pub fn finish(self) -> Result<Table, TableError> {
        let columns = self.columns.into_par_iter().map(Building::finish);
        let columns: Vec<(TableColumn, Taken)> = columns.collect::<Result<_, _>>()?;
        let taken = (0..).zip(&columns);
        let merged = taken.filter(|(_, (_, taken))| taken.spellings > 0);
        let merged = merged.map(|(at, (_, taken))| Merged {
            attribute: AttributeIndex(at),
            spellings: taken.spellings,
            records: taken.records,
        });
        let merged = merged.collect();
        let columns = columns.into_iter().map(|(column, _)| column).collect();
        let subject_keys = match self.schema.multiplicity() {
            Multiplicity::One => self.subject_keys,
            Multiplicity::Many => self.subjects.into_texts(),
        };
        Ok(Table::new(self.schema, columns, subject_keys, self.subject_of).with_merged(merged))
    }

    fn push_subjects(&mut self, keys: &TextColumn) {
        if self.schema.multiplicity() == Multiplicity::One {
            self.subject_keys.append(keys);
            return;
        }
        // A subject's records mostly stand together.
        let mut last: Option<(&str, u32)> = None;
        for key in keys.iter() {
            let subject = match last {
                Some((before, subject)) if before == key => subject,
                _ => self.subjects.intern(key).0,
            };
            last = Some((key, subject));
            self.subject_of.push(subject);
        }
    }
}

impl Building {
    fn new(attribute: &Attribute, hierarchies: &HierarchySet) -> Result<Self, TableError> {
        let Some(kind) = attribute
            .kind
            .filter(|_| attribute.role != Role::Identifier)
        else {
            return Ok(Self::Identifier(TextColumn::new()));
        };
        let source = match &attribute.hierarchy {
            None => None,
            Some(name) => match hierarchies.get(name) {
                Some(source) => Some(source.clone()),
                None => return Err(TableError::HierarchyUnknown(name.clone())),
            },
        };
        Ok(match (kind, source) {
            (AttributeType::Integer, source) => Self::Integer(Known::none(), source),
            (AttributeType::Decimal, source) => Self::Decimal(Known::none(), source),
            (_, Some(HierarchySource::Intervals(_))) => {
                return Err(TableError::Hierarchy(
                    "intervals are laid over integers and decimals only".into(),
                ));
            }
            (AttributeType::Date, source) => Self::Date(Known::none(), source),
            (AttributeType::Categorical, Some(HierarchySource::Tree(tree))) => Self::Category {
                forms: attribute.forms().to_vec(),
                codes: Codes::default(),
                labels: Labels::Tree {
                    tree,
                    has_missing: false,
                },
            },
            (AttributeType::Categorical, None) => Self::Category {
                forms: attribute.forms().to_vec(),
                codes: Codes::default(),
                labels: Labels::Free(TextDictionary::default()),
            },
        })
    }

    fn push(&mut self, cells: ChunkColumn) -> Result<(), TableError> {
        let (cells, missing) = match cells {
            ChunkColumn::WithMissing { known, missing } => {
                let records = known.len() + missing.len();
                let ascend = missing.windows(2).all(|pair| pair[0] < pair[1]);
                if !ascend || missing.last().is_some_and(|&last| last as usize >= records) {
                    return Err(unfit("missing values"));
                }
                (*known, missing)
            }
            cells => (cells, Vec::new()),
        };
        match (self, cells) {
            (Self::Integer(known, _), ChunkColumn::Integer(cells)) => known.extend(cells, missing),
            (Self::Decimal(known, _), ChunkColumn::Decimal(cells)) => known.extend(cells, missing),
            (Self::Date(known, _), ChunkColumn::Date(cells)) => known.extend(cells, missing),
            _ if !missing.is_empty() => return Err(unfit("missing values")),
            (Self::Identifier(texts), ChunkColumn::Text(cells)) => texts.append(&cells),
            (
                Self::Category { codes, labels, .. },
                ChunkColumn::Category {
                    labels: chunk_labels,
                    codes: chunk_codes,
                },
            ) => {
                let provisional = chunk_labels
                    .iter()
                    .map(|label| labels.code(label))
                    .collect::<Result<Vec<u32>, _>>()?;
                if chunk_codes
                    .iter()
                    .any(|&code| code as usize >= provisional.len())
                {
                    return Err(unfit("codes"));
                }
                codes.extend(chunk_codes.iter().map(|&code| provisional[code as usize]));
            }
            _ => return Err(unfit("types")),
        }
        Ok(())
    }

    fn finish(self) -> Result<(TableColumn, Taken), TableError> {
        let mut taken = Taken::default();
        let identifier = |texts| Ok((TableColumn::Identifier(texts), Taken::default()));
        let (domain, codes) = match self {
            Self::SubjectKey => return identifier(TextColumn::new()),
            Self::Identifier(texts) => return identifier(texts),
            Self::Integer(values, source) => numbers(values, source, Values::Integer)?,
            Self::Decimal(values, source) => numbers(values, source, Values::Decimal)?,
            Self::Date(values, source) => numbers(values, source, Values::Date)?,
            Self::Category {
                mut codes,
                mut labels,
                forms,
            } => {
                if !forms.is_empty() {
                    taken = labels.take_together(&mut codes, &forms)?;
                }
                labels.finish(codes)
            }
        };
        let column = CodedColumn {
            domain: Arc::new(domain),
            codes,
        };
        Ok((TableColumn::Coded(column), taken))
    }
}

impl Labels {
    /// The provisional code of a label.
    fn code(&mut self, label: &str) -> Result<u32, TableError> {
        match self {
            Self::Free(dictionary) => Ok(dictionary.intern(label).0),
            Self::Tree { tree, has_missing } => match tree.leaf(label) {
                Some(Code(code)) => Ok(code),
                None if label == MISSING_LABEL && tree.find(label).is_none() => {
                    *has_missing = true;
                    Ok(tree.leaf_count() as u32)
                }
                None => Err(unfit("categories")),
            },
        }
    }

    /// Makes the spellings of each value one: all become the most frequent
    /// one, missing words the missing value.
    fn take_together(&mut self, codes: &mut Codes, forms: &[Form]) -> Result<Taken, TableError> {
        let counts = codes.histogram(self.len());
        let missing = match self {
            Self::Tree { tree, .. } => tree
                .leaf(MISSING_LABEL)
                .map_or(tree.leaf_count() as u32, |leaf| leaf.0),
            Self::Free(dictionary) => dictionary
                .find(MISSING_LABEL)
                .unwrap_or(dictionary.texts().len() as u32),
        };
        let texts = self.texts().zip(counts.iter().copied());
        let to = representatives(texts, forms);
        let to: Vec<u32> = to.into_iter().map(|to| to.unwrap_or(missing)).collect();
        let mut taken = Taken::default();
        for ((from, &to), &count) in (0..).zip(&to).zip(&counts) {
            if from != to && count > 0 {
                taken.spellings += 1;
                taken.records += u64::from(count);
            }
        }
        if taken.spellings == 0 {
            return Ok(taken);
        }
        let lacks = (0..).zip(&to).zip(&counts);
        let lacks = lacks
            .into_iter()
            .any(|((_, &to), &count)| to == missing && count > 0);
        let renamed = codes.iter().map(|code| to[code as usize]);
        match self {
            Self::Tree { tree, has_missing } => {
                if lacks && tree.leaf(MISSING_LABEL).is_none() && tree.find(MISSING_LABEL).is_some()
                {
                    return Err(TableError::Hierarchy(
                        "`(missing)` must be a leaf where values are missing".into(),
                    ));
                }
                *has_missing |= lacks && tree.leaf(MISSING_LABEL).is_none();
                *codes = Codes::below(tree.leaf_count() + 1, renamed);
            }
            Self::Free(dictionary) => {
                // No other value has a code: those that became another go.
                let mut kept = TextDictionary::default();
                let old = std::mem::take(dictionary).into_texts();
                let mut number = vec![0; to.len() + 1];
                for ((from, &to), &count) in (0..).zip(&to).zip(&counts) {
                    if to == from && count > 0 {
                        number[from as usize] = kept.intern(old.get(from as usize)).0;
                    }
                }
                if lacks {
                    number[missing as usize] = kept.intern(MISSING_LABEL).0;
                }
                let numbers: Vec<u32> = renamed.map(|code| number[code as usize]).collect();
                *codes = Codes::below(kept.texts().len(), numbers.into_iter());
                *dictionary = kept;
            }
        }
        Ok(taken)
    }

    /// Number of provisional codes.
    fn len(&self) -> usize {
        match self {
            Self::Tree { tree, .. } => tree.leaf_count() + 1,
            Self::Free(dictionary) => dictionary.texts().len(),
        }
    }

    /// The text of each provisional code.
    fn texts(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match self {
            Self::Tree { tree, .. } => {
                Box::new(tree.leaf_labels().chain(std::iter::once(MISSING_LABEL)))
            }
            Self::Free(dictionary) => Box::new(dictionary.texts().iter()),
        }
    }

    /// The ordered domain, and the codes in it.
    fn finish(self, codes: Codes) -> (Domain, Codes) {
        match self {
            Self::Tree { tree, has_missing } => {
                let tree = if has_missing {
                    Arc::new(tree.with_missing_leaf())
                } else {
                    tree
                };
                let leaves = tree.leaf_labels().map(str::to_owned).collect();
                (Domain::new(Values::Category(leaves), Some(tree)), codes)
            }
            Self::Free(dictionary) => {
                let texts = dictionary.into_texts();
                let mut order: Vec<u32> = (0..texts.len() as u32).collect();
                order.sort_unstable_by_key(|&at| texts.get(at as usize));
                let mut rank = vec![0; order.len()];
                for (at, &code) in (0..).zip(&order) {
                    rank[code as usize] = at;
                }
                let ranks = codes.iter().map(|code| rank[code as usize]);
                let codes = Codes::below(rank.len(), ranks);
                let values = order
                    .iter()
                    .map(|&at| texts.get(at as usize).to_owned())
                    .collect();
                (Domain::new(Values::Category(values), None), codes)
            }
        }
    }
}

fn numbers<N: Number>(
    known: Known<N>,
    source: Option<HierarchySource>,
    wrap: impl FnOnce(Vec<N>) -> Values,
) -> Result<(Domain, Codes), TableError> {
    let (distinct, ranks) = ranked(&known.values);
    let tree = match source {
        Some(source) => tree_over(&source, &distinct)?,
        None => None,
    };
    if known.missing.is_empty() {
        return Ok((Domain::new(wrap(distinct), tree), ranks));
    }
    let missing = distinct.len();
    let tree = tree.map(|tree| Arc::new(tree.with_missing_leaf()));
    if tree
        .as_ref()
        .is_some_and(|tree| tree.leaf_count() != missing + 1)
    {
        return Err(TableError::Hierarchy(
            "the label of missing values stands above leaves".into(),
        ));
    }
    let (mut ranks, mut gaps) = (ranks.iter(), known.missing.iter().peekable());
    let records = 0..(ranks.len() + gaps.len()) as u32;
    let codes = records.map(|record| match gaps.next_if(|next| **next == record) {
        Some(_) => missing as u32,
        None => ranks.next().unwrap_or(missing as u32),
    });
    let codes = Codes::below(missing + 1, codes);
    Ok((Domain::new(wrap(distinct), tree).with_missing(), codes))
}

fn unfit(what: &str) -> TableError {
    TableError::Chunk(format!("{what} do not fit the schema"))
}

#[cfg(test)]
mod tests;
