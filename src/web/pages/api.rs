//! The API as pages ask it: inside the process, in the session of who looks, or
//! with the code that they show.
//!
//! Every figure on a page comes from a REST operation, under the same roles,
//! rates and rows of the audit log. There is no other way from here to data.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::request::Builder;
use axum::http::{HeaderValue, Method, Request, Response, StatusCode, header};
use serde_json::Value;
use tower::ServiceExt;

use super::visitor::Visitor;
use crate::http::{AppState, REQUEST_ID, RemoteAddress, inner_router};
use crate::ids::IdError;

/// Bytes of a document that a page is made of.
const DOCUMENT_BYTES_MAX: usize = 16 << 20;

/// The API inside the process.
#[derive(Clone)]
pub struct Api(Router);

/// Why there is no answer, as the API tells it.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The status.
    pub status: StatusCode,
    /// One line.
    pub title: String,
    /// What to do about it.
    pub detail: String,
    /// The kind of problem, as the API calls it; empty for one of a page's own.
    pub code: String,
    /// The place at fault in what was sent, as the API calls it; empty for none.
    pub parameter: String,
}

impl Failure {
    /// As for a thing that is not there.
    pub fn not_found() -> Self {
        Self {
            status: StatusCode::NOT_FOUND,
            title: "There is no such page".into(),
            detail: "It may have been removed, or it may not be yours to see.".into(),
            code: String::new(),
            parameter: String::new(),
        }
    }

    /// As for a form that is not as this page made it.
    pub fn form(status: StatusCode, detail: &str) -> Self {
        Self {
            status,
            title: "The form was not accepted".into(),
            detail: detail.into(),
            code: String::new(),
            parameter: String::new(),
        }
    }

    /// Of which the status alone is known.
    pub fn of_status(status: StatusCode) -> Self {
        Self::of(status, &Value::Null)
    }

    /// As a response of the API says.
    pub async fn of_response(response: Response<Body>) -> Self {
        let status = response.status();
        let bytes = to_bytes(response.into_body(), DOCUMENT_BYTES_MAX).await;
        let problem = serde_json::from_slice(&bytes.unwrap_or_default());
        Self::of(status, &problem.unwrap_or_default())
    }

    fn of(status: StatusCode, problem: &Value) -> Self {
        let text = |name: &str, default: &str| {
            let text = problem[name].as_str().unwrap_or(default);
            text.to_owned()
        };
        Self {
            status,
            title: text("title", "The service did not answer"),
            detail: text("detail", "Try again in a moment."),
            code: text("type", "").replace("urn:vizard:problem:", ""),
            parameter: text("parameter", ""),
        }
    }
}

/// What is no id of its kind is nobody's.
impl From<IdError> for Failure {
    fn from(_: IdError) -> Self {
        Self::not_found()
    }
}

/// A text as one segment of a path.
pub fn segment(text: &str) -> String {
    let segment: String = form_urlencoded::byte_serialize(text.as_bytes()).collect();
    segment.replace('+', "%20")
}

impl Api {
    /// The API of a server.
    pub fn of(state: &AppState) -> Self {
        Self(inner_router(state.clone()))
    }

    /// What the API answers to a request.
    pub async fn send(&self, visitor: &Visitor, mut request: Request<Body>) -> Response<Body> {
        let id = visitor.request_id.as_ref();
        if let Some(Ok(id)) = id.map(|id| HeaderValue::from_str(id.as_str())) {
            request.headers_mut().insert(REQUEST_ID.clone(), id);
        }
        if let Some(bearer) = visitor.bearer() {
            request.headers_mut().insert(header::AUTHORIZATION, bearer);
        }
        let extensions = request.extensions_mut();
        extensions.insert(RemoteAddress(visitor.from));
        if let Some(session) = visitor.session {
            extensions.insert(session);
        }
        match self.0.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }

    /// What the API answers to a GET, handed on as it is; a refusal as a page: the
    /// document that a program gets says less to people.
    pub async fn hand_on(
        &self,
        visitor: &Visitor,
        path: &str,
        accept: &'static str,
    ) -> Response<Body> {
        let request = Request::get(path)
            .header(header::ACCEPT, accept)
            .body(Body::empty());
        let Ok(request) = request else {
            return visitor.answer(Err(Failure::not_found()));
        };
        let response = self.send(visitor, request).await;
        if response.status().is_success() {
            response
        } else {
            visitor.answer(Err(Failure::of_response(response).await))
        }
    }

    /// A document.
    pub async fn get(&self, visitor: &Visitor, path: &str) -> Result<Value, Failure> {
        self.call(visitor, (Method::GET, path), None).await
    }

