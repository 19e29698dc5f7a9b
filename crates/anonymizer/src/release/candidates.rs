//! What a release shows of each person's sensitive values: the values of the
//! bucket or of the look-alikes that they are among.
//!
//! Two releases of the same people together tell more than each: whose value
//! is in both sets has it for sure. So the candidates of each release that may
//! become public are kept, sealed, for as long as somebody may hold a copy
//! (docs/STORE.md), and compared before another one is published
//! (`verify::composition`). Private: they name subjects.

mod rows;

use std::io;

use serde::{Deserialize, Serialize};

use self::rows::{columns, groups, shown_terms};
use super::canonical::cell_text;
use super::joined::{JoinedAttribute, JoinedTable, Link};
use super::layout::{SlicedLayout, is_sliced};
use super::lineage::Lineage;
use super::manifest::Transformed;
use super::table::{Content, PublishedTable};
use crate::microdata::normalize::class;
use crate::microdata::value_text::MISSING_LABEL;
use crate::microdata::{Multiplicity, Role, Schema, Table, TextColumn, Transform};
use crate::privacy::{
    BlockForm, Diversity, History, Model, Policy, Protection, Requirements, Spread,
};

/// Stands for somebody of whom a release shows nothing.
pub const NO_CLASS: u32 = u32::MAX;

/// What a release shows of its subjects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidates {
    /// The subjects, ascending.
    pub subjects: TextColumn,
    /// What it shows of each sensitive attribute; none where values are
    /// published generalized or drawn, so that no comparison of texts is right.
    pub attributes: Vec<AttributeCandidates>,
    /// What it shows of who is who. This and what follows is not known of
    /// releases that were made before it was kept.
    #[serde(default)]
    pub identity: Identity,
    /// Whether `attributes` has every sensitive attribute that is published.
    #[serde(default)]
    pub is_complete: bool,
    /// Whether some subjects ask for more than the job's floors.
    #[serde(default)]
    pub has_own_terms: bool,
    /// Whether a subject whose value changed is shown in another set of values.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shows_changes: bool,
    /// Whether its groups are those of earlier releases, joined to larger ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub joins_groups: bool,
    /// The different terms of subjects, where they differ; empty of releases that
    /// were made before they were kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<ShownTerms>,
    /// Terms of each subject, by position; empty where `terms` is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terms_of: Vec<u32>,
    /// What the schema says was changed of values beforehand: a value that was
    /// changed otherwise is another one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transformed: Vec<Transformed>,
    /// What the row of each subject shows, where the series keeps groups: later
    /// releases show the same again. Nothing else needs it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<ShownColumn>,
}

/// What a release promises to a subject.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShownTerms {
    /// Subjects who look alike.
    pub k: u32,
    /// No value of this many of them, for each of the shown attributes.
    pub l: Vec<u32>,
}

/// What rows show of one attribute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShownColumn {
    /// Name of the attribute.
    pub name: String,
    /// Texts of the different cells.
    pub cells: Vec<String>,
    /// Cell of each subject, by position.
    pub cell_of: Vec<u32>,
}

/// What a release shows of who is who.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Identity {
    /// Nobody knows: values of a row are not linked to each other, rows are
    /// not those of single records, or it was not kept.
    #[default]
    Unknown,
    /// Quasi-identifiers are exact: an adversary knows which row is whose.
    Exact,
    /// At least k rows look alike.
    Groups {
        /// The job's k.
        k: u32,
        /// Group of each subject.
        group_of: Vec<u32>,
    },
}

/// What a release shows of one sensitive attribute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttributeCandidates {
    /// Name of the attribute.
    pub name: String,
    /// The job's l; at least 2.
    pub l: u32,
    /// Whether values stand in rows, each linked to the others of its row; else
    /// in buckets.
    #[serde(default)]
    pub stands_in_rows: bool,
    /// Whether l is all that is claimed of the values of a class.
    #[serde(default)]
    pub is_l_alone: bool,
    /// Whether a class has exactly the values of its members, each once.
    pub is_whole: bool,
    /// Whether the counts of a class are those that are published for it. Not
    /// known of releases that were made before it was kept.
    #[serde(default)]
    pub is_counted: bool,
    /// The different values.
    pub values: Vec<String>,
    /// Of each class its values, by position, with their counts.
    pub classes: Vec<Vec<(u32, u32)>>,
    /// Class of each subject, [`NO_CLASS`] for none.
    pub class_of: Vec<u32>,
}

