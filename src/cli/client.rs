//! The HTTP client of the commands that talk to a server.
//!
//! One request, one answer in memory, no redirect, no proxy: `demo` and
//! `healthcheck` ask a server beside them, `push` one at a URL. A body may be
//! a stream.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use hyper::body::Bytes;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use reqwest::{Body, Certificate, ClientBuilder, Method, redirect};
use serde_json::Value;

use super::pinned;

/// How long a server at a URL may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A server's answer.
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// The header.
    pub headers: HeaderMap,
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
    base: String,
    token: Option<String>,
    requests: reqwest::Client,
}

impl Client {
    /// A client of the server at `address` (`host:port`), without TLS.
    pub fn plain(address: &str) -> Result<Self> {
        // No authority is asked for: a machine without any can still ask.
        Self::new(format!("http://{address}"), builder().tls_certs_only([]))
    }

    /// The same over TLS, with the authorities that the system trusts.
    pub fn trusting_system(address: &str) -> Result<Self> {
        Self::new(format!("https://{address}"), builder())
    }

    /// The same over TLS; the certificate of the PEM file is trusted, and no other.
    pub fn trusting_only(address: &str, certificate: &Path) -> Result<Self> {
        let config = pinned::trusting_only(certificate)?;
        let requests = builder().tls_backend_preconfigured(config);
        Self::new(format!("https://{address}"), requests)
    }

    /// The server at an `http` or `https` URL; over TLS with the authorities of a
    /// PEM file alone, or else those that the system trusts.
    pub fn of_url(url: &str, authorities: Option<&Path>) -> Result<Self> {
        let mut requests = builder().connect_timeout(CONNECT_TIMEOUT);
        if let Some(path) = authorities {
            let pem = std::fs::read(path).context("the authorities cannot be read")?;
            let trusted = Certificate::from_pem_bundle(&pem);
            let trusted = trusted.context("the authorities are no PEM file of certificates")?;
            requests = requests.tls_certs_only(trusted);
        } else if url.starts_with("http://") {
            requests = requests.tls_certs_only([]);
        }
        Self::new(url.trim_end_matches('/').to_owned(), requests)
    }

    fn new(base: String, requests: ClientBuilder) -> Result<Self> {
        let requests = requests.build().context("there is no client for HTTP")?;
        Ok(Self {
            base,
            token: None,
            requests,
        })
    }

    /// The same server with another key.
    pub fn with_token(&self, token: &str) -> Self {
        Self {
            base: self.base.clone(),
            token: Some(token.into()),
            requests: self.requests.clone(),
        }
    }

    /// `GET path`.
    pub async fn get(&self, path: &str) -> Result<Answer> {
        self.send(Method::GET, path, "application/json", Bytes::new())
            .await
    }

    /// `GET path`, as a browser asks.
    pub async fn get_page(&self, path: &str) -> Result<Answer> {
        self.ask(
            self.requests
                .get(self.url(path))
                .header(ACCEPT, "text/html"),
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
        let request = self.requests.request(method, self.url(path)).body(body);
        let request = request
            .header(CONTENT_TYPE, media_type)
            .header(ACCEPT, "application/json, */*;q=0.5");
        self.ask(request).await
    }

    /// Any request with a header of its own and a body that may be a stream.
    pub async fn send_as(
        &self,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: Body,
    ) -> Result<Answer> {
        let request = self.requests.request(method, self.url(path)).body(body);
        let request = request.headers(headers).header(ACCEPT, "application/json");
        self.ask(request).await
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    async fn ask(&self, request: reqwest::RequestBuilder) -> Result<Answer> {
        let request = match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        let answer = request.send().await.map_err(reqwest::Error::without_url);
        let answer = answer.context("the server does not answer")?;
        let status = answer.status().as_u16();
        let headers = answer.headers().clone();
        let body = answer.bytes().await.context("the answer broke off")?;
        Ok(Answer {
            status,
            headers,
            body,
        })
    }
}

fn builder() -> ClientBuilder {
    reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .no_proxy()
}
