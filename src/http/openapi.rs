//! openapi.yaml, made from the code.
//!
//! Handlers describe what they take and what they answer when all is well;
//! the table of operations adds who may call them and every problem they may
//! answer with. `vizard openapi > openapi.yaml` refreshes the file in the
//! repository; a test compares the two.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use utoipa::openapi::example::ExampleBuilder;
use utoipa::openapi::extensions::ExtensionsBuilder;
use utoipa::openapi::path::{
    Operation as Described, Parameter, ParameterBuilder, ParameterIn, PathItem,
};
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::schema::{ObjectBuilder, Ref, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::server::ServerBuilder;
use utoipa::openapi::{
    Components, ContentBuilder, InfoBuilder, LicenseBuilder, OpenApi, RefOr, Required,
};
use utoipa::{PartialSchema, ToSchema};
use vizard_anonymizer::microdata::CellErrorCode;

use super::access::{self, Access, Operation};
use super::auth::Role;
use super::engine_jobs::add_jobs;
use super::idempotency::IDEMPOTENCY_KEY;
use super::line_errors::{LineError, LineErrorCount};
use super::problem::{LossView, MissingView, PROBLEM_JSON, ProblemDocument, ProblemKind};
use super::refine::refine;
use super::router::operations;

/// Name of the security scheme.
const BEARER: &str = "bearer";
/// Name of the security scheme of subjects' tokens.
const SUBJECT_TOKEN: &str = "subject_token";
/// Name of the security scheme of receipts' codes.
const RECEIPT: &str = "receipt";

/// Neither scheme knows scopes.
const NO_SCOPES: [&str; 0] = [];

/// The whole description.
pub fn document() -> OpenApi {
    let (_, mut document) = operations().split_for_parts();
    document.info = InfoBuilder::new()
        .title("Vizard")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(DESCRIPTION))
        .license(Some(
            LicenseBuilder::new()
                .name("Apache-2.0")
                .identifier(Some("Apache-2.0"))
                .build(),
        ))
        .build();
    for (path, item) in &mut document.paths.paths {
        for (method, described) in methods(item) {
            let operation = access::OPERATIONS
                .iter()
                .find(|operation| operation.path == path && operation.method == method);
            if let Some(operation) = operation {
                describe(described, operation);
            }
            refine(described);
        }
    }
    document.servers = Some(vec![
        ServerBuilder::new()
            .url("/")
            .description(Some("The service that this document comes from."))
            .build(),
    ]);
    let components = document.components.get_or_insert_default();
    add_components(components);
    add_jobs(components);
    document
}

/// The whole description as YAML.
pub fn document_yaml() -> String {
    // Texts and numbers alone: writing them down cannot fail.
    document().to_yaml().unwrap_or_default()
}

const DESCRIPTION: &str = "\
Turns tables about people into tables that can be published, keeping each \
person's own privacy terms.

Every refusal is a problem document (`application/problem+json`, RFC 9457) \
with a stable `type`; no answer ever quotes a cell. Lists are newest first and \
paged by `limit` and `cursor`. A thing that a token may not see is answered as \
if it were not there.";

fn methods(item: &mut PathItem) -> impl Iterator<Item = (&'static str, &mut Described)> {
    [
        ("GET", &mut item.get),
        ("PUT", &mut item.put),
        ("POST", &mut item.post),
        ("DELETE", &mut item.delete),
    ]
    .into_iter()
    .filter_map(|(method, described)| Some((method, described.as_mut()?)))
}

/// Adds roles, security and problems to what a handler said of itself.
///
/// `x-roles` lists the roles one of which is needed, for programs; an operation
/// without it needs none.
fn describe(described: &mut Described, operation: &Operation) {
    let who = match operation.access {
        Access::Public => "Needs no token.".to_owned(),
        Access::AnyKey => "Needs any valid token.".to_owned(),
        Access::SubjectToken => "Needs a subject token.".to_owned(),
        Access::Receipt => "Needs the code of a receipt.".to_owned(),
        Access::Roles(roles) => {
            let words: Vec<_> = roles
                .iter()
                .map(|role| format!("`{}`", role.as_str()))
                .collect();
            format!("Needs one of these roles: {}.", words.join(", "))
        }
    };
    let said = described.description.take();
    described.description = Some(match said {
        Some(said) if !said.is_empty() => format!("{said}\n\n{who}"),
        _ => who,
    });
    described.security = Some(match operation.access {
        Access::Public => Vec::new(),
        Access::SubjectToken => vec![SecurityRequirement::new(SUBJECT_TOKEN, NO_SCOPES)],
        Access::Receipt => vec![SecurityRequirement::new(RECEIPT, NO_SCOPES)],
        Access::AnyKey | Access::Roles(_) => vec![SecurityRequirement::new(BEARER, NO_SCOPES)],
    });
    let roles = match operation.access {
        Access::Public | Access::SubjectToken | Access::Receipt => &[],
        Access::AnyKey => Role::ALL,
        Access::Roles(roles) => roles,
    };
    if !roles.is_empty() {
        let words: Vec<_> = roles.iter().map(|role| role.as_str()).collect();
        let extension = ExtensionsBuilder::new().add("x-roles", words).build();
        described.extensions = Some(extension);
    }
    if operation.takes_idempotency_key() {
        let parameters = described.parameters.get_or_insert_default();
        parameters.push(RefOr::T(idempotency_key()));
    }
    let mut by_status: BTreeMap<u16, Vec<ProblemKind>> = BTreeMap::new();
    for kind in operation.problems() {
        by_status
            .entry(kind.status().as_u16())
            .or_default()
            .push(kind);
    }
    for (status, kinds) in by_status {
        let response = RefOr::T(problem_response(&kinds));
        described
            .responses
            .responses
            .insert(status.to_string(), response);
    }
}

