//! `Idempotency-Key`: whatever is sent twice is done once.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use vizard::http::access::OPERATIONS;

use super::{Server, on_both, story};
use crate::common::client::{Answer, Call, Client};

on_both!(
    every_post_and_put_is_done_once_under_a_key,
    another_request_under_a_key_is_refused,
    a_refused_request_frees_its_key,
    a_key_is_a_short_plain_text,
    a_key_belongs_to_its_principal,
    an_erasure_forgets_the_answers_that_tell_of_people,
    a_request_that_finds_nothing_to_do_is_answered_again_too,
    a_hundred_posts_at_once_under_one_key_make_one_dataset,
);

const ROLES: [&str; 6] = [
    "analyst", "consent", "uploader", "steward", "auditor", "admin",
];

fn under(call: Call, key: &str) -> Call {
    call.header("idempotency-key", key)
}

fn is_replayed(answer: &Answer) -> bool {
    answer.header("idempotency-replayed") == Some("true")
}

/// Rows of the audit log, at most a page of them.
async fn rows(client: &Client) -> usize {
    let listed = client.call("list_audit").query("limit", 200).send();
    let listed = listed.await.expect(200);
    listed["items"].as_array().map_or(0, Vec::len)
}

/// Makes calls twice under one key each.
struct Twice<'a> {
    client: &'a Client,
    seen: BTreeSet<&'static str>,
}

impl Twice<'_> {
    async fn call(&mut self, id: &'static str, fill: impl Fn(Call) -> Call) -> Value {
        let key = format!("twice-{id}");
        let first = under(fill(self.client.call(id)), &key).send().await;
        assert!(first.status < 300, "{id}: {}", first.text());
        assert!(!is_replayed(&first), "{id}");
        let before = rows(self.client).await;
        let second = under(fill(self.client.call(id)), &key).send().await;
        assert_eq!(second.status, first.status, "{id}: {}", second.text());
        assert!(is_replayed(&second), "{id} is not marked");
        assert_eq!(second.text(), first.text(), "{id}");
        for header in ["location", "etag", "content-type"] {
            assert_eq!(second.header(header), first.header(header), "{id} {header}");
        }
        assert_eq!(rows(self.client).await, before, "{id} was done twice");
        self.seen.insert(id);
        first.json()
    }

    /// A webhook that is made, pinged and given another secret.
    async fn webhooks(&mut self) {
        let make = |call: Call| call.json(&story::webhook());
        let made = id_of(&self.call("create_webhook", make).await);
        for of_webhook in ["ping_webhook", "rotate_webhook"] {
            self.call(of_webhook, |call| call.at("id", &made)).await;
        }
    }

    /// Rows of a release that are asked for, and decided on by another steward.
    async fn reidentifications(&mut self, server: &Server, release: &str) {
        let other = server.key(&ROLES).await;
        let question = json!({"table": "microdata", "row": 1, "reason": "a test"});
        let ask = |call: Call| call.at("id", release).json(&question);
        let asked = self.call("create_reidentification", ask).await;
        let another = ask(self.client.call("create_reidentification"));
        let another = another.send().await.expect(201);
        let mut others = Twice {
            client: &other,
            seen: BTreeSet::new(),
        };
        for (id, on) in [
            ("confirm_reidentification", id_of(&asked)),
            ("refuse_reidentification", id_of(&another)),
        ] {
            others.call(id, |call| call.at("id", &on)).await;
        }
        self.seen.append(&mut others.seen);
    }

    /// An exploration that is begun and stopped.
    async fn explorations(&mut self, dataset: &str) {
        let asked = story::exploration(dataset);
        let begin = |call: Call| call.json(&asked);
        let begun = id_of(&self.call("create_exploration", begin).await);
        let stop = |call: Call| call.at("id", &begun);
        self.call("cancel_exploration", stop).await;
    }
}

fn id_of(view: &Value) -> String {
    view["id"].as_str().expect("an id").to_owned()
}

