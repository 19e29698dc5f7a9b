//! Hierarchies.

use serde_json::json;

use super::SqlStore;
use super::entry::{Done, Entry};
use crate::store::session::{Row, Session, cells};
use crate::store::statements::hierarchies as sql;
use crate::store::{
    Act, Hierarchies, HierarchyPut, HierarchyRow, NewHierarchy, StoreError, StoreFuture,
};

const TABLE: &str = "hierarchy";

fn hierarchy_row(row: &Row) -> Result<HierarchyRow, StoreError> {
    Ok(HierarchyRow {
        name: row.text("name")?,
        revision: row.count("revision")?,
        digest: row.text("digest")?,
        media_type: row.text("media_type")?,
        content: row.bytes("content")?,
        leaves: row.count("leaves")?,
        height: row.count32("height")?,
        created_at: row.time("created_at")?,
    })
}

async fn put(session: &mut Session, new: NewHierarchy) -> Result<Done<HierarchyPut>, StoreError> {
    loop {
        let revision = match session
            .row(TABLE, sql::GET, cells![new.name.as_str()])
            .await?
        {
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
            let entry = Entry::hierarchy("put_hierarchy", &new.name)
                .telling(json!({"revision": revision, "digest": new.digest}));
            return Ok(Done::one(HierarchyPut::Created, entry));
        }
        // Another process took the revision between the look and the insert
        // (PostgreSQL only): the next look sees it.
    }
}

async fn get(
    session: &mut Session,
    statement: &'static str,
    text: String,
) -> Result<HierarchyRow, StoreError> {
    // PostgreSQL's text has no NUL, so nothing with one was ever kept.
    let row = match text.contains('\0') {
        true => None,
        false => session.row(TABLE, statement, cells![text]).await?,
    };
    hierarchy_row(&row.ok_or(StoreError::not_found("hierarchy"))?)
}

impl Hierarchies for SqlStore {
    fn hierarchy_put(
        &self,
        act: Act<HierarchyPut>,
        hierarchy: NewHierarchy,
    ) -> StoreFuture<'_, HierarchyPut> {
        self.write(act, |session| Box::pin(put(session, hierarchy)))
    }

    fn hierarchy_get(&self, name: String) -> StoreFuture<'_, HierarchyRow> {
        self.read(|session| Box::pin(get(session, sql::GET, name)))
    }

    fn hierarchy_get_by_digest(&self, digest: String) -> StoreFuture<'_, HierarchyRow> {
        self.read(|session| Box::pin(get(session, sql::GET_BY_DIGEST, digest)))
    }
}
