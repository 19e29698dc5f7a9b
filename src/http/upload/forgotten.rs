//! A dataset's latest version without one subject: its chunks, one after the
//! other in a temporary file, so that memory stays the same.

use std::sync::Arc;

use tokio::runtime::Handle;
use vizard_anonymizer::microdata::{Schema, decode_chunk, encode_chunk};

use super::spool::Spool;
use super::streamed::ReadError;
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::store::{ChunkSource, DatasetRow, Store};

/// The records that are not the subject's, and how many they are; `None` where
/// no record is.
pub async fn without_subject(
    state: &AppState,
    dataset: &DatasetRow,
    (schema, subject): (Schema, String),
) -> Result<Option<(u64, ChunkSource)>, Problem> {
    let (store, handle) = (Arc::clone(&state.store), Handle::current());
    let dataset = dataset.clone();
    let work = move || rewritten(store.as_ref(), &handle, &dataset, (&schema, &subject));
    let rewritten = tokio::task::spawn_blocking(work).await;
    let rewritten = rewritten.map_err(|_| Problem::internal())?;
    rewritten.map_err(|error| match error {
        ReadError::Store(error) => error.into(),
        ReadError::SpillFile(error) if error.kind() == std::io::ErrorKind::StorageFull => {
            use crate::http::problem::ProblemKind::StoreFull;
            Problem::new(
                StoreFull,
                "nothing was erased: the version without the subject needs room",
            )
        }
        _ => {
            tracing::error!("a version could not be written without a subject");
            Problem::internal()
        }
    })
}

fn rewritten(
    store: &Store,
    handle: &Handle,
    dataset: &DatasetRow,
    (schema, subject): (&Schema, &str),
) -> Result<Option<(u64, ChunkSource)>, ReadError> {
    let (id, version) = (dataset.id, dataset.version);
    if version == 0 {
        return Ok(None);
    }
    let mut spool = Spool::new().map_err(ReadError::SpillFile)?;
    let (mut records, mut is_in) = (0, false);
    let chunks = handle.block_on(store.version_chunk_list(id, version));
    for chunk in chunks.map_err(ReadError::Store)? {
        let bytes = handle.block_on(store.chunk_get(id, version, chunk.position));
        let bytes = bytes.map_err(ReadError::Store)?;
        let decoded = decode_chunk(bytes.clone(), schema)?;
        let own = decoded.records_of(schema, subject);
        let kept = (decoded.records - own.len()) as u64;
        is_in |= !own.is_empty();
        records += kept;
        let (bytes, text) = match (kept, own.is_empty()) {
            (0, _) => continue,
            (_, true) => (bytes, decoded.text_size()),
            (_, false) => {
                let rest = decoded.filtered(|at| own.binary_search(&at).is_err());
                (encode_chunk(&rest)?, rest.text_size())
            }
        };
        spool
            .push(&bytes, kept, text)
            .map_err(ReadError::SpillFile)?;
    }
    if !is_in {
        return Ok(None);
    }
    let chunks = spool.into_chunks().map_err(ReadError::SpillFile)?;
    Ok(Some((records, Box::new(chunks))))
}
