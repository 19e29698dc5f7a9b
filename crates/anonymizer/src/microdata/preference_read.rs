//! Preferences in bulk, as CSV or NDJSON, and the strict reading of one.
//!
//! CSV has the columns `subject`, `sensitive`, `max_leakage`,
//! `max_reidentification` and `exclude` in any order; all but the first may
//! be absent, and an empty cell says nothing. NDJSON has one document of
//! data.md a line. Where a subject occurs twice, the later line wins.
//! Unknown and repeated fields are refused, for a preference misread is a
//! person unprotected.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read;

use super::cell;
use super::csv::CsvRows;
use super::dictionary::TextDictionary;
use super::error::{CellErrorCode, TableError};
use super::faults::Faults;
use super::hierarchy::{HierarchySet, HierarchySource};
use super::hint::Hint;
use super::json_shape::json_shape;
use super::limits::Target;
use super::lines::{Line, Lines};
use super::preference::{GivenTerms, MaxLeakageTerms, Misfit, Preference, Probability, Terms};
use super::preference_document::Draft;
use super::preference_document::Refusal;
use super::records::RecordFormat;
use super::row::{Fault, LinePosition, Row, Rows};
use super::schema::Schema;

/// The columns that CSV may have; the first must be there.
const COLUMNS: [&str; 5] = [
    "subject",
    "sensitive",
    "max_leakage",
    "max_reidentification",
    "exclude",
];

/// Reads preferences to their end: one per subject, in order of first
/// appearance, each checked against the schema and its hierarchies.
///
/// The error [`TableError::Cells`] names lines and fields. The limits of the
/// target bound lines and cells.
pub fn read_preferences(
    input: impl Read,
    format: RecordFormat,
    target: &Target<'_>,
) -> Result<Vec<Preference>, TableError> {
    let mut subjects = TextDictionary::default();
    let mut preferences = Vec::new();
    let mut given = GivenTerms::default();
    let mut keep = |mut preference: Preference| {
        preference.terms = given.shared(preference.terms);
        match subjects.intern(&preference.subject) {
            (_, true) => preferences.push(preference),
            (known, false) => preferences[known as usize] = preference,
        }
        Ok(())
    };
    each_preference(input, format, (target, &[]), &mut keep)?;
    Ok(preferences)
}

/// The same one by one, in bounded memory: `keep` gets every line's preference,
/// of one subject perhaps several, of which the last one counts. Nothing that
/// it got counts if this answers an error.
///
/// Terms may hold in several datasets: those that do not fit the target's schema
/// and hierarchies may name what one of the others has.
pub fn each_preference(
    input: impl Read,
    format: RecordFormat,
    (target, others): (&Target<'_>, &[(Schema, HierarchySet)]),
    keep: &mut dyn FnMut(Preference) -> Result<(), TableError>,
) -> Result<(), TableError> {
    let mut bulk = Bulk {
        target,
        others,
        keep,
        faults: Faults::default(),
    };
    match format {
        RecordFormat::Csv => bulk.read_csv(input)?,
        RecordFormat::Ndjson => bulk.read_ndjson(input)?,
    }
    bulk.faults.into_result()
}

struct Bulk<'t> {
    target: &'t Target<'t>,
    others: &'t [(Schema, HierarchySet)],
    keep: &'t mut dyn FnMut(Preference) -> Result<(), TableError>,
    faults: Faults,
}

