//! Which hierarchies an upload is read with.
//!
//! A schema names hierarchies; an upload finds them by name, among the
//! dataset's own first and then in the library, and pins their digests in the
//! version. The next upload is read with what is pinned unless it asks for the
//! latest; what is added to other records then needs ones that extend the
//! pinned: one version never mixes two trees, and what is stored stays readable.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use vizard_anonymizer::microdata::{
    Gap, HierarchyFormat, HierarchySet, HierarchySource, Schema, TableError,
};

use crate::http::convert::table_problem;
use crate::http::problem::{Problem, ProblemKind};
use crate::ids::DatasetId;
use crate::store::{HierarchyHead, HierarchyRow, Store, StoreError};

/// Hierarchies that were found for a schema.
#[derive(Default)]
pub struct Found {
    /// What to read with.
    pub set: HierarchySet,
    /// What is known of each of them, by name.
    pub heads: Vec<HierarchyHead>,
}

/// The hierarchies that a dataset's schema names: those in `pinned` by their
/// digest, others in their latest revision.
///
/// With `is_lenient` one that nobody has put is left out; else it is a problem
/// that names it.
pub async fn load_hierarchies(
    store: &Store,
    dataset: DatasetId,
    schema: &Schema,
    pinned: &Value,
    is_lenient: bool,
) -> Result<Found, Problem> {
    let names: BTreeSet<&String> = schema
        .attributes()
        .iter()
        .filter_map(|attribute| attribute.hierarchy.as_ref())
        .collect();
    let mut found = Found::default();
    for name in names {
        let digest = pinned.get(name).and_then(Value::as_str);
        let digest = digest.map(str::to_owned);
        let row = store.hierarchy_get(Some(dataset), name.clone(), digest);
        match row.await {
            Ok(row) => {
                found.heads.push(row.head.clone());
                found.set.insert(name.clone(), parse_hierarchy(row).await?);
            }
            Err(StoreError::NotFound { .. }) if is_lenient => {}
            Err(StoreError::NotFound { .. }) => {
                let error = TableError::HierarchyUnknown(name.clone());
                return Err(table_problem(&error, ProblemKind::HierarchyUnknown));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(found)
}

/// A problem unless each hierarchy has every leaf that the one of its name in
/// `pinned` has, under the same nodes.
pub fn require_extended(pinned: &HierarchySet, set: &HierarchySet) -> Result<(), Problem> {
    for (name, earlier) in pinned {
        let lack = match (earlier, set.get(name)) {
            (_, None) => continue,
            (HierarchySource::Tree(earlier), Some(HierarchySource::Tree(tree))) => {
                match tree.gap(earlier) {
                    None => continue,
                    Some(gap) => lack(&gap),
                }
            }
            (earlier, Some(source)) if earlier == source => continue,
            _ => "its intervals are not those that stored numbers lie in".into(),
        };
        let detail = format!(
            "the latest revision of `{name}` does not extend the one that the dataset pins: \
             {lack}. Nothing was kept. Upload with hierarchies=pinned, or put a revision that has \
             every leaf under the same nodes, or replace all records (mode=replace)"
        );
        let problem = Problem::new(ProblemKind::HierarchyNotExtended, detail);
        return Err(problem.with_hierarchy(name.as_str()));
    }
    Ok(())
}

/// What a tree lacks, in words.
fn lack(gap: &Gap) -> String {
    let said = |count: u64, labels: &[String], what: [&str; 2]| {
        let (what, more) = (what[usize::from(count != 1)], count - labels.len() as u64);
        let named: Vec<String> = labels.iter().map(|label| format!("`{label}`")).collect();
        let more = match more {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        (count > 0).then(|| format!("{count} {what} ({}{more})", named.join(", ")))
    };
    let missing = ["leaf is missing", "leaves are missing"];
    let moved = [
        "leaf lies under other nodes",
        "leaves lie under other nodes",
    ];
    let both = [
        said(gap.missing, &gap.missing_labels, missing),
        said(gap.moved, &gap.moved_labels, moved),
    ];
    both.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Digests of hierarchies by name, as a version pins them.
pub fn pins(set: &HierarchySet) -> Value {
    let digests: BTreeMap<&String, String> = set
        .iter()
        .map(|(name, hierarchy)| (name, hierarchy.digest()))
        .collect();
    serde_json::json!(digests)
}

/// A stored hierarchy. A large tree takes a while: it is read where waiting harms nobody.
pub async fn parse_hierarchy(row: HierarchyRow) -> Result<HierarchySource, Problem> {
    let read = tokio::task::spawn_blocking(move || {
        let format = HierarchyFormat::of_media_type(&row.head.media_type)?;
        HierarchySource::read(&row.content, format).ok()
    });
    match read.await {
        Ok(Some(hierarchy)) => Ok(hierarchy),
        // It was read when it was put: this is damage.
        _ => {
            tracing::error!("a stored hierarchy cannot be read");
            Err(Problem::internal())
        }
    }
}