    /// A text that is no document.
    pub async fn text(&self, visitor: &Visitor, path: &str) -> Result<String, Failure> {
        let request = Request::get(path).body(Body::empty());
        let request = request.map_err(|_| Failure::not_found())?;
        let response = self.send(visitor, request).await;
        if !response.status().is_success() {
            return Err(Failure::of_response(response).await);
        }
        let bytes = to_bytes(response.into_body(), DOCUMENT_BYTES_MAX).await;
        let bytes = bytes.unwrap_or_default();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A document of a list, with a query; null where the visitor may not see it.
    pub async fn get_if_may(
        &self,
        visitor: &Visitor,
        path: &str,
        query: &str,
    ) -> Result<Value, Failure> {
        if visitor.may(&Method::GET, path) {
            self.get(visitor, &format!("{path}?{query}")).await
        } else {
            Ok(Value::Null)
        }
    }

    /// What an operation answers that changes something, with or without a document.
    pub async fn post(
        &self,
        visitor: &Visitor,
        path: &str,
        document: Option<&Value>,
    ) -> Result<Value, Failure> {
        self.call(visitor, (Method::POST, path), document).await
    }

    /// What an operation answers that puts a document in its place.
    pub async fn put(
        &self,
        visitor: &Visitor,
        path: &str,
        document: &Value,
    ) -> Result<Value, Failure> {
        self.call(visitor, (Method::PUT, path), Some(document))
            .await
    }

    /// The same with a text of a kind.
    pub async fn put_text(
        &self,
        visitor: &Visitor,
        path: &str,
        (kind, text): (&'static str, String),
    ) -> Result<Value, Failure> {
        let request = Request::put(path).header(header::CONTENT_TYPE, kind);
        self.exchange(visitor, request, Body::from(text)).await
    }

    /// A document with its tag.
    pub async fn get_tagged(
        &self,
        visitor: &Visitor,
        path: &str,
    ) -> Result<(Value, Option<HeaderValue>), Failure> {
        let request = Request::get(path).body(Body::empty());
        let request = request.map_err(|_| Failure::not_found())?;
        let response = self.send(visitor, request).await;
        let tag = response.headers().get(header::ETAG).cloned();
        Ok((document(response).await?, tag))
    }

    /// Puts a document in its place where that still has its tag.
    pub async fn put_if_match(
        &self,
        visitor: &Visitor,
        path: &str,
        (document, tag): (&Value, Option<HeaderValue>),
    ) -> Result<Value, Failure> {
        let mut request = Request::put(path).header(header::CONTENT_TYPE, "application/json");
        if let Some(tag) = tag {
            request = request.header(header::IF_MATCH, tag);
        }
        let body = Body::from(document.to_string());
        self.exchange(visitor, request, body).await
    }

    async fn call(
        &self,
        visitor: &Visitor,
        (method, path): (Method, &str),
        document: Option<&Value>,
    ) -> Result<Value, Failure> {
        let mut request = Request::builder().method(method).uri(path);
        let body = match document {
            Some(document) => {
                request = request.header(header::CONTENT_TYPE, "application/json");
                Body::from(document.to_string())
            }
            None => Body::empty(),
        };
        self.exchange(visitor, request, body).await
    }

    async fn exchange(
        &self,
        visitor: &Visitor,
        request: Builder,
        body: Body,
    ) -> Result<Value, Failure> {
        let accepted = "application/json, application/problem+json";
        let request = request.header(header::ACCEPT, accepted).body(body);
        // A path that is none was typed by somebody.
        let request = request.map_err(|_| Failure::not_found())?;
        document(self.send(visitor, request).await).await
    }
}

/// The document that a response has; a refusal where it is one.
async fn document(response: Response<Body>) -> Result<Value, Failure> {
    let status = response.status();
    let bytes = to_bytes(response.into_body(), DOCUMENT_BYTES_MAX).await;
    let bytes = bytes.unwrap_or_default();
    let document = match bytes.len() {
        0 => Value::Null,
        _ => serde_json::from_slice(&bytes).unwrap_or_default(),
    };
    if status.is_success() {
        Ok(document)
    } else {
        Err(Failure::of(status, &document))
    }
}

#[cfg(test)]
mod tests {
    use crate::ids::ReleaseId;

    #[test]
    fn an_id_of_another_kind_or_with_more_than_an_id_is_none() {
        let good = "release_01a21feb-c6d1-72f2-908e-0662ec8fedfa";
        let read = good.parse::<ReleaseId>().map(|id| id.to_string());
        assert_eq!(read.as_deref(), Ok(good));
        for bad in [
            "job_01a21feb-c6d1-72f2-908e-0662ec8fedfa",
            "release_01a21feb-c6d1-72f2-908e-0662ec8fed/a",
            "release_01a21feb-c6d1-72f2-908e-0662ec8fedfa?x=1",
            "release_",
            "",
        ] {
            assert!(bad.parse::<ReleaseId>().is_err(), "{bad}");
        }
    }
}
