//! What parts show together.

use std::io;

use rustc_hash::FxHashMap;

use crate::engine::kernel::outline::slices::Counted;
use crate::engine::kernel::outline::{Leaf, SetNumber};
use crate::microdata::{Role, SubjectIndex};
use crate::privacy::{Model, Protection};
use crate::release::layout::{BUCKETS, GROUP_BUCKETS};
use crate::release::{
    Alike, Chunks, Lineage, MadeInParts, OrderedParts, PartNumber, PublishedColumn, PublishedTable,
    Release, TableLineage,
};

use super::closeness::parts_too_far;
use super::gathered::Gathered;
use super::made::MadeParts;
use crate::engine::Scratch;

/// Whether parts can be published together.
pub(super) enum Together {
    /// They can; groups of each of these look alike, and are one.
    Joined(Vec<Alike>),
    /// Not yet: rows of these two look alike, and do not keep together what a
    /// member asks.
    Apart(SetNumber, SetNumber),
    /// Not yet: this one has a bucket whose values are too far from those of all.
    Beyond(SetNumber),
}

/// Looks at what the parts show together.
pub(super) fn together(
    gathered: &Gathered<'_>,
    counted: &Counted<'_>,
    (made, leaves): (&MadeParts<'_>, &[Leaf]),
) -> io::Result<Together> {
    let parts = made.in_order(leaves);
    let place: FxHashMap<PartNumber, usize> = parts
        .iter()
        .enumerate()
        .map(|(at, (_, part))| (part.number, at))
        .collect();
    let alike = made
        .ordered
        .alike(&|column| is_looked_at(gathered, column))?;
    let keeps = Keeps::of(gathered, &made.ordered);
    let apart = alike.iter().filter_map(|alike| {
        let mut places: Vec<usize> = alike
            .groups
            .iter()
            .filter_map(|group| place.get(&group.part).copied())
            .collect();
        places.sort_unstable();
        places.dedup();
        let &[first, other, ..] = places.as_slice() else {
            return None;
        };
        let fails = keeps.fail(alike, gathered, counted);
        fails.then_some((first, other))
    });
    // The first of them by their places: in whichever order they were made.
    if let Some((first, other)) = apart.min() {
        return Ok(Together::Apart(parts[first].0, parts[other].0));
    }
    let mut protections = gathered.requirements.policy().protections();
    if protections.any(|(_, own)| matches!(own, Protection::Closeness { .. })) {
        let of_whole = (gathered.table, &gathered.requirements);
        let far = parts_too_far(of_whole, &|take| made.ordered.list(BUCKETS, take))?;
        let far = far.iter().filter_map(|part| place.get(part));
        if let Some(&at) = far.min() {
            return Ok(Together::Beyond(parts[at].0));
        }
    }
    Ok(Together::Joined(alike))
}

/// A release in parts, which is in room beside the memory.
pub(in crate::catalog) struct Union {
    ordered: OrderedParts,
    parts: Vec<PartNumber>,
    joined: Vec<Alike>,
    /// Records that were left out.
    pub excluded: u64,
    unsatisfiable: Vec<SubjectIndex>,
    /// What the manifest says of the parts.
    pub made_in_parts: Option<MadeInParts>,
}

impl Union {
    /// The release of all parts.
    pub(super) fn of(
        gathered: &Gathered<'_>,
        (made, leaves): (MadeParts<'_>, &[Leaf]),
        joined: Vec<Alike>,
        made_in_parts: Option<MadeInParts>,
    ) -> Self {
        let mut unsatisfiable = gathered.unsatisfiable.clone();
        let before = gathered.opted_out + gathered.unsatisfiable.len();
        let mut excluded = before as u64;
        let parts = made.in_order(leaves).into_iter().map(|(_, part)| {
            unsatisfiable.extend(&part.unsatisfiable);
            excluded += part.excluded;
            part.number
        });
        let parts = parts.collect();
        Self {
            ordered: made.ordered,
            parts,
            joined,
            excluded,
            unsatisfiable,
            made_in_parts,
        }
    }

    /// Gives the release in its published order, table after table, in chunks of rows
    /// with their subjects.
    ///
    /// # Errors
    /// What a room or `take` says.
    pub fn write(self, scratch: &dyn Scratch, take: &mut Chunks<'_>) -> io::Result<()> {
        let (ordered, parts, joined) = (self.ordered, self.parts, self.joined);
        ordered.write(&parts, &joined, &mut || scratch.room(), take)
    }

    /// The same in memory.
    ///
    /// # Errors
    /// What a room says.
    pub fn release(mut self, scratch: &dyn Scratch) -> io::Result<Release> {
        let mut chunks: Vec<Vec<PublishedTable>> = Vec::new();
        let mut lineage = Lineage::default();
        let unsatisfiable = std::mem::take(&mut self.unsatisfiable);
        let (excluded, parts) = (self.excluded, self.made_in_parts);
        self.write(scratch, &mut |table, subjects| {
            let is_first = chunks.last().is_none_or(|all| all[0].name != table.name);
            // The first table has a row a subject.
            if chunks.is_empty() {
                lineage.tables.push(TableLineage {
                    table: table.name.clone(),
                    subjects: Vec::new(),
                });
            }
            if let Some(lineage) = lineage.tables.first_mut().filter(|_| !subjects.is_empty()) {
                lineage.subjects.extend(subjects);
            }
            match chunks.last_mut().filter(|_| !is_first) {
                Some(all) => all.push(table),
                None => chunks.push(vec![table]),
            }
            Ok(())
        })?;
        let tables = chunks
            .iter()
            .map(|all| PublishedTable::join(&all[0].name, all));
        Ok(Release {
            tables: tables.collect(),
            lineage,
            excluded,
            unsatisfiable,
            kept: None,
            parts,
        })
    }
}

/// When rows of several parts that look alike keep together what their members ask.
enum Keeps {
    /// Always.
    Always,
    /// Where the counts of their values do.
    ByCounts,
    /// Where all of them ask for the same.
    OfSameTerms,
    /// That follows from nothing here.
    Unknown,
}

impl Keeps {
    fn of(gathered: &Gathered<'_>, made: &OrderedParts) -> Self {
        match gathered.requirements.policy().model {
            Model::Generalized { .. } => Self::ByCounts,
            // What a node tells of somebody in another group follows from no count.
            Model::Personalized { .. } => Self::Unknown,
            Model::Fingerprints { .. } => Self::OfSameTerms,
            // Candidates of a group are those of all buckets that it names.
            Model::Bucketized { .. } if made.has(GROUP_BUCKETS) => Self::OfSameTerms,
            _ => Self::Always,
        }
    }

    /// Whether people who look alike do not keep together what they ask.
    fn fail(&self, alike: &Alike, gathered: &Gathered<'_>, counted: &Counted<'_>) -> bool {
        let subjects = alike.subjects.iter();
        let records = subjects.map(|&subject| gathered.first_record(subject));
        match self {
            Self::Always => false,
            Self::Unknown => true,
            Self::ByCounts => !counted.rule.holds(&counted.contents(records)),
            Self::OfSameTerms => {
                let terms = gathered.requirements.terms_of_record();
                let mut terms = records.map(|record| terms.at(record as usize));
                let first = terms.next();
                terms.any(|other| Some(other) != first)
            }
        }
    }
}

/// Whether rows that differ in a column are told apart by it.
fn is_looked_at(gathered: &Gathered<'_>, column: &PublishedColumn) -> bool {
    let schema = gathered.table.schema();
    let role = schema
        .find(&column.name)
        .map(|at| schema.attribute(at).role);
    let model = &gathered.requirements.policy().model;
    match role {
        Some(Role::QuasiIdentifier) => true,
        // Shown where it is not sensitive.
        Some(Role::SemiSensitive) => matches!(model, Model::Bucketized { .. }),
        _ => false,
    }
}
