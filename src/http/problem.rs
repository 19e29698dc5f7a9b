//! The closed list of problems that the API answers with (RFC 9457).
//!
//! A [`Problem`] is what a handler returns; the outermost middleware writes it
//! down as `application/problem+json`, because only there the request's id is
//! known. Details are written for clients and hold no cell value, no subject
//! and nothing of the machine: lines, attributes, names of parameters and
//! counts only. docs/PROBLEMS.md explains each kind; a test keeps this list,
//! openapi.yaml and that page together.

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;
use vizard_anonymizer::microdata::{ReadSummary, TableError};

use super::line_errors::{LineError, LineErrorCount, LineErrors};
use super::misfit::SchemaMisfitView;
use crate::config::Limit;

macro_rules! problem_kinds {
    ($($(#[$doc:meta])* $name:ident = $slug:literal, $status:ident, $retry:literal, $title:literal;)*) => {
        /// Every kind of problem there is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ProblemKind {
            $($(#[$doc])* $name,)*
        }

        impl ProblemKind {
            /// All kinds, in the order of docs/PROBLEMS.md.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Last part of the problem's `type`.
            pub const fn slug(self) -> &'static str {
                match self { $(Self::$name => $slug,)* }
            }

            /// The HTTP status that goes with it.
            pub const fn status(self) -> StatusCode {
                match self { $(Self::$name => StatusCode::$status,)* }
            }

            /// Whether the same request may succeed later without being changed.
            pub const fn retry(self) -> bool {
                match self { $(Self::$name => $retry,)* }
            }

            /// One line for people, the same for every problem of the kind.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)* }
            }
        }
    };
}

problem_kinds! {
    /// An id in the path or query is not of the kind needed there.
    InvalidId = "invalid-id", BAD_REQUEST, false, "An id has the wrong form";
    /// A query parameter is unknown, or its value is not among the allowed ones.
    InvalidQuery = "invalid-query", BAD_REQUEST, false, "A query parameter is unknown or out of its bounds";
    /// The body is no JSON.
    MalformedJson = "malformed-json", BAD_REQUEST, false, "The body is not JSON";
    /// The body is not whole, or not packed as its header says.
    UndecodableBody = "undecodable-body", BAD_REQUEST, false, "The body cannot be unpacked";
    /// A header that the operation reads cannot be read.
    InvalidHeader = "invalid-header", BAD_REQUEST, false, "A header cannot be read";
    /// No token, or one that nobody holds.
    Unauthenticated = "unauthenticated", UNAUTHORIZED, false, "A valid bearer token is needed";
    /// The token's roles do not allow the operation.
    Forbidden = "forbidden", FORBIDDEN, false, "The token's roles do not allow this";
    /// There is no such thing, or it is not for this token to see.
    NotFound = "not-found", NOT_FOUND, false, "There is no such thing";
    /// The path is known, the method is not.
    MethodNotAllowed = "method-not-allowed", METHOD_NOT_ALLOWED, false, "The path does not know this method";
    /// None of the accepted media types can be given.
    NotAcceptable = "not-acceptable", NOT_ACCEPTABLE, false, "None of the accepted media types can be given";
    /// The body stopped arriving.
    BodyTimeout = "body-timeout", REQUEST_TIMEOUT, true, "The body stopped arriving";
    /// The dataset got another version while this one was read.
    VersionMoved = "version-moved", CONFLICT, true, "The dataset changed meanwhile";
    /// The hierarchy's name has other content.
    HierarchyExists = "hierarchy-exists", CONFLICT, false, "The hierarchy's name has other content";
    /// The schema names a hierarchy that nobody has put.
    HierarchyUnknown = "hierarchy-unknown", CONFLICT, false, "A hierarchy that the schema names is missing";
    /// A hierarchy's latest revision lacks something of the one that the dataset pins.
    HierarchyNotExtended = "hierarchy-not-extended", CONFLICT, false, "A hierarchy does not extend the one before";
    /// The schema does not fit what is stored.
    SchemaUnfit = "schema-unfit", CONFLICT, false, "The schema does not fit what is stored";
    /// The dataset has no records yet.
    NoRecords = "no-records", CONFLICT, false, "The dataset has no records";
    /// A subject of the draft has since excluded themself or asked for more.
    PreferencesMoved = "preferences-moved", CONFLICT, false, "Preferences moved against the draft";
    /// Public releases share subjects with the draft.
    Composition = "composition", CONFLICT, false, "Public releases are about the same people";
    /// Another release of the same people became public meanwhile.
    SeriesMoved = "series-moved", CONFLICT, true, "Another release of the same people became public";
    /// The draft is below the floors in force, and its job asked for no exception.
    DraftBelowFloor = "draft-below-floor", CONFLICT, false, "The draft is below the operator's floors";
    /// The steward who approved the draft cannot be its second one too.
    SecondSteward = "second-steward", CONFLICT, false, "Another steward is needed";
    /// The release is not in a state from which this is possible.
    ReleaseState = "release-state", CONFLICT, false, "The release's state does not allow this";
    /// A request under the same idempotency key runs.
    IdempotencyInProgress = "idempotency-in-progress", CONFLICT, true, "A request under this key is running";
    /// The thing is not in the version that `If-Match` or `If-None-Match` asks for.
    PreconditionFailed = "precondition-failed", PRECONDITION_FAILED, false, "The thing is in another version";
    /// The body is larger than the service takes.
    BodyTooLarge = "body-too-large", PAYLOAD_TOO_LARGE, false, "The body is too large";
    /// The body has no such part.
    RangeNotSatisfiable = "range-not-satisfiable", RANGE_NOT_SATISFIABLE, false, "There is no such part";
    /// The body's media type or encoding is not one of those that the operation reads.
    UnsupportedMediaType = "unsupported-media-type", UNSUPPORTED_MEDIA_TYPE, false, "The body's media type is not read here";
    /// The body is JSON, but a field is missing, unknown or does not fit.
    InvalidBody = "invalid-body", UNPROCESSABLE_ENTITY, false, "The body does not fit";
    /// The schema contradicts itself.
    InvalidSchema = "invalid-schema", UNPROCESSABLE_ENTITY, false, "The schema does not fit";
    /// The hierarchy contradicts itself.
    InvalidHierarchy = "invalid-hierarchy", UNPROCESSABLE_ENTITY, false, "The hierarchy does not fit";
    /// Lines of the records do not fit the schema; also: stored records cannot be read.
    InvalidData = "invalid-data", UNPROCESSABLE_ENTITY, false, "The records do not fit the schema";
    /// The upload would leave out many records, or replace records by none.
    WouldLoseRecords = "would-lose-records", UNPROCESSABLE_ENTITY, false, "The upload would lose records";
    /// A preference does not fit the dataset's schema.
    InvalidPreference = "invalid-preference", UNPROCESSABLE_ENTITY, false, "A preference does not fit the schema";
    /// The engine or one of its parameters does not fit the dataset.
    InvalidParameter = "invalid-parameter", UNPROCESSABLE_ENTITY, false, "A parameter does not fit the dataset";
    /// A parameter is below a floor that the operator set.
    BelowFloor = "below-floor", UNPROCESSABLE_ENTITY, false, "The job is below the operator's floors";
    /// No release with these parameters exists; stewards are told a weaker value that would hold.
    Infeasible = "infeasible", UNPROCESSABLE_ENTITY, false, "The parameters cannot hold on this dataset";
    /// Attributes that would be published as they are identify people.
    ExactAttributesIdentify = "exact-attributes-identify", UNPROCESSABLE_ENTITY, false, "Attributes published as they are identify people";
    /// More records, values or memory than the service takes.
    LimitExceeded = "limit-exceeded", UNPROCESSABLE_ENTITY, false, "More than the service takes";
    /// The job was cancelled.
    Cancelled = "cancelled", UNPROCESSABLE_ENTITY, false, "The job was cancelled";
    /// Every subject is in a public release, and the job asked for others.
    NothingNew = "nothing-new", UNPROCESSABLE_ENTITY, false, "Every subject is in a public release";
    /// Who is in a public release is not kept, and the job asked for others.
    SeriesUnknown = "series-unknown", UNPROCESSABLE_ENTITY, false, "Who is in a public release is not known";
    /// Public releases show subjects otherwise than the job's mode can go on.
    SeriesUnsafe = "series-unsafe", UNPROCESSABLE_ENTITY, false, "The series cannot go on in this mode";
    /// The idempotency key was given to another request.
    IdempotencyKeyReused = "idempotency-key-reused", UNPROCESSABLE_ENTITY, false, "The idempotency key was given to another request";
    /// As many uploads are read as the service reads at the same time.
    TooManyUploads = "too-many-uploads", TOO_MANY_REQUESTS, true, "Too many uploads at the same time";
    /// As many jobs of the dataset are queued as the service keeps in its queue.
    QueueFull = "queue-full", TOO_MANY_REQUESTS, true, "Too many jobs of the dataset are queued";
    /// More requests than one client may make in the time.
    TooManyRequests = "too-many-requests", TOO_MANY_REQUESTS, true, "Too many requests in the time";
    /// The request's header is larger, or has more fields, than the service reads.
    HeaderTooLarge = "header-too-large", REQUEST_HEADER_FIELDS_TOO_LARGE, false, "The request's header is too large";
    /// The service failed; its log knows more under the request's id.
    Internal = "internal", INTERNAL_SERVER_ERROR, false, "The service failed";
    /// The release did not pass the verifier and was thrown away.
    VerificationFailed = "verification-failed", INTERNAL_SERVER_ERROR, false, "The release did not pass verification";
    /// The job ended its worker too often.
    AttemptsExhausted = "attempts-exhausted", INTERNAL_SERVER_ERROR, false, "The job ended its worker too often";
    /// The database does not answer, or the service is stopping.
    Unavailable = "unavailable", SERVICE_UNAVAILABLE, true, "The service is not available right now";
    /// The disk of the store is full.
    StoreFull = "store-full", INSUFFICIENT_STORAGE, true, "The store is full";
}

impl ProblemKind {
    /// The problem's `type`.
    pub fn urn(self) -> String {
        format!("urn:vizard:problem:{}", self.slug())
    }
}

/// Media type of a problem document.
pub const PROBLEM_JSON: &str = "application/problem+json";

/// Seconds after which a client may try again what is worth trying again.
const RETRY_AFTER_S: u64 = 2;

/// The missing values of one attribute in an upload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct MissingView {
    /// The attribute.
    #[schema(examples("age"))]
    pub attribute: String,
    /// Cells without a value.
    #[schema(examples(12))]
    pub missing: u64,
    /// Records left out that have none; one that lacks several values counts for
    /// each of them.
    #[schema(examples(12))]
    pub dropped: u64,
}

