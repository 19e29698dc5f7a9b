//! Everything that a client can be refused for, with strings wherever a
//! client may write something.

use std::io::Write;

use serde_json::{Value, json};

use super::sinks::Sinks;
use super::story::{self, Told};
use super::strings::Strings;
use super::{Cast, floors, misfits, people};
use crate::common::client::Client;

/// A request that must be refused: method, path, headers, body.
pub struct Wrong {
    method: &'static str,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

pub fn wrong(method: &'static str, path: impl Into<String>) -> Wrong {
    Wrong {
        method,
        path: path.into(),
        headers: Vec::new(),
        body: Vec::new(),
    }
}

impl Wrong {
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub fn body(mut self, media_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self.header("content-type", media_type)
    }

    pub fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string())
    }
}

/// Sends them; each must be refused.
pub async fn refused(client: &Client, sinks: &mut Sinks, all: Vec<Wrong>) {
    for one in all {
        let answer = client
            .send_whole(one.method, &one.path, &one.headers, one.body)
            .await;
        let (method, path) = (one.method, one.path);
        assert!(answer.status >= 400, "{method} {path}: {}", answer.text());
        sinks.refusal(&answer);
    }
}

/// Provokes every refusal.
pub async fn provoke(cast: &Cast, strings: &Strings, sinks: &mut Sinks, told: &Told) {
    refused(&cast.anyone, sinks, of_strangers(strings)).await;
    refused(&cast.steward, sinks, of_paths_and_queries(strings, told)).await;
    refused(&cast.steward, sinks, of_bodies(strings, told)).await;
    refused(&cast.steward, sinks, of_hierarchies(strings, told)).await;
    refused(&cast.uploader, sinks, of_records(strings, told)).await;
    refused(&cast.consent, sinks, of_preferences(strings, told)).await;
    refused(&cast.analyst, sinks, of_tables(strings, told)).await;
    refused(&cast.steward, sinks, of_keys(cast, strings).await).await;
    floors::provoke(cast, sinks, told).await;
    people::provoke(cast, strings, sinks, told).await;
    of_states(cast, strings, sinks, told).await;
}

/// A key that another request has used, and one that is none.
async fn of_keys(cast: &Cast, strings: &Strings) -> Vec<Wrong> {
    let word = || strings.word();
    let key = word();
    let put = |leaf: &str| {
        wrong("PUT", "/v1/hierarchies/kept-once")
            .body("text/csv", format!("{leaf};*\nother;*\n"))
            .header("idempotency-key", &key)
    };
    let first = put(&word());
    let steward = &cast.steward;
    let made = steward.send_whole(first.method, &first.path, &first.headers, first.body);
    assert_eq!(made.await.status, 201);
    let none = put(&word()).header("idempotency-key", format!("{} {}", word(), word()));
    vec![put(&word()), none]
}

/// Tokens that nobody holds, and roles that may not.
fn of_strangers(strings: &Strings) -> Vec<Wrong> {
    let word = || strings.word();
    let mut all = vec![wrong("GET", "/v1/keys")];
    for token in [
        word(),
        format!("vz_{}_{}", word(), word()),
        format!("ey{}.{}.{}", word(), word(), word()),
    ] {
        all.push(wrong("GET", "/v1/keys").header("authorization", format!("Bearer {token}")));
    }
    all.push(wrong("GET", "/v1/jobs").header("authorization", format!("Basic {}", word())));
    all.push(wrong("GET", format!("/{}", word())).header("cookie", format!("a={}", word())));
    all
}

