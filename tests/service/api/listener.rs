//! The accept loop: clients that say nothing, say it slowly, or stop halfway.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use vizard::config::{Limits, Settings};

use super::{Server, story};

async fn server(limits: Limits) -> Server {
    let settings = Settings {
        limits,
        drain_timeout_s: 1,
        ..Settings::default()
    };
    Server::sqlite_with(settings).await
}

/// What the server says to these bytes, until it closes the connection.
async fn said_to(server: &Server, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.anyone().address())
        .await
        .expect("it listens");
    stream.write_all(bytes).await.expect("it takes them");
    let mut said = Vec::new();
    let closed = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut said)).await;
    // A reset ends a connection as well as an orderly end.
    let _ = closed.expect("the server closes the connection in time");
    String::from_utf8_lossy(&said).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_sends_no_whole_header_is_closed_in_time() {
    let server = server(Limits {
        header_timeout_ms: 500,
        ..Limits::default()
    })
    .await;
    for bytes in [&b""[..], b"G", b"GET / HTTP/1.1\r\nhost: x\r\nx-slow: "] {
        let said = said_to(&server, bytes).await;
        assert!(!said.contains(" 200 "), "{said}");
    }
    server.anyone().call("get_health").send().await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_stops_arriving_is_refused_and_leaves_nothing() {
    let server = server(Limits {
        body_window_ms: 500,
        ..Limits::default()
    })
    .await;
    let admin = server.operator();
    let request = serde_json::json!({"name": "slow", "roles": ["uploader"]});
    let key = admin
        .call("create_key")
        .json(&request)
        .send()
        .await
        .expect(201);
    let token = key["token"].as_str().expect("a token");
    let uploader = server.anyone().with(token);
    let id = story::dataset(&uploader).await;
    let head = format!(
        "POST /v1/datasets/{id}/records HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\
         content-type: text/csv\r\ncontent-length: 100000\r\nconnection: close\r\n\r\npatient,age"
    );
    let said = said_to(&server, head.as_bytes()).await;
    assert!(
        said.starts_with("HTTP/1.1 408 ") && said.contains("body-timeout"),
        "{said}"
    );
    let view = uploader
        .call("get_dataset")
        .at("id", &id)
        .send()
        .await
        .expect(200);
    assert_eq!(view["version"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_lies_about_its_length_is_refused_before_it_is_read() {
    let server = server(Limits::default()).await;
    let uploader = server.key(&["uploader"]).await;
    let id = story::dataset(&uploader).await;
    // Without a token nothing of the body is looked at.
    let head = format!(
        "POST /v1/datasets/{id}/records HTTP/1.1\r\nhost: x\r\ncontent-type: text/csv\r\n\
         content-length: 99999999999999\r\nconnection: close\r\n\r\n"
    );
    let said = said_to(&server, head.as_bytes()).await;
    assert!(said.starts_with("HTTP/1.1 401 "), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopping_server_takes_no_connection_and_cuts_off_after_the_drain_limit() {
    let mut server = server(Limits::default()).await;
    let address = server.anyone().address().to_owned();
    let mut half = TcpStream::connect(&address).await.expect("it listens");
    half.write_all(b"GET /healthz HTTP/1.1\r\n")
        .await
        .expect("it takes them");
    // The connection must have been accepted before the stop.
    server.anyone().call("get_health").send().await.expect(200);
    server.shutdown.cancel();
    let stopped = tokio::time::timeout(Duration::from_secs(10), &mut server.serving).await;
    stopped
        .expect("within the drain limit")
        .expect("without a panic");
    assert!(TcpStream::connect(&address).await.is_err());
}
