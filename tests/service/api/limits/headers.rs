//! How slow, long and many headers may be, and how many connections.

use std::time::{Duration, Instant};

use vizard::config::Limits;

use super::server;
use super::socket::Socket;

/// What a server would wait that did not heed its setting.
const DEFAULT: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_header_that_is_late_ends_the_connection() {
    let server = server(Limits {
        header_timeout_ms: 400,
        ..Limits::default()
    })
    .await;
    for start in [
        "",
        "G",
        // Could still become HTTP/2.
        "P",
        "GET / HTTP/1.1\r\nhost: x\r\nx-slow: ",
        // HTTP/2 that asks for nothing.
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u{4}\0\0\0\0\0",
        // The second header, behind a first one that was answered.
        "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\nGET /",
    ] {
        let mut socket = Socket::open(&server).await;
        let begun = Instant::now();
        socket.write(start).await;
        socket.read_to_end().await;
        let took = begun.elapsed();
        assert!(took >= Duration::from_millis(380), "{start:?}: {took:?}");
        assert!(took < DEFAULT, "{start:?}: {took:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kept_connection_may_be_idle_for_longer_than_a_header_may_take() {
    let server = server(Limits {
        header_timeout_ms: 400,
        idle_timeout_ms: 3_000,
        ..Limits::default()
    })
    .await;
    let request = "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n";
    let mut socket = Socket::open(&server).await;
    // Empty lines before a request do not begin its header.
    for next in [request, request, &format!("\r\n{request}")] {
        socket.write(next).await;
        let said = socket.read_to("\"}").await;
        assert!(said.starts_with("HTTP/1.1 200 "), "{said}");
        tokio::time::sleep(Duration::from_millis(1_500)).await;
    }
    let begun = Instant::now();
    assert_eq!(socket.read_to_end().await, "");
    assert!(begun.elapsed() < DEFAULT);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_header_in_pieces_is_read_if_all_of_it_comes_in_time() {
    let server = server(Limits {
        header_timeout_ms: 2_000,
        ..Limits::default()
    })
    .await;
    let header = "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let mut socket = Socket::open(&server).await;
    socket.drip(header, 10, Duration::from_millis(50)).await;
    let said = socket.read_to_end().await;
    assert!(said.starts_with("HTTP/1.1 200 "), "{said}");
    let mut socket = Socket::open(&server).await;
    socket.drip(header, 1, Duration::from_millis(100)).await;
    assert_eq!(socket.read_to_end().await, "");
}

/// The status of a request with `fields` header fields in `bytes` bytes.
async fn status(limits: Limits, fields: usize, bytes: usize) -> String {
    let server = server(limits).await;
    let mut header = "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n".to_owned();
    // Path, and the two fields with what stands around them.
    let mut used = 8 + 9 + 19;
    for at in 2..fields {
        let fill = if at == 2 {
            bytes - used - (fields - 3) * 6 - 5
        } else {
            1
        };
        header += &format!("x: {}\r\n", "y".repeat(fill));
        used += 5 + fill;
    }
    assert_eq!(used, bytes);
    let mut socket = Socket::open(&server).await;
    socket.write(header + "\r\n").await;
    let said = socket.read_to_end().await;
    said.lines().next().unwrap_or_default().to_owned()
        + if said.contains("header-too-large") {
            " named"
        } else {
            ""
        }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_header_may_have_as_many_fields_and_bytes_as_its_limits_and_no_more() {
    let limits = Limits {
        header_fields_max: 10,
        header_bytes_max: 5_000,
        ..Limits::default()
    };
    for (fields, bytes) in [(9, 4_999), (10, 4_999), (9, 5_000), (10, 5_000)] {
        assert_eq!(status(limits, fields, bytes).await, "HTTP/1.1 200 OK");
    }
    let refused = "HTTP/1.1 431 Request Header Fields Too Large";
    for (fields, bytes) in [(11, 5_000), (10, 5_001)] {
        assert_eq!(
            status(limits, fields, bytes).await,
            format!("{refused} named")
        );
    }
    for (fields, bytes) in [(100, 5_000), (10, 1_000_000)] {
        assert_eq!(status(limits, fields, bytes).await, refused);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn as_many_connections_as_allowed_are_served_and_the_next_one_waits() {
    let server = server(Limits {
        connections_max: 2,
        ..Limits::default()
    })
    .await;
    let request = "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n";
    let mut open = Vec::new();
    for _ in 0..2 {
        let mut socket = Socket::open(&server).await;
        socket.write(request).await;
        assert!(socket.read_to("\r\n\r\n").await.contains(" 200 "));
        open.push(socket);
    }
    let mut third = Socket::open(&server).await;
    third.write(request).await;
    let waiting = tokio::time::timeout(Duration::from_millis(300), third.read_to("\r\n\r\n"));
    assert!(waiting.await.is_err(), "two are served at once");
    drop(open.pop());
    assert!(third.read_to("\r\n\r\n").await.contains(" 200 "));
}
