//! What measures of persons look at, joined once for all of them.

use crate::microdata::{AttributeIndex, CodedColumn, SubjectIndex, SubjectRecords};
use crate::release::layout::PERSONS;
use crate::release::{Content, JoinedAttribute, JoinedTable, Signatures};

use super::originals::Originals;
use crate::utility::evidence::{Evidence, EvidenceError, positions};

/// Evidence with rows classed, attributes matched to the original columns and
/// the original fingerprints gathered.
#[derive(Debug)]
pub struct PreparedPersons<'a> {
    /// The originals.
    pub evidence: Evidence<'a>,
    /// The table `persons`.
    pub joined: JoinedTable<'a>,
    /// Rows that look the same on the quasi-identifiers.
    pub groups: Signatures,
    /// Rows with the same published fingerprint.
    pub fingerprints: Signatures,
    /// Subject of each row.
    pub subjects: &'a [SubjectIndex],
    /// Records of each subject.
    pub records: SubjectRecords,
    /// Original fingerprints by row, for each sensitive attribute in order of columns.
    pub(super) originals: Vec<Originals>,
    /// Position of each published attribute, in order of columns.
    attributes: Vec<AttributeIndex>,
}

/// One published attribute beside its original column.
#[derive(Clone, Copy, Debug)]
pub struct PersonsAttribute<'a> {
    /// What was published.
    pub published: &'a JoinedAttribute<'a>,
    /// What there was, record by record.
    pub original: &'a CodedColumn,
}

impl<'a> PreparedPersons<'a> {
    /// Joins the evidence. Time is linear in records and rows × attributes.
    pub fn new(evidence: &Evidence<'a>) -> Result<Self, EvidenceError> {
        let table = evidence.table;
        let joined = JoinedTable::of_persons(evidence.tables)?;
        let attributes = positions(table, &joined)?;
        let subjects = evidence.lineage.of(PERSONS).unwrap_or_default();
        if subjects.len() != joined.rows() {
            return Err(EvidenceError::Unfit("rows and lineage differ in number"));
        }
        let unknown = |subject: &SubjectIndex| subject.at() >= table.subjects();
        if subjects.iter().any(unknown) || evidence.requirements.records() != table.records() {
            return Err(EvidenceError::Unfit(
                "lineage names a subject that is not there",
            ));
        }
        let mut prepared = Self {
            evidence: *evidence,
            groups: joined.classes(&[Content::Generalized]),
            fingerprints: joined.classes(&[Content::Fingerprint]),
            subjects,
            records: SubjectRecords::of(table),
            originals: Vec::new(),
            joined,
            attributes,
        };
        let sensitive = prepared.of_content(Content::Fingerprint);
        prepared.originals = sensitive
            .map(|attribute| Originals::of(attribute.original, &prepared.records, subjects))
            .collect();
        Ok(prepared)
    }

    /// The quasi-identifiers beside their originals, in order of columns.
    pub fn quasi(&self) -> impl Iterator<Item = PersonsAttribute<'_>> {
        self.of_content(Content::Generalized)
    }

    /// The sensitive attributes with their original fingerprints, in order of columns.
    pub(super) fn sensitive(&self) -> impl Iterator<Item = (PersonsAttribute<'_>, &Originals)> {
        self.of_content(Content::Fingerprint).zip(&self.originals)
    }

    fn of_content(&self, content: Content) -> impl Iterator<Item = PersonsAttribute<'_>> {
        let pairs = self.joined.attributes().iter().zip(&self.attributes);
        let pairs = pairs.filter(move |(published, _)| published.content == content);
        pairs.filter_map(|(published, &index)| {
            Some(PersonsAttribute {
                published,
                original: self.evidence.table.coded(index)?,
            })
        })
    }
}
