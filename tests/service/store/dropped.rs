//! Requests whose client goes away: the future is dropped between two polls.

use std::future::poll_fn;
use std::task::Poll;
use std::time::{Duration, Instant};

use serde_json::json;
use sqlx::{Connection, PgConnection};
use vizard::ids::DatasetId;
use vizard::store::VersionMode;

use super::stage::{Stage, act, on_both, version};

/// Polls a future at most `polls` times and drops it there if it still waits.
async fn cut_after<T>(polls: u32, future: impl Future<Output = T>) -> Option<T> {
    let (mut future, mut polled) = (Box::pin(future), 0);
    poll_fn(move |context| match future.as_mut().poll(context) {
        Poll::Ready(answer) => Poll::Ready(Some(answer)),
        Poll::Pending => {
            polled += 1;
            if polled >= polls {
                Poll::Ready(None)
            } else {
                Poll::Pending
            }
        }
    })
    .await
}

async fn uploads_cut_anywhere_leave_all_or_nothing(stage: &Stage) {
    let (store, id) = (&stage.store, stage.dataset().await);
    for polls in 1..40 {
        let base = store.dataset_get(id).await.expect("it is there").version;
        let upload = version(id, base, VersionMode::Append, &[b"one", b"two", b"three"]);
        cut_after(polls, store.version_commit(act(), upload)).await;
        // Another request on the same connections, at once.
        store
            .preference_put(act(), id, "1".to_owned(), json!({}))
            .await
            .expect("it works");
    }
    let last = store.dataset_get(id).await.expect("it is there");
    assert_eq!(
        last.preference_version, 39,
        "every answered change is there"
    );
    assert!(last.version > 0, "a cut request goes on to its end");
    assert_eq!(last.records, last.version * 30);
    let chunks = store
        .version_chunk_list(id, last.version)
        .await
        .expect("chunks");
    assert_eq!(chunks.len() as u64 * 10, last.records);
}

async fn reads_cut_anywhere_harm_no_later_read(stage: &Stage) {
    let (store, id) = (&stage.store, stage.filled_dataset().await);
    for polls in 1..40 {
        cut_after(polls, store.chunk_get(id, 1, 0)).await;
        assert_eq!(
            store.dataset_get(id).await.expect("it is there").records,
            10
        );
        assert_eq!(
            store.chunk_get(id, 1, 0).await.expect("a chunk"),
            b"records"
        );
    }
}

on_both!(
    uploads_cut_anywhere_leave_all_or_nothing,
    reads_cut_anywhere_harm_no_later_read
);

async fn open_transactions(url: &str) -> i64 {
    let mut connection = PgConnection::connect(url).await.expect("the database");
    let count = "SELECT count(*) FROM pg_stat_activity \
                 WHERE datname = current_database() AND state LIKE 'idle in transaction%'";
    sqlx::query_scalar(count)
        .fetch_one(&mut connection)
        .await
        .expect("it answers")
}

/// sqlx 0.9 forgets a transaction whose `BEGIN` nobody awaited; its connection
/// would go back to the pool and hold the transaction open.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn requests_cut_anywhere_leave_no_transaction_open_on_postgresql() {
    let Some(stage) = Stage::postgres().await else {
        return;
    };
    let id: DatasetId = stage.dataset().await;
    for polls in 1..20 {
        cut_after(
            polls,
            stage
                .store
                .preference_put(act(), id, "1".to_owned(), json!({})),
        )
        .await;
        // Nothing else touches the connection: it must come to rest by itself.
        let end = Instant::now() + Duration::from_secs(60);
        while open_transactions(stage.url()).await > 0 {
            assert!(
                Instant::now() < end,
                "a transaction stays open after {polls} polls"
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}
