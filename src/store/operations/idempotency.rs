//! Keys of requests: reserved, extended, answered, freed.
//!
//! Reserving looks before it writes: of many requests under one key all but
//! the first are told so without a transaction.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::Store;
use super::dataset_row::hold;
use crate::ids::DatasetId;
use crate::store::session::{Cell, Row, Session, cells};
use crate::store::statements::idempotency as sql;
use crate::store::{Conflict, KeptAnswer, KeyedRequest, Reservation, Reserve, StoreError};

const TABLE: &str = "idempotency";

/// A token that nobody can guess and no two reservations share.
#[expect(
    clippy::disallowed_methods,
    reason = "a secret that must never come again; no result depends on it"
)]
fn token_generate() -> uuid::Uuid {
    uuid::Builder::from_random_bytes(rand::random()).into_uuid()
}

fn later(now: DateTime<Utc>, lease: Duration) -> DateTime<Utc> {
    now + TimeDelta::from_std(lease).unwrap_or(TimeDelta::days(1))
}

/// The cells that the holder of a reservation shows.
fn shown(reservation: &Reservation) -> Vec<Cell> {
    cells![
        reservation.principal.as_str(),
        reservation.key_hash,
        reservation.token
    ]
}

/// What a row says to a request that wants its key; `None`: its time is up.
fn said(
    row: &Row,
    request: &KeyedRequest,
    now: DateTime<Utc>,
) -> Result<Option<Reserve>, StoreError> {
    let expiry = row.time_or_null("lease_expires_at")?;
    if expiry.is_some_and(|expiry| expiry <= now) {
        return Ok(None);
    }
    if row.digest("request_hash")? != request.request_hash {
        return Ok(Some(Reserve::OtherRequest));
    }
    Ok(Some(match expiry {
        Some(_) => Reserve::Running,
        None => Reserve::Answered(KeptAnswer {
            body_hash: row.digest("body_hash")?,
            sealed: row.bytes("answer")?,
        }),
    }))
}

async fn look(
    session: &mut Session,
    request: &KeyedRequest,
) -> Result<Option<Reserve>, StoreError> {
    let now = session.now().await?;
    let key = cells![request.principal.as_str(), request.key_hash];
    match session.row(TABLE, sql::GET, key).await? {
        Some(row) => said(&row, request, now),
        None => Ok(None),
    }
}

/// Takes the key if nobody has it; else tells who does.
async fn take(
    session: &mut Session,
    request: KeyedRequest,
    lease: Duration,
) -> Result<Reserve, StoreError> {
    let reservation = Reservation {
        principal: request.principal.clone(),
        key_hash: request.key_hash,
        token: token_generate(),
        dataset: request.dataset,
    };
    loop {
        let now = session.now().await?;
        let mut cells = shown(&reservation);
        cells.extend(cells![
            request.request_hash,
            now,
            later(now, lease),
            request.dataset.map(DatasetId::uuid)
        ]);
        let mut taken = session.run(sql::RESERVE, cells.clone()).await?;
        if taken == 0 {
            taken = session.run(sql::TAKE_OVER, cells).await?;
        }
        if taken > 0 {
            return Ok(Reserve::Ours(reservation));
        }
        if let Some(said) = look(session, &request).await? {
            return Ok(said);
        }
        // Freed between the statements (PostgreSQL only): try again.
    }
}

/// Keeps an answer; an error, which takes the change back, where the
/// reservation was lost.
pub(super) async fn keep(
    session: &mut Session,
    reservation: &Reservation,
    answer: KeptAnswer,
) -> Result<(), StoreError> {
    if let Some(dataset) = reservation.dataset {
        // An erasure forgets what was kept before it; nothing is kept after it.
        let keep = session.dialect().dataset_keep;
        match hold(session, dataset, keep).await {
            Err(StoreError::NotFound { .. }) => return Err(Conflict::ReservationLost.into()),
            held => held?,
        }
    }
    let now = session.now().await?;
    let mut cells = shown(reservation);
    let dataset = reservation.dataset.map(DatasetId::uuid);
    cells.extend(cells![answer.body_hash, answer.sealed, now, dataset]);
    match session.run(sql::KEEP, cells).await? {
        0 => Err(Conflict::ReservationLost.into()),
        _ => Ok(()),
    }
}

/// Forgets the answers that tell of a dataset.
pub(super) async fn forget_answers(session: &mut Session, id: DatasetId) -> Result<(), StoreError> {
    session.run(sql::FORGET, cells![id.uuid()]).await?;
    Ok(())
}

impl Store {
    /// Reserves a key for `lease` from now, if nobody has it.
    pub async fn idempotency_reserve(
        &self,
        request: KeyedRequest,
        lease: Duration,
    ) -> Result<Reserve, StoreError> {
        let wanted = request.clone();
        let looked = self.read(|session| Box::pin(async move { look(session, &wanted).await }));
        if let Some(said) = looked.await? {
            return Ok(said);
        }
        let taken = self.write_unaudited(move |session| Box::pin(take(session, request, lease)));
        taken.await
    }

    /// Extends a reservation; false where it was lost.
    pub async fn idempotency_extend(
        &self,
        reservation: Reservation,
        lease: Duration,
    ) -> Result<bool, StoreError> {
        self.write_unaudited(move |session| {
            Box::pin(async move {
                let expiry = later(session.now().await?, lease);
                let mut cells = shown(&reservation);
                cells.push(expiry.into());
                Ok(session.run(sql::EXTEND, cells).await? > 0)
            })
        })
        .await
    }

    /// Keeps the answer of a request that changed nothing; false where the
    /// reservation was lost, or its dataset was erased.
    pub async fn idempotency_keep(
        &self,
        reservation: Reservation,
        answer: KeptAnswer,
    ) -> Result<bool, StoreError> {
        self.write_unaudited(move |session| {
            Box::pin(async move {
                match keep(session, &reservation, answer).await {
                    Ok(()) => Ok(true),
                    Err(StoreError::Conflict(Conflict::ReservationLost)) => Ok(false),
                    Err(error) => Err(error),
                }
            })
        })
        .await
    }

    /// Frees a key whose request was not answered well.
    pub async fn idempotency_free(&self, reservation: Reservation) -> Result<(), StoreError> {
        self.write_unaudited(move |session| {
            Box::pin(async move {
                session.run(sql::FREE, shown(&reservation)).await?;
                Ok(())
            })
        })
        .await
    }

    /// Removes keys older than `retention`; tells how many.
    pub async fn idempotency_sweep(&self, retention: Duration) -> Result<u64, StoreError> {
        self.write_unaudited(move |session| {
            Box::pin(async move {
                let now = session.now().await?;
                let retention = TimeDelta::from_std(retention).unwrap_or(TimeDelta::days(366));
                let cells = cells![now - retention, now];
                session.run(sql::SWEEP, cells).await
            })
        })
        .await
    }
}
