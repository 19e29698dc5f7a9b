//! Records as the conditions see them: for each column the combination of
//! quasi-identifiers that an adversary knows, for each sensitive attribute its
//! values and the columns that show it.
//!
//! Rows are positions in a list of records. A *part* numbers the distinct
//! combinations of a column's quasi-identifiers; a *profile* is a distinct
//! tuple of parts, one a column: all that tells subjects apart in a sliced
//! table. Attributes that are generalized over buckets are left out of it, so
//! that a profile stands for at least as many subjects as look like it.

use rustc_hash::FxHashMap;

use crate::engine::kernel::Included;
use crate::engine::kernel::sliced_table::Slices;
use crate::microdata::{AttributeIndex, CodedColumn, Role};
use crate::privacy::{ProtectedIndex, Protection, RecordTerms, Share};

/// Distinct combinations of some attributes.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    /// Combination of each row.
    pub of_row: Vec<u32>,
    /// How many there are.
    pub number: usize,
}

impl Parts {
    /// One combination for everyone.
    fn whole(rows: usize) -> Self {
        Self {
            of_row: vec![0; rows],
            number: 1,
        }
    }

    /// Tells combinations apart by one more attribute, numbered `code`.
    fn refine(&mut self, code: impl Fn(usize) -> u32) {
        let mut seen: FxHashMap<u64, u32> = FxHashMap::default();
        for (row, part) in self.of_row.iter_mut().enumerate() {
            let key = u64::from(*part) << 32 | u64::from(code(row));
            let next = seen.len() as u32;
            *part = *seen.entry(key).or_insert(next);
        }
        self.number = seen.len().max(1);
    }
}

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
    pub parts: Parts,
    /// Combination of each part of the first column.
    pub of_part: Vec<u32>,
}

/// Records as the conditions see them.
#[derive(Debug)]
pub(super) struct Board<'a> {
    /// Record of each row.
    pub records: Vec<u32>,
    /// What each row's subject asks for.
    pub terms: Vec<&'a RecordTerms>,
    /// Known combinations, by column.
    pub columns: Vec<Parts>,
    /// The sensitive attributes in schema order.
    pub sensitive: Vec<Sensitive<'a>>,
    /// Distinct tuples of parts.
    pub profiles: Parts,
}

impl<'a> Board<'a> {
    /// Gathers `records`, which are included. Linear in cells.
    pub fn gather(included: &Included<'a>, records: &[u32], slices: &Slices) -> Self {
        let known = |attributes: &[AttributeIndex]| {
            let mut parts = Parts::whole(records.len());
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
        let columns: Vec<Parts> = slices.columns.iter().map(|column| known(column)).collect();
        let mut profiles = Parts::whole(records.len());
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
    fn of(parts: Parts, first: &Parts) -> Self {
        let mut of_part = vec![0; first.number];
        for (&part, &shared) in first.of_row.iter().zip(&parts.of_row) {
            of_part[part as usize] = shared;
        }
        Self { parts, of_part }
    }
}
