//! Who is left out because their own terms cannot be met.
//!
//! The partition begins with everyone in one group and only splits where both
//! parts hold, so everyone together must hold first. Whoever asks for more
//! records than there are, or for a most frequent value rarer than it is,
//! leaves, strictest first, equals in random order, until the strictest one
//! left is content. Then whoever fits among those who are left comes back
//! (kernel `together`), so that nobody is left out without need. Floors of the
//! job play no part: nobody leaves to meet them.

use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::engine::context::RunContext;
use crate::engine::kernel::present::SensitiveColumn;
use crate::engine::kernel::{Everyone, Present, Tally, is_eligible};
use crate::microdata::RecordIndex;
use crate::privacy::RecordTerms;

use super::stage;

/// Takes out everyone whose own terms cannot be met; returns them.
pub(super) fn leave(present: &mut Present<'_>, context: &RunContext<'_>) -> Vec<u32> {
    let mut gone = leave_strictest_first(present, context);
    if !gone.is_empty() {
        let everyone = Everyone::of(present, &present.sensitive);
        everyone.come_back(
            present,
            &mut gone,
            (context, stage::LEAVE),
            |all, record| {
                u64::from(all.k_with(record)) <= all.size_with_one()
                    && all.keeps_values_with(record)
            },
        );
    }
    gone
}

fn leave_strictest_first(present: &mut Present<'_>, context: &RunContext<'_>) -> Vec<u32> {
    let mut gone = Vec::new();
    loop {
        let before = gone.len();
        let requirements = present.requirements;
        let terms = |record: u32| requirements.of(RecordIndex(record));
        let holds = |terms: &RecordTerms, left: usize| terms.own.k as usize <= left;
        let all = present.records.len();
        if !present.whatever_is_asked(|terms| holds(terms, all)) {
            let own_k = |record: u32| terms(record).own.k;
            let is_content = |record: u32, left: usize| holds(terms(record), left);
            gone.extend(present.leave_while(context, stage::LEAVE, own_k, is_content));
        }
        for attribute in present.sensitive.clone() {
            gone.extend(leave_by_frequency(present, &attribute, context));
        }
        if gone.len() == before {
            return gone;
        }
    }
}

fn leave_by_frequency(
    present: &mut Present<'_>,
    attribute: &SensitiveColumn<'_>,
    context: &RunContext<'_>,
) -> Vec<u32> {
    let at = attribute.index.at();
    let column = attribute.column;
    let code = |record: u32| column.codes.at(record as usize);
    let codes = present.records.iter().map(|&record| code(record));
    let mut tally = Tally::new(column.domain.len(), codes);
    let holds = |terms: &RecordTerms, tally: &Tally| {
        is_eligible(tally.most(), tally.size(), terms.l[at])
            && terms.max_share[at].allows(tally.most(), tally.size())
    };
    let is_content = |record: u32, tally: &Tally| holds(present.terms(record), tally);
    let records = present.records.par_iter();
    if present.whatever_is_asked(|terms| holds(terms, &tally))
        || records.all(|&record| is_content(record, &tally))
    {
        return Vec::new();
    }
    let mut order = present.records.clone();
    order.shuffle(&mut context.stream(stage::LEAVE, at as u64));
    order.sort_by_key(|&record| {
        let terms = present.terms(record);
        (terms.max_share[at], std::cmp::Reverse(terms.l[at]))
    });
    let mut leaving = Vec::new();
    for record in order {
        if is_content(record, &tally) {
            break;
        }
        tally.remove(code(record));
        leaving.push(record);
    }
    let mut gone = leaving.clone();
    gone.sort_unstable();
    present
        .records
        .retain(|record| gone.binary_search(record).is_err());
    leaving
}
