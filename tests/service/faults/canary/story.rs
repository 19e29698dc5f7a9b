//! The story that goes well: a hierarchy, records, preferences, a job, a
//! release, a download; every cell and every name of a person is a string
//! that must not be found.

use std::time::Duration;

use serde_json::{Value, json};

use super::Cast;
use super::people;
use super::sinks::Sinks;
use super::strings::Strings;

/// Records of the table.
const RECORDS: usize = 400;

/// Labels of the ward's hierarchy.
const WARDS: usize = 8;

/// What the story made, for those who refuse or are refused afterwards.
pub struct Told {
    /// The dataset with its records.
    pub dataset: String,
    /// A published release of it.
    pub release: String,
    /// A draft.
    pub draft: String,
    /// Keys of subjects.
    pub subjects: Vec<String>,
    /// Labels of the hierarchy's leaves.
    pub wards: Vec<String>,
    /// The hierarchy as it was put.
    pub hierarchy: String,
}

/// A schema with every role.
pub fn schema(hierarchy: &str) -> Value {
    json!({
        "name": "wards", "subject_key": "patient",
        "attributes": [
            {"name": "patient", "role": "identifier"},
            {"name": "age", "role": "semi_sensitive", "type": "integer"},
            {"name": "sex", "role": "semi_sensitive", "type": "categorical"},
            {"name": "ward", "role": "quasi_identifier", "type": "categorical", "hierarchy": hierarchy},
            {"name": "cost", "role": "sensitive", "type": "integer"}
        ]
    })
}

/// What a job on the dataset asks for.
pub fn job(dataset: &str) -> Value {
    json!({"dataset": dataset, "engine": "lgb", "parameters": {"k": 2, "l": 2},
        "report": {"queries": 20}})
}

/// Tells the story.
pub async fn tell(cast: &Cast, strings: &Strings, sinks: &mut Sinks) -> Told {
    let wards: Vec<_> = (0..WARDS).map(|_| strings.word()).collect();
    let sides = [strings.word(), strings.word()];
    let lines = wards.iter().enumerate();
    let hierarchy: String = lines
        .map(|(at, ward)| format!("{ward};{};*\n", sides[at % 2]))
        .collect();
    let put = cast.steward.call("put_hierarchy").at("name", "ward");
    let put = put.body("text/csv", hierarchy.clone()).send().await;
    assert_eq!(put.status, 201, "{}", put.text());
    let made = cast
        .uploader
        .call("create_dataset")
        .json(&schema("ward"))
        .send()
        .await;
    let dataset = made.expect(201)["id"].as_str().expect("an id").to_owned();

    let subjects: Vec<_> = (0..RECORDS).map(|_| strings.word()).collect();
    let numbers: Vec<_> = (0..60).map(|_| strings.number()).collect();
    let sexes = [strings.word(), strings.word()];
    let mut csv = String::from("patient,age,sex,ward,cost\n");
    for (at, subject) in subjects.iter().enumerate() {
        let (age, cost) = (&numbers[at * 13 % 20], &numbers[20 + at * 37 % 40]);
        let (sex, ward) = (&sexes[at % 2], &wards[at * 7 / 3 % WARDS]);
        csv.push_str(&format!("{subject},{age},{sex},{ward},{cost}\n"));
    }
    let upload = cast.uploader.call("upload_records").at("id", &dataset);
    upload.body("text/csv", csv).send().await.expect(201);

    let mut lines = String::new();
    for subject in subjects.iter().take(300).skip(100) {
        lines.push_str(&json!({"subject": subject, "max_leakage": 0.5}).to_string());
        lines.push('\n');
    }
    // Terms of somebody who is not in the table are kept as well.
    for _ in 0..100 {
        lines.push_str(&json!({"subject": strings.word(), "exclude": true}).to_string());
        lines.push('\n');
    }
    let import = cast.consent.call("import_preferences").at("id", &dataset);
    let import = import.body("application/x-ndjson", lines).send().await;
    import.expect(200);
    let put = cast.consent.call("put_preference").at("id", &dataset);
    let put = put
        .at("subject", &subjects[0])
        .json(&json!({"exclude": true}));
    assert_eq!(put.send().await.status, 200);
    let got = cast.consent.call("get_preference").at("id", &dataset);
    got.at("subject", &subjects[0]).send().await.expect(200);

    people::put(cast, strings, (&dataset, &wards)).await;
    let release = released(cast, sinks, &job(&dataset)).await;
    let publish = cast.steward.call("publish_release").at("id", &release);
    publish.json(&json!({})).send().await.expect(200);
    for format in ["csv", "ndjson", "parquet", "arrow"] {
        let table = cast.analyst.call("get_release_table").at("id", &release);
        let table = table.at("table", "microdata").query("format", format);
        assert_eq!(table.send().await.status, 200);
    }
    let report = cast.steward.call("get_release_report").at("id", &release);
    report.send().await.expect(200);
    let draft = released(cast, sinks, &other_job(&dataset)).await;
    Told {
        dataset,
        release,
        draft,
        subjects,
        wards,
        hierarchy,
    }
}

/// A job that makes other groups of the same people: together they tell more.
fn other_job(dataset: &str) -> Value {
    let mut other = job(dataset);
    other["parameters"]["k"] = json!(7);
    other
}

/// Runs a job to its release.
pub async fn released(cast: &Cast, sinks: &mut Sinks, spec: &Value) -> String {
    let view = ended(cast, sinks, spec).await;
    assert_eq!(view["state"], "succeeded", "{view}");
    view["release"].as_str().expect("a release").to_owned()
}

/// Runs a job to its end, whichever.
pub async fn ended(cast: &Cast, sinks: &mut Sinks, spec: &Value) -> Value {
    let queued = cast
        .steward
        .call("create_job")
        .json(spec)
        .send()
        .await
        .expect(202);
    let id = queued["id"].as_str().expect("an id");
    for _ in 0..600 {
        let view = cast
            .steward
            .call("get_job")
            .at("id", id)
            .send()
            .await
            .expect(200);
        if !matches!(view["state"].as_str(), Some("queued" | "running")) {
            sinks.job(&view);
            return view;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the job did not end in time");
}
