//! Opening, statements, figures, and what else has no area of its own.

use std::sync::Arc;

use vizard::clock::SystemClock;
use vizard::store::{StoreError, StoreOptions, open};

use super::{Stage, on_both};

async fn every_statement_fits_the_tables(stage: &Stage) {
    let statements = stage
        .store
        .statements_check()
        .await
        .expect("every statement prepares");
    assert!(statements > 70, "{statements}: are all areas listed?");
}

async fn the_check_of_statements_finds_a_missing_column(stage: &Stage) {
    stage
        .sabotage("ALTER TABLE hierarchy RENAME COLUMN leaves TO leafs")
        .await;
    // Opened anew: SQLite prepares by the schema that a connection once read.
    let options = StoreOptions {
        exclusive: false,
        ..StoreOptions::new(stage.url())
    };
    let again = open(options, Arc::new(SystemClock))
        .await
        .expect("it opens");
    assert!(again.statements_check().await.is_err());
}

async fn the_store_answers_and_knows_its_schema(stage: &Stage) {
    stage.store.ping().await.expect("it answers");
    assert_eq!(
        stage.store.schema_version().await.expect("a version"),
        latest_migration()
    );
    let figures = stage.store.pool_figures();
    assert!(
        figures.open >= 1 && figures.open <= figures.max,
        "{figures:?}"
    );
}

async fn what_was_kept_is_there_after_opening_again(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    stage.store.close().await.expect("it closes");
    assert!(matches!(
        stage.store.ping().await,
        Err(StoreError::Driver(_))
    ));
    let options = StoreOptions {
        exclusive: false,
        ..StoreOptions::new(stage.url())
    };
    let again = open(options, Arc::new(SystemClock))
        .await
        .expect("it opens");
    assert_eq!(
        again
            .dataset_get(dataset)
            .await
            .expect("it is there")
            .records,
        10
    );
    again.close().await.expect("it closes");
}

async fn many_that_open_one_store_together_all_succeed(stage: &Stage) {
    let tasks: Vec<_> = (0..4)
        .map(|_| {
            let options = StoreOptions {
                exclusive: false,
                ..StoreOptions::new(stage.url())
            };
            tokio::spawn(async move {
                let store = open(options, Arc::new(SystemClock)).await?;
                store.ping().await?;
                store.close().await
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("no panic").expect("it opens");
    }
}

/// Number of the latest migration; both databases have the same.
fn latest_migration() -> u64 {
    let latest = ["sqlite", "postgres"].map(|database| {
        let folder = format!("{}/migrations/{database}", env!("CARGO_MANIFEST_DIR"));
        let names = std::fs::read_dir(folder).expect("the migrations");
        let numbers = names.map(|entry| {
            let name = entry.expect("an entry").file_name();
            let (number, _) = name
                .to_str()
                .expect("text")
                .split_once('_')
                .expect("a number");
            number.parse::<u64>().expect("a number")
        });
        numbers.max().expect("a migration")
    });
    assert_eq!(latest[0], latest[1]);
    latest[0]
}

on_both!(
    every_statement_fits_the_tables,
    the_check_of_statements_finds_a_missing_column,
    the_store_answers_and_knows_its_schema,
    what_was_kept_is_there_after_opening_again,
    many_that_open_one_store_together_all_succeed,
);

#[tokio::test]
async fn a_second_server_on_one_sqlite_file_is_refused() {
    let stage = Stage::sqlite().await;
    let second = open(StoreOptions::new(stage.url()), Arc::new(SystemClock)).await;
    let message = second.err().expect("refused").to_string();
    assert!(message.contains("another server"), "{message}");
    let beside = StoreOptions {
        exclusive: false,
        ..StoreOptions::new(stage.url())
    };
    let beside = open(beside, Arc::new(SystemClock))
        .await
        .expect("a command beside the server");
    beside.ping().await.expect("it answers");
}

#[tokio::test]
async fn an_address_that_cannot_be_read_is_refused_without_being_repeated() {
    for url in [
        "mysql://user:secret@host/db",
        "sqlite:",
        "postgres://user:secret@[::bad/db",
    ] {
        let refused = open(StoreOptions::new(url), Arc::new(SystemClock)).await;
        let message = refused.err().expect("refused").to_string();
        assert!(!message.contains("secret"), "{message}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn an_sqlite_file_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let stage = Stage::sqlite().await;
    stage.dataset().await;
    let path = stage
        .url()
        .strip_prefix("sqlite:")
        .expect("its path")
        .to_owned();
    for ending in ["", "-wal", ".lock"] {
        let file = std::fs::metadata(format!("{path}{ending}")).expect("it is there");
        assert_eq!(file.permissions().mode() & 0o077, 0, "{ending}");
    }
}
