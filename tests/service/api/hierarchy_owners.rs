//! Whose hierarchies they are: a dataset's own, or the library's.

use serde_json::{Value, json};

use super::{Server, on_both, story};
use crate::common::client::{Answer, Client};

on_both!(
    a_tied_key_reads_and_changes_what_its_own_datasets_use_and_nothing_else,
    who_is_tied_to_nothing_reads_the_library_and_a_steward_alone_writes_it,
    a_change_of_the_library_reaches_an_upload_that_asks_for_it,
    a_dataset_uses_its_own_before_the_library,
    a_change_is_in_the_log_of_every_dataset_that_uses_it,
    an_erased_dataset_has_no_hierarchies,
);

const WIDER: &str = "green;cold;*\nred;warm;*\norange;warm;*\nblue;cold;*\nviolet;cold;*\n";

/// Puts into the library.
async fn put(client: &Client, name: &str, csv: &'static str) -> Answer {
    let call = client.call("put_hierarchy").at("name", name);
    let call = call.query("new_version", true).body("text/csv", csv);
    call.send().await
}

/// A dataset whose schema names `name`, without a hierarchy of its own.
async fn naming(steward: &Client, name: &str) -> String {
    let mut schema = story::schema();
    schema["attributes"][3]["hierarchy"] = json!(name);
    let made = steward.call("create_dataset").json(&schema).send().await;
    made.expect(201)["id"].as_str().expect("an id").to_owned()
}

fn names(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().expect("items").iter();
    items.filter_map(|item| item["name"].as_str()).collect()
}

async fn a_tied_key_reads_and_changes_what_its_own_datasets_use_and_nothing_else(server: Server) {
    let steward = server.key(&["steward"]).await;
    for name in ["ward", "wing"] {
        put(&steward, name, story::HIERARCHY).await.expect(201);
    }
    let (own, foreign) = (
        naming(&steward, "ward").await,
        naming(&steward, "wing").await,
    );
    let foreigns = story::put_hierarchy(&steward, &foreign, ("room", "a;*\nb;*\n")).await;
    let foreigns = foreigns.as_str().expect("a digest");
    for role in ["uploader", "steward"] {
        let tied = server.key_for(&[role], json!([own])).await;
        for name in ["ward", "wing", "new"] {
            let refused = put(&tied, name, WIDER).await;
            let problem = refused.expect_problem(403, "forbidden");
            let detail = problem["detail"].as_str().expect("a detail");
            assert!(
                detail.contains("PUT /v1/datasets/{id}/hierarchies/{name}"),
                "{detail}"
            );
        }
        let get = |name: &str| tied.call("get_hierarchy").at("name", name);
        get("ward").send().await.expect(200);
        for name in ["wing", "room"] {
            get(name).send().await.expect_problem(404, "not-found");
        }
        let list = tied.call("list_hierarchies").send().await.expect(200);
        assert_eq!(names(&list), ["ward"]);

        // Under another dataset nothing is found, under its own nothing of others.
        let of = |id: &str, name: &str| {
            let call = tied.call("get_dataset_hierarchy").at("id", id);
            call.at("name", name)
        };
        of(&own, "ward").send().await.expect(200);
        for (id, name) in [
            (&foreign, "wing"),
            (&foreign, "room"),
            (&own, "wing"),
            (&own, "room"),
        ] {
            of(id, name).send().await.expect_problem(404, "not-found");
            let by_digest = of(id, name).query("digest", foreigns).send().await;
            by_digest.expect_problem(404, "not-found");
        }
        let list = tied.call("list_dataset_hierarchies").at("id", &foreign);
        list.send().await.expect_problem(404, "not-found");
        let put = tied.call("put_dataset_hierarchy").at("id", &foreign);
        let put = put.at("name", "wing").body("text/csv", WIDER).send();
        put.await.expect_problem(404, "not-found");
    }
}

