//! Who is excluded, and whether a release can exist at all.
//!
//! The root of stage 3 is everyone together; if it is no group, nothing is.
//! So Partition runs first, and then must hold, for those included:
//! - there are at least K persons, for fingerprints and for groups;
//! - the most frequent published fingerprint × L ≤ persons.
//!
//! A person whose own k or l breaks a condition, or makes a fingerprint too
//! frequent for the job's l, is excluded, the strictest first; Partition is
//! repeated until nobody is. A condition that fails on the job's own
//! parameters is a [`Refusal`]. Values too frequent for `value_l` are never
//! published exactly.
//!
//! Where a hierarchy's own nodes allow no release, neighbouring children are
//! joined, [`UNION_FAN_OUT`] to a node, and everything is tried again (*ours*):
//! under a node with twenty children the persons whose set of children is
//! rare are many, and all of them can only be published as the node.

use rand::seq::SliceRandom;

use crate::engine::context::RunContext;
use crate::engine::kernel::feasibility::{OverBudget, exclude_until, without};

use super::params::{Params, SiblingUnions};
use super::partition::{Fingerprints, Material, partition};
use super::persons::Persons;
use super::stage;
use super::trees::Trees;

/// Children of a node where neighbours are joined.
pub(super) const UNION_FAN_OUT: usize = 2;

/// Persons, and fingerprints for which every condition holds.
pub(super) struct Prepared {
    pub included: Vec<u32>,
    pub trees: Trees,
    pub fingerprints: Fingerprints,
    /// Persons whose terms cannot be met.
    pub unsatisfiable: Vec<u32>,
}

/// Why there is no release.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Refusal {
    /// Fewer persons than k or k_group.
    TooFew { left: u64 },
    /// One fingerprint is too frequent for l.
    TooFrequent { largest: u64, of: u64 },
    /// More persons would be excluded than may be.
    Budget(OverBudget),
}

/// Why there is nothing prepared.
pub(super) type Failure = crate::engine::error::Failure<Refusal>;

/// Prepares with the hierarchy's own nodes, or with unions where that fails
/// and the job allows them.
pub(super) fn prepare(
    persons: &Persons<'_>,
    params: &Params,
    context: &RunContext<'_>,
) -> Result<Prepared, Failure> {
    let plain = || Trees::new(&persons.sensitive, None);
    let joined = || Trees::new(&persons.sensitive, Some(UNION_FAN_OUT));
    match params.sibling_unions {
        SiblingUnions::Never => prepare_on(persons, params, plain(), context),
        SiblingUnions::Always => prepare_on(persons, params, joined(), context),
        SiblingUnions::WhenNeeded => match prepare_on(persons, params, plain(), context) {
            Err(Failure::Refused(Refusal::TooFrequent { .. } | Refusal::Budget(_))) => {
                prepare_on(persons, params, joined(), context)
            }
            other => other,
        },
    }
}

fn prepare_on(
    persons: &Persons<'_>,
    params: &Params,
    trees: Trees,
    context: &RunContext<'_>,
) -> Result<Prepared, Failure> {
    let mut included: Vec<u32> = (0..persons.len() as u32).collect();
    included.shuffle(&mut context.stream(stage::ORDER, 0));
    let of = included.len();
    let least = params.k.get().max(params.k_group()?.get());
    let mut unsatisfiable = Vec::new();
    let budget = |unsatisfiable: &[u32]| {
        OverBudget::check(unsatisfiable.len(), of, params.max_excluded).map_err(Refusal::Budget)
    };
    loop {
        exclude_by_k(persons, &mut included, &mut unsatisfiable);
        let left = included.len() as u64;
        if left < u64::from(least) {
            let refusal = budget(&unsatisfiable).err();
            let refusal = refusal.unwrap_or(Refusal::TooFew { left });
            return Err(Failure::Refused(refusal));
        }
        let hidden = hidden(persons, &trees, &included, params.value_l.get());
        let material = Material {
            persons,
            trees: &trees,
            k: params.k.get(),
            hidden: &hidden,
        };
        let fingerprints = partition(material, included.clone(), context)?;
        let largest = u64::from(fingerprints.largest());
        if largest * u64::from(params.l.get()) > left {
            if exclude_by_frequent_k(
                persons,
                params,
                &fingerprints,
                &mut included,
                &mut unsatisfiable,
            ) {
                continue;
            }
            return Err(Failure::Refused(Refusal::TooFrequent { largest, of: left }));
        }
        let before = unsatisfiable.len();
        exclude_by_l(persons, largest, &mut included, &mut unsatisfiable);
        if unsatisfiable.len() > before {
            continue;
        }
        budget(&unsatisfiable).map_err(Failure::Refused)?;
        return Ok(Prepared {
            included,
            trees,
            fingerprints,
            unsatisfiable,
        });
    }
}

