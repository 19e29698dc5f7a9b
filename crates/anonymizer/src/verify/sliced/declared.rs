//! Which attributes form a column: what the published table `columns` says,
//! held against the job's policy.
//!
//! `columns_as_declared`: `columns` has one row for each attribute of `sliced`,
//! in its order; generalized attributes come first and have no column number,
//! columns are numbered from 1; an attribute's second appearance is called
//! `name@2`. Columns that the policy names are those; columns that the engine
//! found hold every quasi-identifier and sensitive attribute once, and stand
//! in the order of the schema, as do the attributes inside them. Insensitive
//! attributes have a column each, behind the others.

use crate::microdata::{AttributeIndex, Role, Schema};
use crate::privacy::{ColumnRule, Slicing};
use crate::release::Cell;

use crate::verify::evidence::Evidence;
use crate::verify::meaning::{dictionary, numbers};
use crate::verify::shape::{COLUMNS, SECOND_SUFFIX};
use crate::verify::verdict::{Check, Failures};

/// The most attributes that a `columns` table is read for.
const ENTRIES_MAX: usize = 2 * u16::MAX as usize;

/// What `columns` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Declared {
    pub(super) generalized: Vec<AttributeIndex>,
    pub(super) columns: Vec<Vec<AttributeIndex>>,
}

/// Reads the table `columns`; `None` if it cannot be read.
pub(super) fn read(evidence: &Evidence) -> Option<Declared> {
    let table = evidence.published(COLUMNS)?;
    let [number, name] = &table.columns[..] else {
        return None;
    };
    let (codes, cells) = dictionary(name)?;
    let numbers = numbers(number)?;
    if codes.len() != numbers.len() || codes.len() > ENTRIES_MAX {
        return None;
    }
    let mut declared = Declared::default();
    for (code, &number) in codes.iter().zip(numbers) {
        let Cell::Label(header) = &cells[code as usize] else {
            return None;
        };
        let attribute = attribute_of(evidence.table.schema(), header, &declared)?;
        let last = declared.columns.len() as u64;
        match number {
            0 if last == 0 => declared.generalized.push(attribute),
            _ if number == last && last > 0 => declared.columns.last_mut()?.push(attribute),
            _ if number == last + 1 => declared.columns.push(vec![attribute]),
            _ => return None,
        }
    }
    Some(declared)
}

/// The attribute that a header names, by whether it was named before.
fn attribute_of(schema: &Schema, header: &str, before: &Declared) -> Option<AttributeIndex> {
    let publishable = |name: &str| {
        let found = schema.find(name)?;
        (schema.attribute(found).role != Role::Identifier).then_some(found)
    };
    let times = |attribute: AttributeIndex| {
        let all = before
            .generalized
            .iter()
            .chain(before.columns.iter().flatten());
        all.filter(|&&named| named == attribute).count()
    };
    let second = header.strip_suffix(SECOND_SUFFIX).and_then(publishable);
    match second.filter(|&attribute| times(attribute) == 1) {
        Some(attribute) => Some(attribute),
        None => publishable(header).filter(|&attribute| times(attribute) == 0),
    }
}

/// The check; nothing declared fails.
pub(super) fn columns_as_declared(
    evidence: &Evidence,
    slicing: &Slicing,
    declared: Option<&Declared>,
) -> Check {
    let mut failures = Failures::none();
    match declared {
        None => failures.add("the table `columns` does not say which attributes form a column"),
        Some(declared) => compare(evidence.table.schema(), slicing, declared, &mut failures),
    }
    Check::structure("columns_as_declared", &failures)
}

fn compare(schema: &Schema, slicing: &Slicing, declared: &Declared, failures: &mut Failures) {
    if declared.generalized != slicing.generalize {
        failures.add("the attributes generalized are not those of the job");
    }
    let insensitive = schema.select(|attribute| attribute.role == Role::Insensitive);
    let alone: Vec<Vec<AttributeIndex>> = insensitive.iter().map(|&at| vec![at]).collect();
    let Some(columns) = declared.columns.strip_suffix(&alone[..]) else {
        failures.add("insensitive attributes do not have a column each behind the others");
        return;
    };
    match &slicing.columns {
        ColumnRule::Given(given) if columns != &given[..] => {
            failures.add("the columns are not those of the job");
        }
        ColumnRule::Given(_) => {}
        ColumnRule::Found { .. } => {
            let mut wanted = schema.select(|attribute| {
                matches!(attribute.role, Role::QuasiIdentifier | Role::Sensitive)
            });
            wanted.retain(|at| !slicing.generalize.contains(at) && !slicing.drop.contains(at));
            let mut found = columns.concat();
            found.sort_unstable();
            if found != wanted {
                failures.add("not every attribute is in one column");
            }
            let is_sorted = columns.iter().all(|column| column.is_sorted());
            if !is_sorted || !columns.is_sorted() {
                failures.add("columns that were found are not in the order of the schema");
            }
        }
    }
}
