//! Who is left out, and the clusters of everybody else.
//!
//! Persons leave only because of terms of their own that are stricter than the
//! job's: first those who ask for more persons than there are, the strictest
//! first; then, where terms cannot be met within delta, those whose l does not
//! even hold for everybody together, and the strictest of the others until the
//! rest can (the fewest, by bisection over how many of the strictest leave),
//! of those who ask for an l, for a k, or of both, whichever is enough first.
//! Strictness is the number of persons that terms need at least: the own k, or
//! l fingerprints with k persons each. The job's own floors are never lowered:
//! what fails without any personal terms is a [`Refusal`].

use rand::seq::SliceRandom;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::kernel::feasibility::exclude_until;
use crate::engine::kernel::is_eligible;
use crate::engine::one_to_many::persons::Persons;
use crate::engine::one_to_many::trees::Trees;

use super::bounds::RowLayout;
use super::choose::{Choice, Offer, choose, finest};
use super::cluster::{self, Input};
use super::equivalence;
use super::itemsets::{Cut, Promise, Work};
use super::merge::{Merges, merge};
use super::{STEPS, stage};

/// What the stages of one run share.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    pub persons: &'a Persons<'a>,
    pub trees: &'a Trees,
    /// The job's k.
    pub k: u32,
    pub m: u32,
    pub delta: f64,
    pub context: &'a RunContext<'a>,
}

/// Clusters that hold, with their cuts, and who was left out.
#[derive(Debug)]
pub(super) struct Plan {
    pub clusters: Vec<(Vec<u32>, Cut)>,
    /// Persons whose terms cannot be met, in the order in which they left.
    pub unsatisfiable: Vec<u32>,
}

/// Why there is no plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Refusal {
    /// Fewer persons than k, after some left.
    TooFew { left: u64, unsatisfiable: u64 },
    /// Quasi-identifiers lose more than delta before anything is merged.
    Delta { least: f64 },
}

/// A refusal, or the run was stopped.
pub(super) type Failure = crate::engine::error::Failure<Refusal>;

/// Persons laid out, and what stays the same from attempt to attempt.
pub(super) struct Planner<'a> {
    pub frame: Frame<'a>,
    space: RowLayout,
    rows: Vec<u32>,
    /// Persons in random order, which breaks all ties.
    order: Vec<u32>,
}

/// Clusters of those included, and what each merge of them offers.
struct Attempt {
    merges: Merges,
    offers: Vec<Offer>,
    /// The choice with the least loss of quasi-identifiers.
    finest: Option<Choice>,
    /// Loss of quasi-identifiers that delta allows, summed over persons.
    budget: f64,
}

impl Attempt {
    fn holds(&self) -> bool {
        self.finest
            .as_ref()
            .is_some_and(|finest| finest.loss <= self.budget)
    }

    /// Least mean loss of quasi-identifiers.
    fn least(&self) -> f64 {
        let mean = |finest: &Choice| finest.loss / self.merges.members.len() as f64;
        self.finest.as_ref().map_or(1.0, mean)
    }
}

/// Who is out, and an attempt with everybody else that holds.
type Held = (Vec<u32>, Attempt);

/// Leaves out whom it must and divides the rest into clusters, or says which
/// condition cannot hold.
pub(super) fn plan(frame: &Frame<'_>) -> Result<Plan, Failure> {
    let (space, rows) = RowLayout::lay_out(frame.persons);
    let mut order: Vec<u32> = (0..frame.persons.len() as u32).collect();
    order.shuffle(&mut frame.context.stream(stage::ORDER, 0));
    let planner = Planner {
        frame: *frame,
        space,
        rows,
        order,
    };
    let mut out = Vec::new();
    loop {
        planner.leave_out_too_many(&mut out);
        let (left, attempt) = match planner.meet_everybody(&out)? {
            Ok(held) => held,
            Err(least) => planner.leave_out_the_strictest(out, least)?,
        };
        let mut plan = planner.finish(&attempt, left)?;
        let beyond = equivalence::beyond_their_l(frame.persons, &plan.clusters);
        if beyond.is_empty() {
            return Ok(plan);
        }
        plan.unsatisfiable.extend(beyond);
        out = plan.unsatisfiable;
    }
}

