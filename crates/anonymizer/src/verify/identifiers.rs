//! `no_source_identifier`: nothing published is an identifier of the source
//! or made from one.
//!
//! A text that the attribute's own domain knows (a value, a node of its
//! hierarchy) tells no more than that attribute does, even where it happens
//! to equal somebody's key: a patient number `35` beside an age of 35 is no
//! leak, and a domain value in the wrong row is named by coverage. So the
//! search is among the *foreign* texts: what no domain knows, cells of columns
//! that should not be there, texts and numbers alike. A foreign text fails if
//! it, or a run of its words, is an identifier of the source; if it starts as the
//! SHA-256 of one does (hex or Base64); or if it is as long as a digest
//! (MD5, SHA-1, SHA-2) and written like one, since salts cannot be guessed.
//!
//! Two disguises do not need a foreign text, and fail as well: numbers (of
//! groups or buckets) that are the key of the row's own subject in more than
//! half of the rows, and an attribute of the schema that repeats the
//! subject's key, whatever role it was given.

use std::collections::BTreeSet;

use rayon::prelude::*;
use rustc_hash::FxHashSet;
use sha2::{Digest, Sha256};

use crate::microdata::{Role, Schema, SubjectIndex, Table, TableColumn};
use crate::release::{Cell, Cells, Content, Item, PublishedColumn};

use super::evidence::Evidence;
use super::meaning::Meaning;
use super::persons::item_is_known;
use super::shape::{MICRODATA, PERSONS, QUASI, SLICED};
use super::verdict::{Check, Failures};

/// What follows the name of an attribute that appears twice.
const SECOND: &str = "@2";
/// Rows, or records, below which a coincidence with keys proves nothing.
const ROWS_MIN: usize = 10;
/// Records looked at to see whether an attribute repeats the key.
const SAMPLE_MAX: usize = 2_000;

/// The check. Needs no view: it reads every column there is.
pub(super) fn no_source_identifier(evidence: &Evidence) -> Check {
    let mut failures = Failures::none();
    let foreign = foreign_texts(evidence);
    if !foreign.is_empty() {
        let identifiers = Identifiers::of(evidence.table);
        for text in &foreign {
            if identifiers.betrayed_by(text) {
                failures.add("a published text is an identifier, or made from one");
            }
        }
    }
    for table in evidence.tables {
        let subjects = match table.name.as_str() {
            MICRODATA | PERSONS | QUASI | SLICED => {
                evidence.lineage.of(&table.name).unwrap_or_default()
            }
            _ => continue,
        };
        for column in &table.columns {
            if numbers_are_keys(evidence.table, subjects, column) {
                failures.add("the numbers of a column are the keys of the rows' subjects");
            }
        }
    }
    let schema = evidence.table.schema();
    for index in schema.publishable() {
        if repeats_key(evidence.table, index) {
            failures.add("an attribute repeats the key of its subject");
            failures
                .attribute
                .get_or_insert_with(|| schema.attribute(index).name.clone());
        }
    }
    Check::structure("no_source_identifier", &failures)
}

/// Texts of published cells and headers that no domain of the schema knows.
fn foreign_texts(evidence: &Evidence) -> BTreeSet<String> {
    let mut foreign = BTreeSet::new();
    for column in evidence.tables.iter().flat_map(|table| &table.columns) {
        match &column.cells {
            Cells::Dictionary { cells, .. } => {
                let unknown = cells
                    .iter()
                    .filter(|cell| !is_known(evidence.table, column, cell));
                unknown.for_each(|cell| add_texts(cell, &mut foreign));
            }
            Cells::Numbers(numbers) if !is_numbering(column) => {
                foreign.extend(numbers.iter().map(u64::to_string));
            }
            Cells::Numbers(_) => {}
        }
    }
    foreign
}

/// Whether a column may hold numbers of the release's own.
fn is_numbering(column: &PublishedColumn) -> bool {
    match column.content {
        Content::Group => column.name == "group",
        Content::Block => column.name == "block" || column.name.ends_with("_block"),
        Content::Bucket => column.name == "bucket" || column.name.ends_with("_bucket"),
        Content::Count => column.name == "count",
        Content::Counterfeits => column.name == "counterfeits",
        Content::Column => column.name == "column",
        _ => false,
    }
}

/// Whether a cell says what the domain of its attribute knows.
fn is_known(table: &Table, column: &PublishedColumn, cell: &Cell) -> bool {
    let schema = table.schema();
    let known_to = |index| {
        let domain = table.coded(index).map(|column| &column.domain);
        domain.is_some_and(|domain| Meaning::of(cell, domain) != Meaning::Unknown)
    };
    match column.content {
        Content::Generalized | Content::Exact => schema
            .find(column.name.strip_suffix(SECOND).unwrap_or(&column.name))
            .filter(|&index| schema.attribute(index).role != Role::Identifier)
            .is_some_and(known_to),
        Content::Fingerprint => is_fingerprint_known(table, column, cell),
        Content::Value => schema.protectable().into_iter().any(known_to),
        Content::Attribute => is_attribute_name(schema, cell),
        _ => false,
    }
}

/// Whether every member of a fingerprint is something that the attribute knows.
fn is_fingerprint_known(table: &Table, column: &PublishedColumn, cell: &Cell) -> bool {
    let schema = table.schema();
    let sensitive = schema
        .find(&column.name)
        .filter(|&index| schema.attribute(index).role == Role::Sensitive);
    let Some(source) = sensitive.and_then(|index| table.coded(index)) else {
        return false;
    };
    let known = |label: &String| item_is_known(&source.domain, label);
    match cell {
        Cell::Masked => true,
        Cell::Items(items) => items.iter().all(|item| match item {
            Item::Node(label) => known(label),
            Item::Union(labels) => labels.iter().all(known),
        }),
        _ => false,
    }
}

