//! A job followed by its events.

use std::time::Duration;

use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::Incoming;
use serde_json::Value;

use super::{Server, on_both, story};

on_both!(
    a_job_is_followed_from_its_queue_to_its_end,
    a_client_that_comes_back_goes_on_where_it_was,
    an_open_stream_does_not_keep_the_server_from_stopping,
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