impl Planner<'_> {
    /// Number of persons that the terms of one need at least.
    pub(super) fn strictness(&self, person: u32) -> u64 {
        let persons = self.frame.persons;
        let (k, l) = (persons.k[person as usize], persons.l[person as usize]);
        let diverse = if l > 1 {
            u64::from(l) * u64::from(self.frame.k)
        } else {
            1
        };
        u64::from(k).max(diverse)
    }

    /// Leaves out persons who ask for more persons than are left, the strictest
    /// first.
    fn leave_out_too_many(&self, out: &mut Vec<u32>) {
        let k = |person: u32| self.frame.persons.k[person as usize];
        let mut strict = self.included(out);
        let left = strict.len();
        strict.retain(|&person| k(person) > self.frame.k);
        let others = left - strict.len();
        out.extend(exclude_until(strict, k, |person, left| {
            k(person) as usize <= left + others
        }));
    }

    /// The cluster of [`Planner::gather`]; none where a member asks for more
    /// persons than are left once it has excluded its own.
    fn gathered(&self, out: &mut Vec<u32>) -> Result<Vec<u32>, EngineError> {
        let mut gathered = self.gather(out)?;
        let before = out.len();
        self.leave_out_too_many(out);
        if gathered.iter().any(|person| out[before..].contains(person)) {
            gathered.clear();
        }
        Ok(gathered)
    }

    /// Those included in random order.
    pub(super) fn included(&self, out: &[u32]) -> Vec<u32> {
        let mut is_out = vec![false; self.order.len()];
        for &person in out {
            is_out[person as usize] = true;
        }
        let mut included = self.order.clone();
        included.retain(|&person| !is_out[person as usize]);
        included
    }

    /// An attempt that holds, if there is one without leaving out anybody who
    /// could be met: with the strict gathered, or else left where they are.
    /// Otherwise what quasi-identifiers lose at least.
    fn meet_everybody(&self, out: &[u32]) -> Result<Result<Held, f64>, Failure> {
        let mut with_gathered = out.to_vec();
        let gathered = self.gathered(&mut with_gathered)?;
        let is_plain = gathered.is_empty() && with_gathered.len() == out.len();
        let is_complete = with_gathered.len() == out.len();
        let first = enough(self.attempt(&with_gathered, gathered))?;
        let first = match first {
            Some(first) if first.holds() => Some((with_gathered, first)),
            Some(first) if is_plain => return Ok(Err(first.least())),
            _ => None,
        };
        match first {
            Some(first) if is_complete => return Ok(Ok(first)),
            _ => {}
        }
        let second = self.attempt(out, Vec::new())?;
        match (second.holds(), first) {
            (true, _) => Ok(Ok((out.to_vec(), second))),
            (false, Some(first)) => Ok(Ok(first)),
            (false, None) => Ok(Err(second.least())),
        }
    }

    /// Clusters without those who are out, merged, and what they offer;
    /// `gathered` is a cluster already.
    fn attempt(&self, out: &[u32], gathered: Vec<u32>) -> Result<Attempt, Failure> {
        let frame = &self.frame;
        let report = |step, label, fraction| {
            frame.context.progress.report(step, STEPS, label, fraction);
        };
        let persons = self.order.len() - out.len();
        if persons < frame.k as usize {
            return Err(Failure::Refused(Refusal::TooFew {
                left: persons as u64,
                unsatisfiable: out.len() as u64,
            }));
        }
        let gathered_or_out = [out, &gathered].concat();
        let mut clusters = Vec::from_iter((!gathered.is_empty()).then_some(gathered));
        let rest = self.included(&gathered_or_out);
        let rows = rest.iter().flat_map(|&person| self.row(person)).copied();
        let input = Input {
            space: &self.space,
            rows: &rows.collect::<Vec<u32>>(),
            k: &rest
                .iter()
                .map(|&person| self.k(person))
                .collect::<Vec<u32>>(),
        };
        let formed = cluster::form(&input, frame.context, |done| report(2, "cluster", done))?;
        let person = |at: u32| rest[at as usize];
        clusters.extend(
            formed
                .into_iter()
                .map(|cluster| cluster.into_iter().map(person).collect()),
        );
        let clusters = equivalence::joined(frame.persons, clusters);
        report(3, "merge", 0.0);
        let merges = merge(&self.space, &self.rows, &clusters, frame.context)?;
        report(4, "generalize", 0.0);
        let budget = frame.delta * persons as f64;
        let offers = self.offers(&merges, budget)?;
        Ok(Attempt {
            finest: finest(&merges, &offers),
            merges,
            offers,
            budget,
        })
    }

    /// K of a person: the stricter of job and person.
    pub(super) fn k(&self, person: u32) -> u32 {
        self.frame.persons.k[person as usize].max(self.frame.k)
    }

    fn row(&self, person: u32) -> &[u32] {
        &self.rows[person as usize * self.space.width()..][..self.space.width()]
    }

    pub(super) fn promise(&self) -> Promise<'_> {
        let Frame {
            persons,
            trees,
            k,
            m,
            ..
        } = self.frame;
        Promise {
            persons,
            trees,
            k,
            m,
            is_personal: persons.k.iter().any(|&own| own > k),
        }
    }

    /// What every cluster offers. Those that alone would exceed the budget
    /// offer nothing.
    fn offers(&self, merges: &Merges, budget: f64) -> Result<Vec<Offer>, EngineError> {
        // Least loss of the clusters of step 1 under each node.
        let mut least = Vec::with_capacity(merges.nodes.len());
        for node in &merges.nodes {
            least.push(match node.parts {
                None => node.loss,
                Some((one, other)) => least[one as usize] + least[other as usize],
            });
        }
        let all: f64 = least.last().copied().unwrap_or(0.0);
        let nodes = (0..merges.nodes.len()).into_par_iter().with_max_len(1);
        nodes
            .map_init(
                || Work::new(self.promise()),
                |work, at| {
                    self.frame.context.check()?;
                    let loss = merges.nodes[at].loss;
                    // A cluster of step 1 answers in any case: it says what
                    // would be the least.
                    if merges.nodes[at].parts.is_some() && all - least[at] + loss > budget {
                        return Ok(Offer::default());
                    }
                    Ok(self.offer(merges.members_of(at), work))
                },
            )
            .collect()
    }

    pub(super) fn offer(&self, members: &[u32], work: &mut Work<'_>) -> Offer {
        let persons = self.frame.persons;
        let of = |terms: &[u32]| members.iter().map(|&person| terms[person as usize]).max();
        let (k, l) = (of(&persons.k).unwrap_or(1), of(&persons.l).unwrap_or(1));
        if members.len() < k as usize {
            return Offer::default();
        }
        let cut = work.cut(members);
        let most = (l > 1).then(|| most_frequent(persons, members, &cut));
        let size = members.len() as u64;
        let is_diverse = most.is_none_or(|most| is_eligible(u64::from(most), size, l));
        Offer {
            items: is_diverse.then_some(cut.loss),
            most,
        }
    }

    /// Leaves out the fewest of the strictest, beside those who are out: of
    /// those who ask for an l if that is enough, else of those who ask for a k
    /// if that is, else of both.
    /// `least` is what quasi-identifiers lose at least if nobody does.
    fn leave_out_the_strictest(&self, out: Vec<u32>, least: f64) -> Result<Held, Failure> {
        let included = self.included(&out);
        let Frame { persons, k, .. } = self.frame;
        let asks_l = |person: u32| persons.l[person as usize] > 1;
        let asks_k = |person: u32| persons.k[person as usize] > k;
        let select = |asks: &dyn Fn(u32) -> bool| {
            let mut strict = included.clone();
            strict.retain(|&person| asks(person));
            strict.sort_by_key(|&person| std::cmp::Reverse(self.strictness(person)));
            strict
        };
        let both = |person| asks_l(person) || asks_k(person);
        let mut refusal = Refusal::Delta { least };
        let (by_l, by_k, by_both) = (select(&asks_l), select(&asks_k), select(&both));
        let is_mixed = by_both.len() > by_l.len().max(by_k.len());
        let by_both = if is_mixed { by_both } else { Vec::new() };
        for strict in [by_l, by_k, by_both] {
            if strict.is_empty() {
                continue;
            }
            match self.fewest(&out, &strict)? {
                Ok(held) => return Ok(held),
                Err(refused) => refusal = refused,
            }
        }
        Err(Failure::Refused(refusal))
    }

    /// Leaves out the fewest of persons in order so that an attempt holds; a
    /// refusal if none does.
    fn fewest(&self, out: &[u32], strict: &[u32]) -> Result<Result<Held, Refusal>, Failure> {
        let attempt = |count: usize| {
            let mut out = [out, &strict[..count]].concat();
            let gathered = self.gathered(&mut out)?;
            let attempt = enough(self.attempt(&out, gathered))?;
            Ok::<_, Failure>(attempt.map(|attempt| (out, attempt)))
        };
        // Where everybody asks for something, k still have to stay.
        let included = self.order.len() - out.len();
        let most = strict
            .len()
            .min(included.saturating_sub(self.frame.k as usize));
        let mut best = match attempt(most)? {
            Some(best) if best.1.holds() => best,
            Some((_, best)) if most == strict.len() => {
                return Ok(Err(Refusal::Delta {
                    least: best.least(),
                }));
            }
            _ => {
                return Ok(Err(Refusal::TooFew {
                    left: (included - strict.len()) as u64,
                    unsatisfiable: (out.len() + strict.len()) as u64,
                }));
            }
        };
        let (mut fails, mut fits) = (0, most);
        while fits - fails > 1 {
            let middle = fails + (fits - fails) / 2;
            match attempt(middle)? {
                Some(trial) if trial.1.holds() => (fits, best) = (middle, trial),
                _ => fails = middle,
            }
        }
        Ok(Ok(best))
    }

    fn finish(&self, attempt: &Attempt, out: Vec<u32>) -> Result<Plan, Failure> {
        let Attempt {
            merges,
            offers,
            budget,
            ..
        } = attempt;
        let choice = choose(merges, offers, *budget).unwrap_or_default();
        let taken = choice.taken.par_iter().map_init(
            || Work::new(self.promise()),
            |work, &at| {
                let members = merges.members_of(at).to_vec();
                let cut = work.cut(&members);
                (members, cut)
            },
        );
        Ok(Plan {
            clusters: taken.collect(),
            unsatisfiable: out,
        })
    }
}

/// An attempt, or none where too few persons were left for one.
fn enough(attempt: Result<Attempt, Failure>) -> Result<Option<Attempt>, Failure> {
    match attempt {
        Ok(attempt) => Ok(Some(attempt)),
        Err(Failure::Refused(Refusal::TooFew { .. })) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// How many members share the most frequent published fingerprint.
fn most_frequent(persons: &Persons<'_>, members: &[u32], cut: &Cut) -> u32 {
    let mut counts: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
    let mut nodes = Vec::new();
    let mut most = 0;
    for &person in members {
        cut.fingerprint(persons.items(person), &mut nodes);
        let count = match counts.get_mut(&nodes) {
            Some(count) => count,
            None => counts.entry(nodes.clone()).or_default(),
        };
        *count += 1;
        most = most.max(*count);
    }
    most
}
