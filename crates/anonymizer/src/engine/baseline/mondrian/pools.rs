//! Who is partitioned together (*ours*).
//!
//! A set is cut only if both parts hold, for all of their members. A member
//! whose l is near what the table can give keeps almost every large set that
//! they are in whole: its most frequent value is hardly ever rarer than in the
//! table. One such record in thirty left census data in three groups. So those
//! who ask for something of values are partitioned by themselves, with their
//! companions, who are treated as if they asked for the same
//! ([`companions`](mod@crate::engine::kernel::companions)). Anyone who is in such a
//! group has asked for something with the probability that the job states.
//! Where the conditions do not hold for one side, as many others again are
//! added to the pool, until they hold for both; they are next by the dataset's
//! secret, so that they too stay from release to release.

use rayon::prelude::*;

use crate::engine::context::RunContext;
use crate::engine::kernel::companions::in_order;
use crate::engine::kernel::{Included, PartCondition};

use super::conditions::Conditions;

/// Sets of records to partition, the conditions hold for each; none where all
/// are partitioned together. `included` and `conditions` are with companions.
pub(super) fn pools(
    included: &Included<'_>,
    conditions: &Conditions,
    context: &RunContext<'_>,
) -> Option<Vec<Vec<u32>>> {
    let rows = 0..included.records.len() as u32;
    let all = rows.clone().into_par_iter();
    if !all.any(|row| conditions.asks_of_values(row)) {
        return None;
    }
    let (mut pool, mut others): (Vec<u32>, Vec<u32>) =
        rows.partition(|&row| conditions.asks_of_values(row));
    let mut counts = conditions.buffers();
    let mut hold = |pool: &[u32], others: &[u32]| {
        let mut sides = [pool, others].into_iter();
        sides.all(|side| side.is_empty() || conditions.holds(side, &mut counts))
    };
    if !hold(&pool, &others) {
        others = by_place(included, others, context);
        while !others.is_empty() && !hold(&pool, &others) {
            let left = others.len().saturating_sub(pool.len());
            pool.extend(others.drain(left..));
        }
    }
    let record = |row: &u32| included.records[*row as usize];
    let sets = [pool, others].into_iter().filter(|rows| !rows.is_empty());
    Some(sets.map(|rows| rows.iter().map(record).collect()).collect())
}

/// Rows in the order of their records' places by the dataset's secret.
fn by_place(included: &Included<'_>, rows: Vec<u32>, context: &RunContext<'_>) -> Vec<u32> {
    let position = included.positions();
    let records = rows.iter().map(|&row| included.records[row as usize]);
    let records: Vec<u32> = records.collect();
    let places: Vec<(u64, u32)> = match context.part.and_then(|part| part.ring) {
        None => in_order(included, records, &context.dataset_secret),
        Some(ring) => {
            let rank = |record: u32| (u64::from(ring[record as usize]), record);
            let mut ranks: Vec<(u64, u32)> = records.into_iter().map(rank).collect();
            ranks.sort_unstable();
            ranks
        }
    };
    let records = places.iter().map(|&(_, record)| record);
    records.map(|record| position[record as usize]).collect()
}
