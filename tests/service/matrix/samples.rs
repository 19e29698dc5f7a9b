//! What each operation works on: the one thing that openapi.yaml does not say.
//!
//! An operation that is described and not listed here fails the matrix, and so
//! does one that is listed and not described: nobody adds an operation without
//! saying whose things it touches. Who may call it is not repeated here; that
//! is read from openapi.yaml.

use serde_json::{Value, json};

use crate::api::story;

/// What an operation is called on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    /// On nothing that has an owner.
    Nothing,
    /// On nothing, by those who are tied to no datasets.
    Everything,
    /// On the dataset in the path.
    Dataset,
    /// On the dataset that the body names.
    DatasetInBody,
    /// On the job in the path.
    Job,
    /// On the exploration in the path.
    Exploration,
    /// On the release in the path.
    Release,
    /// On the re-identification in the path.
    Reidentification,
    /// On the key in the path.
    Key,
    /// On the webhook in the path.
    Webhook,
    /// On what the subject token is for.
    Token,
}

/// What is sent with a call.
#[derive(Clone, Copy)]
pub enum Body {
    None,
    Csv(fn() -> String),
    Json(fn(&str) -> Value),
}

/// How an operation is called.
#[derive(Clone, Copy)]
pub struct Sample {
    /// The operation's name in openapi.yaml.
    pub id: &'static str,
    /// What it is called on.
    pub object: Object,
    /// What is sent; a JSON body is told the object's id.
    pub body: Body,
    /// Whether its object is never the same again: it is called on its own
    /// object once, after all others; the highest last.
    pub ends: u8,
}

const fn on(id: &'static str, object: Object, body: Body) -> Sample {
    Sample {
        id,
        object,
        body,
        ends: 0,
    }
}

const fn ending(sample: Sample, ends: u8) -> Sample {
    Sample { ends, ..sample }
}

fn nothing(_: &str) -> Value {
    json!({})
}

fn key(_: &str) -> Value {
    json!({"name": "a test", "roles": ["analyst"]})
}

fn webhook(_: &str) -> Value {
    story::webhook()
}

fn dataset(_: &str) -> Value {
    story::schema()
}

fn job(dataset: &str) -> Value {
    story::job(dataset)
}

fn exploration(dataset: &str) -> Value {
    story::exploration(dataset)
}

fn with(release: &str) -> Value {
    json!({"with": release})
}

fn query(_: &str) -> Value {
    json!({"count": true, "group_by": ["sex"]})
}

fn row(_: &str) -> Value {
    json!({"table": "microdata", "row": 1, "reason": "a test"})
}

fn subjects(_: &str) -> Value {
    json!({"subjects": ["p1"]})
}

fn retention(_: &str) -> Value {
    json!({"raw_retention_days": 30})
}

fn floors(_: &str) -> Value {
    json!({"k_min": 2})
}

fn records() -> String {
    story::records(200, 201)
}

fn records_of_one() -> String {
    story::records(1, 2)
}

fn preferences() -> String {
    "subject,exclude\np1,false\n".to_owned()
}

fn population_table() -> String {
    "ward,count\nred,5\n".to_owned()
}

fn hierarchy() -> String {
    story::HIERARCHY.to_owned()
}

