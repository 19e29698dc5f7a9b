//! Spellings of one value: which texts of a sensitive category mean the same,
//! and which mean that there is none.
//!
//! `N390`, `n39.0` and `N39.0 ` are three texts and one diagnosis; `NULL` is
//! none at all. Counted as different values they would make diversity that
//! does not exist. So where a table is put together from its chunks
//! ([`TableBuilder`](super::TableBuilder)) the spellings of one value become
//! its most frequent one, and missing words the missing value: engines,
//! verifier and measures never see that there were more.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::chunk::{Chunk, ChunkColumn};
use super::index::AttributeIndex;
use super::schema::Schema;
use super::spelling::{Form, seen};
use super::value_text::MISSING_LABEL;

/// Words that say that there is no value, in lower case.
///
/// A list of its own: these become missing unasked, and releases depend on it.
/// So `none` and `nil`, which a hint suspects and an inspection asks about, are
/// not here: they may be answers.
const MISSING_WORDS: [&str; 18] = [
    "",
    "-",
    "--",
    ".",
    "?",
    "null",
    "(null)",
    "na",
    "n/a",
    "#n/a",
    "n.a.",
    "n. a.",
    "<na>",
    "<null>",
    "\\n",
    "nan",
    "missing",
    MISSING_LABEL,
];

/// What was taken together in one attribute of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The attribute.
    pub attribute: AttributeIndex,
    /// Spellings that became another one.
    pub spellings: u64,
    /// Records whose text became another one.
    pub records: u64,
}

/// The class of a text: texts of one class are one value; `None` is the class
/// of the missing value. Without forms each text is its own class.
pub fn class(text: &str, forms: &[Form]) -> Option<String> {
    if forms.is_empty() {
        return (text != MISSING_LABEL).then(|| text.to_owned());
    }
    let seen = seen(text);
    let folded = seen.trim().to_lowercase();
    if MISSING_WORDS.contains(&folded.as_str()) {
        return None;
    }
    let trimmed = if forms.contains(&Form::Trim) {
        seen.trim()
    } else {
        text
    };
    let cased = if forms.contains(&Form::Case) {
        trimmed.to_lowercase()
    } else {
        trimmed.to_owned()
    };
    if forms.contains(&Form::Icd10) && is_icd10(&cased) {
        Some(cased.replace('.', ""))
    } else {
        Some(cased)
    }
}

