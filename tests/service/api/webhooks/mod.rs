//! Webhooks: a real receiver that is told, fails, hangs, leads elsewhere and goes
//! away. Who may have them where is in `made`.

mod made;

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use vizard::config::{Settings, WebhookOrigins};

use super::{Server, story};
use crate::common::client::Client;
use crate::common::receiver::{Heard, Receiver, Reply};

/// Makes one test on each store of every async function over a `Told`.
macro_rules! on_both_told {
    ($($test:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                let receiver = $crate::common::receiver::Receiver::start().await;
                let server = $crate::api::Server::sqlite_with($crate::api::webhooks::settings(receiver.origins())).await;
                super::$test($crate::api::webhooks::Told::new(server, receiver).await).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                let receiver = $crate::common::receiver::Receiver::start().await;
                let settings = $crate::api::webhooks::settings(receiver.origins());
                // Where PostgreSQL is missing the cluster says that it skips.
                if let Some(server) = $crate::api::Server::postgres_with(settings).await {
                    super::$test($crate::api::webhooks::Told::new(server, receiver).await).await;
                }
            })+
        }
    };
}

pub(crate) use on_both_told;

on_both_told!(
    a_job_and_what_becomes_of_its_release_are_told_signed_and_by_ids_alone,
    a_receiver_that_fails_is_told_again_under_the_same_id,
    a_receiver_that_hangs_or_leads_elsewhere_holds_up_nobody_and_leads_nobody,
    a_receiver_that_is_gone_is_told_nothing_until_it_takes_a_ping,
    a_new_secret_and_the_one_before_both_sign,
    jobs_that_fail_or_are_stopped_are_told_and_the_end_of_an_exploration_once,
    an_erased_dataset_takes_its_queued_jobs_with_it_and_that_is_told,
    several_processes_tell_a_message_once,
    a_webhook_is_told_of_its_datasets_alone_and_nothing_once_it_is_deleted,
);

const ALL: [&str; 7] = [
    "job.succeeded",
    "job.failed",
    "job.cancelled",
    "exploration.ended",
    "release.published",
    "release.withdrawn",
    "release.affected",
];

fn settings(origins: WebhookOrigins) -> Settings {
    Settings {
        webhook_origins: origins,
        ..Settings::default()
    }
}

/// A server and a receiver that it may tell.
struct Told {
    server: Server,
    receiver: Receiver,
    steward: Client,
}

impl Told {
    async fn new(server: Server, receiver: Receiver) -> Self {
        let steward = server.key(&["steward", "uploader", "consent"]).await;
        Self {
            server,
            receiver,
            steward,
        }
    }

    /// Works and tells; what failed is tried again at once.
    fn work(&self) {
        let origins = self.receiver.origins();
        self.server.work_with(|settings| {
            settings.webhook_origins = origins;
            settings.webhook_retry_after = vec![Duration::from_millis(20); 7];
            settings.terms_interval = Duration::from_millis(50);
        });
    }

    /// A webhook at the receiver; its view with the secret.
    async fn webhook(&self, events: &[&str], datasets: Value) -> Value {
        let request = json!({"url": self.receiver.url(), "events": events, "datasets": datasets});
        let call = self.steward.call("create_webhook").json(&request);
        call.send().await.expect(201)
    }

    async fn view(&self, webhook: &Value) -> Value {
        let call = self.steward.call("get_webhook").at("id", id(webhook));
        call.send().await.expect(200)
    }

