//! A schema that is changed without a new upload.

use serde_json::{Value, json};
use vizard::ids::DatasetId;

use super::{Server, on_both, story};
use crate::common::client::{Answer, Client};

on_both!(
    roles_and_titles_change_without_an_upload_and_older_versions_keep_theirs,
    what_the_columns_do_not_allow_is_refused_by_attribute,
    a_hierarchy_changes_where_every_stored_value_is_a_leaf,
    what_terms_bind_to_keeps_its_protection,
    what_is_protected_since_is_published_from_no_older_version,
    a_default_preference_holds_for_what_is_published_since,
    a_dataset_without_records_takes_any_schema,
    a_change_is_guarded_audited_and_done_once,
);

async fn change(client: &Client, id: &str, schema: &Value) -> Answer {
    let call = client.call("put_schema").at("id", id);
    call.json(schema).send().await
}

async fn view(client: &Client, id: &str) -> Value {
    let call = client.call("get_dataset").at("id", id);
    call.send().await.expect(200)
}

/// The story's schema, where an attribute has another role.
fn with_role(mut schema: Value, at: usize, role: &str) -> Value {
    schema["attributes"][at]["role"] = json!(role);
    schema
}

/// Attribute and code of each misfit.
fn misfits(refused: &Answer) -> Vec<(String, String)> {
    let problem = refused.expect_problem(409, "schema-unfit");
    let misfits = problem["misfits"].as_array().expect("misfits");
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let both = misfits
        .iter()
        .map(|misfit| (word(&misfit["attribute"]), word(&misfit["code"])));
    both.collect()
}

/// The attributes that a release guarantees diversity for.
async fn diverse(client: &Client, release: &str) -> Vec<String> {
    let call = client.call("get_release").at("id", release);
    let view = call.send().await.expect(200);
    let guarantees = view["manifest"]["guarantees"].as_array().expect("some");
    let diverse = guarantees.iter().filter(|one| one["kind"] == "l_diversity");
    diverse
        .map(|one| one["attribute"].as_str().expect("a name").to_owned())
        .collect()
}

async fn roles_and_titles_change_without_an_upload_and_older_versions_keep_theirs(server: Server) {
    server.work();
    let client = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&client).await;
    let mut schema = with_role(story::schema(), 1, "quasi_identifier");
    schema["name"] = json!("wards of 2026");
    schema["missing"] = json!("category");
    let changed = change(&client, &id, &schema).await;
    let changed = changed.expect(200);
    assert_eq!(
        (&changed["version"], &changed["records"], &changed["name"]),
        (&json!(2), &json!(120), &json!("wards of 2026"))
    );
    let now = view(&client, &id).await;
    // The rules for subject keys stay, also where the new schema leaves them out.
    schema["subject_key_normalization"] = story::kept_schema()["subject_key_normalization"].take();
    assert_eq!(now["schema"], schema);
    let latest = &now["versions"][0];
    assert_eq!(
        (
            &latest["mode"],
            &latest["records"],
            &latest["total_records"]
        ),
        (&json!("schema"), &json!(0), &json!(120))
    );
    let dataset: DatasetId = id.parse().expect("an id");
    let chunks = async |version| server.store.version_chunk_list(dataset, version).await;
    assert_eq!(
        chunks(1).await.expect("chunks"),
        chunks(2).await.expect("chunks")
    );

    let latest = story::release(&client, &story::job(&id)).await;
    assert_eq!(diverse(&client, &latest).await, ["sex", "cost"]);
    let mut older = story::job(&id);
    older["version"] = json!(1);
    let older = story::release(&client, &older).await;
    assert_eq!(diverse(&client, &older).await, ["age", "sex", "cost"]);
    // What comes next is read by the new schema: a cost may be missing now.
    let csv = "patient,age,sex,ward,cost\nq1,30,F,red,\n";
    let added = story::upload(&client, &id, csv.into()).await.expect(201);
    assert_eq!(added["total_records"], 121);
}

/// The story's schema after a change.
fn changed(change: impl FnOnce(&mut Value)) -> Value {
    let mut schema = story::schema();
    change(&mut schema);
    schema
}

