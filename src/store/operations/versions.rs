//! Versions of records: one transaction an upload, chunks shared by appends.

use serde_json::{Value, json};
use vizard_anonymizer::microdata::{Sha256, TextSize};

use super::Store;
use super::entry::{Done, Entry};
use crate::failpoint;
use crate::ids::DatasetId;
use crate::store::seal::{AssociatedData, DataKeyAccess, Purpose, of};
use crate::store::session::{Row, Session, cells};
use crate::store::statements::{datasets as dataset_sql, versions as sql};
use crate::store::{
    Act, ChunkRow, ChunkSource, Conflict, DatasetRow, NewChunk, NewSchema, NewVersion, StoreError,
    SubjectErasure, VersionMode, VersionRow,
};

const TABLE: &str = "dataset_version";
const CHUNK: &str = "chunk";

fn version_row(row: &Row) -> Result<VersionRow, StoreError> {
    Ok(VersionRow {
        dataset: DatasetId::from(row.uuid("dataset_id")?),
        version: row.count("version")?,
        mode: row.word("mode", VersionMode::parse)?,
        records: row.count("records")?,
        dropped: row.count("dropped")?,
        total_records: row.count("total_records")?,
        text: text_size(row)?,
        chunks: row.count32("chunks")?,
        epoch: row.count("epoch")?,
        hierarchies: row.json("hierarchies")?,
        near_duplicates: row.json("near_duplicates")?,
        schema: row.json("schema")?,
        created_by: row.text("created_by")?,
        created_at: row.time("created_at")?,
        purged_at: row.time_or_null("purged_at")?,
    })
}

fn text_size(row: &Row) -> Result<TextSize, StoreError> {
    Ok(TextSize {
        cells_bytes: row.count("cells_text_bytes")?,
        labels_bytes: row.count("labels_text_bytes")?,
    })
}

fn chunk_row(row: &Row) -> Result<ChunkRow, StoreError> {
    Ok(ChunkRow {
        position: row.count32("position")?,
        records: row.count("records")?,
        bytes: row.count("size")?,
        sha256: row.digest("sha256")?,
    })
}

/// What a version is made of: the first `chunks` chunks of `epoch`.
pub(super) struct Extent {
    epoch: u64,
    chunks: u32,
    records: u64,
    text: TextSize,
}

impl Extent {
    /// Nothing as yet: the version of that number begins an epoch.
    pub(super) fn beginning(version: u64) -> Self {
        Self {
            epoch: version,
            chunks: 0,
            records: 0,
            text: TextSize::default(),
        }
    }
}

/// A version as it is written.
pub(super) struct Written<'a> {
    /// Its dataset and its number.
    pub(super) id: (DatasetId, u64),
    pub(super) mode: VersionMode,
    pub(super) extent: Extent,
    /// Records that its upload brought, and that it left out.
    pub(super) records: u64,
    pub(super) dropped: u64,
    pub(super) hierarchies: &'a Value,
    pub(super) near_duplicates: Value,
    pub(super) created_by: &'a str,
}

impl<'a> Written<'a> {
    /// The records that stand in `extent`, under the schema that the dataset has.
    pub(super) fn sharing(
        id: (DatasetId, u64),
        extent: Extent,
        hierarchies: &'a Value,
        created_by: &'a str,
    ) -> Self {
        Self {
            id,
            mode: VersionMode::Schema,
            extent,
            records: 0,
            dropped: 0,
            hierarchies,
            near_duplicates: json!([]),
            created_by,
        }
    }

    pub(super) async fn create(self, session: &mut Session) -> Result<(), StoreError> {
        let now = session.now().await?;
        let cells = cells![
            self.id.0.uuid(),
            self.id.1,
            self.mode.as_str(),
            self.extent.epoch,
            self.extent.chunks,
            self.records,
            self.dropped,
            self.extent.records,
            self.hierarchies,
            self.created_by,
            now,
            &self.near_duplicates,
            self.extent.text.cells_bytes,
            self.extent.text.labels_bytes,
        ];
        session.run(sql::CREATE, cells).await?;
        Ok(())
    }
}

async fn row_of(
    session: &mut Session,
    dataset: DatasetId,
    version: u64,
) -> Result<Row, StoreError> {
    let row = session
        .row(TABLE, sql::GET, cells![dataset.uuid(), version])
        .await?;
    row.ok_or(StoreError::not_found("version"))
}

async fn extent_of(
    session: &mut Session,
    dataset: DatasetId,
    version: u64,
) -> Result<Extent, StoreError> {
    let row = row_of(session, dataset, version).await?;
    Ok(Extent {
        epoch: row.count("epoch")?,
        chunks: row.count32("chunks")?,
        records: row.count("total_records")?,
        text: text_size(&row)?,
    })
}

