//! A hierarchy of a dataset, as it is now: what is known of it, its content, and
//! what the review finds.
//!
//! Content and digest are of one revision: the digest goes into every form, so
//! that a correction is one of what was seen.

use std::sync::Arc;

use axum::http::Method;
use serde_json::Value;
use vizard_anonymizer::microdata::{Hierarchy, HierarchyFormat, HierarchySource};

use super::super::api::{Api, Failure, segment};
use super::super::visitor::Visitor;
use super::super::words::text;
use crate::ids::DatasetId;

/// The operation behind a correction.
pub const PUT: &str = "/v1/datasets/{id}/hierarchies/{name}";

/// The operation that reviews.
const REVIEW: &str = "/v1/datasets/{id}/hierarchies/{name}/review";

/// A hierarchy of a dataset, as it is now.
pub struct Known {
    /// The dataset.
    pub dataset: Value,
    /// What is known of the hierarchy.
    pub head: Value,
    /// Its name.
    pub name: String,
    /// What was put.
    pub content: String,
    /// The tree; none of intervals.
    pub tree: Option<Arc<Hierarchy>>,
    /// What the review finds, for stewards.
    pub review: Value,
}

/// The path of the API to it.
pub fn path(dataset: DatasetId, name: &str) -> String {
    format!("/v1/datasets/{dataset}/hierarchies/{}", segment(name))
}

impl Known {
    /// As the API tells it to a visitor.
    pub async fn found(
        (api, visitor): (&Api, &Visitor),
        (dataset, name): (DatasetId, &str),
    ) -> Result<Self, Failure> {
        let place = path(dataset, name);
        let head = api.get(visitor, &place).await?;
        let digest = text(&head, "digest");
        let content = format!("{place}?content=true&digest={digest}");
        let content = api.text(visitor, &content).await?;
        let format = HierarchyFormat::of_media_type(text(&head, "media_type"));
        let read = format.map(|format| HierarchySource::read(content.as_bytes(), format));
        let tree = match read {
            Some(Ok(HierarchySource::Tree(tree))) => Some(tree),
            _ => None,
        };
        let dataset = format!("/v1/datasets/{dataset}");
        Ok(Self {
            dataset: api.get(visitor, &dataset).await?,
            review: if visitor.may(&Method::GET, REVIEW) {
                api.get(visitor, &format!("{place}/review")).await?
            } else {
                Value::Null
            },
            head,
            name: name.to_owned(),
            content,
            tree,
        })
    }
}

/// Where its page is.
pub fn place(known: &Known) -> String {
    let dataset = text(&known.dataset, "id");
    format!("/datasets/{dataset}/hierarchies/{}", segment(&known.name))
}
