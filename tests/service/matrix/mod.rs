//! Every operation of openapi.yaml × every role × own, foreign, hidden, unknown
//! and misnamed objects, on both stores.
//!
//! Who may call an operation is read from openapi.yaml (`security`, `x-roles`);
//! what it is called on stands in `samples`. The rules, in their order:
//!
//! - who is not known is answered 401, the same bytes for everybody;
//! - who lacks the role is answered 403, the same bytes for every object, so
//!   that it never tells whether something exists;
//! - an id of the wrong kind is answered 400;
//! - a thing that was erased, is foreign or is not published is answered 404
//!   with the bytes of a thing that never was;
//! - all else is let through to the operation.

mod samples;
mod world;

use std::collections::BTreeSet;
use std::sync::Arc;

use samples::{Body, Object, SAMPLES, Sample};
use vizard::http::auth::Role;
use world::{Caller, Issuer, World, unknown_id, wrong_id};

use crate::api::Server;
use crate::common::client::{Answer, Call, Client, description};
use crate::common::postgres::cluster;

/// Who may call an operation, as openapi.yaml says.
#[derive(Debug, PartialEq, Eq)]
enum Who {
    Anyone,
    Holders(Vec<Role>),
    Subject,
}

fn who(id: &str) -> Who {
    let described = description().operation(id);
    let security = described.described("security");
    let schemes = security.as_array().expect("a list of schemes");
    match schemes.first().and_then(|scheme| scheme.as_object()) {
        None => Who::Anyone,
        Some(scheme)
            if ["subject_token", "receipt"]
                .iter()
                .any(|own| scheme.contains_key(*own)) =>
        {
            Who::Subject
        }
        Some(_) => {
            let words = described.described("x-roles");
            let words = words
                .as_array()
                .expect("an operation with a token names roles");
            let role = |word: &serde_json::Value| word.as_str().and_then(Role::parse);
            Who::Holders(
                words
                    .iter()
                    .map(|word| role(word).expect("a role"))
                    .collect(),
            )
        }
    }
}

#[test]
fn every_described_operation_is_in_the_matrix_and_no_other() {
    let described: BTreeSet<&str> = description().ids().collect();
    let sampled: BTreeSet<&str> = SAMPLES.iter().map(|sample| sample.id).collect();
    assert_eq!(
        described, sampled,
        "tests/service/matrix/samples.rs names each operation"
    );
    assert_eq!(sampled.len(), SAMPLES.len(), "each operation once");
}

