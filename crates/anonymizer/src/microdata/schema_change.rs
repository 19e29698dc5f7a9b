//! What the schema of stored records may become without a new upload.
//!
//! Columns are stored by position and type, so names, order, types and what
//! is an identifier stay; roles, hierarchies and everything said of the whole
//! may change. A hierarchy must have every stored value as a leaf, and nothing
//! that subjects' terms bind to may lose its protection: they were given for
//! it. *Ours.*

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde::Serialize;

use super::attribute::{Attribute, AttributeType, Role};
use super::chunk::{Chunk, ChunkColumn};
use super::error::TableError;
use super::hierarchy::{Hierarchy, HierarchySet, HierarchySource};
use super::index::AttributeIndex;
use super::intake_column::source_of;
use super::limits::{ReadLimits, Target};
use super::number::{Number, leaf_keys};
use super::preference::{MaxLeakageTerms, Terms};
use super::schema::Schema;
use super::value_text::MISSING_LABEL;

/// Why a schema cannot take the place of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MisfitCode {
    /// Another attribute names the subject.
    SubjectKeyChanged,
    /// Subject keys are normalized by other rules.
    KeyRulesChanged,
    /// Subjects have another number of records.
    MultiplicityChanged,
    /// An attribute that stored records do not have.
    AttributeAdded,
    /// An attribute that stored records have is gone.
    AttributeRemoved,
    /// An attribute stands at another place.
    AttributeMoved,
    /// Values of another type.
    TypeChanged,
    /// An identifier became none, or the other way round.
    IdentifierChanged,
    /// Stored values are no leaves of the hierarchy.
    NotInHierarchy,
    /// Subjects' terms bind to an attribute that would lose its protection.
    BoundByTerms,
    /// Subjects guard nodes that the hierarchy would not have, or not above
    /// all of their leaves.
    GuardedNodeMissing,
}

impl MisfitCode {
    /// What is wrong, and how to mend it.
    pub fn advice(self) -> &'static str {
        match self {
            Self::SubjectKeyChanged => "another attribute names the subject: make a new dataset",
            Self::KeyRulesChanged => {
                "subject_key_normalization is for good: leave it out, or make a new dataset"
            }
            Self::MultiplicityChanged => {
                "subjects have another number of records: make a new dataset"
            }
            Self::AttributeAdded => "stored records have no such attribute: make a new dataset",
            Self::AttributeRemoved => {
                "stored records have it: keep it, as insensitive or as it is; or make a new dataset"
            }
            Self::AttributeMoved => "keep the order of the attributes",
            Self::TypeChanged => "stored values have another type: make a new dataset",
            Self::IdentifierChanged => {
                "identifiers are stored in another form than other values: make a new dataset"
            }
            Self::NotInHierarchy => {
                "stored records have values that are no leaves of the hierarchy: put a revision \
                 that has them"
            }
            Self::BoundByTerms => {
                "subjects' terms bind to it: keep it sensitive, or semi_sensitive where it was"
            }
            Self::GuardedNodeMissing => {
                "subjects guard nodes that the hierarchy does not have, or not above the same \
                 leaves: put a revision that has them"
            }
        }
    }
}

/// One thing by which a schema does not fit what is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SchemaMisfit {
    /// The attribute; `None` where it is about all of them.
    pub attribute: Option<String>,
    /// What is wrong.
    pub code: MisfitCode,
    /// Records or subjects concerned, where they were counted.
    pub count: Option<u64>,
}

impl SchemaMisfit {
    fn of(attribute: &str, code: MisfitCode) -> Self {
        Self {
            attribute: Some(attribute.to_owned()),
            code,
            count: None,
        }
    }

    fn counted(attribute: &str, code: MisfitCode, count: u64) -> Option<Self> {
        let count = (count > 0).then_some(count)?;
        Some(Self {
            count: Some(count),
            ..Self::of(attribute, code)
        })
    }
}

/// Other rules for subject keys, which a dataset never gets: keys that are kept
/// already, with records, terms or tokens, would be other people's.
pub fn key_rule_misfit(before: &Schema, after: &Schema) -> Option<SchemaMisfit> {
    let misfit = SchemaMisfit {
        attribute: None,
        code: MisfitCode::KeyRulesChanged,
        count: None,
    };
    (!before.has_key_rules_of(after)).then_some(misfit)
}

