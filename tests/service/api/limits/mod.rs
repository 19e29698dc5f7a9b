//! Every limit at its bound, below it and above it: what is exactly as much
//! as allowed is taken, one more is refused, the refusal says which limit it
//! was and what it is, and nothing of it is kept.

mod bodies;
mod framing;
mod headers;
mod hierarchies;
mod json_depth;
mod lingering;
mod memory;
mod pace;
mod queue;
mod rates;
pub mod socket;
mod tables;

use vizard::config::{Limits, Settings};

use super::Server;
use crate::common::client::{Answer, Client};

/// A server on SQLite with these limits.
async fn server(limits: Limits) -> Server {
    let settings = Settings {
        limits,
        drain_timeout_s: 1,
        ..Settings::default()
    };
    Server::sqlite_with(settings).await
}

/// Version of the dataset's records: 0 where nothing was kept.
async fn version(client: &Client, id: &str) -> u64 {
    let view = client.call("get_dataset").at("id", id).send().await;
    view.expect(200)["version"].as_u64().expect("a version")
}

/// Panics unless the answer is this problem and names the limit with its value.
#[track_caller]
fn names(answer: &Answer, (status, slug): (u16, &str), limit: &str, value: u64) {
    let problem = answer.expect_problem(status, slug);
    let detail = problem["detail"].as_str().expect("a detail");
    assert!(detail.contains(&format!("{limit}, {value} ")), "{detail}");
}
