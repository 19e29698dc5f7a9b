//! How many jobs of one dataset may wait.

use vizard::config::{Limits, Settings};

use super::names;
use crate::api::{Server, story};
use crate::common::client::Client;

const REFUSED: (u16, &str) = (429, "queue-full");

fn settings() -> Settings {
    Settings {
        limits: Limits {
            queued_jobs_max: 3,
            ..Limits::default()
        },
        ..Settings::default()
    }
}

async fn each_store(test: impl AsyncFn(Client)) {
    let servers = [
        Some(Server::sqlite_with(settings()).await),
        Server::postgres_with(settings()).await,
    ];
    for server in servers.into_iter().flatten() {
        test(server.key(&["uploader", "steward"]).await).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn as_many_jobs_wait_as_allowed_and_the_next_comes_again() {
    each_store(async |client| {
        let id = story::filled_dataset(&client).await;
        let other = story::filled_dataset(&client).await;
        let mut first = None;
        for _ in 0..3 {
            let job = story::queue(&client, &story::job(&id)).await;
            first.get_or_insert(job);
        }
        let refused = client
            .call("create_job")
            .json(&story::job(&id))
            .send()
            .await;
        names(&refused, REFUSED, "queued_jobs_max", 3);
        assert!(refused.header("retry-after").is_some());
        story::queue(&client, &story::job(&other)).await;
        let first = first.expect("three were queued");
        client
            .call("cancel_job")
            .at("id", first)
            .send()
            .await
            .expect(200);
        story::queue(&client, &story::job(&id)).await;
        let refused = client
            .call("create_job")
            .json(&story::job(&id))
            .send()
            .await;
        names(&refused, REFUSED, "queued_jobs_max", 3);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_that_come_at_once_are_counted_one_by_one() {
    each_store(async |client| {
        let id = story::filled_dataset(&client).await;
        let mut posts = tokio::task::JoinSet::new();
        for _ in 0..24 {
            let call = client.call("create_job").json(&story::job(&id));
            posts.spawn(async move { call.send().await.status });
        }
        let answers = posts.join_all().await;
        let queued = answers.iter().filter(|&&status| status == 202).count();
        assert_eq!(queued, 3, "{answers:?}");
        assert!(answers.iter().all(|status| matches!(status, 202 | 429)));
    })
    .await;
}
