//! One attempt to tell a webhook: a POST, and the status of its answer.
//!
//! No redirect is followed and no proxy is asked: the request goes to the URL
//! that was checked, and it is checked again here. Of the answer the status
//! counts; its body is not read.

use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, StatusCode, redirect};

use super::signature::signatures;
use crate::config::WebhookOrigins;
use crate::store::{Outcome, Receiver, TakenMessage};

/// How long a receiver may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a whole attempt may take.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Sends messages to receivers under the allowed origins.
pub struct Sender {
    requests: Client,
    origins: WebhookOrigins,
}

impl Sender {
    /// A sender; `None` only where there is no client for HTTP.
    pub fn new(origins: WebhookOrigins) -> Option<Self> {
        let builder = Client::builder()
            .user_agent(concat!("vizard/", env!("CARGO_PKG_VERSION")))
            .redirect(redirect::Policy::none())
            .no_proxy()
            // Answers are not read to their end: a connection is not used again.
            .pool_max_idle_per_host(0)
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(ANSWER_TIMEOUT);
        // A plain address needs no certificates, and a system may have none.
        let builder = if origins.need_tls() {
            builder
        } else {
            builder.tls_certs_only([])
        };
        Some(Self {
            requests: builder.build().ok()?,
            origins,
        })
    }

    /// Makes one attempt; an error is why it failed, as a word.
    pub async fn send(
        &self,
        receiver: &Receiver,
        message: &TakenMessage,
    ) -> Result<Outcome, &'static str> {
        let url = self.origins.allow(&receiver.url);
        let url = url.map_err(|_| "origin_refused")?;
        let (id, timestamp) = (message.id.to_string(), message.at.timestamp());
        let secrets = receiver.secrets.iter().map(|secret| secret.bytes());
        let signature = signatures(secrets, &id, timestamp, &message.body);
        let request = self
            .requests
            .post(url)
            .header(CONTENT_TYPE, "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", timestamp)
            .header("webhook-signature", signature)
            .body(message.body.clone());
        // The error names the URL: it goes no further.
        let answer = request.send().await.map_err(|error| {
            if error.is_timeout() {
                "timeout"
            } else {
                "no_connection"
            }
        })?;
        match answer.status() {
            StatusCode::GONE => Ok(Outcome::Gone),
            status if status.is_success() => Ok(Outcome::Delivered),
            status if status.is_redirection() => Err("3xx"),
            status if status.is_client_error() => Err("4xx"),
            status if status.is_server_error() => Err("5xx"),
            _ => Err("1xx"),
        }
    }
}
