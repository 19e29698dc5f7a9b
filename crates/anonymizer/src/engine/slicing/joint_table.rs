//! Records as the conditions see them: for each column the combination of
//! quasi-identifiers that an adversary knows, for each sensitive attribute its
//! values and the columns that show it.
//!
//! Rows are positions in a list of records. A *part* numbers the distinct
//! combinations of a column's quasi-identifiers; a *profile* is a distinct
//! tuple of parts, one a column: all that tells subjects apart in a sliced
//! table. Attributes that are generalized over buckets are left out of it, so
//! that a profile stands for at least as many subjects as look like it.

use crate::engine::kernel::Included;
use crate::engine::kernel::sliced_table::Slices;
use crate::microdata::{AttributeIndex, CodedColumn, Role, RowClasses};
use crate::privacy::{ProtectedIndex, Protection, RecordTerms, Share};

/// One sensitive attribute.
#[derive(Debug)]
pub(super) struct Sensitive<'a> {
    /// Position in the schema.
    pub attribute: AttributeIndex,
    /// Position among the protectable attributes.
    pub index: ProtectedIndex,
    /// What the job asks of it.
    pub protection: Protection,
    /// The original column.
    pub column: &'a CodedColumn,
    /// Value of each row.
    pub codes: Vec<u32>,
    /// Columns that show it: one, or two that can be joined on it.
    pub views: Vec<usize>,
    /// Of two columns: the combinations of quasi-identifiers that both show,
    /// by part of the first.
    pub shared: Option<Shared>,
}

/// Quasi-identifiers that two columns share.
#[derive(Debug)]
pub(super) struct Shared {
    pub parts: RowClasses,
    /// Combination of each part of the first column.
    pub of_part: Vec<u32>,
}

/// Records as the conditions see them.
#[derive(Debug)]
pub(super) struct JointTable<'a> {
    /// Record of each row.
    pub records: Vec<u32>,
    /// What each row's subject asks for.
    pub terms: Vec<&'a RecordTerms>,
    /// Known combinations, by column.
    pub columns: Vec<RowClasses>,
    /// The sensitive attributes in schema order.
    pub sensitive: Vec<Sensitive<'a>>,
    /// Distinct tuples of parts.
    pub profiles: RowClasses,
}

impl<'a> JointTable<'a> {
    /// Gathers `records`, which are included. Linear in cells.
    pub fn gather(included: &Included<'a>, records: &[u32], slices: &Slices) -> Self {
        let known = |attributes: &[AttributeIndex]| {
            let mut parts = RowClasses::whole(records.len());
            for &attribute in attributes {
                let role = included.table.schema().attribute(attribute).role;
                if role != Role::QuasiIdentifier {
                    continue;
                }
                if let Some(column) = included.table.coded(attribute) {
                    parts.refine(|row| column.codes.at(records[row] as usize));
                }
            }
            parts
        };
        let columns: Vec<RowClasses> = slices.columns.iter().map(|column| known(column)).collect();
        let mut profiles = RowClasses::whole(records.len());
        for column in columns.iter().filter(|column| column.number > 1) {
            profiles.refine(|row| column.of_row[row]);
        }
        let sensitive = included.sensitive.iter().map(|sensitive| {
            let shows = |column: &usize| slices.columns[*column].contains(&sensitive.attribute);
            let views: Vec<usize> = (0..slices.columns.len()).filter(shows).collect();
            let shared = match views[..] {
                [one, other] => {
                    let mut both = slices.columns[one].clone();
                    both.retain(|attribute| slices.columns[other].contains(attribute));
                    Some(Shared::of(known(&both), &columns[one]))
                }
                _ => None,
            };
            let codes = records
                .iter()
                .map(|&at| sensitive.column.codes.at(at as usize));
            Sensitive {
                attribute: sensitive.attribute,
                index: sensitive.index,
                protection: included.requirements.protection(sensitive.index),
                column: sensitive.column,
                codes: codes.collect(),
                views,
                shared,
            }
        });
        Self {
            records: records.to_vec(),
            terms: records
                .iter()
                .map(|&record| included.terms(record))
                .collect(),
            sensitive: sensitive.collect(),
            columns,
            profiles,
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.records.len()
    }

    /// What a row's subject asks for one sensitive attribute: l, and the
    /// largest share of one value.
    #[inline]
    pub fn asked(&self, row: u32, sensitive: usize) -> (u32, Share) {
        let index = self.sensitive[sensitive].index.at();
        let terms = self.terms[row as usize];
        (terms.l[index], terms.max_share[index])
    }
}

impl Shared {
    fn of(parts: RowClasses, first: &RowClasses) -> Self {
        let mut of_part = vec![0; first.number];
        for (&part, &shared) in first.of_row.iter().zip(&parts.of_row) {
            of_part[part as usize] = shared;
        }
        Self { parts, of_part }
    }
}
