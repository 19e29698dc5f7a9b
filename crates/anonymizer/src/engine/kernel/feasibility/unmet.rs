//! Excludes subjects whose own terms cannot be met, where values are published
//! beside groups.
//!
//! A partition begins with everyone in one group and splits only where both
//! parts hold, so everyone together must hold first. Subjects who ask for more
//! records than there are, or for a most frequent value rarer than it is, are
//! excluded, the strictest first, equals in random order. Then those who fit
//! are included again ([`Everyone`]). Nobody is excluded for what the
//! job asks of everyone.

use crate::engine::context::RunContext;
use crate::engine::kernel::{Everyone, Included};
use crate::microdata::RecordIndex;
use crate::privacy::RecordTerms;

/// Random stream of the order among equals who may be excluded.
const STAGE: u32 = 1;

/// Excludes everyone whose own terms everyone together cannot meet; returns them.
pub fn exclude_unmet(included: &mut Included<'_>, context: &RunContext<'_>) -> Vec<u32> {
    let mut excluded = exclude_strictest_first(included, context);
    if !excluded.is_empty() {
        let everyone = Everyone::of(included, &included.sensitive);
        let run = (context, STAGE);
        everyone.include_again(included, &mut excluded, run, |all, record| {
            u64::from(all.k_with(record)) <= all.size_with_one() && all.keeps_values_with(record)
        });
    }
    excluded
}

fn exclude_strictest_first(included: &mut Included<'_>, context: &RunContext<'_>) -> Vec<u32> {
    let mut excluded = Vec::new();
    loop {
        let before = excluded.len();
        let requirements = included.requirements;
        let own_k = |record: u32| requirements.of(RecordIndex(record)).own.k;
        let all = included.records.len();
        let holds = |terms: &RecordTerms| terms.own.k as usize <= all;
        if !included.whatever_is_asked(holds) {
            let random = context.stream(STAGE, u64::MAX);
            let is_content = |record: u32, left: usize| own_k(record) as usize <= left;
            excluded.extend(included.exclude_until(random, own_k, is_content));
        }
        for sensitive in included.sensitive.clone() {
            let random = context.stream(STAGE, u64::from(sensitive.index.0));
            // No floor: where values are published in groups, the job's l is
            // not among a subject's terms.
            let by_frequency = included.exclude_by_frequency(&sensitive, 0, random);
            excluded.extend(by_frequency.unwrap_or_default());
        }
        if excluded.len() == before {
            return excluded;
        }
    }
}
