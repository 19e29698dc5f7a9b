//! What earlier releases show of the subjects of a table, where a job keeps it.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::candidates::{AttributeCandidates, Candidates, NO_CLASS};
use super::canonical::cell_text;
use super::cell::Cell;
use super::table::Content;
use crate::microdata::normalize::class;
use crate::microdata::value_text::MISSING_LABEL;
use crate::microdata::{
    Attribute, Code, CodedColumn, Role, Schema, Table, TableBuilder, TableError,
};
use crate::privacy::{Changes, History, KeptSets, ProtectedIndex, ProtectedSet, Share, are_apart};

/// Why what public releases show cannot be kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{attribute}`: {reason}")]
pub struct Unkept {
    /// The attribute.
    pub attribute: String,
    /// What stands against it.
    pub reason: &'static str,
}

impl Unkept {
    pub(super) fn of(attribute: &Attribute, reason: &'static str) -> Self {
        Self {
            attribute: attribute.name.clone(),
            reason,
        }
    }
}

/// The values that public releases show of an attribute, as they show them.
fn shown_values<'a>(public: &'a [Candidates], attribute: &str) -> BTreeSet<&'a str> {
    let all = public.iter().flat_map(|release| &release.attributes);
    let own = all.filter(|one| one.name == attribute);
    // A list may have the values of other attributes as well.
    own.flat_map(|one| {
        let shown = one.classes.iter().flatten();
        let mut shown: Vec<u32> = shown.map(|&(value, _)| value).collect();
        shown.sort_unstable();
        shown.dedup();
        shown
            .into_iter()
            .map(|value| one.values[value as usize].as_str())
    })
    .collect()
}

/// Whether values of a schema are changed beforehand as public releases show them:
/// what a job keeps of these has no place among values that are changed otherwise.
///
/// # Errors
/// The attribute that is not.
pub fn check_transforms(schema: &Schema, public: &[Candidates]) -> Result<(), Unkept> {
    let mut attributes = schema.attributes().iter();
    let other = attributes.find(|attribute| {
        let own = (!attribute.transform.is_nothing()).then_some(&attribute.transform);
        let mut releases = public.iter();
        releases.any(|release| release.transform_of(&attribute.name) != own)
    });
    let reason = "public releases show values under another transform: give it the transform that \
                  they were made with";
    other.map_or(Ok(()), |attribute| Err(Unkept::of(attribute, reason)))
}

/// Puts what public releases show into the domains of a table, where a job keeps
/// it. After the last record.
///
/// # Errors
/// A value that does not fit the schema.
pub fn also_shown(
    builder: &mut TableBuilder,
    schema: &Schema,
    public: &[Candidates],
) -> Result<(), TableError> {
    for index in schema.protectable() {
        let shown = shown_values(public, &schema.attribute(index).name);
        builder.also(index, shown.into_iter())?;
    }
    for index in schema.select(|attribute| attribute.role == Role::QuasiIdentifier) {
        let shown = shown_ends(public, schema.attribute(index));
        builder.also(index, shown.iter().map(String::as_str))?;
    }
    Ok(())
}

/// The ends of intervals and the members of sets that public releases show of a
/// quasi-identifier, where their groups are kept.
fn shown_ends(public: &[Candidates], attribute: &Attribute) -> BTreeSet<String> {
    let all = public.iter().flat_map(|release| &release.rows);
    let own = all.filter(|column| column.name == attribute.name);
    let mut ends = BTreeSet::new();
    for text in own.flat_map(|column| &column.cells) {
        let cell = Cell::parse(text, Content::Generalized, attribute.kind);
        let cell = cell.map(|cell| match cell {
            Cell::OrMissing(interval) => *interval,
            cell => cell,
        });
        let mut text = |cell: Cell| {
            ends.insert(cell_text(&cell));
        };
        match cell {
            Ok(Cell::Integer(low, high)) => {
                text(Cell::Integer(low, low));
                text(Cell::Integer(high, high));
            }
            Ok(Cell::Decimal(low, high)) => {
                text(Cell::Decimal(low, low));
                text(Cell::Decimal(high, high));
            }
            Ok(Cell::Date(low, high)) => {
                text(Cell::Date(low, low));
                text(Cell::Date(high, high));
            }
            // Of a hierarchy all labels are known.
            Ok(Cell::Label(label)) if attribute.hierarchy.is_none() => {
                ends.insert(label);
            }
            Ok(Cell::Set(labels)) if attribute.hierarchy.is_none() => ends.extend(labels),
            _ => {}
        }
    }
    ends
}

