//! A column of codes with the domain they point into.

use std::sync::Arc;

use super::codes::Codes;
use super::domain::Domain;
use super::index::{Code, RecordIndex};

/// One published attribute of a table: a code per record.
#[derive(Clone, Debug)]
pub struct CodedColumn {
    /// The ordered domain.
    pub domain: Arc<Domain>,
    /// One code per record, in order of records.
    pub codes: Codes,
}

impl CodedColumn {
    /// The code of a record.
    #[inline]
    pub fn code(&self, record: RecordIndex) -> Code {
        Code(self.codes.at(record.at()))
    }

    /// How often each code occurs; one entry per code of the domain.
    pub fn histogram(&self) -> Vec<u32> {
        self.codes.histogram(self.domain.len())
    }
}