async fn every_post_and_put_is_done_once_under_a_key(server: Server) {
    let client = server.key(&ROLES).await;
    let mut twice = Twice {
        client: &client,
        seen: BTreeSet::new(),
    };
    let request = json!({"name": "etl", "roles": ["uploader"]});
    let made = twice.call("create_key", |call| call.json(&request)).await;
    // The token in the kept answer opens the door.
    let holder = server
        .anyone()
        .with(made["token"].as_str().expect("a token"));
    holder.call("list_datasets").send().await.expect(200);
    let put = |call: Call| call.at("name", "ward").body("text/csv", story::HIERARCHY);
    twice.call("put_hierarchy", put).await;
    twice.webhooks().await;
    let schema = story::schema();
    let made = twice.call("create_dataset", |call| call.json(&schema));
    let dataset = id_of(&made.await);
    let of_dataset = |call: Call| call.at("id", &dataset);
    let put = |call| {
        let call = of_dataset(call).at("name", "ward");
        call.body("text/csv", story::HIERARCHY)
    };
    twice.call("put_dataset_hierarchy", put).await;
    let days = json!({"raw_retention_days": 30});
    let retention = |call| of_dataset(call).json(&days);
    twice.call("set_retention", retention).await;
    let floors = json!({"k_min": 2});
    let floored = |call| of_dataset(call).json(&floors);
    twice.call("set_floors", floored).await;
    let csv = story::records(0, 120);
    let records = |call| of_dataset(call).body("text/csv", csv.clone());
    twice.call("upload_records", records).await;
    let people = |call| of_dataset(call).body("text/csv", "ward,count\nred,5\n");
    twice.call("put_population_table", people).await;
    let same = |call| of_dataset(call).json(&schema);
    twice.call("put_schema", same).await;
    let one = |call| of_dataset(call).at("subject", "p1");
    let correction = |call| one(call).body("text/csv", story::records(1, 2));
    twice.call("put_subject", correction).await;
    let terms = json!({"max_leakage": 0.9});
    let subject = |call| of_dataset(call).at("subject", "p1").json(&terms);
    twice.call("put_preference", subject).await;
    let import = |call| of_dataset(call).body("text/csv", "subject,max_leakage\np1,0.9\n");
    twice.call("import_preferences", import).await;
    let subjects = json!({"subjects": ["p1"]});
    let tokens = |call| of_dataset(call).json(&subjects);
    twice.call("create_subject_tokens", tokens).await;
    let spec = story::job(&dataset);
    let job = id_of(&twice.call("create_job", |call| call.json(&spec)).await);
    twice.call("cancel_job", |call| call.at("id", &job)).await;
    twice.explorations(&dataset).await;
    server.work();
    let release = story::release(&client, &spec).await;
    let of_release = |call: Call| call.at("id", &release);
    twice.call("publish_release", of_release).await;
    twice.reidentifications(&server, &release).await;
    twice.call("withdraw_release", of_release).await;
    let expected: BTreeSet<&str> = OPERATIONS
        .iter()
        .filter(|one| one.takes_idempotency_key())
        .map(|one| one.id)
        .collect();
    assert_eq!(twice.seen, expected, "an operation is not sent twice here");
    let view = client.call("get_dataset").at("id", &dataset).send().await;
    let view = view.expect(200);
    assert_eq!([&view["version"], &view["records"]], [3, 120]);
}

async fn another_request_under_a_key_is_refused(server: Server) {
    let client = server.key(&ROLES).await;
    let schema = story::schema();
    let create = || under(client.call("create_dataset"), "one");
    create().json(&schema).send().await.expect(201);
    let mut other = schema.clone();
    other["name"] = json!("another");
    let refused = create().json(&other).send().await;
    refused.expect_problem(422, "idempotency-key-reused");
    let request = json!({"name": "etl", "roles": ["uploader"]});
    let refused = under(client.call("create_key"), "one").json(&request);
    let refused = refused.send().await;
    refused.expect_problem(422, "idempotency-key-reused");
    let dataset = story::dataset(&client).await;
    let upload = |mode: &str, from| {
        let call = under(client.call("upload_records"), "two").at("id", &dataset);
        call.query("mode", mode)
            .body("text/csv", story::records(from, from + 10))
    };
    upload("append", 0).send().await.expect(201);
    let refused = upload("replace", 0).send().await;
    refused.expect_problem(422, "idempotency-key-reused");
    let refused = upload("append", 10).send().await;
    refused.expect_problem(422, "idempotency-key-reused");
    assert!(is_replayed(&upload("append", 0).send().await));
}

async fn a_refused_request_frees_its_key(server: Server) {
    let client = server.key(&ROLES).await;
    let dataset = story::dataset(&client).await;
    let upload = |csv: String| {
        let call = under(client.call("upload_records"), "again");
        call.at("id", &dataset).body("text/csv", csv).send()
    };
    let refused = upload("patient\n1\n".to_owned()).await;
    assert_eq!(refused.status, 422);
    let taken = upload(story::records(0, 10)).await;
    assert!(!is_replayed(&taken));
    taken.expect(201);
    let missing = under(client.call("create_job"), "job");
    let missing = missing.json(&story::job("dataset_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b73"));
    missing.send().await.expect_problem(404, "not-found");
    let there = under(client.call("create_job"), "job").json(&story::job(&dataset));
    there.send().await.expect(202);
}

