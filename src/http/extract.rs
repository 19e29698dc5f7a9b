//! Extractors of our own, so that every refusal is a problem document.
//!
//! axum's own extractors answer `text/plain` and quote what they were given.
//! These answer a [`Problem`] and quote nothing: a place in the body and what
//! was expected there is all that is said.

use axum::body::{Body, Bytes};
use axum::extract::{FromRef, FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_stream::StreamExt;

use super::coding::{ContentCoding, Growth, unpack};
use super::objects::has_list_for_object;
use super::problem::{Problem, ProblemKind};
use super::state::AppState;
use crate::config::Limits;
use crate::microdata::Schema;
use crate::microdata::expectation;

/// Parts of the path, read as `T`.
pub struct UrlPath<T>(pub T);

/// The query, read as `T`, which refuses unknown parameters.
pub struct UrlQuery<T>(pub T);

/// A body in JSON, read as `T`.
pub struct JsonBody<T>(pub T);

impl<T, S> FromRequestParts<S> for UrlPath<T>
where
    T: DeserializeOwned + Send,
    S: Send + Sync,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Path::<T>::from_request_parts(parts, state).await {
            Ok(Path(value)) => Ok(Self(value)),
            Err(_) => Err(Problem::new(
                ProblemKind::InvalidId,
                "an id in the path is not of the kind needed there",
            )),
        }
    }
}

impl<T, S> FromRequestParts<S> for UrlQuery<T>
where
    T: DeserializeOwned,
    S: Send + Sync,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Query::<T>::from_request_parts(parts, state).await {
            Ok(Query(value)) => Ok(Self(value)),
            Err(_) => Err(Problem::new(
                ProblemKind::InvalidQuery,
                "a query parameter is unknown, or its value is not an allowed one",
            )),
        }
    }
}

impl<T, S> FromRequest<S> for JsonBody<T>
where
    T: DeserializeOwned,
    S: Send + Sync,
    AppState: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let body = json_bytes(request, &AppState::from_ref(state)).await?;
        read_json(&body, ProblemKind::InvalidBody).map(Self)
    }
}

/// A schema, with the document that it was read from.
pub struct SchemaBody {
    /// The schema.
    pub schema: Schema,
    /// Its document, as the client gave it.
    pub document: Value,
}

impl<S> FromRequest<S> for SchemaBody
where
    S: Send + Sync,
    AppState: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let body = json_bytes(request, &AppState::from_ref(state)).await?;
        Ok(Self {
            schema: read_json(&body, ProblemKind::InvalidSchema)?,
            document: read_json(&body, ProblemKind::InvalidSchema)?,
        })
    }
}

/// A body that says nothing: none at all, or `{}`.
pub struct NoBody;

impl<S> FromRequest<S> for NoBody
where
    S: Send + Sync,
    AppState: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Nothing {}
        let limits = AppState::from_ref(state).settings.limits;
        let (bytes_max, timeout) = (limits.json_bytes_max, limits.body_idle_timeout());
        let body = whole_body(request.into_body(), bytes_max, timeout).await?;
        if !body.is_empty() {
            let Nothing {} = read_json(&body, ProblemKind::InvalidBody)?;
        }
        Ok(Self)
    }
}

async fn json_bytes(request: Request, state: &AppState) -> Result<Bytes, Problem> {
    let limits = &state.settings.limits;
    require_media_type(request.headers(), &["application/json"])?;
    if ContentCoding::of_body(request.headers())? != ContentCoding::Identity {
        let detail = "JSON is read as it is, without content coding";
        return Err(Problem::new(ProblemKind::UnsupportedMediaType, detail));
    }
    let (bytes_max, idle_timeout) = (limits.json_bytes_max, limits.body_idle_timeout());
    whole_body(request.into_body(), bytes_max, idle_timeout).await
}

/// The media type of a body, without parameters, if it is one of `known`.
pub fn require_media_type<'a>(headers: &HeaderMap, known: &[&'a str]) -> Result<&'a str, Problem> {
    let unsupported = || {
        let detail = format!("read here: {}", known.join(", "));
        Problem::new(ProblemKind::UnsupportedMediaType, detail)
    };
    let given = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .ok_or_else(unsupported)?;
    let given = given.split(';').next().unwrap_or_default().trim();
    known
        .iter()
        .find(|name| given.eq_ignore_ascii_case(name))
        .copied()
        .ok_or_else(unsupported)
}

/// Reads a body that may be packed into memory, at most `bytes_max` bytes
/// before and after it is unpacked.
pub async fn unpacked_body(
    request: Request,
    bytes_max: u64,
    limits: &Limits,
) -> Result<Vec<u8>, Problem> {
    let coding = ContentCoding::of_body(request.headers())?;
    let body = whole_body(request.into_body(), bytes_max, limits.body_idle_timeout()).await?;
    if coding == ContentCoding::Identity {
        return Ok(body.into());
    }
    let growth = Growth {
        ratio_max: limits.inflation_ratio_max,
        bytes_max,
    };
    let unpacking = tokio::task::spawn_blocking(move || unpack(&body, coding, growth));
    unpacking.await.map_err(|_| Problem::internal())?
}

