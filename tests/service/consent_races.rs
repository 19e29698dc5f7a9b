//! Consent that moves while a release is published.
//!
//! A publishing and a withdrawal of consent run at the same time, over HTTP.
//! Whatever the answers are, the audit log says in which order the two took
//! effect: its positions are given in the order of the commits. A release that
//! went public *after* a withdrawal of one of its people is stale; none may be.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use vizard::ids::DatasetId;
use vizard::store::AuditFilter;

use super::api::{Server, on_both, story};
use super::common::client::{Answer, Client};

const ROUNDS: usize = 50;
const AUTOMATIC_ROUNDS: usize = 20;

on_both!(
    a_publishing_that_races_a_withdrawal_is_never_stale,
    a_worker_that_publishes_by_itself_overlooks_no_withdrawal,
    publishing_after_an_acknowledged_withdrawal_is_always_refused,
);

/// Who takes part.
struct People {
    server: Server,
    steward: Client,
    consent: Client,
}

impl People {
    async fn of(server: Server) -> Self {
        Self {
            steward: server.key(&["steward"]).await,
            consent: server.key(&["consent"]).await,
            server,
        }
    }

    /// A dataset of its own for each round, so that rounds do not touch.
    async fn dataset(&self) -> String {
        let id = story::dataset(&self.steward).await;
        let uploaded = story::upload(&self.steward, &id, story::records(0, 40)).await;
        uploaded.expect(201);
        id
    }

    /// Withdraws the consent of somebody in the draft, each round in another way.
    async fn withdraw(&self, dataset: &str, round: usize) -> Answer {
        let terms = [
            json!({"exclude": true}),
            json!({"max_leakage": 0.05}),
            json!({"sensitive": ["age"]}),
        ];
        let call = self.consent.call("put_preference").at("id", dataset);
        let call = call.at("subject", "p7").json(&terms[round % terms.len()]);
        call.send().await
    }

    async fn publish(&self, release: &str) -> Answer {
        // Rounds are about the same people: what matters here is consent.
        let reasoned = json!({"acknowledge_composition": true, "reason": "a test"});
        let call = self.steward.call("publish_release").at("id", release);
        call.json(&reasoned).send().await
    }

    async fn state(&self, release: &str) -> Value {
        let call = self.steward.call("get_release").at("id", release);
        call.send().await.expect(200)["state"].clone()
    }

    /// What was done to a dataset, in the order in which it took effect.
    async fn history(&self, dataset: &str) -> Vec<String> {
        let id: DatasetId = dataset.parse().expect("an id");
        let filter = AuditFilter {
            dataset: Some(id),
            ..AuditFilter::default()
        };
        let page = self.server.store.audit_list(200, None, filter).await;
        let newest_first = page.expect("rows").items;
        newest_first
            .into_iter()
            .rev()
            .map(|row| row.action)
            .collect()
    }
}

/// Where something was done, if it was.
fn place(history: &[String], action: &str) -> Option<usize> {
    history.iter().position(|done| done == action)
}

/// Runs both at once, one of them a little later.
async fn race<A: Send, B: Send>(
    lead_us: i64,
    first: impl Future<Output = A> + Send,
    second: impl Future<Output = B> + Send,
) -> (A, B) {
    let wait = |us: i64| Duration::from_micros(us.max(0).unsigned_abs());
    let late = async {
        tokio::time::sleep(wait(-lead_us)).await;
        first.await
    };
    let later = async {
        tokio::time::sleep(wait(lead_us)).await;
        second.await
    };
    tokio::join!(late, later)
}

