//! Killed during the very first start: while the tables are made and while
//! the first admin key goes to its file and into the store.
//!
//! The danger is a store that nobody can enter: its key made, and told to
//! nobody. A file may hold a key that opens nothing, for a later start writes
//! it anew; a key in the store without its file may not be.

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

async fn opens(place: &Place, failpoint: &str) {
    let server = place.launch().without("VIZARD_ADMIN_KEY").serve();
    let key = std::fs::read_to_string(place.folder().join("admin-key"));
    let key = key.unwrap_or_else(|_| panic!("{failpoint}: the first key is told to nobody"));
    assert!(!server.log().contains(key.trim()), "the log tells the key");
    let asked = json!({"name": "second", "roles": ["uploader"], "datasets": null});
    let made = server.client(key.trim()).post("/v1/keys", &asked).await;
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
