//! What parts are made of and what they gave.

use std::collections::BTreeMap;
use std::io;

use crate::engine::Scratch;
use crate::engine::error::EngineError;
use crate::engine::kernel::Scale;
use crate::engine::kernel::outline::{Leaf, SetNumber};
use crate::microdata::{AttributeIndex, CodedColumn, Role, SubjectIndex, Table};
use crate::privacy::Seed;
use crate::release::{OrderedParts, PartNumber, Release};

/// What one part gave; subjects are those of the whole table.
pub(super) struct Made {
    pub set: SetNumber,
    pub release: Release,
}

/// What is kept in memory of what a part gave.
pub(super) struct MadePart {
    pub number: PartNumber,
    pub excluded: u64,
    pub unsatisfiable: Vec<SubjectIndex>,
}

/// What parts gave, in room beside the memory.
pub(super) struct MadeParts<'a> {
    pub ordered: OrderedParts,
    scratch: &'a dyn Scratch,
    by_set: BTreeMap<SetNumber, MadePart>,
}

impl<'a> MadeParts<'a> {
    /// Nothing yet; `seed` is the run's.
    pub fn new(seed: &Seed, scratch: &'a dyn Scratch) -> Self {
        Self {
            ordered: OrderedParts::new(seed),
            scratch,
            by_set: BTreeMap::new(),
        }
    }

    /// Whether a set was published.
    pub fn has(&self, set: SetNumber) -> bool {
        self.by_set.contains_key(&set)
    }

    /// Keeps what a part gave.
    ///
    /// # Errors
    /// What the room says.
    pub fn insert(&mut self, made: Made) -> Result<(), EngineError> {
        let release = made.release;
        let scratch = self.scratch;
        let number = self
            .ordered
            .add(release.tables, release.lineage, &mut || scratch.room())?;
        let part = MadePart {
            number,
            excluded: release.excluded,
            unsatisfiable: release.unsatisfiable,
        };
        self.by_set.insert(made.set, part);
        Ok(())
    }

    /// Forgets the parts that are not kept.
    ///
    /// # Errors
    /// What the room says.
    pub fn retain(&mut self, is_kept: impl Fn(SetNumber) -> bool) -> io::Result<()> {
        let sets = self.by_set.keys().copied();
        let gone: Vec<SetNumber> = sets.filter(|&set| !is_kept(set)).collect();
        for set in gone {
            if let Some(part) = self.by_set.remove(&set) {
                self.ordered.remove(part.number)?;
            }
        }
        Ok(())
    }

    /// What the parts gave, by their places in the tree.
    pub fn in_order(&self, leaves: &[Leaf]) -> Vec<(SetNumber, &MadePart)> {
        let parts = leaves.iter();
        let parts = parts.filter_map(|leaf| Some((leaf.set, self.by_set.get(&leaf.set)?)));
        parts.collect()
    }
}

/// The quasi-identifiers of a table, by which it is cut.
pub(super) struct Columns<'a> {
    pub quasi: Vec<&'a CodedColumn>,
    /// Their positions in the schema.
    pub quasi_at: Vec<AttributeIndex>,
    pub scales: Vec<Scale>,
}

impl<'a> Columns<'a> {
    pub fn of(table: &'a Table) -> Self {
        let schema = table.schema();
        let quasi_at = schema.select(|attribute| attribute.role == Role::QuasiIdentifier);
        let quasi = quasi_at.iter().filter_map(|&at| table.coded(at));
        let quasi: Vec<&CodedColumn> = quasi.collect();
        let scales = quasi.iter().map(|column| Scale::new(&column.domain));
        Self {
            scales: scales.collect(),
            quasi,
            quasi_at,
        }
    }
}
