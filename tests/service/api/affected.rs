//! Terms that change after a release was published: whoever keeps house finds
//! the releases, and stewards are told, in tens and without a name.

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::{Connection, Executor, PgConnection, SqliteConnection};
use vizard::store::AuditFilter;

use super::{Server, on_both, story};
use crate::common::client::Client;

on_both!(
    an_exclusion_after_publication_is_told_to_stewards_and_in_the_ledger,
    terms_that_a_release_meets_affect_nothing,
    a_release_whose_lineage_is_gone_is_unknown_and_not_unaffected,
);

/// A dataset with a published release, and a subject that the release holds.
async fn published(server: &Server, client: &Client) -> (String, String, String) {
    server.work_with(|settings| settings.terms_interval = Duration::from_millis(50));
    let id = story::filled_dataset(client).await;
    let release = story::release(client, &story::job(&id)).await;
    let publish = client.call("publish_release").at("id", &release);
    publish.send().await.expect(200);
    let lineage = server
        .store
        .release_lineage(release.parse().expect("an id"));
    let lineage = String::from_utf8(lineage.await.expect("a lineage")).expect("text");
    let row = lineage.lines().nth(1).expect("a row");
    let subject = row.rsplit(',').next().expect("a subject").to_owned();
    (id, release, subject)
}

async fn put(client: &Client, id: &str, subject: &str, terms: Value) {
    let call = client.call("put_preference").at("id", id);
    let call = call.at("subject", subject).json(&terms);
    call.send().await.expect(200);
}

async fn view(client: &Client, id: &str) -> Value {
    let call = client.call("get_dataset").at("id", id);
    call.send().await.expect(200)
}

/// Waits until terms up to the dataset's latest version were looked at, and what
/// is affected is so many releases.
async fn told(client: &Client, id: &str, releases: usize) -> Value {
    for _ in 0..400 {
        let now = view(client, id).await["affected_releases"].take();
        if now.as_array().expect("a list").len() == releases {
            return now;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{releases} releases should be affected");
}

async fn looked_at(server: &Server) {
    for _ in 0..400 {
        let open = server.store.releases_unlooked().await.expect("a list");
        if open.is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("nobody looked");
}

async fn an_exclusion_after_publication_is_told_to_stewards_and_in_the_ledger(server: Server) {
    let client = server
        .key(&["uploader", "steward", "consent", "auditor"])
        .await;
    let (id, release, subject) = published(&server, &client).await;
    assert_eq!(view(&client, &id).await["affected_releases"], json!([]));
    put(&client, &id, &subject, json!({"exclude": true})).await;
    let affected = told(&client, &id, 1).await;
    assert_eq!(
        (&affected[0]["release"], &affected[0]["subjects"]),
        (&json!(release), &json!(10))
    );
    let since = affected[0]["since"].clone();

    let get = async |client: &Client| {
        let call = client.call("get_release").at("id", &release);
        call.send().await.expect(200)
    };
    assert_eq!(get(&client).await["affected"], affected[0]);
    let others = server.key(&["analyst", "uploader"]).await;
    assert_eq!(get(&others).await.get("affected"), None);
    assert_eq!(view(&others, &id).await.get("affected_releases"), None);
    let page = async |client: &Client| {
        let call = client.call("get_release_report").at("id", &release);
        call.header("accept", "text/html").send().await.text()
    };
    assert!(
        page(&client)
            .await
            .contains("Up to 10 people in it have since excluded")
    );
    assert!(!page(&others).await.contains("since excluded"));

    let ledger = client.call("list_ledger").send().await.expect(200);
    let entry = &ledger["items"][0];
    assert_eq!(
        (&entry["affected_at"], &entry["affected_subjects"]),
        (&since, &json!(10))
    );
    // All tests share one recorder: another server may have spoken in between.
    let mut has_told = false;
    for _ in 0..20 {
        let metrics = server.anyone().call("get_metrics").send().await.text();
        has_told |= metrics.contains("\nvizard_releases_affected 1\n");
    }
    assert!(has_told);
    let filter = AuditFilter {
        action: Some("release_affected".into()),
        ..AuditFilter::default()
    };
    let rows = server
        .store
        .audit_list(10, None, filter)
        .await
        .expect("rows")
        .items;
    assert_eq!(rows.len(), 1);
    let detail: Value = serde_json::from_str(&rows[0].detail).expect("JSON");
    assert_eq!(detail, json!({"subjects": 10, "preference_version": 1}));
    assert_eq!(rows[0].object, Some(release.clone()));

    // Who takes the exclusion back is in it again as was promised.
    put(&client, &id, &subject, json!({})).await;
    told(&client, &id, 0).await;
    put(&client, &id, &subject, json!({"exclude": true})).await;
    told(&client, &id, 1).await;
    let withdraw = client.call("withdraw_release").at("id", &release);
    withdraw.send().await.expect(200);
    told(&client, &id, 0).await;
}

async fn terms_that_a_release_meets_affect_nothing(server: Server) {
    let client = server.key(&["uploader", "steward", "consent"]).await;
    let (id, _, subject) = published(&server, &client).await;
    put(&client, &id, "nobody", json!({"exclude": true})).await;
    put(&client, &id, &subject, json!({"max_leakage": 1.0})).await;
    looked_at(&server).await;
    assert_eq!(view(&client, &id).await["affected_releases"], json!([]));
    // The same subject's exclusion is one: it was looked, and not passed over.
    put(&client, &id, &subject, json!({"exclude": true})).await;
    told(&client, &id, 1).await;
}

/// Takes away what is kept of who is in a release: the lineage, as a purge of its
/// records does, or what it shows as well, as in a release of long ago.
async fn forget_people(server: &Server, statement: &'static str) {
    if server.url.starts_with("sqlite") {
        let mut connection = SqliteConnection::connect(&server.url)
            .await
            .expect("it opens");
        connection.execute(statement).await.expect("done");
    } else {
        let mut connection = PgConnection::connect(&server.url).await.expect("it opens");
        connection.execute(statement).await.expect("done");
    }
}

async fn a_release_whose_lineage_is_gone_is_unknown_and_not_unaffected(server: Server) {
    let client = server
        .key(&["uploader", "steward", "consent", "auditor"])
        .await;
    let (id, release, subject) = published(&server, &client).await;
    forget_people(&server, "UPDATE release SET lineage = NULL").await;
    put(&client, &id, &subject, json!({"exclude": true})).await;
    assert_eq!(told(&client, &id, 1).await[0]["subjects"], 10);
    put(&client, &id, &subject, json!({})).await;
    told(&client, &id, 0).await;
    forget_people(&server, "UPDATE release SET candidates = NULL").await;
    put(&client, &id, "p1", json!({"max_leakage": 1.0})).await;
    looked_at(&server).await;
    assert_eq!(view(&client, &id).await["affected_releases"], json!([]));
    put(&client, &id, &subject, json!({"exclude": true})).await;
    let affected = told(&client, &id, 1).await;
    assert_eq!(
        (&affected[0]["release"], &affected[0]["subjects"]),
        (&json!(release), &Value::Null)
    );
    let call = client.call("get_release_report").at("id", &release);
    let page = call.header("accept", "text/html").send().await.text();
    assert!(page.contains("People who may be in it"));
}