async fn a_key_is_a_short_plain_text(server: Server) {
    let client = server.key(&ROLES).await;
    let long = "k".repeat(255);
    for key in [
        "a",
        "0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b73",
        "\"quoted\"",
        &long,
    ] {
        let made = under(client.call("create_dataset"), key).json(&story::schema());
        made.send().await.expect(201);
    }
    let longer = "k".repeat(256);
    for key in ["", "a b", "a\tb", &longer] {
        let refused = under(client.call("create_dataset"), key).json(&story::schema());
        refused.send().await.expect_problem(400, "invalid-header");
    }
    let two = under(under(client.call("create_dataset"), "a"), "b");
    let refused = two.json(&story::schema()).send().await;
    refused.expect_problem(400, "invalid-header");
}

async fn a_key_belongs_to_its_principal(server: Server) {
    let (one, other) = (server.key(&ROLES).await, server.key(&ROLES).await);
    let mut ids = BTreeSet::new();
    for client in [&one, &other] {
        let made = under(client.call("create_dataset"), "same").json(&story::schema());
        let made = made.send().await;
        assert!(!is_replayed(&made));
        ids.insert(id_of(&made.expect(201)));
    }
    assert_eq!(ids.len(), 2);
}

async fn a_request_that_finds_nothing_to_do_is_answered_again_too(server: Server) {
    let client = server.key(&ROLES).await;
    let id = story::dataset(&client).await;
    let put = || {
        let call = under(client.call("put_dataset_hierarchy"), "same");
        let call = call.at("id", &id).at("name", "ward");
        call.body("text/csv", story::HIERARCHY).send()
    };
    let (first, second) = (put().await, put().await);
    assert_eq!((first.status, second.status), (200, 200));
    assert!(!is_replayed(&first) && is_replayed(&second));
    assert_eq!(first.text(), second.text());
}

async fn a_hundred_posts_at_once_under_one_key_make_one_dataset(server: Server) {
    const ROUNDS: usize = 20;
    const POSTS: usize = 100;
    let client = server.key(&ROLES).await;
    for round in 0..ROUNDS {
        let key = format!("round-{round}");
        let posts: Vec<_> = (0..POSTS)
            .map(|_| {
                let call = under(client.call("create_dataset"), &key);
                tokio::spawn(call.json(&story::schema()).send())
            })
            .collect();
        let (mut first, mut created) = (0, BTreeSet::new());
        for post in posts {
            let answer = post.await.expect("no panic");
            match answer.status {
                201 => {
                    first += usize::from(!is_replayed(&answer));
                    created.insert(answer.text());
                }
                _ => {
                    answer.expect_problem(409, "idempotency-in-progress");
                }
            }
        }
        assert_eq!((first, created.len()), (1, 1), "round {round}");
        let again = under(client.call("create_dataset"), &key).json(&story::schema());
        assert!(
            created.contains(&again.send().await.text()),
            "round {round}"
        );
    }
    let listed = client.call("list_datasets").query("limit", 200).send();
    let listed = listed.await.expect(200);
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(ROUNDS));
}

async fn an_erasure_forgets_the_answers_that_tell_of_people(server: Server) {
    let client = server.key(&ROLES).await;
    let ids = [
        story::filled_dataset(&client).await,
        story::filled_dataset(&client).await,
    ];
    let calls = |id: &str, at: usize| {
        let terms = client
            .call("put_preference")
            .at("id", id)
            .at("subject", "p1");
        let tokens = client.call("create_subject_tokens").at("id", id);
        [
            under(
                terms.json(&json!({"exclude": true})),
                &format!("terms-{at}"),
            ),
            under(
                tokens.json(&json!({"subjects": ["p1"]})),
                &format!("tokens-{at}"),
            ),
        ]
    };
    for (at, id) in ids.iter().enumerate() {
        for again in [false, true] {
            for call in calls(id, at) {
                let answer = call.send().await;
                assert!(answer.status < 300, "{}", answer.text());
                assert_eq!(is_replayed(&answer), again);
            }
        }
    }
    let erased = client.call("erase_dataset").at("id", &ids[0]).send().await;
    erased.expect(200);
    for call in calls(&ids[0], 0) {
        call.send().await.expect_problem(404, "not-found");
    }
    for call in calls(&ids[1], 1) {
        assert!(is_replayed(&call.send().await), "of another dataset");
    }
}