impl Bulk<'_> {
    fn read_csv(&mut self, input: impl Read) -> Result<(), TableError> {
        let mut rows = CsvRows::new(input, self.target.limits.record_bytes_max)?;
        rows.take_delimiter_of_header()?;
        let Some(columns) = self.read_header(&mut rows)? else {
            return Ok(());
        };
        let width = rows.width();
        let mut lines = 0;
        loop {
            let line = match rows.next_row()? {
                Row::Cells(line) => line,
                Row::Fault(fault) => {
                    self.faults.add_line(&fault);
                    continue;
                }
                Row::Stop(fault) => {
                    self.faults.add_line(&fault);
                    return Ok(());
                }
                Row::End => return Ok(()),
            };
            lines += 1;
            if lines > self.target.limits.records_max {
                self.faults.add(line, None, CellErrorCode::TooManyRecords);
                return Ok(());
            }
            if rows.width() != width {
                let fault = Fault::cell_count(line, rows.width(), width);
                self.faults.add_line(&fault);
                continue;
            }
            let cell = |at: usize| columns[at].map_or(&[][..], |column| rows.cell(column));
            let read = read_cells(cell, self.target.limits.cell_bytes_max);
            self.take(line, read)?;
        }
    }

    fn read_header(
        &mut self,
        rows: &mut CsvRows<impl Read>,
    ) -> Result<Option<[Option<usize>; 5]>, TableError> {
        let line = match rows.next_row()? {
            Row::Cells(line) => line,
            Row::Fault(fault) | Row::Stop(fault) => {
                self.faults.add_line(&fault);
                return Ok(None);
            }
            Row::End => 1,
        };
        if rows.width() > 0
            && let Some(hint) = Hint::of_header(rows.cell(0), rows.width())
        {
            self.faults.hint(None, hint);
        }
        let mut columns = [None; 5];
        for column in 0..rows.width() {
            let name = rows.cell(column);
            match COLUMNS.iter().position(|known| known.as_bytes() == name) {
                None => self.faults.add(line, None, CellErrorCode::AttributeUnknown),
                Some(at) if columns[at].is_some() => {
                    let code = CellErrorCode::AttributeRepeated;
                    self.faults.add(line, Some(COLUMNS[at]), code);
                }
                Some(at) => columns[at] = Some(column),
            }
        }
        if columns[0].is_none() {
            let code = CellErrorCode::AttributeMissing;
            self.faults.add(line, Some(COLUMNS[0]), code);
        }
        Ok(self.faults.is_empty().then_some(columns))
    }

    fn read_ndjson(&mut self, input: impl Read) -> Result<(), TableError> {
        let mut lines = Lines::new(input, self.target.limits.record_bytes_max)?;
        let mut count = 0;
        loop {
            let line = match lines.next_line()? {
                Line::Here(line) => line,
                Line::TooLong(line) => {
                    self.faults.add(line, None, CellErrorCode::RecordTooLong);
                    return Ok(());
                }
                Line::End => return Ok(()),
            };
            count += 1;
            if count > self.target.limits.records_max {
                self.faults.add(line, None, CellErrorCode::TooManyRecords);
                return Ok(());
            }
            if json_shape(lines.bytes()).levels > self.target.limits.json_depth_max {
                self.faults.add(line, None, CellErrorCode::NestsTooDeep);
                continue;
            }
            let draft = match serde_json::from_slice::<Draft>(lines.bytes()) {
                Ok(draft) => draft,
                Err(error) => {
                    self.faults.add_line(&malformed(line, &error));
                    continue;
                }
            };
            let read = draft.into_preference().and_then(|mut preference| {
                let bytes_max = self.target.limits.cell_bytes_max;
                preference.subject = read_subject(preference.subject.as_bytes(), bytes_max)?;
                Ok(preference)
            });
            self.take(line, read)?;
        }
    }

    /// Whether each thing that terms name fits one of the datasets.
    fn fits_together(&self, terms: &Terms) -> bool {
        let own = (self.target.schema, self.target.hierarchies);
        let others = self.others.iter().map(|(schema, tree)| (schema, tree));
        !self.others.is_empty()
            && one_by_one(terms).iter().all(|one| {
                std::iter::once(own)
                    .chain(others.clone())
                    .any(|(schema, trees)| check_terms(one, schema, trees).is_ok())
            })
    }

    /// Keeps what a line says, if it fits the schema.
    fn take(&mut self, line: u64, read: Result<Preference, Refusal>) -> Result<(), TableError> {
        let Target {
            schema,
            hierarchies,
            ..
        } = *self.target;
        let read = read.and_then(|mut preference| {
            preference.subject = schema.normalized_key(&preference.subject).into_owned();
            if preference.subject.is_empty() {
                Err((Some(COLUMNS[0]), CellErrorCode::Missing))
            } else {
                Ok(preference)
            }
        });
        let read = read.map_err(|(field, code)| (field.map(Cow::Borrowed), code));
        let fitting = read.and_then(|preference| {
            let terms = &preference.terms;
            match check_terms(terms, schema, hierarchies) {
                // Each thing that they name must fit somewhere.
                Err(_) if self.fits_together(terms) => {}
                checked => checked.map_err(|(field, code)| (Some(field), code))?,
            }
            Ok(preference)
        });
        match fitting {
            Err((field, code)) => self.faults.add(line, field.as_deref(), code),
            // After a fault nothing counts any more: the rest is only looked at.
            Ok(_) if !self.faults.is_empty() => {}
            Ok(preference) => (self.keep)(preference)?,
        }
        Ok(())
    }
}