impl MissingView {
    /// The counts of each attribute that was read.
    pub fn of(summary: &ReadSummary) -> Vec<Self> {
        let counts = summary.attributes.iter().cloned();
        counts
            .map(|count| Self {
                attribute: count.attribute,
                missing: count.missing,
                dropped: count.dropped,
            })
            .collect()
    }
}

/// What would be lost by an upload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct LossView {
    /// Records that the upload would bring.
    #[schema(examples(0))]
    pub records: u64,
    /// Records that its missing values would leave out.
    #[schema(examples(5200))]
    pub dropped: u64,
    /// Records that it would replace; 0 where it is appended.
    #[schema(examples(0))]
    pub replaced: u64,
    /// Missing values of each attribute.
    pub attributes: Vec<MissingView>,
}

/// A problem on its way to the client.
#[derive(Clone, Debug)]
pub struct Problem(Box<Parts>);

#[derive(Clone, Debug)]
struct Parts {
    kind: ProblemKind,
    detail: String,
    lines: Option<LineErrors>,
    hierarchy: Option<String>,
    parameter: Option<String>,
    loss: Option<LossView>,
    misfits: Option<Vec<SchemaMisfitView>>,
    retry_after_s: u64,
}

/// The document of a problem (RFC 9457).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemDocument {
    /// Stable name of the kind of problem, `urn:vizard:problem:<slug>`.
    #[serde(rename = "type")]
    pub kind: String,
    /// One line for people, the same for every problem of the kind.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What is wrong this time.
    pub detail: String,
    /// Id of the request, to be found in the service's log. Absent from the
    /// problem of a job, which outlives requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// What the whole body looks like, and how to mend it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hints: Option<Vec<String>>,
    /// All errors in the lines of the body, counted by attribute and code, the
    /// most frequent first; at most 1,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<Vec<LineErrorCount>>,
    /// The first 100 errors in the lines of the body, at most ten of one code of
    /// one attribute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<Vec<LineError>>,
    /// Number of errors in the whole body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_errors: Option<u64>,
    /// Name of the hierarchy that is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hierarchy: Option<String>,
    /// Name of the parameter at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    /// What the upload would lose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossView>,
    /// By what a schema does not fit what is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub misfits: Option<Vec<SchemaMisfitView>>,
    /// Attribute concerned, where one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attribute: Option<String>,
    /// Attributes concerned, where several are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Vec<String>>,
    /// For each of them the records concerned, in tens; null where it is not
    /// about records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<Vec<Option<u64>>>,
    /// The strongest setting that would hold, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strongest: Option<String>,
    /// The same as a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strongest_value: Option<f64>,
    /// Name of a parameter to set in place of the one at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(examples("t_closeness"))]
    pub instead: Option<String>,
}

