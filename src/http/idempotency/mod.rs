//! `Idempotency-Key`: a request that is sent twice is done once.
//!
//! `admit` runs before every POST and PUT that needs a token. The first
//! request under a key reserves it and runs; its answer is kept in the
//! transaction of its change (`ticket`). The same request again gets that
//! answer, marked by `Idempotency-Replayed`; another request under the key is
//! refused, and so is one that comes while the first runs. A refused request
//! frees its key. What is kept can be read by the caller alone (`secrets`).

mod body;
mod held;
mod secrets;
mod ticket;

pub use ticket::Ticket;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio_util::sync::CancellationToken;

use super::auth::Principal;
use super::body::BodyPieces;
use super::problem::{Problem, ProblemKind};
use crate::config::{Limits, Settings};
use crate::ids::DatasetId;
use crate::store::{KeptAnswer, KeyedRequest, Reserve, Store};
use held::{Held, LEASE};
use secrets::{Secrets, key_hash};

/// Names a request of a client's own making.
pub static IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Marks an answer that was given before.
static REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// Characters of a key.
const KEY_CHARACTERS_MAX: usize = 255;

/// How often keys that are too old are removed.
const SWEEP_INTERVAL: Duration = Duration::from_secs(600);

/// What is posted to be looked at alone: nothing is done that could be done
/// twice.
const LOOKED_AT: [&str; 3] = [
    "/v1/inspections",
    "/v1/releases/{id}/compare",
    "/v1/releases/{id}/query",
];

/// Whether requests of this method to this path may carry a key.
pub fn takes_key(method: &str, path: &str) -> bool {
    matches!(method, "POST" | "PUT") && !LOOKED_AT.contains(&path)
}

/// Runs a request, or answers as it was answered before.
pub async fn admit(
    State(store): State<Arc<Store>>,
    State(settings): State<Arc<Settings>>,
    request: Request,
    next: Next,
) -> Response {
    let admitted = match keyed(&request) {
        Ok(None) => return next.run(request).await,
        Ok(Some(keyed)) => keyed.admit((store, &settings.limits), request, next).await,
        Err(problem) => Err(problem),
    };
    admitted.unwrap_or_else(IntoResponse::into_response)
}

/// A request under a key.
struct Keyed {
    request: KeyedRequest,
    secrets: Secrets,
}

/// Reads the key of a request that has one.
fn keyed(request: &Request) -> Result<Option<Keyed>, Problem> {
    let principal = request.extensions().get::<Principal>();
    let path = request.extensions().get::<MatchedPath>();
    let path = path.map_or(request.uri().path(), MatchedPath::as_str);
    let takes = takes_key(request.method().as_str(), path);
    let (Some(principal), true) = (principal, takes) else {
        return Ok(None);
    };
    let Some(key) = key_of(request.headers())? else {
        return Ok(None);
    };
    let caller = caller_secret(request.headers(), principal.name());
    let secrets = Secrets::derive(caller, key).ok_or_else(Problem::internal)?;
    let request = KeyedRequest {
        principal: principal.name().to_owned(),
        key_hash: key_hash(principal.name(), key),
        request_hash: request_hash(&secrets, request),
        dataset: dataset_of(request.uri().path()),
    };
    Ok(Some(Keyed { request, secrets }))
}

/// The key in the header, if there is one.
fn key_of(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let mut values = headers.get_all(&IDEMPOTENCY_KEY).iter();
    let key = match (values.next(), values.next()) {
        (None, _) => return Ok(None),
        (Some(value), None) => value.to_str().unwrap_or_default(),
        (Some(_), Some(_)) => "",
    };
    let is_plain = key.bytes().all(|byte| byte.is_ascii_graphic());
    if (1..=KEY_CHARACTERS_MAX).contains(&key.len()) && is_plain {
        return Ok(Some(key));
    }
    let detail = "Idempotency-Key is one text of 1 to 255 visible ASCII characters";
    Err(Problem::new(ProblemKind::InvalidHeader, detail))
}

/// What only the caller knows: its bearer token. A signed token (with dots) is
/// another one every hour; there it is the name, and the key is the secret.
fn caller_secret<'a>(headers: &'a HeaderMap, name: &'a str) -> &'a str {
    let bearer = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .map(|(_, token)| token.trim());
    match bearer {
        Some(token) if token.matches('.').count() != 2 => token,
        _ => name,
    }
}

/// The dataset whose things are asked for: the one in the path.
fn dataset_of(path: &str) -> Option<DatasetId> {
    let below = path.strip_prefix("/v1/datasets/")?;
    let (id, _) = below.split_once('/')?;
    id.parse().ok()
}

