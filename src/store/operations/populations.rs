//! Populations: datasets whose subject keys name the same people.
//!
//! A dataset's population is a name, given when it is made. What concerns all
//! of its datasets (their terms, who joins) takes the population's lock first,
//! and so sees every dataset that another such transaction has brought.
//! Erasing a dataset does not take it: a member may be gone when its row is
//! asked for.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::ids::DatasetId;
use crate::store::session::{Session, cells};
use crate::store::statements::datasets as sql;
use crate::store::{Conflict, StoreError};

const TABLE: &str = "dataset";

/// Takes a population's lock until the transaction ends.
pub(super) async fn lock(session: &mut Session, name: &str) -> Result<(), StoreError> {
    let lock = session.dialect().population_lock;
    session.row(TABLE, lock, cells![name]).await?;
    Ok(())
}

/// Refuses a schema that normalizes subject keys by other rules than the
/// datasets of the population, whose lock is held: one person would have two
/// keys in it, and terms under one of them would bind to half of the datasets.
pub(super) async fn require_key_rules(
    session: &mut Session,
    (name, schema): (&str, &Value),
) -> Result<(), StoreError> {
    let rules = key_rules(schema);
    let others = sql::SCHEMAS_OF_POPULATION;
    for row in session.rows(TABLE, others, cells![name]).await? {
        if key_rules(&row.json("schema")?) != rules {
            return Err(Conflict::KeyRules.into());
        }
    }
    Ok(())
}

/// The words of a schema's rules for subject keys; their order says nothing.
fn key_rules(schema: &Value) -> BTreeSet<String> {
    let rules = schema["subject_key_normalization"].as_array();
    let words = rules.into_iter().flatten().filter_map(Value::as_str);
    words.map(str::to_owned).collect()
}

/// The datasets of a dataset's population, itself too, in order of ids.
pub(super) async fn members(
    session: &mut Session,
    dataset: DatasetId,
) -> Result<Vec<DatasetId>, StoreError> {
    let rows = session
        .rows(TABLE, sql::MEMBERS, cells![dataset.uuid()])
        .await?;
    let ids = rows.iter().map(|row| row.uuid("id").map(DatasetId::from));
    let ids = ids.collect::<Result<Vec<_>, _>>()?;
    if ids.is_empty() {
        Err(StoreError::not_found("dataset"))
    } else {
        Ok(ids)
    }
}

/// The same after taking the population's lock: nobody joins until the
/// transaction ends.
pub(super) async fn held_members(
    session: &mut Session,
    dataset: DatasetId,
) -> Result<Vec<DatasetId>, StoreError> {
    let row = session
        .row(TABLE, sql::POPULATION, cells![dataset.uuid()])
        .await?;
    let row = row.ok_or(StoreError::not_found("dataset"))?;
    match row.text_or_null("population")? {
        Some(name) => {
            lock(session, &name).await?;
            members(session, dataset).await
        }
        None => Ok(vec![dataset]),
    }
}