/// Names in paths and queries, methods and headers.
fn of_paths_and_queries(strings: &Strings, told: &Told) -> Vec<Wrong> {
    let word = || strings.word();
    let (dataset, release) = (&told.dataset, &told.release);
    let mut all = vec![
        wrong(
            "GET",
            format!("/{}/{}?{}={}", word(), word(), word(), word()),
        ),
        wrong("BREW", "/v1/jobs").header("user-agent", word()),
        wrong("PATCH", format!("/v1/datasets/{}", word())),
        wrong("GET", format!("/v1/datasets/{}", word())),
        wrong("GET", format!("/v1/datasets/dataset_{}", word())),
        wrong("GET", format!("/v1/jobs/{}", word())),
        wrong("GET", format!("/v1/releases/release_{}", word())),
        wrong("GET", format!("/v1/releases/{release}/tables/{}", word())),
        wrong("GET", format!("/v1/hierarchies/{}", word())),
        wrong("GET", format!("/v1/hierarchies/{}%00", word())),
        wrong("GET", format!("/v1/hierarchies/ward?digest={}", word())),
        wrong(
            "GET",
            format!(
                "/v1/jobs/job_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b70?{}",
                word()
            ),
        ),
        wrong("GET", "/v1/keys").header("x-forwarded-for", word()),
    ];
    for (path, name) in [
        ("/v1/datasets", "cursor"),
        ("/v1/datasets", "limit"),
        ("/v1/jobs", "state"),
        ("/v1/jobs", "dataset"),
        ("/v1/releases", "state"),
    ] {
        all.push(wrong("GET", format!("{path}?{name}={}", word())).header("referer", word()));
        all.push(wrong("GET", format!("{path}?{}={}", word(), word())));
    }
    let records = format!("/v1/datasets/{dataset}/records");
    all.push(wrong("POST", format!("{records}?mode={}", word())).body("text/csv", word()));
    all
}

/// JSON that is none, that does not fit, or that fits nothing here.
fn of_bodies(strings: &Strings, told: &Told) -> Vec<Wrong> {
    let word = || strings.word();
    let (dataset, release) = (&told.dataset, &told.release);
    let job = |change: &dyn Fn(&mut Value)| {
        let mut spec = story::job(dataset);
        change(&mut spec);
        wrong("POST", "/v1/jobs").json(&spec)
    };
    let schema = |change: &dyn Fn(&mut Value)| {
        let mut schema = story::schema("ward");
        change(&mut schema);
        wrong("POST", "/v1/datasets").json(&schema)
    };
    let mut all = vec![
        wrong("POST", "/v1/jobs").body("application/json", format!("{{\"{}\": {}", word(), word())),
        wrong("POST", "/v1/jobs").body(&format!("text/{}", word()), word()),
        wrong("POST", "/v1/jobs").body("application/json", vec![b' '; (1 << 20) + 1]),
        wrong("POST", format!("/v1/releases/{release}/publish")).json(&json!({word(): word()})),
        job(&|spec| spec["engine"] = word().into()),
        job(&|spec| spec["dataset"] = word().into()),
        job(&|spec| spec["dataset"] = format!("dataset_{}", word()).into()),
        job(&|spec| spec["version"] = word().into()),
        job(&|spec| spec["publish"] = word().into()),
        job(&|spec| spec["preferences"] = word().into()),
        job(&|spec| spec["report"] = json!([word()])),
        job(&|spec| spec[word()] = word().into()),
        job(&|spec| spec["parameters"]["k"] = word().into()),
        job(&|spec| spec["parameters"]["generalization"] = word().into()),
        job(&|spec| spec["parameters"]["attributes"] = json!({"sex": {"t_closeness": word()}})),
        schema(&|schema| schema["attributes"][1]["role"] = word().into()),
        schema(&|schema| schema["attributes"][1]["type"] = word().into()),
        schema(&|schema| schema["attributes"][1][word()] = word().into()),
        schema(&|schema| schema[word()] = word().into()),
        schema(&|schema| schema["missing"] = word().into()),
        schema(&|schema| schema["subject_key"] = json!([word()])),
        schema(&|schema| schema["default_preference"] = json!({"max_leakage": word()})),
        schema(&|schema| schema["default_preference"] = json!({"exclude": word()})),
    ];
    all.push(wrong("POST", "/v1/datasets").body("application/json", format!("\"{}\"", word())));
    all
}