async fn who_is_tied_to_nothing_reads_the_library_and_a_steward_alone_writes_it(server: Server) {
    let steward = server.key(&["steward"]).await;
    for name in ["ward", "wing"] {
        put(&steward, name, story::HIERARCHY).await.expect(201);
    }
    let id = naming(&steward, "wing").await;
    let uploader = server.key(&["uploader"]).await;
    story::put_hierarchy(&uploader, &id, ("room", "a;*\nb;*\n")).await;
    let refused = put(&uploader, "ward", WIDER).await;
    let problem = refused.expect_problem(403, "forbidden");
    assert!(
        problem["detail"].to_string().contains("hierarchies/{name}"),
        "{problem}"
    );
    let list = uploader.call("list_hierarchies").send().await.expect(200);
    assert_eq!(names(&list), ["ward", "wing"]);
    let page = uploader.call("list_hierarchies").query("limit", 1);
    let page = page.send().await.expect(200);
    assert_eq!(names(&page), ["ward"]);
    let cursor = page["next_cursor"].as_str().expect("a cursor");
    let page = uploader.call("list_hierarchies").query("cursor", cursor);
    let page = page.send().await.expect(200);
    assert_eq!(
        (names(&page), &page["next_cursor"]),
        (vec!["wing"], &Value::Null)
    );
    // Any bytes are a place, also such as no name has.
    for (cursor, behind) in [
        ("00", vec!["ward", "wing"]),
        ("7761ff00", vec!["wing"]),
        ("7769", vec!["wing"]),
    ] {
        let page = uploader.call("list_hierarchies").query("cursor", cursor);
        assert_eq!(names(&page.send().await.expect(200)), behind, "{cursor}");
    }
    let of = uploader.call("list_dataset_hierarchies").at("id", &id);
    let list = of.send().await.expect(200);
    assert_eq!(names(&list), ["room", "wing"]);
    let is_librarys = |at: usize| list["items"][at]["library"].clone();
    assert_eq!(
        (is_librarys(0), is_librarys(1)),
        (json!(false), json!(true))
    );
}

async fn a_change_of_the_library_reaches_an_upload_that_asks_for_it(server: Server) {
    let steward = server.key(&["steward"]).await;
    let first = put(&steward, "ward", story::HIERARCHY).await.expect(201)["digest"].clone();
    let id = naming(&steward, "ward").await;
    let tied = server.key_for(&["uploader"], json!([id])).await;
    let send = async |mode: &str, hierarchies: &str, csv: &str| {
        let call = tied.call("upload_records").at("id", &id);
        let call = call.query("mode", mode).query("hierarchies", hierarchies);
        call.body("text/csv", csv.to_owned()).send().await
    };
    let said = |digest: &Value, revision: u64, changed: bool| {
        json!([{"name": "ward", "digest": digest, "revision": revision,
            "library": true, "changed": changed}])
    };
    let made = send("append", "pinned", &story::records(0, 40)).await;
    assert_eq!(made.expect(201)["hierarchies"], said(&first, 1, false));

    // Another tree, of which the uploader is told nothing.
    let other = "green;*\nred;*\norange;*\nblue;*\nviolet;*\n";
    let second = put(&steward, "ward", other).await.expect(201)["digest"].clone();
    let green = "patient,age,sex,ward,cost\nq1,30,F,green,1\n";
    for mode in ["append", "upsert", "replace"] {
        let made = send(mode, "pinned", &story::records(100, 140)).await;
        assert_eq!(
            made.expect(201)["hierarchies"],
            said(&first, 1, false),
            "{mode}"
        );
        let refused = send(mode, "pinned", green).await;
        let problem = refused.expect_problem(422, "invalid-data");
        let hints = problem["hints"].to_string();
        assert!(
            hints.contains("`ward`") && hints.contains("hierarchies=latest"),
            "{hints}"
        );
        if mode == "append" {
            // Only there: its subjects are new ones.
            send("replace", "pinned", &story::records(0, 40))
                .await
                .expect(201);
        }
    }
    let made = send("replace", "latest", green).await;
    assert_eq!(made.expect(201)["hierarchies"], said(&second, 2, true));
    let refused = send(
        "append",
        "pinned",
        "patient,age,sex,ward,cost\nq2,30,F,grey,1\n",
    )
    .await;
    let problem = refused.expect_problem(422, "invalid-data");
    assert_eq!(problem["hints"], Value::Null, "there is no later revision");
}

