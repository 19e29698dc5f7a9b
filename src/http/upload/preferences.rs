//! Imports of preferences: streamed, checked, and kept in a file until all of
//! them are known to fit.

use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::sync::Arc;

use axum::body::Body;
use serde_json::Value;
use vizard_anonymizer::microdata::{Preference, RecordFormat, Spill as _, TableError};

use super::body_reader::BodyReader;
use super::streamed::{ReadError, streamed};
use crate::config::Limits;
use crate::http::coding::{ContentCoding, Growth, Inflater};
use crate::http::problem::{Problem, ProblemKind};
use crate::http::routes::preferences::PopulationForms;
use crate::http::shares::Share;
use crate::http::state::AppState;
use crate::spill_file::SpillFile;
use crate::store::PreferenceSource;

/// Documents after which a batch is closed.
const BATCH_DOCUMENTS: usize = 8_192;
/// Bytes after which a batch is closed, however few its documents.
const BATCH_BYTES: usize = 2 << 20;

/// Preferences that were read, in a temporary file.
pub struct KeptPreferences {
    room: SpillFile,
    /// Where each batch stands: its first byte, and how many.
    batches: Vec<(u64, usize)>,
    /// Who has a document.
    subjects: SubjectNumbers,
}

impl KeptPreferences {
    /// Who has a document.
    pub fn subjects(&self) -> &SubjectNumbers {
        &self.subjects
    }
}

impl PreferenceSource for KeptPreferences {
    fn subjects(&self) -> usize {
        self.subjects.sorted.len()
    }

    fn batch(&self, index: usize) -> io::Result<Option<Vec<(String, Value)>>> {
        let Some(&(offset, length)) = self.batches.get(index) else {
            return Ok(None);
        };
        let mut bytes = vec![0; length];
        self.room.read_at(offset, &mut bytes)?;
        Ok(Some(serde_json::from_slice(&bytes)?))
    }
}

/// Subjects as numbers of 64 bits: eight bytes each, whatever their length.
/// Two subjects may share a number; among four million one time in two
/// millions, and nobody can bring it about, for the key is drawn.
pub struct SubjectNumbers {
    key: RandomState,
    sorted: Vec<u64>,
    /// How many of them are sorted, and different.
    compact: usize,
}

impl SubjectNumbers {
    fn new() -> Self {
        Self {
            key: RandomState::new(),
            sorted: Vec::new(),
            compact: 0,
        }
    }

    fn add(&mut self, subject: &str) {
        // Lines may repeat subjects: before it grows it is made compact.
        if self.sorted.len() == self.sorted.capacity() && self.sorted.len() >= 2 * self.compact {
            self.sort();
        }
        self.sorted.push(self.number(subject));
    }

    fn sort(&mut self) {
        self.sorted.sort_unstable();
        self.sorted.dedup();
        self.compact = self.sorted.len();
    }

    /// The number of a text.
    pub fn number(&self, text: &str) -> u64 {
        self.key.hash_one(text)
    }

    /// Place of a subject among all of them, if it is one.
    pub fn place(&self, subject: &str) -> Option<usize> {
        self.sorted.binary_search(&self.number(subject)).ok()
    }

    /// How many subjects there are.
    pub fn len(&self) -> usize {
        self.sorted.len()
    }
}

/// Documents on their way into the file.
struct Batches {
    kept: KeptPreferences,
    written: u64,
    open: Vec<u8>,
    documents: usize,
    failure: Option<io::Error>,
}

impl Batches {
    fn add(&mut self, preference: &Preference) -> io::Result<()> {
        self.kept.subjects.add(&preference.subject);
        self.open
            .push(if self.documents == 0 { b'[' } else { b',' });
        let pair = (&preference.subject, &preference.terms);
        serde_json::to_writer(&mut self.open, &pair)?;
        self.documents += 1;
        if self.documents >= BATCH_DOCUMENTS || self.open.len() >= BATCH_BYTES {
            self.close()
        } else {
            Ok(())
        }
    }

    fn close(&mut self) -> io::Result<()> {
        if self.documents == 0 {
            return Ok(());
        }
        self.open.push(b']');
        self.kept.room.append(&self.open)?;
        self.kept.batches.push((self.written, self.open.len()));
        self.written += self.open.len() as u64;
        self.open.clear();
        self.documents = 0;
        Ok(())
    }
}

/// Reads preferences to their end. The share counts until the thread that
/// reads them is done.
pub async fn receive_preferences(
    state: &AppState,
    body: Body,
    (format, coding): (RecordFormat, ContentCoding),
    forms: PopulationForms,
    share: Arc<Share>,
) -> Result<KeptPreferences, Problem> {
    let limits = state.settings.limits;
    let bytes_max = limits.preference_bytes_max();
    let work = move |reader| {
        let _share = share;
        read(reader, (format, coding), &forms, &limits)
    };
    let received = streamed(state, body, bytes_max, work).await?;
    received.map_err(|error| error.problem(&limits, (ProblemKind::InvalidPreference, bytes_max)))
}

fn read(
    body: BodyReader,
    (format, coding): (RecordFormat, ContentCoding),
    forms: &PopulationForms,
    limits: &Limits,
) -> Result<KeptPreferences, ReadError> {
    let growth = Growth {
        ratio_max: limits.inflation_ratio_max,
        bytes_max: limits.preference_bytes_max,
    };
    let mut batches = Batches {
        kept: KeptPreferences {
            room: SpillFile::new().map_err(ReadError::SpillFile)?,
            batches: Vec::new(),
            subjects: SubjectNumbers::new(),
        },
        written: 0,
        open: Vec::new(),
        documents: 0,
        failure: None,
    };
    let body = Inflater::new(body, coding, growth).map_err(ReadError::SpillFile)?;
    let fault = body.fault();
    let mut keep = |preference: Preference| {
        batches.add(&preference).map_err(|error| {
            batches.failure = Some(error);
            TableError::Read("the temporary file failed".into())
        })
    };
    let read = forms.each(body, format, limits, &mut keep);
    if let Some(&fault) = fault.get() {
        return Err(ReadError::Packing(fault));
    }
    if let Some(error) = batches.failure.take() {
        return Err(ReadError::SpillFile(error));
    }
    read?;
    batches.close().map_err(ReadError::SpillFile)?;
    batches.kept.subjects.sort();
    Ok(batches.kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_counted_once_however_often_it_comes() {
        let mut subjects = SubjectNumbers::new();
        for round in 0..10_000 {
            subjects.add(&format!("p{}", round % 100));
        }
        subjects.sort();
        assert_eq!(subjects.len(), 100);
        assert!(
            subjects.sorted.capacity() < 2_000,
            "repeated lines take room"
        );
        assert!(subjects.place("p99").is_some());
        assert!(subjects.place("p100").is_none());
    }
}
