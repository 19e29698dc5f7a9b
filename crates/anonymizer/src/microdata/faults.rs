//! The errors of one input: the first by line, at most ten of a kind; for each
//! kind how many there are; and hints at what is wrong with all of it.
//!
//! A kind is one code of one attribute. One mistake in a file is often a
//! thousand errors of a kind: the first hundred errors alone would show
//! nothing of the second mistake. Memory grows with kinds, of which
//! [`TableError::KINDS_MAX`] are counted apart, never with errors.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::error::{CellError, CellErrorCode, FaultCount, Reason, TableError};
use super::hint::Hint;
use super::row::{Fault, part_and_line};

/// First errors of a kind that are listed.
const OF_A_KIND_MAX: usize = 10;
/// First lines that a count of a kind names.
const LINES_NAMED: usize = 3;
/// Names told that the schema does not know.
const UNKNOWN_NAMES_MAX: usize = 20;

/// Errors found so far.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// By code and attribute; no name is empty, so an empty one is none.
    kinds: BTreeMap<CellErrorCode, BTreeMap<String, Kind>>,
    kinds_count: usize,
    total: u64,
    /// The attributes that each hint is about.
    hints: BTreeMap<Hint, BTreeSet<String>>,
}

/// The errors of one code of one attribute.
#[derive(Debug, Default)]
struct Kind {
    count: u64,
    /// The first by line, ascending.
    first: Vec<First>,
}

/// One error of a kind.
#[derive(Clone, Copy, Debug)]
struct First {
    line: u64,
    /// Errors that came before it.
    before: u64,
    form: Form,
}

/// Where in a line, and how, its form is wrong.
pub(super) type Form = (Option<u64>, Option<Reason>);

impl Faults {
    /// Notes one error. Lines may come in any order; errors of one line stay
    /// in the order in which they came.
    pub fn add(&mut self, line: u64, attribute: Option<&str>, code: CellErrorCode) {
        self.add_formed(line, attribute, code, (None, None));
    }

    /// The same for an error that knows where in the line it stands.
    pub fn add_formed(
        &mut self,
        line: u64,
        attribute: Option<&str>,
        code: CellErrorCode,
        form: Form,
    ) {
        let before = self.total;
        self.total += 1;
        if code == CellErrorCode::NotUtf8 {
            self.hint(None, Hint::NotUtf8);
        }
        let of_code = self.kinds.entry(code).or_default();
        let mut name = attribute.unwrap_or_default();
        let unknown = code == CellErrorCode::AttributeUnknown;
        if unknown && of_code.len() >= UNKNOWN_NAMES_MAX && !of_code.contains_key(name) {
            name = "";
        }
        if !of_code.contains_key(name) {
            if self.kinds_count == TableError::KINDS_MAX {
                return;
            }
            self.kinds_count += 1;
            of_code.insert(name.to_owned(), Kind::default());
        }
        if let Some(kind) = of_code.get_mut(name) {
            kind.add(First { line, before, form });
        }
    }

    /// Notes what is wrong with a line, whose attribute nobody knows.
    pub fn add_line(&mut self, fault: &Fault) {
        self.add_formed(fault.line, None, fault.code, fault.form());
        if let Some(hint) = fault.hint {
            self.hint(None, hint);
        }
    }

    /// Notes what the input looks like, at an attribute where one is concerned.
    pub fn hint(&mut self, attribute: Option<&str>, hint: Hint) {
        let names = self.hints.entry(hint).or_default();
        if let Some(name) = attribute.filter(|name| !names.contains(*name)) {
            names.insert(name.to_owned());
        }
    }

    /// Whether something is known of what the input looks like.
    pub fn has_hint(&self) -> bool {
        !self.hints.is_empty()
    }

    /// Whether nothing is wrong so far.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// The errors as one, if there are any.
    pub fn into_result(self) -> Result<(), TableError> {
        self.into_result_with(&|_, _| None)
    }