/// Every operation there is.
pub const SAMPLES: &[Sample] = &[
    on("create_key", Object::Everything, Body::Json(key)),
    on("list_keys", Object::Nothing, Body::None),
    on("revoke_key", Object::Key, Body::None),
    on("create_webhook", Object::Everything, Body::Json(webhook)),
    on("list_webhooks", Object::Nothing, Body::None),
    on("get_webhook", Object::Webhook, Body::None),
    on("rotate_webhook", Object::Webhook, Body::None),
    on("ping_webhook", Object::Webhook, Body::None),
    ending(on("delete_webhook", Object::Webhook, Body::None), 1),
    on("create_dataset", Object::Everything, Body::Json(dataset)),
    on("list_datasets", Object::Nothing, Body::None),
    on("get_dataset", Object::Dataset, Body::None),
    ending(on("erase_dataset", Object::Dataset, Body::None), 3),
    on("get_erasure", Object::Dataset, Body::None),
    on("set_retention", Object::Dataset, Body::Json(retention)),
    on("set_floors", Object::Dataset, Body::Json(floors)),
    on("put_schema", Object::Dataset, Body::Json(dataset)),
    on("inspect_file", Object::Nothing, Body::Csv(records)),
    on("upload_records", Object::Dataset, Body::Csv(records)),
    on("get_dataset_risk", Object::Dataset, Body::None),
    on(
        "put_population_table",
        Object::Dataset,
        Body::Csv(population_table),
    ),
    on("get_population_table", Object::Dataset, Body::None),
    ending(
        on("delete_population_table", Object::Dataset, Body::None),
        1,
    ),
    on("get_subject", Object::Dataset, Body::None),
    on("put_subject", Object::Dataset, Body::Csv(records_of_one)),
    ending(on("erase_subject", Object::Dataset, Body::None), 1),
    on("put_hierarchy", Object::Everything, Body::Csv(hierarchy)),
    on("get_hierarchy", Object::Nothing, Body::None),
    on("review_hierarchy", Object::Nothing, Body::None),
    on("list_hierarchies", Object::Nothing, Body::None),
    on(
        "put_dataset_hierarchy",
        Object::Dataset,
        Body::Csv(hierarchy),
    ),
    on("get_dataset_hierarchy", Object::Dataset, Body::None),
    on("review_dataset_hierarchy", Object::Dataset, Body::None),
    on("list_dataset_hierarchies", Object::Dataset, Body::None),
    on("put_preference", Object::Dataset, Body::Json(nothing)),
    on("get_preference", Object::Dataset, Body::None),
    ending(on("delete_preference", Object::Dataset, Body::None), 1),
    on("list_preferences", Object::Dataset, Body::None),
    on(
        "import_preferences",
        Object::Dataset,
        Body::Csv(preferences),
    ),
    on(
        "create_subject_tokens",
        Object::Dataset,
        Body::Json(subjects),
    ),
    on("get_my_preferences", Object::Token, Body::None),
    on("put_my_preferences", Object::Token, Body::Json(nothing)),
    on("get_my_receipt", Object::Token, Body::None),
    on("withdraw_my_preferences", Object::Token, Body::None),
    on("list_engines", Object::Nothing, Body::None),
    on("create_job", Object::DatasetInBody, Body::Json(job)),
    on("list_jobs", Object::Nothing, Body::None),
    on("get_job", Object::Job, Body::None),
    on("cancel_job", Object::Job, Body::None),
    on("stream_job_events", Object::Job, Body::None),
    on(
        "create_exploration",
        Object::DatasetInBody,
        Body::Json(exploration),
    ),
    on("list_explorations", Object::Nothing, Body::None),
    on("get_exploration", Object::Exploration, Body::None),
    on("cancel_exploration", Object::Exploration, Body::None),
    on("list_releases", Object::Nothing, Body::None),
    on("get_release", Object::Release, Body::None),
    on("get_release_table", Object::Release, Body::None),
    on("get_release_bundle", Object::Release, Body::None),
    on("get_release_report", Object::Release, Body::None),
    on("compare_releases", Object::Release, Body::Json(with)),
    on("query_release", Object::Release, Body::Json(query)),
    on("get_release_hierarchies", Object::Release, Body::None),
    on("get_release_hierarchy", Object::Release, Body::None),
    on("get_release_verification", Object::Release, Body::None),
    on("publish_release", Object::Release, Body::None),
    ending(on("withdraw_release", Object::Release, Body::None), 2),
    on("create_reidentification", Object::Release, Body::Json(row)),
    on("list_reidentifications", Object::Release, Body::None),
    on("get_reidentification", Object::Reidentification, Body::None),
    on(
        "confirm_reidentification",
        Object::Reidentification,
        Body::None,
    ),
    on(
        "refuse_reidentification",
        Object::Reidentification,
        Body::None,
    ),
    on(
        "withdraw_reidentification",
        Object::Reidentification,
        Body::None,
    ),
    on("list_audit", Object::Nothing, Body::None),
    on("verify_audit", Object::Nothing, Body::None),
    on("list_ledger", Object::Nothing, Body::None),
    on("get_health", Object::Nothing, Body::None),
    on("get_readiness", Object::Nothing, Body::None),
    on("get_metrics", Object::Nothing, Body::None),
    on("get_openapi", Object::Nothing, Body::None),
];