/// Schemas that stored columns do not allow: attribute and code of each misfit.
fn unfit() -> Vec<(Value, Vec<(&'static str, &'static str)>)> {
    let text = json!({"name": "town", "role": "insensitive", "type": "categorical"});
    vec![
        (
            changed(|schema| schema["attributes"][4]["type"] = json!("decimal")),
            vec![("cost", "type_changed")],
        ),
        (
            changed(|schema| {
                schema["attributes"]
                    .as_array_mut()
                    .expect("some")
                    .push(text)
            }),
            vec![("town", "attribute_added")],
        ),
        (
            changed(|schema| {
                schema["attributes"].as_array_mut().expect("some").pop();
            }),
            vec![("cost", "attribute_removed")],
        ),
        (
            changed(|schema| schema["attributes"][2]["name"] = json!("gender")),
            vec![("gender", "attribute_added"), ("sex", "attribute_removed")],
        ),
        (
            changed(|schema| {
                schema["attributes"]
                    .as_array_mut()
                    .expect("some")
                    .swap(1, 4)
            }),
            vec![("cost", "attribute_moved"), ("age", "attribute_moved")],
        ),
        (
            changed(|schema| schema["subject_key_normalization"] = json!(["trim"])),
            vec![("", "key_rules_changed")],
        ),
        (
            changed(|schema| schema["multiplicity"] = json!("many")),
            vec![("", "multiplicity_changed")],
        ),
        (
            changed(|schema| {
                schema["subject_key"] = json!("sex");
                schema["attributes"][2]["role"] = json!("identifier");
            }),
            vec![
                ("sex", "subject_key_changed"),
                ("sex", "identifier_changed"),
            ],
        ),
    ]
}

async fn what_the_columns_do_not_allow_is_refused_by_attribute(server: Server) {
    let client = server.key(&["uploader"]).await;
    let id = story::filled_dataset(&client).await;
    for (schema, expected) in unfit() {
        let refused = change(&client, &id, &schema).await;
        let found = misfits(&refused);
        let found: Vec<_> = found
            .iter()
            .map(|(name, code)| (&**name, &**code))
            .collect();
        assert_eq!(found, expected, "{schema}");
    }
    let invalid = changed(|schema| schema["subject_key"] = json!("nobody"));
    let refused = change(&client, &id, &invalid).await;
    refused.expect_problem(422, "invalid-schema");
    let unknown = changed(|schema| schema["attributes"][2]["hierarchy"] = json!("unheard"));
    let refused = change(&client, &id, &unknown).await;
    let problem = refused.expect_problem(409, "hierarchy-unknown");
    assert_eq!(problem["hierarchy"], "unheard");
    assert_eq!(view(&client, &id).await["version"], 1);
}