/// What in `after` does not fit columns that are stored for `before`.
pub fn column_misfits(before: &Schema, after: &Schema) -> Vec<SchemaMisfit> {
    let key = |schema: &Schema| schema.attribute(schema.subject_key()).name.clone();
    let mut misfits = Vec::new();
    if key(before) != key(after) {
        let misfit = SchemaMisfit::of(&key(after), MisfitCode::SubjectKeyChanged);
        misfits.push(misfit);
    }
    if before.multiplicity() != after.multiplicity() {
        misfits.push(SchemaMisfit {
            attribute: None,
            code: MisfitCode::MultiplicityChanged,
            count: None,
        });
    }
    let names = |schema: &Schema| -> HashSet<String> {
        let names = schema.attributes().iter();
        names.map(|attribute| attribute.name.clone()).collect()
    };
    let has_same_names = names(before) == names(after);
    for (at, attribute) in after.attributes().iter().enumerate() {
        let code = match before.find(&attribute.name) {
            None => MisfitCode::AttributeAdded,
            Some(index) if has_same_names && index.at() != at => MisfitCode::AttributeMoved,
            // Texts that were not read as days are none that others are counted from.
            Some(index)
                if attribute.role == Role::Identifier
                    && after.is_index_date(AttributeIndex::from_usize(at))
                    && !before.is_index_date(index) =>
            {
                MisfitCode::IdentifierChanged
            }
            Some(index) => match form_misfit(before.attribute(index), attribute) {
                None => continue,
                Some(code) => code,
            },
        };
        misfits.push(SchemaMisfit::of(&attribute.name, code));
    }
    for attribute in before.attributes() {
        if after.find(&attribute.name).is_none() {
            let code = MisfitCode::AttributeRemoved;
            misfits.push(SchemaMisfit::of(&attribute.name, code));
        }
    }
    misfits
}

/// By what the stored form of an attribute's values would be another one.
fn form_misfit(before: &Attribute, after: &Attribute) -> Option<MisfitCode> {
    let is_identifier = |attribute: &Attribute| attribute.role == Role::Identifier;
    match (is_identifier(before), is_identifier(after)) {
        (true, true) => None,
        (false, false) => (before.kind != after.kind).then_some(MisfitCode::TypeChanged),
        _ => Some(MisfitCode::IdentifierChanged),
    }
}

/// Attributes of a schema whose hierarchy is another one than before, or was
/// none, or whose values are changed otherwise.
pub fn other_hierarchies(
    (before, hierarchies_before): (&Schema, &HierarchySet),
    (after, hierarchies): (&Schema, &HierarchySet),
) -> Vec<AttributeIndex> {
    let source = |attribute: &Attribute, set: &HierarchySet| {
        let name = attribute.hierarchy.as_ref()?;
        set.get(name).map(HierarchySource::digest)
    };
    after.select(|attribute| {
        let earlier = before.find(&attribute.name);
        let earlier = earlier.map(|index| before.attribute(index));
        // Values that jobs changed were not looked at.
        let is_other = earlier.is_some_and(|earlier| earlier.transform != attribute.transform);
        let earlier = earlier.and_then(|earlier| source(earlier, hierarchies_before));
        attribute.role != Role::Identifier
            && (is_other || source(attribute, hierarchies) != earlier)
    })
}

/// Looks whether stored values are leaves of other hierarchies.
pub struct StoredValues {
    /// For each attribute its place, what it may hold, and the records that
    /// hold something else.
    looked_at: Vec<(usize, Leaves, u64)>,
}

enum Leaves {
    /// Labels of a tree.
    Labels(Arc<Hierarchy>),
    /// Keys of numbers, and whether a missing one has a place.
    Keys(HashSet<u64>, bool),
}

