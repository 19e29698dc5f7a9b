//! What measures look at, joined once for all of them.

use crate::microdata::{
    AttributeIndex, CodedColumn, Domain, PopulationTable, RecordIndex, Role, Table,
};
use crate::privacy::{CancelFlag, Model, Requirements};
use crate::release::{
    Content, JoinError, JoinedAttribute, JoinedTable, Lineage, Manifest, PublishedTable, Signatures,
};

/// Everything one measurement looks at.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The dataset version that was published.
    pub table: &'a Table,
    /// What every record of it asks for; of the same table.
    pub requirements: &'a Requirements,
    /// What the release claims.
    pub manifest: &'a Manifest,
    /// The published tables, decoded from their bytes.
    pub tables: &'a [PublishedTable],
    /// The subject of each published row; private.
    pub lineage: &'a Lineage,
    /// Among whom its people could be, where that is known.
    pub population_table: Option<&'a PopulationTable>,
    /// Heeded by all that takes long.
    pub cancel: &'a CancelFlag,
}

/// Why a release cannot be measured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvidenceError {
    /// The published tables do not fit together.
    #[error(transparent)]
    Join(#[from] JoinError),
    /// The tables do not fit their originals.
    #[error("release and originals do not fit together: {0}")]
    Unfit(&'static str),
}

/// Evidence with buckets joined, rows classed and attributes matched to the
/// original columns.
#[derive(Debug)]
pub struct JoinedEvidence<'a> {
    /// The originals.
    pub evidence: Evidence<'a>,
    /// The published rows with their buckets.
    pub joined: JoinedTable<'a>,
    /// Rows that look the same.
    pub signatures: Signatures,
    /// Record of each published row.
    pub records: Vec<RecordIndex>,
    /// Position of each published attribute, in order of columns.
    attributes: Vec<AttributeIndex>,
}

/// One published attribute beside its original column.
#[derive(Clone, Copy, Debug)]
pub struct PreparedAttribute<'a> {
    /// Position in the schema.
    pub index: AttributeIndex,
    /// What the attribute is to an adversary.
    pub role: Role,
    /// What was published.
    pub published: &'a JoinedAttribute<'a>,
    /// What there was.
    pub original: &'a CodedColumn,
}

impl<'a> PreparedAttribute<'a> {
    /// The ordered domain of the dataset version.
    pub fn domain(&self) -> &'a Domain {
        &self.original.domain
    }

    /// Whether the attribute's cells count as quasi-identifier cells: it is
    /// generalized, and not sensitive for everyone.
    pub fn is_quasi_identifier(&self) -> bool {
        self.published.content == Content::Generalized
            && matches!(self.role, Role::QuasiIdentifier | Role::SemiSensitive)
    }
}

/// Position in the schema of each published attribute, in order of columns.
pub(super) fn positions(
    table: &Table,
    joined: &JoinedTable<'_>,
) -> Result<Vec<AttributeIndex>, EvidenceError> {
    let positions = joined.attributes().iter().map(|attribute| {
        let index = table.schema().find(attribute.name);
        let coded = index.filter(|&index| table.coded(index).is_some());
        coded.ok_or(EvidenceError::Unfit("an attribute is not in the schema"))
    });
    positions.collect()
}

impl<'a> JoinedEvidence<'a> {
    /// Joins the evidence. Time is linear in rows × attributes.
    pub fn new(evidence: &Evidence<'a>) -> Result<Self, EvidenceError> {
        let table = evidence.table;
        let joined = JoinedTable::new(evidence.tables)?;
        let attributes = positions(table, &joined)?;
        let subjects = evidence.lineage.of(joined.name()).unwrap_or_default();
        if subjects.len() != joined.rows() {
            return Err(EvidenceError::Unfit("rows and lineage differ in number"));
        }
        // A microdata-shaped release has one record a subject (data.md), so
        // the subject's position is the record's.
        if table.records() != table.subjects() {
            return Err(EvidenceError::Unfit("a subject has several records"));
        }
        if subjects
            .iter()
            .any(|subject| subject.at() >= table.records())
            || evidence.requirements.records() != table.records()
        {
            return Err(EvidenceError::Unfit(
                "lineage names a subject that is not there",
            ));
        }
        // A sensitive value is no part of a look, also where it is generalized;
        // that it is in a bucket, or masked, is.
        let is_bucketized = matches!(
            evidence.requirements.policy().model,
            Model::Bucketized { .. }
        );
        let schema = table.schema();
        let is_known = |attribute: &JoinedAttribute<'_>| {
            let role = schema
                .find(attribute.name)
                .map(|index| schema.attribute(index).role);
            attribute.content == Content::Generalized
                && (is_bucketized || role != Some(Role::Sensitive))
        };
        Ok(Self {
            evidence: *evidence,
            signatures: joined.classes_by(is_known),
            records: subjects
                .iter()
                .map(|subject| RecordIndex(subject.0))
                .collect(),
            joined,
            attributes,
        })
    }

    /// The published attributes beside their originals, in order of columns.
    pub fn attributes(&self) -> impl Iterator<Item = PreparedAttribute<'_>> {
        let table = self.evidence.table;
        let pairs = self.joined.attributes().iter().zip(&self.attributes);
        pairs.filter_map(move |(published, &index)| {
            Some(PreparedAttribute {
                index,
                role: table.schema().attribute(index).role,
                published,
                original: table.coded(index)?,
            })
        })
    }
}
