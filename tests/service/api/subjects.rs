//! One person's rights over HTTP: a copy, a correction, an erasure.

use serde_json::{Value, json};
use vizard::ids::DatasetId;
use vizard::store::{AuditFilter, Buried};

use super::{Server, on_both, story};
use crate::common::client::{Answer, Client};

on_both!(
    a_person_gets_a_copy_of_what_is_held_and_nobody_elses,
    a_correction_is_of_one_person_alone,
    an_erased_person_is_gone_from_everything_but_what_is_public,
    an_exclusion_stays_unless_it_is_to_be_forgotten,
);

const ROLES: [&str; 3] = ["uploader", "steward", "consent"];

async fn copy(client: &Client, id: &str, subject: &str) -> Value {
    let call = client.call("get_subject").at("id", id);
    call.at("subject", subject).send().await.expect(200)
}

async fn correct(client: &Client, id: &str, form: (&str, &str)) -> Answer {
    let call = client.call("put_subject").at("id", id);
    let call = call.at("subject", "p1").body(form.0, form.1.to_owned());
    call.send().await
}

/// Terms twice and a token for a subject.
async fn consents(client: &Client, id: &str, subject: &str) {
    for terms in [json!({"max_leakage": 0.9}), json!({"max_leakage": 0.8})] {
        let call = client.call("put_preference").at("id", id);
        let call = call.at("subject", subject).json(&terms);
        call.send().await.expect(200);
    }
    let call = client.call("create_subject_tokens").at("id", id);
    let call = call.json(&json!({"subjects": [subject, "p2"]}));
    call.send().await.expect(201);
}

/// Somebody who is in a release.
async fn somebody_in(server: &Server, release: &str) -> String {
    let lineage = server
        .store
        .release_lineage(release.parse().expect("an id"));
    let lineage = String::from_utf8(lineage.await.expect("a lineage")).expect("text");
    let row = lineage.lines().nth(1).expect("a row");
    row.rsplit(',').next().expect("a subject").to_owned()
}

async fn audited(server: &Server, action: &str) -> Vec<Value> {
    let filter = AuditFilter {
        action: Some(action.to_owned()),
        ..AuditFilter::default()
    };
    let rows = server.store.audit_list(10, None, filter).await;
    let rows = rows.expect("rows").items.into_iter();
    rows.map(|row| serde_json::from_str(&row.detail).expect("JSON"))
        .collect()
}

