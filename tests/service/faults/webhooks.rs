//! SIGKILL between an end and its message, and between sending and noting it:
//! what ended is told, whatever happens to the processes.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;

use super::common::receiver::Receiver;
use super::place::{Place, on_each_store};
use super::ward::{JOB_TIME_MAX, Ward, expect, is_over};

on_each_store!(the_end_of_a_job_and_its_message_are_one_whoever_dies);

async fn the_end_of_a_job_and_its_message_are_one_whoever_dies(place: Place) {
    let receiver = Receiver::start().await;
    let origin = receiver.origin().to_owned();
    let launch = || {
        let launch = place.launch().with("VIZARD_WEBHOOK_ORIGINS", &origin);
        launch.with("VIZARD_LEASE_DURATION_S", 1)
    };
    let server = launch().with("VIZARD_WORKERS", 0).serve();
    let ward = Ward::filled(&server, 60).await;
    let person = ward.at(&server);
    let webhook = json!({"url": receiver.url(), "events": ["job.succeeded"]});
    expect(
        201,
        person
            .post("/v1/webhooks", &webhook)
            .await
            .expect("it stays"),
    );
    let mut jobs = BTreeSet::new();
    for _ in 0..3 {
        jobs.insert(person.post_job("manual", 10).await.expect("it stays"));
    }
    server.kill();
    // The message is written, the end is not committed: both are taken back.
    let mut server = launch().failpoint("messages-written").serve();
    server.end(JOB_TIME_MAX);
    assert!(receiver.heard().is_empty(), "what did not end was told");
    // The end is committed, and its process dies at once.
    let mut server = launch().failpoint("job-committed").serve();
    server.end(JOB_TIME_MAX);
    let server = launch().serve();
    let person = ward.at(&server);
    for job in &jobs {
        let ended = person.job_when(job, JOB_TIME_MAX, is_over).await;
        assert_eq!(ended.expect("it stays")["state"], "succeeded");
    }
    let is_told = || {
        let heard = receiver.heard();
        let told = heard.iter().map(|one| one.json()["data"]["job"].clone());
        told.map(|job| job.as_str().expect("an id").to_owned())
            .collect::<BTreeSet<_>>()
    };
    let end = tokio::time::Instant::now() + Duration::from_secs(90);
    while is_told() != jobs {
        assert!(tokio::time::Instant::now() < end, "{:?}", is_told());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // At least once: what came twice has one id.
    let ids: BTreeSet<String> = receiver
        .heard()
        .iter()
        .map(|one| one.id().to_owned())
        .collect();
    assert_eq!(ids.len(), jobs.len());
}
