//! Refusals of what does not fit what is stored.

use serde_json::json;

use super::Cast;
use super::refusals::{refused, wrong};
use super::sinks::Sinks;
use super::story::{self, Told};
use super::strings::Strings;

/// A schema that stored columns do not allow, and a hierarchy that lacks leaves
/// that are in use. Its leaves are no strings of anybody: the refusal names them.
pub async fn provoke(cast: &Cast, strings: &Strings, sinks: &mut Sinks, told: &Told) {
    let mut other = story::schema("ward");
    other["name"] = json!(strings.word());
    other["attributes"][4]["type"] = json!("decimal");
    let path = format!("/v1/datasets/{}/schema", told.dataset);
    refused(&cast.steward, sinks, vec![wrong("PUT", path).json(&other)]).await;
    let leaves = |names: &[&str]| -> String {
        let lines = names.iter();
        lines
            .map(|leaf| format!("{leaf};{};*\n", strings.word()))
            .collect()
    };
    let put = async |names: &[&str]| {
        let put = cast.steward.call("put_hierarchy").at("name", "wing");
        let put = put
            .query("new_version", true)
            .body("text/csv", leaves(names));
        put.send().await.expect(201);
    };
    put(&["north", "south"]).await;
    let made = cast
        .uploader
        .call("create_dataset")
        .json(&story::schema("wing"));
    let dataset = made.send().await.expect(201)["id"].clone();
    let dataset = dataset.as_str().expect("an id");
    let csv = |ward: &str| {
        let (subject, sex) = (strings.word(), strings.word());
        format!("patient,age,sex,ward,cost\n{subject},1,{sex},{ward},2\n")
    };
    let upload = cast.uploader.call("upload_records").at("id", dataset);
    upload
        .body("text/csv", csv("south"))
        .send()
        .await
        .expect(201);
    put(&["north"]).await;
    let path = format!("/v1/datasets/{dataset}/records?hierarchies=latest");
    let append = wrong("POST", path).body("text/csv", csv("north"));
    refused(&cast.steward, sinks, vec![append]).await;
}