/// The sets of values that public releases, oldest first, show of the subjects
/// of `table`, for the sensitive attributes that the job publishes. Its domains
/// must have all of their values ([`also_shown`]).
///
/// # Errors
/// A release that shows the subjects otherwise than in buckets of values that
/// are equally frequent, or in a set that has some values of another one that was
/// shown of them, and not all.
pub fn history(
    table: &Table,
    (published, changes): (ProtectedSet, Changes),
    public: &[Candidates],
    max_counterfeits: Share,
) -> Result<Arc<History>, Unkept> {
    let records = record_of_subjects(table);
    let protectable = table.schema().protectable().into_iter().enumerate();
    let attributes = protectable.map(|(at, index)| {
        let (attribute, column) = (table.schema().attribute(index), table.coded(index));
        match column.filter(|_| published.contains(ProtectedIndex(at as u8))) {
            Some(column) => sets((attribute, column), public, (&records, changes)),
            None => Ok(KeptSets::default()),
        }
    });
    Ok(Arc::new(History {
        groups: None,
        attributes: attributes.collect::<Result<_, _>>()?,
        max_counterfeits,
    }))
}

/// The sets of one attribute; `records` has the record of each subject.
fn sets(
    (attribute, column): (&Attribute, &CodedColumn),
    public: &[Candidates],
    (records, changes): (&FxHashMap<&str, u32>, Changes),
) -> Result<KeptSets, Unkept> {
    let unkept = |reason| Unkept::of(attribute, reason);
    let codes = codes_by_class(attribute, column);
    // Those of a record, the last one behind the others.
    let mut shown_of: Vec<Vec<Vec<u32>>> = vec![Vec::new(); column.codes.len()];
    for release in public {
        let subjects = release.subjects.iter();
        let own = subjects.map(|subject| records.get(subject).copied());
        let own: Vec<Option<u32>> = own.collect();
        if own.iter().all(Option::is_none) {
            continue;
        }
        let mut shown = release.attributes.iter();
        let Some(shown) = shown.find(|one| one.name == attribute.name) else {
            return Err(unkept(
                "a public release of these subjects does not show it",
            ));
        };
        if shown.stands_in_rows || !shown.is_counted {
            return Err(unkept(
                "a public release shows it otherwise than in buckets of rows",
            ));
        }
        let sets = sets_of_classes(shown, &codes, attribute);
        for (record, &class) in own.into_iter().zip(&shown.class_of) {
            let (Some(record), true) = (record, class != NO_CLASS) else {
                continue;
            };
            let set = sets[class as usize]
                .as_ref()
                .map_err(|&reason| unkept(reason))?;
            let known = &mut shown_of[record as usize];
            if known.last() == Some(set) {
                continue;
            }
            if !known.iter().all(|other| are_apart(other, set)) {
                return Err(unkept(
                    "public releases show a subject in sets of which some values are the same",
                ));
            }
            known.retain(|other| other != set);
            known.push(set.clone());
        }
    }
    let mut occurs = vec![false; column.domain.len()];
    column
        .codes
        .iter()
        .for_each(|code| occurs[code as usize] = true);
    Ok(KeptSets::of(shown_of.into_iter(), changes, &occurs))
}

/// The record of each subject of a table with one record a subject, by their key.
pub(super) fn record_of_subjects(table: &Table) -> FxHashMap<&str, u32> {
    let keys = table.subject_keys();
    let subjects = 0..table.subjects();
    subjects.map(|at| (keys.get(at), at as u32)).collect()
}

/// The code of each value, by the class of its text.
pub fn codes_by_class(attribute: &Attribute, column: &CodedColumn) -> FxHashMap<String, u32> {
    let all = 0..column.domain.len() as u32;
    let known = all.map(|code| (spelled(&column.domain.text(Code(code)), attribute), code));
    known.collect()
}

/// A value as its class of spellings has it.
pub(super) fn spelled(text: &str, attribute: &Attribute) -> String {
    class(text, attribute.forms()).unwrap_or_else(|| MISSING_LABEL.to_owned())
}

/// The set of each class, or what stands against keeping it.
fn sets_of_classes(
    shown: &AttributeCandidates,
    codes: &FxHashMap<String, u32>,
    attribute: &Attribute,
) -> Vec<Result<Vec<u32>, &'static str>> {
    let values = shown.values.iter();
    let values = values.map(|text| codes.get(&spelled(text, attribute)).copied());
    let values: Vec<Option<u32>> = values.collect();
    let set = |class: &Vec<(u32, u32)>| {
        if class.windows(2).any(|pair| pair[0].1 != pair[1].1) {
            return Err("a public release shows buckets in which one value is more frequent");
        }
        let set = class.iter().map(|&(value, _)| values[value as usize]);
        let Some(mut set) = set.collect::<Option<Vec<u32>>>() else {
            return Err("a value of a public release is no leaf of the hierarchy any more");
        };
        set.sort_unstable();
        Ok(set)
    };
    shown.classes.iter().map(set).collect()
}
