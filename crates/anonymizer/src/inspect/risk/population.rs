//! A table of those among whom a person could be: the journalist's risk.
//!
//! The population is a CSV file in the dialect of the schema, with some of the
//! quasi-identifiers by name, and `count` where a line stands for several
//! people. A class of the dataset is looked for in it by the attributes that
//! both have. \[El Emam and Dankar 2008\]; δ-presence \[Nergiz et al. 2007\].

use std::io::Read;

use rustc_hash::FxHashMap;

use super::columns::{MISSING, RiskColumns};
use super::figures::{PopulationRisk, rounded};
use crate::microdata::{CellReader, CellValue, ScannedRow, TableError, scan_rows};

/// The name of the column that says for how many people a line stands.
const COUNT: &str = "count";
const RECORD_BYTES_MAX: usize = 1 << 20;
/// The number of a value that no record of the dataset has.
const ELSEWHERE: u32 = u32::MAX;

/// People of the population by the attributes that the dataset has too.
pub struct Population {
    /// Places among the attributes of the risk.
    attributes: Vec<usize>,
    /// People of each combination of numbers.
    people: FxHashMap<Vec<u32>, u64>,
    total: u64,
}

/// Why a population cannot be compared.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PopulationError {
    /// It has no column in common.
    #[error(
        "the population names no quasi-identifier of the schema: its header has their names, and \
         `count` where a line stands for several people"
    )]
    NothingShared,
    /// A line that cannot be read.
    #[error("line {line} of the population: {what}")]
    Line {
        /// From 1, the header's.
        line: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// It could not be read.
    #[error(transparent)]
    Table(#[from] TableError),
}

impl Population {
    /// Reads the population of a dataset.
    ///
    /// # Errors
    /// What is wrong with its header or with a line; no value is repeated.
    pub fn read(input: impl Read, columns: &RiskColumns) -> Result<Self, PopulationError> {
        let schema = columns.schema();
        let cells = CellReader::of(schema);
        let mut places: Vec<(usize, usize)> = Vec::new();
        let mut count_at = None;
        let mut people: FxHashMap<Vec<u32>, u64> = FxHashMap::default();
        let (mut total, mut width) = (0, 0);
        let mut failed: Option<PopulationError> = None;
        let mut each = |row: ScannedRow<'_>| {
            let (line, row) = match row {
                ScannedRow::Cells(line, row) => (line, row.collect::<Vec<&[u8]>>()),
                ScannedRow::Malformed(line) | ScannedRow::TooLong(line) => {
                    failed = Some(wrong(line, "its quotes are wrong, or it is too long"));
                    return false;
                }
            };
            if width == 0 {
                width = row.len();
                match header(&row, columns) {
                    Some(found) => (places, count_at) = found,
                    None => failed = Some(wrong(line, "a name stands twice")),
                }
                return failed.is_none() && !places.is_empty();
            }
            if row.len() != width {
                failed = Some(wrong(line, "it has other cells than the header"));
                return false;
            }
            let count = match count_at.map(|at| std::str::from_utf8(row[at])) {
                None => Some(1),
                Some(text) => text.ok().and_then(|text| text.trim().parse::<u64>().ok()),
            };
            let Some(count) = count else {
                failed = Some(wrong(line, "`count` is no whole number"));
                return false;
            };
            let mut key = Vec::with_capacity(places.len());
            for &(index, at) in &places {
                let (attribute, numbered) = &columns.attributes[index];
                let number = match cells.read(*attribute, row[at]) {
                    Some(CellValue::Missing) => Some(MISSING),
                    Some(CellValue::Bits(bits)) => numbered.number_of_bits(bits),
                    Some(CellValue::Text(text)) => numbered.number_of_text(&text),
                    None => {
                        failed = Some(wrong(line, "a cell is not of its attribute's type"));
                        return false;
                    }
                };
                key.push(number.unwrap_or(ELSEWHERE));
            }
            total = u64::saturating_add(total, count);
            let people = people.entry(key).or_default();
            *people = people.saturating_add(count);
            true
        };
        scan_rows(input, schema.format(), RECORD_BYTES_MAX, &mut each)?;
        if let Some(error) = failed {
            return Err(error);
        }
        if places.is_empty() {
            return Err(PopulationError::NothingShared);
        }
        Ok(Self {
            attributes: places.into_iter().map(|(index, _)| index).collect(),
            people,
            total,
        })
    }

    /// What a reader finds who knows it.
    pub fn risk(&self, columns: &RiskColumns) -> PopulationRisk {
        let mut classes = columns.whole();
        for &at in &self.attributes {
            classes = columns.divided(&classes, at);
        }
        // A record of each class shows the values that all of it have.
        let mut shown: Vec<Option<usize>> = vec![None; classes.sizes.len()];
        for (record, &class) in classes.of_records().iter().enumerate() {
            shown[class as usize].get_or_insert(record);
        }
        let pairs = shown.into_iter().zip(&classes.sizes);
        let mut found: Vec<(u64, u64, bool)> = pairs
            .filter_map(|(record, &subjects)| {
                let record = record?;
                let key = self.attributes.iter();
                let key = key.map(|&at| columns.attributes[at].1.codes[record]);
                let key: Vec<u32> = key.collect();
                let there = self.people.get(&key).copied().unwrap_or_default();
                let here = u64::from(subjects);
                // Somebody of the dataset is in the population, whatever its
                // table says.
                Some((here, there.max(here), there < here))
            })
            .collect();
        found.sort_unstable();
        let subjects: u64 = found.iter().map(|(here, ..)| here).sum();
        let k_map = found
            .iter()
            .map(|(_, there, _)| *there)
            .min()
            .unwrap_or_default();
        let mean: f64 = found
            .iter()
            .map(|(here, there, _)| *here as f64 / *there as f64)
            .sum::<f64>();
        let shares = found
            .iter()
            .map(|(here, there, _)| *here as f64 / *there as f64);
        let (least, most) = shares.fold((1.0, 0.0), |(least, most), share| {
            (f64::min(least, share), f64::max(most, share))
        });
        let uncovered = found.iter().filter(|(.., is_uncovered)| *is_uncovered);
        PopulationRisk {
            attributes: self.attributes.iter().map(|&at| columns.name(at)).collect(),
            people: self.total,
            k_map,
            journalist: rounded(1.0 / k_map.max(1) as f64),
            journalist_mean: rounded(mean / subjects.max(1) as f64),
            presence: [rounded(least), rounded(most)],
            not_covered: uncovered.map(|(here, ..)| here).sum(),
        }
    }
}

/// The places of attributes, each with its column, and the column of the count.
type Header = (Vec<(usize, usize)>, Option<usize>);

/// Where attributes of the risk stand by their names, and where the count does;
/// nothing where a name stands twice.
fn header(row: &[&[u8]], columns: &RiskColumns) -> Option<Header> {
    let mut count_at = None;
    let mut places: Vec<(usize, usize)> = Vec::new();
    for (at, name) in row.iter().enumerate() {
        let name = name.trim_ascii();
        if name == COUNT.as_bytes() {
            count_at = Some(at);
        }
        let named = |index: usize| columns.name(index).as_bytes() == name;
        let known = (0..columns.attributes.len()).find(|&index| named(index));
        places.extend(known.map(|index| (index, at)));
    }
    places.sort_unstable();
    let is_twice = places.windows(2).any(|pair| pair[0].0 == pair[1].0);
    (!is_twice).then_some((places, count_at))
}

fn wrong(line: u64, what: &'static str) -> PopulationError {
    PopulationError::Line { line, what }
}
