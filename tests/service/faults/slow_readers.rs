//! Clients that open connections and downloads and then take nothing.
//!
//! They speak HTTP/2, where a window of a few bytes stops an answer while the
//! connection lives on: it answers pings, and no timer of a header runs.

use std::time::Duration;

use http_body_util::Empty;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::json;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use super::launch::Program;
use super::place::{Place, on_each_store};
use super::raw_upload::{resident, resident_most};
use super::ward::{JOB_TIME_MAX, Ward, is_over};

on_each_store!(
    a_thousand_downloads_that_nobody_reads_cost_little_memory,
    connections_that_only_answer_pings_are_ended,
);

const DOWNLOADS: usize = 1_000;
/// Requests of one connection: fewer than a server takes.
const STREAMS: usize = 50;
/// What a thousand downloads may cost together.
const MEMORY_MAX: u64 = 256 << 20;
/// What a download must take to count: whole frames of CSV.
const TABLE_BYTES_MIN: u64 = 3 << 20;
/// Time that an answer may wait for its client, in milliseconds.
const STALL_MS: u64 = 20_000;
/// What a busy machine may add to the end of a connection.
const GRACE: Duration = Duration::from_secs(30);

type Speaker = SendRequest<Empty<Bytes>>;

/// A connection whose client takes `window` bytes of each answer; the task
/// ends with it.
async fn connect(address: &str, window: u32) -> (Speaker, JoinHandle<()>) {
    let stream = TcpStream::connect(address).await.expect("it listens");
    let mut http = Builder::new(TokioExecutor::new());
    http.initial_stream_window_size(window);
    let (speaker, connection) = http.handshake(TokioIo::new(stream)).await.expect("HTTP/2");
    let ended = tokio::spawn(async move {
        // However it ends.
        let _ = connection.await;
    });
    (speaker, ended)
}

/// The answer; `None` where the connection ends first. A client that asks in
/// the moment in which its connection ends may lose the request on the way to
/// the task of the connection, and would wait for ever.
async fn get(
    speaker: &mut Speaker,
    (address, token): (&str, &str),
    path: &str,
) -> Option<Response<Incoming>> {
    let request = Request::get(format!("http://{address}{path}"))
        .header("authorization", format!("Bearer {token}"))
        .body(Empty::new())
        .expect("a request");
    let answer = async {
        speaker.ready().await?;
        speaker.send_request(request).await
    };
    let answer = tokio::time::timeout(GRACE, answer).await;
    answer.ok()?.ok()
}

/// A release with a table of some megabytes; the path of the table.
async fn large_table(server: &Program) -> (Ward, String) {
    let schema = json!({"name": "notes", "subject_key": "id", "attributes": [
        {"name": "id", "role": "identifier"},
        {"name": "age", "role": "quasi_identifier", "type": "integer"},
        {"name": "note", "role": "insensitive", "type": "categorical"},
        {"name": "cost", "role": "sensitive", "type": "integer"}]});
    let ward = Ward::with(server, &schema).await;
    let person = ward.at(server);
    let mut text = String::from("id,age,note,cost\n");
    for n in 0_u64..6_000 {
        let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let note = format!("{}", mixed % 3).repeat(600);
        text += &format!("p{n},{},{note},{}\n", mixed % 20, mixed / 90 % 97);
    }
    person.upload("replace", text).await.expect("an answer");
    let mut job = person.job("manual", 0);
    job["accept_exact"] = json!([{"attribute": "note", "reason": "three made-up texts"}]);
    job["parameters"] = json!({"k": 3, "l": 2, "generalization": "mdp", "max_excluded": 1.0});
    let queued = person.post("/v1/jobs", &job).await.expect("an answer");
    assert_eq!(queued.status, 202, "{:?}", queued.body);
    let id = queued.json().expect("JSON")["id"].clone();
    let id = id.as_str().expect("an id");
    let ended = person.job_when(id, JOB_TIME_MAX, is_over).await;
    let ended = ended.expect("an answer");
    assert_eq!(ended["state"], "succeeded", "{ended}");
    let release = ended["release"].as_str().expect("a release");
    (ward, format!("/v1/releases/{release}/tables/microdata"))
}

