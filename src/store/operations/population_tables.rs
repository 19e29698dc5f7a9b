//! Population tables: put, described, read by workers, taken away.
//!
//! The content is sealed by the key of the preferences, which lasts as long as the
//! dataset: a purge of the records, which renews their key, leaves it readable.

use serde_json::json;

use super::Store;
use super::dataset_row::hold;
use super::entry::{Done, Entry};
use crate::ids::DatasetId;
use crate::store::seal::{AssociatedData, Purpose, of};
use crate::store::session::{Row, Session, cells};
use crate::store::statements::population_tables as sql;
use crate::store::{Act, NewPopulationTable, PopulationTableRow, StoreError};

const TABLE: &str = "population_table";

/// What a table that is not there is called.
const NONE: StoreError = StoreError::NotFound {
    what: "population table",
};

fn population_table_row(row: &Row) -> Result<PopulationTableRow, StoreError> {
    Ok(PopulationTableRow {
        dataset: DatasetId::from(row.uuid("dataset_id")?),
        attributes: row.json("attributes")?,
        people: row.count("people")?,
        combinations: row.count("combinations")?,
        sha256: row.text("sha256")?,
        created_by: row.text("created_by")?,
        created_at: row.time("created_at")?,
    })
}

async fn get(
    session: &mut Session,
    dataset: DatasetId,
) -> Result<Option<PopulationTableRow>, StoreError> {
    let row = session.row(TABLE, sql::GET, cells![dataset.uuid()]).await?;
    row.as_ref().map(population_table_row).transpose()
}

async fn content(
    session: &mut Session,
    dataset: DatasetId,
) -> Result<Option<(PopulationTableRow, Vec<u8>)>, StoreError> {
    let access = of(session, dataset.uuid(), Purpose::Preferences).await?;
    let row = session.row(TABLE, sql::CONTENT, cells![dataset.uuid()]);
    let Some(row) = row.await? else {
        return Ok(None);
    };
    let associated = AssociatedData::PopulationTable(dataset);
    let content = access.bytes(&associated, row.bytes("content")?, (&row, "content"))?;
    Ok(Some((population_table_row(&row)?, content)))
}

async fn compare(
    session: &mut Session,
    dataset: DatasetId,
) -> Result<Done<Option<(PopulationTableRow, Vec<u8>)>>, StoreError> {
    let keep = session.dialect().dataset_keep;
    hold(session, dataset, keep).await?;
    let found = content(session, dataset).await?;
    let Some((row, _)) = &found else {
        return Ok(Done::unchanged(None));
    };
    let entry = Entry::dataset("compare_population_table", dataset);
    let entry = entry.telling(json!({"sha256": row.sha256}));
    Ok(Done::one(found, entry))
}

async fn put(
    session: &mut Session,
    new: NewPopulationTable,
) -> Result<Done<PopulationTableRow>, StoreError> {
    let dataset = new.dataset;
    let lock = session.dialect().dataset_lock;
    // An erasure takes what was put before it; nothing is put after it.
    hold(session, dataset, lock).await?;
    if let Some(known) = get(session, dataset).await?
        && (&known.sha256, &known.attributes) == (&new.sha256, &new.attributes)
    {
        return Ok(Done::unchanged(known));
    }
    let access = of(session, dataset.uuid(), Purpose::Preferences).await?;
    let associated = AssociatedData::PopulationTable(dataset);
    let now = session.now().await?;
    let cells = cells![
        dataset.uuid(),
        &new.attributes,
        new.people,
        new.combinations,
        new.sha256.as_str(),
        access.kept(&associated, new.content)?,
        new.created_by.as_str(),
        now,
    ];
    session.run(sql::PUT, cells).await?;
    let entry = Entry::dataset("put_population_table", dataset).telling(json!({
        "attributes": new.attributes,
        "people": new.people,
        "combinations": new.combinations,
        "sha256": new.sha256,
    }));
    let row = get(session, dataset).await?.ok_or(NONE)?;
    Ok(Done::one(row, entry))
}

async fn delete(
    session: &mut Session,
    dataset: DatasetId,
) -> Result<Done<PopulationTableRow>, StoreError> {
    let lock = session.dialect().dataset_lock;
    hold(session, dataset, lock).await?;
    let gone = get(session, dataset).await?.ok_or(NONE)?;
    session.run(sql::ERASE, cells![dataset.uuid()]).await?;
    let entry = Entry::dataset("delete_population_table", dataset);
    let entry = entry.telling(json!({"sha256": gone.sha256}));
    Ok(Done::one(gone, entry))
}

impl Store {
    /// Keeps a dataset's population table in the place of the one before; the
    /// same again changes nothing. Answers what is kept now.
    pub async fn population_table_put(
        &self,
        act: Act<PopulationTableRow>,
        new: NewPopulationTable,
    ) -> Result<PopulationTableRow, StoreError> {
        self.write(act, |session| Box::pin(put(session, new))).await
    }

    /// What is known of a dataset's population table, if it has one.
    pub async fn population_table_get(
        &self,
        dataset: DatasetId,
    ) -> Result<Option<PopulationTableRow>, StoreError> {
        self.read(move |session| Box::pin(get(session, dataset)))
            .await
    }

    /// A dataset's population table with its packed canonical text, if it has one.
    pub async fn population_table_content(
        &self,
        dataset: DatasetId,
    ) -> Result<Option<(PopulationTableRow, Vec<u8>)>, StoreError> {
        self.read(move |session| Box::pin(content(session, dataset)))
            .await
    }

    /// The same for somebody who compares the records with it: a reading that the
    /// audit log tells of, where there is a table.
    pub async fn population_table_compare(
        &self,
        act: Act<Option<(PopulationTableRow, Vec<u8>)>>,
        dataset: DatasetId,
    ) -> Result<Option<(PopulationTableRow, Vec<u8>)>, StoreError> {
        self.write(act, move |session| Box::pin(compare(session, dataset)))
            .await
    }

    /// Takes a dataset's population table away and answers what it was; not found
    /// where it has none.
    pub async fn population_table_delete(
        &self,
        act: Act<PopulationTableRow>,
        dataset: DatasetId,
    ) -> Result<PopulationTableRow, StoreError> {
        self.write(act.erasing(), move |session| {
            Box::pin(delete(session, dataset))
        })
        .await
    }
}
