//! Where the strings must not be found: what each place held is kept, and
//! searched at the end.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use vizard::http::ProblemKind;

use super::strings::Strings;
use crate::common::client::{Answer, Client};

/// Kinds of problem that no client can provoke on a healthy server, and those
/// that other tests provoke because they take a time of their own.
const NOT_PROVOKED: &[(&str, &str)] = &[
    ("body-timeout", "needs a slow client: api::listener"),
    ("version-moved", "needs a race of two uploads: api::records"),
    (
        "series-moved",
        "needs a race of two publishings: api::composition",
    ),
    (
        "too-many-uploads",
        "needs as many slow uploads: api::records",
    ),
    (
        "idempotency-in-progress",
        "needs a first request that still runs: api::idempotency",
    ),
    ("header-too-large", "tests of the limits"),
    ("queue-full", "needs a full queue: tests of the limits"),
    ("too-many-requests", "needs a low rate: tests of the limits"),
    ("cancelled", "a cancelled job has a state and no problem"),
    ("nothing-new", "needs a release of everyone: api::series"),
    (
        "series-unsafe",
        "needs a public release that shows values in rows: api::series",
    ),
    ("series-unknown", "needs a release of an older program"),
    ("internal", "a fault of ours"),
    ("verification-failed", "a fault of an engine"),
    ("attempts-exhausted", "five dead workers: leases"),
    ("unavailable", "a store that is away: faults"),
    ("store-full", "a full disk: faults"),
];

/// What was seen, place by place.
#[derive(Default)]
pub struct Sinks {
    kept: BTreeMap<&'static str, Vec<String>>,
    kinds: BTreeSet<String>,
}

impl Sinks {
    /// Keeps what a place held.
    pub fn keep(&mut self, place: &'static str, text: String) {
        self.kept.entry(place).or_default().push(text);
    }

    /// Keeps the body of an answer if it is a refusal; the answer goes on.
    pub fn refusal(&mut self, answer: &Answer) {
        if answer.status >= 400 {
            self.kind(&answer.json());
            // Headers are part of a refusal too.
            self.keep(
                "refusals",
                format!("{:?}\n{}", answer.headers, answer.text()),
            );
        }
    }

    /// Keeps the problem that a job ended with.
    pub fn job(&mut self, view: &Value) {
        if view["problem"].is_object() {
            self.kind(&view["problem"]);
            self.keep("problems of jobs", view["problem"].to_string());
        }
    }

    fn kind(&mut self, problem: &Value) {
        let kind = problem["type"].as_str().expect("a type");
        self.kinds
            .insert(kind.trim_start_matches("urn:vizard:problem:").into());
    }

    /// Keeps every row of the audit log and of the ledger.
    pub async fn audit(&mut self, auditor: &Client) {
        for id in ["list_audit", "list_ledger"] {
            let mut cursor: Option<String> = None;
            loop {
                let mut call = auditor.call(id).query("limit", 200);
                if let Some(cursor) = &cursor {
                    call = call.query("cursor", cursor);
                }
                let page = call.send().await.expect(200);
                let rows = page["items"].as_array().expect("a list");
                assert!(!rows.is_empty() || cursor.is_some(), "{id} holds rows");
                self.keep("audit", page["items"].to_string());
                cursor = match &page["next_cursor"] {
                    Value::Null => break,
                    Value::String(text) => Some(text.clone()),
                    number => Some(number.to_string()),
                };
            }
        }
    }

    /// The strings that each place held, with a piece of the text around the first.
    pub fn found(&self, strings: &Strings) -> Vec<String> {
        let mut all = Vec::new();
        for (place, texts) in &self.kept {
            let found: BTreeSet<_> = texts
                .iter()
                .flat_map(|text| strings.found_in(text))
                .collect();
            if let Some(first) = found.first() {
                let text = texts
                    .iter()
                    .find(|text| text.to_lowercase().contains(first));
                let text = text.map_or("", String::as_str);
                let at = text.to_lowercase().find(first).unwrap_or(0);
                let around: String = text
                    .chars()
                    .skip(at.saturating_sub(300))
                    .take(700)
                    .collect();
                all.push(format!("{place}: {} strings, as in {around}", found.len()));
            }
        }
        all
    }

    /// Panics unless every kind of problem was seen, or has a reason not to be.
    pub fn expect_kinds(&self) {
        let missing = ProblemKind::ALL
            .iter()
            .map(|kind| kind.slug())
            .filter(|slug| {
                let excused = NOT_PROVOKED.iter().any(|(kind, _)| kind == slug);
                !self.kinds.contains(*slug) && !excused
            });
        let missing: Vec<_> = missing.collect();
        assert!(missing.is_empty(), "not provoked: {missing:?}");
    }
}
