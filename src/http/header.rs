//! How large a request's header may be, and which fields stand in it once.
//!
//! The HTTP library stops reading a header that is larger by far; here the
//! limits are exact, the same for HTTP/1 and HTTP/2, and the answer is a
//! problem document that names them. Where a field that has one value stands
//! twice, a proxy may go by one and we by the other: such a request is refused
//! before anybody is looked up and before its body is read. Lists (`If-Match`,
//! `Accept`) may stand in several fields; what holds one coding or one range
//! is refused, or passed over, where it is read.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::idempotency::IDEMPOTENCY_KEY;
use super::problem::{Problem, ProblemKind};
use crate::config::{Limits, Settings};

/// Bytes around a field: `: ` and the line end.
const BYTES_AROUND: usize = 4;

/// Names the last event that a client saw of a job.
pub static LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Lets a request through whose header is within the limits and beyond doubt.
pub async fn refuse_header(
    State(settings): State<Arc<Settings>>,
    request: Request,
    next: Next,
) -> Response {
    let checked = check(&request, &settings.limits);
    match checked.and_then(|()| refuse_doubled(request.headers())) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

fn check(request: &Request, limits: &Limits) -> Result<(), Problem> {
    let too_large = |limit| {
        let detail = format!("the header is larger than {limit}");
        Err(Problem::new(ProblemKind::HeaderTooLarge, detail))
    };
    let fields = request.headers();
    if fields.len() as u64 > limits.header_fields_max {
        return too_large(limits.header_fields_max());
    }
    let field_bytes = |(name, value): (&HeaderName, &axum::http::HeaderValue)| {
        name.as_str().len() + value.len() + BYTES_AROUND
    };
    let target = request.uri().path_and_query();
    let target_bytes = target.map_or(0, |target| target.as_str().len());
    let bytes = target_bytes + fields.iter().map(field_bytes).sum::<usize>();
    if bytes as u64 > limits.header_bytes_max {
        return too_large(limits.header_bytes_max());
    }
    Ok(())
}

/// Refuses a header in which a field stands twice whose one value decides what
/// is done, or for whom.
fn refuse_doubled(headers: &HeaderMap) -> Result<(), Problem> {
    let single = [
        &header::AUTHORIZATION,
        &header::CONTENT_TYPE,
        &header::IF_RANGE,
        &IDEMPOTENCY_KEY,
        &LAST_EVENT_ID,
    ];
    let is_doubled = |name: &&HeaderName| headers.get_all(*name).iter().nth(1).is_some();
    match single.into_iter().find(is_doubled) {
        None => Ok(()),
        Some(name) => {
            let detail = format!("the header {name} stands twice, and has one value");
            Err(Problem::new(ProblemKind::InvalidHeader, detail))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    /// 1 + 3 × (1 + 1 + 4) = 19 bytes in three fields.
    fn request() -> Request {
        let request = Request::builder().uri("/").header("a", "1");
        let request = request.header("b", "2").header("b", "3");
        request.body(Body::empty()).expect("a request")
    }

    #[test]
    fn a_header_may_be_as_large_as_its_limits_and_no_larger() {
        for (header_bytes_max, header_fields_max, is_taken) in
            [(19, 3, true), (18, 3, false), (19, 2, false)]
        {
            let limits = Limits {
                header_bytes_max,
                header_fields_max,
                ..Limits::default()
            };
            assert_eq!(check(&request(), &limits).is_ok(), is_taken);
        }
    }
}
