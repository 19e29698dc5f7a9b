//! SIGKILL while a change of terms is written to the datasets of a population,
//! one after the other: all of them have it, or none.

use std::time::Duration;

use hyper::Method;
use serde_json::{Value, json};

use super::launch::Program;
use super::place::{Place, on_each_store};
use super::ward::{Person, Ward, expect, schema};

const MEMBERS: &str = "/v1/datasets?population=clinic";

/// How long a process that was killed may take to be gone.
const END_MAX: Duration = Duration::from_secs(20);

/// Terms and versions of every dataset there is.
async fn state(person: &Person) -> Vec<Value> {
    let mut state = Vec::new();
    for dataset in person.all("/v1/datasets").await.expect("an answer") {
        let id = dataset["id"].as_str().expect("an id");
        let path = format!("/v1/datasets/{id}/preferences");
        let terms = person.get(&path).await.expect("an answer");
        state.push(json!([id, dataset["preferences"], terms["items"]]));
    }
    state
}

/// Each place in the middle of a change, and the change: method, end of the
/// path below a dataset, media type and body.
const CHANGES: [(&str, Method, &str, &str, &str); 3] = [
    (
        "preference-of-a-dataset-written",
        Method::PUT,
        "/preferences/p1",
        "application/json",
        r#"{"exclude": true}"#,
    ),
    (
        "preferences-of-a-dataset-written",
        Method::POST,
        "/preferences",
        "text/csv",
        "subject,exclude\np1,true\np2,true\n",
    ),
    (
        "preference-of-a-dataset-removed",
        Method::DELETE,
        "/preferences/p1",
        "application/json",
        "",
    ),
];

async fn a_population_has_a_change_of_terms_everywhere_or_nowhere(place: Place) {
    let serve = || place.launch().with("VIZARD_WORKERS", 0);
    let killed_at = |name: &str| serve().failpoint(name).serve();
    let gone = |mut server: Program| server.end(END_MAX);
    let server = serve().serve();
    let mut ward = Ward::open(&server).await;
    let person = ward.at(&server);
    for _ in 0..2 {
        let made = expect(
            201,
            person.post(MEMBERS, &schema()).await.expect("an answer"),
        );
        made["id"]
            .as_str()
            .expect("an id")
            .clone_into(&mut ward.dataset);
    }
    let person = ward.at(&server);
    let asked = json!({"max_leakage": 0.5});
    person.put_terms("p1", &asked).await.expect("kept");
    let before = state(&person).await;
    server.kill();
    for (name, method, path, media_type, body) in CHANGES {
        let server = killed_at(name);
        let person = ward.at(&server);
        let path = format!("{}{path}", person.dataset_path());
        let lost = person.send(method, &path, media_type, body).await;
        assert!(lost.is_err(), "nobody reached {name}");
        gone(server);
        let server = serve().serve();
        assert_eq!(state(&ward.at(&server)).await, before, "{name}");
        server.kill();
    }
    let server = killed_at("preferences-taken-over");
    let lost = ward.at(&server).post(MEMBERS, &schema()).await;
    assert!(lost.is_err(), "nobody reached the taking over");
    gone(server);
    let server = serve().serve();
    let person = ward.at(&server);
    assert_eq!(state(&person).await, before);
    person.post(MEMBERS, &schema()).await.expect("an answer");
    person.put_terms("p9", &asked).await.expect("kept");
    let after = state(&person).await;
    let subjects = |state: &Value| state[2].as_array().map_or(0, Vec::len);
    let mut subjects: Vec<usize> = after.iter().map(subjects).collect();
    subjects.sort_unstable();
    assert_eq!(subjects, [0, 2, 2, 2], "{after:?}");
}

on_each_store!(a_population_has_a_change_of_terms_everywhere_or_nowhere);
