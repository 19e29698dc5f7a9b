//! What may keep an answer on its way: nothing, below `/v1`.
//!
//! Answers there tell of people, jobs, keys or the log, and so do refusals: a
//! proxy or a browser that keeps one gives it to somebody else, or keeps it
//! after an erasure. It is said here for all of them, whatever a handler says,
//! so that no handler can forget it. Pages and the description of the API are
//! the same for everybody.

use axum::extract::Request;
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;

/// Where every path of the API begins.
const API: &str = "/v1";

/// Says of an answer of the API that nobody keeps it; entity tags stay.
pub async fn keep_nothing(request: Request, next: Next) -> Response {
    let is_api = request.uri().path().starts_with(API);
    let mut response = next.run(request).await;
    if is_api {
        let kept = HeaderValue::from_static("no-store");
        response.headers_mut().insert(header::CACHE_CONTROL, kept);
    }
    response
}
