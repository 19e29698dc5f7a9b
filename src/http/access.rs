//! The table of operations: which roles may call each, and which problems it
//! answers with.
//!
//! This is the one place where roles meet operations: `auth::authorize`
//! enforces it, `openapi` describes it, and the tests walk it. A route that is
//! not in the table is answered with 404.

mod table;

use axum::http::Method;

use super::auth::Role;
use super::idempotency::takes_key;
use super::problem::ProblemKind::{self, *};

pub use table::OPERATIONS;

/// Who may call an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Anyone, without a token.
    Public,
    /// Anyone with a valid token and any role.
    AnyKey,
    /// Holders of one of these roles.
    Roles(&'static [Role]),
    /// The holder of a subject token, and nobody else.
    SubjectToken,
    /// The holder of the code of a receipt, and nobody else.
    Receipt,
}

/// One operation of the API.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// Its name in openapi.yaml: `<verb>_<resource>`.
    pub id: &'static str,
    /// Its method.
    pub method: &'static str,
    /// Its path, as the router knows it.
    pub path: &'static str,
    /// Who may call it.
    pub access: Access,
    /// Problems of its own; [`Operation::problems`] adds those that all have, or
    /// all that are done once under an idempotency key.
    own: &'static [ProblemKind],
}

impl Operation {
    /// Whether the operation is done once under an idempotency key.
    pub fn takes_idempotency_key(&self) -> bool {
        takes_key(self.method, self.path)
            && matches!(self.access, Access::AnyKey | Access::Roles(_))
    }

    /// What somebody who may not call the operation does in its place.
    pub fn instead(&self) -> Option<&'static str> {
        (self.id == "put_hierarchy").then_some(LIBRARY_ONLY)
    }

    /// Every kind of problem that the operation may answer with, in order.
    pub fn problems(&self) -> Vec<ProblemKind> {
        let mut all = vec![Internal, HeaderTooLarge, InvalidHeader, InvalidQuery];
        all.extend(self.own);
        if self.access != Access::Public {
            all.extend([Unauthenticated, TooManyRequests, Unavailable]);
        }
        if matches!(self.access, Access::AnyKey | Access::Roles(_)) {
            all.push(Forbidden);
        }
        if self.path.contains("{id}") {
            all.extend([InvalidId, NotFound]);
        }
        if self.takes_idempotency_key() {
            all.extend([IdempotencyInProgress, IdempotencyKeyReused]);
            // A body that is sent again is read, whatever it is.
            all.extend([BodyTooLarge, BodyTimeout]);
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// The operation of a matched path.
pub fn operation(method: &Method, path: &str) -> Option<&'static Operation> {
    OPERATIONS
        .iter()
        .find(|operation| operation.path == path && operation.method == method.as_str())
}

/// Why somebody may not write to the library, and what to do in its place.
pub const LIBRARY_ONLY: &str = "the library is shared by all datasets: a steward whose key is tied \
    to none of them writes it. Put the hierarchy into its dataset: \
    PUT /v1/datasets/{id}/hierarchies/{name}";
