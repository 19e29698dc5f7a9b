//! Populations: terms hold in every dataset of them, over HTTP.

use serde_json::{Value, json};

use super::{Server, on_both, story};
use crate::common::client::Client;

on_both!(
    a_person_excluded_in_one_dataset_is_published_from_no_other_of_the_population,
    terms_may_name_what_any_dataset_of_the_population_has,
    who_sees_not_every_dataset_learns_nothing_of_populations,
    terms_are_listed_with_a_cursor,
);

/// A dataset of the population with some of the story's records.
async fn dataset(client: &Client, population: &str, schema: &Value) -> String {
    let made = client
        .call("create_dataset")
        .query("population", population);
    let made = made.json(schema).send().await.expect(201);
    assert_eq!(made["population"], population);
    let id = made["id"].as_str().expect("an id").to_owned();
    story::put_hierarchy(client, &id, ("ward", story::HIERARCHY)).await;
    id
}

async fn filled(client: &Client, population: &str, to: u32) -> String {
    let id = dataset(client, population, &story::schema()).await;
    let uploaded = story::upload(client, &id, story::records(0, to)).await;
    uploaded.expect(201);
    id
}

async fn put(client: &Client, dataset: &str, subject: &str, terms: &Value) -> Value {
    let call = client.call("put_preference").at("id", dataset);
    let sent = call.at("subject", subject).json(terms).send().await;
    sent.expect(200)
}

/// Runs a job and publishes; who has a row.
async fn published(server: &Server, steward: &Client, dataset: &str) -> Vec<String> {
    let release = story::release(steward, &story::job(dataset)).await;
    // Releases of one population are about the same people.
    server.publish(steward, &release).await.expect(200);
    let id = release.parse().expect("an id");
    let lineage = server.store.release_lineage(id).await.expect("a lineage");
    let lineage = String::from_utf8(lineage).expect("text");
    let rows = lineage
        .lines()
        .filter_map(|row| row.strip_prefix("microdata,"));
    let subjects = rows.filter_map(|row| row.split(',').nth(1).map(str::to_owned));
    subjects.collect()
}

async fn a_person_excluded_in_one_dataset_is_published_from_no_other_of_the_population(
    server: Server,
) {
    server.work();
    let client = server.key(&["uploader", "steward", "consent"]).await;
    let (one, two) = (
        filled(&client, "clinic", 120).await,
        filled(&client, "clinic", 80).await,
    );
    let draft = story::release(&client, &story::job(&two)).await;
    put(&client, &one, "p7", &json!({"exclude": true})).await;
    let publish = client.call("publish_release").at("id", &draft).send().await;
    publish.expect_problem(409, "preferences-moved");
    let people = published(&server, &client, &two).await;
    assert!(people.len() >= 70 && !people.contains(&"p7".to_owned()));
    let later = filled(&client, "clinic", 60).await;
    let view = client.call("get_dataset").at("id", &later).send().await;
    let view = view.expect(200);
    assert_eq!(view["preferences"], json!({"version": 1, "subjects": 1}));
    assert_eq!(view["population"], "clinic");
    let people = published(&server, &client, &later).await;
    assert!(people.len() >= 50 && !people.contains(&"p7".to_owned()));

    // The person's own token speaks for all datasets too, in either direction.
    let tokens = client.call("create_subject_tokens").at("id", &later);
    let tokens = tokens.json(&json!({"subjects": ["p7"]})).send().await;
    let token = tokens.expect(201)["items"][0]["token"].clone();
    let subject = server.anyone().with(token.as_str().expect("a token"));
    let said = subject
        .call("put_my_preferences")
        .json(&json!({"max_leakage": 0.5}));
    said.send().await.expect(200);
    for id in [&one, &two, &later] {
        let read = client
            .call("get_preference")
            .at("id", id)
            .at("subject", "p7");
        assert_eq!(
            read.send().await.expect(200)["terms"],
            json!({"max_leakage": 0.5})
        );
    }
    let gone = client.call("delete_preference").at("id", &one);
    gone.at("subject", "p7").send().await.expect(200);
    let read = client
        .call("get_preference")
        .at("id", &two)
        .at("subject", "p7");
    read.send().await.expect_problem(404, "not-found");

    // A dataset of its own is asked by itself.
    let alone = story::filled_dataset(&client).await;
    let view = client.call("get_dataset").at("id", &alone).send().await;
    let view = view.expect(200);
    assert_eq!(
        (&view["population"], &view["preferences"]["subjects"]),
        (&Value::Null, &json!(0))
    );
}