    /// The webhook, once `wanted` holds.
    async fn view_when(&self, webhook: &Value, wanted: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..600 {
            let view = self.view(webhook).await;
            if wanted(&view) {
                return view;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("it stays so: {}", self.view(webhook).await);
    }

    async fn ping(&self, webhook: &Value) {
        let call = self.steward.call("ping_webhook").at("id", id(webhook));
        call.send().await.expect(200);
    }
}

fn id(view: &Value) -> &str {
    view["id"].as_str().expect("an id")
}

fn secret(view: &Value) -> &str {
    view["secret"].as_str().expect("a secret")
}

/// Whether nothing waits, and the last attempt ended so.
fn ended(view: &Value, outcome: &str) -> bool {
    view["waiting"] == 0 && view["last_delivery"]["outcome"] == outcome
}

async fn a_job_and_what_becomes_of_its_release_are_told_signed_and_by_ids_alone(told: Told) {
    let dataset = story::filled_dataset(&told.steward).await;
    let webhook = told.webhook(&ALL, Value::Null).await;
    assert!(webhook["last_delivery"].is_null());
    told.work();
    let release = story::release(&told.steward, &story::job(&dataset)).await;
    told.server
        .publish(&told.steward, &release)
        .await
        .expect(200);
    told.receiver.heard_of(2).await;
    let stricter = told.steward.call("put_preference").at("id", &dataset);
    let stricter = stricter.at("subject", "p1").json(&json!({"exclude": true}));
    stricter.send().await.expect(200);
    told.receiver.heard_of(3).await;
    let withdraw = told.steward.call("withdraw_release").at("id", &release);
    withdraw.send().await.expect(200);
    let events = told.receiver.events_of(4).await;
    assert_eq!(
        events,
        [
            "job.succeeded",
            "release.published",
            "release.affected",
            "release.withdrawn"
        ]
    );
    let states = ["succeeded", "published", "published", "withdrawn"];
    let mut ids = BTreeSet::new();
    for (heard, state) in told.receiver.heard().iter().zip(states) {
        assert!(heard.is_signed_by(secret(&webhook)));
        assert_eq!(heard.signatures(), 1);
        assert_eq!(heard.header("content-type"), "application/json");
        ids.insert(heard.id().to_owned());
        says_ids_alone(heard, (&dataset, &release), state);
    }
    assert_eq!(ids.len(), 4, "an id each");
    let view = told.view_when(&webhook, |view| ended(view, "2xx")).await;
    assert_eq!(view["last_delivery"]["attempts"], 1);
    assert_eq!(view["last_delivery"]["event"], "release.withdrawn");
    assert!(view["secret"].is_null());
}

/// Nothing but ids, a version and a state: no cell, no name, no figure.
fn says_ids_alone(heard: &Heard, (dataset, release): (&str, &str), state: &str) {
    assert!(heard.id().starts_with("msg_"));
    let body = heard.json();
    let keys = |value: &Value| -> Vec<String> {
        let object = value.as_object().expect("an object");
        object.keys().cloned().collect()
    };
    assert_eq!(keys(&body), ["data", "timestamp", "type"]);
    let data = &body["data"];
    let named = ["dataset", "job", "release", "state", "version"];
    assert_eq!(keys(data), named);
    let said = [&data["dataset"], &data["release"], &data["state"]];
    assert_eq!(said, [dataset, release, state]);
    assert_eq!(data["version"], 1);
}

async fn a_receiver_that_fails_is_told_again_under_the_same_id(told: Told) {
    let webhook = told.webhook(&["job.failed"], Value::Null).await;
    told.receiver.reply([
        Reply::Status(500),
        Reply::Status(404),
        Reply::Endless(500),
        Reply::Endless(200),
    ]);
    told.work();
    told.ping(&webhook).await;
    let heard = told.receiver.heard_of(4).await;
    for again in &heard[1..] {
        assert_eq!((again.id(), &again.body), (heard[0].id(), &heard[0].body));
        assert!(again.is_signed_by(secret(&webhook)));
    }
    let view = told.view_when(&webhook, |view| ended(view, "2xx")).await;
    assert_eq!(view["last_delivery"]["attempts"], 4);
    assert_eq!(heard[0].target, "/hook?token=canary");
    // Eight attempts are enough.
    told.receiver.reply(vec![Reply::Status(503); 8]);
    told.ping(&webhook).await;
    let view = told.view_when(&webhook, |view| ended(view, "5xx")).await;
    assert_eq!(view["last_delivery"]["attempts"], 8);
    told.ping(&webhook).await;
    assert_eq!(told.receiver.heard_of(13).await.len(), 13);
}

async fn a_receiver_that_hangs_or_leads_elsewhere_holds_up_nobody_and_leads_nobody(told: Told) {
    let elsewhere = Receiver::start().await;
    let slow = told.webhook(&["job.failed"], Value::Null).await;
    let quick = told.webhook(&["job.failed"], Value::Null).await;
    told.receiver.reply([Reply::Silence]);
    told.work();
    told.ping(&slow).await;
    told.receiver.heard_of(1).await;
    // The next one to the same receiver waits; another webhook's does not.
    told.ping(&slow).await;
    told.ping(&quick).await;
    let view = told.view_when(&quick, |view| ended(view, "2xx")).await;
    assert_eq!(view["last_delivery"]["attempts"], 1);
    assert_eq!(told.view(&slow).await["waiting"], 2);
    // Its time is over after ten seconds.
    told.view_when(&slow, |view| ended(view, "2xx")).await;
    told.receiver.reply([Reply::Redirect(elsewhere.url())]);
    told.ping(&slow).await;
    told.view_when(&slow, |view| {
        ended(view, "2xx") && view["last_delivery"]["attempts"] == 2
    })
    .await;
    assert!(elsewhere.heard().is_empty(), "it was led elsewhere");
}

async fn a_receiver_that_is_gone_is_told_nothing_until_it_takes_a_ping(told: Told) {
    let dataset = story::filled_dataset(&told.steward).await;
    let webhook = told.webhook(&["job.cancelled"], Value::Null).await;
    let cancelled = async || {
        let job = story::queue(&told.steward, &story::job(&dataset)).await;
        let call = told.steward.call("cancel_job").at("id", job);
        call.send().await.expect(200);
    };
    told.receiver.reply([Reply::Status(410)]);
    // Two wait; the first answer is for both.
    cancelled().await;
    cancelled().await;
    told.work();
    let off = |view: &Value| view["switched_off_at"].is_string() && ended(view, "410");
    told.view_when(&webhook, off).await;
    cancelled().await;
    assert_eq!(told.view(&webhook).await["waiting"], 0);
    told.ping(&webhook).await;
    told.view_when(&webhook, |view| view["switched_off_at"].is_null())
        .await;
    cancelled().await;
    let events = told.receiver.events_of(3).await;
    assert_eq!(events, ["job.cancelled", "ping", "job.cancelled"]);
}

async fn a_new_secret_and_the_one_before_both_sign(told: Told) {
    let webhook = told.webhook(&["job.failed"], Value::Null).await;
    let rotate = async || {
        let call = told.steward.call("rotate_webhook").at("id", id(&webhook));
        call.send().await.expect(200)
    };
    let second = rotate().await;
    // A third secret would end the first one before receivers changed over.
    let call = told.steward.call("rotate_webhook").at("id", id(&webhook));
    let refused = call.send().await;
    let refused = refused.expect_problem(429, "too-many-requests");
    let detail = refused["detail"].as_str().expect("a detail");
    assert!(detail.contains("signs until"), "{detail}");
    told.work();
    told.ping(&webhook).await;
    let heard = told.receiver.heard_of(1).await;
    assert_eq!(heard[0].signatures(), 2);
    let signed = [&webhook, &second].map(|view| heard[0].is_signed_by(secret(view)));
    assert_eq!(signed, [true, true]);
}

async fn jobs_that_fail_or_are_stopped_are_told_and_the_end_of_an_exploration_once(told: Told) {
    let dataset = story::filled_dataset(&told.steward).await;
    told.webhook(&ALL, json!([dataset])).await;
    let asked = story::exploration(&dataset);
    let stopped = story::explore(&told.steward, &asked).await;
    let call = told.steward.call("cancel_exploration").at("id", &stopped);
    call.send().await.expect(200);
    told.work();
    let events = told.receiver.events_of(3).await;
    assert_eq!(
        events,
        ["job.cancelled", "job.cancelled", "exploration.ended"]
    );
    let whole = story::explore(&told.steward, &asked).await;
    story::explored(&told.steward, &whole).await;
    let events = told.receiver.events_of(6).await;
    let ends = ["job.succeeded", "job.succeeded", "exploration.ended"];
    assert_eq!(events[3..], ends);
    let last = told.receiver.heard()[5].json();
    assert_eq!(last["data"]["exploration"], whole.as_str());
    let mut job = story::job(&dataset);
    job["parameters"]["k"] = json!(121);
    let job = story::queue(&told.steward, &job).await;
    let failed = story::ended(&told.steward, &job).await;
    assert_eq!(failed["state"], "failed", "{failed}");
    let heard = told.receiver.heard_of(7).await;
    assert_eq!(heard[6].event(), "job.failed");
    let detail = failed["problem"]["detail"].as_str().expect("a reason");
    let body = &heard[6].body;
    for word in [
        detail,
        "problem",
        "parameter",
        "infeasible",
        "age",
        "ward",
        "cost",
    ] {
        assert!(!body.contains(word), "{word}: {body}");
    }
}

async fn an_erased_dataset_takes_its_queued_jobs_with_it_and_that_is_told(told: Told) {
    let dataset = story::filled_dataset(&told.steward).await;
    told.webhook(&["job.cancelled"], Value::Null).await;
    let job = story::queue(&told.steward, &story::job(&dataset)).await;
    let stopped = story::queue(&told.steward, &story::job(&dataset)).await;
    let call = told.steward.call("cancel_job").at("id", &stopped);
    call.send().await.expect(200);
    let call = told.steward.call("erase_dataset").at("id", &dataset);
    call.send().await.expect(200);
    told.work();
    let heard = told.receiver.heard_of(2).await;
    let jobs: Vec<Value> = heard
        .iter()
        .map(|one| one.json()["data"]["job"].clone())
        .collect();
    assert_eq!(jobs, [json!(stopped), json!(job)], "each once");
}

async fn several_processes_tell_a_message_once(told: Told) {
    const JOBS: usize = 15;
    let dataset = story::filled_dataset(&told.steward).await;
    let webhooks = [
        told.webhook(&["job.cancelled"], Value::Null).await,
        told.webhook(&["job.cancelled"], Value::Null).await,
    ];
    for _ in 0..JOBS {
        let job = story::queue(&told.steward, &story::job(&dataset)).await;
        let call = told.steward.call("cancel_job").at("id", job);
        call.send().await.expect(200);
    }
    for _ in 0..3 {
        told.work();
    }
    for webhook in &webhooks {
        told.view_when(webhook, |view| ended(view, "2xx")).await;
    }
    let heard = told.receiver.heard();
    let ids: BTreeSet<&str> = heard.iter().map(|one| one.id()).collect();
    assert_eq!((heard.len(), ids.len()), (2 * JOBS, 2 * JOBS));
}

async fn a_webhook_is_told_of_its_datasets_alone_and_nothing_once_it_is_deleted(told: Told) {
    let own = story::filled_dataset(&told.steward).await;
    let foreign = story::filled_dataset(&told.steward).await;
    let webhook = told.webhook(&["job.cancelled"], json!([own])).await;
    let cancelled = async |dataset: &str| {
        let job = story::queue(&told.steward, &story::job(dataset)).await;
        let call = told.steward.call("cancel_job").at("id", job);
        call.send().await.expect(200);
    };
    cancelled(&foreign).await;
    assert_eq!(told.view(&webhook).await["waiting"], 0);
    cancelled(&own).await;
    assert_eq!(told.view(&webhook).await["waiting"], 1);
    let call = told.steward.call("delete_webhook").at("id", id(&webhook));
    call.send().await.expect(200);
    cancelled(&own).await;
    let other = told.webhook(&["job.cancelled"], Value::Null).await;
    told.work();
    told.ping(&other).await;
    told.view_when(&other, |view| ended(view, "2xx")).await;
    assert_eq!(told.receiver.events_of(1).await, ["ping"]);
    let gone = told.steward.call("get_webhook").at("id", id(&webhook));
    gone.send().await.expect_problem(404, "not-found");
}
