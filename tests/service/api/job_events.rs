//! A job followed by its events.

use std::time::Duration;

use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::Incoming;
use serde_json::Value;
use vizard::config::{Limits, Settings};

use super::{Server, on_both, story};
use crate::common::client::Client;

on_both!(
    a_job_is_followed_from_its_queue_to_its_end,
    a_client_that_comes_back_goes_on_where_it_was,
    an_open_stream_does_not_keep_the_server_from_stopping,
    the_streams_of_one_key_leave_room_for_those_of_others,
);

/// One event.
#[derive(Debug)]
struct Event {
    name: String,
    id: u64,
    data: Value,
}

/// Reads events until the stream ends or `enough` have come.
async fn events(response: &mut Response<Incoming>, enough: usize) -> Vec<Event> {
    let (mut text, mut events) = (String::new(), Vec::new());
    while events.len() < enough {
        let frame = tokio::time::timeout(Duration::from_secs(60), response.frame()).await;
        match frame.expect("an event in time") {
            Some(frame) => {
                let bytes = frame.expect("a whole frame").into_data().expect("data");
                text += std::str::from_utf8(&bytes).expect("text");
            }
            None => break,
        }
        while let Some((event, rest)) = text.split_once("\n\n") {
            let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
            if let Some(data) = field("data: ") {
                events.push(Event {
                    name: field("event: ").expect("a name").to_owned(),
                    id: field("id: ").expect("an id").parse().expect("a number"),
                    data: serde_json::from_str(data).expect("JSON"),
                });
            }
            text = rest.to_owned();
        }
    }
    events
}

async fn a_job_is_followed_from_its_queue_to_its_end(server: Server) {
    let client = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&client).await;
    let job = story::queue(&client, &story::job(&id)).await;
    let mut stream = client.call("stream_job_events").at("id", &job).open().await;
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    server.work();
    let events = events(&mut stream, usize::MAX).await;
    let states: Vec<&str> = events
        .iter()
        .filter(|event| event.name == "state")
        .map(|event| event.data["state"].as_str().expect("a state"))
        .collect();
    assert_eq!(states, ["queued", "running", "succeeded"]);
    assert!(
        events.is_sorted_by(|earlier, later| earlier.id < later.id),
        "{events:?}"
    );
    let last = events.last().expect("an event");
    assert!(last.data["release"].is_string());
    let progress = &last.data["progress"];
    assert_eq!(progress["step"], progress["steps"], "{progress}");
    assert_ne!(progress["steps"], 0);
    assert_eq!(
        (progress["fraction"].as_f64(), &progress["label"]),
        (Some(1.0), &Value::from("done"))
    );
    let view = client.call("get_job").at("id", &job).send().await;
    assert_eq!(&view.expect(200)["progress"], progress);

    let resumed = client.call("stream_job_events").at("id", &job);
    let resumed = resumed
        .header("last-event-id", &last.id.to_string())
        .send()
        .await;
    assert_eq!(resumed.status, 204);
}

async fn a_client_that_comes_back_goes_on_where_it_was(server: Server) {
    let client = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&client).await;
    let job = story::queue(&client, &story::job(&id)).await;
    let mut stream = client.call("stream_job_events").at("id", &job).open().await;
    let first = events(&mut stream, 1).await.remove(0);
    drop(stream);
    client
        .call("cancel_job")
        .at("id", &job)
        .send()
        .await
        .expect(200);
    let resumed = client.call("stream_job_events").at("id", &job);
    let mut resumed = resumed
        .header("last-event-id", &first.id.to_string())
        .open()
        .await;
    let rest = events(&mut resumed, usize::MAX).await;
    assert_eq!(rest.len(), 1);
    assert!(rest[0].id > first.id);
    assert_eq!(rest[0].data["state"], "cancelled");
    let refused = client
        .call("stream_job_events")
        .at("id", &job)
        .header("last-event-id", "x");
    refused.send().await.expect_problem(400, "invalid-header");
}