/// Whether a text has the form of an ICD-10 code: a letter, a digit, a digit
/// or letter, and up to four more, before which a dot may stand.
fn is_icd10(text: &str) -> bool {
    let (category, more) = match text.split_once('.') {
        Some((_, "")) => return false,
        Some((category, more)) => (category, more),
        None => text.split_at_checked(3).unwrap_or((text, "")),
    };
    let &[letter, digit, third] = category.as_bytes() else {
        return false;
    };
    letter.is_ascii_alphabetic()
        && digit.is_ascii_digit()
        && third.is_ascii_alphanumeric()
        && more.len() <= 4
        && more.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// For each text its representative: the position of the most frequent text of
/// its class, of several the first in the order of texts; `None` where it is missing. `texts` are
/// texts with the number of their records; those of none speak for themselves.
pub(super) fn representatives<'a>(
    texts: impl Iterator<Item = (&'a str, u32)>,
    forms: &[Form],
) -> Vec<Option<u32>> {
    let mut leader: FxHashMap<String, (u32, (u32, Reverse<&str>))> = FxHashMap::default();
    let mut classes: Vec<(Option<String>, u32)> = Vec::new();
    for (at, (text, count)) in (0..).zip(texts) {
        let class = class(text, forms);
        if let Some(class) = &class {
            let own = (at, (count, Reverse(text)));
            let known = leader.entry(class.clone()).or_insert(own);
            if own.1 > known.1 {
                *known = own;
            }
        }
        classes.push((class, count));
    }
    let own = (0..).zip(&classes);
    own.map(|(at, (class, count))| match class {
        Some(class) if *count > 0 => Some(leader.get(class).map_or(at, |known| known.0)),
        Some(_) => Some(at),
        None => None,
    })
    .collect()
}

/// Labels of an attribute that are counted; what comes behind is not, so that
/// memory stays the same whatever the size of an upload.
const COUNTED_MAX: usize = 100_000;

/// Counts the labels of an upload, to say before any job what a job will take
/// together.
#[derive(Debug)]
pub struct Spellings {
    counted: Vec<Counted>,
}

#[derive(Debug)]
struct Counted {
    attribute: AttributeIndex,
    forms: Vec<Form>,
    labels: BTreeMap<String, u32>,
}

impl Spellings {
    /// Nothing is counted yet.
    pub fn new(schema: &Schema) -> Self {
        let attributes = (0..).zip(schema.attributes());
        let counted = attributes.filter(|(_, attribute)| !attribute.forms().is_empty());
        let counted = counted.map(|(at, attribute)| Counted {
            attribute: AttributeIndex(at),
            forms: attribute.forms().to_vec(),
            labels: BTreeMap::new(),
        });
        Self {
            counted: counted.collect(),
        }
    }

    /// Counts the labels of a chunk of the same schema.
    pub fn add(&mut self, chunk: &Chunk) {
        for counted in &mut self.counted {
            let column = chunk.columns.get(counted.attribute.at());
            let Some(ChunkColumn::Category { labels, codes }) = column else {
                continue;
            };
            let mut counts = vec![0_u32; labels.len()];
            for &code in codes {
                counts[code as usize] += 1;
            }
            for (label, count) in labels.iter().zip(counts) {
                let has_room = counted.labels.len() < COUNTED_MAX;
                match counted.labels.get_mut(label) {
                    Some(known) => *known += count,
                    None if has_room => {
                        counted.labels.insert(label.to_owned(), count);
                    }
                    None => {}
                }
            }
        }
    }

    /// The attributes in which a job takes spellings together.
    pub fn merged(&self) -> Vec<Merged> {
        let all = self.counted.iter().map(Counted::merged);
        all.filter(|merged| merged.spellings > 0).collect()
    }
}

impl Counted {
    fn merged(&self) -> Merged {
        let labels = self.labels.iter();
        let labels = labels.map(|(label, &count)| (label.as_str(), count));
        let labels: Vec<(&str, u32)> = labels.collect();
        let to = representatives(labels.iter().copied(), &self.forms);
        let mut merged = Merged {
            attribute: self.attribute,
            spellings: 0,
            records: 0,
        };
        for ((at, &(label, count)), to) in (0..).zip(&labels).zip(to) {
            let is_kept = to.map_or(label == MISSING_LABEL, |to| to == at);
            merged.spellings += u64::from(!is_kept);
            merged.records += if is_kept { 0 } else { u64::from(count) };
        }
        merged
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::microdata::spelling::DEFAULT_FORMS;

    #[test]
    fn spellings_of_one_code_are_one_class_and_others_are_not() {
        let same =
            |one: &str, other: &str| class(one, DEFAULT_FORMS) == class(other, DEFAULT_FORMS);
        for (one, other) in [
            ("N390", "N39.0"),
            ("n39.0", " N390 "),
            ("Flu", "FLU"),
            ("C7A.00", "c7a00"),
            ("ÄRZTIN", "ärztin"),
            ("N39\u{200b}.0", "\u{feff}N390\u{a0}"),
        ] {
            assert!(same(one, other), "{one} and {other}");
        }
        for (one, other) in [
            ("N39.0", "N39.1"),
            ("1.5", "15"),
            ("v1.25", "v12.5"),
            ("N39.", "N39"),
            ("ward 1.2", "ward 12"),
        ] {
            assert!(!same(one, other), "{one} and {other}");
        }
    }

    #[test]
    fn missing_words_are_no_class_unless_nothing_is_normalized() {
        for word in [
            "NULL",
            "NA",
            "n/a",
            "-",
            ".",
            "",
            "  ",
            "(missing)",
            "NaN",
            "n.a.",
            "<NA>",
            "\\N",
            "\u{200b}",
        ] {
            assert_eq!(class(word, DEFAULT_FORMS), None, "{word}");
            assert_eq!(class(word, &[]).is_none(), word == MISSING_LABEL);
        }
        assert!(class("Nausea", DEFAULT_FORMS).is_some());
    }

    #[test]
    fn only_what_is_named_is_folded() {
        assert_ne!(class("flu", &[Form::Trim]), class("Flu", &[Form::Trim]));
        assert_eq!(class("flu ", &[Form::Trim]), class("flu", &[Form::Trim]));
        assert_ne!(class("N390", &[Form::Case]), class("N39.0", &[Form::Case]));
    }

    #[test]
    fn the_most_frequent_spelling_stands_for_all() {
        let texts = [
            ("N39.0", 2),
            ("N390", 5),
            ("NULL", 1),
            ("n390", 0),
            ("flu", 1),
        ];
        let found = representatives(texts.into_iter(), DEFAULT_FORMS);
        assert_eq!(found, [Some(1), Some(1), None, Some(3), Some(4)]);
    }
}
