//! What the stages of one run share: the table, the terms, and which
//! attributes a subset of records publishes.

use std::sync::Arc;

use crate::engine::context::RunContext;
use crate::engine::kernel::Scale;
use crate::microdata::{AttributeIndex, CodedColumn, RecordIndex, Role, Table};
use crate::privacy::{ProtectedIndex, ProtectedSet, RecordTerms, Requirements};

use super::params::Params;

/// Random streams, one number a stage.
pub(super) mod stage {
    /// Order among records that are equally strict.
    pub const EXCLUSION: u32 = 1;
    /// Order among subsets and records that are equally near.
    pub const PATTERNS: u32 = 2;
    /// Order of cells with one value, and among values that are equally frequent.
    pub const BUCKETS: u32 = 3;
    /// Choices inside the tree of splits.
    pub const GROUPS: u32 = 4;
    /// Which cells share a bucket; one stream a set.
    pub const SCATTER: u32 = 5;
    /// Search for groups with less loss; one stream a subset.
    pub const REFINE: u32 = 6;
}

/// Number of steps that progress counts.
pub(super) const STEPS: u32 = 4;

/// What the stages of one run share.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    pub table: &'a Table,
    pub requirements: &'a Requirements,
    pub params: &'a Params,
    pub context: &'a RunContext<'a>,
    /// Scale of each attribute that may be generalized, by attribute.
    pub scales: &'a [Option<Scale>],
}

impl<'a> Frame<'a> {
    /// Terms of a record.
    pub fn terms(&self, record: u32) -> &'a RecordTerms {
        self.requirements.of(RecordIndex(record))
    }

    /// Coded column of a published attribute.
    pub fn column(&self, attribute: AttributeIndex) -> &'a CodedColumn {
        // Unwrap safety: the frame asks for published attributes only, and
        // every published attribute is coded.
        self.table.coded(attribute).unwrap()
    }

    /// Coded column of a protectable attribute.
    pub fn protected_column(&self, index: ProtectedIndex) -> &'a CodedColumn {
        self.column(self.requirements.attribute(index))
    }

    /// Name of a protectable attribute.
    pub fn name(&self, index: ProtectedIndex) -> &'a str {
        let attribute = self.requirements.attribute(index);
        &self.table.schema().attribute(attribute).name
    }

    /// Whether subjects decide if the attribute is sensitive.
    pub fn is_semi_sensitive(&self, index: ProtectedIndex) -> bool {
        let attribute = self.requirements.attribute(index);
        self.table.schema().attribute(attribute).role == Role::SemiSensitive
    }

    /// Attributes that a subset with these flagged and masked attributes
    /// generalizes: its quasi-identifiers, in schema order.
    pub fn open_attributes(
        &self,
        flagged: ProtectedSet,
        masked: ProtectedSet,
    ) -> Vec<AttributeIndex> {
        let closed: Vec<AttributeIndex> = self
            .requirements
            .protected()
            .filter(|&index| flagged.contains(index) || masked.contains(index))
            .map(|index| self.requirements.attribute(index))
            .collect();
        let schema = self.table.schema();
        let known = schema.select(|attribute| {
            matches!(attribute.role, Role::QuasiIdentifier | Role::SemiSensitive)
        });
        let open = known.into_iter();
        open.filter(|attribute| !closed.contains(attribute))
            .collect()
    }

    /// Scales of attributes that may be generalized.
    pub fn scales_of(&self, attributes: &[AttributeIndex]) -> Vec<Scale> {
        let scales = attributes
            .iter()
            .map(|attribute| &self.scales[attribute.at()]);
        // Unwrap safety: `lay_out` made a scale for each of these roles.
        scales.map(|scale| scale.clone().unwrap()).collect()
    }

    /// Coded columns of attributes.
    pub fn columns_of(&self, attributes: &[AttributeIndex]) -> Vec<&'a CodedColumn> {
        let columns = attributes.iter();
        columns.map(|&attribute| self.column(attribute)).collect()
    }
}

/// Scales of the attributes that may be generalized, by attribute.
pub(super) fn lay_out(table: &Table) -> Vec<Option<Scale>> {
    let attributes = table.schema().attributes().iter().enumerate();
    let scale = |(at, role): (usize, Role)| match role {
        Role::QuasiIdentifier | Role::SemiSensitive => table
            .coded(AttributeIndex::from_usize(at))
            .map(|column| Scale::new(Arc::as_ref(&column.domain))),
        Role::Identifier | Role::Sensitive | Role::Insensitive | Role::Ignore => None,
    };
    attributes
        .map(|(at, attribute)| scale((at, attribute.role)))
        .collect()
}
