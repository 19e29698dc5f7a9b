//! Who is excluded, and whether blocks can exist at all.
//!
//! Everyone together is the largest block there is; if that is not eligible,
//! no partition into eligible blocks exists. So, for those included:
//! - (most frequent value) × L ≤ records, for every published attribute;
//! - where quasi-identifiers are published exactly, as many records with a
//!   subject's own vector as their k asks for; else K records in all, or as
//!   many as the window of a ring of everyone has;
//! - the known values of everyone span the least spread, where one is asked for.
//!
//! A subject whose own terms break a condition is excluded, the strictest
//! first; the conditions are looked at again until nobody is. Then those who
//! fit are included again (kernel `feasibility`). A condition that fails on
//! the job's own l is a [`Refusal`].

use rand::seq::SliceRandom;

use crate::engine::context::RunContext;
use crate::engine::error::{EngineError, Infeasible};
use crate::engine::kernel::feasibility::{TooFrequent, name_of, too_narrow, without};
use crate::engine::kernel::included::SensitiveColumn;
use crate::engine::kernel::{Everyone, Included};
use crate::microdata::RecordIndex;
use crate::privacy::{History, Protection};

use super::frame::vectors;
use super::initial::{Least, window};
use super::stage;

/// Why there is no release.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Refusal {
    /// One value of an attribute is too frequent for the job's l.
    TooFrequent(TooFrequent),
    /// The known values of everyone span less than is asked for.
    TooNarrow(Infeasible),
    /// No record is left.
    Empty,
}

/// Excludes everyone from `included` whose terms cannot be met; returns them.
pub(super) fn exclude<'a>(
    included: &mut Included<'a>,
    sensitive: &[SensitiveColumn<'a>],
    least: Least,
    context: &RunContext<'_>,
) -> Result<Vec<u32>, Refusal> {
    let mut excluded = exclude_strictest_first(included, sensitive, least, context)?;
    if !excluded.is_empty() {
        include_again(included, sensitive, (least, context), &mut excluded);
    }
    let mut columns = sensitive.iter();
    match columns.find_map(|column| too_narrow(included, column)) {
        Some(answer) => Err(Refusal::TooNarrow(answer)),
        None => Ok(excluded),
    }
}