impl Candidates {
    /// How the values of an attribute were changed beforehand, if they were.
    pub fn transform_of(&self, attribute: &str) -> Option<&Transform> {
        let mut changed = self.transformed.iter();
        let found = changed.find(|one| one.attribute == attribute)?;
        Some(&found.transform)
    }

    /// Reads them off the tables of a release of `table`.
    pub fn of(
        table: &Table,
        requirements: &Requirements,
        tables: &[PublishedTable],
        lineage: &Lineage,
    ) -> Self {
        let Some(first) = tables.first() else {
            return Self::default();
        };
        let rows = lineage.of(&first.name).unwrap_or_default();
        let key = |row: usize| table.subject_keys().get(rows[row].at());
        let mut order: Vec<u32> = (0..rows.len() as u32).collect();
        if table.subject_keys().iter().is_sorted() {
            order.sort_unstable_by_key(|&row| (rows[row as usize], row));
        } else {
            order.sort_unstable_by(|&one, &other| {
                let (one, other) = (one as usize, other as usize);
                (key(one), one).cmp(&(key(other), other))
            });
        }
        let keeps_groups = requirements.groups_shown_again().is_some();
        let (schema, policy) = (table.schema(), requirements.policy());
        let mut shown = shown(schema, policy, (tables, keeps_groups));
        let before = shown.attributes.len();
        let has_all_rows = |of_row: &[u32]| of_row.len() == rows.len();
        shown.attributes.retain(|one| has_all_rows(&one.class_of));
        shown.is_complete &= shown.attributes.len() == before;
        let history = requirements.history();
        shown.shows_changes = history.is_some_and(History::shows_changes);
        shown.joins_groups = history.is_some_and(History::joins_groups);
        shown.has_own_terms = requirements.distinct_terms().len() > 1;
        shown.transformed = Transformed::of(schema);
        shown.subjects = order.iter().map(|&row| key(row as usize)).collect();
        shown.subjects.shrink();
        let ordered = |of_row: &[u32]| order.iter().map(|&row| of_row[row as usize]).collect();
        for one in &mut shown.attributes {
            one.class_of = ordered(&one.class_of);
        }
        if shown.has_own_terms && table.schema().multiplicity() == Multiplicity::One {
            shown.terms = shown_terms(schema, requirements, &shown.attributes);
        }
        if !shown.terms.is_empty() {
            // With one record a subject, the record of a subject has its position.
            let terms = requirements.terms_of_record();
            let subjects = order.iter().map(|&row| rows[row as usize].at());
            shown.terms_of = subjects.map(|subject| terms.at(subject)).collect();
        }
        if keeps_groups {
            shown.rows = columns(schema, first);
            shown.rows.retain(|column| has_all_rows(&column.cell_of));
        }
        for column in &mut shown.rows {
            column.cell_of = ordered(&column.cell_of);
        }
        match &mut shown.identity {
            Identity::Groups { group_of, .. } if has_all_rows(group_of) => {
                *group_of = ordered(group_of);
            }
            Identity::Groups { .. } => shown.identity = Identity::Unknown,
            Identity::Unknown | Identity::Exact => {}
        }
        shown
    }

    /// Record of each subject, by position, in a table of one record a subject;
    /// none where the table does not have one of them.
    pub fn records(&self, table: &Table) -> Option<Vec<u32>> {
        let mut records = vec![NO_CLASS; self.subjects.len()];
        let mut near = 0;
        for (record, key) in (0..).zip(table.subject_keys().iter()) {
            match self.subjects.search_from(near, key) {
                Ok(found) => {
                    records[found] = record;
                    near = found + 1;
                }
                Err(next) => near = next,
            }
        }
        (!records.contains(&NO_CLASS)).then_some(records)
    }

    /// What was promised to a subject, by position; none where all have the job's
    /// floors, or it was not kept.
    pub fn terms(&self, at: usize) -> Option<&ShownTerms> {
        self.terms.get(*self.terms_of.get(at)? as usize)
    }

    /// Whether it is not known who has terms of their own.
    pub fn has_unknown_terms(&self) -> bool {
        self.has_own_terms && self.terms.is_empty()
    }

