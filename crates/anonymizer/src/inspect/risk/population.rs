//! Against a table of those among whom a person could be: the journalist's risk.
//!
//! A class of the dataset is looked for in the population table by the
//! quasi-identifiers that both have. \[El Emam and Dankar 2008\]; δ-presence \[Nergiz et al. 2007\].

use rustc_hash::FxHashMap;

use super::classes::Classes;
use super::columns::{MISSING, Numbered, RiskColumns};
use super::figures::{PopulationRisk, rounded};
use crate::microdata::{CellValue, PopulationColumn, PopulationTable, Role};
use crate::release::up_to_tens;

/// The number of a value that no record of the dataset has.
const ELSEWHERE: u32 = u32::MAX;
/// Subjects who decide a coarse figure, at least.
const FEWEST: u64 = 5;
/// One person, as a mean adds them up.
const ONE: u64 = 1 << 32;

/// People of a population table by the quasi-identifiers that the dataset has too.
pub struct Population {
    /// Places among the attributes of the risk.
    attributes: Vec<usize>,
    /// People of each combination of numbers.
    people: FxHashMap<Vec<u32>, u64>,
    total: u64,
    is_coarse: bool,
}

/// A class of the dataset beside the population.
struct Compared {
    /// Its subjects.
    here: u64,
    /// People of the table who are alike.
    there: u64,
}

/// Of each subject what the easiest of their records tells.
struct Easiest {
    /// People among whom each could be, ascending.
    among: Vec<u64>,
    /// Subjects with a class that has fewer people in the table than here.
    not_covered: u64,
}

impl Population {
    /// A population table beside the records of a dataset; nothing where the schema
    /// of the records does not have all of its attributes, or none of them is a
    /// quasi-identifier. Semi-sensitive attributes are read past: who may put a
    /// table could ask by one after the other what a person has there.
    pub fn of(table: &PopulationTable, columns: &RiskColumns) -> Option<Self> {
        if !table.unfit(columns.schema()).is_empty() {
            return None;
        }
        let (mut attributes, mut compared) = (Vec::new(), Vec::new());
        for (attribute, column) in table.attributes().iter().zip(table.columns()) {
            let mut places = 0..columns.attributes.len();
            let place = places.find(|&at| columns.name(at) == attribute.name)?;
            let (index, numbered) = &columns.attributes[place];
            if columns.schema().attribute(*index).role == Role::QuasiIdentifier {
                compared.push((column, numbers_of(column, numbered)));
                attributes.push(place);
            }
        }
        if attributes.is_empty() {
            return None;
        }
        let mut people: FxHashMap<Vec<u32>, u64> = FxHashMap::default();
        for (row, count) in table.counts().iter().enumerate() {
            let codes = compared.iter();
            let key = codes.map(|(column, numbers)| numbers[column.codes[row] as usize]);
            *people.entry(key.collect()).or_default() += count;
        }
        Some(Self {
            attributes,
            people,
            total: table.people(),
            is_coarse: false,
        })
    }

    /// The same for somebody who has no other way to the records: no figure is
    /// decided by fewer than five subjects, so that no table finds out whether one
    /// person is there.
    #[must_use]
    pub fn coarse(mut self) -> Self {
        self.is_coarse = true;
        self
    }

    /// What a reader finds who knows it; nothing of too few subjects.
    pub fn risk(&self, columns: &RiskColumns) -> Option<PopulationRisk> {
        let mut classes = columns.whole();
        for &at in &self.attributes {
            classes = columns.divided(&classes, at);
        }
        let compared = self.compared(columns, &classes);
        let found = easiest(columns, (&classes, &compared));
        let fewest = if self.is_coarse { FEWEST } else { 1 };
        let k_map = *found.among.get(fewest as usize - 1)?;
        let subjects = found.among.len() as u64;
        // Whole numbers: a sum of fractions would depend on its order.
        let sum: u128 = found
            .among
            .iter()
            .map(|&among| u128::from(ONE.div_ceil(among)))
            .sum();
        let mean = sum as f64 / ONE as f64 / subjects as f64;
        let shares = compared.iter().filter(|class| class.here >= fewest);
        let presence = shares.fold(None, |presence: Option<[f64; 2]>, class| {
            let share = class.here as f64 / class.among() as f64;
            let [least, most] = presence.unwrap_or([share; 2]);
            Some([least.min(share), most.max(share)])
        });
        Some(PopulationRisk {
            attributes: self.attributes.iter().map(|&at| columns.name(at)).collect(),
            people: self.total,
            k_map,
            journalist: rounded(1.0 / k_map as f64),
            journalist_mean: (!self.is_coarse).then(|| rounded(mean)),
            presence: presence.map(|presence| presence.map(rounded)),
            not_covered: if self.is_coarse {
                in_tens(found.not_covered, subjects)
            } else {
                found.not_covered
            },
        })
    }

    /// Each class of the dataset, by the values that its first record shows.
    fn compared(&self, columns: &RiskColumns, classes: &Classes) -> Vec<Compared> {
        let mut shown: Vec<Option<usize>> = vec![None; classes.sizes.len()];
        for (record, &class) in classes.of_records().iter().enumerate() {
            shown[class as usize].get_or_insert(record);
        }
        let pairs = shown.into_iter().zip(&classes.sizes);
        let compared = pairs.map(|(record, &subjects)| {
            let key = self.attributes.iter();
            let key = key.filter_map(|&at| Some(columns.attributes[at].1.codes[record?]));
            let key: Vec<u32> = key.collect();
            Compared {
                here: u64::from(subjects),
                there: self.people.get(&key).copied().unwrap_or_default(),
            }
        });
        compared.collect()
    }
}

impl Compared {
    /// Among how many one of it could be: somebody of the dataset is in the
    /// population, whatever its table says.
    fn among(&self) -> u64 {
        self.there.max(self.here)
    }
}

/// What each subject's records tell, in classes.
fn easiest(columns: &RiskColumns, (classes, compared): (&Classes, &[Compared])) -> Easiest {
    let mut among = vec![u64::MAX; columns.subject_count()];
    let mut is_uncovered = vec![false; among.len()];
    for (record, &class) in classes.of_records().iter().enumerate() {
        let of = columns.subjects.as_ref();
        let subject = of.map_or(record, |subjects| subjects.of_records[record] as usize);
        let class = &compared[class as usize];
        among[subject] = among[subject].min(class.among());
        is_uncovered[subject] |= class.there < class.here;
    }
    among.sort_unstable();
    Easiest {
        among,
        not_covered: is_uncovered.iter().filter(|&&one| one).count() as u64,
    }
}

/// Up to how many of all, in tens; fewer than five on either side are counted with
/// the others.
fn in_tens(count: u64, all: u64) -> u64 {
    if count < FEWEST {
        0
    } else if all - count < FEWEST {
        all
    } else {
        up_to_tens(count).min(all)
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
