//! A store of every released schema, brought up to date.
//!
//! `tests/fixtures/schema/` holds a dump of each: an SQLite file and a
//! PostgreSQL database as SQL text, written by the program of that time, and
//! in `NNNN.<store>.json` what its API said of them. Today's program opens the
//! dump, says the same and more, gives out the same bytes, and finishes what
//! the old one left: a job in the queue, and one whose worker died.
//!
//! When a schema is released, `write` makes its dump:
//! `cargo test --test faults a_dump_of_the_present_schema_is_written -- --ignored`.

mod content;
mod write;

use std::path::PathBuf;
use std::str::FromStr;

use serde_json::Value;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection};

use super::place::{Place, on_each_store};
use super::ward::{JOB_TIME_MAX, is_over};
use content::{Past, same_and_more};

/// Where dumps are kept.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/schema")
}

/// `sqlite` or `postgres`: the ending of a dump's name.
fn kind(place: &Place) -> &'static str {
    if place.is_shared() {
        "postgres"
    } else {
        "sqlite"
    }
}

/// The numbers of the schemas that have a dump.
fn released() -> Vec<String> {
    let files = std::fs::read_dir(folder()).expect("the folder of dumps");
    let names = files.map(|file| file.expect("a file").file_name());
    let mut numbers: Vec<String> = names
        .filter_map(|name| Some(name.to_str()?.strip_suffix(".sqlite.sql")?.to_owned()))
        .collect();
    numbers.sort_unstable();
    assert!(!numbers.is_empty(), "there is a released schema");
    numbers
}

/// Fills the empty store of `place` from a dump.
async fn load(place: &Place, dump: &str) {
    let dump = AssertSqlSafe(dump.to_owned());
    if place.is_shared() {
        let mut connection = PgConnection::connect(place.url())
            .await
            .expect("the database is there");
        let loaded = sqlx::raw_sql(dump).execute(&mut connection).await;
        loaded.expect("the dump is SQL");
        connection.close().await.expect("it closes");
    } else {
        let options = SqliteConnectOptions::from_str(place.url()).expect("an address");
        let mut connection = options
            .create_if_missing(true)
            .connect()
            .await
            .expect("a new file");
        let loaded = sqlx::raw_sql(dump).execute(&mut connection).await;
        loaded.expect("the dump is SQL");
        connection.close().await.expect("it closes");
    }
}

async fn a_store_of_every_released_schema_opens_with_the_same_content(first: Place) {
    for number in released() {
        let place = first.another();
        let name = format!("{number}.{}", kind(&place));
        let read = |ending| std::fs::read_to_string(folder().join(format!("{name}.{ending}")));
        load(&place, &read("sql").expect("a dump")).await;
        let past: Value = serde_json::from_str(&read("json").expect("its content"))
            .unwrap_or_else(|_| panic!("{name}.json is no JSON"));
        let past = Past::of(&past);

        let idle = place.launch().with("VIZARD_WORKERS", 0).serve();
        let present = past.ward.read(&idle).await;
        same_and_more(&past.content, &present, &name);
        let store = place.look_inside().await;
        let statements = store.statements_check().await;
        statements.unwrap_or_else(|error| panic!("{name}: {error}"));
        store.close().await.expect("it closes");
        assert!(idle.end_well(), "{name}");

        let server = place.launch().serve();
        let person = past.ward.ward.at(&server);
        for job in &past.unfinished {
            let done = person.job_when(job, JOB_TIME_MAX, is_over).await;
            let done = done.expect("the server stays");
            assert_eq!(done["state"], "succeeded", "{name}: {done}");
            let release = done["release"].as_str().expect("a release");
            person
                .table_digests(release)
                .await
                .expect("the server stays");
        }
        let present = past.ward.read(&server).await;
        same_and_more(&past.content, &present, &name);
    }
}

on_each_store!(a_store_of_every_released_schema_opens_with_the_same_content);
