//! Spellings of one subject key, over HTTP: one subject everywhere, by a rule
//! that a dataset keeps for good and a population shares.

use serde_json::{Value, json};
use vizard::ids::DatasetId;
use vizard::store::{Act, NewDataset};

use super::{Server, on_both, story};
use crate::common::client::{Answer, Client};

on_both!(
    a_key_in_any_spelling_is_the_same_subject,
    a_dataset_of_before_takes_keys_as_they_are,
    a_population_has_one_rule,
    keys_that_are_nearly_those_of_records_are_counted_for_stewards,
);

/// One key in the form that is kept, and in others.
const KEPT: &str = "Zo\u{eb}";
const DECOMPOSED: &str = "Zoe\u{308}";
const UNSEEN: &str = " Zo\u{200b}\u{eb}\u{feff} ";

/// One record of the subject.
fn record(key: &str) -> String {
    format!("patient,age,sex,ward,cost\n{key},30,F,red,100\n")
}

async fn upsert(client: &Client, id: &str, csv: String) -> Answer {
    let call = client.call("upload_records").at("id", id);
    call.query("mode", "upsert")
        .body("text/csv", csv)
        .send()
        .await
}

async fn a_key_in_any_spelling_is_the_same_subject(server: Server) {
    let client = server.key(&["uploader", "consent", "steward"]).await;
    let id = story::filled_dataset(&client).await;
    story::upload(&client, &id, record(DECOMPOSED))
        .await
        .expect(201);
    let again = story::upload(&client, &id, record(UNSEEN)).await;
    let problem = again.expect_problem(422, "invalid-data");
    assert_eq!(problem["errors"][0]["code"], "duplicate_subject");
    let replaced = upsert(&client, &id, record(KEPT)).await.expect(201);
    assert_eq!(replaced["subjects"]["replaced"], 1);
    assert_eq!(replaced["total_records"], 121);

    let at = |operation, key: &str| {
        let call = client.call(operation).at("id", &id);
        call.at("subject", key)
    };
    let terms = json!({"subject": DECOMPOSED, "exclude": true});
    let set = at("put_preference", UNSEEN).json(&terms).send().await;
    assert_eq!(set.expect(200)["subject"], KEPT);
    let read = at("get_preference", DECOMPOSED).send().await.expect(200);
    assert_eq!(
        (&read["subject"], &read["version"]),
        (&json!(KEPT), &json!(1))
    );
    let csv = format!("subject,exclude\n{DECOMPOSED},false\n{UNSEEN},true\n");
    let import = client.call("import_preferences").at("id", &id);
    let taken = import.body("text/csv", csv).send().await.expect(200);
    assert_eq!(
        (&taken["accepted"], &taken["unknown_subjects"]),
        (&json!(1), &json!(0))
    );

    let request = json!({"subjects": [DECOMPOSED]});
    let made = client.call("create_subject_tokens").at("id", &id);
    let made = made.json(&request).send().await.expect(201);
    let token = made["items"][0]["token"].as_str().expect("a token");
    let own = server.anyone().with(token).call("put_my_preferences");
    own.json(&json!({"max_leakage": 0.5}))
        .send()
        .await
        .expect(200);
    let read = at("get_preference", KEPT).send().await.expect(200);
    assert_eq!(read["terms"], json!({"max_leakage": 0.5}));
    let view = client
        .call("get_dataset")
        .at("id", &id)
        .send()
        .await
        .expect(200);
    assert_eq!(view["preferences"]["subjects"], 1);
    at("delete_preference", UNSEEN).send().await.expect(200);
    let gone = at("get_preference", KEPT).send().await;
    gone.expect_problem(404, "not-found");
    let nobody = client.call("create_subject_tokens").at("id", &id);
    let nobody = nobody.json(&json!({"subjects": ["\u{200b}"]})).send().await;
    nobody.expect_problem(422, "invalid-body");
}

