//! What goes on after its request was let in ends when that was taken back:
//! event streams and downloads, with their keys and their releases.

use std::time::Duration;

use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http2::Builder;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use super::{Server, on_both, story};
use crate::common::client::Client;

on_both!(
    an_event_stream_ends_with_the_key_that_opened_it,
    a_download_ends_with_its_key_or_its_release,
);

/// Longer than a stream may go on, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
/// Longer than the time between two looks.
const A_LOOK: Duration = Duration::from_millis(1_300);

/// A new key of these roles that lives so long; its id and its holder.
async fn key(server: &Server, roles: &[&str], expires_in_s: Value) -> (String, Client) {
    let asked = json!({"name": "a test", "roles": roles, "expires_in_s": expires_in_s});
    let call = server.operator().call("create_key").json(&asked);
    let made = call.send().await.expect(201);
    let holder = made["token"].as_str().expect("a token");
    let id = made["id"].as_str().expect("an id").to_owned();
    (id, server.anyone().with(holder))
}

async fn revoke(server: &Server, key: &str) {
    let call = server.operator().call("revoke_key").at("id", key);
    call.send().await.expect(200);
}

async fn an_event_stream_ends_with_the_key_that_opened_it(server: Server) {
    let owner = server.key(&["uploader", "steward"]).await;
    let dataset = story::filled_dataset(&owner).await;
    // Nobody works: the job waits, and its stream with it.
    let job = story::queue(&owner, &story::job(&dataset)).await;
    let open = async |client: &Client| {
        let call = client.call("stream_job_events").at("id", &job);
        call.open().await
    };
    let (id, revoked) = key(&server, &["steward"], Value::Null).await;
    let (_, expiring) = key(&server, &["steward"], json!(2)).await;
    let (mut lasting, streams) = (
        open(&owner).await,
        [open(&revoked).await, open(&expiring).await],
    );
    revoke(&server, &id).await;
    for mut stream in streams {
        let end = async { while let Some(Ok(_)) = stream.frame().await {} };
        let ended = tokio::time::timeout(PATIENCE, end).await;
        ended.expect("the stream ends");
    }
    let first = lasting.frame().await;
    assert!(first.is_some_and(|frame| frame.is_ok()));
    let more = tokio::time::timeout(A_LOOK, lasting.frame()).await;
    assert!(more.is_err(), "a key that is good keeps its stream");
}

/// A draft with a table of about a mebibyte; its id.
async fn large_release(server: &Server, owner: &Client) -> String {
    let schema = json!({"name": "notes", "subject_key": "id", "attributes": [
        {"name": "id", "role": "identifier"},
        {"name": "age", "role": "quasi_identifier", "type": "integer"},
        {"name": "note", "role": "insensitive", "type": "categorical"},
        {"name": "cost", "role": "sensitive", "type": "integer"}]});
    let made = owner
        .call("create_dataset")
        .json(&schema)
        .send()
        .await
        .expect(201);
    let dataset = made["id"].as_str().expect("an id");
    let mut text = String::from("id,age,note,cost\n");
    for n in 0_u64..1_800 {
        let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let note = format!("{}", mixed % 3).repeat(600);
        text += &format!("p{n},{},{note},{}\n", mixed % 20, mixed / 90 % 97);
    }
    story::upload(owner, dataset, text).await.expect(201);
    server.work();
    let job = json!({"dataset": dataset, "engine": "lgb", "report": {"queries": 20},
        "accept_exact": [{"attribute": "note", "reason": "three made-up texts"}],
        "parameters": {"k": 3, "l": 2, "generalization": "mdp", "max_excluded": 1.0}});
    story::release(owner, &job).await
}

/// Begins a download whose client takes 64 KiB at a time.
async fn download(client: &Client, path: &str) -> Response<Incoming> {
    let address = client.address();
    let stream = TcpStream::connect(address).await.expect("it listens");
    let mut http = Builder::new(TokioExecutor::new());
    http.initial_stream_window_size(64 << 10);
    let (mut speaker, connection) = http.handshake(TokioIo::new(stream)).await.expect("HTTP/2");
    tokio::spawn(connection);
    let request = Request::get(format!("http://{address}{path}"))
        .header("authorization", format!("Bearer {}", client.token()))
        .body(Empty::<Bytes>::new())
        .expect("a request");
    let answer = speaker.send_request(request).await.expect("an answer");
    assert_eq!(answer.status().as_u16(), 200);
    answer
}

/// Takes the rest of a download; how many bytes, if it came to its end.
async fn rest(mut answer: Response<Incoming>) -> Option<usize> {
    let mut bytes = 0;
    let reading = async {
        while let Some(frame) = answer.frame().await {
            bytes += frame.ok()?.data_ref().map_or(0, Bytes::len);
        }
        Some(bytes)
    };
    tokio::time::timeout(PATIENCE, reading)
        .await
        .expect("an end in time")
}

async fn a_download_ends_with_its_key_or_its_release(server: Server) {
    let owner = server.key(&["uploader", "steward"]).await;
    let release = large_release(&server, &owner).await;
    let path = format!("/v1/releases/{release}/tables/microdata");
    let whole = rest(download(&owner, &path).await)
        .await
        .expect("the whole table");
    assert!(whole > 800 << 10, "{whole} bytes");

    let (id, revoked) = key(&server, &["steward"], Value::Null).await;
    let (_, expiring) = key(&server, &["steward"], json!(3)).await;
    let begun = [
        download(&revoked, &path).await,
        download(&expiring, &path).await,
    ];
    let good = download(&owner, &path).await;
    revoke(&server, &id).await;
    tokio::time::sleep(Duration::from_secs(3) + A_LOOK).await;
    for download in begun {
        assert_eq!(rest(download).await, None, "it went on without its key");
    }
    assert_eq!(rest(good).await, Some(whole), "a key that is good goes on");

    let begun = download(&owner, &path).await;
    let withdrawn = owner.call("withdraw_release").at("id", &release);
    withdrawn.send().await.expect(200);
    tokio::time::sleep(A_LOOK).await;
    assert_eq!(
        rest(begun).await,
        None,
        "a release that is withdrawn was sent on"
    );
}
