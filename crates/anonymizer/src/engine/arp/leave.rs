//! Who is left out, and whether blocks can exist at all.
//!
//! Everyone together is the largest block there is; if that is not eligible,
//! no partition into eligible blocks exists. So, for those present:
//! - (most frequent value) × L ≤ records, for every published attribute;
//! - where quasi-identifiers are published exactly, as many records with a
//!   subject's own vector as their k asks for; else K records in all, or as
//!   many as the window of a ring of everyone has;
//! - the known values of everyone span the least spread, where one is asked for.
//!
//! A subject whose own terms break a condition leaves, strictest first; the
//! conditions are looked at again until nobody leaves. Then whoever fits among
//! those who are left comes back (kernel `together`), so that nobody is left
//! out without need. A condition that fails on the job's own l is a
//! [`Refusal`].

use rand::seq::SliceRandom;

use crate::engine::context::RunContext;
use crate::engine::kernel::eligibility::is_within;
use crate::engine::kernel::known::known_ends;
use crate::engine::kernel::present::SensitiveColumn;
use crate::engine::kernel::{Everyone, Present, Tally, is_eligible};
use crate::microdata::{Code, RecordIndex};
use crate::privacy::{ProtectedIndex, Protection};

use super::frame::vectors;
use super::initial::{Least, window};
use super::stage;

/// Why there is no release.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Refusal {
    /// One value of an attribute is too frequent for the job's l.
    TooFrequent {
        index: ProtectedIndex,
        most: u64,
        of: u64,
    },
    /// The known values of everyone span less than is asked for.
    Narrow {
        index: ProtectedIndex,
        wanted: f64,
        widest: f64,
    },
    /// More subjects would have to leave than may.
    Budget { needed: u64, of: u64 },
    /// Nobody is left.
    Nobody,
}

/// Takes out of `present` whoever's terms cannot be met, and returns them.
pub(super) fn leave<'a>(
    present: &mut Present<'a>,
    sensitive: &[SensitiveColumn<'a>],
    least: Least,
    context: &RunContext<'_>,
) -> Result<Vec<u32>, Refusal> {
    let mut gone = leave_strictest_first(present, sensitive, least, context)?;
    if !gone.is_empty() {
        come_back(present, sensitive, (least, context), &mut gone);
    }
    let mut narrow = sensitive.iter();
    match narrow.find_map(|column| narrow_refusal(present, column)) {
        Some(refusal) => Err(refusal),
        None => Ok(gone),
    }
}

/// A refusal if the known values of everyone span less than is asked for.
fn narrow_refusal(present: &Present<'_>, column: &SensitiveColumn<'_>) -> Option<Refusal> {
    let wanted = present.requirements.protection(column.index).min_spread()?;
    let domain = &column.column.domain;
    let codes = present.records.iter();
    let codes = codes.map(|&record| column.column.codes.at(record as usize));
    let (low, high) = known_ends(codes, domain.missing().map(|code| code.0))?;
    let widest = domain.number(Code(high)) - domain.number(Code(low));
    (widest < wanted).then_some(Refusal::Narrow {
        index: column.index,
        wanted,
        widest,
    })
}