/// Reads a body of at most `bytes_max` bytes into memory.
///
/// Each piece of it must arrive within `idle_timeout`.
pub async fn whole_body(
    body: Body,
    bytes_max: u64,
    idle_timeout: std::time::Duration,
) -> Result<Bytes, Problem> {
    let mut whole = Vec::new();
    let mut pieces = BodyPieces::new(body, bytes_max, idle_timeout)?;
    while let Some(piece) = pieces.next().await? {
        whole.extend_from_slice(&piece);
    }
    Ok(whole.into())
}

/// A body piece by piece, under a limit on its size and on its silence.
pub struct BodyPieces {
    stream: axum::body::BodyDataStream,
    bytes_max: u64,
    bytes_left: u64,
    idle_timeout: std::time::Duration,
}

impl BodyPieces {
    /// Refuses at once a body that says it is larger than `bytes_max`.
    pub fn new(
        body: Body,
        bytes_max: u64,
        idle_timeout: std::time::Duration,
    ) -> Result<Self, Problem> {
        let announced = axum::body::HttpBody::size_hint(&body).lower();
        if announced > bytes_max {
            return Err(Problem::body_too_large(bytes_max));
        }
        Ok(Self {
            stream: body.into_data_stream(),
            bytes_max,
            bytes_left: bytes_max,
            idle_timeout,
        })
    }

    /// The next piece; `None` at the body's end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Problem> {
        let stopped = |what: &str| Problem::new(ProblemKind::BodyTimeout, what);
        let piece = tokio::time::timeout(self.idle_timeout, self.stream.next())
            .await
            .map_err(|_| stopped("nothing of the body arrived in time"))?;
        let piece = match piece {
            None => return Ok(None),
            Some(Err(_)) => return Err(stopped("the body broke off")),
            Some(Ok(piece)) => piece,
        };
        match self.bytes_left.checked_sub(piece.len() as u64) {
            Some(left) => self.bytes_left = left,
            None => return Err(Problem::body_too_large(self.bytes_max)),
        }
        Ok(Some(piece))
    }
}

/// Reads JSON; what does not fit `T` is a problem of the kind `misfit`.
pub fn read_json<T: DeserializeOwned>(body: &[u8], misfit: ProblemKind) -> Result<T, Problem> {
    let read = serde_json::from_slice(body).map_err(|error| {
        let place = format!("line {}, column {}", error.line(), error.column());
        match error.classify() {
            serde_json::error::Category::Data => {
                Problem::new(misfit, format!("{place}: {}", expectation(&error)))
            }
            _ => Problem::new(ProblemKind::MalformedJson, place),
        }
    });
    if read.is_ok() && has_list_for_object::<T>(body) {
        return Err(Problem::new(
            misfit,
            "a list stands where an object belongs",
        ));
    }
    read
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Shape {
        #[allow(dead_code, reason = "only whether it can be read matters")]
        number: u32,
    }

    fn problem(body: &str) -> (ProblemKind, String) {
        let problem = read_json::<Shape>(body.as_bytes(), ProblemKind::InvalidBody)
            .expect_err("the body does not fit");
        (problem.kind(), problem.document(None).detail)
    }

    #[test]
    fn a_refused_body_is_never_quoted() {
        for body in [
            r#"{"number": "canary"}"#,
            r#"{"canary": 1}"#,
            r#"{"number": "x, expected canary"}"#,
            r#"{"number": 1, "canary": 2}"#,
            r#"["canary"]"#,
        ] {
            let (kind, detail) = problem(body);
            assert_eq!(kind, ProblemKind::InvalidBody, "{body}");
            assert!(!detail.contains("canary"), "{detail}");
            assert!(detail.starts_with("line 1, column "), "{detail}");
        }
        assert_eq!(problem("canary").0, ProblemKind::MalformedJson);
    }

    #[test]
    fn a_refusal_says_what_was_expected() {
        assert!(problem(r#"{"number": "x"}"#).1.ends_with("expected u32"));
        assert!(problem("{}").1.ends_with("missing field `number`"));
        assert!(problem(r#"{"x": 1}"#).1.ends_with("expected `number`"));
    }

    #[test]
    fn media_types_are_compared_without_case_and_parameters() {
        let headers = |value: &'static str| {
            HeaderMap::from_iter([(header::CONTENT_TYPE, value.parse().expect("a value"))])
        };
        let known = ["text/csv", "application/json"];
        assert_eq!(
            require_media_type(&headers("Text/CSV; charset=utf-8"), &known).unwrap(),
            "text/csv"
        );
        assert!(require_media_type(&headers("text/csvx"), &known).is_err());
        assert!(require_media_type(&HeaderMap::new(), &known).is_err());
    }
}
