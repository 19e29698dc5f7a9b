//! What people entrust to the service never shows where it should not.
//!
//! A thousand unique strings are given to a real server as cells, subject
//! keys, labels, preferences, names in paths and queries, headers and tokens:
//! in a story that goes well, and in every kind of refusal that a client can
//! provoke. It logs at TRACE, sends its traces to a collector, and tells a
//! webhook whose URL holds a string too. Afterwards none of the strings may be
//! found in its log, its metrics, the bodies of its refusals, its audit rows, its
//! spans, or what the webhook was told.
//!
//! `strings` makes and finds them, `refusals` provokes, `sinks` gathers.

mod floors;
mod misfits;
mod people;
mod refusals;
mod sinks;
mod story;
mod strings;

use super::common::client::Client;
use super::common::collector::Collector;
use super::common::program::{Program, key};
use super::common::receiver::Receiver;
use super::place::{Place, on_each_store};
use serde_json::json;
use sinks::Sinks;
use strings::Strings;

on_each_store!(nothing_entrusted_is_found_in_logs_metrics_refusals_audit_or_spans);

/// Strings that the story must have used up.
const STRINGS_MIN: usize = 1_000;

/// Everybody who acts in the story.
struct Cast {
    anyone: Client,
    uploader: Client,
    consent: Client,
    steward: Client,
    analyst: Client,
    auditor: Client,
}

impl Cast {
    async fn of(server: &Program) -> Self {
        let anyone = server.client();
        Self {
            uploader: key(&anyone, &["uploader"]).await,
            consent: key(&anyone, &["consent"]).await,
            steward: key(&anyone, &["steward", "uploader"]).await,
            analyst: key(&anyone, &["analyst"]).await,
            auditor: key(&anyone, &["auditor"]).await,
            anyone,
        }
    }
}

async fn nothing_entrusted_is_found_in_logs_metrics_refusals_audit_or_spans(place: Place) {
    let (collector, receiver) = (Collector::start().await, Receiver::start().await);
    let environment = [
        ("VIZARD_STORE", place.url()),
        ("VIZARD_LOG", "trace"),
        ("VIZARD_LOG_JSON", "true"),
        ("VIZARD_OTLP_ENDPOINT", collector.url.as_str()),
        ("VIZARD_WEBHOOK_ORIGINS", receiver.origin()),
        ("VIZARD_UPLOAD_BYTES_MAX", "200000"),
        ("VIZARD_WORKERS", "1"),
        ("RUST_BACKTRACE", "0"),
    ];
    let server = Program::serve(&[], &environment);
    let cast = Cast::of(&server).await;
    let strings = Strings::default();
    let mut sinks = Sinks::default();
    let secret = webhook(&cast, &strings, &receiver).await;
    let told = story::tell(&cast, &strings, &mut sinks).await;
    refusals::provoke(&cast, &strings, &mut sinks, &told).await;
    sinks.audit(&cast.auditor).await;
    let metrics = cast.anyone.send("GET", "/metrics").await;
    assert_eq!(metrics.status, 200);
    sinks.keep("metrics", metrics.text());
    let (status, lines) = server.terminate();
    assert!(status.success());
    assert!(lines.len() > 100, "the server logged at TRACE");
    let log = lines.join("\n");
    assert!(!log.contains(&secret), "the log tells a secret");
    sinks.keep("log", log);
    let heard = receiver.heard();
    assert!(heard.len() >= 3, "jobs and a release were told");
    for one in heard {
        sinks.keep("webhook", one.body);
    }
    let bodies = collector.bodies();
    assert!(!bodies.is_empty(), "spans were sent");
    for (_, body) in bodies {
        sinks.keep("spans", String::from_utf8_lossy(&body).into_owned());
    }
    assert!(
        strings.count() >= STRINGS_MIN,
        "{} strings",
        strings.count()
    );
    let found = sinks.found(&strings);
    assert!(found.is_empty(), "entrusted strings were found: {found:#?}");
    sinks.expect_kinds();
}

/// Makes a webhook that is told everything, at a URL that holds a token; its secret.
async fn webhook(cast: &Cast, strings: &Strings, receiver: &Receiver) -> String {
    let url = format!(
        "{}/{}?token={}",
        receiver.origin(),
        strings.word(),
        strings.word()
    );
    let events = [
        "job.succeeded",
        "job.failed",
        "job.cancelled",
        "release.published",
    ];
    let call = cast.steward.call("create_webhook");
    let made = call
        .json(&json!({"url": url, "events": events}))
        .send()
        .await;
    let secret = made.expect(201)["secret"].clone();
    let secret = secret.as_str().and_then(|text| text.strip_prefix("whsec_"));
    secret.expect("a secret").to_owned()
}
