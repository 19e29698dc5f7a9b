//! Who is partitioned together (*ours*).
//!
//! A set is cut only if both parts hold, for all of their members. A member
//! whose l is near what the table can give keeps almost every large set that
//! they are in whole: its most frequent value is hardly ever rarer than in the
//! table. One such record in thirty left census data in three groups. So those
//! who ask for something of values are partitioned by themselves, with at least
//! as many others, drawn at random, so that whoever is among them has asked for
//! something with a probability of a half at most. More are drawn, twice as
//! many each time, until all conditions hold for both sides.

use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::engine::context::RunContext;
use crate::engine::kernel::{Condition, Present};

use super::conditions::Conditions;
use super::stage;

/// Sets of records to partition, the conditions hold for each; none where all
/// are partitioned together.
pub(super) fn pools(
    present: &Present<'_>,
    conditions: &Conditions,
    context: &RunContext<'_>,
) -> Option<Vec<Vec<u32>>> {
    let rows = 0..present.records.len() as u32;
    let all = rows.clone().into_par_iter();
    if !all.any(|row| conditions.asks_of_values(row)) {
        return None;
    }
    let (mut pool, mut others): (Vec<u32>, Vec<u32>) =
        rows.partition(|&row| conditions.asks_of_values(row));
    let record = |row: &u32| present.records[*row as usize];
    others.shuffle(&mut context.stream(stage::POOL, 0));
    let mut counts = conditions.buffers();
    while !others.is_empty() {
        let left = others.len().saturating_sub(pool.len());
        pool.extend(others.drain(left..));
        if conditions.holds(&pool, &mut counts) && conditions.holds(&others, &mut counts) {
            break;
        }
    }
    let sets = [pool, others].into_iter().filter(|rows| !rows.is_empty());
    Some(sets.map(|rows| rows.iter().map(record).collect()).collect())
}