/// Includes those again who fit.
fn include_again<'a>(
    included: &mut Included<'a>,
    sensitive: &[SensitiveColumn<'a>],
    (least, context): (Least, &RunContext<'_>),
    excluded: &mut Vec<u32>,
) {
    let everyone = Everyone::of(included, sensitive);
    let mut alike = (least == Least::None).then(|| Alike::of(included, excluded));
    let requirements = included.requirements;
    let run = (context, stage::EXCLUSION);
    everyone.include_again(included, excluded, run, |all, record| {
        let (k, size) = (all.k_with(record), all.size_with_one());
        let is_enough = match (&alike, least) {
            (Some(alike), _) => requirements.of(RecordIndex(record)).own.k <= alike.with(record),
            (None, Least::Window) => u64::from(window(all.l_with(record), k)) <= size,
            (None, _) => u64::from(k) <= size,
        };
        let fits = is_enough && all.keeps_values_with(record);
        if let (true, Some(alike)) = (fits, &mut alike) {
            alike.add(record);
        }
        fits
    });
}

/// How many of those included have each vector.
struct Alike {
    /// Of each record that is included or excluded; 0 for others.
    vector_of_record: Vec<u32>,
    number: Vec<u32>,
}

impl Alike {
    fn of(included: &Included<'_>, excluded: &[u32]) -> Self {
        let mut all = included.clone();
        all.records.extend_from_slice(excluded);
        let (vector_of, vectors) = vectors(&all);
        let mut vector_of_record = vec![0; included.table.records()];
        for (&record, vector) in all.records.iter().zip(vector_of) {
            vector_of_record[record as usize] = vector;
        }
        let mut alike = Self {
            vector_of_record,
            number: vec![0; vectors],
        };
        let records = included.records.iter();
        records.for_each(|&record| alike.add(record));
        alike
    }

    /// Number with the vector of an excluded record, itself included.
    fn with(&self, record: u32) -> u32 {
        self.number[self.vector_of_record[record as usize] as usize] + 1
    }

    fn add(&mut self, record: u32) {
        self.number[self.vector_of_record[record as usize] as usize] += 1;
    }
}

fn exclude_strictest_first(
    included: &mut Included<'_>,
    sensitive: &[SensitiveColumn<'_>],
    least: Least,
    context: &RunContext<'_>,
) -> Result<Vec<u32>, Refusal> {
    let mut excluded = Vec::new();
    loop {
        let before = excluded.len();
        excluded.extend(match least {
            Least::None => exclude_by_alike(included, context),
            Least::Members => exclude_by_k(included, context, |k| k),
            Least::Window => {
                let l = strictest_l(included, sensitive);
                exclude_by_k(included, context, |k| window(l, k))
            }
        });
        for column in sensitive {
            let floor = match included.requirements.protection(column.index) {
                Protection::Diversity { l, .. } => l.get(),
                _ => 1,
            };
            let random = context.stream(stage::EXCLUSION, 2);
            let by_l = included.exclude_by_frequency(column, floor, random);
            excluded.extend(by_l.map_err(Refusal::TooFrequent)?);
        }
        if included.records.is_empty() {
            return Err(Refusal::Empty);
        }
        if excluded.len() == before {
            return Ok(excluded);
        }
    }
}

/// Excludes those whose k asks for more records (`needed`) than there are.
fn exclude_by_k(
    included: &mut Included<'_>,
    context: &RunContext<'_>,
    needed: impl Fn(u32) -> u32,
) -> Vec<u32> {
    let requirements = included.requirements;
    let k = |record: u32| requirements.of(RecordIndex(record)).k;
    let is_content = |record: u32, left: usize| needed(k(record)) as usize <= left;
    included.exclude_until(context.stream(stage::EXCLUSION, u64::MAX), k, is_content)
}

/// The strictest l of everyone, of any of the attributes.
fn strictest_l(included: &Included<'_>, sensitive: &[SensitiveColumn<'_>]) -> u32 {
    let records = included.records.iter();
    let asked = records.flat_map(|&record| {
        let l = &included.terms(record).l;
        sensitive.iter().map(move |column| l[column.index.at()])
    });
    asked.max().unwrap_or(1)
}

/// Excludes those who ask for more records with their own vector than there
/// are, the strictest first, vector by vector.
pub(super) fn exclude_by_alike(included: &mut Included<'_>, context: &RunContext<'_>) -> Vec<u32> {
    let (vector_of, vectors) = vectors(included);
    let mut alike = vec![0_u32; vectors];
    for &vector in &vector_of {
        alike[vector as usize] += 1;
    }
    let rows = 0..included.records.len() as u32;
    let k = |row: u32| included.terms(included.records[row as usize]).k;
    let mut order: Vec<u32> = rows.filter(|&row| k(row) > 1).collect();
    order.shuffle(&mut context.stream(stage::EXCLUSION, 1));
    order.sort_by_key(|&row| std::cmp::Reverse(k(row)));
    order.retain(|&row| {
        let alike = &mut alike[vector_of[row as usize] as usize];
        let is_excluded = k(row) > *alike;
        *alike -= u32::from(is_excluded);
        is_excluded
    });
    let mut excluded: Vec<u32> = order
        .iter()
        .map(|&row| included.records[row as usize])
        .collect();
    excluded.sort_unstable();
    without(&mut included.records, &excluded);
    excluded
}

/// Excludes those whose terms a series cannot meet that keeps sets of values:
/// who asks for a larger set than the own one, or than that of somebody with
/// the same quasi-identifiers, over whom an adversary averages; and who asks
/// for more records with the own vector than there are.
///
/// The error: public releases show smaller sets than the job's own l.
pub(super) fn exclude_by_sets(
    included: &mut Included<'_>,
    sensitive: &[SensitiveColumn<'_>],
    history: &History,
    context: &RunContext<'_>,
) -> Result<Vec<u32>, EngineError> {
    let mut excluded = Vec::new();
    for column in sensitive {
        let sets = history.of(column.index);
        let size = |record: u32| sets.set(record).map(|set| set.len() as u32);
        let floor = match included.requirements.protection(column.index) {
            Protection::Diversity { l, .. } => l.get(),
            _ => 1,
        };
        let smallest = included
            .records
            .iter()
            .filter_map(|&record| size(record))
            .min();
        if let Some(smallest) = smallest.filter(|&smallest| smallest < floor) {
            let name = name_of(included.table, column.attribute);
            let condition = format!(
                "{name}: public releases show subjects in sets of {smallest} values, which a series \
                 keeps"
            );
            let answer = Infeasible::at_most("l", Some(smallest.into()), condition);
            return Err(answer.of(name).into());
        }
        let requirements = included.requirements;
        let l = |record: u32| requirements.of(RecordIndex(record)).l[column.index.at()];
        let mut leaving: Vec<u32> = included.records.clone();
        leaving.retain(|&record| size(record).is_some_and(|size| l(record) > size));
        without(&mut included.records, &leaving);
        excluded.append(&mut leaving);
        let (vector_of, vectors) = vectors(included);
        let mut cap = vec![u32::MAX; vectors];
        for (&record, &vector) in included.records.iter().zip(&vector_of) {
            let cap = &mut cap[vector as usize];
            *cap = size(record).unwrap_or(u32::MAX).min(*cap);
        }
        let asking = included.records.iter().zip(&vector_of);
        let asking = asking.filter(|&(&record, &vector)| l(record) > cap[vector as usize]);
        let asking: Vec<u32> = asking.map(|(&record, _)| record).collect();
        without(&mut included.records, &asking);
        excluded.extend(asking);
    }
    excluded.extend(exclude_by_alike(included, context));
    excluded.sort_unstable();
    Ok(excluded)
}
