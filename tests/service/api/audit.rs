//! The audit log and the ledger as auditors see them, and what every
//! operation leaves in them.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use vizard::http::access::OPERATIONS;

use super::{Server, on_both, story};
use crate::common::client::{Answer, Call, Client};

on_both!(
    every_change_and_every_reading_of_a_release_leaves_one_row,
    a_refused_request_leaves_no_row,
    the_log_comes_in_pages_newest_first,
    the_chain_is_verified_and_an_anchor_is_compared,
    a_tied_auditor_sees_the_rows_of_its_datasets_alone,
    the_ledger_tells_of_every_release_also_of_an_erased_dataset,
);

const ROLES: [&str; 6] = [
    "analyst", "consent", "uploader", "steward", "auditor", "admin",
];

/// A client that may do everything, and the id of its key.
async fn everybody(server: &Server) -> (Client, String) {
    let client = server.key(&ROLES).await;
    let keys = client.call("list_keys").send().await.expect(200);
    let id = keys["items"][0]["id"].as_str().expect("an id").to_owned();
    (client, id)
}

/// The rows of one actor, newest first.
async fn rows_of(auditor: &Client, actor: &str) -> Vec<Value> {
    let listed = auditor.call("list_audit").query("actor", actor);
    let listed = listed.query("limit", 200).send().await.expect(200);
    listed["items"].as_array().expect("items").clone()
}

/// Makes calls, each of which must leave one row.
struct Watched<'a> {
    client: &'a Client,
    actor: &'a str,
    seen: BTreeSet<&'static str>,
}