/// The hash of what is asked for, but for the body.
fn request_hash(secrets: &Secrets, request: &Request) -> [u8; 32] {
    let header = |name| {
        request
            .headers()
            .get(name)
            .map_or(&b""[..], HeaderValue::as_bytes)
    };
    let parts = [
        request.method().as_str().as_bytes(),
        request.uri().path().as_bytes(),
        request.uri().query().unwrap_or_default().as_bytes(),
        header(header::CONTENT_TYPE),
        header(header::CONTENT_ENCODING),
    ];
    let mut hash = secrets.hash(b"request");
    for part in parts {
        hash.update(&(part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finish()
}

fn reused() -> Problem {
    let detail = "the key was given to another request, or to the same with another body";
    Problem::new(ProblemKind::IdempotencyKeyReused, detail)
}

impl Keyed {
    async fn admit(
        self,
        (store, limits): (Arc<Store>, &Limits),
        request: Request,
        next: Next,
    ) -> Result<Response, Problem> {
        let request_hash = self.request.request_hash;
        let reserved = store.idempotency_reserve(self.request.clone(), LEASE);
        match reserved.await? {
            Reserve::Ours(reservation) => {
                let held = Held::new(store, reservation, self.secrets, request_hash);
                Ok(held.run(request, next).await)
            }
            Reserve::Answered(kept) => self.replay(limits, request, kept).await,
            Reserve::OtherRequest => Err(reused()),
            Reserve::Running => Err(Problem::new(
                ProblemKind::IdempotencyInProgress,
                "a request under this key is being answered",
            )),
        }
    }

    /// The first answer again, if the body is the first body: it is read and
    /// hashed piece by piece.
    async fn replay(
        self,
        limits: &Limits,
        request: Request,
        kept: KeptAnswer,
    ) -> Result<Response, Problem> {
        let mut pieces = BodyPieces::new(request.into_body(), limits.upload_bytes_max(), limits)?;
        let mut hash = self.secrets.hash(b"body");
        while let Some(piece) = pieces.next().await? {
            hash.update(&piece);
        }
        if hash.finish() != kept.body_hash {
            return Err(reused());
        }
        let answer = self.secrets.open(&kept.sealed, &self.request.request_hash);
        let mut response = answer.ok_or_else(reused)?.into_response();
        let replayed = HeaderValue::from_static("true");
        response.headers_mut().insert(REPLAYED.clone(), replayed);
        Ok(response)
    }
}

/// Removes keys that are too old, until the service stops. Any number of
/// processes may do so.
pub async fn sweep(store: Arc<Store>, retention_s: u64, shutdown: CancellationToken) {
    let retention = Duration::from_secs(retention_s);
    loop {
        if let Err(error) = store.idempotency_sweep(retention).await {
            tracing::warn!(%error, "old idempotency keys were not removed");
        }
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(SWEEP_INTERVAL) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use axum::body::Body;
    use proptest::prelude::*;

    use super::*;
    use crate::http::near::{self, cases, near};

    fn hash(secrets: &Secrets, [method, target, media_type, coding]: [&str; 4]) -> [u8; 32] {
        let request = Request::builder().method(method).uri(target);
        let request = request.header(header::CONTENT_TYPE, media_type);
        let request = request.header(header::CONTENT_ENCODING, coding);
        request_hash(secrets, &request.body(Body::empty()).expect("a request"))
    }

    #[test]
    fn a_request_is_another_if_anything_but_its_body_differs() {
        let secrets = Secrets::derive("vz_token", "key-1").expect("keys");
        let requests = [
            ["POST", "/v1/a?b=c", "text/csv", ""],
            ["PUT", "/v1/a?b=c", "text/csv", ""],
            ["POST", "/v1/x?b=c", "text/csv", ""],
            ["POST", "/v1/a?b=x", "text/csv", ""],
            ["POST", "/v1/a?b=c", "text/x", ""],
            ["POST", "/v1/a?b=c", "text/csv", "gzip"],
            // What one part loses the next one gains.
            ["POST", "/v1/ab?=c", "text/csv", ""],
        ];
        let hashes = requests.map(|request| hash(&secrets, request));
        assert_eq!(BTreeSet::from(hashes).len(), requests.len());
        assert_eq!(hash(&secrets, requests[0]), hashes[0]);
    }

    proptest! {
        #![proptest_config(cases())]

        #[test]
        fn a_key_is_the_header_letter_for_letter_or_refused(
            text in near(&["8e03978e-40d5-43dd-bc93-6894a57f9324", &"k".repeat(255)]),
        ) {
            let Some(headers) = near::header(IDEMPOTENCY_KEY.clone(), &text) else { return Ok(()) };
            let is_key = !text.is_empty()
                && text.len() <= KEY_CHARACTERS_MAX
                && text.bytes().all(|byte| byte.is_ascii_graphic());
            match key_of(&headers) {
                Ok(key) => prop_assert!(is_key && key == Some(text.as_str())),
                Err(problem) => {
                    prop_assert!(!is_key);
                    prop_assert_eq!(problem.kind(), ProblemKind::InvalidHeader);
                }
            }
        }
    }
}
