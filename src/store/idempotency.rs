//! Idempotency: requests under a key that their client chose, done once.
//!
//! Before it runs, a request *reserves* its key. The reservation is a lease,
//! extended while the request runs, so that a crash frees the key. The answer
//! is kept in the transaction of the change (`Act` carries the reservation):
//! a request that lost its key in between changes nothing. Keys and requests
//! are kept as hashes and answers sealed: the store can read none of them.

use std::fmt;

use uuid::Uuid;

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
