//! What a handler leaves of a request's body.
//!
//! A handler that refuses a request drops its body, read or not. Here the rest
//! comes back: a small one is read away, so that the connection can be used
//! again; behind any other the answer says that the connection ends
//! (`Connection: close`), and `linger` closes it. HTTP/2 needs neither: a
//! stream ends alone.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderValue, Request, Response, Version, header};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};

/// A rest of at most so many bytes is read away.
const BYTES_MAX: u64 = 64 << 10;
/// Such a rest is on its way already; nobody waits for it longer.
const TIME: Duration = Duration::from_millis(100);

/// A body on loan to a handler.
pub struct Lent {
    body: Option<Incoming>,
    home: Arc<Mutex<Option<Incoming>>>,
}

/// The place that a lent body comes back to.
pub struct Remainder {
    home: Arc<Mutex<Option<Incoming>>>,
    /// Whether the connection may go on behind a small rest.
    may_go_on: bool,
    is_http1: bool,
}

/// Lends a request's body.
pub fn lend(request: Request<Incoming>) -> (Request<Lent>, Remainder) {
    let home = Arc::new(Mutex::new(None));
    let remainder = Remainder {
        home: Arc::clone(&home),
        // A client that waits for a word before the body has not sent it.
        may_go_on: !request.headers().contains_key(header::EXPECT),
        is_http1: request.version() < Version::HTTP_2,
    };
    let request = request.map(|body| Lent {
        body: Some(body),
        home,
    });
    (request, remainder)
}

impl Remainder {
    /// Deals with the rest, and says in the answer what becomes of the connection.
    pub async fn settle<B>(self, mut response: Response<B>) -> Response<B> {
        let rest = self
            .home
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(rest) = rest.filter(|_| self.is_http1) else {
            return response;
        };
        if !(self.may_go_on && read_away(rest).await) {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
        }
        response
    }
}

/// Whether a rest was small, and is read.
async fn read_away(rest: Incoming) -> bool {
    if rest
        .size_hint()
        .upper()
        .is_none_or(|bytes| bytes > BYTES_MAX)
    {
        return false;
    }
    let reading = tokio::time::timeout(TIME, rest.collect()).await;
    matches!(reading, Ok(Ok(_)))
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(body) = self.body.take().filter(|body| !body.is_end_stream()) {
            *self.home.lock().unwrap_or_else(PoisonError::into_inner) = Some(body);
        }
    }
}

impl Body for Lent {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.body {
            Some(body) => {
                let frame = Pin::new(body).poll_frame(context);
                if matches!(frame, Poll::Ready(None | Some(Err(_)))) {
                    self.body = None;
                }
                frame
            }
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let nothing = || SizeHint::with_exact(0);
        self.body.as_ref().map_or_else(nothing, Body::size_hint)
    }
}
