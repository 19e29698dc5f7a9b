//! Problems that several operations answer with: lists for the table in
//! `access`.

use super::problem::ProblemKind::{self, *};

/// Problems of a body that is a hierarchy.
pub(super) const HIERARCHY: &[ProblemKind] = &[
    InvalidQuery,
    InvalidId,
    UnsupportedMediaType,
    UndecodableBody,
    LimitExceeded,
    BodyTooLarge,
    BodyTimeout,
    HierarchyExists,
    InvalidHierarchy,
    StoreFull,
];

/// Problems of a job that is ordered, or of many.
pub(super) const JOB: &[ProblemKind] = &[
    MalformedJson,
    UnsupportedMediaType,
    InvalidBody,
    InvalidParameter,
    BelowFloor,
    NotFound,
    NoRecords,
    LimitExceeded,
    QueueFull,
    StoreFull,
];

/// Problems of a body in JSON, and of a store that takes something in.
pub(super) const JSON: &[ProblemKind] = &[
    MalformedJson,
    UnsupportedMediaType,
    BodyTooLarge,
    BodyTimeout,
    InvalidBody,
    LimitExceeded,
    StoreFull,
];

/// Problems of another steward's word on a question.
pub(super) const SECOND_WORD: &[ProblemKind] = &[
    MalformedJson,
    BodyTooLarge,
    BodyTimeout,
    InvalidBody,
    LimitExceeded,
    SecondSteward,
    ReleaseState,
    StoreFull,
];

/// Problems of a body that is to say nothing.
pub(super) const NOTHING: &[ProblemKind] = &[
    MalformedJson,
    BodyTooLarge,
    BodyTimeout,
    InvalidBody,
    LimitExceeded,
];
