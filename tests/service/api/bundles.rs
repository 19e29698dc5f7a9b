//! All of a release as one zip.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use zip::ZipArchive;

use super::{Server, on_both, story};
use crate::common::client::{Answer, Client};

on_both!(
    a_bundle_has_what_its_reader_may_read_one_by_one,
    a_bundle_is_for_those_who_may_download_tables,
);

/// The entries of a bundle by name; `SHA256SUMS` names all others in order, and
/// holds.
fn unpacked(bundle: &Answer) -> BTreeMap<String, Vec<u8>> {
    let mut zip = ZipArchive::new(Cursor::new(bundle.body.to_vec())).expect("a zip");
    let (mut entries, mut sums) = (BTreeMap::new(), String::new());
    let last = zip.len() - 1;
    for at in 0..zip.len() {
        let mut entry = zip.by_index(at).expect("an entry");
        let (name, mut bytes) = (entry.name().expect("text").into_owned(), Vec::new());
        entry
            .read_to_end(&mut bytes)
            .expect("its bytes and their checksum");
        if at == last {
            assert_eq!(
                (name.as_str(), bytes),
                ("SHA256SUMS", sums.clone().into_bytes())
            );
            continue;
        }
        let digest = Sha256::digest(&bytes);
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        sums += &format!("{digest}  {name}\n");
        assert!(entries.insert(name, bytes).is_none(), "a name twice");
    }
    entries
}

fn document(entries: &BTreeMap<String, Vec<u8>>, name: &str) -> Value {
    serde_json::from_slice(&entries[name]).expect("JSON")
}

async fn made(server: &Server) -> (Client, Client, String) {
    server.work();
    let (steward, analyst) = (
        server.key(&["steward"]).await,
        server.key(&["analyst"]).await,
    );
    let id = story::filled_dataset(&steward).await;
    let mut schema = story::kept_schema();
    schema["attributes"][1]["title"] = json!({"de": "Alter", "en": "Age in years"});
    schema["attributes"][1]["description"] = json!({"de": "Am Tag der Aufnahme."});
    let put = steward.call("put_schema").at("id", &id).json(&schema);
    put.send().await.expect(200);
    let mut job = story::job(&id);
    job["name"] = json!(" Wards_2026 ");
    let release = story::release(&steward, &job).await;
    (steward, analyst, release)
}

async fn a_bundle_has_what_its_reader_may_read_one_by_one(server: Server) {
    let (steward, analyst, release) = made(&server).await;
    let publish = steward.call("publish_release").at("id", &release);
    publish.send().await.expect(200);
    for reader in [&steward, &analyst] {
        let of = |operation: &'static str| reader.call(operation).at("id", &release);
        let bundle = of("get_release_bundle").send().await;
        assert_eq!(
            (bundle.status, bundle.media_type()),
            (200, Some("application/zip"))
        );
        let again = of("get_release_bundle").send().await;
        assert!(again.body == bundle.body, "the same bytes again");
        let entries = unpacked(&bundle);
        let view = of("get_release").send().await.expect(200);
        let manifest = &view["manifest"];
        assert_eq!(&document(&entries, "manifest.json"), manifest);
        let report = of("get_release_report").send().await.expect(200);
        assert_eq!(document(&entries, "utility.json"), report);
        let verification = of("get_release_verification").send().await.expect(200);
        assert_eq!(document(&entries, "verification.json"), verification);
        let mut expected = vec![
            "HOWTO.md".to_owned(),
            "data_dictionary.csv".into(),
            "hierarchies.json".into(),
            "manifest.json".into(),
            "utility.json".into(),
            "verification.json".into(),
        ];
        let page = of("get_release_report")
            .header("accept", "text/html")
            .send()
            .await;
        if page.status == 200 {
            assert_eq!(entries["report.html"], page.body.to_vec());
            expected.push("report.html".into());
        }
        let list = of("get_release_hierarchies").send().await.expect(200);
        assert_eq!(document(&entries, "hierarchies.json"), list);
        for one in list["published"].as_array().expect("a list") {
            let attribute = one["attribute"].as_str().expect("a name");
            let csv = of("get_release_hierarchy")
                .at("attribute", attribute)
                .send()
                .await;
            let name = format!("hierarchies/{attribute}.csv");
            assert_eq!(entries[&name], csv.body.to_vec());
            expected.push(name);
        }
        for table in manifest["tables"].as_array().expect("tables") {
            let name = table["name"].as_str().expect("a name");
            let parquet = of("get_release_table").at("table", name);
            let parquet = parquet.query("format", "parquet").send().await;
            assert!(entries[&format!("{name}.parquet")] == parquet.body.to_vec());
            expected.push(format!("{name}.parquet"));
        }
        expected.sort();
        assert_eq!(entries.keys().cloned().collect::<Vec<_>>(), expected);
        described(&entries, manifest);
    }
    told(&server, &release).await;
}

/// Every column of every table is in the dictionary, and the page shows the
/// release by its name.
fn described(entries: &BTreeMap<String, Vec<u8>>, manifest: &Value) {
    let mut rows = csv::Reader::from_reader(entries["data_dictionary.csv"].as_slice());
    let rows = rows.records().map(|row| {
        let row = row.expect("a row");
        // What the schema says of it: English, else another language.
        if &row[3] == "age" {
            let said = (&row[4], &row[5], &row[7]);
            assert_eq!(
                said,
                ("Age in years", "semi_sensitive", "Am Tag der Aufnahme.")
            );
        }
        (row[0].to_owned(), row[1].to_owned())
    });
    let tables = manifest["tables"].as_array().expect("tables").iter();
    let columns = tables.flat_map(|table| {
        let columns = table["columns"].as_array().expect("columns").iter();
        columns.map(|column| {
            let text = |value: &Value| value.as_str().expect("a text").to_owned();
            (text(&table["name"]), text(&column["name"]))
        })
    });
    assert_eq!(rows.collect::<Vec<_>>(), columns.collect::<Vec<_>>());
    let page = String::from_utf8(entries["HOWTO.md"].clone()).expect("text");
    assert!(page.contains("\nWards\\_2026: "), "{page}");
    for title in ["pandas", "polars", "R", "DuckDB"] {
        assert!(page.contains(&format!("\n## {title}\n")), "{title}");
    }
}

/// Each bundle is in the audit log and counts in the ledger.
async fn told(server: &Server, release: &str) {
    let auditor = server.key(&["auditor"]).await;
    let log = auditor
        .call("list_audit")
        .query("action", "get_release_bundle");
    let log = log.send().await.expect(200);
    let rows = log["items"].as_array().expect("rows");
    assert_eq!(rows.len(), 4);
    let ledger = auditor.call("list_ledger").send().await.expect(200);
    let rows = ledger["items"].as_array().expect("rows").iter();
    let mut row = rows.filter(|row| row["release"] == release);
    // Four bundles, and each table of each reader once.
    let reads = row.next().expect("the release")["reads"]["tables"].as_u64();
    assert!(reads > Some(4), "{reads:?}");
}

async fn a_bundle_is_for_those_who_may_download_tables(server: Server) {
    let (steward, analyst, release) = made(&server).await;
    let of = |client: &Client| client.call("get_release_bundle").at("id", &release);
    let draft = of(&analyst).send().await;
    draft.expect_problem(404, "not-found");
    assert!(unpacked(&of(&steward).send().await).contains_key("HOWTO.md"));
    let withdraw = steward.call("withdraw_release").at("id", &release);
    withdraw.send().await.expect(200);
    let refused = of(&steward).send().await;
    refused.expect_problem(409, "release-state");
}
