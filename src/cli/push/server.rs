//! The server that a push asks: again where an answer did not come or may be
//! another one soon, never behind the time that the push has.
//!
//! Requests that change something carry a key of idempotency, so that one whose
//! answer was lost is done once. What a server refuses becomes the end of the
//! command.

use std::time::Duration;

use anyhow::{Context, anyhow};
use reqwest::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER,
};
use reqwest::{Body, Method};
use serde::Deserialize;
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};

use super::super::client::{Answer, Client};
use super::super::exit::Exit;
use super::file::PushFile;
use super::records::Upload;
use crate::http::line_errors::{LineError, LineErrorCount, LineErrors};

/// Pauses before a request is sent again.
const PAUSES: [Duration; 4] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(8),
];

/// Pause where the same request still runs.
const STILL_RUNS: Duration = Duration::from_secs(3);

/// How long an answer that needs no work may take.
const ANSWERS_WITHIN: Duration = Duration::from_secs(60);

/// A server with one key, asked until a deadline.
pub struct Server {
    client: Client,
    deadline: Instant,
    timeout_s: u64,
}

/// What a problem document says (RFC 9457), as far as it is told here.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Told {
    #[serde(rename = "type")]
    kind: String,
    title: String,
    status: u16,
    detail: String,
    hints: Vec<String>,
    summary: Vec<LineErrorCount>,
    errors: Vec<LineError>,
    total_errors: u64,
    strongest: Option<String>,
    loss: Loss,
}

/// Missing values that would leave out records.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Loss {
    attributes: Vec<Missing>,
}

/// The missing values of one attribute.
#[derive(Debug, Deserialize)]
struct Missing {
    attribute: String,
    missing: u64,
}

impl Server {
    /// The server of a push, from now on.
    pub fn new(file: &PushFile, key: &str) -> Result<Self, Exit> {
        let client = Client::of_url(&file.server, file.ca_file.as_deref())?;
        let deadline = Instant::now().checked_add(Duration::from_secs(file.timeout_s));
        let deadline = deadline.ok_or_else(|| Exit::Usage("timeout_s is too large".into()))?;
        Ok(Self {
            client: client.with_token(key),
            deadline,
            timeout_s: file.timeout_s,
        })
    }

    /// Time that is left.
    pub fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// The end of a push that took too long.
    pub fn too_late(&self, what: &str) -> Exit {
        anyhow!("{what} within {} s (timeout_s)", self.timeout_s).into()
    }

    /// `GET path`, whose answer may wait for so long.
    pub async fn get(&self, path: &str, wait: Duration) -> Result<Value, Exit> {
        let asked = self.ask(async || {
            let asked = timeout(ANSWERS_WITHIN + wait, self.client.get(path)).await;
            asked.context("the server does not answer in time")?
        });
        taken(path, &asked.await?)
    }

    /// `POST path` with JSON; the answer whatever it is.
    pub async fn post(&self, path: &str, key: Option<&str>, body: &Value) -> Result<Answer, Exit> {
        let mut headers = keyed(key)?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let body = body.to_string();
        self.send(path, &headers, || body.clone().into()).await
    }

    /// `POST path` with records; the answer whatever it is.
    pub async fn upload(
        &self,
        path: &str,
        key: Option<&str>,
        records: &Upload,
    ) -> Result<Answer, Exit> {
        let mut headers = keyed(key)?;
        let media_type = HeaderValue::from_str(&records.media_type);
        let media_type = media_type.context("the media type cannot be sent")?;
        headers.insert(CONTENT_TYPE, media_type);
        headers.insert(CONTENT_LENGTH, records.bytes.into());
        if let Some(coding) = records.coding {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
        }
        self.send(path, &headers, || records.body()).await
    }

    async fn send(
        &self,
        path: &str,
        headers: &HeaderMap,
        body: impl Fn() -> Body,
    ) -> Result<Answer, Exit> {
        let send = async || {
            let sent = self
                .client
                .send_as(Method::POST, path, headers.clone(), body());
            sent.await
        };
        self.ask(send).await
    }

    /// Asks until an answer is there that stays what it is.
    async fn ask(&self, send: impl AsyncFn() -> anyhow::Result<Answer>) -> Result<Answer, Exit> {
        let mut pauses = PAUSES.into_iter();
        loop {
            let Ok(answered) = timeout_at(self.deadline, send()).await else {
                return Err(self.too_late("the server does not answer"));
            };
            let pause = match &answered {
                Ok(answer) if slug(answer) == "idempotency-in-progress" => Some(STILL_RUNS),
                Ok(answer) if !may_change(answer) => return Ok(answered?),
                Ok(answer) => pauses.next().map(|pause| pause.max(retry_after(answer))),
                Err(_) => pauses.next(),
            };
            match pause {
                Some(pause) if pause < self.left() => tokio::time::sleep(pause).await,
                _ => return Ok(answered?),
            }
        }
    }
}

fn keyed(key: Option<&str>) -> Result<HeaderMap, Exit> {
    let mut headers = HeaderMap::new();
    if let Some(key) = key {
        let key = HeaderValue::from_str(key).context("the idempotency key cannot be sent")?;
        headers.insert("idempotency-key", key);
    }
    Ok(headers)
}

