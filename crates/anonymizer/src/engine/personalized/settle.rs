//! Who is published, in which groups, with which values; or why nothing can be.
//!
//! Grouping, joining of equivalence classes and recoding follow one another.
//! Records whose terms cannot be met are excluded, and everything is done
//! again without them: a person who asked for a group of a hundred must not
//! leave a group of a hundred behind. After [`REGROUPINGS_MAX`] rounds groups
//! are only mended (those below their K join the next one), so that the work
//! stays bounded. Every round but the last excludes a record, so that there is
//! a last one.
//!
//! With an effort, groups are refined as soon as nobody is excluded any more:
//! most who are excluded ask for what no group gives, and a search for groups
//! that are given up at once is wasted. If nobody is excluded from the refined
//! groups either, the same records are published as without the effort, with
//! no more loss. Otherwise groups are gathered anew as before, and refined in
//! every round from then on; groups that are only mended are not.
//!
//! The budget `max_excluded` is looked at when all is done, so that an answer
//! names what is needed in the end.

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::kernel::feasibility::{OverBudget, tie_breakers, without};
use crate::engine::kernel::{Effort, Included};
use crate::microdata::NodeIndex;
use crate::privacy::Requirements;

use super::alike::join_alike;
use super::asked::Asked;
use super::gather::Gathering;
use super::params::Params;
use super::recode::{Recoded, Recoder};
use super::sizes::Sizes;
use super::weights::Weights;
use super::{acceptance, stage};

/// Rounds after which records are no longer gathered anew.
const REGROUPINGS_MAX: u32 = 8;

/// What is published.
pub(super) struct Settled<'a> {
    /// The records that are published, and the columns.
    pub included: Included<'a>,
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
    /// More records would be excluded than may be.
    Budget(OverBudget),
}

/// Why nothing was settled.
pub(super) type Failure = crate::engine::error::Failure<Refusal>;

/// Settles a run: `included` is everyone who did not ask to be left out, with
/// the requirements of `params`.
pub(super) fn settle<'a>(
    included: Included<'a>,
    requirements: &'a Requirements,
    params: &Params,
    context: &RunContext<'_>,
) -> Result<Settled<'a>, Failure> {
    let of = included.records.len();
    let sensitive = included.sensitive.first().copied();
    let tree = sensitive.and_then(|sensitive| sensitive.column.domain.hierarchy());
    let (Some(sensitive), Some(tree)) = (sensitive, tree) else {
        // The parameters were checked against the schema of the table.
        let reason = "has no column with a hierarchy in this table";
        return Err(acceptance::invalid("sensitive", reason).into());
    };
    let asked = Asked::new(requirements, sensitive, tree);
    let weights = match context.part {
        None => Weights::new(tree, sensitive.column),
        Some(part) => Weights::of_counts(tree, part.whole.all(sensitive.attribute)),
    };
    let tie_breakers = tie_breakers(included.table.records(), context.stream(stage::TIES, 0));
    let recoder = Recoder {
        weights: &weights,
        asked: &asked,
        codes: &sensitive.column.codes,
        tie_breakers: &tie_breakers,
        recoding: params.recoding,
    };
    let mut rounds = Rounds {
        included,
        params,
        recoder,
        context,
        unsatisfiable: Vec::new(),
        sizes: Sizes::default(),
    };
    let (groups, nodes) = rounds.run(of)?;
    let Rounds {
        included,
        unsatisfiable,
        ..
    } = rounds;
    Ok(Settled {
        included,
        groups,
        nodes,
        unsatisfiable,
    })
}

/// The rounds of one run.
struct Rounds<'a, 'r> {
    included: Included<'a>,
    params: &'r Params,
    recoder: Recoder<'r>,
    context: &'r RunContext<'r>,
    unsatisfiable: Vec<u32>,
    /// Of those included in this round.
    sizes: Sizes,
}

impl Rounds<'_, '_> {
    fn run(&mut self, of: usize) -> Result<(Vec<Vec<u32>>, Vec<NodeIndex>), Failure> {
        let mut groups = Vec::new();
        let mut refines = false;
        for round in 0_u32.. {
            self.exclude_by_k();
            // Companions of an excluded record have no reason left.
            self.sizes = self.sizes();
            let left = self.included.records.len() as u64;
            if left < u64::from(self.params.k_of_all()) {
                let refusal = self.check_budget(of).err();
                let refusal = refusal.unwrap_or(Refusal::TooFew { left });
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
                self.check_budget(of).map_err(Failure::Refused)?;
                let mut nodes = vec![NodeIndex::ROOT; self.included.table.records()];
                for (record, node) in recoded.into_iter().flat_map(|group| group.nodes) {
                    nodes[record as usize] = node;
                }
                return Ok((groups, nodes));
            }
            self.exclude(leaving);
        }
        // Every round excludes a record or returns.
        Err(Failure::Refused(Refusal::TooFew { left: 0 }))
    }

    /// Excludes those who ask for more records than there are; nobody is
    /// excluded for what the job asks of everyone.
    fn exclude_by_k(&mut self) {
        let asked = self.recoder.asked;
        let of_all = self.params.k_of_all();
        let k = |record: u32| asked.of(record).k;
        let is_content =
            |record: u32, left: usize| k(record) <= of_all || k(record) as usize <= left;
        let random = self.context.stream(stage::EXCLUSION, u64::MAX);
        let excluded = self.included.exclude_until(random, k, is_content);
        self.unsatisfiable.extend(excluded);
    }

    fn sizes(&self) -> Sizes {
        let secret = &self.context.dataset_secret;
        let share = (self.params.askers_share_max, secret);
        Sizes::of(&self.included, self.recoder.asked, share)
    }

    fn gathering(&self) -> Gathering<'_> {
        Gathering {
            included: &self.included,
            sizes: &self.sizes,
            params: self.params,
            context: self.context,
        }
    }

    /// Joins groups that look alike and recodes what is then published.
    fn recoded(&self, groups: &mut Vec<Vec<u32>>) -> Result<Vec<Recoded>, EngineError> {
        *groups = join_alike(&self.included, std::mem::take(groups));
        self.recoder.all(groups, self.context)
    }

    fn mended(&self, groups: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
        let included = &self.included.records;
        let stays = |record: &u32| included.binary_search(record).is_ok();
        mended(groups, stays, |records| self.sizes.k_of(records))
    }

    fn exclude(&mut self, records: Vec<u32>) {
        without(&mut self.included.records, &records);
        self.unsatisfiable.extend(records);
    }

    fn check_budget(&self, of: usize) -> Result<(), Refusal> {
        let (excluded, max) = (self.unsatisfiable.len(), self.params.max_excluded);
        OverBudget::check(excluded, of, max).map_err(Refusal::Budget)
    }
}

/// The groups without those excluded; a group below its K takes in the next
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