/// Trees that are none.
fn of_hierarchies(strings: &Strings, told: &Told) -> Vec<Wrong> {
    let word = || strings.word();
    let put = |body: String| wrong("PUT", "/v1/hierarchies/other").body("text/csv", body);
    let json = |body: Value| wrong("PUT", "/v1/hierarchies/other").json(&body);
    let (one, two) = (word(), word());
    vec![
        // The name has other content already.
        wrong("PUT", "/v1/hierarchies/ward").body("text/csv", format!("{};{};*\n", word(), word())),
        put(format!("{one};{};*\n{one};{};*\n", word(), word())),
        put(format!("{};{};*\n{};{two}\n", word(), word(), word())),
        put(format!("\"{}", word())),
        put(String::new()),
        json(json!({word(): word()})),
        json(json!({"label": word(), "children": [{"label": word(), word(): []}]})),
        json(json!({"intervals": {"origin": word(), "width": 5, "fanouts": [2]}})),
        json(json!({"intervals": {"origin": 0, "width": 5, "fanouts": word()}})),
        put(told.hierarchy.clone()).header("content-encoding", word()),
        wrong("PUT", "/v1/hierarchies/other").body(&word(), word()),
        wrong(
            "PUT",
            format!("/v1/datasets/{}/hierarchies/other", told.dataset),
        )
        .body(
            "text/csv",
            format!("{one};{};*\n{one};{};*\n", word(), word()),
        ),
    ]
}

/// Records that do not fit, by every reader.
fn of_records(strings: &Strings, told: &Told) -> Vec<Wrong> {
    let word = || strings.word();
    let path = format!("/v1/datasets/{}/records", told.dataset);
    let csv = |body: String| wrong("POST", path.clone()).body("text/csv", body);
    let lines = |body: String| wrong("POST", path.clone()).body("application/x-ndjson", body);
    let head = "patient,age,sex,ward,cost\n";
    let (ward, subject) = (&told.wards[0], &told.subjects[0]);
    let row = |age: String, ward: &str| {
        format!("{},{age},{},{ward},{}\n", word(), word(), strings.number())
    };
    let many: String = (0..40).map(|_| row(word(), &word())).collect();
    let big: String = (0..6_000).map(|_| row("7".into(), ward)).collect();
    let object =
        |age: Value| json!({"patient": word(), "age": age, "sex": word(), "ward": ward, "cost": 3});
    let mut all = vec![
        csv(format!("{head}{many}")),
        csv(format!("{head}{}", row("7".into(), &word()))),
        csv(format!(
            "{head}{}",
            row(strings.number() + "." + &word(), ward)
        )),
        csv(format!("{head}{subject},7,{},{ward},8\n", word())),
        csv(format!("{head}{},7\n", word())),
        csv(format!("{head}{},7,\"{}\n", word(), word())),
        csv(format!("{head}{},,,,\n", word())),
        // Records without the line of names: cells stand where names belong.
        csv(format!(
            "{},{},{},{},{}\n",
            word(),
            word(),
            word(),
            word(),
            word()
        )),
        // Two of five names: the line may be a record all the same.
        csv(format!("patient,age,age,{},{}\n", word(), word())),
        // Names of columns are no cells, and are told; cells are not.
        csv(format!(
            "patient,age,age,ward,more\n{},7,{},{ward},{}\n",
            word(),
            word(),
            word()
        )),
        csv(format!("{head}{big}")),
        lines(object(word().into()).to_string()),
        lines(object(json!([word()])).to_string()),
        lines(object(json!({word(): 7})).to_string()),
        lines(json!({"patient": word(), word(): word()}).to_string()),
        lines(format!(
            "{{\"patient\": \"{}\", \"age\": {}",
            word(),
            word()
        )),
        lines(format!("[{}]", word())),
        lines(word()),
        csv(word()).header("content-encoding", "gzip"),
        csv(word()).header("content-encoding", "zstd"),
        csv(word()).header("content-encoding", word()),
        wrong("POST", path.clone()).body(&format!("application/{}", word()), word()),
        wrong("POST", path.clone()).body(
            "application/vnd.apache.parquet",
            format!("PAR1{}PAR1", word()),
        ),
    ];
    let tree = format!("/v1/datasets/{}/hierarchies/other", told.dataset);
    let bombs = [
        wrong("POST", path).body("text/csv", bomb(format!("{head}{},", word()))),
        wrong("PUT", tree).body("text/csv", bomb(format!("{};", word()))),
    ];
    all.extend(bombs.map(|bomb| bomb.header("content-encoding", "gzip")));
    all
}