impl StoredValues {
    /// Looks at these attributes of `schema`. The error: a hierarchy that is
    /// not given or does not fit its attribute.
    pub fn new(
        schema: &Schema,
        hierarchies: &HierarchySet,
        attributes: &[AttributeIndex],
    ) -> Result<Self, TableError> {
        let target = Target {
            schema,
            hierarchies,
            limits: ReadLimits::default(),
        };
        let mut looked_at = Vec::new();
        for &index in attributes {
            let attribute = schema.attribute(index);
            let Some(HierarchySource::Tree(tree)) = source_of(attribute, &target)? else {
                continue;
            };
            // Jobs hold the values that they make of these against it.
            if !attribute.transform.is_nothing() {
                continue;
            }
            let has_place =
                tree.find(MISSING_LABEL).is_none() || tree.leaf(MISSING_LABEL).is_some();
            let leaves = match attribute.kind {
                Some(AttributeType::Integer) => Leaves::Keys(leaf_keys::<i64>(tree)?, has_place),
                Some(AttributeType::Decimal) => Leaves::Keys(leaf_keys::<f64>(tree)?, has_place),
                Some(AttributeType::Date) => Leaves::Keys(leaf_keys::<i32>(tree)?, has_place),
                Some(AttributeType::Categorical) | None => Leaves::Labels(Arc::clone(tree)),
            };
            looked_at.push((index.at(), leaves, 0));
        }
        Ok(Self { looked_at })
    }

    /// Whether there is nothing to look at.
    pub fn is_empty(&self) -> bool {
        self.looked_at.is_empty()
    }

    /// Looks at the records of a chunk.
    pub fn add(&mut self, chunk: &Chunk) -> Result<(), TableError> {
        for (at, leaves, beyond) in &mut self.looked_at {
            let column = chunk.columns.get(*at);
            let column = column.ok_or_else(|| TableError::Chunk("a column is missing".into()))?;
            *beyond += leaves.lacks(column);
        }
        Ok(())
    }

    /// What was found.
    pub fn misfits(&self, schema: &Schema) -> Vec<SchemaMisfit> {
        let found = self.looked_at.iter().filter_map(|(at, _, beyond)| {
            let name = &schema.attributes()[*at].name;
            SchemaMisfit::counted(name, MisfitCode::NotInHierarchy, *beyond)
        });
        found.collect()
    }
}

impl Leaves {
    /// Number of cells that are none of the leaves.
    fn lacks(&self, column: &ChunkColumn) -> u64 {
        let lacking = match (self, column) {
            (Self::Keys(_, has_place), ChunkColumn::WithMissing { known, missing }) => {
                let missing = if *has_place { 0 } else { missing.len() as u64 };
                return self.lacks(known) + missing;
            }
            (Self::Keys(keys, _), ChunkColumn::Integer(values)) => beyond(keys, values),
            (Self::Keys(keys, _), ChunkColumn::Decimal(values)) => beyond(keys, values),
            (Self::Keys(keys, _), ChunkColumn::Date(values)) => beyond(keys, values),
            (Self::Labels(tree), ChunkColumn::Category { labels, codes }) => {
                let is_leaf = |label: &str| match tree.leaf(label) {
                    Some(_) => true,
                    None => label == MISSING_LABEL && tree.find(label).is_none(),
                };
                let fits: Vec<bool> = labels.iter().map(is_leaf).collect();
                let beyond = codes.iter().filter(|&&code| !fits[code as usize]);
                beyond.count()
            }
            // Another type: nothing in it is a leaf.
            (_, column) => column.len(),
        };
        lacking as u64
    }
}

fn beyond<N: Number>(keys: &HashSet<u64>, values: &[N]) -> usize {
    let beyond = values.iter().filter(|value| !keys.contains(&value.key()));
    beyond.count()
}

/// Looks whether subjects' terms bind to what would lose its protection.
pub struct BoundTerms {
    /// Attributes that were protected and would not be, and whose terms bind there.
    lost: BTreeMap<String, u64>,
    /// Attributes that were protected for everybody and would be for those
    /// alone who name them, and whose terms bind there.
    lessened: BTreeMap<String, u64>,
    /// Attributes with another tree.
    trees: BTreeMap<String, OtherTree>,
}

/// An attribute's tree before and after, and how many subjects guard a node
/// that would not be found.
struct OtherTree {
    earlier: Arc<Hierarchy>,
    later: Option<Arc<Hierarchy>>,
    subjects: u64,
    /// Guarded nodes that were looked at, and whether each is lost.
    looked_at: BTreeMap<String, bool>,
}

