//! The operations of the store, written once for both databases.
//!
//! `Store` is a backend (how to get a session) and the operations of all areas
//! (what to do with it), a file each. A read takes a connection and gives it back. A
//! write takes an act and a transaction, and appends to the audit log what was
//! done in it; the few writes that are no change of state (`write_unaudited`)
//! are listed in tests/layers.rs. A write runs *in a task of its own*: when a client
//! goes away, the future of its request is dropped, and a transaction dropped
//! half way through `BEGIN` would leave a PostgreSQL connection in the pool
//! with an open transaction. The task goes on, commits, and nobody is there to
//! hear of it, which is what a lost answer always may mean.

mod affected;
mod approvals;
mod audit;
mod dataset_row;
mod datasets;
mod entry;
mod explorations;
mod hierarchies;
mod idempotency;
mod in_force;
mod job_row;
mod jobs;
mod keys;
mod leases;
mod ledger;
mod messages;
mod population_tables;
mod populations;
mod preferences;
mod reapply;
mod receipts;
mod reidentifications;
mod release_row;
mod releases;
mod results;
mod retention;
mod sealing;
mod secrets;
mod sessions;
mod subject_tokens;
mod subjects;
mod terms;
mod tombstones;
mod versions;
mod webhooks;
mod wipe;

use std::sync::Arc;

use serde_json::Value;
use tracing::Instrument as _;
use uuid::Uuid;

use entry::Done;

use super::backend::{Backend, SessionFuture};
use super::session::{Row, Session, id_list};
use super::statements;
use super::{Act, PAGE_LIMIT_MAX, Page, PageRequest, PoolFigures, StoreError};
use crate::ids::DatasetId;

/// The store: shared as `Arc<Store>`.
pub struct Store {
    backend: Arc<dyn Backend>,
}

impl Store {
    /// The store on `backend`, whose tables are up to date.
    pub(super) fn new(backend: Arc<dyn Backend>) -> Self {
        Self { backend }
    }

    /// Runs `body` on a connection.
    async fn read<T, F>(&self, body: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'s> FnOnce(&'s mut Session) -> SessionFuture<'s, T> + Send + 'static,
    {
        let mut session = self.backend.read().await?;
        body(&mut session).await
    }

    /// Runs `body` in a transaction, keeps the answer under the act's reserved
    /// key, and appends what was done to the audit log as the last thing before
    /// the commit: all of it is kept or nothing.
    async fn write<T, F>(&self, mut act: Act<T>, body: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'s> FnOnce(&'s mut Session) -> SessionFuture<'s, Done<T>> + Send + 'static,
    {
        let erases = act.erases();
        self.transact(erases, move |session| {
            Box::pin(async move {
                session.demand(act.take_precondition());
                let Done { answer, entries } = body(session).await?;
                if session.demands() {
                    return Err(StoreError::driver("nobody looked at the precondition"));
                }
                let changed = session.changes() > 0;
                if changed && entries.is_empty() {
                    return Err(StoreError::driver(
                        "a change without a row in the audit log",
                    ));
                }
                match act.kept(&answer) {
                    Some((reservation, Some(kept))) => {
                        idempotency::keep(session, &reservation, kept).await?;
                    }
                    Some((_, None)) if changed => {
                        return Err(StoreError::driver("a change under a key keeps its answer"));
                    }
                    _ => {}
                }
                messages::tell(session, &entries).await?;
                audit::append(session, (act.actor(), act.request()), entries).await?;
                Ok(answer)
            })
        })
        .await
    }

    /// Runs `body` in a transaction: commits if it answers, else takes all
    /// back. For what is no change of state: see tests/layers.rs.
    async fn write_unaudited<T, F>(&self, body: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'s> FnOnce(&'s mut Session) -> SessionFuture<'s, T> + Send + 'static,
    {
        self.transact(false, body).await
    }