/// Draws the next chunk on a thread that may block: it comes from a file.
async fn next_chunk(
    mut source: ChunkSource,
) -> Result<(ChunkSource, Option<NewChunk>), StoreError> {
    let drawn = tokio::task::spawn_blocking(move || {
        let chunk = source.next();
        (source, chunk)
    });
    let (source, chunk) = drawn
        .await
        .map_err(|_| StoreError::driver("a chunk source panicked"))?;
    let chunk = chunk
        .transpose()
        .map_err(|error| StoreError::driver(format!("reading a chunk: {}", error.kind())))?;
    Ok((source, chunk))
}

/// Writes the chunks behind those of `extent`; answers the extent that then is.
async fn chunks_write(
    session: &mut Session,
    dataset: DatasetId,
    access: &DataKeyAccess,
    mut extent: Extent,
    mut source: ChunkSource,
) -> Result<Extent, StoreError> {
    loop {
        let (rest, chunk) = next_chunk(source).await?;
        let Some(chunk) = chunk else {
            return Ok(extent);
        };
        source = rest;
        extent.records += chunk.records;
        extent.text += chunk.text;
        let (epoch, position) = (extent.epoch, extent.chunks);
        let associated = AssociatedData::Chunk {
            dataset,
            epoch,
            position,
        };
        let kept = access.kept(&associated, chunk.bytes)?;
        let digest = Sha256::of(&kept);
        let cells = cells![dataset.uuid(), epoch, position, chunk.records, digest, kept];
        session.run(sql::CHUNK_CREATE, cells).await?;
        extent.chunks += 1;
        failpoint::reached("upload-chunk-written");
    }
}

/// Takes the dataset's row, and the number behind `base_version`; before that
/// what the change demands is decided.
async fn advance(
    session: &mut Session,
    dataset: DatasetId,
    base_version: u64,
) -> Result<(), StoreError> {
    if session.demands() {
        let lock = session.dialect().dataset_lock;
        super::dataset_row::hold(session, dataset, lock).await?;
        super::dataset_row::decide(session, dataset).await?;
    }
    let advance = cells![dataset.uuid(), base_version];
    if session.run(dataset_sql::VERSION_ADVANCE, advance).await? > 0 {
        return Ok(());
    }
    let exists = session
        .row("dataset", dataset_sql::EXISTS, cells![dataset.uuid()])
        .await?;
    Err(match exists {
        Some(_) => Conflict::VersionMoved.into(),
        None => StoreError::not_found("dataset"),
    })
}

/// Digests of hierarchies that are not those which the version before pins.
async fn pins_changed(
    session: &mut Session,
    (dataset, base_version): (DatasetId, u64),
    hierarchies: &Value,
) -> Result<Value, StoreError> {
    let before = cells![dataset.uuid(), base_version];
    let before = session.row(TABLE, sql::PINS, before).await?;
    let before = before.map(|row| row.json("hierarchies")).transpose()?;
    let before = before.unwrap_or_default();
    let pins = hierarchies.as_object().into_iter().flatten();
    let changed = pins.filter(|(name, digest)| {
        let pinned = before.get(name.as_str());
        pinned.is_some_and(|pinned| pinned != *digest)
    });
    let changed = changed.map(|(name, digest)| (name.clone(), digest.clone()));
    Ok(Value::Object(changed.collect()))
}

async fn commit(session: &mut Session, new: NewVersion) -> Result<Done<VersionRow>, StoreError> {
    let (dataset, version) = (new.dataset, new.base_version + 1);
    advance(session, dataset, new.base_version).await?;
    let pins_changed = pins_changed(session, (dataset, new.base_version), &new.hierarchies).await?;
    let stays = match new.mode {
        VersionMode::Append => true,
        VersionMode::Upsert => new.rewrites.is_none(),
        VersionMode::Replace => false,
        VersionMode::Schema => return Err(StoreError::driver("a schema brings no records")),
    };
    let before = match new.base_version {
        base if stays && base > 0 => extent_of(session, dataset, base).await?,
        _ => Extent::beginning(version),
    };
    let records_before = before.records;
    let access = of(session, dataset.uuid(), Purpose::Records).await?;
    let extent = chunks_write(session, dataset, &access, before, new.chunks).await?;
    if extent.records - records_before != new.records + new.rewrites.unwrap_or(0) {
        return Err(StoreError::driver(
            "the chunks hold another number of records than was said",
        ));
    }
    let written = Written {
        mode: new.mode,
        records: new.records,
        dropped: new.dropped,
        near_duplicates: new.near_duplicates,
        ..Written::sharing(
            (dataset, version),
            extent,
            &new.hierarchies,
            &new.created_by,
        )
    };
    written.create(session).await?;
    failpoint::reached("upload-before-commit");
    let row = version_row(&row_of(session, dataset, version).await?)?;
    let entry = Entry::dataset("upload_records", dataset).telling(json!({
        "version": version,
        "mode": row.mode.as_str(),
        "records": row.records,
        "total_records": row.total_records,
        "hierarchies_changed": pins_changed,
    }));
    Ok(Done::one(row, entry))
}

