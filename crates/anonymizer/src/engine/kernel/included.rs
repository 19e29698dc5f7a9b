//! Records and columns that are published, with what their subjects ask for:
//! what engines see that publish an attribute in the same way for everyone.
//!
//! Records of subjects who opted out are not among them. A record is named by
//! its position in the table.

use crate::engine::error::EngineError;
use crate::microdata::{AttributeIndex, CodedColumn, Multiplicity, RecordIndex, Role, Table};
use crate::privacy::{ProtectedIndex, RecordTerms, Requirements};
use crate::release::{Cells, Content, PublishedColumn};

use super::acceptance::check_table;
use super::cells::exact_cells;
use super::loss::Scale;

/// One sensitive attribute.
#[derive(Clone, Copy, Debug)]
pub struct SensitiveColumn<'a> {
    /// Position in the schema.
    pub attribute: AttributeIndex,
    /// Position among the protectable attributes.
    pub index: ProtectedIndex,
    /// Its codes, by record.
    pub column: &'a CodedColumn,
}

/// Records and columns that are published.
#[derive(Clone, Debug)]
pub struct Included<'a> {
    /// The dataset version.
    pub table: &'a Table,
    /// What its records ask for.
    pub requirements: &'a Requirements,
    /// Records whose subjects did not ask to be left out, ascending.
    pub records: Vec<u32>,
    /// Records of subjects who did.
    pub opted_out: usize,
    /// Quasi-identifiers in schema order.
    pub quasi: Vec<(AttributeIndex, &'a CodedColumn)>,
    /// Sensitive attributes in schema order.
    pub sensitive: Vec<SensitiveColumn<'a>>,
}

impl<'a> Included<'a> {
    /// Gathers what is published of a table with one record a subject.
    ///
    /// `InvalidParameter` for another multiplicity, or requirements of
    /// another table.
    pub fn gather(table: &'a Table, requirements: &'a Requirements) -> Result<Self, EngineError> {
        check_table(table, requirements, Multiplicity::One)?;
        let exclude = |record: &u32| requirements.of(RecordIndex(*record)).exclude;
        let mut records: Vec<u32> = (0..table.records() as u32).collect();
        // Mostly nobody opts out, which few terms tell as well as all records.
        let terms = requirements.distinct_terms();
        if terms.iter().any(|terms| terms.exclude) {
            records.retain(|record| !exclude(record));
        }
        let schema = table.schema();
        let quasi = schema.select(|attribute| attribute.role == Role::QuasiIdentifier);
        let coded = |attribute: AttributeIndex| Some((attribute, table.coded(attribute)?));
        let sensitive = requirements.protected().filter_map(|index| {
            let attribute = requirements.attribute(index);
            Some(SensitiveColumn {
                attribute,
                index,
                column: table.coded(attribute)?,
            })
        });
        Ok(Self {
            table,
            requirements,
            opted_out: table.records() - records.len(),
            records,
            quasi: quasi.into_iter().filter_map(coded).collect(),
            sensitive: sensitive.collect(),
        })
    }

    /// What the subject of a record asks for.
    #[inline]
    pub fn terms(&self, record: u32) -> &'a RecordTerms {
        self.requirements.of(RecordIndex(record))
    }

    /// Whether this holds for all terms, of which there are mostly few for many
    /// records. They may be of somebody who is not included: only a yes says
    /// something of those who are.
    pub fn whatever_is_asked(&self, holds: impl Fn(&RecordTerms) -> bool) -> bool {
        self.requirements.distinct_terms().iter().all(holds)
    }

    /// Position in [`Self::records`] of each record of the table that is there.
    pub fn positions(&self) -> Vec<u32> {
        let mut positions = vec![0; self.table.records()];
        for (position, &record) in (0..).zip(&self.records) {
            positions[record as usize] = position;
        }
        positions
    }

    /// Columns of the quasi-identifiers.
    pub fn quasi_columns(&self) -> Vec<&'a CodedColumn> {
        self.quasi.iter().map(|&(_, column)| column).collect()
    }

    /// Loss of intervals of the quasi-identifiers.
    pub fn quasi_scales(&self) -> Vec<Scale> {
        let columns = self.quasi.iter();
        columns
            .map(|(_, column)| Scale::new(&column.domain))
            .collect()
    }

    /// A column of the exact values of these records.
    pub fn exact_column(
        &self,
        attribute: AttributeIndex,
        records: impl Iterator<Item = u32>,
    ) -> PublishedColumn {
        let cells = match self.table.coded(attribute) {
            Some(column) => exact_cells(column, records),
            // Every publishable attribute is coded.
            None => Cells::Numbers(Vec::new()),
        };
        let described = self.table.schema().attribute(attribute);
        PublishedColumn::of_attribute(described, Content::Exact, cells)
    }
}
