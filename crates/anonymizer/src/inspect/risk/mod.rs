//! Who stands out in a table, before any job.
//!
//! *Sets* of quasi-identifiers are looked at as somebody may know them: each
//! set of up to three, and then the set that grows by the attribute that makes
//! most people unique, up to all. For each: how many subjects are alone, how
//! small the classes are, and the prosecutor's and marketer's risk. *Minimal
//! unique sets* say by which attributes: a set that makes a record unique while
//! no part of it does (special uniques, as SUDA2 counts them up to three
//! attributes). [`Population`] compares with a table of those among whom a
//! person could be.

mod classes;
mod columns;
mod figures;
mod population;
mod sets;
#[cfg(test)]
mod tests;

pub(super) use classes::Classes;
pub use columns::RiskColumns;
pub use figures::{AttributeExposure, PopulationRisk, Risk, SensitiveSpread, SetRisk};
pub use population::Population;

/// What somebody finds in records, and against a population where one is given.
///
/// Takes rayon's current pool. Memory: a class and a number of 4 bytes for each
/// record and thread, and a bit for each record and pair of attributes.
pub fn risk(columns: &RiskColumns, population: Option<&Population>) -> Risk {
    let mut risk = sets::risk_of(columns);
    risk.sensitive = columns.spreads();
    risk.population = population.and_then(|population| population.risk(columns));
    risk
}