#[test]
fn an_operation_with_an_id_in_its_path_is_called_on_something() {
    for sample in SAMPLES {
        let path = &description().operation(sample.id).path;
        let needs_object = path.contains("{id}");
        let has_object = !matches!(
            sample.object,
            Object::Nothing | Object::Everything | Object::Token | Object::DatasetInBody
        );
        assert_eq!(needs_object, has_object, "{}: {path}", sample.id);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_matrix_holds_on_sqlite() {
    let issuer = Arc::new(Issuer::new());
    let server = Server::sqlite_with(issuer.settings()).await;
    walk(&World::new(server, issuer).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_matrix_holds_on_postgres() {
    let Some(cluster) = cluster() else {
        return;
    };
    let issuer = Arc::new(Issuer::new());
    let url = cluster.fresh_database();
    let server = Server::postgres_at(&url, issuer.settings()).await;
    walk(&World::new(server, issuer).await).await;
}

async fn walk(world: &World) {
    let callers = world.callers().await;
    let mut samples: Vec<&Sample> = SAMPLES.iter().collect();
    samples.sort_by_key(|sample| sample.ends);
    let mut calls = 0;
    for sample in samples {
        calls += strangers_learn_nothing(world, sample).await;
        let mut is_ended = false;
        for caller in &callers {
            let may = match who(sample.id) {
                Who::Anyone => continue,
                Who::Subject => {
                    let refused = call(&caller.client, sample, "").await;
                    refused.expect_problem(401, "unauthenticated");
                    continue;
                }
                Who::Holders(roles) => roles.contains(&caller.role),
            };
            calls += if may {
                let calls = hidden_things_are_unknown_things(world, sample, caller).await;
                unknown_parameters_are_refused(world, sample, &caller.client).await;
                let is_spent = sample.ends > 0 && std::mem::replace(&mut is_ended, true);
                if !is_spent {
                    own_things_are_let_through(world, sample, caller).await;
                }
                calls + 1
            } else {
                without_the_role_all_things_are_alike(world, sample, caller).await
            };
        }
    }
    assert!(calls > 1_000, "{calls} calls are no matrix");
    println!("{calls} calls");
}

/// Who is not known gets 401 on everything that is not public.
async fn strangers_learn_nothing(world: &World, sample: &Sample) -> usize {
    let mut first = None;
    let mut calls = 0;
    for (client, what) in world.strangers() {
        let ids = world.all_ids(sample.object).into_iter();
        for id in ids
            .chain(unknown_id(sample.object))
            .chain(wrong_id(sample.object))
        {
            let answer = call(&client, sample, &id).await;
            calls += 1;
            let place = format!("{} by {what} on {id}", sample.id);
            if who(sample.id) == Who::Anyone {
                assert_eq!(answer.status, 200, "{place}");
                unknown_parameters_are_refused(world, sample, &client).await;
                continue;
            }
            assert_eq!(answer.status, 401, "{place}: {}", answer.text());
            let seen = seen(&answer);
            assert_eq!(first.get_or_insert_with(|| seen.clone()), &seen, "{place}");
        }
    }
    calls
}

/// A caller without the role gets 403, the same for whatever is there or not.
async fn without_the_role_all_things_are_alike(
    world: &World,
    sample: &Sample,
    caller: &Caller,
) -> usize {
    let mut first = None;
    let mut calls = 0;
    let ids = world.all_ids(sample.object).into_iter();
    for id in ids
        .chain(unknown_id(sample.object))
        .chain(wrong_id(sample.object))
    {
        let answer = call(&caller.client, sample, &id).await;
        calls += 1;
        let place = format!("{} as {} on {id}", sample.id, caller.what);
        assert_eq!(answer.status, 403, "{place}: {}", answer.text());
        let seen = seen(&answer);
        assert_eq!(first.get_or_insert_with(|| seen.clone()), &seen, "{place}");
    }
    calls
}

/// What a caller must not see is answered as what never was, byte for byte.
async fn hidden_things_are_unknown_things(
    world: &World,
    sample: &Sample,
    caller: &Caller,
) -> usize {
    let (Some(unknown), Some(wrong)) = (unknown_id(sample.object), wrong_id(sample.object)) else {
        return 0;
    };
    let place = format!("{} as {}", sample.id, caller.what);
    let misnamed = call(&caller.client, sample, &wrong).await;
    let expected = match sample.object {
        Object::DatasetInBody => (422, "invalid-body"),
        _ => (400, "invalid-id"),
    };
    let found = (misnamed.status, &*misnamed.slug());
    assert_eq!(found, expected, "{place} on the wrong kind");
    let never = call(&caller.client, sample, &unknown).await;
    assert_eq!(
        (never.status, &*never.slug()),
        (404, "not-found"),
        "{place} on unknown"
    );
    let hidden = world.hidden_ids(sample.object, caller);
    let calls = 2 + hidden.len();
    for (what, id) in hidden {
        if (sample.id, what) == ("get_erasure", "erased") && !caller.tied {
            // What it is for.
            continue;
        }
        let answer = call(&caller.client, sample, &id).await;
        assert_eq!(answer.status, 404, "{place} on {what}: {}", answer.text());
        assert_eq!(seen(&answer), seen(&never), "{place} on {what}");
    }
    calls
}

/// A parameter that the operation does not have is refused, and nothing done:
/// the calls after this one find everything as it was.
async fn unknown_parameters_are_refused(world: &World, sample: &Sample, client: &Client) {
    let call = call_on(client, sample, &world.own_id(sample.object));
    let answer = call.query("made_up", "true").send().await;
    let found = (answer.status, &*answer.slug());
    assert_eq!(found, (400, "invalid-query"), "{}", sample.id);
    assert!(!answer.text().contains("made_up"), "{}", sample.id);
}

/// A caller with the role reaches the operation on what is theirs.
async fn own_things_are_let_through(world: &World, sample: &Sample, caller: &Caller) {
    let id = world.own_id(sample.object);
    let answer = call(&caller.client, sample, &id).await;
    let place = format!("{} as {}: {}", sample.id, caller.what, answer.text());
    if sample.object == Object::Everything && caller.tied {
        assert_eq!(answer.status, 403, "{place}");
    } else {
        let is_let_through = !matches!(answer.status, 401 | 403 | 404) && answer.status < 500;
        assert!(is_let_through, "{} {place}", answer.status);
    }
}

/// Calls an operation on an object, always under the same request id.
async fn call(client: &Client, sample: &Sample, id: &str) -> Answer {
    call_on(client, sample, id).send().await
}

fn call_on(client: &Client, sample: &Sample, id: &str) -> Call {
    let path = &description().operation(sample.id).path;
    let mut call = client.call(sample.id).header("x-request-id", "same");
    for (name, value) in [
        ("id", id),
        ("subject", "p1"),
        ("table", "microdata"),
        ("attribute", "ward"),
        ("name", "ward"),
    ] {
        if path.contains(&format!("{{{name}}}")) {
            call = call.at(name, value);
        }
    }
    match sample.body {
        Body::None => call,
        Body::Csv(text) => call.body("text/csv", text()),
        Body::Json(body) => call.json(&body(id)),
    }
}

/// Everything of an answer that a client can see, but the time.
fn seen(answer: &Answer) -> (u16, String, Vec<String>) {
    let headers = answer.headers.iter().filter(|(name, _)| *name != "date");
    let mut headers: Vec<String> = headers
        .map(|(name, value)| format!("{name}: {}", value.to_str().expect("a text")))
        .collect();
    headers.sort();
    (answer.status, answer.text(), headers)
}
