//! A thousand sockets that drip headers and bodies, beside normal load.
//!
//! They are told apart by what they drip: the header of a request, a small
//! body, an upload. None may hold a place for longer than the limits say, and
//! who asks at normal speed must hardly notice them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hyper::Method;
use hyper::body::Bytes;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use vizard::cli::client::Client;

use super::launch::Program;
use super::place::{Place, on_each_store};
use super::ward::Ward;

on_each_store!(a_thousand_slow_sockets_hold_nobody_up_and_are_closed_in_time);

/// Fewer than the connections that a server has by default.
const SLOW: usize = 1_000;
/// Clients of normal speed.
const NORMAL: usize = 8;
/// Requests of each of them that are measured.
const REQUESTS: usize = 120;
/// Header and body of a slow socket may take so long, in milliseconds.
const LIMIT_MS: u64 = 3_000;
/// Pause between two bytes.
const PAUSE: Duration = Duration::from_millis(250);
/// What a busy machine may add to the end of a socket. Beyond it are the drips
/// of a server without limits, 60 seconds and more.
const GRACE: Duration = Duration::from_secs(30);
/// Times beneath this are the machine's noise; who waits for a slow socket waits
/// for seconds.
const NOISE: Duration = Duration::from_millis(40);

/// Room for the sockets of this process: the soft limit is often 1,024.
fn allow_sockets() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(4_096, |maximum| maximum.min(4_096));
    assert!(wanted > SLOW as u64 + 200, "too few open files are allowed");
    let raised = Rlimit {
        current: Some(wanted),
        maximum,
    };
    setrlimit(Resource::Nofile, raised).expect("below the hard limit");
}

/// What is said at once, and what is dripped behind it.
fn slow_request(kind: usize, address: &str, ward: &Ward) -> (String, String) {
    let start = format!(
        "host: {address}\r\nauthorization: Bearer {}\r\n",
        ward.token
    );
    let (path, media_type, length) = match kind % 3 {
        0 => return ("GET /healthz HTTP/1.1\r\n".into(), "x: y\r\n".repeat(50)),
        1 => ("/v1/datasets".to_owned(), "application/json", 500),
        _ => (
            format!("/v1/datasets/{}/records", ward.dataset),
            "text/csv",
            100_000,
        ),
    };
    let fields = format!("content-type: {media_type}\r\ncontent-length: {length}\r\n\r\n");
    (
        format!("POST {path} HTTP/1.1\r\n{start}{fields}"),
        " ".repeat(400),
    )
}

/// Drips until the server ends the connection; how long that took.
async fn drip(address: String, (start, rest): (String, String)) -> Duration {
    let mut stream = TcpStream::connect(&address).await.expect("it listens");
    let begun = Instant::now();
    let (mut reader, mut writer) = stream.split();
    let ended = async {
        let mut piece = [0; 1024];
        while let Ok(1..) = reader.read(&mut piece).await {}
    };
    let dripping = async {
        if writer.write_all(start.as_bytes()).await.is_ok() {
            for byte in rest.as_bytes() {
                tokio::time::sleep(PAUSE).await;
                if writer.write_all(&[*byte]).await.is_err() {
                    break;
                }
            }
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = ended => {}
        () = dripping => {}
    }
    begun.elapsed()
}

/// One request of normal load; how long it took.
async fn ask(client: &Client, dataset: &str, at: usize) -> Duration {
    let begun = Instant::now();
    let answer = match at % 4 {
        0 => {
            let path = format!("/v1/datasets/{dataset}/preferences/p{at}");
            let body = Bytes::from_static(b"{\"max_leakage\": 0.5}");
            client
                .send(Method::PUT, &path, "application/json", body)
                .await
        }
        1 => client.get("/v1/jobs").await,
        _ => client.get(&format!("/v1/datasets/{dataset}")).await,
    };
    assert_eq!(answer.expect("an answer").status, 200);
    begun.elapsed()
}

/// The 99th percentile of normal requests: `REQUESTS` of each client, and on
/// for as long as `goes_on`.
async fn normal_p99(server: &Program, ward: &Ward, goes_on: &Arc<AtomicBool>) -> Duration {
    let mut clients = JoinSet::new();
    for number in 0..NORMAL {
        let (client, dataset) = (server.client(&ward.token), ward.dataset.clone());
        let goes_on = Arc::clone(goes_on);
        clients.spawn(async move {
            let mut times = Vec::new();
            while times.len() < REQUESTS || goes_on.load(Ordering::Relaxed) {
                times.push(ask(&client, &dataset, number * 7 + times.len()).await);
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            times
        });
    }
    let mut times: Vec<Duration> = clients.join_all().await.concat();
    times.sort_unstable();
    times[times.len() * 99 / 100]
}

async fn a_thousand_slow_sockets_hold_nobody_up_and_are_closed_in_time(place: Place) {
    allow_sockets();
    let server = place
        .launch()
        .with("VIZARD_HEADER_TIMEOUT_MS", LIMIT_MS)
        .with("VIZARD_ANONYMOUS_CONNECTIONS_OF_ADDRESS_MAX", 2 * SLOW)
        .with("VIZARD_BODY_WINDOW_MS", LIMIT_MS)
        .with("VIZARD_REQUESTS_PER_S_MAX", 100_000)
        .with("VIZARD_REQUESTS_BURST_MAX", 100_000)
        .serve();
    let ward = Ward::filled(&server, 50).await;
    let address = server.address().to_owned();
    let goes_on = Arc::new(AtomicBool::new(false));
    let quiet = normal_p99(&server, &ward, &goes_on).await;

    let mut slow = JoinSet::new();
    for kind in 0..SLOW {
        slow.spawn(drip(address.clone(), slow_request(kind, &address, &ward)));
    }
    goes_on.store(true, Ordering::Relaxed);
    let ended = async {
        let times = slow.join_all().await;
        goes_on.store(false, Ordering::Relaxed);
        times
    };
    let (beside, times) = tokio::join!(normal_p99(&server, &ward, &goes_on), ended);

    let longest = times.into_iter().max().expect("a thousand");
    eprintln!(
        "normal p99: {quiet:?} quiet, {beside:?} beside {SLOW} slow sockets; the last of them ended after {longest:?}"
    );
    assert!(
        beside < 10 * quiet.max(NOISE),
        "{beside:?} against {quiet:?}"
    );
    assert!(
        longest < Duration::from_millis(LIMIT_MS) + GRACE,
        "{longest:?}"
    );
    assert!(server.end_well());
}
