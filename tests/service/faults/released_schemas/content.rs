//! What a store holds, as its API says it; and whether it still does.

use serde_json::{Map, Value, json};

use crate::launch::Program;
use crate::ward::{Person, Ward};

/// Everything of one store that the API tells.
pub struct Told {
    /// The dataset and the key to it.
    pub ward: Ward,
    /// The hierarchy that its schema names.
    pub hierarchy: String,
    /// Subjects that have, or once had, terms.
    pub subjects: Vec<String>,
    /// Jobs that are over.
    pub jobs: Vec<String>,
}

/// What a store held when its dump was made.
pub struct Past {
    /// Where to look.
    pub ward: Told,
    /// Jobs that were waiting or lost their worker.
    pub unfinished: Vec<String>,
    /// What was told.
    pub content: Value,
}

fn texts(list: &Value) -> Vec<String> {
    let list = list.as_array().expect("a list").iter();
    list.map(|text| text.as_str().expect("a text").to_owned())
        .collect()
}

impl Past {
    /// Reads the file beside a dump.
    pub fn of(file: &Value) -> Self {
        let text = |name: &str| file[name].as_str().expect("a text").to_owned();
        let ward = Ward {
            token: text("token"),
            // What is published there is beside nothing of the same people.
            second: text("token"),
            dataset: text("dataset"),
        };
        Self {
            ward: Told {
                ward,
                hierarchy: text("hierarchy"),
                subjects: texts(&file["subjects"]),
                jobs: texts(&file["jobs"]),
            },
            unfinished: texts(&file["unfinished"]),
            content: file["content"].clone(),
        }
    }

    /// The file beside a dump.
    pub fn file(&self) -> Value {
        json!({
            "token": self.ward.ward.token, "dataset": self.ward.ward.dataset,
            "hierarchy": self.ward.hierarchy, "subjects": self.ward.subjects,
            "jobs": self.ward.jobs, "unfinished": self.unfinished, "content": self.content,
        })
    }
}

impl Told {
    /// Asks a server for all of it.
    pub async fn read(&self, server: &Program) -> Value {
        let person = self.ward.at(server);
        let get = async |path: String| person.get(&path).await.expect("the server stays");
        let dataset = get(person.dataset_path()).await;
        let hierarchy = get(format!("/v1/hierarchies/{}", self.hierarchy)).await;
        let mut terms = Map::new();
        for subject in &self.subjects {
            let told = person.terms(subject).await.expect("the server stays");
            terms.insert(subject.clone(), told.unwrap_or_default());
        }
        let (mut jobs, mut releases) = (Map::new(), Map::new());
        for id in &self.jobs {
            let job = get(format!("/v1/jobs/{id}")).await;
            if let Some(release) = job["release"].as_str() {
                releases.insert(release.to_owned(), release_of(&person, release).await);
            }
            jobs.insert(id.clone(), job);
        }
        json!({"dataset": dataset, "hierarchy": hierarchy, "terms": terms,
            "jobs": jobs, "releases": releases})
    }
}

/// A release: manifest, documents, and the digest of each table's bytes.
async fn release_of(person: &Person, release: &str) -> Value {
    let path = format!("/v1/releases/{release}");
    let get = async |path: String| person.get(&path).await.expect("the server stays");
    let read = get(path.clone()).await;
    let tables = if read["state"] == "withdrawn" {
        Vec::new()
    } else {
        let digests = person.table_digests(release).await;
        digests.expect("the server stays")
    };
    json!({
        "release": read,
        "report": get(format!("{path}/report")).await,
        "verification": get(format!("{path}/verification")).await,
        "tables": tables,
    })
}

/// What a later program says no more, or in other words: digests of records
/// that nobody published, and figures of them.
const TAKEN_BACK: [&str; 5] = [
    ".dataset.versions.sha256",
    ".manifest.input.sha256",
    ".problem.detail",
    ".problem.strongest",
    ".problem.strongest_value",
];

fn is_taken_back(place: &str) -> bool {
    // Without positions in lists.
    let parts = place.split('[');
    let parts = parts.map(|part| part.split_once(']').map_or(part, |(_, rest)| rest));
    let place: String = parts.collect();
    TAKEN_BACK.iter().any(|end| place.ends_with(end))
}

/// Panics unless everything that `past` says is said by `present` too, which
/// may say more: a later program knows more fields.
pub fn same_and_more(past: &Value, present: &Value, at: &str) {
    match (past, present) {
        (Value::Object(past), Value::Object(present)) => {
            for (name, value) in past {
                if is_taken_back(&format!("{at}.{name}")) {
                    continue;
                }
                let now = present.get(name);
                let now = now.unwrap_or_else(|| panic!("{at}.{name} is gone"));
                same_and_more(value, now, &format!("{at}.{name}"));
            }
        }
        (Value::Array(past), Value::Array(present)) => {
            assert_eq!(past.len(), present.len(), "{at}");
            for (place, (value, now)) in past.iter().zip(present).enumerate() {
                same_and_more(value, now, &format!("{at}[{place}]"));
            }
        }
        _ => assert_eq!(past, present, "{at}"),
    }
}
