//! Reading one job's input: the dataset version, its pinned hierarchies and
//! the pinned preferences.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use vizard_anonymizer::microdata::{
    GivenTerms, HierarchyFormat, HierarchySet, HierarchySource, PopulationTable, Preference,
    Schema, Table, TableBuilder, TableError, decode_chunk,
};

use vizard_anonymizer::privacy::{Seed, Transformation};
use vizard_anonymizer::release::candidates::Candidates;
use vizard_anonymizer::release::{SeriesMode, also_shown};

use vizard_anonymizer::verify::MovedDates;

use crate::ids::DatasetId;
use crate::job::SeriesOptions;
use crate::store::{JobRow, PopulationTableRow, Store, StoreError, VersionRow};

/// A job's input, still in chunks: joining them is work for the CPU pool.
pub struct Loaded {
    /// The schema of the version: what its chunks are read by.
    stored: Schema,
    /// The schema of the columns that engines see.
    pub schema: Arc<Schema>,
    /// The version of its records.
    pub version: VersionRow,
    /// The hierarchies that the version pins.
    pub hierarchies: HierarchySet,
    /// The blobs of its chunks, in order.
    pub chunks: Vec<Vec<u8>>,
    /// Preferences in force at the pinned version: subject and document.
    pub preferences: Vec<(String, serde_json::Value)>,
    /// Subjects whose records are left out: those of public releases, where the
    /// job asks for others.
    pub public: HashSet<String>,
    /// What public releases of the same people show, oldest first; where the job
    /// goes on no series, nothing if it is not kept of one of them.
    pub shown: Vec<Candidates>,
    /// How it goes on.
    pub series: Option<SeriesMode>,
    /// Among whom its people could be, if that is kept: packed, with what is known of it.
    pub population_table: Option<(PopulationTableRow, Vec<u8>)>,
}

/// Why a job's input could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The store failed; the job is tried again.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What the store holds is not what its schema says.
    #[error(transparent)]
    Table(#[from] TableError),
    /// Who is in a public release is not kept.
    #[error("who is in a public release is not kept")]
    SeriesUnknown,
}

/// Reads everything a run needs.
pub async fn load(
    store: &Store,
    job: &JobRow,
    series: Option<SeriesOptions>,
) -> Result<Loaded, LoadError> {
    let version = store.version_get(job.dataset, job.dataset_version).await?;
    let schema: Schema = serde_json::from_value(version.schema.clone())
        .map_err(|_| inconsistent("dataset_versions", "schema", job.dataset))?;
    let hierarchies = pinned_hierarchies(store, job.dataset, &version).await?;
    let mut chunks = Vec::with_capacity(version.chunks as usize);
    for position in 0..version.chunks {
        chunks.push(
            store
                .chunk_get(job.dataset, version.version, position)
                .await?,
        );
    }
    let preferences = store
        .preferences_at(job.dataset, job.preference_version)
        .await?;
    let series = series.map(|series| series.mode);
    let shown = match shown(store, job.dataset).await {
        // Then the draft is compared when it is published.
        Err(LoadError::SeriesUnknown) if series.is_none() => Vec::new(),
        shown => shown?,
    };
    let public = match series {
        Some(SeriesMode::Increments) => {
            let subjects = shown.iter().flat_map(|one| one.subjects.iter());
            subjects.map(str::to_owned).collect()
        }
        _ => HashSet::default(),
    };
    let population_table = store.population_table_content(job.dataset).await?;
    Ok(Loaded {
        schema: Arc::new(schema.transformed()),
        stored: schema,
        version,
        hierarchies,
        chunks,
        preferences,
        public,
        shown,
        series,
        population_table,
    })
}

/// What all releases of the same people show that ever were public, oldest
/// first.
async fn shown(store: &Store, dataset: DatasetId) -> Result<Vec<Candidates>, LoadError> {
    let kept = store.public_series(dataset).await?;
    let read = tokio::task::spawn_blocking(move || {
        let read = kept
            .into_iter()
            .map(|(_, kept)| Candidates::from_bytes(&kept?).ok());
        read.collect::<Option<Vec<Candidates>>>()
    });
    let read = read.await.map_err(|_| LoadError::SeriesUnknown)?;
    read.ok_or(LoadError::SeriesUnknown)
}

async fn pinned_hierarchies(
    store: &Store,
    dataset: DatasetId,
    version: &VersionRow,
) -> Result<HierarchySet, LoadError> {
    let pins: BTreeMap<String, String> = serde_json::from_value(version.hierarchies.clone())
        .map_err(|_| inconsistent("dataset_versions", "hierarchies", dataset))?;
    let mut set = HierarchySet::new();
    for (name, digest) in pins {
        let row = store
            .hierarchy_get(Some(dataset), name.clone(), Some(digest))
            .await?;
        let format = HierarchyFormat::of_media_type(&row.head.media_type)
            .ok_or_else(|| inconsistent("hierarchies", "media_type", dataset))?;
        set.insert(name, HierarchySource::read(&row.content, format)?);
    }
    Ok(set)
}

impl Loaded {
    /// Decodes, transforms and joins the chunks.
    pub fn table(&mut self, dataset_secret: &Seed) -> Result<Table, TableError> {
        let mut builder = TableBuilder::new(Arc::clone(&self.schema), &self.hierarchies)?;
        let transformation = Transformation::new(&self.stored, dataset_secret);
        let mut moved = MovedDates::new(&self.stored);
        for bytes in self.chunks.drain(..) {
            let chunk = decode_chunk(bytes, &self.stored)?;
            let is_new = |key: &str| !self.public.contains(key);
            let chunk = chunk.of_subjects(&self.stored, is_new);
            builder.push(moved.made(&transformation, chunk))?;
        }
        moved.check()?;
        if let Some(SeriesMode::Invariant | SeriesMode::Nested) = self.series {
            also_shown(&mut builder, &self.schema, &self.shown)?;
        }
        builder.finish()
    }

    /// The population table; one that cannot be read is an error, never silently
    /// no table.
    pub fn population_table(&mut self) -> Result<Option<PopulationTable>, StoreError> {
        let Some((row, content)) = self.population_table.take() else {
            return Ok(None);
        };
        Ok(Some(row.unpack(&content)?.transformed(&self.schema)))
    }

    /// The preferences as documents; a stored one that cannot be read is an
    /// error, never silently no preference.
    pub fn preferences(&mut self) -> Result<Vec<Preference>, LoadError> {
        let documents = std::mem::take(&mut self.preferences);
        let mut given = GivenTerms::default();
        documents
            .into_iter()
            .map(
                |(subject, document)| match serde_json::from_value(document) {
                    Ok(terms) => Ok(Preference {
                        subject,
                        terms: given.shared(Arc::new(terms)),
                    }),
                    Err(_) => {
                        Err(inconsistent("preferences", "document", self.version.dataset).into())
                    }
                },
            )
            .collect()
    }
}

/// What a column of the store holds that it never wrote.
pub(super) fn inconsistent(
    table: &'static str,
    column: &'static str,
    dataset: DatasetId,
) -> StoreError {
    StoreError::Inconsistent {
        table,
        column,
        row: dataset.to_string(),
    }
}
