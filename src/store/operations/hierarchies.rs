//! Hierarchies of datasets and of the library.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use uuid::Uuid;

use super::Store;
use super::dataset_row::hold;
use super::entry::{Done, Entry};
use crate::ids::DatasetId;
use crate::store::session::{Row, Session, cells};
use crate::store::statements::hierarchies as sql;
use crate::store::{
    Act, HierarchyHead, HierarchyPage, HierarchyPut, HierarchyRow, HierarchyScope, NewHierarchy,
    PAGE_LIMIT_MAX, StoreError,
};

const TABLE: &str = "hierarchy";

/// Schemas that are looked through at a time.
const SCHEMAS_AT_ONCE: u32 = 200;

fn hierarchy_head(row: &Row) -> Result<HierarchyHead, StoreError> {
    Ok(HierarchyHead {
        dataset: row.uuid_or_null("dataset_id")?.map(DatasetId::from),
        name: row.text("name")?,
        revision: row.count("revision")?,
        digest: row.text("digest")?,
        media_type: row.text("media_type")?,
        leaves: row.count("leaves")?,
        height: row.count32("height")?,
        created_at: row.time("created_at")?,
    })
}

/// Names that a schema names.
fn names_of(schema: &Value) -> impl Iterator<Item = &str> {
    let attributes = schema["attributes"].as_array();
    let attributes = attributes.into_iter().flatten();
    attributes.filter_map(|attribute| attribute["hierarchy"].as_str())
}

async fn put(session: &mut Session, new: NewHierarchy) -> Result<Done<HierarchyPut>, StoreError> {
    if let Some(dataset) = new.dataset {
        // An erasure takes what was put before it; nothing is put after it.
        let keep = session.dialect().dataset_keep;
        hold(session, dataset, keep).await?;
    }
    let owner = new.dataset.map(DatasetId::uuid);
    loop {
        let latest = cells![owner, new.name.as_str()];
        let revision = match session.row(TABLE, sql::LATEST, latest).await? {
            Some(row) if row.text("digest")? == new.digest => {
                return Ok(Done::unchanged(HierarchyPut::Unchanged));
            }
            Some(_) if !new.allow_new_version => {
                return Ok(Done::unchanged(HierarchyPut::Conflict));
            }
            Some(row) => row.count("revision")? + 1,
            None => 1,
        };
        let now = session.now().await?;
        let cells = cells![
            owner,
            new.name.as_str(),
            revision,
            new.digest.as_str(),
            new.media_type.as_str(),
            new.content.clone(),
            new.leaves,
            new.height,
            now,
        ];
        if session.run(sql::CREATE, cells).await? > 0 {
            let entries = told(session, &new, revision).await?;
            return Ok(Done::many(HierarchyPut::Created, entries));
        }
        // Another process took the revision between the look and the insert
        // (PostgreSQL only): the next look sees it.
    }
}

/// What the log is told of a new revision: whose it is, and of the library's
/// every dataset that uses it.
async fn told(
    session: &mut Session,
    new: &NewHierarchy,
    revision: u64,
) -> Result<Vec<Entry>, StoreError> {
    let detail = json!({"revision": revision, "digest": new.digest});
    if let Some(dataset) = new.dataset {
        let entry = Entry::hierarchy("put_dataset_hierarchy", &new.name).within(dataset);
        return Ok(vec![entry.telling(detail)]);
    }
    let mut entries = vec![Entry::hierarchy("put_hierarchy", &new.name).telling(detail.clone())];
    for dataset in users(session, &new.name).await? {
        let entry = Entry::hierarchy("hierarchy_changed", &new.name).within(dataset);
        entries.push(entry.telling(detail.clone()));
    }
    Ok(entries)
}

/// Datasets that take a name from the library, in the order of their ids.
async fn users(session: &mut Session, name: &str) -> Result<Vec<DatasetId>, StoreError> {
    // As it stands in the text of a schema.
    let quoted = Value::from(name).to_string();
    let mut users = Vec::new();
    let mut behind = Uuid::nil();
    loop {
        let cells = cells![quoted.as_str(), name, behind, SCHEMAS_AT_ONCE];
        let rows = session.rows("dataset", sql::NAMING, cells).await?;
        for row in &rows {
            behind = row.uuid("id")?;
            if names_of(&row.json("schema")?).any(|named| named == name) {
                users.push(DatasetId::from(behind));
            }
        }
        if rows.len() < SCHEMAS_AT_ONCE as usize {
            return Ok(users);
        }
    }
}

