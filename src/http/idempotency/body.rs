//! A body that is hashed while its handler reads it.
//!
//! Nothing is held back: sizes that the client announced are passed on, so
//! that a handler refuses a large body as early as without a key.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use super::secrets::Hash;

/// What was read of a body so far.
#[derive(Clone)]
pub struct Heard(Arc<Mutex<State>>);

struct State {
    hash: Hash,
    is_whole: bool,
}

impl Heard {
    /// Wraps `body`, which is hashed from now on.
    pub fn listen(body: Body, hash: Hash) -> (Body, Self) {
        let heard = Self(Arc::new(Mutex::new(State {
            hash,
            is_whole: false,
        })));
        let overheard = Overheard {
            body,
            heard: heard.clone(),
        };
        (Body::new(overheard), heard)
    }

    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The hash of the body; `None` where it was not read to its end.
    pub fn hash(&self) -> Option<[u8; 32]> {
        self.with(|state| state.is_whole.then(|| state.hash.clone().finish()))
    }
}

struct Overheard {
    body: Body,
    heard: Heard,
}

impl HttpBody for Overheard {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        match &polled {
            Poll::Ready(None) => self.heard.with(|state| state.is_whole = true),
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(piece) = frame.data_ref() {
                    self.heard.with(|state| state.hash.update(piece));
                }
            }
            Poll::Ready(Some(Err(_))) | Poll::Pending => {}
        }
        polled
    }

    // Not passed on: a reader that was told of the end would not come for it.
    fn is_end_stream(&self) -> bool {
        false
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::idempotency::secrets::Secrets;

    #[tokio::test]
    async fn a_body_has_a_hash_once_it_was_read_to_its_end() {
        let secrets = Secrets::derive("vz_token", "key-1").expect("keys");
        let (body, heard) = Heard::listen(Body::from("whole"), secrets.hash(b"body"));
        assert_eq!(body.size_hint().exact(), Some(5));
        assert_eq!(heard.hash(), None, "nothing was read");
        let read = axum::body::to_bytes(body, 99).await.expect("it is read");
        assert_eq!(&read[..], b"whole");
        let mut hash = secrets.hash(b"body");
        hash.update(b"whole");
        assert_eq!(heard.hash(), Some(hash.finish()));
    }

    #[tokio::test]
    async fn no_body_is_a_body_too() {
        let secrets = Secrets::derive("vz_token", "key-1").expect("keys");
        let (body, heard) = Heard::listen(Body::empty(), secrets.hash(b"body"));
        axum::body::to_bytes(body, 99).await.expect("it is read");
        assert_eq!(heard.hash(), Some(secrets.hash(b"body").finish()));
    }
}