async fn a_publishing_that_races_a_withdrawal_is_never_stale(server: Server) {
    let people = People::of(server).await;
    people.server.work();
    let mut drafts = Vec::new();
    for _ in 0..ROUNDS {
        let dataset = people.dataset().await;
        let job = story::queue(&people.steward, &story::job(&dataset)).await;
        drafts.push((dataset, job));
    }
    let mut public = 0;
    for (round, (dataset, job)) in drafts.into_iter().enumerate() {
        let done = story::ended(&people.steward, &job).await;
        let release = done["release"].as_str().expect("a draft").to_owned();
        // From the withdrawal 8 ms ahead to the publishing 8 ms ahead.
        let lead_us = (round as i64 % 17 - 8) * 1_000;
        let (published, withdrawn) = race(
            lead_us,
            people.publish(&release),
            people.withdraw(&dataset, round),
        )
        .await;
        withdrawn.expect(200);
        let history = people.history(&dataset).await;
        let withdrawn = place(&history, "put_preference").expect("it is in the log");
        match published.status {
            200 => {
                let publishing = place(&history, "publish_release").expect("it is in the log");
                assert!(publishing < withdrawn, "round {round}: stale: {history:?}");
                assert_eq!(people.state(&release).await, "published");
                public += 1;
            }
            _ => {
                published.expect_problem(409, "preferences-moved");
                assert_eq!(place(&history, "publish_release"), None);
                let again = people.publish(&release).await;
                again.expect_problem(409, "preferences-moved");
                assert_eq!(people.state(&release).await, "draft");
            }
        }
    }
    assert!(
        (1..ROUNDS).contains(&public),
        "{public} of {ROUNDS}: no race"
    );
}

async fn a_worker_that_publishes_by_itself_overlooks_no_withdrawal(server: Server) {
    let people = People::of(server).await;
    let mut job_duration = Duration::ZERO;
    let mut public = 0;
    for round in 0..AUTOMATIC_ROUNDS {
        let dataset = people.dataset().await;
        let mut spec = story::job(&dataset);
        spec["publish"] = json!("automatic");
        let begun = Instant::now();
        let job = story::queue(&people.steward, &spec).await;
        let ended = async {
            let done = story::ended(&people.steward, &job).await;
            (done, begun.elapsed())
        };
        let withdrawn = people.withdraw(&dataset, round);
        // Certainly before the job begins, certainly after it has ended; in
        // between at moments from at once to well after the last job's time.
        let ((done, took), withdrawn) = match round {
            0 => {
                let withdrawn = withdrawn.await;
                people.server.work();
                (ended.await, withdrawn)
            }
            1 => (ended.await, withdrawn.await),
            _ => {
                let moment = job_duration.mul_f64(2.0 * round as f64 / AUTOMATIC_ROUNDS as f64);
                let later = async {
                    tokio::time::sleep(moment).await;
                    withdrawn.await
                };
                tokio::join!(ended, later)
            }
        };
        withdrawn.expect(200);
        if round == 1 {
            job_duration = took;
        }
        let release = done["release"].as_str().expect("a release").to_owned();
        let history = people.history(&dataset).await;
        let withdrawn = place(&history, "put_preference").expect("it is in the log");
        let publishing = place(&history, "publish_release");
        if people.state(&release).await == "published" {
            let publishing = publishing.expect("it is in the log");
            assert!(publishing < withdrawn, "round {round}: stale: {history:?}");
            public += 1;
        } else {
            let completed = place(&history, "complete_job").expect("it is in the log");
            assert!(
                withdrawn < completed,
                "round {round}: refused for nothing: {history:?}"
            );
            assert_eq!(publishing, None);
            people
                .publish(&release)
                .await
                .expect_problem(409, "preferences-moved");
        }
    }
    assert!((1..AUTOMATIC_ROUNDS).contains(&public), "{public}: no race");
}

async fn publishing_after_an_acknowledged_withdrawal_is_always_refused(server: Server) {
    let people = People::of(server).await;
    people.server.work();
    for round in 0..6 {
        let dataset = people.dataset().await;
        let release = story::release(&people.steward, &story::job(&dataset)).await;
        people.withdraw(&dataset, round).await.expect(200);
        let publishings = (0..4).map(|_| people.publish(&release));
        for refused in futures_util::future::join_all(publishings).await {
            refused.expect_problem(409, "preferences-moved");
        }
        assert_eq!(people.state(&release).await, "draft");
        assert_eq!(
            place(&people.history(&dataset).await, "publish_release"),
            None
        );
    }
}