async fn an_open_stream_does_not_keep_the_server_from_stopping(mut server: Server) {
    let client = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&client).await;
    let job = story::queue(&client, &story::job(&id)).await;
    let mut stream = client.call("stream_job_events").at("id", &job).open().await;
    assert_eq!(events(&mut stream, 1).await.len(), 1);
    server.shutdown.cancel();
    assert!(events(&mut stream, usize::MAX).await.is_empty());
    let stopped = tokio::time::timeout(Duration::from_secs(10), &mut server.serving).await;
    stopped.expect("the server stops").expect("without a panic");
}

/// A stream of a job's events, which must be open.
async fn opened(client: &Client, job: &str) -> Response<Incoming> {
    let stream = client.call("stream_job_events").at("id", job).open().await;
    assert_eq!(stream.status(), 200);
    stream
}

/// Opens a stream as soon as there is room for it.
async fn opened_soon(client: &Client, job: &str) -> Response<Incoming> {
    for _ in 0..500 {
        let stream = client.call("stream_job_events").at("id", job).open().await;
        if stream.status() == 200 {
            return stream;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("a stream that has ended still counts");
}

/// Panics unless one stream more is refused by this limit.
async fn expect_no_more(client: &Client, job: &str, limit: &str) {
    let follow = || client.call("stream_job_events").at("id", job);
    assert_eq!(follow().open().await.status(), 429, "{limit}");
    let refused = follow().send().await;
    let problem = refused.expect_problem(429, "too-many-requests");
    let detail = problem["detail"].as_str().expect("a detail");
    assert!(detail.contains(limit), "{detail}");
    let wait = refused.header("retry-after").expect("when to come again");
    assert!(wait.parse::<u64>().is_ok_and(|seconds| seconds > 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn as_many_event_streams_as_allowed_are_open_and_the_next_comes_again() {
    let limits = Limits {
        event_streams_max: 2,
        ..Limits::default()
    };
    let settings = Settings {
        limits,
        ..Settings::default()
    };
    let server = Server::sqlite_with(settings).await;
    let client = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&client).await;
    let job = story::queue(&client, &story::job(&id)).await;
    let others = [
        server.key(&["steward"]).await,
        server.key(&["steward"]).await,
    ];
    let first = opened(&client, &job).await;
    let _second = opened(&others[0], &job).await;
    expect_no_more(&others[1], &job, "event_streams_max, 2 ").await;
    drop(first);
    opened_soon(&others[1], &job).await;
}

async fn the_streams_of_one_key_leave_room_for_those_of_others(server: Server) {
    let client = server.key(&["uploader", "steward"]).await;
    let other = server.key(&["steward"]).await;
    let id = story::filled_dataset(&client).await;
    let job = story::queue(&client, &story::job(&id)).await;
    let ended = story::queue(&client, &story::job(&id)).await;
    let call = client.call("cancel_job").at("id", &ended);
    call.send().await.expect(200);
    let mut open = Vec::new();
    for _ in 0..16 {
        open.push(opened(&client, &job).await);
    }
    expect_no_more(&client, &job, "event_streams_of_key_max, 16 ").await;
    expect_no_more(&client, &ended, "event_streams_of_key_max, 16 ").await;
    open.push(opened(&other, &job).await);
    // What asks for no stream is answered as ever.
    let view = client.call("get_job").at("id", &ended).send().await;
    let revision = events(&mut opened(&other, &ended).await, 9).await;
    assert_eq!(view.expect(200)["state"], "cancelled");
    let last = revision.last().expect("an event").id.to_string();
    let seen = client.call("stream_job_events").at("id", &ended);
    let seen = seen.header("last-event-id", &last).send().await;
    assert_eq!(seen.status, 204);
    // One that its client leaves, and one that ends by itself, make room.
    drop(open.remove(0));
    open.push(opened_soon(&client, &job).await);
    let call = client.call("cancel_job").at("id", &job);
    call.send().await.expect(200);
    for stream in &mut open {
        events(stream, usize::MAX).await;
    }
    for _ in 0..20 {
        events(&mut opened_soon(&client, &job).await, usize::MAX).await;
    }
}