impl Watched<'_> {
    /// What a subject says, reads and takes back with a token and a receipt.
    async fn own_choice(&mut self, server: &Server, dataset: &str) {
        let subjects = json!({"subjects": ["p1"]});
        let tokens = |call: Call| call.at("id", dataset).json(&subjects);
        let made = self.call("create_subject_tokens", tokens).await.json();
        let token = made["items"][0]["token"].as_str().expect("a token");
        let subject = server.anyone().with(token);
        let terms = json!({"max_leakage": 0.9});
        let own = subject.call("put_my_preferences").json(&terms).send().await;
        let own = own.expect(200);
        subject.call("get_my_preferences").send().await.expect(200);
        let holder = server
            .anyone()
            .with(own["receipt"].as_str().expect("a code"));
        holder.call("get_my_receipt").send().await.expect(200);
        let back = holder.call("withdraw_my_preferences").send().await;
        back.expect(200);
        let own = rows_of(self.client, "subject").await;
        let actions = own.iter().filter_map(|row| row["action"].as_str());
        let actions: Vec<&str> = actions.collect();
        let expected = [
            "withdraw_my_preferences",
            "get_my_preferences",
            "put_my_preferences",
        ];
        assert_eq!(actions, expected, "newest first");
        self.seen.extend([expected[0], expected[2]]);
    }

    async fn call(&mut self, id: &'static str, fill: impl FnOnce(Call) -> Call) -> Answer {
        self.call_as(id, id, fill).await
    }

    /// The same of an operation whose row has another one's word.
    async fn call_as(
        &mut self,
        id: &'static str,
        action: &str,
        fill: impl FnOnce(Call) -> Call,
    ) -> Answer {
        let before = rows_of(self.client, self.actor).await.len();
        let answer = fill(self.client.call(id)).send().await;
        assert!(answer.status < 300, "{id}: {}", answer.text());
        let rows = rows_of(self.client, self.actor).await;
        assert_eq!(rows.len(), before + 1, "{id} leaves one row");
        assert_eq!(rows[0]["action"], action);
        assert_eq!(rows[0]["actor"], self.actor, "{id}");
        let request = answer.header("x-request-id");
        assert_eq!(rows[0]["request_id"].as_str(), request, "{id}");
        self.seen.insert(id);
        answer
    }

    /// What an administrator says of a dataset.
    async fn rules(&mut self, dataset: &str) {
        for (id, body) in [
            ("set_retention", json!({"raw_retention_days": 30})),
            ("set_floors", json!({"k_min": 2})),
        ] {
            let set = |call: Call| call.at("id", dataset).json(&body);
            self.call(id, set).await;
        }
    }

    /// A population table that is put and taken away.
    async fn population_table(&mut self, dataset: &str) {
        let put = |call: Call| {
            call.at("id", dataset)
                .body("text/csv", "ward,count\nred,5\n")
        };
        self.call("put_population_table", put).await;
        let of_dataset = |call: Call| call.at("id", dataset);
        self.call("delete_population_table", of_dataset).await;
    }

    /// A webhook that is made, used and deleted.
    async fn webhooks(&mut self) {
        let make = |call: Call| call.json(&story::webhook());
        let made = self.call("create_webhook", make).await.json();
        let id = made["id"].as_str().expect("an id");
        for of_webhook in ["ping_webhook", "rotate_webhook", "delete_webhook"] {
            self.call(of_webhook, |call| call.at("id", id)).await;
        }
    }

    /// An exploration that is begun and stopped.
    async fn explorations(&mut self, dataset: &str) {
        let asked = story::exploration(dataset);
        let begin = |call: Call| call.json(&asked);
        let begun = self.call("create_exploration", begin).await;
        let begun = begun.json()["id"].as_str().expect("an id").to_owned();
        let stop = |call: Call| call.at("id", begun);
        self.call("cancel_exploration", stop).await;
    }

    /// Rows of a release that are asked for, and decided on by another steward.
    async fn reidentifications(&mut self, server: &Server, release: &str) {
        let (client, actor) = everybody(server).await;
        let mut other = Watched {
            client: &client,
            actor: &actor,
            seen: BTreeSet::new(),
        };
        let question = json!({"table": "microdata", "row": 1, "reason": "a test"});
        let ask = |call: Call| call.at("id", release).json(&question);
        let asked = self.call("create_reidentification", ask).await.json();
        let of_it = |call: Call| call.at("id", asked["id"].as_str().expect("an id"));
        other.call("confirm_reidentification", of_it).await;
        let told = "read_reidentified_subject";
        self.call_as("get_reidentification", told, of_it).await;
        self.seen.remove("get_reidentification");
        let asked = self.call("create_reidentification", ask).await.json();
        let of_it = |call: Call| call.at("id", asked["id"].as_str().expect("an id"));
        other.call("refuse_reidentification", of_it).await;
        let asked = self.call("create_reidentification", ask).await.json();
        let of_it = |call: Call| call.at("id", asked["id"].as_str().expect("an id"));
        self.call("withdraw_reidentification", of_it).await;
        self.seen.append(&mut other.seen);
    }

    /// A release that is published, read, set beside itself and withdrawn.
    async fn release(&mut self, server: &Server, release: &str) {
        let of_release = |call: Call| call.at("id", release);
        self.call("publish_release", of_release).await;
        let table = |call| of_release(call).at("table", "microdata");
        self.call("get_release_table", table).await;
        self.call("get_release_bundle", of_release).await;
        self.call("get_release_report", of_release).await;
        let itself = json!({"with": release});
        let compare = |call| of_release(call).json(&itself);
        // Its report is read for it.
        self.call_as("compare_releases", "get_release_report", compare)
            .await;
        let query = json!({"count": true});
        let ask = |call| of_release(call).json(&query);
        self.call("query_release", ask).await;
        self.call("get_release_verification", of_release).await;
        self.reidentifications(server, release).await;
        self.call("withdraw_release", of_release).await;
    }

    /// A person's rights: a copy, a correction, an erasure.
    async fn rights_of_one(&mut self, dataset: &str) {
        let one = |call: Call| call.at("id", dataset).at("subject", "p1");
        let correction = |call| one(call).body("text/csv", story::records(1, 2));
        self.call_as("put_subject", "upload_records", correction)
            .await;
        self.call_as("get_subject", "export_subject", one).await;
        self.seen.remove("get_subject");
        let another = |call: Call| call.at("id", dataset).at("subject", "p3");
        let erase = |call| another(call).query("keep_exclusion", false);
        self.call("erase_subject", erase).await;
    }
}

/// Operations that change something or read of a release.
fn audited() -> BTreeSet<&'static str> {
    let audited = OPERATIONS
        .iter()
        .filter(|one| one.method != "GET" || one.path.starts_with("/v1/releases/{id}/"))
        // Of what is looked at alone nothing is kept.
        .filter(|one| one.id != "inspect_file")
        // Tells what was asked, and no subject.
        .filter(|one| one.id != "list_reidentifications")
        // Nodes of hierarchies are of no record.
        .filter(|one| !one.path.contains("/hierarchies") || one.method != "GET");
    audited.map(|one| one.id).collect()
}

/// A call that puts the story's hierarchy.
fn ward(call: Call) -> Call {
    call.at("name", "ward").body("text/csv", story::HIERARCHY)
}

