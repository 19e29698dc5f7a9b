//! Where one subject is: in records of every version that is held, and in
//! releases.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use serde_json::{Map, Value};
use vizard_anonymizer::microdata::{Chunk, Schema, decode_chunk};
use vizard_anonymizer::release::candidates::Candidates;
use vizard_anonymizer::release::without_subject;

use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::ids::DatasetId;
use crate::store::{PageRequest, ReleaseFilter, ReleaseRow, StoreError, VersionRow};

/// A record of a subject.
pub(super) struct FoundRecord {
    /// The versions that have it.
    pub versions: Vec<u64>,
    /// Its values by attribute.
    pub values: Map<String, Value>,
}

/// Shows a chunk of a version to `look`, on a thread that may block: reading it
/// takes a while.
pub(super) async fn look_into<T: Send + 'static>(
    state: &AppState,
    (dataset, version, position): (DatasetId, u64, u32),
    schema: &Arc<Schema>,
    look: impl FnOnce(&Chunk) -> T + Send + 'static,
) -> Result<T, Problem> {
    let bytes = state.store.chunk_get(dataset, version, position).await?;
    let schema = Arc::clone(schema);
    let looking =
        tokio::task::spawn_blocking(move || decode_chunk(bytes, &schema).map(|chunk| look(&chunk)));
    if let Ok(Ok(seen)) = looking.await {
        return Ok(seen);
    }
    tracing::error!(%dataset, "a stored chunk cannot be read");
    Err(Problem::internal())
}

/// The records of a subject in all versions that are held.
///
/// Versions of one epoch share their chunks: each chunk is read once.
pub(super) async fn records(
    state: &AppState,
    dataset: DatasetId,
    subject: &str,
) -> Result<Vec<FoundRecord>, Problem> {
    let mut epochs: BTreeMap<u64, Vec<VersionRow>> = BTreeMap::new();
    for version in state.store.version_list(dataset).await? {
        if version.purged_at.is_none() {
            epochs.entry(version.epoch).or_default().push(version);
        }
    }
    let mut found = Vec::new();
    for versions in epochs.into_values() {
        let Some(longest) = versions.iter().max_by_key(|version| version.chunks) else {
            continue;
        };
        let schema: Arc<Schema> = Arc::new(super::read_schema(longest.dataset, &longest.schema)?);
        let own = |position: u32| {
            let own = versions.iter().filter(|version| version.chunks > position);
            let mut own: Vec<u64> = own.map(|version| version.version).collect();
            own.sort_unstable();
            own
        };
        for position in 0..longest.chunks {
            let (columns, subject) = (Arc::clone(&schema), subject.to_owned());
            let look = move |chunk: &Chunk| {
                let own = chunk.records_of(&columns, &subject).into_iter();
                let values = own.map(|at| chunk.values_of(&columns, at));
                values.collect::<Vec<_>>()
            };
            let place = (dataset, longest.version, position);
            let values = look_into(state, place, &schema, look).await?;
            found.extend(values.into_iter().map(|values| FoundRecord {
                versions: own(position),
                values,
            }));
        }
    }
    Ok(found)
}

/// What is kept of a subject beside one release.
pub(super) struct FoundRelease {
    pub row: ReleaseRow,
    /// Its lineage without the subject, if that holds them.
    pub lineage: Option<Vec<u8>>,
    /// What it shows of each subject but this one, if it shows something of them.
    pub candidates: Option<Vec<u8>>,
}

impl FoundRelease {
    /// Whether the subject is in the release.
    pub fn holds(&self) -> bool {
        self.lineage.is_some() || self.candidates.is_some()
    }
}

/// All releases of a dataset, with what each keeps of a subject.
pub(super) async fn releases(
    state: &AppState,
    dataset: DatasetId,
    subject: &str,
) -> Result<Vec<FoundRelease>, Problem> {
    let mut found = Vec::new();
    let mut cursor = None;
    loop {
        let page = PageRequest { limit: 100, cursor };
        let filter = ReleaseFilter {
            dataset: Some(dataset),
            ..ReleaseFilter::default()
        };
        let page = state.store.release_list(page, filter).await?;
        for row in page.items {
            found.push(release(state, row, subject).await?);
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(found);
        }
    }
}

async fn release(
    state: &AppState,
    row: ReleaseRow,
    subject: &str,
) -> Result<FoundRelease, Problem> {
    let lineage = match state.store.release_lineage(row.id).await {
        // Withdrawn, or purged.
        Err(StoreError::NotFound { .. }) => None,
        lineage => Some(lineage?),
    };
    let candidates = state.store.release_candidates(row.id).await?;
    let subject = subject.to_owned();
    let looking = tokio::task::spawn_blocking(move || {
        let lineage = match lineage {
            Some(lineage) => without_subject(&lineage, &subject).map_err(io::Error::other)?,
            None => None,
        };
        let candidates = match candidates.map(|bytes| Candidates::from_bytes(&bytes)) {
            Some(read) => read?
                .without(&subject)
                .map(|rest| rest.to_bytes())
                .transpose()?,
            None => None,
        };
        Ok::<_, io::Error>((lineage, candidates))
    });
    let Ok(Ok((lineage, candidates))) = looking.await else {
        tracing::error!(release = %row.id, "what is kept of a release's subjects cannot be read");
        return Err(Problem::internal());
    };
    Ok(FoundRelease {
        row,
        lineage,
        candidates,
    })
}
