//! The table of operations: which roles may call each, and which problems it
//! answers with.
//!
//! This is the one place where roles meet operations: `auth::authorize`
//! enforces it, `openapi` describes it, and the tests walk it. A route that is
//! not in the table is answered with 404.

use axum::http::Method;

use super::auth::Role::{self, Admin, Analyst, Auditor, Consent, Steward, Uploader};
use super::idempotency::takes_key;
use super::own_problems::{HIERARCHY, JOB, JSON, NOTHING};
use super::problem::ProblemKind::{self, *};

/// Who may call an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Anyone, without a token.
    Public,
    /// Anyone with a valid token and any role.
    AnyKey,
    /// Holders of one of these roles.
    Roles(&'static [Role]),
    /// The holder of a one-time subject token, and nobody else.
    SubjectToken,
}

/// One operation of the API.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// Its name in openapi.yaml: `<verb>_<resource>`.
    pub id: &'static str,
    /// Its method.
    pub method: &'static str,
    /// Its path, as the router knows it.
    pub path: &'static str,
    /// Who may call it.
    pub access: Access,
    /// Problems of its own; [`Operation::problems`] adds those that all have, or
    /// all that are done once under an idempotency key.
    own: &'static [ProblemKind],
}

impl Operation {
    /// Whether the operation is done once under an idempotency key.
    pub fn takes_idempotency_key(&self) -> bool {
        takes_key(self.method, self.path)
            && matches!(self.access, Access::AnyKey | Access::Roles(_))
    }

