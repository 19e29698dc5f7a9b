//! A client of the API that believes nothing: operations are called by the
//! name that openapi.yaml gives them, and every answer is held against what
//! openapi.yaml says of it.

use std::sync::{Arc, OnceLock};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{HeaderMap, Method, Request, Response};
use hyper_util::client::legacy::Client as Pooled;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;

use super::description::Description;

/// What this program says of itself, made once.
pub fn description() -> &'static Description {
    static DESCRIPTION: OnceLock<Description> = OnceLock::new();
    DESCRIPTION.get_or_init(Description::of_this_program)
}

/// A client of one server, with one token or none.
#[derive(Clone)]
pub struct Client {
    address: Arc<str>,
    token: Option<Arc<str>>,
    pooled: Pooled<HttpConnector, Full<Bytes>>,
}

/// An answer, read to its end.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Answer {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("status {}: no JSON: {}", self.status, self.text()))
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// A header's text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The media type, without parameters.
    pub fn media_type(&self) -> Option<&str> {
        self.header("content-type")?.split(';').next()
    }

    /// The last part of the problem's type.
    pub fn slug(&self) -> String {
        let problem = self.json();
        let urn = problem["type"].as_str().expect("a problem has a type");
        urn.trim_start_matches("urn:vizard:problem:").to_owned()
    }

    /// The JSON of an answer that must have this status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        self.json()
    }

    /// Panics unless it is this problem.
    #[track_caller]
    pub fn expect_problem(&self, status: u16, slug: &str) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.slug(), slug, "{}", self.text());
        self.json()
    }
}

impl Client {
    /// A client of the server at `address`, without a token.
    pub fn new(address: &str) -> Self {
        Self {
            address: address.into(),
            token: None,
            pooled: Pooled::builder(TokioExecutor::new()).build_http(),
        }
    }

    /// The same with a token.
    pub fn with(&self, token: &str) -> Self {
        Self {
            token: Some(token.into()),
            ..self.clone()
        }
    }

    /// Its token.
    pub fn token(&self) -> &str {
        self.token.as_deref().expect("this client has a token")
    }

    /// Where the server listens.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// A call of the operation that openapi.yaml calls `id`.
    pub fn call(&self, id: &'static str) -> Call {
        let operation = description().operation(id);
        Call {
            client: self.clone(),
            id,
            method: operation.method.clone(),
            path: operation.path.clone(),
            query: Vec::new(),
            headers: Vec::new(),
            body: Bytes::new(),
        }
    }

    /// A request to any path, held against nothing.
    pub async fn send(&self, method: &str, path: &str) -> Answer {
        let response = self.request(method, path, &[], Bytes::new()).await;
        read(response).await
    }

    /// A whole request to any path, held against nothing. Sent again where the
    /// connection breaks: a server that refuses a body early may close it.
    pub async fn send_whole(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, String)],
        body: impl Into<Bytes>,
    ) -> Answer {
        let owned = |(name, value): &(&str, String)| ((*name).to_owned(), value.clone());
        let headers: Vec<_> = headers.iter().map(owned).collect();
        let body = body.into();
        for _ in 0..10 {
            let sent = self.attempt(method, path, &headers, body.clone()).await;
            if let Ok(response) = sent {
                return read(response).await;
            }
        }
        panic!("{method} {path}: the server does not answer");
    }

    async fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(String, String)],
        body: Bytes,
    ) -> Response<Incoming> {
        let answered = self.attempt(method, path, headers, body).await;
        answered.expect("the server answers")
    }

    async fn attempt(
        &self,
        method: &str,
        path: &str,
        headers: &[(String, String)],
        body: Bytes,
    ) -> Result<Response<Incoming>, hyper_util::client::legacy::Error> {
        let mut request = Request::builder()
            .method(Method::from_bytes(method.as_bytes()).expect("a method"))
            .uri(format!("http://{}{path}", self.address));
        for (name, value) in headers {
            request = request.header(name, value);
        }
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request.body(Full::new(body)).expect("a request");
        self.pooled.request(request).await
    }
}

async fn read(response: Response<Incoming>) -> Answer {
    let (parts, body) = response.into_parts();
    Answer {
        status: parts.status.as_u16(),
        headers: parts.headers,
        body: body
            .collect()
            .await
            .expect("the answer is whole")
            .to_bytes(),
    }
}

/// A call that is being put together.
pub struct Call {
    client: Client,
    id: &'static str,
    method: String,
    path: String,
    query: Vec<String>,
    headers: Vec<(String, String)>,
    body: Bytes,
}

impl Call {
    /// Fills a parameter of the path in.
    pub fn at(mut self, name: &str, value: impl AsRef<str>) -> Self {
        let place = format!("{{{name}}}");
        assert!(
            self.path.contains(&place),
            "{} has no {name} in its path",
            self.id
        );
        self.path = self.path.replace(&place, &encoded(value.as_ref()));
        self
    }

    /// Adds a parameter to the query.
    pub fn query(mut self, name: &str, value: impl ToString) -> Self {
        self.query
            .push(format!("{name}={}", encoded(&value.to_string())));
        self
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sends JSON.
    pub fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string())
    }

    /// Sends bytes of a media type.
    pub fn body(mut self, media_type: &str, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self.header("content-type", media_type)
    }

    /// Makes the call; the answer must be one that openapi.yaml describes.
    pub async fn send(self) -> Answer {
        let id = self.id;
        let is_api = self.path.starts_with("/v1/");
        let answer = read(self.open().await).await;
        let media_type = answer.media_type();
        description().check(id, answer.status, media_type, &answer.body);
        assert!(
            answer.header("x-request-id").is_some(),
            "{id}: no request id"
        );
        let may_be_kept = answer.header("cache-control") != Some("no-store");
        assert!(!is_api || !may_be_kept, "{id}: the answer may be kept");
        answer
    }

    /// Makes the call and leaves the body to be read piece by piece.
    pub async fn open(self) -> Response<Incoming> {
        assert!(
            !self.path.contains('{'),
            "{}: {} is not filled in",
            self.id,
            self.path
        );
        let path = if self.query.is_empty() {
            self.path
        } else {
            format!("{}?{}", self.path, self.query.join("&"))
        };
        let sent = self
            .client
            .request(&self.method, &path, &self.headers, self.body);
        sent.await
    }
}

/// Percent-encodes everything but letters, digits and `-_.`.
fn encoded(text: &str) -> String {
    let mut safe = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => safe.push(byte.into()),
            _ => safe.push_str(&format!("%{byte:02X}")),
        }
    }
    safe
}
