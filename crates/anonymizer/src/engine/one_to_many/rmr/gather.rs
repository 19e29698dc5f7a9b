//! One cluster of those who ask for a stricter l than everybody does.
//!
//! Spread over many clusters they would force each of them to be merged far,
//! because a fingerprint is rare only in a large cluster; together they cost
//! little (*ours*).

use crate::engine::error::EngineError;

use super::itemsets::Work;
use super::plan::Planner;

/// Steps of the search for the fewest who join those who are gathered.
const GATHER_STEPS: u32 = 4;

impl Planner<'_> {
    /// One cluster of all who ask for a stricter l than everybody does, with
    /// as few others as make it hold; empty if nobody does.
    /// Persons who ask for more than holds for everyone together are excluded
    /// from now on.
    pub(super) fn gather(&self, out: &mut Vec<u32>) -> Result<Vec<u32>, EngineError> {
        let l = |person: u32| self.frame.persons.l[person as usize];
        let mut work = Work::new(self.promise());
        loop {
            self.frame.context.check()?;
            let mut included = self.included(out);
            let base = included.iter().map(|&person| l(person)).min().unwrap_or(1);
            // Stable: those who join stay in random order.
            included.sort_by_key(|&person| l(person) <= base);
            let strict = included.partition_point(|&person| l(person) > base);
            if strict == 0 || included.len() < self.frame.k as usize {
                return Ok(Vec::new());
            }
            let most = self.offer(&included, &mut work).most.unwrap_or(1);
            let holds = included.len() as u32 / most.max(1);
            let before = out.len();
            out.extend(
                included[..strict]
                    .iter()
                    .filter(|&&person| l(person) > holds),
            );
            if out.len() == before {
                let size = self.least_size(&included, strict, &mut work)?;
                return Ok(self.with_those_left_alone(included, size));
            }
            out[before..].sort_by_key(|&person| std::cmp::Reverse(self.strictness(person)));
        }
    }

    /// How many of the persons in order are a cluster that holds, from
    /// `strict` on: by doubling, then by halving what the last step added.
    fn least_size(
        &self,
        included: &[u32],
        strict: usize,
        work: &mut Work<'_>,
    ) -> Result<usize, EngineError> {
        let mut holds = |size: usize| {
            self.frame.context.check()?;
            Ok::<_, EngineError>(self.offer(&included[..size], work).items.is_some())
        };
        let (mut fails, mut size) = (0, strict.max(self.frame.k as usize));
        while size < included.len() && !holds(size)? {
            fails = size;
            size = (2 * size).min(included.len());
        }
        for _ in 0..if fails > 0 { GATHER_STEPS } else { 0 } {
            let middle = fails + (size - fails) / 2;
            if holds(middle)? {
                size = middle;
            } else {
                fails = middle;
            }
        }
        Ok(size)
    }

    /// The first `size` persons, and all others if those are too few for
    /// clusters of their own.
    fn with_those_left_alone(&self, mut included: Vec<u32>, size: usize) -> Vec<u32> {
        let rest = &included[size..];
        let needed = rest.iter().map(|&person| self.k(person)).max().unwrap_or(0);
        if rest.len() >= needed as usize {
            included.truncate(size);
        }
        included
    }
}