/// A line that is no preference; what stands in it is not repeated.
fn malformed(line: u64, error: &serde_json::Error) -> Fault {
    let reason = if error.is_data() {
        "a value that its field does not take"
    } else {
        "no JSON"
    };
    Fault::malformed(line, LinePosition::Byte(error.column()), reason)
}

/// Terms that name one thing each, and together what `terms` names.
fn one_by_one(terms: &Terms) -> Vec<Terms> {
    let sensitive = terms.sensitive.iter().flatten().map(|name| Terms {
        sensitive: Some(vec![name.clone()]),
        ..Terms::default()
    });
    let bounds = match &terms.max_leakage {
        Some(MaxLeakageTerms::PerAttribute(bounds)) => Some(bounds),
        Some(MaxLeakageTerms::All(_)) | None => None,
    };
    let bounds = bounds.into_iter().flatten().map(|(name, bound)| {
        let bound = BTreeMap::from([(name.clone(), *bound)]);
        Terms {
            max_leakage: Some(MaxLeakageTerms::PerAttribute(bound)),
            ..Terms::default()
        }
    });
    let guards = terms.guard.iter().flat_map(|(name, nodes)| {
        // A guard without nodes names an attribute all the same.
        let parts = nodes
            .chunks(1)
            .chain(nodes.is_empty().then_some(&nodes[..]));
        parts.map(|part| Terms {
            guard: BTreeMap::from([(name.clone(), part.to_vec())]),
            ..Terms::default()
        })
    });
    sensitive.chain(bounds).chain(guards).collect()
}

/// Checks that terms fit a schema and that guards name nodes of its
/// hierarchies; the error is the field or attribute at fault, and what is
/// wrong with it.
///
/// Intervals are laid over the numbers of a dataset version, and a hierarchy
/// may come after the preferences: guards of both are taken as they are, and
/// bind where they name a node.
pub fn check_terms(
    terms: &Terms,
    schema: &Schema,
    hierarchies: &HierarchySet,
) -> Result<(), Misfit> {
    terms.check(schema)?;
    for (name, nodes) in &terms.guard {
        let hierarchy = schema
            .find(name)
            .and_then(|index| schema.attribute(index).hierarchy.as_ref());
        let Some(hierarchy) = hierarchy else {
            return Err(("guard".into(), CellErrorCode::NotANode));
        };
        if let Some(HierarchySource::Tree(tree)) = hierarchies.get(hierarchy)
            && nodes.iter().any(|node| tree.find(node).is_none())
        {
            return Err(("guard".into(), CellErrorCode::NotANode));
        }
    }
    Ok(())
}

fn read_subject(cell: &[u8], bytes_max: usize) -> Result<String, Refusal> {
    let at_subject = |code| (Some(COLUMNS[0]), code);
    match cell::trimmed(cell) {
        [] => Err(at_subject(CellErrorCode::Missing)),
        cell => cell::text(cell, bytes_max)
            .map(str::to_owned)
            .map_err(at_subject),
    }
}

/// Reads the cells of one CSV row, in the order of [`COLUMNS`].
fn read_cells<'r>(
    cell: impl Fn(usize) -> &'r [u8],
    bytes_max: usize,
) -> Result<Preference, Refusal> {
    let text = |at: usize| {
        cell::text(cell::trimmed(cell(at)), bytes_max).map_err(|code| (Some(COLUMNS[at]), code))
    };
    let probability = |at: usize| match text(at)? {
        "" => Ok(None),
        written => {
            let refused = |code| (Some(COLUMNS[at]), code);
            let value = cell::decimal(written.as_bytes());
            let value = value.ok_or(refused(CellErrorCode::NotADecimal))?;
            let probability = Probability::new(value);
            Ok(Some(
                probability.ok_or(refused(CellErrorCode::OutOfBounds))?,
            ))
        }
    };
    let subject = read_subject(cell(0), bytes_max)?;
    let sensitive = match text(1)? {
        "" => None,
        names => Some(
            names
                .split('|')
                .map(|name| name.trim().to_owned())
                .collect(),
        ),
    };
    let terms = Terms {
        sensitive,
        max_leakage: probability(2)?.map(MaxLeakageTerms::All),
        max_reidentification: probability(3)?,
        exclude: match text(4)? {
            "" | "false" => false,
            "true" => true,
            _ => return Err((Some(COLUMNS[4]), CellErrorCode::NotATruthValue)),
        },
        guard: BTreeMap::new(),
    };
    Ok(Preference {
        subject,
        terms: terms.into(),
    })
}

#[cfg(test)]
mod tests;
