//! How a connection ends whose body was not wanted: the answer can be read,
//! and nobody can send for ever.

use std::time::{Duration, Instant};

use vizard::config::Limits;

use super::server;
use super::socket::{Socket, head};
use crate::api::story;

const MIB: usize = 1 << 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_sends_everything_before_reading_still_reads_the_answer() {
    let limits = Limits {
        upload_bytes_max: 1_000,
        // A busy machine needs long for 24 MiB.
        linger_ms: 60_000,
        ..Limits::default()
    };
    let server = server(limits).await;
    let client = server.key(&["uploader"]).await;
    let id = story::dataset(&client).await;
    let body = vec![b'x'; 24 * MIB];
    let start = format!("POST /v1/datasets/{id}/records");
    for length in [
        format!("content-length: {}", body.len()),
        "transfer-encoding: chunked".into(),
    ] {
        let fields = format!("content-type: text/csv\r\n{length}\r\n");
        let mut socket = Socket::open(&server).await;
        socket.write(head(&start, client.token(), &fields)).await;
        if length.starts_with("transfer") {
            socket.write(format!("{:x}\r\n", body.len())).await;
        }
        assert!(socket.write(&body).await, "the rest is read away");
        let said = socket.read_to_end().await;
        assert!(said.starts_with("HTTP/1.1 413 "), "{said}");
        assert!(said.contains("upload_bytes_max, 1000 bytes"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_without_end_is_cut_off() {
    for (linger_ms, linger_bytes_max) in [(10_000, 1 << 20), (300, u64::MAX)] {
        let limits = Limits {
            upload_bytes_max: 1_000,
            linger_ms,
            linger_bytes_max,
            ..Limits::default()
        };
        let server = server(limits).await;
        let client = server.key(&["uploader"]).await;
        let id = story::dataset(&client).await;
        let fields = "content-type: text/csv\r\ntransfer-encoding: chunked\r\n";
        let start = format!("POST /v1/datasets/{id}/records");
        let mut socket = Socket::open(&server).await;
        socket.write(head(&start, client.token(), fields)).await;
        let chunk = [b"10000\r\n".as_slice(), &vec![b'x'; 0x10000], b"\r\n"].concat();
        let begun = Instant::now();
        let mut written = 0;
        while socket.write(&chunk).await {
            written += chunk.len();
            assert!(begun.elapsed() < Duration::from_secs(60), "nobody ended it");
        }
        if linger_ms == 10_000 {
            // What was read away, and what the kernel's buffers hold.
            assert!(written < 32 * MIB, "{written} bytes were taken");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_small_body_that_was_not_wanted_leaves_the_connection_open() {
    let server = server(Limits::default()).await;
    let mut socket = Socket::open(&server).await;
    for _ in 0..2 {
        let fields = "content-type: application/json\r\ncontent-length: 11\r\n";
        socket.write(head("POST /v1/jobs", "nobody", fields)).await;
        socket.write("{\"a\": \"b\"}\n").await;
        let said = socket.read_to("unauthenticated").await;
        assert!(said.starts_with("HTTP/1.1 401 "), "{said}");
        assert!(!said.contains("connection: close"), "{said}");
    }
}