/// Brings back whoever fits.
fn come_back<'a>(
    present: &mut Present<'a>,
    sensitive: &[SensitiveColumn<'a>],
    (least, context): (Least, &RunContext<'_>),
    gone: &mut Vec<u32>,
) {
    let everyone = Everyone::of(present, sensitive);
    let mut alike = (least == Least::None).then(|| Alike::of(present, gone));
    let requirements = present.requirements;
    everyone.come_back(present, gone, (context, stage::LEAVE), |all, record| {
        let (k, size) = (all.k_with(record), all.size_with_one());
        let is_enough = match (&alike, least) {
            (Some(alike), _) => requirements.of(RecordIndex(record)).own.k <= alike.with(record),
            (None, Least::Window) => u64::from(window(all.l_with(record), k)) <= size,
            (None, _) => u64::from(k) <= size,
        };
        let comes = is_enough && all.keeps_values_with(record);
        if let (true, Some(alike)) = (comes, &mut alike) {
            alike.add(record);
        }
        comes
    });
}

/// How many of those present have each vector.
struct Alike {
    /// Of each record that is present or gone; 0 for others.
    vector_of_record: Vec<u32>,
    number: Vec<u32>,
}

impl Alike {
    fn of(present: &Present<'_>, gone: &[u32]) -> Self {
        let mut all = present.clone();
        all.records.extend_from_slice(gone);
        let (vector_of, vectors) = vectors(&all);
        let mut vector_of_record = vec![0; present.table.records()];
        for (&record, vector) in all.records.iter().zip(vector_of) {
            vector_of_record[record as usize] = vector;
        }
        let mut alike = Self {
            vector_of_record,
            number: vec![0; vectors],
        };
        present.records.iter().for_each(|&record| alike.add(record));
        alike
    }

    /// Number with the vector of a record that is gone, itself included.
    fn with(&self, record: u32) -> u32 {
        self.number[self.vector_of_record[record as usize] as usize] + 1
    }

    fn add(&mut self, record: u32) {
        self.number[self.vector_of_record[record as usize] as usize] += 1;
    }
}

fn leave_strictest_first(
    present: &mut Present<'_>,
    sensitive: &[SensitiveColumn<'_>],
    least: Least,
    context: &RunContext<'_>,
) -> Result<Vec<u32>, Refusal> {
    let mut gone = Vec::new();
    loop {
        let before = gone.len();
        gone.extend(match least {
            Least::None => leave_by_alike(present, context),
            Least::Members => leave_by_k(present, context, |k| k),
            Least::Window => {
                let l = strictest_l(present, sensitive);
                leave_by_k(present, context, |k| window(l, k))
            }
        });
        for column in sensitive {
            gone.extend(leave_by_l(present, column, context)?);
        }
        if present.records.is_empty() {
            return Err(Refusal::Nobody);
        }
        if gone.len() == before {
            return Ok(gone);
        }
    }
}

/// A refusal if more subjects are gone than may be.
pub(super) fn check_budget(
    present: &Present<'_>,
    gone: &[u32],
    max_excluded: f64,
) -> Result<(), Refusal> {
    let needed = gone.len() as u64;
    let of = present.records.len() as u64 + needed;
    if is_within(needed, of, max_excluded) {
        Ok(())
    } else {
        Err(Refusal::Budget { needed, of })
    }
}

/// Whoever's k asks for more records (`needed`) than there are leaves.
fn leave_by_k(
    present: &mut Present<'_>,
    context: &RunContext<'_>,
    needed: impl Fn(u32) -> u32,
) -> Vec<u32> {
    let k_of: Vec<u32> = k_by_record(present);
    let k = |record: u32| k_of[record as usize];
    let is_content = |record, left| needed(k(record)) as usize <= left;
    present.leave_while(context, stage::LEAVE, k, is_content)
}

/// The strictest l of everyone, of any of the attributes.
fn strictest_l(present: &Present<'_>, sensitive: &[SensitiveColumn<'_>]) -> u32 {
    let records = present.records.iter();
    let asked = records.flat_map(|&record| {
        let l = &present.terms(record).l;
        sensitive.iter().map(move |column| l[column.index.at()])
    });
    asked.max().unwrap_or(1)
}

fn k_by_record(present: &Present<'_>) -> Vec<u32> {
    let mut k = vec![1; present.table.records()];
    for &record in &present.records {
        k[record as usize] = present.terms(record).k;
    }
    k
}

/// Whoever asks for more records with their own vector than there are leaves,
/// strictest first, vector by vector.
fn leave_by_alike(present: &mut Present<'_>, context: &RunContext<'_>) -> Vec<u32> {
    let (vector_of, vectors) = vectors(present);
    let mut alike = vec![0_u32; vectors];
    for &vector in &vector_of {
        alike[vector as usize] += 1;
    }
    let rows = 0..present.records.len() as u32;
    let k = |row: u32| present.terms(present.records[row as usize]).k;
    let mut order: Vec<u32> = rows.filter(|&row| k(row) > 1).collect();
    order.shuffle(&mut context.stream(stage::LEAVE, 1));
    order.sort_by_key(|&row| std::cmp::Reverse(k(row)));
    let mut leaves = vec![false; present.records.len()];
    for row in order {
        let alike = &mut alike[vector_of[row as usize] as usize];
        if k(row) > *alike {
            leaves[row as usize] = true;
            *alike -= 1;
        }
    }
    take_out(present, &leaves)
}

/// Whoever asks for an l that the most frequent value does not allow leaves.
fn leave_by_l(
    present: &mut Present<'_>,
    column: &SensitiveColumn<'_>,
    context: &RunContext<'_>,
) -> Result<Vec<u32>, Refusal> {
    let floor = match present.requirements.protection(column.index) {
        Protection::Diversity { l, .. } => l.get(),
        _ => 1,
    };
    let records = &present.records;
    let code = |record: u32| column.column.codes.at(record as usize);
    let domain = column.column.domain.len();
    let mut tally = Tally::new(domain, records.iter().map(|&record| code(record)));
    let l = |row: u32| present.terms(records[row as usize]).l[column.index.at()];
    let mut order: Vec<u32> = (0..records.len() as u32).collect();
    order.shuffle(&mut context.stream(stage::LEAVE, 2));
    order.sort_by_key(|&row| std::cmp::Reverse(l(row)));
    let mut leaves = vec![false; records.len()];
    for row in order {
        if is_eligible(tally.most(), tally.size(), l(row)) {
            break;
        }
        if l(row) <= floor {
            return Err(Refusal::TooFrequent {
                index: column.index,
                most: tally.most(),
                of: tally.size(),
            });
        }
        leaves[row as usize] = true;
        tally.remove(code(records[row as usize]));
    }
    Ok(take_out(present, &leaves))
}

/// Takes the marked rows out and returns their records.
fn take_out(present: &mut Present<'_>, leaves: &[bool]) -> Vec<u32> {
    let marked = present.records.iter().zip(leaves);
    let gone = marked.filter(|&(_, &leaves)| leaves);
    let gone: Vec<u32> = gone.map(|(&record, _)| record).collect();
    let mut row = 0;
    present.records.retain(|_| {
        row += 1;
        !leaves[row - 1]
    });
    gone
}
