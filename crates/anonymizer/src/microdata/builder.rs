//! Joins chunks to a [`Table`]: orders each domain and codes each cell.
//!
//! Values are kept as they come, categories as provisional codes; when all
//! chunks are there, values are ranked, which is one counting pass for most
//! attributes, and labels are put in their order. There is no `String` per
//! cell and no lookup by text per cell.

mod labels;

use std::collections::HashSet;
use std::sync::Arc;

use rayon::prelude::*;

use self::labels::{Labels, Taken};
use super::attribute::{Attribute, AttributeType, Role};
use super::chunk::{Chunk, ChunkColumn};
use super::codes::Codes;
use super::column::CodedColumn;
use super::dictionary::TextDictionary;
use super::domain::{Domain, Values};
use super::error::TableError;
use super::hierarchy::{HierarchySet, HierarchySource};
use super::index::AttributeIndex;
use super::normalize::{Merged, class};
use super::number::{Number, ranked, tree_over};
use super::schema::{Multiplicity, Schema};
use super::spelling::Form;
use super::table::{Table, TableColumn};
use super::text::TextColumn;
use super::value_text::MISSING_LABEL;

/// A table under construction.
pub struct TableBuilder {
    schema: Arc<Schema>,
    columns: Vec<Building>,
    /// By column the values behind those of the records: the domain has them,
    /// no record does.
    further: Vec<usize>,
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

/// The numbers or days of an attribute, and which records have none.
struct Known<N> {
    values: Vec<N>,
    /// Records whose value is missing, ascending.
    missing: Vec<u32>,
}

impl<N: Number> Known<N> {
    /// Appends values as a release shows them; how many.
    fn also<'a>(&mut self, texts: impl Iterator<Item = &'a str>) -> Result<usize, TableError> {
        let mut appended = 0;
        for text in texts {
            if text == MISSING_LABEL {
                self.extend(Vec::new(), vec![0]);
            } else {
                let value = N::read(text.as_bytes()).ok_or_else(|| unfit("values of a release"))?;
                self.values.push(value);
            }
            appended += 1;
        }
        Ok(appended)
    }
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
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            further: vec![0; columns.len()],
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

    /// Puts values into the domain of an attribute although no record may have
    /// them: counterfeits are published of them. They are texts as a release
    /// shows them. After the last record.
    pub fn also<'a>(
        &mut self,
        attribute: AttributeIndex,
        texts: impl Iterator<Item = &'a str>,
    ) -> Result<(), TableError> {
        let at = attribute.at();
        self.further[at] += self.columns[at].also(texts)?;
        Ok(())
    }

    /// The table of all records pushed. Uses rayon's current pool.
    pub fn finish(self) -> Result<Table, TableError> {
        let columns = self.columns.into_par_iter().zip(self.further);
        let columns = columns.map(|(column, further)| {
            let (mut column, taken) = column.finish()?;
            if let TableColumn::Coded(column) = &mut column {
                column.codes.truncate(column.codes.len() - further);
                column.codes.shrink();
            }
            Ok((column, taken))
        });
        let columns: Vec<(TableColumn, Taken)> = columns.collect::<Result<_, TableError>>()?;
        let taken = (0..).zip(&columns);
        let merged = taken.filter(|(_, (_, taken))| taken.spellings > 0);
        let merged = merged.map(|(at, (_, taken))| Merged {
            attribute: AttributeIndex(at),
            spellings: taken.spellings,
            records: taken.records,
        });
        let merged = merged.collect();
        let columns = columns.into_iter().map(|(column, _)| column).collect();
        let mut subject_keys = match self.schema.multiplicity() {
            Multiplicity::One => self.subject_keys,
            Multiplicity::Many => self.subjects.into_texts(),
        };
        subject_keys.shrink();
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

    /// Appends values that the domain does not have yet; how many.
    fn also<'a>(&mut self, texts: impl Iterator<Item = &'a str>) -> Result<usize, TableError> {
        match self {
            Self::SubjectKey | Self::Identifier(_) => Ok(0),
            Self::Integer(known, _) => known.also(texts),
            Self::Decimal(known, _) => known.also(texts),
            Self::Date(known, _) => known.also(texts),
            Self::Category {
                codes,
                labels: labels @ Labels::Free(_),
                forms,
            } => {
                let mut classes: HashSet<Option<String>> =
                    labels.texts().map(|text| class(text, forms)).collect();
                let before = codes.len();
                for text in texts.filter(|text| classes.insert(class(text, forms))) {
                    codes.push(labels.code(text)?);
                }
                Ok(codes.len() - before)
            }
            Self::Category {
                labels: labels @ Labels::Tree { .. },
                ..
            } => {
                // All other leaves are in the domain anyhow.
                let mut texts = texts;
                if texts.any(|text| text == MISSING_LABEL) {
                    labels.code(MISSING_LABEL)?;
                }
                Ok(0)
            }
        }
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
