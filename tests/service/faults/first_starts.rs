//! Killed during the very first start: while the tables are made and while
//! the first admin key goes to its file and into the store.
//!
//! The danger is a store that nobody can enter: its key made, and told to
//! nobody. A file may hold a key that opens nothing, for a later start writes
//! it anew; a key in the store without its file may not be. PostgreSQL's first
//! key is printed once, and a kill may swallow it: then `vizard keys` is the
//! way in, for those who hold the database anyway.

use serde_json::json;

use super::place::{Place, on_each_store};
use super::size::size;

/// The places of a first start, in their order.
const PLACES: [&str; 5] = [
    "store-before-migration",
    "store-migrated",
    "admin-key-written",
    "key-before-commit",
    "admin-key-committed",
];

/// The key that a server printed or wrote when it made the first one.
fn key_told(place: &Place, log: &str) -> Option<String> {
    let printed = "the first admin key, shown only here: ";
    let printed = log.lines().find_map(|line| line.strip_prefix(printed));
    let written = || std::fs::read_to_string(place.folder().join("admin-key")).ok();
    let key = printed.map(str::to_owned).or_else(written)?;
    Some(key.trim().to_owned())
}

/// A key made by who holds the database itself.
fn key_by_hand(place: &Place) -> String {
    let made = place.launch().run(&["keys", "create", "--role", "admin"]);
    let words = made.split_whitespace();
    let token = words.into_iter().find(|word| word.starts_with("vz_"));
    token.expect("the command prints a token").to_owned()
}

async fn opens(place: &Place, failpoint: &str) {
    let server = place.launch().without("VIZARD_ADMIN_KEY").serve();
    let key = match key_told(place, &server.log()) {
        Some(key) => key,
        None => {
            let swallowed = place.is_shared() && failpoint == "admin-key-committed";
            assert!(swallowed, "{failpoint}: the first key is told to nobody");
            key_by_hand(place)
        }
    };
    let asked = json!({"name": "second", "roles": ["uploader"], "datasets": null});
    let made = server.client(&key).post("/v1/keys", &asked).await;
    made.unwrap_or_else(|error| panic!("{failpoint}: the first key opens nothing: {error}"));
}

async fn a_first_start_that_is_killed_leaves_a_store_that_opens(first: Place) {
    for round in 0..size(PLACES.len()) {
        let failpoint = PLACES[round % PLACES.len()];
        let place = first.another();
        let start = || {
            let launch = place.launch().without("VIZARD_ADMIN_KEY");
            launch.failpoint(failpoint).try_serve()
        };
        assert!(
            start().is_err(),
            "{failpoint} is on the way of a first start"
        );
        // The second start finds what is half made, and may be hit as well.
        if let Ok(server) = start() {
            server.kill();
        }
        opens(&place, failpoint).await;
    }
}

on_each_store!(a_first_start_that_is_killed_leaves_a_store_that_opens);
