//! Tickets: the key of a request while the request runs.
//!
//! A ticket goes with the principal into the handler, whose act carries the
//! reservation and keeps the answer in the transaction of the change.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::body::Heard;
use super::secrets::Secrets;
use crate::http::answer::Answer;
use crate::store::{Act, KeptAnswer, Reservation};

/// The key of a running request.
#[derive(Clone)]
pub struct Ticket(Arc<Inner>);

struct Inner {
    reservation: Reservation,
    secrets: Secrets,
    request_hash: [u8; 32],
    heard: Heard,
    is_rendered: AtomicBool,
}

impl std::fmt::Debug for Ticket {
    /// It holds keys: never printed.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Ticket(…)")
    }
}

impl Ticket {
    /// The ticket of a request whose body is heard.
    pub(super) fn new(
        reservation: Reservation,
        (secrets, request_hash): (Secrets, [u8; 32]),
        heard: Heard,
    ) -> Self {
        Self(Arc::new(Inner {
            reservation,
            secrets,
            request_hash,
            heard,
            is_rendered: AtomicBool::new(false),
        }))
    }

    /// Whether an answer was handed to a transaction to keep.
    pub(super) fn is_rendered(&self) -> bool {
        self.0.is_rendered.load(Ordering::SeqCst)
    }

    /// Adds the reservation to an act that keeps no answer: it may then change
    /// nothing.
    pub fn reserve<T>(&self, act: Act<T>) -> Act<T> {
        act.reserved(self.0.reservation.clone())
    }

    /// Adds the reservation to an act, and what it answers with.
    pub fn keep<T>(
        self,
        act: Act<T>,
        answer: impl FnOnce(&T) -> Option<Answer> + Send + 'static,
    ) -> Act<T> {
        let reservation = self.0.reservation.clone();
        act.keeping(reservation, move |of| self.sealed(&answer(of)?))
    }

    /// An answer as it is kept; `None` where the body was not heard to its end.
    pub(super) fn sealed(&self, answer: &Answer) -> Option<KeptAnswer> {
        let kept = KeptAnswer {
            body_hash: self.0.heard.hash()?,
            sealed: self.0.secrets.seal(answer, &self.0.request_hash)?,
        };
        self.0.is_rendered.store(true, Ordering::SeqCst);
        Some(kept)
    }
}
