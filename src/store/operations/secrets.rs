//! Secrets of a run: the seed of a job and the secret of its dataset.
//!
//! Both are drawn where their rows are made and kept as the dataset's other
//! personal things are: sealed, if it is. A row of before there were secrets
//! has none; the worker that holds the job draws it, in a transaction of its
//! own, before it begins. The seed is gone when the job is over, and the
//! secret with the dataset: the secret is sealed by the key of the
//! preferences, which outlives the records.

use serde_json::json;
use vizard_anonymizer::privacy::Seed;

use super::dataset_row::hold;
use super::entry::{Done, Entry};
use super::job_row::{TABLE, get};
use super::leases::Lease;
use super::populations;
use crate::ids::{DatasetId, JobId};
use crate::job::draw_seed;
use crate::store::seal::{AssociatedData, DataKeyAccess, Purpose, of};
use crate::store::session::{Row, Session, cells};
use crate::store::statements::{datasets as dataset_sql, jobs as sql};
use crate::store::{JobSecrets, StoreError};

const DATASET: &str = "dataset";

/// A new seed as it is to be kept at its place.
fn drawn(access: &DataKeyAccess, associated: &AssociatedData<'_>) -> Result<Vec<u8>, StoreError> {
    let seed = draw_seed().map_err(|error| StoreError::driver(error.to_string()))?;
    access.kept(associated, seed.as_bytes().to_vec())
}

/// A new seed for a job of the dataset, as it is to be kept.
pub(super) async fn drawn_for_job(
    session: &mut Session,
    dataset: DatasetId,
    job: JobId,
) -> Result<Vec<u8>, StoreError> {
    let access = of(session, dataset.uuid(), Purpose::Records).await?;
    drawn(&access, &AssociatedData::JobSeed(job))
}

/// Draws the secret of a dataset that has none.
pub(super) async fn draw_for_dataset(
    session: &mut Session,
    dataset: DatasetId,
) -> Result<(), StoreError> {
    let access = of(session, dataset.uuid(), Purpose::Preferences).await?;
    let secret = drawn(&access, &AssociatedData::DatasetSecret(dataset))?;
    let cells = cells![dataset.uuid(), secret];
    session.run(dataset_sql::SECRET_SET, cells).await?;
    Ok(())
}

/// Gives a dataset that joins a population the secret of one that is in it, so that
/// what is drawn by it is the same in all: whose dates move by how much, and who
/// stands together. The population's lock is held; without another dataset the
/// secret is drawn.
pub(super) async fn share_in_population(
    session: &mut Session,
    dataset: DatasetId,
) -> Result<(), StoreError> {
    for sibling in populations::members(session, dataset).await? {
        if sibling == dataset {
            continue;
        }
        // One that is erased meanwhile takes its key with it.
        let keep = session.dialect().dataset_keep;
        match hold(session, sibling, keep).await {
            Err(StoreError::NotFound { .. }) => continue,
            held => held?,
        }
        let row = session.row(DATASET, dataset_sql::SECRET, cells![sibling.uuid()]);
        let Some(row) = row.await? else { continue };
        if row.bytes_or_null("secret")?.is_none() {
            continue;
        }
        let theirs = of(session, sibling.uuid(), Purpose::Preferences).await?;
        let associated = AssociatedData::DatasetSecret(sibling);
        let secret = opened(&theirs, &associated, (&row, "secret"))?;
        let own = of(session, dataset.uuid(), Purpose::Preferences).await?;
        let associated = AssociatedData::DatasetSecret(dataset);
        let secret = own.kept(&associated, secret.as_bytes().to_vec())?;
        let cells = cells![dataset.uuid(), secret];
        session.run(dataset_sql::SECRET_SET, cells).await?;
        return Ok(());
    }
    draw_for_dataset(session, dataset).await
}

/// The row of both secrets, if the lease is held.
async fn row_of(session: &mut Session, lease: Lease) -> Result<Row, StoreError> {
    let guard = lease.guard(session.times().await?);
    let row = session.row(TABLE, sql::SECRETS, guard).await?;
    row.ok_or(StoreError::LeaseLost)
}

/// The secrets of a job in the hands of its worker.
pub(super) async fn of_job(
    session: &mut Session,
    lease: Lease,
) -> Result<Done<JobSecrets>, StoreError> {
    let dataset = get(session, lease.id).await?.dataset;
    let mut entries = Vec::new();
    let row = row_of(session, lease).await?;
    if row.bytes_or_null("seed")?.is_none() || row.bytes_or_null("secret")?.is_none() {
        let what = draw_missing(session, lease, dataset).await?;
        let entry = Entry::job("draw_secrets", lease.id, dataset);
        entries.push(entry.telling(json!({"drawn": what})));
    }
    let records = of(session, dataset.uuid(), Purpose::Records).await?;
    let preferences = of(session, dataset.uuid(), Purpose::Preferences).await?;
    // Read after the keys were: if one was destroyed meanwhile, the lease is lost.
    let row = row_of(session, lease).await?;
    let secrets = JobSecrets {
        seed: opened(&records, &AssociatedData::JobSeed(lease.id), (&row, "seed"))?,
        dataset_secret: opened(
            &preferences,
            &AssociatedData::DatasetSecret(dataset),
            (&row, "secret"),
        )?,
    };
    Ok(Done::many(secrets, entries))
}

/// Draws what is missing, under the dataset's row; tells what that was.
async fn draw_missing(
    session: &mut Session,
    lease: Lease,
    dataset: DatasetId,
) -> Result<Vec<&'static str>, StoreError> {
    // The dataset's row before the job's, as an erasure takes them.
    let lock = session.dialect().dataset_lock;
    match hold(session, dataset, lock).await {
        Err(StoreError::NotFound { .. }) => return Err(StoreError::LeaseLost),
        other => other?,
    }
    // Another job of the dataset may have drawn its secret meanwhile.
    let row = row_of(session, lease).await?;
    let mut what = Vec::new();
    if row.bytes_or_null("secret")?.is_none() {
        draw_for_dataset(session, dataset).await?;
        what.push("dataset_secret");
    }
    if row.bytes_or_null("seed")?.is_none() {
        let seed = drawn_for_job(session, dataset, lease.id).await?;
        let cells = cells![lease.id.uuid(), seed];
        session.run(sql::SEED_SET, cells).await?;
        what.push("seed");
    }
    Ok(what)
}

/// The seed that a column keeps; damage is the row's.
fn opened(
    access: &DataKeyAccess,
    associated: &AssociatedData<'_>,
    (row, column): (&Row, &'static str),
) -> Result<Seed, StoreError> {
    let bytes = access.bytes(associated, row.bytes(column)?, (row, column))?;
    let bytes = bytes.try_into().map_err(|_| row.inconsistent(column))?;
    Ok(Seed::from_bytes(bytes))
}
