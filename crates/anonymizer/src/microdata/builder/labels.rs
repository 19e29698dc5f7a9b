//! The labels of a category while its table is under construction.

use std::sync::Arc;

use super::unfit;
use crate::microdata::codes::Codes;
use crate::microdata::dictionary::TextDictionary;
use crate::microdata::domain::{Domain, Values};
use crate::microdata::error::TableError;
use crate::microdata::hierarchy::Hierarchy;
use crate::microdata::index::Code;
use crate::microdata::normalize::representatives;
use crate::microdata::spelling::Form;
use crate::microdata::value_text::MISSING_LABEL;

/// What was taken together in one column.
#[derive(Default)]
pub struct Taken {
    pub spellings: u64,
    pub records: u64,
}

/// The labels of a category and their provisional codes.
pub enum Labels {
    /// Codes are those of the leaves; behind the last one the missing value.
    Tree {
        tree: Arc<Hierarchy>,
        has_missing: bool,
    },
    /// Codes are in order of first appearance.
    Free(TextDictionary),
}

impl Labels {
    /// The provisional code of a label.
    pub fn code(&mut self, label: &str) -> Result<u32, TableError> {
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
    pub fn take_together(
        &mut self,
        codes: &mut Codes,
        forms: &[Form],
    ) -> Result<Taken, TableError> {
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
    pub fn texts(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match self {
            Self::Tree { tree, .. } => {
                Box::new(tree.leaf_labels().chain(std::iter::once(MISSING_LABEL)))
            }
            Self::Free(dictionary) => Box::new(dictionary.texts().iter()),
        }
    }

    /// The ordered domain, and the codes in it.
    pub fn finish(self, codes: Codes) -> (Domain, Codes) {
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
