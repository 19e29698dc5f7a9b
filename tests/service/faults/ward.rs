//! A made-up ward and its people: the story that every fault interrupts.
//!
//! Calls tell apart what a fault makes different: an answer, whatever it
//! says, and no answer at all. Who got none does not know what happened.

use std::time::Duration;

use hyper::Method;
use hyper::body::Bytes;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use vizard::cli::client::{Answer, Client};

use super::launch::Program;

/// Nobody said what happened: the server went away before it answered, or
/// answered that its store did (503).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;

/// A call's answer, or none.
pub type Answered<T> = Result<T, Gone>;

/// How long a job of these sizes may take on a busy machine.
pub const JOB_TIME_MAX: Duration = Duration::from_secs(60);

/// One dataset, and a key for everything that is done with it.
#[derive(Clone, Debug)]
pub struct Ward {
    pub token: String,
    /// The key of a second steward.
    pub second: String,
    pub dataset: String,
}

/// Somebody at the ward, on the line to one server.
pub struct Person {
    client: Client,
    /// A second steward on the same line.
    second: Client,
    dataset: String,
}

/// The ward's columns.
pub fn schema() -> Value {
    json!({
        "name": "wards", "subject_key": "id", "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "age", "role": "semi_sensitive", "type": "integer"},
            {"name": "ward", "role": "quasi_identifier", "type": "categorical"},
            {"name": "days", "role": "quasi_identifier", "type": "integer"},
            {"name": "cost", "role": "sensitive", "type": "integer"}]
    })
}

/// Made-up records of the subjects from `p{first}` on, spread evenly.
pub fn records(first: u64, count: u64) -> String {
    let mut text = String::from("id,age,ward,days,cost\n");
    for n in first..first + count {
        let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let (age, ward) = (mixed % 90, mixed / 90 % 7);
        let (days, cost) = (mixed / 700 % 40, mixed / 30_000 % 97);
        text += &format!("p{n},{age},w{ward},{days},{}\n", cost * 100);
    }
    text
}

/// SHA-256 in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a job is over.
pub fn is_over(job: &Value) -> bool {
    job["state"] != "queued" && job["state"] != "running"
}

impl Ward {
    /// A dataset without records, and a key for it.
    pub async fn open(server: &Program) -> Self {
        Self::with(server, &schema()).await
    }

    /// The same with another schema.
    pub async fn with(server: &Program, schema: &Value) -> Self {
        let roles = ["uploader", "consent", "steward", "analyst", "auditor"];
        let key = async |name: &str, roles: &[&str]| {
            let key = json!({"name": name, "roles": roles, "datasets": null});
            let key = server.admin().post("/v1/keys", &key).await;
            let key = key.expect("the admin makes keys");
            key["token"].as_str().expect("shown once").to_owned()
        };
        let token = key("everything", &roles).await;
        let second = key("a second steward", &["steward"]).await;
        let client = server.client(&token);
        let made = client.post("/v1/datasets", schema).await;
        let made = made.expect("a dataset is made");
        Self {
            token,
            second,
            dataset: made["id"].as_str().expect("an id").to_owned(),
        }
    }

    /// The same with `count` records.
    pub async fn filled(server: &Program, count: u64) -> Self {
        let ward = Self::open(server).await;
        let person = ward.at(server);
        let uploaded = person.upload("replace", records(0, count)).await;
        assert_eq!(uploaded.expect("an answer")["total_records"], count);
        ward
    }

    /// Somebody who talks to `server`.
    pub fn at(&self, server: &Program) -> Person {
        Person {
            client: server.client(&self.token),
            second: server.client(&self.second),
            dataset: self.dataset.clone(),
        }
    }
}

