//! Extractors of our own, so that every refusal is a problem document.
//!
//! axum's own extractors answer `text/plain` and quote what they were given.
//! These answer a [`Problem`] and quote nothing: a place in the body and what
//! was expected there is all that is said.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRef, FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use vizard_anonymizer::microdata::attribute::NAME_CHARACTERS_MAX;
use vizard_anonymizer::microdata::{KeyRule, Schema, expectation, json_shape, repeated_member};

use super::body::whole_body;
use super::coding::{self, ContentCoding};
use super::objects::has_list_for_object;
use super::problem::{Problem, ProblemKind};
use crate::config::{Limits, Settings};

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
    Arc<Settings>: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let body = json_bytes(request, &Arc::from_ref(state)).await?;
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

impl SchemaBody {
    /// With these rules for subject keys written into it, where it names none.
    pub fn or_key_rules(mut self, rules: &[KeyRule]) -> Self {
        if let (false, Some(fields)) = (self.schema.says_key_rules(), self.document.as_object_mut())
        {
            fields.insert("subject_key_normalization".into(), json!(rules));
        }
        self.schema = self.schema.or_key_rules(rules);
        self
    }
}

impl<S> FromRequest<S> for SchemaBody
where
    S: Send + Sync,
    Arc<Settings>: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let settings = Arc::from_ref(state);
        let body = json_bytes(request, &settings).await?;
        let schema: Schema = read_json(&body, ProblemKind::InvalidSchema)?;
        if schema.has_row_keys() {
            return Err(Problem::new(
                ProblemKind::InvalidSchema,
                "subject_key: a number of a row names nobody in the next upload; add a column with a \
                 number of each person, or anonymize the file with the command line",
            ));
        }
        let limits = &settings.limits;
        if schema.attributes().len() as u64 > limits.attributes_max {
            return Err(Problem::past(limits.attributes_max()));
        }
        Ok(Self {
            schema,
            document: read_json(&body, ProblemKind::InvalidSchema)?,
        })
    }
}

/// A body that says nothing: none at all, or `{}`.
pub struct NoBody;

impl<S> FromRequest<S> for NoBody
where
    S: Send + Sync,
    Arc<Settings>: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Nothing {}
        let body = OptionalBody::<Nothing>::from_request(request, state).await;
        body.map(|_| Self)
    }
}

/// A body in JSON that may be left out.
pub struct OptionalBody<T>(pub Option<T>);

impl<T, S> FromRequest<S> for OptionalBody<T>
where
    T: DeserializeOwned,
    S: Send + Sync,
    Arc<Settings>: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let limits = Arc::<Settings>::from_ref(state).limits;
        let body = whole_body(request.into_body(), limits.json_bytes_max(), &limits).await?;
        check_depth(&body, &limits)?;
        Ok(Self(if body.is_empty() {
            None
        } else {
            Some(read_json(&body, ProblemKind::InvalidBody)?)
        }))
    }
}

async fn json_bytes(request: Request, settings: &Settings) -> Result<Bytes, Problem> {
    let limits = &settings.limits;
    require_media_type(request.headers(), &["application/json"])?;
    if coding::of_body(request.headers())? != ContentCoding::Identity {
        let detail = "JSON is read as it is, without content coding";
        return Err(Problem::new(ProblemKind::UnsupportedMediaType, detail));
    }
    let body = whole_body(request.into_body(), limits.json_bytes_max(), limits).await?;
    check_depth(&body, limits)?;
    Ok(body)
}

/// A parser's own bound on depth is no answer to a client: ours is a setting.
fn check_depth(body: &[u8], limits: &Limits) -> Result<(), Problem> {
    if json_shape(body).levels as u64 > limits.json_depth_max {
        Err(Problem::past(limits.json_depth_max()))
    } else {
        Ok(())
    }
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

/// Reads JSON; what does not fit `T` is a problem of the kind `misfit`.
pub fn read_json<T: DeserializeOwned>(body: &[u8], misfit: ProblemKind) -> Result<T, Problem> {
    if let Some(name) = repeated_member(body) {
        let detail = format!("the member {} stands twice in one object", shown(&name));
        return Err(Problem::new(misfit, detail));
    }
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

/// The name of a member in quotes, cut and without control characters.
fn shown(name: &str) -> String {
    let kept = name.chars().take(NAME_CHARACTERS_MAX);
    format!(
        "`{}`",
        kept.flat_map(char::escape_debug).collect::<String>()
    )
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
    fn a_member_that_stands_twice_is_refused_by_its_name() {
        let (kind, detail) = problem(r#"{"number": 1, "number": 2}"#);
        assert_eq!(kind, ProblemKind::InvalidBody);
        assert_eq!(detail, "the member `number` stands twice in one object");
        let long = "x".repeat(1_000);
        let (_, detail) = problem(&format!(r#"{{"{long}": 1, "{long}": 2}}"#));
        assert!(detail.len() < 120, "{detail}");
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
