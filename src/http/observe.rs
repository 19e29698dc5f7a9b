//! The outermost layers: request id, log line, metrics, panics, problems.
//!
//! A log line, a label and a span carry the method, the *matched* path, the status and
//! the time; never the path itself (it may name a subject), never a query,
//! header or body.

use std::any::Any;

use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tracing::Instrument;
use tracing::field::Empty;
use uuid::Uuid;

use super::problem::{PROBLEM_JSON, Problem};
use crate::telemetry::{TRACE_TARGET, continue_trace, trace_id};

/// Names a request on its way in and out.
pub static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Label of requests whose path is not known.
const UNMATCHED: &str = "unmatched";

/// Marks a response whose refusal is a page for people: it goes out as it is.
#[derive(Clone, Copy, Debug)]
pub struct Drawn;

/// The id of a request, for its handlers.
#[derive(Clone, Debug)]
pub struct RequestId(String);

impl RequestId {
    /// The id that `observe` gave to a request.
    pub fn of(request: &Request) -> Option<Self> {
        request.extensions().get::<Self>().cloned()
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Gives a request its id and its spans, measures it, and writes down the
/// problem that its handler may have answered with.
pub async fn observe(mut request: Request, next: Next) -> Response {
    let id = request_id(&request);
    request.extensions_mut().insert(RequestId(id.clone()));
    let path = request.extensions().get::<MatchedPath>();
    let path = path.map_or(UNMATCHED, MatchedPath::as_str).to_owned();
    let method = method_label(request.method());
    let trace = trace_span(&request, method, &path);
    let span = tracing::info_span!("request", id = %id, method, path = %path, trace = Empty);
    if let Some(trace) = trace_id(&trace) {
        span.record("trace", trace);
    }
    let start = tokio::time::Instant::now();
    let response = async {
        let response = with_problem(next.run(request).await, &id);
        let (status, duration) = (response.status().as_u16(), start.elapsed());
        tracing::info!(
            status,
            duration_ms = duration.as_millis() as u64,
            "answered"
        );
        let trace = tracing::Span::current();
        trace.record("http.response.status_code", status);
        if response.status().is_server_error() {
            trace.record("otel.status_code", "error");
        }
        let labels = [("method", method.to_owned()), ("path", path)];
        metrics::histogram!("vizard_http_request_duration_seconds", &labels)
            .record(duration.as_secs_f64());
        let [method, path] = labels;
        let labels = [method, path, ("status", status.to_string())];
        metrics::counter!("vizard_http_requests_total", &labels).increment(1);
        response
    };
    let mut response = response.instrument(trace).instrument(span).await;
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID.clone(), value);
    }
    response
}

/// The span that leaves the process, where traces do. It is the current span
/// inside the handler.
fn trace_span(request: &Request, method: &'static str, path: &str) -> tracing::Span {
    let span = tracing::info_span!(
        target: TRACE_TARGET,
        "request",
        otel.name = format!("{method} {path}"),
        otel.kind = "server",
        otel.status_code = Empty,
        http.request.method = method,
        http.route = path,
        http.response.status_code = Empty,
    );
    let parent = request.headers().get("traceparent");
    continue_trace(&span, parent.and_then(|value| value.to_str().ok()));
    span
}

/// The client's own id if it is short and plain, else a new one.
fn request_id(request: &Request) -> String {
    let given = request
        .headers()
        .get(&REQUEST_ID)
        .and_then(|value| value.to_str().ok());
    let is_plain = |text: &&str| {
        (1..=64).contains(&text.len())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
    };
    match given.filter(is_plain) {
        Some(text) => text.to_owned(),
        None => Uuid::now_v7().to_string(),
    }
}

/// One of few words: clients may send any method, labels must stay few.
fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        _ => "other",
    }
}

fn with_problem(mut response: Response, id: &str) -> Response {
    let problem = match response.extensions_mut().remove::<Problem>() {
        Some(problem) => problem,
        None if !response.status().is_client_error() && !response.status().is_server_error() => {
            return response;
        }
        // A page says it in its own words.
        None if response.extensions().get::<Drawn>().is_some() => return response,
        // A layer that is not ours refused: its text stays inside.
        None if response.status() == StatusCode::NOT_FOUND => Problem::not_found("path"),
        None => Problem::internal(),
    };
    let document = problem.document(Some(id.to_owned()));
    // A struct of texts and numbers: writing it down cannot fail.
    let body = serde_json::to_vec(&document).unwrap_or_default();
    let media_type = HeaderValue::from_static(PROBLEM_JSON);
    *response.status_mut() = problem.kind().status();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, media_type);
    headers.remove(header::CONTENT_LENGTH);
    *response.body_mut() = Body::from(body);
    response
}

/// The answer to a request whose handler panicked.
///
/// What the panic said is not passed on: it was written for us.
pub fn answer_panic(_: Box<dyn Any + Send>) -> Response {
    tracing::error!("a handler panicked");
    Problem::internal().into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id_of(value: &str) -> String {
        let request = Request::builder().header(&REQUEST_ID, value);
        request_id(&request.body(Body::empty()).expect("a request"))
    }

    #[test]
    fn a_plain_request_id_is_kept_and_any_other_replaced() {
        assert_eq!(id_of("order-66_a.b"), "order-66_a.b");
        for given in ["", "a b", "a\"b", &"x".repeat(65)] {
            assert_ne!(id_of(given), given);
        }
    }
}
