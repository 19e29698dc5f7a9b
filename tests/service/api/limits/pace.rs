//! How slowly a body may arrive: uploads and small bodies alike.

use std::time::{Duration, Instant};

use vizard::config::Limits;

use super::socket::{Socket, head};
use super::{server, version};
use crate::api::{Server, story};

/// What a server would wait that did not heed its setting.
const DEFAULT: Duration = Duration::from_secs(30);

/// 300 bytes are due in each 300 ms of waiting.
fn limits() -> Limits {
    Limits {
        body_bytes_per_s_min: 1_000,
        body_window_ms: 300,
        ..Limits::default()
    }
}

/// Sends a body in pieces with pauses of 20 ms; the answer, and how long it took.
async fn drip(server: &Server, head: &str, body: &str, piece_bytes: usize) -> (String, Duration) {
    let mut socket = Socket::open(server).await;
    socket.write(head).await;
    let begun = Instant::now();
    let pause = Duration::from_millis(20);
    socket.drip(body, piece_bytes, pause).await;
    let said = socket.read_to_end().await;
    (said, begun.elapsed())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_slower_than_the_rate_is_refused_and_leaves_nothing() {
    let server = server(limits()).await;
    let client = server.key(&["uploader"]).await;
    let id = story::dataset(&client).await;
    let csv = story::records(0, 100);
    let fields = format!(
        "content-type: text/csv\r\ncontent-length: {}\r\nconnection: close\r\n",
        csv.len()
    );
    let start = format!("POST /v1/datasets/{id}/records");
    let head = head(&start, client.token(), &fields);
    // At most 50 pieces a second: 250 bytes a second are too few.
    let (said, took) = drip(&server, &head, &csv[..csv.len() / 2], 5).await;
    assert!(said.starts_with("HTTP/1.1 408 "), "{said}");
    assert!(
        said.contains("body_bytes_per_s_min, 1000 bytes per second"),
        "{said}"
    );
    assert!(took < DEFAULT, "{took:?}");
    assert_eq!(version(&client, &id).await, 0);
    // Twice the rate and more, for longer than a window.
    let (said, took) = drip(&server, &head, &csv, 100).await;
    assert!(said.starts_with("HTTP/1.1 201 "), "{said}");
    assert!(took > Duration::from_millis(300), "{took:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_small_body_may_be_no_slower_than_a_large_one() {
    let server = server(limits()).await;
    let client = server.key(&["uploader", "consent"]).await;
    let id = story::dataset(&client).await;
    let preferences = format!("/v1/datasets/{id}/preferences");
    let json = story::schema().to_string();
    for (start, media_type, body) in [
        (
            "POST /v1/datasets".to_owned(),
            "application/json",
            json.as_str(),
        ),
        (
            format!("PUT /v1/datasets/{id}/hierarchies/slow"),
            "text/csv",
            &"a;*\n".repeat(40),
        ),
        (
            format!("POST {preferences}"),
            "text/csv",
            &"subject\n".repeat(20),
        ),
        (
            format!("PUT {preferences}/p1"),
            "application/json",
            &" ".repeat(150),
        ),
    ] {
        let fields = format!(
            "content-type: {media_type}\r\ncontent-length: {}\r\n",
            body.len() + 1
        );
        let head = head(&start, client.token(), &fields);
        let (said, took) = drip(&server, &head, body, 3).await;
        assert!(said.starts_with("HTTP/1.1 408 "), "{start}: {said}");
        assert!(said.contains("body-timeout"), "{said}");
        assert!(took < DEFAULT, "{start}: {took:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_of_which_nothing_comes_is_refused_after_the_window() {
    let server = server(limits()).await;
    let client = server.key(&["uploader"]).await;
    let fields = "content-type: application/json\r\ncontent-length: 100\r\n";
    let head = head("POST /v1/datasets", client.token(), fields);
    let (said, took) = drip(&server, &head, "", 1).await;
    assert!(said.starts_with("HTTP/1.1 408 "), "{said}");
    assert!(took >= Duration::from_millis(290), "{took:?}");
    assert!(took < DEFAULT, "{took:?}");
}