async fn a_hierarchy_changes_where_every_stored_value_is_a_leaf(server: Server) {
    server.work();
    let client = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&client).await;
    let put = async |name: &str, csv: &str| {
        let put = client
            .call("put_dataset_hierarchy")
            .at("id", &id)
            .at("name", name);
        let put = put
            .query("new_version", true)
            .body("text/csv", csv.to_owned());
        put.send().await.expect(201)["digest"].clone()
    };
    let latest = async |schema: &Value| {
        let call = client.call("put_schema").at("id", &id);
        let call = call.query("hierarchies", "latest").json(schema);
        call.send().await
    };
    let first = view(&client, &id).await["hierarchies"]["ward"].clone();

    // Without violet: a quarter of the records has nowhere to go.
    put("ward", "red;warm;*\norange;warm;*\nblue;cold;*\n").await;
    let refused = latest(&story::schema()).await;
    let expected = [("ward".to_owned(), "not_in_hierarchy".to_owned())];
    assert_eq!(misfits(&refused), expected);
    let count = refused.json()["misfits"][0]["count"].as_u64();
    let violet = story::records(0, 120).matches(",violet,").count() as u64;
    assert_eq!(count, Some(violet));
    assert!(!refused.text().contains("violet"), "{}", refused.text());
    // The pinned one stays as long as nobody asks for another.
    change(&client, &id, &story::schema()).await.expect(200);
    assert_eq!(view(&client, &id).await["hierarchies"]["ward"], first);

    // All leaves under other nodes: the version is read by it as a whole.
    let other = "red;low;*\norange;low;*\nblue;low;*\nviolet;high;*\ngreen;high;*\n";
    let other = put("ward", other).await;
    latest(&story::schema()).await.expect(200);
    assert_eq!(view(&client, &id).await["hierarchies"]["ward"], other);

    // A tree over numbers, where there was none; one that lacks some.
    let ages: String = (0..80)
        .map(|age| format!("{age};half {};*\n", age / 40))
        .collect();
    put("age", &ages).await;
    let mut schema = story::schema();
    schema["attributes"][1]["hierarchy"] = json!("age");
    change(&client, &id, &schema).await.expect(200);
    let few: String = (20..40).map(|age| format!("{age};few;*\n")).collect();
    put("few", &few).await;
    schema["attributes"][1]["hierarchy"] = json!("few");
    let refused = change(&client, &id, &schema).await;
    let expected = [("age".to_owned(), "not_in_hierarchy".to_owned())];
    assert_eq!(misfits(&refused), expected);
    schema["attributes"][1]
        .as_object_mut()
        .expect("it")
        .remove("hierarchy");
    change(&client, &id, &schema).await.expect(200);
    let release = story::release(&client, &story::job(&id)).await;
    let call = client.call("get_release").at("id", &release);
    assert_eq!(
        call.send().await.expect(200)["manifest"]["input"]["version"],
        5
    );
}

async fn what_terms_bind_to_keeps_its_protection(server: Server) {
    let client = server.key(&["uploader", "consent"]).await;
    let id = story::dataset(&client).await;
    let schema = with_role(story::schema(), 3, "semi_sensitive");
    change(&client, &id, &schema).await.expect(200);
    story::upload(&client, &id, story::records(0, 120))
        .await
        .expect(201);
    let terms = async |subject: &str, terms: Value| {
        let put = client.call("put_preference").at("id", &id);
        put.at("subject", subject)
            .json(&terms)
            .send()
            .await
            .expect(200);
    };
    let demoted = with_role(schema.clone(), 1, "quasi_identifier");
    terms("p1", json!({"sensitive": ["age"]})).await;
    terms("p2", json!({"max_leakage": {"age": 0.4}})).await;
    terms("p3", json!({"guard": {"ward": ["warm"]}})).await;
    let refused = change(&client, &id, &demoted).await;
    let bound = ("age".to_owned(), "bound_by_terms".to_owned());
    assert_eq!(misfits(&refused), std::slice::from_ref(&bound));
    assert_eq!(refused.json()["misfits"][0]["count"], 2);
    assert!(!refused.text().contains("p1"));
    // Nobody named it, and yet: a plain bound speaks for all that is protected.
    let sex = with_role(schema.clone(), 2, "quasi_identifier");
    terms("p4", json!({"max_leakage": 0.4})).await;
    let refused = change(&client, &id, &sex).await;
    assert_eq!(misfits(&refused)[0].0, "sex");
    // Sensitive for everyone is no less than sensitive for who asks.
    let stricter = with_role(schema.clone(), 1, "sensitive");
    change(&client, &id, &stricter).await.expect(200);
    // And sensitive for who asks is less: p2 and p4 name no value of theirs.
    let refused = change(&client, &id, &schema).await;
    assert_eq!(misfits(&refused), std::slice::from_ref(&bound));
    assert_eq!(refused.json()["misfits"][0]["count"], 2);

    // A guarded node may not vanish from under a guard.
    let put = client
        .call("put_dataset_hierarchy")
        .at("id", &id)
        .at("name", "ward");
    let flat = "red;*\norange;*\nblue;*\nviolet;*\n";
    let put = put.query("new_version", true).body("text/csv", flat);
    put.send().await.expect(201);
    let call = client.call("put_schema").at("id", &id);
    let refused = call
        .query("hierarchies", "latest")
        .json(&stricter)
        .send()
        .await;
    let expected = [("ward".to_owned(), "guarded_node_missing".to_owned())];
    assert_eq!(misfits(&refused), expected);
    for subject in ["p1", "p2", "p3", "p4"] {
        let call = client.call("delete_preference").at("id", &id);
        call.at("subject", subject).send().await.expect(200);
    }
    change(&client, &id, &demoted).await.expect(200);
}

