//! Uploads of records: streamed, checked, atomic, at constant memory.
//!
//! The body is passed piece by piece to a thread that may block. There it is
//! read and checked record by record, and chunks go to an unlinked temporary
//! file. Only when the whole body was valid are all chunks written to the
//! store, in one transaction: a slow client never holds a lock of the
//! database, and an invalid body never touches it.

mod body_reader;
mod forgotten;
mod form;
mod hierarchies;
mod inspections;
mod multipart;
mod population_tables;
mod preferences;
mod spool;
mod stored;
mod streamed;
mod threads;

pub use forgotten::without_subject;
pub use hierarchies::{Found, load_hierarchies, parse_hierarchy, pins, require_extended};
pub use inspections::inspect_body;
pub use multipart::Boundary;
pub use population_tables::receive_population_table;
pub use preferences::{KeptPreferences, receive_preferences};

use std::sync::Arc;

use axum::body::Body;
use tokio::runtime::Handle;
use vizard_anonymizer::microdata::{
    Merged, PartsSummary, ReadLimits, ReadSummary, RecordFormat, Replaced, Schema, Sink, Spellings,
    Spill, SubjectKeys, TableError, Target, TextSize, encode_chunk, read_parquet_records,
    read_parts, read_records,
};

use super::coding::{ContentCoding, Growth, Inflater};
use super::problem::{Problem, ProblemKind};
use super::shares::Share;
use super::state::AppState;
use crate::spill_file::SpillFile;
use crate::store::{ChunkSource, DatasetRow, Store, VersionMode};
use body_reader::BodyReader;
use form::RecordForm;
use spool::{BodyFault, Spool, spool_body};
use stored::{Stored, check_total};
use streamed::{ReadError, streamed};

pub use stored::Upserted;
pub use threads::ReadingThreads;

/// The form of a body of records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UploadFormat {
    /// One that is read while it arrives.
    Streamed(RecordFormat),
    /// A file with its table of contents at its end: read when it is there.
    Parquet,
    /// Tables about one subject, one behind the other.
    Parts(Boundary),
}

/// What an upload is read for.
pub struct UploadContext {
    /// The dataset, as it was when the upload began.
    pub dataset: DatasetRow,
    /// Its schema.
    pub schema: Schema,
    /// The hierarchies that the schema names.
    pub hierarchies: Found,
    /// The form of the body.
    pub format: UploadFormat,
    /// How the body is packed, and how much it may grow.
    pub coding: (ContentCoding, Growth),
    /// Whether the records before stay; no change of the schema.
    pub mode: VersionMode,
    /// How much may come.
    pub limits: ReadLimits,
    /// The only subject that it may name; `None`: anybody.
    pub only: Option<String>,
}

impl UploadContext {
    /// What the body is read for.
    fn target(&self) -> Target<'_> {
        Target {
            schema: &self.schema,
            hierarchies: &self.hierarchies.set,
            limits: self.limits,
        }
    }
}

/// What a body brought.
pub struct Received {
    /// Its counts and its digest.
    pub summary: ReadSummary,
    /// What each table brought, of a body of parts.
    pub parts: Option<PartsSummary>,
    /// Its spellings of one value.
    pub merged: Vec<Merged>,
    /// The chunks to be committed.
    pub chunks: ChunkSource,
    /// What became of the records before, where some may be replaced.
    pub upserted: Option<Upserted>,
}

/// Reads a body to its end. The share is
/// shared with the request: an upload that is given up counts until the thread
/// that reads it is done.
pub async fn receive(
    state: &AppState,
    body: Body,
    intake: UploadContext,
    share: Arc<Share>,
) -> Result<Received, Problem> {
    let limits = &state.settings.limits;
    let bytes_max = limits.upload_bytes_max();
    let (store, handle) = (Arc::clone(&state.store), Handle::current());
    let work = move |reader| {
        let _share = share;
        read(&intake, reader, store.as_ref(), &handle)
    };
    let received = streamed(state, body, bytes_max, work).await?;
    received.map_err(|error| error.problem(limits, (ProblemKind::InvalidData, bytes_max)))
}