    /// Runs `body` in a transaction; one that `erases` may use room that is
    /// held back for it.
    async fn transact<T, F>(&self, erases: bool, body: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'s> FnOnce(&'s mut Session) -> SessionFuture<'s, T> + Send + 'static,
    {
        let backend = Arc::clone(&self.backend);
        let transaction = async move {
            let mut session = backend.write(erases).await?;
            match body(&mut session).await {
                Ok(answer) => {
                    let has_erased = session.erases();
                    session.commit(backend.signals()).await?;
                    if has_erased {
                        wipe::after_commit(backend).await;
                    }
                    Ok(answer)
                }
                Err(error) => {
                    // The first error tells more than one of the way back.
                    let _ = session.rollback().await;
                    Err(error)
                }
            }
        };
        let task = tokio::spawn(transaction.in_current_span());
        task.await
            .unwrap_or_else(|_| Err(StoreError::driver("a write transaction panicked")))
    }
}

impl Store {
    /// Answers if the database does.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.read(|session| {
            Box::pin(async move {
                session.row("(none)", statements::PING, Vec::new()).await?;
                Ok(())
            })
        })
        .await
    }

    /// How busy the connections are.
    pub fn pool_figures(&self) -> PoolFigures {
        self.backend.pool_figures()
    }

    /// Number of the latest migration that this database has.
    pub async fn schema_version(&self) -> Result<u64, StoreError> {
        self.read(|session| {
            Box::pin(async move {
                let table = "_sqlx_migrations";
                let row = session
                    .row(table, statements::SCHEMA_VERSION, Vec::new())
                    .await?;
                row.ok_or(StoreError::not_found("migration"))?
                    .count("version")
            })
        })
        .await
    }

    /// Prepares every statement that the store ever runs, without running any;
    /// answers their number. An error means that the tables are not ours.
    pub async fn statements_check(&self) -> Result<usize, StoreError> {
        self.read(|session| {
            Box::pin(async move {
                let all = statements::all(session.dialect());
                for statement in &all {
                    session.prepare(statement).await?;
                }
                Ok(all.len())
            })
        })
        .await
    }

    /// Closes all connections, after their present work.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.backend.close().await
    }
}

/// The cursor and the limit that a list's statement is given: one more row
/// than the page holds tells whether there is a next one.
fn page_bounds(page: PageRequest) -> (Uuid, u32) {
    let limit = page.limit.clamp(1, PAGE_LIMIT_MAX);
    (page.cursor.unwrap_or(Uuid::max()), limit + 1)
}

/// Both filters on datasets as one list: those allowed, of which perhaps one is wanted.
fn allowed(wanted: Option<DatasetId>, only: Option<Vec<DatasetId>>) -> Option<String> {
    let ids = match (wanted, only) {
        (None, None) => return None,
        (Some(wanted), None) => vec![wanted],
        (None, Some(only)) => only,
        (Some(wanted), Some(only)) => only.into_iter().filter(|id| *id == wanted).collect(),
    };
    Some(id_list(ids.into_iter().map(DatasetId::uuid)))
}

/// A tie to datasets as it is kept.
fn tie(datasets: &[DatasetId]) -> String {
    let ids: Vec<String> = datasets.iter().map(DatasetId::to_string).collect();
    Value::from(ids).to_string()
}

/// Cuts the rows of a list to a page.
fn page_of<T>(
    mut rows: Vec<Row>,
    page: PageRequest,
    read: impl Fn(&Row) -> Result<T, StoreError>,
) -> Result<Page<T>, StoreError> {
    let limit = page.limit.clamp(1, PAGE_LIMIT_MAX) as usize;
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next_cursor = match rows.last() {
        Some(last) if more => Some(last.uuid("id")?),
        _ => None,
    };
    let items = rows.iter().map(read).collect::<Result<_, _>>()?;
    Ok(Page { items, next_cursor })
}

#[cfg(test)]
mod tests;