/// Twelve MiB of blanks after a beginning, in a few KiB.
fn bomb(beginning: String) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(beginning.as_bytes()).expect("in memory");
    packed.write_all(&vec![b' '; 12 << 20]).expect("in memory");
    packed.finish().expect("in memory")
}

/// Terms that do not fit.
fn of_preferences(strings: &Strings, told: &Told) -> Vec<Wrong> {
    let word = || strings.word();
    let all = format!("/v1/datasets/{}/preferences", told.dataset);
    let one = |body: Value| wrong("PUT", format!("{all}/{}", word())).json(&body);
    let many = |media_type: &str, body: String| wrong("POST", all.clone()).body(media_type, body);
    let head = "subject,sensitive,max_leakage,max_reidentification,exclude\n";
    let own = format!("{all}/{}", told.subjects[0]);
    vec![
        wrong("GET", format!("{all}/{}", word())),
        wrong("DELETE", format!("{all}/{}", word())).header("if-match", word()),
        wrong("PUT", own.clone())
            .json(&json!({"exclude": false}))
            .header("if-match", format!("\"{}\"", word())),
        wrong("PUT", own)
            .json(&json!({"exclude": false}))
            .header("if-none-match", word()),
        one(json!({"sensitive": [word()]})),
        one(json!({"sensitive": word()})),
        one(json!({"max_leakage": word()})),
        one(json!({"exclude": word()})),
        one(json!({"guard": {word(): word()}})),
        one(json!({"guard": {"cost": word()}})),
        one(json!({"subject": word()})),
        one(json!({word(): word()})),
        one(json!([word()])),
        wrong("PUT", format!("{all}/{}", word())).body("application/json", word()),
        many(
            "text/csv",
            format!(
                "{head}{},{},0.5,,\n{},age,{},,\n",
                word(),
                word(),
                word(),
                word()
            ),
        ),
        many("text/csv", format!("{},{}\n", word(), word())),
        many("text/csv", format!("{head}{},age,,,{}\n", word(), word())),
        many(
            "application/x-ndjson",
            format!("{{\"subject\": \"{}\", \"{}\": 1}}\n", word(), word()),
        ),
        many(
            "application/x-ndjson",
            format!("{{\"subject\": {}\n", word()),
        ),
        many(&word(), word()),
    ]
}

/// Tables as nobody can have them.
fn of_tables(strings: &Strings, told: &Told) -> Vec<Wrong> {
    let word = || strings.word();
    let path = format!("/v1/releases/{}/tables/microdata", told.release);
    vec![
        wrong("GET", format!("{path}?format={}", word())),
        wrong("GET", path.clone()).header("accept", format!("text/{}", word())),
        wrong("GET", path.clone()).header("range", format!("bytes={}", strings.number() + "-")),
        wrong("GET", path).header("accept", "text/plain;q=x"),
        wrong("GET", format!("/v1/releases/{}", told.draft)),
        wrong("GET", format!("/v1/datasets/{}", told.dataset)).header("accept", word()),
        wrong("DELETE", format!("/v1/keys/{}", word())),
    ]
}

