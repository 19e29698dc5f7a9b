//! A receiver of webhooks on this machine, as somebody writes one who has read
//! the specification: it keeps what it heard, and answers as it is told to.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aws_lc_rs::hmac;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tokio::net::TcpListener;
use vizard::config::WebhookOrigins;

/// How it answers a message.
#[derive(Clone, Debug)]
pub enum Reply {
    /// With this status.
    Status(u16),
    /// Not at all.
    Silence,
    /// With a status and a body that never ends.
    Endless(u16),
    /// By leading elsewhere.
    Redirect(String),
}

/// A message as it was heard.
#[derive(Clone, Debug)]
pub struct Heard {
    /// Path and query that were asked.
    pub target: String,
    /// The header.
    pub headers: HeaderMap,
    /// The body.
    pub body: String,
}

impl Heard {
    /// A field of the header.
    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name).expect("the field");
        value.to_str().expect("text")
    }

    /// The id, the same in every attempt.
    pub fn id(&self) -> &str {
        self.header("webhook-id")
    }

    /// The body, read.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("JSON")
    }

    /// What is told.
    pub fn event(&self) -> String {
        self.json()["type"].as_str().expect("a type").to_owned()
    }

    /// How many signatures there are.
    pub fn signatures(&self) -> usize {
        self.header("webhook-signature").split(' ').count()
    }

    /// Whether one of the signatures is that of the secret `whsec_…`.
    pub fn is_signed_by(&self, secret: &str) -> bool {
        let secret = secret.strip_prefix("whsec_").expect("a secret");
        let secret = STANDARD.decode(secret).expect("base64");
        let key = hmac::Key::new(hmac::HMAC_SHA256, &secret);
        let timestamp = self.header("webhook-timestamp");
        let signed = format!("{}.{timestamp}.{}", self.id(), self.body);
        self.header("webhook-signature").split(' ').any(|one| {
            let one = one.strip_prefix("v1,").expect("the first version");
            let one = STANDARD.decode(one).expect("base64");
            hmac::verify(&key, signed.as_bytes(), &one).is_ok()
        })
    }
}

#[derive(Default)]
struct Kept {
    heard: Vec<Heard>,
    replies: VecDeque<Reply>,
}

/// A running receiver.
#[derive(Clone)]
pub struct Receiver {
    origin: String,
    kept: Arc<Mutex<Kept>>,
}

impl Receiver {
    /// One that answers 200 unless it is told otherwise.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let kept = Arc::new(Mutex::new(Kept::default()));
        let router = Router::new().fallback(hear).with_state(Arc::clone(&kept));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self {
            origin: format!("http://{address}"),
            kept,
        }
    }

    /// Scheme, host and port.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Where messages go.
    pub fn url(&self) -> String {
        format!("{}/hook?token=canary", self.origin)
    }

    /// The setting that allows it.
    pub fn origins(&self) -> WebhookOrigins {
        WebhookOrigins::new(vec![self.origin.parse().expect("an origin")])
    }

    /// Answers the next messages so.
    pub fn reply(&self, replies: impl IntoIterator<Item = Reply>) {
        self.locked().replies.extend(replies);
    }

    /// What was heard so far.
    pub fn heard(&self) -> Vec<Heard> {
        self.locked().heard.clone()
    }

    /// What was heard, once that is so many.
    pub async fn heard_of(&self, count: usize) -> Vec<Heard> {
        for _ in 0..600 {
            let heard = self.heard();
            if heard.len() >= count {
                return heard;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let heard: Vec<String> = self.heard().iter().map(Heard::event).collect();
        panic!("{count} were to be heard: {heard:?}");
    }

    /// The events that were heard, once there are so many.
    pub async fn events_of(&self, count: usize) -> Vec<String> {
        self.heard_of(count)
            .await
            .iter()
            .map(Heard::event)
            .collect()
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn hear(
    State(kept): State<Arc<Mutex<Kept>>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let reply = {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.heard.push(Heard {
            target: uri.to_string(),
            headers,
            body: String::from_utf8(body.to_vec()).expect("text"),
        });
        kept.replies.pop_front().unwrap_or(Reply::Status(200))
    };
    let status = |number| StatusCode::from_u16(number).expect("a status");
    match reply {
        Reply::Status(number) => status(number).into_response(),
        Reply::Silence => std::future::pending().await,
        Reply::Endless(number) => {
            let pieces = futures_util::stream::repeat_with(|| {
                Ok::<_, std::io::Error>(Bytes::from_static(&[b'x'; 4096]))
            });
            (status(number), Body::from_stream(pieces)).into_response()
        }
        Reply::Redirect(to) => {
            (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, to)]).into_response()
        }
    }
}
