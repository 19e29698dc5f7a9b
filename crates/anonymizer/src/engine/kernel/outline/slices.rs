//! Counts about sets of records in memory.

use rayon::prelude::*;

use crate::engine::error::EngineError;
use crate::microdata::{CodedColumn, Codes, Table, of_width};
use crate::privacy::Requirements;

use super::super::cut::partition_in_place;
use super::{Contents, CountSets, Parted, SetCut, SetNumber, SideRule};

/// What is counted of single records.
pub struct Counted<'a> {
    /// What sides must keep.
    pub rule: SideRule,
    terms: &'a Codes,
    columns: Vec<&'a CodedColumn>,
}

impl<'a> Counted<'a> {
    /// Counts what `rule` asks about.
    pub fn of(table: &'a Table, requirements: &'a Requirements, rule: SideRule) -> Self {
        let columns = rule.attributes();
        Self {
            terms: requirements.terms_of_record(),
            columns: columns.filter_map(|at| table.coded(at)).collect(),
            rule,
        }
    }

    /// The same for the sides of these records together ([`SideRule::among`]).
    #[must_use]
    pub fn among(mut self, records: &[u32]) -> Self {
        let all = self.contents(records.iter().copied());
        self.rule = self.rule.among(&all);
        self
    }

    /// What stands among these records.
    pub fn contents(&self, records: impl Iterator<Item = u32>) -> Contents {
        let mut contents = self.rule.nothing();
        for record in records {
            let record = record as usize;
            let codes = self.columns.iter().map(|column| column.codes.at(record));
            self.rule.count(&mut contents, self.terms.at(record), codes);
        }
        contents
    }
}

/// Records in memory, those of a set next to each other.
pub struct Slices<'a> {
    columns: &'a [&'a CodedColumn],
    counted: &'a Counted<'a>,
    records: Vec<u32>,
    /// Where each set that was made begins and ends.
    ranges: Vec<(usize, usize)>,
}

impl<'a> Slices<'a> {
    /// One set of all these records; `columns` are its quasi-identifiers.
    pub fn of(records: Vec<u32>, columns: &'a [&'a CodedColumn], counted: &'a Counted<'a>) -> Self {
        Self {
            columns,
            counted,
            ranges: vec![(0, records.len())],
            records,
        }
    }

    /// The records of a set.
    pub fn records(&self, set: SetNumber) -> &[u32] {
        let (start, end) = self.ranges[set as usize];
        &self.records[start..end]
    }
}

impl CountSets for Slices<'_> {
    fn histograms(&mut self, sets: &[SetNumber]) -> Result<Vec<Vec<Vec<u64>>>, EngineError> {
        let of_set = |&set: &SetNumber| {
            let columns = self.columns.par_iter();
            let histograms = columns.map(|column| {
                let mut counts = vec![0_u64; column.domain.len()];
                of_width!(&column.codes, codes => {
                    for &record in self.records(set) {
                        counts[codes[record as usize] as usize] += 1;
                    }
                });
                counts
            });
            histograms.collect()
        };
        Ok(sets.par_iter().map(of_set).collect())
    }

    fn contents(&mut self, cuts: &[SetCut]) -> Result<Vec<[Contents; 2]>, EngineError> {
        let of_cut = |cut: &SetCut| {
            let codes = &self.columns[cut.column].codes;
            let of_side = |is_left: bool| {
                let records = self.records(cut.set).iter().copied();
                self.counted.contents(
                    records.filter(|&record| (codes.at(record as usize) <= cut.code) == is_left),
                )
            };
            [of_side(true), of_side(false)]
        };
        Ok(cuts.par_iter().map(of_cut).collect())
    }

    fn cut(&mut self, cuts: &[Parted]) -> Result<(), EngineError> {
        for parted in cuts {
            let (start, end) = self.ranges[parted.cut.set as usize];
            let codes = &self.columns[parted.cut.column].codes;
            let own = &mut self.records[start..end];
            let left =
                partition_in_place(own, |record| codes.at(record as usize) <= parted.cut.code);
            let sides = [
                (parted.left, (start, start + left)),
                (parted.right, (start + left, end)),
            ];
            for (set, range) in sides {
                let made = set as usize + 1;
                if self.ranges.len() < made {
                    self.ranges.resize(made, (0, 0));
                }
                self.ranges[set as usize] = range;
            }
        }
        Ok(())
    }
}