    /// The same without a subject; `None` where it shows nothing of them. Values
    /// are published and stay, so that a class has more of them than members.
    #[must_use]
    pub fn without(mut self, subject: &str) -> Option<Self> {
        let before = self.subjects.len();
        // With many records a subject may have several rows.
        while let Some(at) = self.subjects.find_sorted(subject) {
            self.subjects.remove(at);
            for attribute in &mut self.attributes {
                attribute.class_of.remove(at);
                attribute.is_whole = false;
            }
            for column in &mut self.rows {
                column.cell_of.remove(at);
            }
            if !self.terms.is_empty() {
                self.terms_of.remove(at);
            }
            if let Identity::Groups { group_of, .. } = &mut self.identity {
                group_of.remove(at);
            }
        }
        (self.subjects.len() < before).then_some(self)
    }

    /// The bytes that are kept.
    ///
    /// # Errors
    /// Memory that the compressor does not get.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let text = serde_json::to_vec(self)?;
        zstd::encode_all(text.as_slice(), 3)
    }

    /// Reads what [`Candidates::to_bytes`] wrote.
    ///
    /// # Errors
    /// Bytes that it did not write.
    pub fn from_bytes(bytes: &[u8]) -> io::Result<Self> {
        let text = zstd::decode_all(bytes)?;
        Ok(serde_json::from_slice(&text)?)
    }
}

/// What the tables show, classes by rows; subjects and their terms are left open.
fn shown(
    schema: &Schema,
    policy: &Policy,
    (tables, keeps_groups): (&[PublishedTable], bool),
) -> Candidates {
    let (draws, is_ring) = match policy.model {
        Model::Blocks { form, .. } => (
            matches!(form, BlockForm::Randomized { .. }),
            matches!(form, BlockForm::Ring),
        ),
        _ => (false, false),
    };
    if draws {
        return Candidates::default();
    }
    let sliced = is_sliced(tables).then(|| SlicedLayout::read(tables));
    let Ok(sliced) = sliced.transpose() else {
        return Candidates::default();
    };
    let joined = match &sliced {
        Some(_) => JoinedTable::of_sliced(tables),
        None => JoinedTable::new(tables),
    };
    let Ok(joined) = joined else {
        return Candidates::default();
    };
    let is_sensitive = |attribute: &JoinedAttribute<'_>| {
        let index = schema.find(attribute.name);
        index.is_none_or(|index| schema.attribute(index).role == Role::Sensitive)
    };
    let class_of = match &sliced {
        Some(layout) => {
            let buckets = layout.bucket_of_row.iter();
            buckets
                .map(|&number| number.saturating_sub(1) as u32)
                .collect()
        }
        // Groups that look alike have histories of their own.
        None if keeps_groups => groups(tables),
        None => {
            let classes = joined.classes_by(|attribute| !is_sensitive(attribute));
            classes.class_of().to_vec()
        }
    };
    let attributes = protected(schema, policy, (&joined, &class_of), is_ring);
    let is_shown = |name: &str| {
        let mut all = attributes.iter();
        all.any(|one| one.name == name)
    };
    let mut sensitive = joined.attributes().iter().filter(|one| is_sensitive(one));
    let are_rows_whole = !is_ring && sliced.is_none();
    Candidates {
        is_complete: sensitive.all(|one| is_shown(one.name)),
        identity: match &policy.model {
            _ if !are_rows_whole => Identity::Unknown,
            Model::Bucketized { .. }
            | Model::Generalized { .. }
            | Model::Blocks {
                form: BlockForm::Generalized,
                ..
            } => Identity::Groups {
                k: policy.k.get(),
                group_of: class_of,
            },
            Model::Blocks { .. } => Identity::Exact,
            _ => Identity::Unknown,
        },
        attributes,
        ..Candidates::default()
    }
}

