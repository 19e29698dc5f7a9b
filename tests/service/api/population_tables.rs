//! The population table of a dataset: put by its stewards, told in its risk and in
//! the reports of its jobs, and gone with it.

use serde_json::{Value, json};
use vizard::config::{Limits, Settings};

use super::{Server, on_both, story};
use crate::common::client::{Answer, Client};

on_both!(
    a_table_is_put_and_told_in_risk_and_reports,
    a_table_that_is_wrong_keeps_the_one_before,
    a_table_is_stale_once_the_schema_has_lost_an_attribute,
    nobody_but_a_steward_of_the_dataset_sees_that_there_is_one,
    a_table_goes_with_its_dataset,
    who_compares_with_a_table_is_in_the_audit_log,
    a_table_of_one_combination_finds_nobody_out,
);

/// Those among whom the people of the story could be, by ward and sex.
const PEOPLE: &str = "ward,sex,count,region\nred,F,400,1\norange,F,300,1\nred,M,300,1\n\
    orange,M,400,1\nblue,F,9,2\nblue,M,1,2\nviolet,F,70,2\nviolet,M,60,2\ngreen,F,1000,3\n";

async fn put(client: &Client, id: &str, csv: &str) -> Answer {
    let call = client.call("put_population_table").at("id", id);
    call.body("text/csv", csv.to_owned()).send().await
}

async fn seen(client: &Client, id: &str) -> Answer {
    client
        .call("get_population_table")
        .at("id", id)
        .send()
        .await
}

async fn risk(client: &Client, id: &str) -> Value {
    let call = client.call("get_dataset_risk").at("id", id);
    call.send().await.expect(200)["population"].clone()
}

/// A journalist's risk in the report of a release of a new job; missing where the
/// report has none.
async fn reported(client: &Client, spec: &Value) -> Option<Value> {
    let release = story::release(client, spec).await;
    let report = client.call("get_release_report").at("id", &release);
    let report = report.send().await.expect(200);
    report["measures"]
        .get("journalist_risk")
        .map(|measure| measure["value"].clone())
}

async fn a_table_is_put_and_told_in_risk_and_reports(server: Server) {
    server.work();
    let steward = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&steward).await;
    let spec = story::job(&id);
    seen(&steward, &id).await.expect_problem(404, "not-found");
    assert_eq!(risk(&steward, &id).await, Value::Null);
    assert_eq!(reported(&steward, &spec).await, None);

    let kept = put(&steward, &id, PEOPLE).await.expect(200);
    assert_eq!(
        [
            &kept["attributes"],
            &kept["people"],
            &kept["combinations"],
            &kept["unfit"]
        ],
        [
            &json!([{"name": "sex", "type": "categorical"}, {"name": "ward", "type": "categorical"}]),
            &json!(2540),
            &json!(9),
            &json!([])
        ]
    );
    assert_eq!(seen(&steward, &id).await.expect(200), kept);
    // The same people in another file are the same table.
    let mut lines: Vec<&str> = PEOPLE.lines().collect();
    lines[1..].reverse();
    let again = put(&steward, &id, &lines.join("\r\n")).await.expect(200);
    assert_eq!(again, kept);

    // Sex is semi-sensitive: compared is by ward alone, and some 30 are blue.
    let found = risk(&steward, &id).await;
    assert_eq!(found["attributes"], json!(["ward"]));
    assert_eq!(found["people"], 2540);
    let not_covered = found["not_covered"].as_u64().expect("a number");
    assert!((20..=40).contains(&not_covered), "{found}");
    assert_eq!(not_covered % 10, 0, "{found}");
    assert_eq!(found.get("journalist_mean"), None, "{found}");

    let told = reported(&steward, &spec).await.expect("a measure");
    assert_eq!(
        [&told["people"], &told["sha256"]],
        [&kept["people"], &kept["sha256"]]
    );
    let (max, mean) = (told["max"].as_f64(), told["mean"].as_f64());
    let (max, mean) = (max.expect("a risk"), mean.expect("a risk"));
    assert_eq!(max, 1.0 / told["k_map"].as_f64().expect("a number"));
    assert!(0.0 < mean && mean <= max && max <= 0.5, "{told}");

    // Among so many nobody is found, and the prosecutor's risk stays what it was.
    let many = "ward,count\nred,1000000\norange,1000000\nblue,1000000\nviolet,1000000\n";
    put(&steward, &id, many).await.expect(200);
    let told = reported(&steward, &spec).await.expect("a measure");
    assert_eq!(
        [&told["attributes"], &told["not_covered"]],
        [&json!(["ward"]), &json!(0)]
    );
    assert!(told["max"].as_f64().expect("a risk") <= 1e-6, "{told}");

    let gone = steward.call("delete_population_table").at("id", &id);
    assert_eq!(gone.send().await.expect(200)["people"], 4_000_000);
    seen(&steward, &id).await.expect_problem(404, "not-found");
    assert_eq!(reported(&steward, &spec).await, None);
}

