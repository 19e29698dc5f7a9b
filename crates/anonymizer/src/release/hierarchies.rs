//! The hierarchies that are published with a release: what its generalized
//! categories stand for.
//!
//! Nodes are the public domain of an attribute, whichever records there are.
//! So that they tell nothing of records, the leaf for missing values is there
//! wherever the schema keeps missing values, not where somebody has one.
//! Intervals of numbers need no tree: cells say their ends.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::microdata::sha256::Sha256;
use crate::microdata::{
    AttributeType, Hierarchy, HierarchySet, HierarchySource, MissingPolicy, Schema, to_hex,
};

use super::cell::Cell;
use super::table::{Cells, Content, PublishedTable};

/// A hierarchy that a release uses.
#[derive(Clone, Debug, PartialEq)]
pub struct ReleaseHierarchy {
    /// The attribute that it is over.
    pub attribute: String,
    /// Its name in the schema.
    pub name: String,
    /// The tree.
    pub tree: Arc<Hierarchy>,
}

/// What is said of a hierarchy that is published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HierarchyDescription {
    /// The attribute that it is over.
    pub attribute: String,
    /// Its name.
    pub name: String,
    /// Number of leaves.
    pub leaves: u64,
    /// Number of levels, leaves and root included.
    pub levels: u32,
    /// SHA-256 of its CSV form; hex.
    pub sha256: String,
}

/// Which hierarchies are published with a release.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HierarchyList {
    /// Those that are, in order of the schema's attributes.
    pub published: Vec<HierarchyDescription>,
    /// Attributes whose hierarchy is not.
    pub withheld: Vec<String>,
}

/// Whether a release shows the hierarchies that it uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HierarchyUse {
    /// Whoever may read its tables may read them.
    #[default]
    Publish,
    /// Nobody is shown them.
    Withhold,
}

impl ReleaseHierarchy {
    /// The hierarchies of a schema's published categories; names that the set
    /// does not have are left out.
    pub fn of(schema: &Schema, set: &HierarchySet) -> Vec<Self> {
        let publishable = schema.publishable().into_iter();
        let of_attribute = publishable.filter_map(|index| {
            let attribute = schema.attribute(index);
            let name = attribute.hierarchy.as_ref()?;
            let (AttributeType::Categorical, HierarchySource::Tree(tree)) =
                (attribute.kind?, set.get(name)?)
            else {
                return None;
            };
            let tree = match schema.missing() {
                MissingPolicy::Category => Arc::new(tree.with_missing_leaf()),
                _ => Arc::clone(tree),
            };
            Some(Self {
                attribute: attribute.name.clone(),
                name: name.clone(),
                tree,
            })
        });
        of_attribute.collect()
    }

    /// What is said of it.
    pub fn description(&self) -> HierarchyDescription {
        HierarchyDescription {
            attribute: self.attribute.clone(),
            name: self.name.clone(),
            leaves: self.tree.leaf_count() as u64,
            levels: self.tree.height() + 1,
            sha256: to_hex(&Sha256::of(self.tree.to_csv())),
        }
    }
}

impl HierarchyList {
    /// What a release says of these.
    pub fn of(hierarchies: &[ReleaseHierarchy], shown: HierarchyUse) -> Self {
        match shown {
            HierarchyUse::Publish => Self {
                published: hierarchies
                    .iter()
                    .map(ReleaseHierarchy::description)
                    .collect(),
                withheld: Vec::new(),
            },
            HierarchyUse::Withhold => Self {
                published: Vec::new(),
                withheld: hierarchies
                    .iter()
                    .map(|one| one.attribute.clone())
                    .collect(),
            },
        }
    }

    /// The list of a release of which nothing is known but its tables: every
    /// category that may be generalized by a hierarchy may be so by one that is
    /// not there.
    pub fn unknown(tables: &[PublishedTable]) -> Self {
        let columns = tables.iter().flat_map(|table| &table.columns);
        let generalized = columns.filter(|column| {
            let is_category = column.kind == Some(AttributeType::Categorical);
            let has_labels = match &column.cells {
                Cells::Dictionary { cells, .. } => {
                    cells.iter().any(|cell| matches!(cell, Cell::Label(_)))
                }
                Cells::Numbers(_) => false,
            };
            is_category && has_labels && column.content == Content::Generalized
        });
        Self {
            published: Vec::new(),
            withheld: generalized.map(|column| column.name.clone()).collect(),
        }
    }
}

/// Trees by attribute.
pub fn trees(hierarchies: Vec<ReleaseHierarchy>) -> BTreeMap<String, Arc<Hierarchy>> {
    let trees = hierarchies.into_iter();
    trees.map(|one| (one.attribute, one.tree)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::microdata::HierarchyFormat;

    fn used(missing: &str) -> Vec<ReleaseHierarchy> {
        let schema = json!({"name": "d", "subject_key": "id", "missing": missing, "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "town", "role": "quasi_identifier", "type": "categorical", "hierarchy": "map"},
            {"name": "born", "role": "quasi_identifier", "type": "integer", "hierarchy": "tens"},
            {"name": "ill", "role": "sensitive", "type": "categorical"}]});
        let schema: Schema = serde_json::from_value(schema).unwrap();
        let read =
            |content: &str, format| HierarchySource::read(content.as_bytes(), format).unwrap();
        let intervals = json!({"intervals": {"origin": 0.0, "width": 10.0, "fanouts": [2]}});
        let set = HierarchySet::from([
            ("map".into(), read("x;A;*\ny;B;*\n", HierarchyFormat::Csv)),
            (
                "tens".into(),
                read(&intervals.to_string(), HierarchyFormat::Json),
            ),
        ]);
        ReleaseHierarchy::of(&schema, &set)
    }

    #[test]
    fn trees_of_categories_are_published_and_withheld_ones_are_named_alone() {
        let found = used("reject");
        let list = HierarchyList::of(&found, HierarchyUse::Publish);
        assert_eq!(list.published.len(), 1);
        let one = &list.published[0];
        assert_eq!((&*one.attribute, &*one.name), ("town", "map"));
        assert_eq!((one.leaves, one.levels), (2, 3));
        assert_eq!(one.sha256, to_hex(&Sha256::of("x;A;*\ny;B;*\n")));
        let withheld = HierarchyList::of(&found, HierarchyUse::Withhold);
        assert_eq!(withheld.withheld, ["town"]);
        assert_eq!(withheld.published, []);
    }

    #[test]
    fn the_leaf_for_missing_values_depends_on_the_schema_and_on_no_record() {
        assert_eq!(
            used("category")[0].tree.to_csv(),
            "x;A;*\ny;B;*\n(missing);*\n"
        );
    }
}
