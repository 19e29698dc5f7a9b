//! The records that are stored already, for an upload that adds to them.
//!
//! An append looks who is there. An upsert looks too, and then passes on those
//! records whose subjects it does not name: chunk by chunk into a temporary
//! file, so that memory stays the same, and a chunk that loses none as it is.

use tokio::runtime::Handle;
use vizard_anonymizer::microdata::{
    Multiplicity, Replaced, SubjectKeys, TableError, TextSize, UpsertCounts, decode_chunk,
    encode_chunk,
};

use super::UploadContext;
use super::spool::{Spool, SpooledChunks};
use super::streamed::ReadError;
use crate::store::{ChunkRow, Store, VersionMode};

/// What an upsert did to the records before it.
#[derive(Clone, Copy, Debug)]
pub struct Upserted {
    /// Subjects touched.
    pub subjects: UpsertCounts,
    /// Stored records replaced.
    pub records_replaced: u64,
    /// Stored records that stay.
    pub records_kept: u64,
}

/// The version that an upload adds to; reading it may block.
pub(super) struct Stored<'a> {
    pub intake: &'a UploadContext,
    pub store: &'a Store,
    pub handle: &'a Handle,
}

impl Stored<'_> {
    /// Adds the subjects that are there, if the upload has to know them; the bytes
    /// of text of each chunk that was read for them.
    pub fn add_subjects(&self, subjects: &mut SubjectKeys<'_>) -> Result<Vec<TextSize>, ReadError> {
        let schema = &self.intake.schema;
        match self.intake.mode {
            VersionMode::Append if schema.multiplicity() == Multiplicity::Many => {
                return Ok(Vec::new());
            }
            VersionMode::Append | VersionMode::Upsert => {}
            VersionMode::Replace | VersionMode::Schema => return Ok(Vec::new()),
        }
        let mut texts = Vec::new();
        for chunk in self.chunks()? {
            let decoded = decode_chunk(self.bytes(&chunk)?, schema)?;
            subjects.add_chunk(&decoded, schema)?;
            texts.push(decoded.text_size());
        }
        Ok(texts)
    }

    /// The records that an upsert leaves as they are; `None` where it replaces
    /// none, and the chunks can stay where they are. `texts`: of each stored chunk.
    pub fn kept(
        &self,
        replaced: &Replaced,
        texts: &[TextSize],
    ) -> Result<Option<SpooledChunks>, ReadError> {
        if replaced.records() == 0 {
            return Ok(None);
        }
        let mut spool = Spool::new().map_err(ReadError::SpillFile)?;
        let mut first = 0;
        for (chunk, &text) in self.chunks()?.iter().zip(texts) {
            let (begin, end) = (first, first + chunk.records);
            first = end;
            let loses = (begin..end).filter(|&record| replaced.holds(record));
            let kept = chunk.records - loses.count() as u64;
            let (bytes, text) = match kept {
                0 => continue,
                _ if kept == chunk.records => (self.bytes(chunk)?, text),
                _ => {
                    let decoded = decode_chunk(self.bytes(chunk)?, &self.intake.schema)?;
                    let rest = decoded.filtered(|record| !replaced.holds(begin + record as u64));
                    (encode_chunk(&rest)?, rest.text_size())
                }
            };
            spool
                .push(&bytes, kept, text)
                .map_err(ReadError::SpillFile)?;
        }
        spool.into_chunks().map(Some).map_err(ReadError::SpillFile)
    }

    fn chunks(&self) -> Result<Vec<ChunkRow>, ReadError> {
        let (dataset, version) = (self.intake.dataset.id, self.intake.dataset.version);
        if version == 0 {
            return Ok(Vec::new());
        }
        let chunks = self.store.version_chunk_list(dataset, version);
        self.handle.block_on(chunks).map_err(ReadError::Store)
    }

    fn bytes(&self, chunk: &ChunkRow) -> Result<Vec<u8>, ReadError> {
        let (dataset, version) = (self.intake.dataset.id, self.intake.dataset.version);
        let bytes = self.store.chunk_get(dataset, version, chunk.position);
        self.handle.block_on(bytes).map_err(ReadError::Store)
    }
}

/// A version that would have more records than the service takes is refused.
pub(super) fn check_total(
    records: u64,
    replaced: &Replaced,
    records_max: u64,
) -> Result<(), TableError> {
    if records + replaced.records_kept() > records_max {
        Err(TableError::PastLimit {
            name: "records_max",
            value: records_max,
            unit: "records",
        })
    } else {
        Ok(())
    }
}
