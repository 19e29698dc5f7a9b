//! Idempotency: requests under a key that their client chose, done once.
//!
//! Before it runs, a request *reserves* its key. The reservation is a lease,
//! extended while the request runs, so that a crash frees the key. The answer
//! is kept in the transaction of the change (`Act` carries the reservation):
//! a request that lost its key in between changes nothing. Keys and requests
//! are kept as hashes and answers sealed: the store can read none of them.

use std::fmt;
use std::time::Duration;

use uuid::Uuid;

use super::StoreFuture;
use crate::ids::DatasetId;

/// A key, and the request that is made under it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyedRequest {
    /// Who makes it: two principals may choose the same key.
    pub principal: String,
    /// Hash of the key.
    pub key_hash: [u8; 32],
    /// Hash of what is asked for, without the body.
    pub request_hash: [u8; 32],
    /// The dataset whose things its answer may tell: erased with them.
    pub dataset: Option<DatasetId>,
}

/// A key in the hands of one request.
#[derive(Clone, PartialEq, Eq)]
pub struct Reservation {
    pub(super) principal: String,
    pub(super) key_hash: [u8; 32],
    pub(super) token: Uuid,
    pub(super) dataset: Option<DatasetId>,
}

impl fmt::Debug for Reservation {
    /// A token is a secret of its request: never printed.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Reservation(…)")
    }
}

/// An answer on its way into the store.
#[derive(Clone, PartialEq, Eq)]
pub struct KeptAnswer {
    /// Hash of the request's body.
    pub body_hash: [u8; 32],
    /// The sealed answer.
    pub sealed: Vec<u8>,
}

/// What became of a reservation.
#[derive(Clone, PartialEq, Eq)]
pub enum Reserve {
    /// The key is this request's.
    Ours(Reservation),
    /// A request under the key runs.
    Running,
    /// A request under the key was answered.
    Answered(KeptAnswer),
    /// The key was given to another request.
    OtherRequest,
}

/// Operations on keys of requests. None is a change of state that a client
/// could see, so none is in the audit log.
pub trait Idempotency {
    /// Reserves a key for `lease` from now, if nobody has it.
    fn idempotency_reserve(
        &self,
        request: KeyedRequest,
        lease: Duration,
    ) -> StoreFuture<'_, Reserve>;

    /// Extends a reservation; false where it was lost.
    fn idempotency_extend(
        &self,
        reservation: Reservation,
        lease: Duration,
    ) -> StoreFuture<'_, bool>;

    /// Keeps the answer of a request that changed nothing; false where the
    /// reservation was lost, or its dataset was erased.
    fn idempotency_keep(
        &self,
        reservation: Reservation,
        answer: KeptAnswer,
    ) -> StoreFuture<'_, bool>;

    /// Frees a key whose request was not answered well.
    fn idempotency_free(&self, reservation: Reservation) -> StoreFuture<'_, ()>;

    /// Removes keys older than `retention`; tells how many.
    fn idempotency_sweep(&self, retention: Duration) -> StoreFuture<'_, u64>;
}