fn is_attribute_name(schema: &Schema, cell: &Cell) -> bool {
    match cell {
        Cell::Label(name) => schema.find(name).is_some(),
        _ => false,
    }
}

/// The texts that a cell is written with.
fn add_texts(cell: &Cell, to: &mut BTreeSet<String>) {
    use crate::microdata::value_text::{date_text, decimal_text};
    match cell {
        Cell::Empty | Cell::Masked => {}
        Cell::Integer(lo, hi) => to.extend([lo.to_string(), hi.to_string()]),
        Cell::Decimal(lo, hi) => to.extend([decimal_text(*lo), decimal_text(*hi)]),
        Cell::Date(lo, hi) => to.extend([date_text(*lo), date_text(*hi)]),
        Cell::Label(label) => to.extend([label.clone()]),
        Cell::Set(labels) => to.extend(labels.iter().cloned()),
        Cell::OrMissing(interval) => add_texts(interval, to),
        Cell::Items(items) => to.extend(items.iter().flat_map(|item| match item {
            Item::Node(label) => vec![label.clone()],
            Item::Union(labels) => labels.clone(),
        })),
    }
}

/// The identifiers of a table and how their digests begin.
struct Identifiers<'a> {
    texts: FxHashSet<&'a str>,
    digests: FxHashSet<[u8; DIGEST_PREFIX]>,
}

/// Words of a foreign text that are looked at.
const WORDS_MAX: usize = 32;

/// Bytes of a digest that are compared: enough that chance does not matter,
/// few enough to know a digest that was cut short.
const DIGEST_PREFIX: usize = 6;

impl<'a> Identifiers<'a> {
    fn of(table: &'a Table) -> Self {
        let columns = table.columns().iter().filter_map(|column| match column {
            TableColumn::Identifier(texts) => Some(texts.iter()),
            TableColumn::Coded(_) => None,
        });
        let all = columns.flatten().chain(table.subject_keys().iter());
        let mut identifiers = Self {
            texts: FxHashSet::default(),
            digests: FxHashSet::default(),
        };
        for text in all {
            identifiers.texts.insert(text);
            let digest = Sha256::digest(text.as_bytes());
            identifiers.digests.insert(digest_prefix(&digest));
        }
        identifiers
    }

    fn betrayed_by(&self, text: &str) -> bool {
        if self.texts.contains(text) || self.holds_run_of_words(text) {
            return true;
        }
        let bare = text.trim_start_matches("0x");
        let decoded = [hex(bare), base64(bare)];
        decoded.into_iter().flatten().any(|bytes| {
            matches!(bytes.len(), 16 | 20 | 28 | 32 | 48 | 64)
                || (bytes.len() >= DIGEST_PREFIX && self.digests.contains(&digest_prefix(&bytes)))
        })
    }

    /// Whether words of a text that stand together, with what is between
    /// them, are an identifier. Of long texts the first words.
    fn holds_run_of_words(&self, text: &str) -> bool {
        let words = text.split(|character: char| !character.is_alphanumeric());
        let ends = words.filter(|word| !word.is_empty()).map(|word| {
            let start = word.as_ptr().addr() - text.as_ptr().addr();
            (start, start + word.len())
        });
        let ends: Vec<(usize, usize)> = ends.take(WORDS_MAX).collect();
        let runs = ends.iter().enumerate().flat_map(|(at, &(start, _))| {
            ends[at..].iter().map(move |&(_, end)| &text[start..end])
        });
        runs.into_iter().any(|run| self.texts.contains(run))
    }
}

fn digest_prefix(bytes: &[u8]) -> [u8; DIGEST_PREFIX] {
    std::array::from_fn(|at| bytes[at])
}

/// The bytes of a text of hexadecimal digits; an odd last digit is left out.
fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .map(|digit| Some(digit.to_digit(16)? as u8))
        .collect();
    Some(
        digits?
            .chunks_exact(2)
            .map(|pair| pair[0] << 4 | pair[1])
            .collect(),
    )
}

/// The bytes of a text in Base64, either alphabet, padded or not.
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut held) = (0_u32, 0_u32);
    for character in text.trim_end_matches('=').bytes() {
        let digit = match character {
            b'A'..=b'Z' => character - b'A',
            b'a'..=b'z' => character - b'a' + 26,
            b'0'..=b'9' => character - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(digit);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    Some(bytes)
}

/// Whether a number column holds the key of the row's own subject in more
/// than half of the rows.
fn numbers_are_keys(table: &Table, subjects: &[SubjectIndex], column: &PublishedColumn) -> bool {
    let Cells::Numbers(numbers) = &column.cells else {
        return false;
    };
    let keys = table.subject_keys();
    let rows = numbers.par_iter().zip(subjects);
    let same = rows.filter(|(number, subject)| {
        subject.at() < keys.len() && keys.get(subject.at()).parse() == Ok(**number)
    });
    numbers.len() >= ROWS_MIN && same.count() * 2 > numbers.len()
}

/// Whether an attribute is the subject's key under another name: its text is
/// the key in more than half of the first records.
fn repeats_key(table: &Table, index: crate::microdata::AttributeIndex) -> bool {
    use crate::microdata::RecordIndex;
    let Some(column) = table.coded(index) else {
        return false;
    };
    let sample = table.records().min(SAMPLE_MAX);
    let same = (0..sample).map(RecordIndex::from_usize).filter(|&record| {
        let key = table.subject_keys().get(table.subject_of(record).at());
        column.domain.text(column.code(record)) == key
    });
    sample >= ROWS_MIN && same.count() * 2 > sample
}