/// What is refused because of how things stand, and what jobs end with.
async fn of_states(cast: &Cast, strings: &Strings, sinks: &mut Sinks, told: &Told) {
    // Nobody has records yet, or the hierarchy.
    let empty = cast
        .uploader
        .call("create_dataset")
        .json(&story::schema("ward"));
    let empty = empty.send().await.expect(201)["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let lonely = cast
        .uploader
        .call("create_dataset")
        .json(&story::schema("nowhere"));
    let lonely = lonely.send().await.expect(201)["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let cells = format!(
        "patient,age,sex,ward,cost\n{},1,{},x,2\n",
        strings.word(),
        strings.word()
    );
    // A record without its age would be left out.
    let mut dropping = story::schema("ward");
    dropping["missing"] = json!("drop");
    let dropping = cast.uploader.call("create_dataset").json(&dropping);
    let dropping = dropping.send().await.expect(201)["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let lossy = cells.replace(",1,", ",,");
    let publish = |release: &str| wrong("POST", format!("/v1/releases/{release}/publish"));
    let all = vec![
        wrong("POST", "/v1/jobs").json(&story::job(&empty)),
        wrong("POST", format!("/v1/datasets/{lonely}/records")).body("text/csv", cells),
        wrong("POST", format!("/v1/datasets/{dropping}/records")).body("text/csv", lossy),
    ];
    refused(&cast.steward, sinks, all).await;
    // What no release can hold, and what is stopped.
    let mut spec = story::job(&told.dataset);
    spec["parameters"] = json!({"k": 3_000, "l": 300});
    let view = story::ended(cast, sinks, &spec).await;
    assert_eq!(view["state"], "failed", "{view}");
    cancelled(cast, sinks, &told.dataset).await;
    // A subject of the draft leaves before it is published.
    for subject in &told.subjects[1..40] {
        let put = cast.consent.call("put_preference").at("id", &told.dataset);
        let put = put.at("subject", subject).json(&json!({"exclude": true}));
        assert_eq!(put.send().await.status, 200);
    }
    // The release that is public comes first, then who left.
    let reason = json!({"acknowledge_composition": true, "reason": strings.word()});
    let all = vec![publish(&told.draft), publish(&told.draft).json(&reason)];
    refused(&cast.steward, sinks, all).await;
    identifying(cast, strings, sinks, told).await;
    misfits::provoke(cast, strings, sinks, told).await;
    let withdraw = cast
        .steward
        .call("withdraw_release")
        .at("id", &told.release);
    withdraw.send().await.expect(200);
    refused(&cast.steward, sinks, vec![publish(&told.release)]).await;
}

/// A job on an insensitive attribute of which everybody has a value of their own.
async fn identifying(cast: &Cast, strings: &Strings, sinks: &mut Sinks, told: &Told) {
    let mut schema = story::schema("ward");
    schema["attributes"][2]["role"] = json!("insensitive");
    let made = cast.uploader.call("create_dataset").json(&schema).send();
    let dataset = made.await.expect(201)["id"].clone();
    let dataset = dataset.as_str().expect("an id");
    let mut csv = String::from("patient,age,sex,ward,cost\n");
    for at in 0..40 {
        let (subject, own, ward) = (strings.word(), strings.word(), &told.wards[at % 2]);
        csv.push_str(&format!("{subject},{},{own},{ward},{at}\n", 20 + at % 3));
    }
    let upload = cast.uploader.call("upload_records").at("id", dataset);
    upload.body("text/csv", csv).send().await.expect(201);
    let view = story::ended(cast, sinks, &story::job(dataset)).await;
    assert_eq!(view["state"], "failed", "{view}");
}

/// A job that is cancelled while it waits behind another one.
async fn cancelled(cast: &Cast, sinks: &mut Sinks, dataset: &str) {
    let queue = async || {
        let queued = cast
            .steward
            .call("create_job")
            .json(&story::job(dataset))
            .send()
            .await;
        queued.expect(202)["id"].as_str().expect("an id").to_owned()
    };
    let (_first, second) = (queue().await, queue().await);
    cast.steward
        .call("cancel_job")
        .at("id", &second)
        .send()
        .await
        .expect(200);
    for _ in 0..600 {
        let view = cast
            .steward
            .call("get_job")
            .at("id", &second)
            .send()
            .await
            .expect(200);
        if !matches!(view["state"].as_str(), Some("queued" | "running")) {
            sinks.job(&view);
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("the job was not cancelled in time");
}