async fn every_change_and_every_reading_of_a_release_leaves_one_row(server: Server) {
    let (client, actor) = everybody(&server).await;
    let mut watched = Watched {
        client: &client,
        actor: &actor,
        seen: BTreeSet::new(),
    };
    let request = json!({"name": "etl", "roles": ["uploader"]});
    let made = watched.call("create_key", |call| call.json(&request)).await;
    let key = made.json()["id"].as_str().expect("an id").to_owned();
    watched.call("revoke_key", |call| call.at("id", key)).await;
    watched.webhooks().await;
    watched.call("put_hierarchy", ward).await;
    let schema = story::schema();
    let made = watched
        .call("create_dataset", |call| call.json(&schema))
        .await;
    let made = made.json();
    let dataset = made["id"].as_str().expect("an id");
    let of_dataset = |call: Call| call.at("id", dataset);
    let own = |call| ward(of_dataset(call));
    watched.call("put_dataset_hierarchy", own).await;
    watched.rules(dataset).await;
    watched.population_table(dataset).await;
    let records = |call| of_dataset(call).body("text/csv", story::records(0, 120));
    watched.call("upload_records", records).await;
    let same = |call| of_dataset(call).json(&schema);
    watched.call("put_schema", same).await;
    watched.rights_of_one(dataset).await;
    let subject = |call| of_dataset(call).at("subject", "p1");
    let terms = json!({"max_leakage": 0.9});
    watched
        .call("put_preference", |call| subject(call).json(&terms))
        .await;
    watched.call("delete_preference", subject).await;
    let many = "subject,max_leakage\np1,0.9\n";
    let import = |call| of_dataset(call).body("text/csv", many);
    watched.call("import_preferences", import).await;
    watched.own_choice(&server, dataset).await;
    let spec = story::job(dataset);
    let queued = watched.call("create_job", |call| call.json(&spec)).await;
    let job = queued.json()["id"].as_str().expect("an id").to_owned();
    watched.call("cancel_job", |call| call.at("id", job)).await;
    watched.explorations(dataset).await;
    server.work();
    let release = story::release(&client, &spec).await;
    watched.release(&server, &release).await;
    watched.call("erase_dataset", of_dataset).await;

    assert_eq!(watched.seen, audited(), "an operation is not watched here");
    let worker = rows_of(&client, "test").await;
    let did: Vec<_> = worker.iter().map(|row| row["action"].clone()).collect();
    assert_eq!(did, ["complete_job", "acquire_job"]);
    let all = client.call("list_audit").query("limit", 200).send().await;
    assert!(!all.text().contains("p1\""), "a subject is named");
}

async fn a_refused_request_leaves_no_row(server: Server) {
    let (client, actor) = everybody(&server).await;
    let dataset = story::dataset(&client).await;
    let before = rows_of(&client, &actor).await.len();
    let records = client.call("upload_records").at("id", &dataset);
    let refused = records.body("text/csv", "patient\n1\n").send().await;
    assert_eq!(refused.status, 422);
    let schema = client.call("create_dataset").json(&json!({"name": "x"}));
    assert_eq!(schema.send().await.status, 422);
    let gone = client.call("delete_preference").at("id", &dataset);
    assert_eq!(gone.at("subject", "p1").send().await.status, 404);
    let job = client.call("create_job").json(&story::job(&dataset));
    assert_eq!(job.send().await.status, 409);
    assert_eq!(rows_of(&client, &actor).await.len(), before);
}

