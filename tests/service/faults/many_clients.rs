//! Sixty-four clients at once, each with a key of its own and no regard for
//! the others: whatever they get in each other's way, no answer is a failure
//! of the service.

use std::collections::BTreeMap;

use hyper::Method;
use serde_json::json;
use tokio::task::JoinSet;

use super::launch::Program;
use super::place::{Place, on_each_store};
use super::size::size;
use super::ward::{Answered, Person, Ward, records};

on_each_store!(sixty_four_clients_get_no_answer_that_is_a_failure);

const CLIENTS: usize = 64;
/// Operations of each client.
const OPERATIONS: usize = 200;
/// Kinds of operations below.
const KINDS: usize = 16;

/// One operation; its name and the status that it was answered with.
async fn operation(person: &Person, client: usize, at: usize) -> Answered<(&'static str, u16)> {
    // Every client goes through all kinds, in an order of its own.
    let kind = (at * (2 * client + 1) + client) % KINDS;
    let dataset = person.dataset_path();
    let get = async |path: &str| person.send(Method::GET, path, "application/json", "").await;
    let put = async |path: &str, body: String| {
        person
            .send(Method::PUT, path, "application/json", body)
            .await
    };
    let subject = format!("{dataset}/preferences/p{}", (client + at) % 20);
    let job = json!({"dataset": dataset.rsplit('/').next(), "engine": "lgb",
        "parameters": {"k": 2, "l": 2}, "report": {"queries": 5}});
    let (name, answer) = match kind {
        0 => ("list datasets", get("/v1/datasets").await),
        1 | 2 => ("dataset", get(&dataset).await),
        3 => ("engines", get("/v1/engines").await),
        4 => ("jobs", get("/v1/jobs?limit=3").await),
        5 => ("releases", get("/v1/releases?limit=3").await),
        6 => ("preference", get(&subject).await),
        7 => (
            "put preference",
            put(&subject, r#"{"max_leakage": 0.5}"#.into()).await,
        ),
        8 => (
            "delete preference",
            person.send(Method::DELETE, &subject, "text/csv", "").await,
        ),
        9 => (
            "append",
            person
                .try_upload("append", records((client * 1_000 + at) as u64, 2))
                .await,
        ),
        10 => (
            "replace",
            person.try_upload("replace", records(0, 30)).await,
        ),
        11 => (
            "broken upload",
            person.try_upload("append", "id,age\n1,2\n".into()).await,
        ),
        12 if at % 48 == 12 => ("job", person.post("/v1/jobs", &job).await),
        12 => (
            "no job",
            person.post("/v1/jobs", &json!({"engine": 7})).await,
        ),
        13 => (
            "hierarchy",
            put(
                &format!("/v1/hierarchies/h{}", at % 5),
                r#"{"label": "*", "children": [{"label": "a"}, {"label": "b"}]}"#.into(),
            )
            .await,
        ),
        14 => (
            "nothing there",
            get("/v1/jobs/job_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b70").await,
        ),
        _ => ("readiness", get("/readyz").await),
    };
    Ok((name, answer?.status))
}

/// One client with a key of its own, on the dataset of all.
async fn client(person: Person, number: usize) -> Vec<(&'static str, u16)> {
    let mut answers = Vec::new();
    for at in 0..size(OPERATIONS) {
        let answer = operation(&person, number, at).await;
        answers.push(answer.expect("every request is answered"));
    }
    answers
}

async fn sixty_four_clients_get_no_answer_that_is_a_failure(place: Place) {
    let server: Program = place.launch().serve();
    let common = Ward::filled(&server, 30).await;
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let own = Ward::open(&server).await;
        // Half of them work on one dataset, half each on their own.
        let dataset = match number % 2 {
            0 => common.dataset.clone(),
            _ => own.dataset.clone(),
        };
        let ward = Ward { dataset, ..own };
        clients.spawn(client(ward.at(&server), number));
    }
    let answers = clients.join_all().await.concat();
    assert_eq!(answers.len(), CLIENTS * size(OPERATIONS));
    let mut counted: BTreeMap<(&str, u16), usize> = BTreeMap::new();
    for answer in answers {
        *counted.entry(answer).or_default() += 1;
    }
    eprintln!("{counted:?}");
    let failures: Vec<_> = counted
        .iter()
        .filter(|((_, status), _)| *status >= 500)
        .collect();
    assert!(failures.is_empty(), "{failures:?}\n{}", server.log());
    // They did get in each other's way, and did get through.
    for wanted in [
        ("append", 201),
        ("replace", 201),
        ("put preference", 200),
        ("job", 202),
    ] {
        assert!(counted.contains_key(&wanted), "{wanted:?} never happened");
    }
    assert!(server.end_well());
}
