//! What the description says beyond what can be said at a handler.
//!
//! Absent and null are one to Rust's `Option`, but a header or a query holds
//! text: nothing there is null. Headers have a grammar, which is the same
//! wherever they are read. A stream of events has no shape as a whole, and an
//! upload is a file.

use utoipa::openapi::path::Operation as Described;
use utoipa::openapi::path::Parameter;
use utoipa::openapi::schema::{OneOf, SchemaType, Type};
use utoipa::openapi::{Content, Ref, RefOr, Required, Schema};

use super::engine_jobs::{ANY_JOB, JOB};

/// A list of entity tags, or any.
const TAGS: &str = r#"^(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$"#;

/// The text of one header, as a regular expression.
const HEADERS: &[(&str, &str)] = &[
    ("if-match", TAGS),
    ("if-none-match", TAGS),
    ("content-encoding", "^(identity|gzip|zstd)?$"),
];

/// Operations whose body may be left out.
const MAY_BE_LEFT_OUT: &[&str] = &["publish_release"];

/// Refines one operation.
pub fn refine(described: &mut Described) {
    for parameter in described.parameters.iter_mut().flatten() {
        if let RefOr::T(parameter) = parameter {
            refine_parameter(parameter);
        }
    }
    if let Some(RefOr::T(body)) = &mut described.request_body {
        let id = described.operation_id.as_deref();
        if id.is_some_and(|id| MAY_BE_LEFT_OUT.contains(&id)) {
            body.required = Some(Required::False);
        }
        for (media_type, content) in &mut body.content {
            refine_body(media_type, content);
        }
    }
    for response in described.responses.responses.values_mut() {
        if let RefOr::T(response) = response
            && let Some(RefOr::T(content)) = response.content.get_mut("text/event-stream")
        {
            content.schema = None;
        }
    }
}

/// A body that is text is a file to those who send it: programs that write
/// clients give it as bytes. A job is one of those of the engines.
fn refine_body(media_type: &str, content: &mut RefOr<Content>) {
    let RefOr::T(content) = content else {
        return;
    };
    let is_job = match &content.schema {
        Some(RefOr::Ref(schema)) => schema.ref_location.ends_with(ANY_JOB),
        _ => false,
    };
    if is_job {
        content.schema = Some(Ref::from_schema_name(JOB).into());
    } else if matches!(media_type, "text/csv" | "application/x-ndjson") {
        content.schema = Some(Ref::from_schema_name("Binary").into());
    }
}

fn refine_parameter(parameter: &mut Parameter) {
    let Some(schema) = &mut parameter.schema else {
        return;
    };
    never_null(schema);
    let grammar = HEADERS.iter().find(|(name, _)| *name == parameter.name);
    if let (Some((_, pattern)), RefOr::T(Schema::Object(object))) = (grammar, schema) {
        object.pattern = Some((*pattern).to_owned());
    }
}

/// Takes null out of what a value may be.
fn never_null(schema: &mut RefOr<Schema>) {
    let is_null = |schema: &RefOr<Schema>| match schema {
        RefOr::T(Schema::Object(object)) => object.schema_type == SchemaType::Type(Type::Null),
        _ => false,
    };
    match schema {
        RefOr::T(Schema::Object(object)) => {
            if let SchemaType::Array(types) = &mut object.schema_type {
                types.retain(|kind| *kind != Type::Null);
                if let [kind] = types.as_slice() {
                    object.schema_type = SchemaType::Type(kind.clone());
                }
            }
        }
        RefOr::T(Schema::OneOf(OneOf { items, .. })) => {
            items.retain(|item| !is_null(item));
            if items.len() == 1 {
                *schema = items.remove(0);
            }
        }
        _ => {}
    }
}