/// A dataset whose stored schema says nothing of keys, as those that were made
/// before there were rules.
async fn older(server: &Server, population: Option<&str>) -> String {
    let id = DatasetId::generate();
    let dataset = NewDataset {
        id,
        name: "wards".into(),
        schema: story::schema(),
        created_by: "a test".into(),
        population: population.map(str::to_owned),
    };
    let made = server
        .store
        .dataset_create(Act::by("a test"), dataset)
        .await;
    made.expect("it is made");
    id.to_string()
}

async fn a_dataset_of_before_takes_keys_as_they_are(server: Server) {
    let client = server.key(&["uploader", "consent", "steward"]).await;
    let id = older(&server, None).await;
    let ward = client.call("put_dataset_hierarchy").at("id", &id);
    let ward = ward.at("name", "ward").body("text/csv", story::HIERARCHY);
    ward.send().await.expect(201);
    story::upload(&client, &id, record(KEPT)).await.expect(201);
    story::upload(&client, &id, record(DECOMPOSED))
        .await
        .expect(201);
    let at = |operation, key: &str| client.call(operation).at("id", &id).at("subject", key);
    let set = at("put_preference", DECOMPOSED)
        .json(&json!({}))
        .send()
        .await;
    assert_eq!(set.expect(200)["subject"], DECOMPOSED);
    let other = at("get_preference", KEPT).send().await;
    other.expect_problem(404, "not-found");

    let put = async |schema: &Value| {
        let call = client.call("put_schema").at("id", &id);
        call.json(schema).send().await
    };
    let kept = put(&story::schema()).await.expect(200);
    assert_eq!(kept["schema"], story::schema());
    let refused = put(&story::kept_schema()).await;
    let problem = refused.expect_problem(409, "schema-unfit");
    assert_eq!(problem["misfits"], json!([{"code": "key_rules_changed"}]));
    // Not even before there are records: terms and tokens may be kept already.
    let empty = older(&server, None).await;
    let call = client.call("put_schema").at("id", &empty);
    let refused = call.json(&story::kept_schema()).send().await;
    refused.expect_problem(409, "schema-unfit");
}

async fn a_population_has_one_rule(server: Server) {
    let client = server.key(&["uploader"]).await;
    story::dataset(&client).await;
    older(&server, Some("older")).await;
    let create = async |population: &str, rules: Option<Value>| {
        let mut schema = story::schema();
        if let Some(rules) = rules {
            schema["subject_key_normalization"] = rules;
        }
        let call = client
            .call("create_dataset")
            .query("population", population);
        call.json(&schema).send().await
    };
    create("newer", None).await.expect(201);
    create("newer", Some(json!(["trim", "nfc", "zero_width"])))
        .await
        .expect(201);
    create("older", Some(json!([]))).await.expect(201);
    for (population, rules) in [
        ("newer", Some(json!([]))),
        ("newer", Some(json!(["nfc"]))),
        ("older", None),
    ] {
        let refused = create(population, rules).await;
        refused.expect_problem(409, "schema-unfit");
        assert!(refused.text().contains("subject_key_normalization"));
    }
}

async fn keys_that_are_nearly_those_of_records_are_counted_for_stewards(server: Server) {
    let client = server.key(&["uploader", "consent", "steward"]).await;
    let consent = server.key(&["consent"]).await;
    let id = story::filled_dataset(&client).await;
    // p1 and p12 have records; q12 has none, nor anything near.
    let csv = "subject,exclude\np1,true\nP-0012,true\np 12,true\nP-0012,false\nq12,true\n";
    let import = async |client: &Client| {
        let call = client.call("import_preferences").at("id", &id);
        call.body("text/csv", csv).send().await.expect(200)
    };
    let told = import(&client).await;
    assert_eq!(told["accepted"], 4);
    assert_eq!(
        (&told["unknown_subjects"], &told["near_misses"]),
        (&json!(3), &json!(2))
    );
    assert_eq!(import(&consent).await, json!({"accepted": 4, "version": 2}));
}