async fn a_table_that_is_wrong_keeps_the_one_before(server: Server) {
    let steward = server.key(&["uploader", "steward"]).await;
    let id = story::dataset(&steward).await;
    let kept = put(&steward, &id, PEOPLE).await.expect(200);
    let wrong = "age,ward,count\ncanary-7,red,1\n30,red,many\n30,red\n";
    let refused = put(&steward, &id, wrong).await;
    let problem = refused.expect_problem(422, "invalid-data");
    let errors = problem["errors"].as_array().expect("a list");
    let told = |error: &Value| json!([error["line"], error["attribute"], error["code"]]);
    assert_eq!(
        errors.iter().map(told).collect::<Vec<_>>(),
        [
            json!([2, "age", "not_an_integer"]),
            json!([3, "count", "not_an_integer"]),
            json!([4, Value::Null, "wrong_cell_count"])
        ]
    );
    assert!(!refused.text().contains("canary"), "a value is told");
    for nobody in ["ward,count\n", "ward,count\nred,0\n"] {
        let refused = put(&steward, &id, nobody).await;
        let problem = refused.expect_problem(422, "invalid-data");
        let detail = problem["detail"].as_str().expect("a text");
        assert!(detail.contains("counts nobody"), "{detail}");
    }
    for nothing in ["", "patient,cost\np1,7\n", "count\n5\n"] {
        let refused = put(&steward, &id, nothing).await;
        let problem = refused.expect_problem(422, "invalid-data");
        let detail = problem["detail"].as_str().expect("a text");
        assert!(detail.contains("names no quasi-identifier"), "{detail}");
    }
    let call = steward.call("put_population_table").at("id", &id);
    let refused = call.body("application/json", "{}").send().await;
    refused.expect_problem(415, "unsupported-media-type");
    assert_eq!(seen(&steward, &id).await.expect(200), kept);
}

async fn a_table_is_stale_once_the_schema_has_lost_an_attribute(server: Server) {
    server.work();
    let steward = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&steward).await;
    put(&steward, &id, PEOPLE).await.expect(200);
    let mut schema = story::kept_schema();
    schema["attributes"][2]["role"] = json!("insensitive");
    let change = |schema: &Value| steward.call("put_schema").at("id", &id).json(schema).send();
    change(&schema).await.expect(200);
    let stale = seen(&steward, &id).await.expect(200);
    assert_eq!(
        [&stale["unfit"], &stale["people"]],
        [&json!(["sex"]), &json!(2540)]
    );
    assert_eq!(risk(&steward, &id).await, Value::Null);
    let told = reported(&steward, &story::job(&id)).await;
    assert_eq!(
        told,
        Some(Value::Null),
        "a report says that there is nothing to say"
    );
    // Nothing was lost: the schema as it was makes it good again.
    change(&story::kept_schema()).await.expect(200);
    assert_eq!(seen(&steward, &id).await.expect(200)["unfit"], json!([]));
    assert_eq!(risk(&steward, &id).await["people"], 2540);
}

async fn nobody_but_a_steward_of_the_dataset_sees_that_there_is_one(server: Server) {
    let steward = server.key(&["uploader", "steward"]).await;
    let (own, foreign) = (
        story::dataset(&steward).await,
        story::dataset(&steward).await,
    );
    put(&steward, &own, PEOPLE).await.expect(200);
    let other = server.key_for(&["steward"], json!([foreign])).await;
    seen(&other, &own).await.expect_problem(404, "not-found");
    put(&other, &own, PEOPLE)
        .await
        .expect_problem(404, "not-found");
    let gone = other.call("delete_population_table").at("id", &own);
    gone.send().await.expect_problem(404, "not-found");
    for roles in [["uploader"], ["analyst"], ["consent"], ["admin"]] {
        let client = server.key(&roles).await;
        seen(&client, &own).await.expect_problem(403, "forbidden");
        put(&client, &own, PEOPLE)
            .await
            .expect_problem(403, "forbidden");
    }
    seen(&steward, &own).await.expect(200);
}

