//! Who is published, in which groups, with which values; or why nothing can be.
//!
//! Grouping, joining what looks alike and recoding follow one another. Who
//! cannot be satisfied leaves, and everything is done again without them: a
//! person who asked for a group of a hundred must not leave a group of a
//! hundred behind. After [`REGROUPINGS_MAX`] rounds groups are only mended
//! (those below their K join the next one), so that the work stays bounded.
//! Every round but the last takes somebody out, so that there is a last one.
//!
//! With an effort groups are refined as soon as nobody leaves any more: most
//! who leave ask for what no group gives, and a search for groups that are
//! given up at once is wasted. If nobody leaves the refined groups either, the
//! same records are published as without the effort, with no more loss. If
//! somebody does, groups are gathered anew as before, and refined in every
//! round from then on; groups that are only mended are not.
//!
//! The budget `max_excluded` is looked at when all is done: what an answer
//! says is needed is then what is needed.

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::kernel::eligibility::is_within;
use crate::engine::kernel::{Effort, Present};
use crate::microdata::NodeIndex;
use crate::privacy::Requirements;

use super::alike::join_alike;
use super::asked::Asked;
use super::gather::Gathering;
use super::params::Params;
use super::recode::{Recoded, Recoder, lots};
use super::sizes::Sizes;
use super::weights::Weights;
use super::{acceptance, stage};

/// Rounds after which records are no longer gathered anew.
const REGROUPINGS_MAX: u32 = 8;

/// What is published.
pub(super) struct Settled<'a> {
    /// The records that are published, and the columns.
    pub present: Present<'a>,
    /// Published groups.
    pub groups: Vec<Vec<u32>>,
    /// Node of each record of the table; the root where it is not published.
    pub nodes: Vec<NodeIndex>,
    /// Records whose terms cannot be met.
    pub unsatisfiable: Vec<u32>,
}

/// Why there is no release.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Refusal {
    /// Fewer records than the job's K.
    TooFew { left: u64 },
    /// More records would have to leave than may.
    Budget { needed: u64, of: u64 },
}

/// Why nothing was settled.
pub(super) type Failure = crate::engine::error::Failure<Refusal>;

/// Settles a run: `present` is everyone who did not ask to be left out, with
/// the requirements of `params`.
pub(super) fn settle<'a>(
    present: Present<'a>,
    requirements: &'a Requirements,
    params: &Params,
    context: &RunContext<'_>,
) -> Result<Settled<'a>, Failure> {
    let of = present.records.len() as u64;
    let sensitive = present.sensitive.first().copied();
    let tree = sensitive.and_then(|sensitive| sensitive.column.domain.hierarchy());
    let (Some(sensitive), Some(tree)) = (sensitive, tree) else {
        // The parameters were checked against the schema of the table.
        let reason = "has no column with a hierarchy in this table";
        return Err(acceptance::invalid("sensitive", reason).into());
    };
    let asked = Asked::new(requirements, sensitive, tree);
    let weights = Weights::new(tree, sensitive.column);
    let lots = lots(present.table.records(), context, stage::LOTS);
    let recoder = Recoder {
        weights: &weights,
        asked: &asked,
        codes: &sensitive.column.codes,
        lots: &lots,
        recoding: params.recoding,
    };
    let mut rounds = Rounds {
        present,
        params,
        recoder,
        context,
        unsatisfiable: Vec::new(),
        sizes: Sizes::default(),
    };
    let (groups, nodes) = rounds.run(of)?;
    let Rounds {
        present,
        unsatisfiable,
        ..
    } = rounds;
    Ok(Settled {
        present,
        groups,
        nodes,
        unsatisfiable,
    })
}

/// The rounds of one run.
struct Rounds<'a, 'r> {
    present: Present<'a>,
    params: &'r Params,
    recoder: Recoder<'r>,
    context: &'r RunContext<'r>,
    unsatisfiable: Vec<u32>,
    /// Of those present in this round.
    sizes: Sizes,
}

impl Rounds<'_, '_> {
    fn run(&mut self, of: u64) -> Result<(Vec<Vec<u32>>, Vec<NodeIndex>), Failure> {
        let mut groups = Vec::new();
        let mut refines = false;
        for round in 0_u32.. {
            self.leave_by_k();
            // Who left takes the reason of their companions along.
            self.sizes = self.sizes();
            let left = self.present.records.len() as u64;
            if left < u64::from(self.params.k_of_all()) {
                let refusal = self.over_budget(of).unwrap_or(Refusal::TooFew { left });
                return Err(Failure::Refused(refusal));
            }
            groups = match (round < REGROUPINGS_MAX, refines) {
                (true, false) => self.gathering().gathered(round)?,
                (true, true) => {
                    let gathering = self.gathering();
                    gathering.refined(gathering.gathered(round)?, round)?
                }
                (false, _) => self.mended(groups),
            };
            let mut recoded = self.recoded(&mut groups)?;
            let is_settled = recoded.iter().all(|group| group.leaving.is_empty());
            if is_settled && !refines && self.params.effort != Effort::None {
                refines = true;
                groups = self.gathering().refined(groups, round)?;
                recoded = self.recoded(&mut groups)?;
            }
            let leaving = recoded.iter().flat_map(|group| &group.leaving);
            let leaving: Vec<u32> = leaving.copied().collect();
            if leaving.is_empty() {
                if let Some(refusal) = self.over_budget(of) {
                    return Err(Failure::Refused(refusal));
                }
                let mut nodes = vec![NodeIndex::ROOT; self.present.table.records()];
                for (record, node) in recoded.into_iter().flat_map(|group| group.nodes) {
                    nodes[record as usize] = node;
                }
                return Ok((groups, nodes));
            }
            self.take_out(leaving);
        }
        // Every round takes somebody out or returns.
        Err(Failure::Refused(Refusal::TooFew { left: 0 }))
    }

