//! What lists show to a key that is tied to datasets. Single things, and who
//! may call what, are the matrix's (`crate::matrix`).

use serde_json::json;

use super::{Server, on_both, story};

on_both!(a_tied_key_is_shown_its_own_datasets_alone);

async fn a_tied_key_is_shown_its_own_datasets_alone(server: Server) {
    let uploader = server.key(&["uploader"]).await;
    let own = story::filled_dataset(&uploader).await;
    let foreign = story::filled_dataset(&uploader).await;
    server.work();
    let everything = server.key(&["steward"]).await;
    let release = story::release(&everything, &story::job(&foreign)).await;
    everything
        .call("publish_release")
        .at("id", &release)
        .send()
        .await
        .expect(200);

    let roles = ["uploader", "steward", "consent", "analyst"];
    let tied = server.key_for(&roles, json!([own])).await;
    let listed = tied.call("list_datasets").send().await.expect(200);
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(listed["items"][0]["id"], own.as_str());
    for operation in ["list_jobs", "list_releases"] {
        let listed = tied.call(operation).send().await.expect(200);
        assert_eq!(listed["items"], json!([]), "{operation}");
        let listed = everything.call(operation).send().await.expect(200);
        assert_eq!(
            listed["items"].as_array().map(Vec::len),
            Some(1),
            "{operation}"
        );
    }
}