/// Makes a version of the records that are left without a subject: it begins
/// an epoch. Answers its number.
pub(super) async fn rewrite(
    session: &mut Session,
    erasure: &SubjectErasure,
    (records, chunks): (u64, ChunkSource),
) -> Result<u64, StoreError> {
    let (dataset, version) = (erasure.dataset, erasure.base_version + 1);
    advance(session, dataset, erasure.base_version).await?;
    let access = of(session, dataset.uuid(), Purpose::Records).await?;
    let nothing = Extent::beginning(version);
    let extent = chunks_write(session, dataset, &access, nothing, chunks).await?;
    if extent.records != records {
        return Err(StoreError::driver(
            "the chunks hold another number of records than was said",
        ));
    }
    let written = Written {
        mode: VersionMode::Upsert,
        ..Written::sharing(
            (dataset, version),
            extent,
            &erasure.hierarchies,
            &erasure.created_by,
        )
    };
    written.create(session).await?;
    Ok(version)
}

async fn change_schema(
    session: &mut Session,
    new: NewSchema,
) -> Result<Done<DatasetRow>, StoreError> {
    let (dataset, version) = (new.dataset, new.base_version + 1);
    advance(session, dataset, new.base_version).await?;
    let before = super::dataset_row::get(session, dataset).await?;
    if before.preference_version != new.preference_version {
        return Err(Conflict::VersionMoved.into());
    }
    let extent = match new.base_version {
        0 => Extent::beginning(version),
        base => extent_of(session, dataset, base).await?,
    };
    let named = cells![dataset.uuid(), new.name, &new.schema];
    session.run(dataset_sql::SCHEMA_SET, named).await?;
    let records = extent.records;
    let written = Written::sharing(
        (dataset, version),
        extent,
        &new.hierarchies,
        &new.created_by,
    );
    written.create(session).await?;
    let row = super::dataset_row::get(session, dataset).await?;
    let entry = Entry::dataset("put_schema", dataset).telling(json!({
        "version": version,
        "total_records": records,
        "hierarchies": new.hierarchies,
    }));
    Ok(Done::one(row, entry))
}

impl Store {
    /// Commits a version and all of its chunks in one transaction, or nothing.
    ///
    /// `Conflict::VersionMoved` if the latest version is not `base_version`.
    pub async fn version_commit(
        &self,
        act: Act<VersionRow>,
        version: NewVersion,
    ) -> Result<VersionRow, StoreError> {
        self.write(act, |session| Box::pin(commit(session, version)))
            .await
    }

    /// Gives a dataset another schema: a version that shares all chunks of the
    /// one before.
    ///
    /// `Conflict::VersionMoved` if the latest versions of records and
    /// preferences are not those that the caller looked at.
    pub async fn schema_change(
        &self,
        act: Act<DatasetRow>,
        change: NewSchema,
    ) -> Result<DatasetRow, StoreError> {
        self.write(act, |session| Box::pin(change_schema(session, change)))
            .await
    }

    /// One version; not found if retention took its chunks away.
    pub async fn version_get(
        &self,
        dataset: DatasetId,
        version: u64,
    ) -> Result<VersionRow, StoreError> {
        self.read(move |session| {
            Box::pin(async move { version_row(&row_of(session, dataset, version).await?) })
        })
        .await
    }

    /// All versions of a dataset, newest first.
    pub async fn version_list(&self, dataset: DatasetId) -> Result<Vec<VersionRow>, StoreError> {
        self.read(move |session| {
            Box::pin(async move {
                let rows = session
                    .rows(TABLE, sql::LIST, cells![dataset.uuid()])
                    .await?;
                rows.iter().map(version_row).collect()
            })
        })
        .await
    }

    /// The chunks of a version in order.
    pub async fn version_chunk_list(
        &self,
        dataset: DatasetId,
        version: u64,
    ) -> Result<Vec<ChunkRow>, StoreError> {
        self.read(move |session| {
            Box::pin(async move {
                let extent = extent_of(session, dataset, version).await?;
                let cells = cells![dataset.uuid(), extent.epoch, extent.chunks];
                let rows = session.rows(CHUNK, sql::CHUNK_LIST, cells).await?;
                if rows.len() != extent.chunks as usize {
                    return Err(row_of(session, dataset, version)
                        .await?
                        .inconsistent("chunks"));
                }
                rows.iter().map(chunk_row).collect()
            })
        })
        .await
    }

    /// One chunk's bytes; `Inconsistent` if they do not match their SHA-256.
    pub async fn chunk_get(
        &self,
        dataset: DatasetId,
        version: u64,
        position: u32,
    ) -> Result<Vec<u8>, StoreError> {
        self.read(move |session| {
            Box::pin(async move {
                let access = of(session, dataset.uuid(), Purpose::Records).await?;
                let cells = cells![dataset.uuid(), version, position];
                let row = session.row(CHUNK, sql::CHUNK_GET, cells).await?;
                let row = row.ok_or(StoreError::not_found("chunk"))?;
                let associated = AssociatedData::Chunk {
                    dataset,
                    epoch: row.count("epoch")?,
                    position,
                };
                let kept = row.checked_bytes("bytes", "sha256")?;
                access.bytes(&associated, kept, (&row, "bytes"))
            })
        })
        .await
    }
}