async fn a_dataset_uses_its_own_before_the_library(server: Server) {
    server.work();
    let steward = server.key(&["steward", "consent"]).await;
    put(&steward, "ward", "grey;*\nblack;*\n").await.expect(201);
    let (id, other) = (
        naming(&steward, "ward").await,
        naming(&steward, "ward").await,
    );
    let own = story::put_hierarchy(&steward, &id, ("ward", story::HIERARCHY)).await;
    let made = story::upload(&steward, &id, story::records(0, 120)).await;
    let made = made.expect(201)["hierarchies"][0].clone();
    assert_eq!((&made["digest"], &made["library"]), (&own, &json!(false)));
    // The other dataset has the library's, by name and by digest.
    let refused = story::upload(&steward, &other, story::records(0, 120)).await;
    refused.expect_problem(422, "invalid-data");
    let get = steward.call("get_dataset_hierarchy").at("id", &other);
    let get = get
        .at("name", "ward")
        .query("digest", own.as_str().expect("a digest"));
    get.send().await.expect_problem(404, "not-found");
    // A job, a schema and terms find it where the upload did.
    story::release(&steward, &story::job(&id)).await;
    let terms = json!({"guard": {"ward": ["warm"]}});
    let mut sensitive = story::schema();
    sensitive["attributes"][3]["role"] = json!("semi_sensitive");
    let call = steward.call("put_schema").at("id", &id);
    let call = call.query("hierarchies", "latest").json(&sensitive);
    assert_eq!(call.send().await.expect(200)["hierarchies"]["ward"], own);
    let preference = steward.call("put_preference").at("id", &id);
    preference
        .at("subject", "p1")
        .json(&terms)
        .send()
        .await
        .expect(200);
    // The library's goes on without it.
    put(&steward, "ward", WIDER).await.expect(201);
    let refused = steward
        .call("upload_records")
        .at("id", &id)
        .query("hierarchies", "latest");
    let green = "patient,age,sex,ward,cost\nq1,30,F,green,1\n";
    let refused = refused.body("text/csv", green).send().await;
    let problem = refused.expect_problem(422, "invalid-data");
    assert_eq!(problem["hints"], Value::Null);
}

/// The log's rows of an action, as an auditor tied to a dataset finds them.
async fn rows(server: &Server, dataset: &str, action: &str) -> Vec<Value> {
    let auditor = server.key_for(&["auditor"], json!([dataset])).await;
    let page = auditor
        .call("list_audit")
        .query("action", action)
        .send()
        .await;
    let page = page.expect(200);
    page["items"].as_array().expect("items").clone()
}

async fn a_change_is_in_the_log_of_every_dataset_that_uses_it(server: Server) {
    let steward = server.key(&["steward"]).await;
    let (one, two) = (
        naming(&steward, "ward").await,
        naming(&steward, "ward").await,
    );
    let shadowed = story::dataset(&steward).await;
    let stranger = naming(&steward, "wing").await;
    put(&steward, "ward", story::HIERARCHY).await.expect(201);
    let digest = put(&steward, "ward", WIDER).await.expect(201)["digest"].clone();
    for id in [&one, &two] {
        let told = rows(&server, id, "hierarchy_changed").await;
        assert_eq!(told.len(), 2, "{told:?}");
        assert_eq!(told[0]["object_id"], "ward");
        assert_eq!(told[0]["detail"], json!({"revision": 2, "digest": digest}));
        assert_eq!(rows(&server, id, "put_hierarchy").await, [Value::Null; 0]);
    }
    for id in [&shadowed, &stranger] {
        assert_eq!(
            rows(&server, id, "hierarchy_changed").await,
            [Value::Null; 0]
        );
    }
    assert_eq!(
        rows(&server, &shadowed, "put_dataset_hierarchy")
            .await
            .len(),
        1
    );
    story::upload(&steward, &one, story::records(0, 40))
        .await
        .expect(201);
    let told = rows(&server, &one, "upload_records").await;
    assert_eq!(told[0]["detail"]["hierarchies_changed"], json!({}));
    let third = put(&steward, "ward", story::HIERARCHY).await.expect(201)["digest"].clone();
    let call = steward
        .call("upload_records")
        .at("id", &one)
        .query("mode", "replace");
    let call = call.query("hierarchies", "latest");
    call.body("text/csv", story::records(0, 40))
        .send()
        .await
        .expect(201);
    let told = rows(&server, &one, "upload_records").await;
    assert_eq!(
        told[0]["detail"]["hierarchies_changed"],
        json!({"ward": third})
    );
}

async fn an_erased_dataset_has_no_hierarchies(server: Server) {
    let steward = server.key(&["steward"]).await;
    let id = story::filled_dataset(&steward).await;
    let get = async || {
        let call = steward.call("get_dataset_hierarchy").at("id", &id);
        call.at("name", "ward").send().await
    };
    get().await.expect(200);
    let erased = steward.call("erase_dataset").at("id", &id).send().await;
    assert_eq!(erased.expect(200)["hierarchies"], 1);
    get().await.expect_problem(404, "not-found");
    let late = steward.call("put_dataset_hierarchy").at("id", &id);
    let late = late.at("name", "ward").body("text/csv", story::HIERARCHY);
    late.send().await.expect_problem(404, "not-found");
}
