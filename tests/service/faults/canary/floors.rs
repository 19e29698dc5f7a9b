//! Refusals of what is below a floor, and of a steward who would be two.

use serde_json::{Value, json};

use super::Cast;
use super::sinks::Sinks;
use super::story::{self, Told, released};
use crate::common::client::Answer;
use crate::common::program::key;

/// A job and a draft below a floor that came later, and an exception whose
/// first steward calls again. The floor is taken back at the end.
pub async fn provoke(cast: &Cast, sinks: &mut Sinks, told: &Told) {
    let admin = key(&cast.anyone, &["admin"]).await;
    let set = async |floors: Value| {
        let call = admin.call("set_floors").at("id", &told.dataset);
        call.json(&floors).send().await.expect(200);
    };
    set(json!({"k_min": 10})).await;
    let mut job = story::job(&told.dataset);
    let below = cast.steward.call("create_job").json(&job).send().await;
    below.expect_problem(422, "below-floor");
    sinks.refusal(&below);
    let below = publish(cast, &told.draft).await;
    below.expect_problem(409, "draft-below-floor");
    sinks.refusal(&below);
    job["floor_exception"] = json!("the board asked for it");
    let release = released(cast, sinks, &job).await;
    publish(cast, &release).await.expect(202);
    let again = publish(cast, &release).await;
    again.expect_problem(409, "second-steward");
    sinks.refusal(&again);
    set(json!({})).await;
}

async fn publish(cast: &Cast, release: &str) -> Answer {
    let said = json!({"acknowledge_composition": true, "reason": "compared by hand"});
    let call = cast.steward.call("publish_release").at("id", release);
    call.json(&said).send().await
}
