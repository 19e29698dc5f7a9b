//! The errors of one input: the first hundred by line, and how many in all.

use super::error::{CellError, CellErrorCode, TableError};

/// Errors found so far. Memory does not grow with their number.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// The first by line, at most [`TableError::LISTED_MAX`], ascending.
    listed: Vec<CellError>,
    total: u64,
}

impl Faults {
    /// Notes one error. Lines may come in any order; errors of one line stay
    /// in the order in which they came.
    pub fn add(&mut self, line: u64, attribute: Option<&str>, code: CellErrorCode) {
        self.total += 1;
        let full = self.listed.len() == TableError::LISTED_MAX;
        if full && self.listed.last().is_some_and(|last| last.line <= line) {
            return;
        }
        if full {
            self.listed.pop();
        }
        let at = self.listed.partition_point(|error| error.line <= line);
        let attribute = attribute.map(str::to_owned);
        let error = CellError {
            line,
            attribute,
            code,
        };
        self.listed.insert(at, error);
    }

    /// Whether nothing is wrong so far.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// The errors as one, if there are any.
    pub fn into_result(self) -> Result<(), TableError> {
        if self.is_empty() {
            return Ok(());
        }
        Err(TableError::Cells {
            errors: self.listed,
            total: self.total,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_hundred_by_line_are_listed_and_all_are_counted() {
        let mut faults = Faults::default();
        for line in (1..=500).rev() {
            faults.add(line, Some("age"), CellErrorCode::NotAnInteger);
        }
        faults.add(2, None, CellErrorCode::DuplicateSubject);
        let Err(TableError::Cells { errors, total }) = faults.into_result() else {
            panic!("errors were noted")
        };
        assert_eq!(total, 501);
        assert_eq!(errors.len(), 100);
        let lines: Vec<u64> = errors.iter().map(|error| error.line).collect();
        let expected: Vec<u64> = [1, 2, 2].into_iter().chain(3..=99).collect();
        assert_eq!(lines, expected);
        assert_eq!(errors[2].code, CellErrorCode::DuplicateSubject);
    }
}