async fn the_log_comes_in_pages_newest_first(server: Server) {
    let (client, _) = everybody(&server).await;
    for _ in 0..4 {
        let made = client.call("create_dataset").json(&story::schema());
        made.send().await.expect(201);
    }
    let (mut positions, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut call = client.call("list_audit").query("limit", 2);
        if let Some(cursor) = cursor {
            call = call.query("cursor", cursor);
        }
        let page = call.send().await.expect(200);
        for row in page["items"].as_array().expect("items") {
            positions.push(row["position"].as_u64().expect("a position"));
        }
        cursor = page["next_cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(positions, [5, 4, 3, 2, 1]);
    for (operation, name, value) in [
        ("limit", "201"),
        ("limit", "0"),
        ("cursor", "x"),
        ("cursor", "-1"),
        ("dataset", "job_1"),
        ("actors", "x"),
    ]
    .map(|(name, value)| (client.call("list_audit"), name, value))
    {
        let refused = operation.query(name, value).send().await;
        refused.expect_problem(400, "invalid-query");
    }
}

async fn the_chain_is_verified_and_an_anchor_is_compared(server: Server) {
    let auditor = server.key(&["auditor"]).await;
    let verified = auditor.call("verify_audit").send().await.expect(200);
    assert_eq!(verified["valid"], true);
    assert_eq!(
        (&verified["rows"], &verified["broken"]),
        (&json!(1), &Value::Null)
    );
    let anchor = verified["anchor"].as_str().expect("an anchor").to_owned();
    server.key(&["analyst"]).await;
    let verify = |anchor: &str| auditor.call("verify_audit").query("anchor", anchor);
    let again = verify(&anchor).send().await.expect(200);
    assert_eq!((&again["valid"], &again["rows"]), (&json!(true), &json!(2)));
    let later = anchor.replacen("1:", "9:", 1);
    let cut = verify(&later).send().await.expect(200);
    let truncated = json!({"position": 3, "problem": "truncated"});
    assert_eq!((&cut["valid"], &cut["broken"]), (&json!(false), &truncated));
    let other = format!("1:{}", "00".repeat(32));
    let rewritten = verify(&other).send().await.expect(200);
    assert_eq!(
        rewritten["broken"],
        json!({"position": 1, "problem": "rewritten"})
    );
    for text in ["", "1", "1:00", &format!("x:{}", "00".repeat(32))] {
        verify(text)
            .send()
            .await
            .expect_problem(400, "invalid-query");
    }
}

async fn a_tied_auditor_sees_the_rows_of_its_datasets_alone(server: Server) {
    let uploader = server.key(&["uploader", "steward"]).await;
    let own = story::filled_dataset(&uploader).await;
    let foreign = story::filled_dataset(&uploader).await;
    server.work();
    for dataset in [&own, &foreign] {
        story::release(&uploader, &story::job(dataset)).await;
    }
    let tied = server.key_for(&["auditor"], json!([own])).await;
    let rows = tied.call("list_audit").send().await.expect(200);
    let rows = rows["items"].as_array().expect("items").clone();
    assert!(!rows.is_empty());
    assert!(rows.iter().all(|row| row["dataset"] == own.as_str()));
    let hidden = tied.call("list_audit").query("dataset", &foreign);
    assert_eq!(hidden.send().await.expect(200)["items"], json!([]));
    let ledger = tied.call("list_ledger").send().await.expect(200);
    let ledger = ledger["items"].as_array().expect("items").clone();
    assert_eq!(ledger.len(), 1);
    assert_eq!(ledger[0]["dataset"], own.as_str());
}

async fn the_ledger_tells_of_every_release_also_of_an_erased_dataset(server: Server) {
    let (client, actor) = everybody(&server).await;
    let dataset = story::filled_dataset(&client).await;
    server.work();
    let mut releases = Vec::new();
    for _ in 0..3 {
        releases.push(story::release(&client, &story::job(&dataset)).await);
    }
    for release in &releases[..2] {
        server.publish(&client, release).await.expect(200);
    }
    let table = client.call("get_release_table").at("id", &releases[0]);
    table.at("table", "microdata").send().await;
    let manifest = client.call("get_release").at("id", &releases[0]);
    let manifest = manifest.send().await.expect(200)["manifest"].clone();
    let withdrawn = client.call("withdraw_release").at("id", &releases[0]);
    withdrawn.send().await.expect(200);
    let erased = client.call("erase_dataset").at("id", &dataset);
    erased.send().await.expect(200);
    let ledger = client.call("list_ledger").send().await.expect(200);
    let rows = ledger["items"].as_array().expect("items");
    let told: Vec<_> = rows
        .iter()
        .map(|row| (row["release"].as_str(), row["state"].as_str()))
        .collect();
    let states = ["withdrawn", "published", "erased"];
    let expected: Vec<_> = releases
        .iter()
        .zip(states)
        .map(|(id, state)| (Some(id.as_str()), Some(state)))
        .rev()
        .collect();
    assert_eq!(told, expected);
    let first = &rows[2];
    for name in ["guarantees", "records", "excluded", "suppressed", "engine"] {
        assert_eq!(first[name], manifest[name], "{name}");
    }
    assert_eq!(first["withdrawn"]["by"], actor.as_str());
    assert_eq!(first["requested_by"], actor.as_str());
    assert_eq!(first["reads"]["tables"], 1);
}