/// The header that makes a request be done once.
fn idempotency_key() -> Parameter {
    const SAYS: &str = "A text of the client's choosing, 1 to 255 visible ASCII characters. The \
        same request under the same key is done once and gets the first answer again, with the \
        header `Idempotency-Replayed: true`; a refused request frees its key.";
    ParameterBuilder::new()
        .name(IDEMPOTENCY_KEY.as_str())
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(SAYS))
        .schema(Some(
            ObjectBuilder::new()
                .schema_type(Type::String)
                .min_length(Some(1))
                .max_length(Some(255))
                .pattern(Some("^[!-~]+$")),
        ))
        .build()
}

/// The answer of one status: which kinds of problem it may be, an example each.
fn problem_response(kinds: &[ProblemKind]) -> utoipa::openapi::Response {
    let lines: Vec<_> = kinds
        .iter()
        .map(|kind| format!("`{}`: {}.", kind.slug(), kind.title()))
        .collect();
    let examples = kinds.iter().map(|kind| {
        let place = format!("#/components/examples/{}", kind.slug());
        (kind.slug(), RefOr::Ref(Ref::new(place)))
    });
    let content = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name("Problem")))
        .examples_from_iter(examples)
        .build();
    ResponseBuilder::new()
        .description(lines.join(" "))
        .content(PROBLEM_JSON, content)
        .build()
}

fn example(kind: ProblemKind) -> Value {
    let mut document = json!({
        "type": kind.urn(),
        "title": kind.title(),
        "status": kind.status().as_u16(),
        "detail": kind.title(),
        "instance": "0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b70",
    });
    match kind {
        ProblemKind::InvalidData | ProblemKind::InvalidPreference => {
            let (attribute, code) = ("age", "not_an_integer");
            document["summary"] = json!([{"attribute": attribute, "code": code, "count": 1, "first_lines": [17],
                    "expected": "a whole number, as in 1234"}]);
            document["errors"] = json!([{"line": 17, "attribute": attribute, "code": code}]);
            document["total_errors"] = json!(1);
        }
        ProblemKind::HierarchyUnknown => document["hierarchy"] = json!("education"),
        ProblemKind::WouldLoseRecords => {
            document["loss"] = json!({"records": 0, "dropped": 5_200, "replaced": 0,
                "attributes": [{"attribute": "age", "missing": 5_200, "dropped": 5_200}]});
        }
        ProblemKind::InvalidParameter => document["parameter"] = json!("k"),
        _ => {}
    }
    document
}

/// Adds the shapes that only problems use, and the way tokens are shown.
fn add_components(components: &mut Components) {
    for (name, schema) in [
        (LineError::name(), LineError::schema()),
        (LineErrorCount::name(), LineErrorCount::schema()),
    ] {
        let codes = CellErrorCode::ALL.iter().map(|code| code.word().into());
        let schema = closed(schema, "code", codes.collect());
        components.schemas.insert(name.into(), schema);
    }
    components
        .schemas
        .insert(MissingView::name().into(), MissingView::schema());
    components
        .schemas
        .insert(LossView::name().into(), LossView::schema());
    components
        .schemas
        .insert("Problem".into(), problem_schema());
    for &kind in ProblemKind::ALL {
        let example = ExampleBuilder::new()
            .summary(kind.title())
            .value(Some(example(kind)))
            .build();
        components
            .examples
            .insert(kind.slug().into(), RefOr::T(example));
    }
    let scheme = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some(
            "An API key `vz_<id>_<secret>`, a JWT of the configured issuer, or the \
             operator's own admin key.",
        ))
        .build();
    components.add_security_scheme(BEARER, SecurityScheme::Http(scheme));
    let scheme = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some(
            "A token `vs_…` that a subject was given with a consent form.",
        ))
        .build();
    components.add_security_scheme(SUBJECT_TOKEN, SecurityScheme::Http(scheme));
    let scheme = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some(
            "The code `vr_…` of a receipt that a subject got for their terms.",
        ))
        .build();
    components.add_security_scheme(RECEIPT, SecurityScheme::Http(scheme));
}

/// The schema of a problem: `type` is one of the closed list.
fn problem_schema() -> RefOr<utoipa::openapi::Schema> {
    let urns = ProblemKind::ALL.iter().map(|kind| Value::from(kind.urn()));
    closed(ProblemDocument::schema(), "type", urns.collect())
}

/// The schema with a closed list of values for one of its properties.
fn closed(
    mut schema: RefOr<utoipa::openapi::Schema>,
    property: &str,
    values: Vec<Value>,
) -> RefOr<utoipa::openapi::Schema> {
    if let RefOr::T(utoipa::openapi::Schema::Object(object)) = &mut schema
        && let Some(RefOr::T(utoipa::openapi::Schema::Object(kind))) =
            object.properties.get_mut(property)
    {
        kind.enum_values = Some(values);
    }
    schema
}