impl OtherTree {
    /// Whether a node is gone, or a value under it would lie under others: who
    /// guards the node guards that value.
    fn loses(&mut self, node: &str) -> bool {
        if let Some(&known) = self.looked_at.get(node) {
            return known;
        }
        let under = |tree: &Hierarchy| {
            let node = tree.node(tree.find(node)?);
            Some(node.first_leaf.0..=node.last_leaf().0)
        };
        let is_lost = under(&self.earlier).is_some_and(|leaves| {
            let Some((later, stays)) = self
                .later
                .as_ref()
                .zip(self.later.as_deref().and_then(under))
            else {
                return true;
            };
            let labels = self.earlier.leaf_labels();
            let labels = labels.skip(*leaves.start() as usize).take(leaves.count());
            let mut codes = labels.filter_map(|label| later.leaf(label));
            codes.any(|code| !stays.contains(&code.0))
        });
        self.looked_at.insert(node.to_owned(), is_lost);
        is_lost
    }
}

impl BoundTerms {
    /// Looks at a change from one schema, with its hierarchies, to another.
    pub fn new(
        (before, hierarchies_before): (&Schema, &HierarchySet),
        (after, hierarchies): (&Schema, &HierarchySet),
    ) -> Self {
        let tree = |attribute: &Attribute, set: &HierarchySet| match set
            .get(attribute.hierarchy.as_ref()?)?
        {
            HierarchySource::Tree(tree) => Some(Arc::clone(tree)),
            HierarchySource::Intervals(_) => None,
        };
        let mut bound = Self {
            lost: BTreeMap::new(),
            lessened: BTreeMap::new(),
            trees: BTreeMap::new(),
        };
        for index in before.protectable() {
            let attribute = before.attribute(index);
            let name = attribute.name.clone();
            let later = after.find(&name).map(|index| after.attribute(index));
            match later.filter(|later| later.is_protectable()) {
                None => {
                    bound.lost.insert(name, 0);
                }
                Some(later) => {
                    if attribute.is_protected_beyond(later) {
                        bound.lessened.insert(name.clone(), 0);
                    }
                    let earlier = tree(attribute, hierarchies_before);
                    let later = tree(later, hierarchies);
                    if let Some(earlier) = earlier.filter(|earlier| Some(earlier) != later.as_ref())
                    {
                        let other = OtherTree {
                            earlier,
                            later,
                            subjects: 0,
                            looked_at: BTreeMap::new(),
                        };
                        bound.trees.insert(name, other);
                    }
                }
            }
        }
        bound
    }

    /// Whether there is nothing to look at.
    pub fn is_empty(&self) -> bool {
        self.lost.is_empty() && self.lessened.is_empty() && self.trees.is_empty()
    }

    /// Looks at the terms of one subject.
    pub fn add(&mut self, terms: &Terms) {
        let is_named = |name: &String| terms.sensitive.iter().flatten().any(|other| other == name);
        let is_bounded = |name: &String| {
            let leaks = match &terms.max_leakage {
                None => false,
                Some(MaxLeakageTerms::All(_)) => true,
                Some(MaxLeakageTerms::PerAttribute(bounds)) => bounds.contains_key(name),
            };
            leaks || terms.guard.contains_key(name)
        };
        for (name, subjects) in &mut self.lost {
            *subjects += u64::from(is_bounded(name) || is_named(name));
        }
        for (name, subjects) in &mut self.lessened {
            *subjects += u64::from(is_bounded(name) && !is_named(name));
        }
        for (name, tree) in &mut self.trees {
            let mut guarded = terms.guard.get(name).into_iter().flatten();
            let is_lost = guarded.any(|node| tree.loses(node));
            tree.subjects += u64::from(is_lost);
        }
    }

    /// What was found.
    pub fn misfits(&self) -> Vec<SchemaMisfit> {
        let lost = self.lost.iter().chain(&self.lessened);
        let lost = lost.filter_map(|(name, &subjects)| {
            SchemaMisfit::counted(name, MisfitCode::BoundByTerms, subjects)
        });
        let trees = self.trees.iter().filter_map(|(name, tree)| {
            SchemaMisfit::counted(name, MisfitCode::GuardedNodeMissing, tree.subjects)
        });
        lost.chain(trees).collect()
    }
}

#[cfg(test)]
mod tests;