async fn a_table_goes_with_its_dataset(server: Server) {
    let steward = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&steward).await;
    put(&steward, &id, PEOPLE).await.expect(200);
    let erased = steward.call("erase_dataset").at("id", &id).send().await;
    erased.expect(200);
    seen(&steward, &id).await.expect_problem(404, "not-found");
    let dataset = id.parse().expect("an id");
    let content = server.store.population_table_content(dataset).await;
    assert_eq!(content.expect("an answer"), None);
}

async fn who_compares_with_a_table_is_in_the_audit_log(server: Server) {
    let steward = server.key(&["uploader", "steward", "auditor"]).await;
    let id = story::filled_dataset(&steward).await;
    let compared = async || {
        let listed = steward.call("list_audit").query("dataset", &id);
        let listed = listed.query("limit", 200).send().await.expect(200);
        let rows = listed["items"].as_array().expect("items").clone();
        let is_one = |row: &&Value| row["action"] == "compare_population_table";
        rows.iter().filter(is_one).cloned().collect::<Vec<_>>()
    };
    risk(&steward, &id).await;
    assert_eq!(compared().await, Vec::<Value>::new());
    put(&steward, &id, PEOPLE).await.expect(200);
    risk(&steward, &id).await;
    risk(&steward, &id).await;
    assert_eq!(compared().await.len(), 2);
}

async fn a_table_of_one_combination_finds_nobody_out(server: Server) {
    let steward = server.key(&["uploader", "steward"]).await;
    let id = story::dataset(&steward).await;
    let upload = async |csv: String| {
        let call = steward.call("upload_records").at("id", &id);
        let call = call.query("mode", "replace").body("text/csv", csv);
        let answer = call.send().await;
        assert!(answer.status < 300, "{}", answer.text());
    };
    // A hundred who are red, and perhaps one who is blue.
    let red: String = (0..100).map(|at| format!("p{at},30,F,red,7\n")).collect();
    let red = format!("patient,age,sex,ward,cost\n{red}");
    for table in [
        "age,sex,ward,count\n30,M,blue,1000000000\n",
        "ward,count\nblue,1000000000\n",
        "ward,count\nred,1000000000\n",
    ] {
        put(&steward, &id, table).await.expect(200);
        upload(red.clone()).await;
        let mut without = risk(&steward, &id).await;
        upload(format!("{red}q,30,M,blue,9\n")).await;
        let mut with = risk(&steward, &id).await;
        // That nobody or everybody is covered is told of 100, and of 101.
        for (told, all) in [(&mut without, 100), (&mut with, 101)] {
            let not_covered = told["not_covered"].as_u64().expect("a number");
            assert!(not_covered == 0 || not_covered == all, "{told}");
            told["not_covered"] = json!(not_covered / all);
        }
        assert_eq!(with, without, "{table}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_has_as_many_combinations_as_the_limit_and_no_more() {
    let limits = Limits {
        population_combinations_max: 9,
        ..Limits::default()
    };
    let server = Server::sqlite_with(Settings {
        limits,
        ..Settings::default()
    });
    let server = server.await;
    let steward = server.key(&["uploader", "steward"]).await;
    let id = story::dataset(&steward).await;
    // A combination that comes again is no other one.
    let again = format!("{PEOPLE}red,F,1,1\n");
    assert_eq!(put(&steward, &id, &again).await.expect(200)["people"], 2541);
    let more = format!("{PEOPLE}green,M,1,1\n");
    let refused = put(&steward, &id, &more).await;
    let problem = refused.expect_problem(422, "limit-exceeded");
    assert!(
        refused.text().contains("population_combinations_max"),
        "{problem}"
    );
    assert_eq!(seen(&steward, &id).await.expect(200)["people"], 2541);
}