    /// Whoever asks for more records than there are leaves, strictest first;
    /// nobody leaves for what the job asks of everyone.
    fn leave_by_k(&mut self) {
        let asked = self.recoder.asked;
        let of_all = self.params.k_of_all();
        let gone = self.present.leave_while(
            self.context,
            stage::LEAVE,
            |record| asked.of(record).k,
            |record, left| {
                let k = asked.of(record).k;
                k <= of_all || k as usize <= left
            },
        );
        self.unsatisfiable.extend(gone);
    }

    fn sizes(&self) -> Sizes {
        let secret = &self.context.dataset_secret;
        let share = (self.params.askers_share_max, secret);
        Sizes::of(&self.present, self.recoder.asked, share)
    }

    fn gathering(&self) -> Gathering<'_> {
        Gathering {
            present: &self.present,
            sizes: &self.sizes,
            params: self.params,
            context: self.context,
        }
    }

    /// Joins groups that look alike and recodes what is then published.
    fn recoded(&self, groups: &mut Vec<Vec<u32>>) -> Result<Vec<Recoded>, EngineError> {
        *groups = join_alike(&self.present, std::mem::take(groups));
        self.recoder.all(groups, self.context)
    }

    fn mended(&self, groups: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
        let present = &self.present.records;
        let stays = |record: &u32| present.binary_search(record).is_ok();
        mended(groups, stays, |records| self.sizes.k_of(records))
    }

    fn take_out(&mut self, leaving: Vec<u32>) {
        let mut gone = leaving.clone();
        gone.sort_unstable();
        let records = &mut self.present.records;
        records.retain(|record| gone.binary_search(record).is_err());
        self.unsatisfiable.extend(leaving);
    }

    fn over_budget(&self, of: u64) -> Option<Refusal> {
        let needed = self.unsatisfiable.len() as u64;
        let within = is_within(needed, of, self.params.max_excluded);
        (!within).then_some(Refusal::Budget { needed, of })
    }
}

/// The groups without those who left; a group below its K takes in the next
/// ones, the last one those before it.
fn mended(
    groups: Vec<Vec<u32>>,
    stays: impl Fn(&u32) -> bool,
    k_of: impl Fn(&[u32]) -> usize,
) -> Vec<Vec<u32>> {
    let mut mended: Vec<Vec<u32>> = Vec::with_capacity(groups.len());
    let mut open: Vec<u32> = Vec::new();
    for group in groups {
        open.extend(group.into_iter().filter(&stays));
        if !open.is_empty() && open.len() >= k_of(&open) {
            mended.push(std::mem::take(&mut open));
        }
    }
    while !open.is_empty() {
        match mended.pop() {
            Some(before) => open.extend(before),
            None => return vec![open],
        }
        if open.len() >= k_of(&open) {
            mended.push(std::mem::take(&mut open));
        }
    }
    mended
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records from 90 on ask for four others.
    fn k_of(records: &[u32]) -> usize {
        if records.iter().any(|&record| record >= 90) {
            5
        } else {
            2
        }
    }

    #[test]
    fn a_group_that_lost_members_takes_in_the_next_and_the_last_one_those_before() {
        let groups = || vec![vec![1, 2], vec![3, 4], vec![5, 6], vec![90, 7, 8, 9, 10]];
        let without = |gone: &'static [u32]| {
            let stays = move |record: &u32| !gone.contains(record);
            mended(groups(), stays, k_of)
        };
        assert_eq!(without(&[]), groups());
        let joined = [vec![2, 3, 4], vec![5, 6], vec![90, 7, 8, 9, 10]];
        assert_eq!(without(&[1]), joined);
        let backwards = [vec![1, 2], vec![3, 4], vec![90, 7, 8, 9, 5, 6]];
        assert_eq!(without(&[10]), backwards);
        let emptied = [vec![1, 2], vec![90, 7, 8, 9, 10]];
        assert_eq!(without(&[3, 4, 5, 6]), emptied);
        let whole = [vec![90, 8, 9, 5, 6]];
        assert_eq!(without(&[1, 2, 3, 4, 7, 10]), whole);
        let strict = mended(vec![vec![1], vec![2]], |_| true, |_| 3);
        assert_eq!(strict, [vec![1, 2]]);
    }
}
