//! A small HTTP client for the commands that talk to a server.
//!
//! One request, one answer in memory, no redirects: what `demo` and
//! `healthcheck` need of the library's client.

use anyhow::{Context, Result, bail};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::http::request::Builder;
use hyper::{Method, Request};
use hyper_util::client::legacy::Client as Pooled;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;

/// A server's answer.
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// The body.
    pub body: Bytes,
}

impl Answer {
    /// The body as JSON, if the status says that all is well.
    pub fn json(&self) -> Result<Value> {
        if !(200..300).contains(&self.status) {
            let problem: Value = serde_json::from_slice(&self.body).unwrap_or_default();
            bail!(
                "status {}: {}",
                self.status,
                problem["detail"].as_str().unwrap_or("no detail")
            );
        }
        serde_json::from_slice(&self.body).context("the answer is not JSON")
    }
}

/// A client of one server, with one key.
pub struct Client {
    address: String,
    token: Option<String>,
    pooled: Pooled<HttpConnector, Full<Bytes>>,
}

impl Client {
    /// A client of the server at `address` (`host:port`).
    pub fn new(address: &str, token: Option<&str>) -> Self {
        let pooled = Pooled::builder(TokioExecutor::new()).build_http();
        Self {
            address: address.into(),
            token: token.map(Into::into),
            pooled,
        }
    }

    /// The same server with another key.
    pub fn with_token(&self, token: &str) -> Self {
        Self {
            address: self.address.clone(),
            token: Some(token.into()),
            pooled: self.pooled.clone(),
        }
    }

    /// `GET path`.
    pub async fn get(&self, path: &str) -> Result<Answer> {
        self.send(Method::GET, path, "application/json", Bytes::new())
            .await
    }

    /// `GET path`, as a browser asks.
    pub async fn get_page(&self, path: &str) -> Result<Answer> {
        self.request(
            self.request_to(Method::GET, path, "application/json", "text/html"),
            Bytes::new(),
        )
        .await
    }

    /// `POST path` with a JSON body; the answer's JSON.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let body = Bytes::from(body.to_string());
        self.send(Method::POST, path, "application/json", body)
            .await?
            .json()
    }

    /// Any request with a body of any type.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        media_type: &str,
        body: Bytes,
    ) -> Result<Answer> {
        self.request(
            self.request_to(method, path, media_type, "application/json, */*;q=0.5"),
            body,
        )
        .await
    }

    fn request_to(&self, method: Method, path: &str, media_type: &str, accept: &str) -> Builder {
        Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", self.address))
            .header("content-type", media_type)
            .header("accept", accept)
    }

    async fn request(&self, mut request: Builder, body: Bytes) -> Result<Answer> {
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request
            .body(Full::new(body))
            .context("the request cannot be built")?;
        let answer = self
            .pooled
            .request(request)
            .await
            .context("the server does not answer")?;
        let status = answer.status().as_u16();
        let body = answer
            .into_body()
            .collect()
            .await
            .context("the answer broke off")?
            .to_bytes();
        Ok(Answer { status, body })
    }
}
