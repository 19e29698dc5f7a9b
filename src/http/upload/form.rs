//! Records in a body of several parts: the mapping first, where there is one,
//! then the tables.

use std::io::Read;

use vizard_anonymizer::microdata::{Mapping, Part, Parts, RecordFormat, TableError};

use super::multipart::{Boundary, FormError, Head, Multipart};

/// Name of the part that says which table gives which attribute.
const MAPPING: &str = "mapping";
/// Bytes of a mapping; one more is refused by who reads it.
const MAPPING_BYTES_MAX: u64 = 1 << 20;

/// The tables of a body.
pub struct RecordForm<R> {
    multipart: Multipart<R>,
    /// The part that is read next, where its header was read.
    pending: Option<Head>,
    head: Head,
}

impl<R: Read> RecordForm<R> {
    /// Reads the mapping, where one stands first.
    pub fn open(input: R, boundary: &Boundary) -> Result<(Option<Mapping>, Self), TableError> {
        let mut form = Self {
            multipart: Multipart::new(input, boundary),
            pending: None,
            head: Head::default(),
        };
        let head = form.multipart.next_head().map_err(told)?;
        match head {
            Some(head) if head.name == MAPPING => Ok((Some(form.mapping(&head)?), form)),
            head => {
                form.pending = head;
                Ok((None, form))
            }
        }
    }

    /// A mapping: JSON, or the name of one that is part of the program.
    fn mapping(&mut self, head: &Head) -> Result<Mapping, TableError> {
        let mut text = Vec::new();
        let mut read = (&mut self.multipart).take(MAPPING_BYTES_MAX + 1);
        read.read_to_end(&mut text)
            .map_err(|error| TableError::Read(error.to_string()))?;
        match head.media_type.as_str() {
            "application/json" => Mapping::read(&text),
            "" | "text/plain" => {
                let name = std::str::from_utf8(&text).unwrap_or_default();
                Mapping::shipped(name.trim()).ok_or_else(|| {
                    TableError::Parts(
                        "the mapping is application/json, or text/plain and `fhir` or `omop`"
                            .into(),
                    )
                })
            }
            _ => Err(TableError::Parts("the mapping is application/json".into())),
        }
    }
}

impl<R: Read> Parts for RecordForm<R> {
    fn next_part(&mut self) -> Result<Option<Part<'_>>, TableError> {
        let head = match self.pending.take() {
            Some(head) => Some(head),
            None => self.multipart.next_head().map_err(told)?,
        };
        let Some(head) = head else {
            return Ok(None);
        };
        let format = match head.media_type.as_str() {
            "text/csv" => RecordFormat::Csv,
            "application/x-ndjson" => RecordFormat::Ndjson,
            _ if head.name == MAPPING => {
                let what = "the mapping stands before the tables, once";
                return Err(TableError::Parts(what.into()));
            }
            _ => {
                let what = "a part says content-type: text/csv or application/x-ndjson";
                return Err(TableError::Parts(what.into()));
            }
        };
        self.head = head;
        Ok(Some(Part {
            name: Some(&self.head.name),
            format,
            input: &mut self.multipart,
        }))
    }
}

fn told(error: FormError) -> TableError {
    match error {
        FormError::Form(fault) => TableError::Parts(fault.to_string()),
        FormError::Body(error) => TableError::Read(error.kind().to_string()),
    }
}