impl Person {
    /// Any request; what comes back is not judged.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        media_type: &str,
        body: impl Into<Bytes>,
    ) -> Answered<Answer> {
        let sent = self.client.send(method, path, media_type, body.into());
        known(sent.await)
    }

    /// `POST` of JSON; what comes back is not judged.
    pub async fn post(&self, path: &str, body: &Value) -> Answered<Answer> {
        let body = body.to_string();
        self.send(Method::POST, path, "application/json", body)
            .await
    }

    /// `GET`, which must succeed.
    pub async fn get(&self, path: &str) -> Answered<Value> {
        Ok(expect(200, known(self.client.get(path).await)?))
    }

    /// The path of the dataset.
    pub fn dataset_path(&self) -> String {
        format!("/v1/datasets/{}", self.dataset)
    }

    /// Sends records, whatever comes back.
    pub async fn try_upload(&self, mode: &str, text: String) -> Answered<Answer> {
        let path = format!("{}/records?mode={mode}", self.dataset_path());
        self.send(Method::POST, &path, "text/csv", text).await
    }

    /// Uploads records.
    pub async fn upload(&self, mode: &str, text: String) -> Answered<Value> {
        Ok(expect(201, self.try_upload(mode, text).await?))
    }

    /// Sets one subject's terms; answers them as they are kept.
    pub async fn put_terms(&self, subject: &str, terms: &Value) -> Answered<Value> {
        let path = format!("{}/preferences/{subject}", self.dataset_path());
        let body = terms.to_string();
        let sent = self.send(Method::PUT, &path, "application/json", body);
        Ok(expect(200, sent.await?))
    }

    /// The terms in force of one subject and their version.
    pub async fn terms(&self, subject: &str) -> Answered<Option<Value>> {
        let path = format!("{}/preferences/{subject}", self.dataset_path());
        let asked = self.send(Method::GET, &path, "application/json", "");
        let answer = asked.await?;
        Ok((answer.status != 404).then(|| expect(200, answer)))
    }

    /// Sets the terms of many subjects, as CSV.
    pub async fn import_terms(&self, text: String) -> Answered<Value> {
        let path = format!("{}/preferences", self.dataset_path());
        let sent = self.send(Method::POST, &path, "text/csv", text);
        Ok(expect(200, sent.await?))
    }

    /// A job's specification: small groups, since the ward is small.
    pub fn job(&self, publish: &str, queries: u32) -> Value {
        json!({
            "dataset": self.dataset, "engine": "lgb", "publish": publish,
            "report": {"queries": queries},
            "parameters": {"k": 3, "l": 2, "generalization": "mdp", "max_excluded": 1.0}
        })
    }

    /// Queues a job; answers its id.
    pub async fn post_job(&self, publish: &str, queries: u32) -> Answered<String> {
        let job = self.job(publish, queries);
        let queued = expect(202, self.post("/v1/jobs", &job).await?);
        Ok(queued["id"].as_str().expect("an id").to_owned())
    }

    /// Polls a job until `wanted` holds, for at most `within`.
    pub async fn job_when(
        &self,
        id: &str,
        within: Duration,
        wanted: impl Fn(&Value) -> bool,
    ) -> Answered<Value> {
        let end = tokio::time::Instant::now() + within;
        loop {
            let job = self.get(&format!("/v1/jobs/{id}")).await?;
            if wanted(&job) {
                return Ok(job);
            }
            assert!(tokio::time::Instant::now() < end, "it stays so: {job}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Everything of a list, over all of its pages.
    pub async fn all(&self, path: &str) -> Answered<Vec<Value>> {
        let mut items = Vec::new();
        let mut page = format!("{path}?limit=200");
        loop {
            let mut list = self.get(&page).await?;
            let found = list["items"].as_array_mut().expect("a list");
            items.append(found);
            let Some(cursor) = list["next_cursor"].as_str() else {
                return Ok(items);
            };
            page = format!("{path}?limit=200&cursor={cursor}");
        }
    }

    /// Publishes a release, whatever is public of the same people: the second
    /// steward does where the first one's approval is not enough.
    pub async fn publish(&self, release: &str) -> Answered<Value> {
        let path = format!("/v1/releases/{release}/publish");
        let reasoned = json!({"acknowledge_composition": true, "reason": "a test"});
        let first = self.post(&path, &reasoned).await?;
        // 409: it was approved before a fault, and the answer was lost.
        if !matches!(first.status, 202 | 409) {
            return Ok(expect(200, first));
        }
        let body = Bytes::from(reasoned.to_string());
        let second = self
            .second
            .send(Method::POST, &path, "application/json", body);
        Ok(expect(200, known(second.await)?))
    }

    /// Downloads every table of a release as CSV: name and digest. Each must
    /// be whole, and what the manifest says of it.
    pub async fn table_digests(&self, release: &str) -> Answered<Vec<(String, String)>> {
        let path = format!("/v1/releases/{release}");
        let read = self.get(&path).await?;
        let tables = read["manifest"]["tables"].as_array().expect("tables");
        assert!(!tables.is_empty(), "a release without tables: {read}");
        let mut digests = Vec::new();
        for table in tables {
            let name = table["name"].as_str().expect("a name");
            let table_path = format!("{path}/tables/{name}?format=csv");
            let got = known(self.client.get(&table_path).await)?;
            assert_eq!(got.status, 200, "{name} of {release}");
            let digest = sha256(&got.body);
            assert_eq!(table["sha256"], digest, "{name} of {release}");
            digests.push((name.to_owned(), digest));
        }
        Ok(digests)
    }
}

/// What a call came to, if anybody knows.
fn known<E>(sent: Result<Answer, E>) -> Answered<Answer> {
    let answer = sent.map_err(|_| Gone)?;
    match answer.status {
        503 => Err(Gone),
        _ => Ok(answer),
    }
}

/// The JSON of an answer that must have this status.
#[track_caller]
pub fn expect(status: u16, answer: Answer) -> Value {
    let text = String::from_utf8_lossy(&answer.body);
    assert_eq!(answer.status, status, "{text}");
    serde_json::from_slice(&answer.body).unwrap_or_else(|_| panic!("no JSON: {text}"))
}