/// Reads records from `body` into a temporary file; may block.
fn read(
    intake: &UploadContext,
    body: BodyReader,
    store: &Store,
    handle: &Handle,
) -> Result<Received, ReadError> {
    let mut room = SpillFile::new().map_err(ReadError::SpillFile)?;
    let mut subjects = SubjectKeys::new(hash_key()?, &mut room);
    if intake.mode == VersionMode::Upsert {
        subjects = subjects.of_upsert();
    }
    let stored = Stored {
        intake,
        store,
        handle,
    };
    let texts = stored.add_subjects(&mut subjects)?;
    let mut spool = Spool::new().map_err(ReadError::SpillFile)?;
    let mut failure = None;
    let mut spellings = Spellings::new(&intake.schema);
    let target = intake.target();
    let mut names_another = false;
    let mut keep = |chunk: vizard_anonymizer::microdata::Chunk| {
        if let Some(only) = &intake.only
            && chunk.records_of(&intake.schema, only).len() < chunk.records
        {
            names_another = true;
            return Err(TableError::Read("another subject".into()));
        }
        spellings.add(&chunk);
        let bytes = encode_chunk(&chunk)?;
        let spooled = spool.push(&bytes, chunk.records as u64, chunk.text_size());
        spooled.map_err(|error| {
            let said = TableError::Read("the temporary file failed".into());
            failure = Some(error);
            said
        })
    };
    let (coding, growth) = intake.coding;
    let mut body = Inflater::new(body, coding, growth).map_err(ReadError::SpillFile)?;
    let fault = body.fault();
    let mut cells = SpillFile::new().map_err(ReadError::SpillFile)?;
    let rooms = (&target, &mut cells);
    let read = read_body(&mut body, &intake.format, rooms, &mut subjects, &mut keep);
    if let Some(&fault) = fault.get() {
        return Err(ReadError::Packing(fault));
    }
    let replaced = subjects.replaced();
    if names_another {
        return Err(ReadError::OtherSubject);
    }
    if let Some(error) = failure.or(room.failure()).or(cells.failure()) {
        return Err(ReadError::SpillFile(error));
    }
    let (summary, parts) = read?;
    let chunks = spool.into_chunks().map_err(ReadError::SpillFile)?;
    let received = Received {
        summary,
        parts,
        merged: spellings.merged(),
        chunks: Box::new(chunks),
        upserted: None,
    };
    match replaced {
        None => Ok(received),
        Some(replaced) => with_kept(received, &replaced, (&stored, &texts)),
    }
}

/// Reads a body of any form; `cells` is room for what is read of it.
fn read_body(
    body: &mut impl std::io::Read,
    format: &UploadFormat,
    (target, cells): (&Target<'_>, &mut SpillFile),
    subjects: &mut SubjectKeys<'_>,
    keep: &mut Sink<'_>,
) -> Result<(ReadSummary, Option<PartsSummary>), ReadError> {
    let summary = match format {
        UploadFormat::Streamed(format) => read_records(body, *format, target, subjects, keep)?,
        UploadFormat::Parquet => match spool_body(body) {
            Ok(file) => read_parquet_records(file, target, cells, subjects, keep)?,
            Err(BodyFault::Body(error)) => {
                return Err(TableError::Read(error.kind().to_string()).into());
            }
            Err(BodyFault::SpillFile(error)) => return Err(ReadError::SpillFile(error)),
        },
        UploadFormat::Parts(boundary) => {
            let (mapping, mut form) = RecordForm::open(body, boundary)?;
            let rooms = (target, cells as &mut dyn Spill);
            let (summary, parts) = read_parts(&mut form, mapping.as_ref(), rooms, subjects, keep)?;
            return Ok((summary, Some(parts)));
        }
    };
    Ok((summary, None))
}

/// What an upsert brought, with the stored records that it leaves before its own.
fn with_kept(
    mut received: Received,
    replaced: &Replaced,
    (stored, texts): (&Stored<'_>, &[TextSize]),
) -> Result<Received, ReadError> {
    let records_max = stored.intake.limits.records_max;
    check_total(received.summary.records, replaced, records_max)?;
    let kept = stored.kept(replaced, texts)?;
    received.chunks = Box::new(kept.into_iter().flatten().chain(received.chunks));
    received.upserted = Some(Upserted {
        subjects: replaced.subjects(),
        records_replaced: replaced.records(),
        records_kept: replaced.records_kept(),
    });
    Ok(received)
}

/// A secret key, so that nobody can choose subjects whose hashes collide.
fn hash_key() -> Result<[u8; 16], ReadError> {
    use rand::TryRng;
    let mut key = [0; 16];
    rand::rngs::SysRng
        .try_fill_bytes(&mut key)
        .map_err(|_| ReadError::SpillFile(std::io::ErrorKind::Other.into()))?;
    Ok(key)
}