/// Excludes those who ask for more persons than there are.
fn exclude_by_k(persons: &Persons<'_>, included: &mut Vec<u32>, excluded: &mut Vec<u32>) {
    exclude(included, excluded, &persons.k, |k, left| k as usize <= left);
}

/// Those who have the most frequent fingerprint and ask for a k beyond the
/// job's may be why it is so frequent: the strictest of them are excluded, an
/// eighth at a time. False if there is none.
fn exclude_by_frequent_k(
    persons: &Persons<'_>,
    params: &Params,
    fingerprints: &Fingerprints,
    included: &mut Vec<u32>,
    excluded: &mut Vec<u32>,
) -> bool {
    let largest = fingerprints.largest();
    let is_strict = |person: &&u32| {
        let fingerprint = fingerprints.of_person[**person as usize] as usize;
        fingerprints.sizes[fingerprint] == largest && persons.k[**person as usize] > params.k.get()
    };
    let mut strict: Vec<u32> = included.iter().filter(is_strict).copied().collect();
    strict.sort_by_key(|&person| std::cmp::Reverse(persons.k[person as usize]));
    strict.truncate(strict.len().div_ceil(8));
    without(included, &strict);
    excluded.extend(&strict);
    !strict.is_empty()
}

/// Excludes those who ask for more than the most frequent fingerprint allows.
fn exclude_by_l(
    persons: &Persons<'_>,
    largest: u64,
    included: &mut Vec<u32>,
    excluded: &mut Vec<u32>,
) {
    exclude(included, excluded, &persons.l, |l, left| {
        largest * u64::from(l) <= left as u64
    });
}

/// Moves persons from `included` to `excluded`, the strictest first, until the
/// strictest one left is content; ties in order of `included`, which is random.
fn exclude(
    included: &mut Vec<u32>,
    excluded: &mut Vec<u32>,
    asked: &[u32],
    is_content: impl Fn(u32, usize) -> bool,
) {
    let (of, all) = (|person: u32| asked[person as usize], included.len());
    let strictest = included.iter().map(|&person| of(person)).max();
    if strictest.is_none_or(|strictest| is_content(strictest, all)) {
        return;
    }
    let content = |person: u32, left: usize| is_content(of(person), left);
    let strict = exclude_until(included.clone(), of, content);
    without(included, &strict);
    excluded.extend(strict);
}

/// Nodes that stand for one value which too many of those included have.
fn hidden(persons: &Persons<'_>, trees: &Trees, included: &[u32], value_l: u32) -> Vec<bool> {
    let mut hidden = vec![false; trees.len()];
    if value_l == 1 {
        return hidden;
    }
    let mut counts = vec![0_u64; trees.items()];
    for &person in included {
        for &item in persons.items(person) {
            counts[item as usize] += 1;
        }
    }
    for (at, hidden) in (0..).zip(&mut hidden) {
        let node = trees.node(at);
        *hidden = node.first == node.last
            && counts[node.first as usize] * u64::from(value_l) > included.len() as u64;
    }
    hidden
}