    /// What somebody who may not call the operation does in its place.
    pub fn instead(&self) -> Option<&'static str> {
        (self.id == "put_hierarchy").then_some(LIBRARY_ONLY)
    }

    /// Every kind of problem that the operation may answer with, in order.
    pub fn problems(&self) -> Vec<ProblemKind> {
        let mut all = vec![Internal, HeaderTooLarge, InvalidHeader, InvalidQuery];
        all.extend(self.own);
        if self.access != Access::Public {
            all.extend([Unauthenticated, TooManyRequests, Unavailable]);
        }
        if matches!(self.access, Access::AnyKey | Access::Roles(_)) {
            all.push(Forbidden);
        }
        if self.path.contains("{id}") {
            all.extend([InvalidId, NotFound]);
        }
        if self.takes_idempotency_key() {
            all.extend([IdempotencyInProgress, IdempotencyKeyReused]);
            // A body that is sent again is read, whatever it is.
            all.extend([BodyTooLarge, BodyTimeout]);
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// The operation of a matched path.
pub fn operation(method: &Method, path: &str) -> Option<&'static Operation> {
    OPERATIONS
        .iter()
        .find(|operation| operation.path == path && operation.method == method.as_str())
}

const fn at(
    id: &'static str,
    method: &'static str,
    path: &'static str,
    access: Access,
    own: &'static [ProblemKind],
) -> Operation {
    Operation {
        id,
        method,
        path,
        access,
        own,
    }
}

const ADMIN: Access = Access::Roles(&[Admin]);
const ANALYST: Access = Access::Roles(&[Analyst, Steward]);
const AUDITOR: Access = Access::Roles(&[Auditor]);
const CONSENT: Access = Access::Roles(&[Consent]);
const STEWARD: Access = Access::Roles(&[Steward]);
const UPLOADER: Access = Access::Roles(&[Uploader, Steward]);

/// Why somebody may not write to the library, and what to do in its place.
pub const LIBRARY_ONLY: &str = "the library is shared by all datasets: a steward whose key is tied \
    to none of them writes it. Put the hierarchy into its dataset: \
    PUT /v1/datasets/{id}/hierarchies/{name}";

/// All operations, by resource.
pub const OPERATIONS: &[Operation] = &[
    at("create_key", "POST", "/v1/keys", ADMIN, JSON),
    at("list_keys", "GET", "/v1/keys", ADMIN, &[InvalidQuery]),
    at("revoke_key", "DELETE", "/v1/keys/{id}", ADMIN, &[]),
    at(
        "create_dataset",
        "POST",
        "/v1/datasets",
        UPLOADER,
        &[
            MalformedJson,
            UnsupportedMediaType,
            InvalidSchema,
            SchemaUnfit,
            LimitExceeded,
            StoreFull,
        ],
    ),
    at(
        "list_datasets",
        "GET",
        "/v1/datasets",
        UPLOADER,
        &[InvalidQuery],
    ),
    at("get_dataset", "GET", "/v1/datasets/{id}", UPLOADER, &[]),
    at(
        "erase_dataset",
        "DELETE",
        "/v1/datasets/{id}",
        STEWARD,
        &[PreconditionFailed, StoreFull],
    ),
    at(
        "get_erasure",
        "GET",
        "/v1/datasets/{id}/erasure",
        STEWARD,
        &[],
    ),
    at(
        "set_retention",
        "PUT",
        "/v1/datasets/{id}/retention",
        ADMIN,
        JSON,
    ),
    at("set_floors", "PUT", "/v1/datasets/{id}/floors", ADMIN, JSON),
    at(
        "put_schema",
        "PUT",
        "/v1/datasets/{id}/schema",
        UPLOADER,
        &[
            PreconditionFailed,
            MalformedJson,
            UnsupportedMediaType,
            InvalidSchema,
            InvalidHierarchy,
            HierarchyUnknown,
            SchemaUnfit,
            VersionMoved,
            TooManyUploads,
            LimitExceeded,
            StoreFull,
        ],
    ),
    at(
        "inspect_file",
        "POST",
        "/v1/inspections",
        UPLOADER,
        &[
            UnsupportedMediaType,
            UndecodableBody,
            LimitExceeded,
            BodyTooLarge,
            BodyTimeout,
            InvalidData,
            TooManyUploads,
            StoreFull,
        ],
    ),
    at(
        "upload_records",
        "POST",
        "/v1/datasets/{id}/records",
        UPLOADER,
        &[
            PreconditionFailed,
            UnsupportedMediaType,
            UndecodableBody,
            LimitExceeded,
            VersionMoved,
            HierarchyUnknown,
            HierarchyNotExtended,
            InvalidData,
            WouldLoseRecords,
            TooManyUploads,
            StoreFull,
        ],
    ),
    at(
        "get_dataset_risk",
        "GET",
        "/v1/datasets/{id}/risk",
        STEWARD,
        &[TooManyUploads, NoRecords, LimitExceeded],
    ),
    at(
        "get_subject",
        "GET",
        "/v1/datasets/{id}/subjects/{subject}",
        STEWARD,
        &[TooManyUploads],
    ),
    at(
        "put_subject",
        "PUT",
        "/v1/datasets/{id}/subjects/{subject}",
        STEWARD,
        &[
            PreconditionFailed,
            UnsupportedMediaType,
            UndecodableBody,
            LimitExceeded,
            VersionMoved,
            HierarchyUnknown,
            InvalidBody,
            InvalidData,
            TooManyUploads,
            StoreFull,
        ],
    ),
    at(
        "erase_subject",
        "DELETE",
        "/v1/datasets/{id}/subjects/{subject}",
        STEWARD,
        &[InvalidQuery, TooManyUploads, VersionMoved, StoreFull],
    ),
    at(
        "put_hierarchy",
        "PUT",
        "/v1/hierarchies/{name}",
        STEWARD,
        HIERARCHY,
    ),
    at(
        "get_hierarchy",
        "GET",
        "/v1/hierarchies/{name}",
        UPLOADER,
        &[InvalidQuery, InvalidId, NotFound],
    ),
    at(
        "review_hierarchy",
        "GET",
        "/v1/hierarchies/{name}/review",
        UPLOADER,
        &[InvalidQuery, InvalidId, NotFound],
    ),
    at(
        "list_hierarchies",
        "GET",
        "/v1/hierarchies",
        UPLOADER,
        &[InvalidQuery],
    ),
    at(
        "put_dataset_hierarchy",
        "PUT",
        "/v1/datasets/{id}/hierarchies/{name}",
        UPLOADER,
        HIERARCHY,
    ),
    at(
        "get_dataset_hierarchy",
        "GET",
        "/v1/datasets/{id}/hierarchies/{name}",
        UPLOADER,
        &[InvalidQuery],
    ),
    at(
        "review_dataset_hierarchy",
        "GET",
        "/v1/datasets/{id}/hierarchies/{name}/review",
        STEWARD,
        &[InvalidQuery, TooManyUploads],
    ),
    at(
        "list_dataset_hierarchies",
        "GET",
        "/v1/datasets/{id}/hierarchies",
        UPLOADER,
        &[InvalidQuery],
    ),
    at(
        "put_preference",
        "PUT",
        "/v1/datasets/{id}/preferences/{subject}",
        CONSENT,
        &[
            MalformedJson,
            UnsupportedMediaType,
            PreconditionFailed,
            InvalidBody,
            InvalidPreference,
            LimitExceeded,
            StoreFull,
        ],
    ),
    at(
        "get_preference",
        "GET",
        "/v1/datasets/{id}/preferences/{subject}",
        CONSENT,
        &[],
    ),
    at(
        "delete_preference",
        "DELETE",
        "/v1/datasets/{id}/preferences/{subject}",
        CONSENT,
        &[PreconditionFailed],
    ),
    at(
        "list_preferences",
        "GET",
        "/v1/datasets/{id}/preferences",
        CONSENT,
        &[InvalidQuery],
    ),
    at(
        "import_preferences",
        "POST",
        "/v1/datasets/{id}/preferences",
        CONSENT,
        &[
            UnsupportedMediaType,
            UndecodableBody,
            LimitExceeded,
            TooManyUploads,
            InvalidPreference,
            StoreFull,
        ],
    ),
    at(
        "create_subject_tokens",
        "POST",
        "/v1/datasets/{id}/subject-tokens",
        CONSENT,
        JSON,
    ),
    at(
        "put_my_preferences",
        "PUT",
        "/v1/my-preferences",
        Access::SubjectToken,
        &[
            MalformedJson,
            UnsupportedMediaType,
            BodyTooLarge,
            BodyTimeout,
            InvalidBody,
            InvalidPreference,
            LimitExceeded,
            StoreFull,
        ],
    ),
    at("list_engines", "GET", "/v1/engines", Access::AnyKey, &[]),
    at(
        "create_exploration",
        "POST",
        "/v1/explorations",
        STEWARD,
        JOB,
    ),
    at(
        "list_explorations",
        "GET",
        "/v1/explorations",
        STEWARD,
        &[InvalidQuery],
    ),
    at(
        "get_exploration",
        "GET",
        "/v1/explorations/{id}",
        STEWARD,
        &[NotAcceptable],
    ),
    at(
        "cancel_exploration",
        "POST",
        "/v1/explorations/{id}/cancel",
        STEWARD,
        NOTHING,
    ),
    at("create_job", "POST", "/v1/jobs", STEWARD, JOB),
    at("list_jobs", "GET", "/v1/jobs", STEWARD, &[InvalidQuery]),
    at("get_job", "GET", "/v1/jobs/{id}", STEWARD, &[InvalidQuery]),
    at(
        "cancel_job",
        "POST",
        "/v1/jobs/{id}/cancel",
        STEWARD,
        NOTHING,
    ),
    at(
        "stream_job_events",
        "GET",
        "/v1/jobs/{id}/events",
        STEWARD,
        &[],
    ),
    at(
        "list_releases",
        "GET",
        "/v1/releases",
        ANALYST,
        &[InvalidQuery],
    ),
    at("get_release", "GET", "/v1/releases/{id}", ANALYST, &[]),
    at(
        "get_release_table",
        "GET",
        "/v1/releases/{id}/tables/{table}",
        ANALYST,
        &[
            InvalidQuery,
            NotAcceptable,
            ReleaseState,
            RangeNotSatisfiable,
        ],
    ),
    at(
        "get_release_report",
        "GET",
        "/v1/releases/{id}/report",
        ANALYST,
        &[NotAcceptable],
    ),
    at(
        "compare_releases",
        "POST",
        "/v1/releases/{id}/compare",
        STEWARD,
        &[
            MalformedJson,
            UnsupportedMediaType,
            BodyTooLarge,
            BodyTimeout,
            InvalidBody,
            InvalidParameter,
            LimitExceeded,
        ],
    ),
    at(
        "get_release_verification",
        "GET",
        "/v1/releases/{id}/verification",
        ANALYST,
        &[],
    ),
    at(
        "publish_release",
        "POST",
        "/v1/releases/{id}/publish",
        STEWARD,
        &[
            MalformedJson,
            InvalidBody,
            LimitExceeded,
            PreferencesMoved,
            Composition,
            SeriesMoved,
            DraftBelowFloor,
            SecondSteward,
            ReleaseState,
            StoreFull,
        ],
    ),
    at(
        "withdraw_release",
        "POST",
        "/v1/releases/{id}/withdraw",
        STEWARD,
        NOTHING,
    ),
    at("list_audit", "GET", "/v1/audit", AUDITOR, &[InvalidQuery]),
    at(
        "verify_audit",
        "GET",
        "/v1/audit/verify",
        AUDITOR,
        &[InvalidQuery],
    ),
    at("list_ledger", "GET", "/v1/ledger", AUDITOR, &[InvalidQuery]),
    at("get_health", "GET", "/healthz", Access::Public, &[]),
    at(
        "get_readiness",
        "GET",
        "/readyz",
        Access::Public,
        &[Unavailable],
    ),
    at("get_metrics", "GET", "/metrics", Access::Public, &[]),
    at("get_openapi", "GET", "/openapi.yaml", Access::Public, &[]),
];