async fn terms_may_name_what_any_dataset_of_the_population_has(server: Server) {
    server.work();
    let client = server.key(&["uploader", "steward", "consent"]).await;
    let one = filled(&client, "clinic", 120).await;
    let mut schema = story::schema();
    schema["attributes"][1] =
        json!({"name": "height", "role": "semi_sensitive", "type": "integer"});
    let two = dataset(&client, "clinic", &schema).await;
    let text = story::records(0, 120).replacen("age", "height", 1);
    story::upload(&client, &two, text).await.expect(201);
    let terms = json!({"sensitive": ["age", "height"], "max_leakage": {"cost": 0.5, "age": 0.4}});
    for id in [&one, &two] {
        let set = put(&client, id, "p3", &terms).await;
        assert_eq!(set["terms"], terms);
        let csv = "subject,sensitive\np4,height|age\n";
        let import = client.call("import_preferences").at("id", id);
        import.body("text/csv", csv).send().await.expect(200);
    }
    for id in [&one, &two] {
        assert!(published(&server, &client, id).await.len() > 100);
    }
    let refused = |terms: Value| {
        let call = client.call("put_preference").at("id", &one);
        call.at("subject", "p3").json(&terms).send()
    };
    for terms in [
        json!({"sensitive": ["height", "weight"]}),
        json!({"max_leakage": {"weight": 0.5}}),
        json!({"guard": {"height": ["x"]}}),
        json!({"guard": {"weight": []}}),
        json!({"sensitive": ["ward"]}),
    ] {
        refused(terms)
            .await
            .expect_problem(422, "invalid-preference");
    }
}

async fn who_sees_not_every_dataset_learns_nothing_of_populations(server: Server) {
    let client = server.key(&["uploader", "consent"]).await;
    let one = dataset(&client, "clinic", &story::schema()).await;
    let tied = server
        .key_for(&["uploader", "steward", "consent"], json!([one]))
        .await;
    let create = |name: &'static str| {
        let call = tied.call("create_dataset").query("population", name);
        call.json(&story::schema()).send()
    };
    let (there, nowhere) = (create("clinic").await, create("nowhere").await);
    there.expect_problem(403, "forbidden");
    let without_id = |mut problem: Value| {
        problem
            .as_object_mut()
            .expect("an object")
            .remove("instance");
        problem
    };
    assert_eq!(without_id(there.json()), without_id(nowhere.json()));
    for name in ["", "a\u{7}b", &"x".repeat(65)] {
        let call = client.call("create_dataset").query("population", name);
        let refused = call.json(&story::schema()).send().await;
        refused.expect_problem(400, "invalid-query");
    }
    // A key that is tied to one dataset speaks for the person, everywhere.
    let two = dataset(&client, "clinic", &story::schema()).await;
    put(&tied, &one, "p1", &json!({"exclude": true})).await;
    let read = client
        .call("get_preference")
        .at("id", &two)
        .at("subject", "p1");
    assert_eq!(
        read.send().await.expect(200)["terms"],
        json!({"exclude": true})
    );
    let hidden = tied.call("list_preferences").at("id", &two).send().await;
    hidden.expect_problem(404, "not-found");
}

async fn terms_are_listed_with_a_cursor(server: Server) {
    let client = server.key(&["uploader", "consent"]).await;
    let id = dataset(&client, "clinic", &story::schema()).await;
    let csv: String = (0..5).map(|at| format!("p{at},0.{}\n", at + 1)).collect();
    let import = client.call("import_preferences").at("id", &id);
    let import = import.body("text/csv", format!("subject,max_leakage\n{csv}"));
    import.send().await.expect(200);
    let later = dataset(&client, "clinic", &story::schema()).await;
    let (mut subjects, mut cursor) = (Vec::new(), String::new());
    loop {
        let mut call = client
            .call("list_preferences")
            .at("id", &later)
            .query("limit", 2);
        if !cursor.is_empty() {
            call = call.query("cursor", &cursor);
        }
        let page = call.send().await.expect(200);
        for item in page["items"].as_array().expect("items") {
            assert_eq!(item["version"], 1);
            let subject = item["subject"].as_str().expect("a subject").to_owned();
            let share = 0.1 + f64::from(subject[1..].parse::<u8>().expect("a number")) / 10.0;
            assert!((item["terms"]["max_leakage"].as_f64().expect("a share") - share).abs() < 1e-9);
            subjects.push(subject);
        }
        match page["next_cursor"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => break,
        }
    }
    subjects.sort_unstable();
    assert_eq!(subjects, ["p0", "p1", "p2", "p3", "p4"]);
    let refused = client
        .call("list_preferences")
        .at("id", &later)
        .query("cursor", "xyz");
    refused.send().await.expect_problem(400, "invalid-query");
    let uploader = server.key(&["uploader", "steward"]).await;
    let refused = uploader
        .call("list_preferences")
        .at("id", &later)
        .send()
        .await;
    refused.expect_problem(403, "forbidden");
}