/// What is shown of the protected attributes that are published exactly, in
/// classes of look-alikes or in buckets.
fn protected(
    schema: &Schema,
    policy: &Policy,
    (joined, class_of): (&JoinedTable<'_>, &[u32]),
    is_ring: bool,
) -> Vec<AttributeCandidates> {
    let protected = policy.protections().filter_map(|(index, protection)| {
        let attribute = joined.attribute(&schema.attribute(index).name)?;
        let mut shown = match &attribute.buckets {
            Some(_) => of_buckets(attribute)?,
            None if attribute.content == Content::Exact => of_classes(attribute, class_of),
            None => return None,
        };
        shown.l = floor(protection).max(2);
        shown.is_l_alone = is_l_alone(protection);
        shown.is_whole &= !is_ring;
        // Another version may publish another spelling of the value.
        let forms = schema.attribute(index).forms();
        for value in &mut shown.values {
            *value = class(value, forms).unwrap_or_else(|| MISSING_LABEL.to_owned());
        }
        Some(shown)
    });
    protected.collect()
}

/// Whether it claims of the values of a class only that none is too frequent.
pub fn is_l_alone(protection: Protection) -> bool {
    match protection {
        Protection::Diversity { min_spread, .. } => min_spread == Spread::Nothing,
        Protection::InGroup {
            diversity: None | Some(Diversity::Distinct(_)),
            closeness: None,
            min_spread,
        } => min_spread == Spread::Nothing,
        Protection::InGroup { .. } | Protection::Closeness { .. } | Protection::Leakage { .. } => {
            false
        }
    }
}

fn floor(protection: Protection) -> u32 {
    match protection {
        Protection::Diversity { l, .. } => l.get(),
        Protection::InGroup {
            diversity: Some(Diversity::Distinct(l) | Diversity::Entropy(l)),
            ..
        } => l.get(),
        _ => 2,
    }
}

/// Values that stand in rows: those of the rows of a class.
fn of_classes(attribute: &JoinedAttribute<'_>, class_of: &[u32]) -> AttributeCandidates {
    let classes = class_of.iter().max().map_or(0, |&last| last as usize + 1);
    let rows = (0..).zip(class_of);
    let mut values: Vec<(u32, u32)> = rows
        .map(|(row, &class)| (class, attribute.codes.at(row)))
        .collect();
    values.sort_unstable();
    let mut listed = vec![Vec::new(); classes];
    for class in values.chunk_by(|(one, _), (other, _)| one == other) {
        let runs = class.chunk_by(|one, other| one == other);
        let counted = runs.map(|run| (run[0].1, run.len() as u32));
        listed[class[0].0 as usize] = counted.collect();
    }
    AttributeCandidates {
        name: attribute.name.to_owned(),
        l: 2,
        stands_in_rows: true,
        is_l_alone: false,
        is_whole: true,
        is_counted: true,
        values: texts(attribute.cells),
        classes: listed,
        class_of: class_of.to_vec(),
    }
}

/// Values that stand in buckets; none where the link is broken.
fn of_buckets(attribute: &JoinedAttribute<'_>) -> Option<AttributeCandidates> {
    let buckets = attribute.buckets.as_ref()?;
    let rows = attribute.codes.len();
    let class_of: Vec<u32> = (0..rows)
        .map(|row| buckets.pool_of(row).unwrap_or(NO_CLASS))
        .collect();
    let members = class_of.iter().filter(|&&class| class != NO_CLASS).count() as u64;
    let (is_counted, classes) = match buckets.link() {
        Link::Row(_) => {
            let all = 0..buckets.len();
            (
                true,
                all.map(|at| buckets.coded_run(at).collect()).collect(),
            )
        }
        // Which of a group's buckets holds whose value is not published.
        Link::Group {
            starts,
            buckets: of,
            ..
        } => {
            let of_group = |group: usize| {
                let run = starts[group] as usize..starts[group + 1] as usize;
                let mut values: Vec<(u32, u32)> = of[run]
                    .iter()
                    .flat_map(|&bucket| buckets.coded_run(bucket as usize))
                    .map(|(value, _)| (value, 1))
                    .collect();
                values.sort_unstable();
                values.dedup();
                values
            };
            (false, (0..buckets.pools()).map(of_group).collect())
        }
    };
    Some(AttributeCandidates {
        name: attribute.name.to_owned(),
        l: 2,
        stands_in_rows: false,
        is_l_alone: false,
        // A bucket may have counterfeits.
        is_whole: is_counted
            && buckets.sizes().iter().copied().map(u64::from).sum::<u64>() == members,
        is_counted,
        values: texts(buckets.cells()),
        classes,
        class_of,
    })
}

fn texts(cells: &[super::cell::Cell]) -> Vec<String> {
    cells.iter().map(cell_text).collect()
}