async fn get(
    session: &mut Session,
    (dataset, name, digest): (Option<DatasetId>, String, Option<String>),
) -> Result<HierarchyRow, StoreError> {
    // PostgreSQL's text has no NUL, so nothing with one was ever kept.
    let has_nul = |text: &str| text.contains('\0');
    let row = if has_nul(&name) || digest.as_deref().is_some_and(has_nul) {
        None
    } else {
        let cells = cells![dataset.map(DatasetId::uuid), name, digest];
        session.row(TABLE, sql::GET, cells).await?
    };
    let row = row.ok_or(StoreError::not_found("hierarchy"))?;
    Ok(HierarchyRow {
        head: hierarchy_head(&row)?,
        content: row.bytes("content")?,
    })
}

async fn names(
    session: &mut Session,
    datasets: &[DatasetId],
) -> Result<BTreeSet<String>, StoreError> {
    let mut names = BTreeSet::new();
    for dataset in datasets {
        let cells = cells![dataset.uuid()];
        if let Some(row) = session.row("dataset", sql::SCHEMA, cells).await? {
            names.extend(names_of(&row.json("schema")?).map(str::to_owned));
        }
    }
    // PostgreSQL's text has no NUL: no hierarchy has such a name.
    names.retain(|name| !name.contains('\0'));
    Ok(names)
}

async fn list(
    session: &mut Session,
    scope: HierarchyScope,
    (limit, after): (u32, Option<String>),
) -> Result<HierarchyPage, StoreError> {
    let (dataset, only) = match &scope {
        HierarchyScope::Library => (None, None),
        HierarchyScope::LibraryOf(datasets) => (None, Some(names(session, datasets).await?)),
        HierarchyScope::Dataset(id) => (Some(id.uuid()), Some(names(session, &[*id]).await?)),
    };
    let limit = limit.clamp(1, PAGE_LIMIT_MAX);
    let only = only.map(|names| Value::from_iter(names).to_string());
    let cells = cells![dataset, after.unwrap_or_default(), only, limit + 1];
    let statement = session.dialect().hierarchy_list;
    let rows = session.rows(TABLE, statement, cells).await?;
    let is_last = rows.len() <= limit as usize;
    let rows = rows.iter().take(limit as usize).map(hierarchy_head);
    let items = rows.collect::<Result<Vec<_>, _>>()?;
    let next = items.last().map(|head| head.name.clone());
    Ok(HierarchyPage {
        items,
        next: next.filter(|_| !is_last),
    })
}

impl Store {
    /// Keeps a hierarchy under its name; not found where its dataset is.
    ///
    /// A revision of the library is told in the audit log of every dataset
    /// whose schema names it, unless the dataset has one of its own.
    pub async fn hierarchy_put(
        &self,
        act: Act<HierarchyPut>,
        hierarchy: NewHierarchy,
    ) -> Result<HierarchyPut, StoreError> {
        self.write(act, |session| Box::pin(put(session, hierarchy)))
            .await
    }

    /// What a name means to a dataset: its own hierarchy, else the library's;
    /// `None`: the library's alone. With a digest the latest revision that has
    /// it, else the latest.
    pub async fn hierarchy_get(
        &self,
        dataset: Option<DatasetId>,
        name: String,
        digest: Option<String>,
    ) -> Result<HierarchyRow, StoreError> {
        self.read(move |session| Box::pin(get(session, (dataset, name, digest))))
            .await
    }

    /// Hierarchies by name: at most `limit`, behind the name `after`.
    pub async fn hierarchy_list(
        &self,
        scope: HierarchyScope,
        limit: u32,
        after: Option<String>,
    ) -> Result<HierarchyPage, StoreError> {
        self.read(move |session| Box::pin(list(session, scope, (limit, after))))
            .await
    }

    /// Names that the schemas of datasets name; of erased ones none.
    pub async fn hierarchy_names(
        &self,
        datasets: Vec<DatasetId>,
    ) -> Result<BTreeSet<String>, StoreError> {
        self.read(move |session| Box::pin(async move { names(session, &datasets).await }))
            .await
    }
}