impl Problem {
    /// A problem of a kind, with what is wrong this time.
    pub fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        Self(Box::new(Parts {
            kind,
            detail: detail.into(),
            lines: None,
            hierarchy: None,
            parameter: None,
            loss: None,
            misfits: None,
            retry_after_s: RETRY_AFTER_S,
        }))
    }

    /// There is no such thing, or it is not for this token to see.
    pub fn not_found(what: &str) -> Self {
        Self::new(ProblemKind::NotFound, format!("no such {what}"))
    }

    /// A body larger than a limit.
    pub fn body_too_large(limit: Limit) -> Self {
        let detail = format!("the body is larger than {limit}; nothing was kept of it");
        Self::new(ProblemKind::BodyTooLarge, detail)
    }

    /// More of something than the service takes.
    pub fn past(limit: Limit) -> Self {
        Self::new(ProblemKind::LimitExceeded, format!("more than {limit}"))
    }

    /// A failure of ours; what it was goes to the log alone.
    pub fn internal() -> Self {
        Self::new(
            ProblemKind::Internal,
            "the log knows more under the request's id",
        )
    }

    /// What it says of this case.
    pub fn detail(&self) -> &str {
        &self.0.detail
    }

    /// The parameter at fault, where one is.
    pub fn parameter(&self) -> Option<&str> {
        self.0.parameter.as_deref()
    }

    /// Lists and counts what is wrong with the lines of the body.
    #[must_use]
    pub fn with_errors(mut self, error: &TableError) -> Self {
        self.0.lines = LineErrors::of(error);
        self
    }

    /// What is wrong with the lines of the body, if that is what is wrong.
    pub fn lines_mut(&mut self) -> Option<&mut LineErrors> {
        self.0.lines.as_mut()
    }

    /// Names the hierarchy that is missing.
    #[must_use]
    pub fn with_hierarchy(mut self, name: impl Into<String>) -> Self {
        self.0.hierarchy = Some(name.into());
        self
    }

    /// Names the parameter at fault.
    #[must_use]
    pub fn with_parameter(mut self, name: impl Into<String>) -> Self {
        self.0.parameter = Some(name.into());
        self
    }

    /// Counts what the upload would lose.
    #[must_use]
    pub fn with_loss(mut self, loss: LossView) -> Self {
        self.0.loss = Some(loss);
        self
    }

    /// Says by what a schema does not fit what is stored.
    #[must_use]
    pub fn with_misfits(mut self, misfits: Vec<SchemaMisfitView>) -> Self {
        self.0.misfits = Some(misfits);
        self
    }

    /// Says when to come again, in whole seconds and no earlier than `wait`.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.0.retry_after_s = (wait.as_millis().div_ceil(1_000) as u64).max(1);
        self
    }

    /// The kind of problem.
    pub fn kind(&self) -> ProblemKind {
        self.0.kind
    }

    /// The document as it is sent in answer to the request `instance`.
    pub fn document(&self, instance: Option<String>) -> ProblemDocument {
        let parts = &self.0;
        let lines = parts.lines.as_ref();
        let hints = lines.map(|lines| lines.hints.clone());
        ProblemDocument {
            kind: parts.kind.urn(),
            title: parts.kind.title().into(),
            status: parts.kind.status().as_u16(),
            detail: parts.detail.clone(),
            instance,
            hints: hints.filter(|hints| !hints.is_empty()),
            summary: lines.map(|lines| lines.summary.clone()),
            errors: lines.map(|lines| lines.errors.clone()),
            total_errors: lines.map(|lines| lines.total),
            hierarchy: parts.hierarchy.clone(),
            parameter: parts.parameter.clone(),
            loss: parts.loss.clone(),
            misfits: parts.misfits.clone(),
            attribute: None,
            attributes: None,
            records: None,
            strongest: None,
            strongest_value: None,
            instead: None,
        }
    }

    fn header(&self) -> Option<(HeaderName, HeaderValue)> {
        match self.0.kind {
            ProblemKind::Unauthenticated => Some((
                header::WWW_AUTHENTICATE,
                HeaderValue::from_static("Bearer realm=\"vizard\""),
            )),
            kind if kind.retry() => Some((header::RETRY_AFTER, self.0.retry_after_s.into())),
            _ => None,
        }
    }
}

/// The word of a code.
pub(super) fn word(code: impl Serialize) -> String {
    let code = serde_json::to_value(code).ok();
    let word = code.as_ref().and_then(serde_json::Value::as_str);
    word.unwrap_or_default().to_owned()
}

impl IntoResponse for Problem {
    /// A response with the status and the problem as an extension; the
    /// outermost middleware writes the document.
    fn into_response(self) -> Response {
        let mut response = self.0.kind.status().into_response();
        if let Some((name, value)) = self.header() {
            response.headers_mut().insert(name, value);
        }
        response.extensions_mut().insert(self);
        response
    }
}

#[cfg(test)]
mod tests;