async fn a_person_gets_a_copy_of_what_is_held_and_nobody_elses(server: Server) {
    server.work();
    let client = server.key(&ROLES).await;
    let id = story::filled_dataset(&client).await;
    let release = story::release(&client, &story::job(&id)).await;
    let subject = somebody_in(&server, &release).await;
    consents(&client, &id, &subject).await;
    let records = story::records(0, 120);
    let own = records
        .lines()
        .find(|line| line.starts_with(&format!("{subject},")));
    let own = own.expect("a record");
    let cells: Vec<&str> = own.split(',').collect();
    let csv = format!("{}\n{own}\n", records.lines().next().expect("a header"));
    let csv = csv.replace(&format!(",{}\n", cells[4]), ",77\n");
    let upsert = client
        .call("upload_records")
        .at("id", &id)
        .query("mode", "upsert");
    upsert.body("text/csv", csv).send().await.expect(201);
    story::upload(&client, &id, story::records(200, 210))
        .await
        .expect(201);

    let held = copy(&client, &id, &subject).await;
    assert_eq!(held["subject"], subject);
    let number = |at: usize| cells[at].parse::<i64>().expect("a number");
    let values = |cost: i64| json!({"patient": subject, "age": number(1), "sex": cells[2], "ward": cells[3], "cost": cost});
    assert_eq!(
        held["records"],
        json!([{"versions": [1], "values": values(number(4))}, {"versions": [2, 3], "values": values(77)}])
    );
    let terms = held["terms"].as_array().expect("a list");
    assert_eq!(terms.len(), 2);
    assert_eq!(
        (&terms[0]["version"], &terms[0]["until_version"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(
        (&terms[1]["terms"], &terms[1]["until_version"]),
        (&json!({"max_leakage": 0.8}), &Value::Null)
    );
    assert_eq!(held["tokens"].as_array().map(Vec::len), Some(1));
    assert!(!held.to_string().contains("vs_"));
    let releases = held["releases"].as_array().expect("a list");
    assert_eq!(
        (releases.len(), &releases[0]["release"]),
        (1, &json!(release))
    );
    assert_eq!(
        audited(&server, "export_subject").await,
        [json!({"records": 2, "terms": 2, "tokens": 1})]
    );

    let nothing = copy(&client, &id, "nobody").await;
    let empty =
        json!({"subject": "nobody", "records": [], "terms": [], "tokens": [], "releases": []});
    assert_eq!(nothing, empty);
}

async fn a_correction_is_of_one_person_alone(server: Server) {
    let client = server.key(&ROLES).await;
    let id = story::filled_dataset(&client).await;
    let header = "patient,age,sex,ward,cost\n";
    let csv = format!("{header}p1,41,F,red,5\n");
    let made = correct(&client, &id, ("text/csv", &csv)).await.expect(201);
    assert_eq!(
        (&made["subjects"]["replaced"], &made["total_records"]),
        (&json!(1), &json!(120))
    );
    let held = copy(&client, &id, "p1").await;
    assert_eq!(held["records"][1]["values"]["cost"], 5);
    let line = "{\"patient\": \"\u{200b}p1\", \"age\": 42, \"sex\": \"F\", \"ward\": \"red\", \"cost\": 6}\n";
    correct(&client, &id, ("application/x-ndjson", line))
        .await
        .expect(201);

    let other = copy(&client, &id, "p2").await;
    for body in ["p1,41,F,red,5\np2,41,F,red,5\n", "p2,41,F,red,5\n", ""] {
        let refused = correct(&client, &id, ("text/csv", &format!("{header}{body}"))).await;
        refused.expect_problem(422, "invalid-body");
        assert!(!refused.text().contains("p2"));
    }
    let refused = correct(
        &client,
        &id,
        ("text/csv", &format!("{header}p1,x,F,red,5\n")),
    )
    .await;
    refused.expect_problem(422, "invalid-data");
    let view = client
        .call("get_dataset")
        .at("id", &id)
        .send()
        .await
        .expect(200);
    assert_eq!(view["version"], 3);
    assert_eq!(copy(&client, &id, "p2").await["records"], other["records"]);
    assert_eq!(
        copy(&client, &id, "p1").await["records"][2]["values"]["cost"],
        6
    );
}

/// A tombstone for the records, and a row of the log without the subject.
async fn erasure_is_told(server: &Server, (id, subject): (&str, &str)) {
    let dataset: DatasetId = id.parse().expect("an id");
    let tombstones = server.store.tombstone_list().await.expect("a list");
    assert!(
        tombstones
            .iter()
            .any(|one| one.what == Buried::Records(dataset))
    );
    let rows = audited(server, "erase_subject").await;
    assert_eq!((rows.len(), &rows[0]["chunks"]), (1, &json!(2)));
    assert!(!rows[0].to_string().contains(subject));
}

async fn an_erased_person_is_gone_from_everything_but_what_is_public(server: Server) {
    server.work();
    let client = server.key(&ROLES).await;
    let id = story::filled_dataset(&client).await;
    let published = story::release(&client, &story::job(&id)).await;
    let publish = client.call("publish_release").at("id", &published);
    publish.send().await.expect(200);
    let draft = story::release(&client, &story::job(&id)).await;
    let subject = somebody_in(&server, &published).await;
    consents(&client, &id, &subject).await;
    story::upload(&client, &id, story::records(200, 210))
        .await
        .expect(201);
    let stays = copy(&client, &id, "p2").await;

    let erase = || {
        let call = client.call("erase_subject").at("id", &id);
        call.at("subject", &subject)
    };
    let (remains, complete) = server.remains();
    let erased = erase().send().await.expect(200);
    assert_eq!(
        erased,
        json!({"version": 3, "chunks": 2, "jobs_cancelled": 0, "drafts": 1, "terms": 2, "tokens": 1,
            "affected_releases": [published], "complete": complete, "remains": remains})
    );
    let held = copy(&client, &id, &subject).await;
    assert_eq!(
        (&held["records"], &held["tokens"], &held["releases"]),
        (&json!([]), &json!([]), &json!([]))
    );
    assert_eq!(held["terms"].as_array().map(Vec::len), Some(1));
    assert_eq!(held["terms"][0]["terms"], json!({"exclude": true}));
    let view = client
        .call("get_dataset")
        .at("id", &id)
        .send()
        .await
        .expect(200);
    assert_eq!(view["records"], 129);
    for old in [&view["versions"][1], &view["versions"][2]] {
        assert!(old["purged_at"].is_string(), "{old}");
    }
    // Others are as they were, in the version that is left.
    let other = copy(&client, &id, "p2").await;
    assert_eq!(other["records"][0]["versions"], json!([3]));
    assert_eq!(other["records"][0]["values"], stays["records"][0]["values"]);
    assert_eq!(
        (&other["tokens"], &other["releases"][0]["release"]),
        (&stays["tokens"], &json!(published))
    );
    let get = async |release: &str| {
        let call = client.call("get_release").at("id", release);
        call.send().await.expect(200)["state"].clone()
    };
    assert_eq!(
        (get(&published).await, get(&draft).await),
        (json!("published"), json!("withdrawn"))
    );
    let table = client.call("get_release_table").at("id", &published);
    assert_eq!(table.at("table", "microdata").send().await.status, 200);

    erasure_is_told(&server, (&id, &subject)).await;

    // A job works on what is left; a second erasure finds nothing.
    let release = story::release(&client, &story::job(&id)).await;
    assert_ne!(somebody_in(&server, &release).await, subject);
    let again = erase().send().await.expect(200);
    assert_eq!(
        (&again["version"], &again["terms"], &again["complete"]),
        (&json!(3), &json!(0), &complete)
    );
}

async fn an_exclusion_stays_unless_it_is_to_be_forgotten(server: Server) {
    let client = server.key(&ROLES).await;
    let id = story::filled_dataset(&client).await;
    let erase = async |subject: &str, keep: bool| {
        let call = client.call("erase_subject").at("id", &id);
        let call = call.at("subject", subject).query("keep_exclusion", keep);
        call.send().await.expect(200)
    };
    erase("p1", false).await;
    let held = copy(&client, &id, "p1").await;
    assert_eq!((&held["records"], &held["terms"]), (&json!([]), &json!([])));
    erase("p2", true).await;
    assert_eq!(
        copy(&client, &id, "p2").await["terms"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    erase("p2", false).await;
    assert_eq!(copy(&client, &id, "p2").await["terms"], json!([]));
    // Of somebody who never was nothing is made up.
    let nobody = erase("nobody", true).await;
    assert_eq!(
        (&nobody["version"], &nobody["chunks"]),
        (&json!(3), &json!(0))
    );
    assert_eq!(copy(&client, &id, "nobody").await["terms"], json!([]));
}
