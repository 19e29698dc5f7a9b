//! Against a table of those among whom a person could be: the journalist's risk.
//!
//! A class of the dataset is looked for in the population table by the attributes
//! that both have. \[El Emam and Dankar 2008\]; δ-presence \[Nergiz et al. 2007\].

use rustc_hash::FxHashMap;

use super::columns::{MISSING, Numbered, RiskColumns};
use super::figures::{PopulationRisk, rounded};
use crate::microdata::{CellValue, PopulationColumn, PopulationTable};

/// The number of a value that no record of the dataset has.
const ELSEWHERE: u32 = u32::MAX;

/// People of a population table by the attributes that the dataset has too.
pub struct Population {
    /// Places among the attributes of the risk.
    attributes: Vec<usize>,
    /// People of each combination of numbers.
    people: FxHashMap<Vec<u32>, u64>,
    total: u64,
}

impl Population {
    /// A population table beside the records of a dataset; nothing where the schema
    /// of the records does not have all of its attributes.
    pub fn of(table: &PopulationTable, columns: &RiskColumns) -> Option<Self> {
        if !table.unfit(columns.schema()).is_empty() {
            return None;
        }
        let (mut attributes, mut numbers) = (Vec::new(), Vec::new());
        for (attribute, column) in table.attributes().iter().zip(table.columns()) {
            let mut places = 0..columns.attributes.len();
            let place = places.find(|&at| columns.name(at) == attribute.name)?;
            numbers.push(numbers_of(column, &columns.attributes[place].1));
            attributes.push(place);
        }
        let mut people: FxHashMap<Vec<u32>, u64> = FxHashMap::default();
        for (row, count) in table.counts().iter().enumerate() {
            let codes = table.columns().iter().zip(&numbers);
            let key = codes.map(|(column, numbers)| numbers[column.codes[row] as usize]);
            *people.entry(key.collect()).or_default() += count;
        }
        Some(Self {
            attributes,
            people,
            total: table.people(),
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

/// The numbers that records of the dataset have for the values of a column.
fn numbers_of(column: &PopulationColumn, numbered: &Numbered) -> Vec<u32> {
    let number = |code: u32| match column.value(code) {
        CellValue::Missing => MISSING,
        CellValue::Bits(bits) => numbered.number_of_bits(bits).unwrap_or(ELSEWHERE),
        CellValue::Text(text) => numbered.number_of_text(&text).unwrap_or(ELSEWHERE),
    };
    (0..column.len() as u32).map(number).collect()
}
