//! Acts: who does something, and behind which request.
//!
//! Every operation of the store that changes something, or that reads a
//! release for somebody, takes an act. Its row in the audit log is written in
//! the transaction of the change: no row, no change. An act carries no person:
//! an actor is a key's id, `operator`, a worker's name or `janitor`.

use std::marker::PhantomData;

/// Who does something, for an operation that answers a `T`.
pub struct Act<T> {
    actor: String,
    request: Option<String>,
    answer: PhantomData<fn(&T)>,
}

impl<T> Act<T> {
    /// An act with no request behind it: of a worker, a janitor, a command.
    pub fn by(actor: impl Into<String>) -> Self {
        Self {
            actor: without_nul(actor.into()),
            request: None,
            answer: PhantomData,
        }
    }

    /// The same, asked for by the request with this id.
    #[must_use]
    pub fn in_request(mut self, id: impl Into<String>) -> Self {
        self.request = Some(without_nul(id.into()));
        self
    }

    /// Who does it.
    pub fn actor(&self) -> &str {
        &self.actor
    }

    /// The id of the request behind it, if there is one.
    pub fn request(&self) -> Option<&str> {
        self.request.as_deref()
    }
}

/// PostgreSQL's text has no NUL; a name with one must not break the log.
fn without_nul(text: String) -> String {
    match text.contains('\0') {
        true => text.replace('\0', "\u{fffd}"),
        false => text,
    }
}