async fn what_is_protected_since_is_published_from_no_older_version(server: Server) {
    server.work();
    let client = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&client).await;
    let draft = story::release(&client, &story::job(&id)).await;
    let schema = with_role(story::schema(), 3, "sensitive");
    change(&client, &id, &schema).await.expect(200);
    let publish = client.call("publish_release").at("id", &draft);
    let refused = publish.json(&json!({})).send().await;
    refused.expect_problem(409, "preferences-moved");
    let mut older = story::job(&id);
    older["version"] = json!(1);
    let refused = client.call("create_job").json(&older).send().await;
    let problem = refused.expect_problem(422, "invalid-parameter");
    assert_eq!(problem["parameter"], "version");
    assert!(problem["detail"].as_str().expect("one").contains("`ward`"));
    // From the latest version it is published.
    let draft = story::release(&client, &story::job(&id)).await;
    let publish = client.call("publish_release").at("id", &draft);
    publish.json(&json!({})).send().await.expect(200);
}

async fn a_default_preference_holds_for_what_is_published_since(server: Server) {
    server.work();
    let client = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&client).await;
    let draft = story::release(&client, &story::job(&id)).await;
    let mut schema = story::schema();
    schema["default_preference"] = json!({"exclude": true});
    change(&client, &id, &schema).await.expect(200);
    let publish = client.call("publish_release").at("id", &draft);
    let refused = publish.json(&json!({})).send().await;
    refused.expect_problem(409, "preferences-moved");
    let mut older = story::job(&id);
    older["version"] = json!(1);
    let refused = client.call("create_job").json(&older).send().await;
    let problem = refused.expect_problem(422, "invalid-parameter");
    assert_eq!(problem["parameter"], "version");
    // Without it everybody may be published again.
    change(&client, &id, &story::schema()).await.expect(200);
    let publish = client.call("publish_release").at("id", &draft);
    publish.json(&json!({})).send().await.expect(200);
}

async fn a_dataset_without_records_takes_any_schema(server: Server) {
    let client = server.key(&["uploader"]).await;
    let id = story::dataset(&client).await;
    let schema = json!({"name": "stays", "subject_key": "person", "multiplicity": "many",
        "attributes": [
            {"name": "person", "role": "identifier"},
            {"name": "days", "role": "sensitive", "type": "integer"}]});
    let changed = change(&client, &id, &schema).await.expect(200);
    assert_eq!(
        (&changed["version"], &changed["records"]),
        (&json!(1), &json!(0))
    );
    let csv = "person,days\na,1\na,2\nb,3\n";
    let added = story::upload(&client, &id, csv.into()).await.expect(201);
    assert_eq!(
        (&added["version"], &added["total_records"]),
        (&json!(2), &json!(3))
    );
}

async fn a_change_is_guarded_audited_and_done_once(server: Server) {
    let client = server.key(&["uploader", "auditor"]).await;
    let id = story::filled_dataset(&client).await;
    let tag = |answer: &Answer| answer.header("etag").expect("a tag").to_owned();
    let read = client.call("get_dataset").at("id", &id).send().await;
    let first = tag(&read);
    let schema = with_role(story::schema(), 2, "sensitive");
    let send = async |key: &str, tag: &str| {
        let call = client.call("put_schema").at("id", &id).json(&schema);
        let call = call.header("if-match", tag);
        call.header("idempotency-key", key).send().await
    };
    let done = send("one", &first).await;
    assert_eq!(done.status, 200, "{}", done.text());
    let again = send("one", &first).await;
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!((tag(&again), again.text()), (tag(&done), done.text()));
    send("two", &first)
        .await
        .expect_problem(412, "precondition-failed");
    send("three", &tag(&done)).await.expect(200);
    let rows = client.call("list_audit").query("action", "put_schema");
    let rows = rows.send().await.expect(200);
    let versions: Vec<&Value> = rows["items"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| &row["detail"]["version"])
        .collect();
    assert_eq!(versions, [3, 2]);
}
