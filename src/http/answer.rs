//! Answers that can be given twice.
//!
//! What a client gets for a change is made from the store's own answer, inside
//! the transaction, so that it can be kept there under the client's
//! idempotency key; the handler makes the same answer once more and sends it.
//! An answer is a status, few headers and a body of JSON.

use axum::body::{Body, Bytes};
use axum::http::response::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

/// Headers that belong to an answer; others belong to the way it takes.
const HEADERS: [HeaderName; 3] = [header::CONTENT_TYPE, header::LOCATION, header::ETAG];

/// An answer to a request that changed something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

/// An answer as it is written down.
#[derive(Serialize, Deserialize)]
struct Written {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

impl Answer {
    /// A status and a body.
    pub fn new(status: StatusCode, body: &impl Serialize) -> Self {
        let media_type = HeaderValue::from_static("application/json");
        Self {
            status,
            headers: HeaderMap::from_iter([(header::CONTENT_TYPE, media_type)]),
            // Views are structs of texts and numbers: writing them down cannot fail.
            body: serde_json::to_vec(body).unwrap_or_default().into(),
        }
    }

    /// 200 and a body.
    pub fn ok(body: &impl Serialize) -> Self {
        Self::new(StatusCode::OK, body)
    }

    /// The same with a header, whose text is made of ids and digits.
    #[must_use]
    pub fn with(mut self, name: HeaderName, text: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(text) {
            self.headers.insert(name, value);
        }
        self
    }

    /// The answer of a response whose body was read.
    pub fn of(parts: &Parts, body: Bytes) -> Self {
        let kept = HEADERS.into_iter().filter_map(|name| {
            let value = parts.headers.get(&name)?.clone();
            Some((name, value))
        });
        Self {
            status: parts.status,
            headers: kept.collect(),
            body,
        }
    }

    /// As bytes, to be kept; `None` where the body is no text.
    pub fn write(&self) -> Option<Vec<u8>> {
        let headers = self.headers.iter();
        let written = Written {
            status: self.status.as_u16(),
            headers: headers
                .map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
                .collect::<Option<_>>()?,
            body: String::from_utf8(self.body.to_vec()).ok()?,
        };
        serde_json::to_vec(&written).ok()
    }

    /// The answer that was written as these bytes.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let written: Written = serde_json::from_slice(bytes).ok()?;
        let headers = written.headers.into_iter().map(|(name, value)| {
            let name: HeaderName = name.parse().ok()?;
            Some((name, HeaderValue::from_str(&value).ok()?))
        });
        Some(Self {
            status: StatusCode::from_u16(written.status).ok()?,
            headers: headers.collect::<Option<_>>()?,
            body: written.body.into(),
        })
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_as_it_was_written() {
        let answer = Answer::new(StatusCode::CREATED, &["a", "\u{0}\"é"])
            .with(header::LOCATION, "/v1/jobs/job_1")
            .with(header::ETAG, "\"3\"");
        let written = answer.write().expect("it is text");
        assert_eq!(Answer::read(&written), Some(answer));
        assert_eq!(Answer::read(b"{}"), None);
    }

    #[test]
    fn headers_of_the_way_are_no_part_of_an_answer() {
        let mut response = Answer::ok(&1).with(header::ETAG, "\"1\"").into_response();
        let date = HeaderValue::from_static("today");
        response.headers_mut().insert(header::DATE, date);
        let (parts, _) = response.into_parts();
        let answer = Answer::of(&parts, Bytes::from_static(b"1"));
        assert_eq!(answer, Answer::ok(&1).with(header::ETAG, "\"1\""));
    }
}
