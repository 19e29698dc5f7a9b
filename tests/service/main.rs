//! Tests of the running service and of its store: one module a subject.

mod anchor;
mod api;
mod at_rest;
#[path = "../common/mod.rs"]
mod common;
mod consent_races;
mod key_upkeep;
mod leases;
mod lifecycle;
mod many;
mod matrix;
mod oidc;
mod openapi;
mod operations;
mod place;
mod setups;
mod store;

use sqlx::{Connection, PgConnection};

#[tokio::test]
async fn the_test_cluster_answers_and_every_database_is_new_and_empty() {
    let Some(cluster) = common::postgres::cluster() else {
        return;
    };
    let (first, second) = (cluster.fresh_database(), cluster.fresh_database());
    assert_ne!(first, second);
    let mut connection = PgConnection::connect(&first)
        .await
        .expect("the first database is there");
    sqlx::raw_sql("CREATE TABLE seen (n INTEGER)")
        .execute(&mut connection)
        .await
        .expect("it can be written");
    for (url, tables) in [(first, 1), (second, 0)] {
        let mut connection = PgConnection::connect(&url)
            .await
            .expect("the database is there");
        let found: i64 =
            sqlx::query_scalar("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
                .fetch_one(&mut connection)
                .await
                .expect("it answers");
        assert_eq!(found, tables);
    }
}