/// Whether the same request may have another answer soon.
fn may_change(answer: &Answer) -> bool {
    matches!(answer.status, 408 | 429 | 502 | 503 | 504)
        || matches!(slug(answer).as_str(), "version-moved" | "series-moved")
}

fn retry_after(answer: &Answer) -> Duration {
    let seconds = answer.headers.get(RETRY_AFTER);
    let seconds = seconds.and_then(|value| value.to_str().ok()?.parse().ok());
    Duration::from_secs(seconds.unwrap_or(0))
}

/// Whether the server gave this answer to the same request before.
pub fn is_replayed(answer: &Answer) -> bool {
    answer.headers.contains_key("idempotency-replayed")
}

/// The kind of problem that an answer is; nothing where it is none.
pub fn slug(answer: &Answer) -> String {
    if answer.status < 400 {
        return String::new();
    }
    let told: Told = serde_json::from_slice(&answer.body).unwrap_or_default();
    told.slug().to_owned()
}

/// The JSON of an answer that is no problem; else the end that it leads to.
pub fn taken(what: &str, answer: &Answer) -> Result<Value, Exit> {
    if (200..300).contains(&answer.status) {
        let read = serde_json::from_slice(&answer.body);
        return Ok(read.context("the answer is not JSON; is this the server?")?);
    }
    let told: Told = serde_json::from_slice(&answer.body).unwrap_or_default();
    Err(told.end(what, answer.status))
}

/// The end that a failed job leads to, by its problem.
pub fn end_of_job(job: &Value) -> Exit {
    let told = Told::deserialize(&job["problem"]).unwrap_or_default();
    let status = told.status;
    let id = job["id"].as_str().unwrap_or("the job");
    match job["state"].as_str() {
        Some("failed") => told.end(id, status),
        state => anyhow!("{id} is {}", state.unwrap_or("in no known state")).into(),
    }
}

/// What a problem says in one sentence.
pub fn sentence(answer: &Answer) -> String {
    let told: Told = serde_json::from_slice(&answer.body).unwrap_or_default();
    told.sentence(answer.status)
}

impl Told {
    fn slug(&self) -> &str {
        self.kind
            .strip_prefix("urn:vizard:problem:")
            .unwrap_or_default()
    }

    fn sentence(&self, status: u16) -> String {
        if self.title.is_empty() {
            return format!("status {status} without a reason; is this the server?");
        }
        match &self.strongest {
            Some(strongest) if !self.detail.contains(strongest) => {
                format!("{}: {} ({strongest})", self.title, self.detail)
            }
            _ => format!("{}: {}", self.title, self.detail),
        }
    }

    fn end(self, what: &str, status: u16) -> Exit {
        let said = self.sentence(status);
        match (self.slug(), status) {
            ("infeasible" | "nothing-new", _) => Exit::Infeasible(said),
            ("verification-failed", _) => Exit::VerificationFailed(vec![self.detail]),
            // Nothing is wrong with what was sent.
            ("cancelled" | "version-moved" | "series-moved" | "idempotency-in-progress", _)
            | (_, 401 | 403 | 408 | 429) => anyhow!("{what}: {said}").into(),
            (slug, 400..500) if !slug.is_empty() => {
                let mut hints = self.hints;
                let lacking = self.loss.attributes.iter().filter(|one| one.missing > 0);
                hints.extend(
                    lacking.map(|one| {
                        format!("{}: missing in {} records", one.attribute, one.missing)
                    }),
                );
                let lines = LineErrors {
                    summary: self.summary,
                    hints,
                    errors: self.errors,
                    total: self.total_errors,
                };
                Exit::Refused(what.to_owned(), said, Box::new(lines))
            }
            _ => anyhow!("{what}: {said}").into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn end(slug: &str, status: u16) -> u8 {
        let problem = json!({"type": format!("urn:vizard:problem:{slug}"), "title": "T",
            "status": status, "detail": "d"});
        let told = Told::deserialize(&problem).expect("a problem");
        told.end("x", status).code()
    }

    #[test]
    fn each_kind_of_problem_has_its_exit_code() {
        for (slug, status, code) in [
            ("invalid-data", 422, 3),
            ("would-lose-records", 422, 3),
            ("not-found", 404, 3),
            ("infeasible", 422, 4),
            ("nothing-new", 422, 4),
            ("verification-failed", 500, 5),
            ("unauthenticated", 401, 1),
            ("forbidden", 403, 1),
            ("version-moved", 409, 1),
            ("cancelled", 422, 1),
            ("internal", 500, 1),
        ] {
            assert_eq!(end(slug, status), code, "{slug}");
        }
        // Somebody else than the service answers.
        assert_eq!(Told::default().end("x", 404).code(), 1);
    }

    #[test]
    fn a_stronger_setting_is_told_once() {
        let told = |detail: &str| Told {
            title: "T".into(),
            detail: detail.into(),
            strongest: Some("l ≤ 5".into()),
            ..Told::default()
        };
        assert_eq!(told("too strong").sentence(422), "T: too strong (l ≤ 5)");
        assert_eq!(told("at best l ≤ 5").sentence(422), "T: at best l ≤ 5");
    }
}