async fn a_thousand_downloads_that_nobody_reads_cost_little_memory(place: Place) {
    let server = place
        .launch()
        .with("VIZARD_DOWNLOADS_MAX", DOWNLOADS)
        .with("VIZARD_DOWNLOADS_OF_KEY_MAX", DOWNLOADS)
        .with("VIZARD_REQUESTS_PER_S_MAX", 100_000)
        .with("VIZARD_REQUESTS_BURST_MAX", 100_000)
        .with("VIZARD_STALL_TIMEOUT_MS", STALL_MS)
        .serve();
    let (ward, path) = large_table(&server).await;
    let caller = (server.address(), ward.token.as_str());
    let whole = server.client(&ward.token).get(&path).await;
    let whole = whole.expect("a table").body.len() as u64;
    assert!(whole > TABLE_BYTES_MIN, "{whole} bytes");

    let idle = resident(server.pid());
    let (mut connections, mut answers) = (Vec::new(), Vec::new());
    for _ in 0..DOWNLOADS / STREAMS {
        let (mut speaker, ended) = connect(server.address(), 16).await;
        for _ in 0..STREAMS {
            let answer = get(&mut speaker, caller, &path).await.expect("an answer");
            assert_eq!(answer.status(), 200);
            answers.push(answer);
        }
        connections.push((speaker, ended));
    }
    let one_more = server.client(&ward.token).get(&path).await;
    let one_more = one_more.expect("an answer");
    assert_eq!(one_more.status, 429);
    // The last ones had no time yet to be laid aside.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let most = resident_most(server.pid()).saturating_sub(idle);
    println!("{} MiB beside {} idle", most >> 20, idle >> 20);
    assert!(most <= MEMORY_MAX, "{most} bytes for {DOWNLOADS} downloads");

    let limit = Duration::from_millis(STALL_MS) + GRACE;
    for (_speaker, ended) in connections {
        let ended = tokio::time::timeout(limit, ended).await;
        ended
            .expect("a stalled connection is ended")
            .expect("no panic");
    }
    drop(answers);
    let again = server.client(&ward.token).get(&path).await;
    assert_eq!(again.expect("a table").body.len() as u64, whole);
    assert!(server.end_well());
}

async fn connections_that_only_answer_pings_are_ended(place: Place) {
    const OF_ADDRESS: usize = 20;
    let server = place
        .launch()
        .with("VIZARD_CONNECTIONS_MAX", 40)
        .with("VIZARD_ANONYMOUS_CONNECTIONS_OF_ADDRESS_MAX", OF_ADDRESS)
        .with("VIZARD_ANONYMOUS_TIMEOUT_MS", 3_000)
        .with("VIZARD_IDLE_TIMEOUT_MS", 6_000)
        .serve();
    let ward = Ward::open(&server).await;
    let caller = (server.address(), ward.token.as_str());
    let (mut signed_in, signed_in_ended) = connect(server.address(), 1 << 16).await;
    let answer = get(&mut signed_in, caller, "/v1/engines").await;
    assert_eq!(answer.expect("an answer").status(), 200);

    let mut anonymous = Vec::new();
    for number in 0..60 {
        // Who is signed in goes on meanwhile, and is never idle for long: sixty
        // connections may take a slow machine some time.
        if number % 10 == 0 {
            let answer = get(&mut signed_in, caller, "/v1/engines").await;
            assert_eq!(answer.expect("an answer").status(), 200);
        }
        let stream = TcpStream::connect(server.address()).await;
        let stream = stream.expect("it listens");
        let http = Builder::new(TokioExecutor::new());
        if let Ok((mut speaker, connection)) = http.handshake(TokioIo::new(stream)).await {
            let ended = tokio::spawn(async move {
                let _ = connection.await;
            });
            let answer = get(&mut speaker, (server.address(), "nobody"), "/healthz").await;
            if answer.is_some_and(|answer| answer.status() == 200) {
                anonymous.push((speaker, ended));
            }
        }
    }
    // On a slow machine the first of them have had their time already.
    anonymous.retain(|(_, ended)| !ended.is_finished());
    assert!(
        anonymous.len() <= OF_ADDRESS,
        "{} are open",
        anonymous.len()
    );
    let answer = get(&mut signed_in, caller, "/v1/engines").await;
    assert_eq!(answer.expect("an answer").status(), 200);
    for (_speaker, ended) in anonymous {
        let ended = tokio::time::timeout(GRACE, ended).await;
        ended.expect("nobody signs in").expect("no panic");
    }
    let answer = server.client(&ward.token).get("/v1/engines").await;
    assert_eq!(answer.expect("there is room again").status, 200);
    let ended = tokio::time::timeout(GRACE, signed_in_ended).await;
    ended.expect("it is idle").expect("no panic");
    assert!(server.end_well());
}
