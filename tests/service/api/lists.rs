//! Lists: every one is paged the same way.

use std::collections::BTreeSet;

use super::{Server, on_both, story};
use crate::common::client::description;

on_both!(every_list_takes_the_same_limits_and_refuses_other_cursors);

async fn every_list_takes_the_same_limits_and_refuses_other_cursors(server: Server) {
    let roles = [
        "analyst", "uploader", "steward", "auditor", "admin", "consent",
    ];
    let client = server.key(&roles).await;
    server.work();
    let dataset = story::filled_dataset(&client).await;
    let release = story::release(&client, &story::job(&dataset)).await;
    let call = |id: &'static str| match id {
        "list_preferences" | "list_dataset_hierarchies" => client.call(id).at("id", &dataset),
        "list_reidentifications" => client.call(id).at("id", &release),
        _ => client.call(id),
    };
    let lists: BTreeSet<&'static str> = description()
        .ids()
        .filter(|id| id.starts_with("list_") && *id != "list_engines")
        .collect();
    assert!(lists.len() >= 6, "{lists:?}");
    for id in lists {
        for limit in [1, 200] {
            let page = call(id).query("limit", limit).send().await.expect(200);
            assert!(page["items"].is_array(), "{id}");
            assert!(page.get("next_cursor").is_some(), "{id}");
        }
        for (name, value) in [
            ("limit", "0"),
            ("limit", "201"),
            ("limit", "-1"),
            ("cursor", "x"),
            ("cursor", ""),
            ("page", "1"),
        ] {
            let refused = call(id).query(name, value).send().await;
            assert_eq!(refused.status, 400, "{id} {name}={value}");
            refused.expect_problem(400, "invalid-query");
        }
    }
}
