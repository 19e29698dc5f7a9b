//! Acts: who does something, and behind which request.
//!
//! Every operation of the store that changes something, or that reads a
//! release for somebody, takes an act. Its row in the audit log is written in
//! the transaction of the change: no row, no change. An act carries no person:
//! an actor is a key's id, `operator`, a worker's name or `janitor`.
//!
//! An act may hold a reservation: a request under an idempotency key. Then
//! the answer that the client gets is made from the operation's own answer and
//! kept in the same transaction too. An operation that answers a `T` takes an
//! `Act<T>`, so that what renders the answer fits it.

use super::Precondition;
use super::idempotency::{KeptAnswer, Reservation};
use crate::ids::DatasetId;

/// Makes the answer to a client from an operation's answer; `None`: it is no
/// good answer, and nothing was changed.
type Render<T> = Box<dyn FnOnce(&T) -> Option<KeptAnswer> + Send>;

/// Who does something, for an operation that answers a `T`.
pub struct Act<T> {
    actor: String,
    request: Option<String>,
    reserved: Option<(Reservation, Option<Render<T>>)>,
    precondition: Option<Precondition>,
    erases: bool,
}

impl<T> Act<T> {
    /// An act with no request behind it: of a worker, a janitor, a command.
    pub fn by(actor: impl Into<String>) -> Self {
        Self {
            actor: without_nul(actor.into()),
            request: None,
            reserved: None,
            precondition: None,
            erases: false,
        }
    }

    /// The same, asked for by the request with this id.
    #[must_use]
    pub fn in_request(mut self, id: impl Into<String>) -> Self {
        self.request = Some(without_nul(id.into()));
        self
    }

    /// The same, under a reserved key. It may change nothing unless it keeps
    /// an answer.
    #[must_use]
    pub fn reserved(mut self, reservation: Reservation) -> Self {
        self.reserved = Some((reservation, None));
        self
    }

    /// The same, under a reserved key and keeping what `render` makes of the
    /// operation's answer.
    #[must_use]
    pub fn keeping(
        mut self,
        reservation: Reservation,
        render: impl FnOnce(&T) -> Option<KeptAnswer> + Send + 'static,
    ) -> Self {
        self.reserved = Some((reservation, Some(Box::new(render))));
        self
    }

    /// The same, whose kept answer tells of people of a dataset that the path of
    /// the request does not name: it is forgotten with them.
    #[must_use]
    pub fn telling_of(mut self, dataset: DatasetId) -> Self {
        if let Some((reservation, _)) = &mut self.reserved {
            reservation.dataset = Some(dataset);
        }
        self
    }

    /// The same, only if the thing is as `precondition` demands.
    #[must_use]
    pub fn only_if(mut self, precondition: Option<Precondition>) -> Self {
        self.precondition = precondition;
        self
    }

    /// The same, as one that erases: room is held back for it.
    #[must_use]
    pub(super) fn erasing(mut self) -> Self {
        self.erases = true;
        self
    }

    /// Whether it may use the room that is held back.
    pub(super) fn erases(&self) -> bool {
        self.erases
    }

    /// What it demands of the thing as it is.
    pub(super) fn take_precondition(&mut self) -> Option<Precondition> {
        self.precondition.take()
    }

    /// Who does it.
    pub fn actor(&self) -> &str {
        &self.actor
    }

    /// The id of the request behind it, if there is one.
    pub fn request(&self) -> Option<&str> {
        self.request.as_deref()
    }

    /// The reserved key, if there is one, and what is to be kept under it.
    pub(super) fn kept(&mut self, answer: &T) -> Option<(Reservation, Option<KeptAnswer>)> {
        let (reservation, render) = self.reserved.take()?;
        Some((reservation, render.and_then(|render| render(answer))))
    }
}

/// PostgreSQL's text has no NUL; a name with one must not break the log.
fn without_nul(text: String) -> String {
    if text.contains('\0') {
        text.replace('\0', "\u{fffd}")
    } else {
        text
    }
}