    /// The same; `expected` says how the cells of an attribute are written that
    /// were refused by a code.
    pub fn into_result_with(
        self,
        expected: &dyn Fn(&str, CellErrorCode) -> Option<String>,
    ) -> Result<(), TableError> {
        if self.is_empty() {
            return Ok(());
        }
        let hints = self.hints.iter();
        let hints = hints.map(|(hint, names)| hint.sentence(names)).collect();
        let mut summary = Vec::with_capacity(self.kinds_count);
        let mut errors = Vec::new();
        for (code, of_code) in self.kinds {
            for (name, kind) in of_code {
                let attribute = (!name.is_empty()).then_some(name);
                let lines = kind.first.iter().map(|first| part_and_line(first.line));
                let part = lines.clone().next().and_then(|(part, _)| part);
                let lines = lines.filter(|line| line.0 == part).map(|(_, line)| line);
                summary.push(FaultCount {
                    expected: attribute.as_deref().and_then(|name| expected(name, code)),
                    attribute: attribute.clone(),
                    code,
                    count: kind.count,
                    part,
                    first_lines: lines.take(LINES_NAMED).collect(),
                });
                let listed = kind.first.into_iter();
                errors.extend(listed.map(|first| (first, code, attribute.clone())));
            }
        }
        summary.sort_by_key(|kind| Reverse(kind.count));
        errors.sort_by_key(|(first, ..)| (first.line, first.before));
        errors.truncate(TableError::LISTED_MAX);
        let errors = errors.into_iter().map(|(first, code, attribute)| {
            let (part, line) = part_and_line(first.line);
            CellError {
                part,
                line,
                column: first.form.0,
                attribute,
                code,
                reason: first.form.1,
            }
        });
        Err(TableError::Cells {
            errors: errors.collect(),
            total: self.total,
            summary,
            hints,
        })
    }
}

impl Kind {
    fn add(&mut self, error: First) {
        self.count += 1;
        if self.first.len() == OF_A_KIND_MAX {
            if self
                .first
                .last()
                .is_some_and(|last| last.line <= error.line)
            {
                return;
            }
            self.first.pop();
        }
        let at = self.first.partition_point(|one| one.line <= error.line);
        self.first.insert(at, error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Told = (Vec<CellError>, u64, Vec<FaultCount>);

    fn told(faults: Faults) -> Told {
        match faults.into_result() {
            Err(TableError::Cells {
                errors,
                total,
                summary,
                ..
            }) => (errors, total, summary),
            _ => panic!("errors were noted"),
        }
    }

    #[test]
    fn the_first_of_each_kind_are_listed_by_line_and_all_are_counted() {
        let mut faults = Faults::default();
        for line in (1..=500).rev() {
            faults.add(line, Some("age"), CellErrorCode::NotAnInteger);
        }
        faults.add(2, None, CellErrorCode::DuplicateSubject);
        for line in 300..=303 {
            faults.add(line, Some("born"), CellErrorCode::NotADate);
        }
        let (errors, total, summary) = told(faults);
        assert_eq!(total, 505);
        let lines: Vec<u64> = errors.iter().map(|error| error.line).collect();
        let expected: Vec<u64> = [1, 2, 2]
            .into_iter()
            .chain(3..=10)
            .chain(300..=303)
            .collect();
        assert_eq!(lines, expected);
        assert_eq!(errors[2].code, CellErrorCode::DuplicateSubject);
        let counts = summary.iter().map(|kind| {
            let name = kind.attribute.as_deref();
            (name, kind.count, kind.first_lines.as_slice())
        });
        assert_eq!(
            counts.collect::<Vec<_>>(),
            [
                (Some("age"), 500, &[1, 2, 3][..]),
                (Some("born"), 4, &[300, 301, 302][..]),
                (None, 1, &[2][..])
            ]
        );
    }

    #[test]
    fn neither_errors_nor_kinds_nor_names_grow_without_bound() {
        let mut faults = Faults::default();
        for at in 0..2 * TableError::KINDS_MAX {
            for line in 1..=20 {
                faults.add(line, Some(&format!("a{at}")), CellErrorCode::Missing);
            }
        }
        let (errors, total, summary) = told(faults);
        assert_eq!((errors.len(), total), (TableError::LISTED_MAX, 40_000));
        assert_eq!(summary.len(), TableError::KINDS_MAX);

        let mut faults = Faults::default();
        for at in 0..500 {
            let name = format!("a{at}");
            faults.add(1, Some(&name), CellErrorCode::AttributeUnknown);
        }
        let (_, total, summary) = told(faults);
        let named = summary.iter().filter(|kind| kind.attribute.is_some());
        assert_eq!((total, named.count()), (500, UNKNOWN_NAMES_MAX));
        assert_eq!(
            (summary[0].attribute.as_ref(), summary[0].count),
            (None, 480)
        );
    }
}
