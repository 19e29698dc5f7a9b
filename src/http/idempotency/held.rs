//! What stands around the handler of a request under a key: it extends the
//! reservation, keeps the answer of a request that found nothing to change, and
//! frees the key where the answer was a refusal or nobody waited for it.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::task::JoinHandle;

use super::body::Heard;
use super::secrets::Secrets;
use super::ticket::Ticket;
use crate::http::answer::Answer;
use crate::http::auth::Principal;
use crate::http::problem::Problem;
use crate::store::{Reservation, Store};

/// How long a key stays reserved without being extended: what a crash costs.
pub const LEASE: Duration = Duration::from_secs(30);

/// How often a reservation is extended.
const EXTEND_INTERVAL: Duration = Duration::from_secs(10);

/// Bytes of an answer that is kept after the handler.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// A reserved key around its handler.
pub struct Held {
    store: Arc<Store>,
    reservation: Reservation,
    secrets: Option<(Secrets, [u8; 32])>,
    extending: JoinHandle<()>,
    is_settled: bool,
}

impl Held {
    /// Holds a key that was just reserved.
    pub fn new(
        store: Arc<Store>,
        reservation: Reservation,
        secrets: Secrets,
        request_hash: [u8; 32],
    ) -> Self {
        let (extender, extended) = (Arc::clone(&store), reservation.clone());
        let extending = tokio::spawn(async move {
            loop {
                tokio::time::sleep(EXTEND_INTERVAL).await;
                // Lost or answered: there is nothing to extend any more. A
                // store that fails is asked again.
                if let Ok(false) = extender.idempotency_extend(extended.clone(), LEASE).await {
                    return;
                }
            }
        });
        Self {
            store,
            reservation,
            secrets: Some((secrets, request_hash)),
            extending,
            is_settled: false,
        }
    }

    /// Runs the handler under the key.
    pub async fn run(mut self, request: Request, next: Next) -> Response {
        let Some((secrets, request_hash)) = self.secrets.take() else {
            return Problem::internal().into_response();
        };
        let (mut parts, body) = request.into_parts();
        let (body, heard) = Heard::listen(body, secrets.hash(b"body"));
        let ticket = Ticket::new(self.reservation.clone(), (secrets, request_hash), heard);
        if let Some(principal) = parts.extensions.remove::<Principal>() {
            let principal = principal.holding(ticket.clone());
            parts.extensions.insert(principal);
        }
        let response = next.run(Request::from_parts(parts, body)).await;
        let response = match response.status().is_success() {
            true if ticket.is_rendered() => response,
            true => self.keep_unchanged(response, &ticket).await,
            false => {
                self.free().await;
                response
            }
        };
        self.is_settled = true;
        response
    }

    /// Keeps the answer to a request that found nothing to change.
    async fn keep_unchanged(&self, response: Response, ticket: &Ticket) -> Response {
        let (parts, body) = response.into_parts();
        let Ok(body) = axum::body::to_bytes(body, ANSWER_BYTES_MAX).await else {
            self.free().await;
            return Problem::internal().into_response();
        };
        let answer = Answer::of(&parts, body.clone());
        let kept = match ticket.sealed(&answer) {
            Some(kept) => {
                let keeping = self.store.idempotency_keep(self.reservation.clone(), kept);
                keeping.await.unwrap_or(false)
            }
            None => false,
        };
        if !kept {
            tracing::warn!("an answer under an idempotency key was not kept");
            self.free().await;
        }
        Response::from_parts(parts, body.into())
    }

    async fn free(&self) {
        let freed = self.store.idempotency_free(self.reservation.clone()).await;
        if let Err(error) = freed {
            tracing::warn!(%error, "an idempotency key is freed by its lease alone");
        }
    }
}

impl Drop for Held {
    /// Where the client went away the key is freed; a change that commits all
    /// the same has kept its answer by then, and the key stays.
    fn drop(&mut self) {
        self.extending.abort();
        if self.is_settled {
            return;
        }
        let (store, reservation) = (Arc::clone(&self.store), self.reservation.clone());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if let Err(error) = store.idempotency_free(reservation).await {
                    tracing::warn!(%error, "an idempotency key is freed by its lease alone");
                }
            });
        }
    }
}
