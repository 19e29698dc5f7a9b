//! Who is left out, and whether a release can exist at all.
//!
//! The root of stage 3 is everyone together; if it is no group, nothing is.
//! So Partition runs first, and then must hold, for those present:
//! - there are at least K persons, for fingerprints and for groups;
//! - the most frequent published fingerprint × L ≤ persons.
//!
//! A person whose own k or l breaks a condition, or makes a fingerprint too
//! frequent for the job's l, leaves, strictest first;
//! Partition is repeated until nobody leaves. A condition that fails on the
//! job's own parameters is a [`Refusal`]. Values too frequent for `value_l`
//! are never published exactly.
//!
//! Where a hierarchy's own nodes allow no release, neighbouring children are
//! joined, [`UNION_FAN_OUT`] to a node, and everything is tried again (*ours*):
//! under a node with twenty children the persons whose set of children is
//! rare are many, and all of them can only be published as the node.

use rand::seq::SliceRandom;

use crate::engine::context::RunContext;
use crate::engine::kernel::eligibility::is_within;

use super::params::{Params, SiblingUnions};
use super::partition::{Fingerprints, Material, partition};
use super::persons::Persons;
use super::stage;
use super::trees::Trees;

/// Children of a node where neighbours are joined.
pub(super) const UNION_FAN_OUT: usize = 2;

/// Persons, and fingerprints for which every condition holds.
pub(super) struct Prepared {
    pub present: Vec<u32>,
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
    /// More persons would have to leave than may.
    Budget { needed: u64, of: u64 },
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
            Err(Failure::Refused(Refusal::TooFrequent { .. } | Refusal::Budget { .. })) => {
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
    let mut present: Vec<u32> = (0..persons.len() as u32).collect();
    present.shuffle(&mut context.stream(stage::ORDER, 0));
    let of = present.len() as u64;
    let least = params.k.get().max(params.k_group()?.get());
    let mut unsatisfiable = Vec::new();
    loop {
        leave_by_k(persons, &mut present, &mut unsatisfiable);
        let left = present.len() as u64;
        if left < u64::from(least) {
            return Err(Failure::Refused(if unsatisfiable.is_empty() {
                Refusal::TooFew { left }
            } else {
                budget(&unsatisfiable, of, params).unwrap_or(Refusal::TooFew { left })
            }));
        }
        let hidden = hidden(persons, &trees, &present, params.value_l.get());
        let material = Material {
            persons,
            trees: &trees,
            k: params.k.get(),
            hidden: &hidden,
        };
        let fingerprints = partition(material, present.clone(), context)?;
        let largest = u64::from(fingerprints.largest());
        if largest * u64::from(params.l.get()) > left {
            if leave_by_frequent_k(
                persons,
                params,
                &fingerprints,
                &mut present,
                &mut unsatisfiable,
            ) {
                continue;
            }
            return Err(Failure::Refused(Refusal::TooFrequent { largest, of: left }));
        }
        let before = unsatisfiable.len();
        leave_by_l(persons, largest, &mut present, &mut unsatisfiable);
        if unsatisfiable.len() > before {
            continue;
        }
        return match budget(&unsatisfiable, of, params) {
            Some(refusal) => Err(Failure::Refused(refusal)),
            None => Ok(Prepared {
                present,
                trees,
                fingerprints,
                unsatisfiable,
            }),
        };
    }
}

fn budget(unsatisfiable: &[u32], of: u64, params: &Params) -> Option<Refusal> {
    let needed = unsatisfiable.len() as u64;
    (!is_within(needed, of, params.max_excluded)).then_some(Refusal::Budget { needed, of })
}

/// Whoever asks for more persons than there are leaves, strictest first.
fn leave_by_k(persons: &Persons<'_>, present: &mut Vec<u32>, gone: &mut Vec<u32>) {
    leave(present, gone, &persons.k, |k, left| u64::from(k) <= left);
}

/// Whoever has the most frequent fingerprint and asks for a k beyond the
/// job's may be why it is so frequent: the strictest of them leave, an eighth
/// at a time. False if there is none.
fn leave_by_frequent_k(
    persons: &Persons<'_>,
    params: &Params,
    fingerprints: &Fingerprints,
    present: &mut Vec<u32>,
    gone: &mut Vec<u32>,
) -> bool {
    let largest = fingerprints.largest();
    let is_strict = |person: &&u32| {
        let fingerprint = fingerprints.of_person[**person as usize] as usize;
        fingerprints.sizes[fingerprint] == largest && persons.k[**person as usize] > params.k.get()
    };
    let mut strict: Vec<u32> = present.iter().filter(is_strict).copied().collect();
    strict.sort_by_key(|&person| std::cmp::Reverse(persons.k[person as usize]));
    strict.truncate(strict.len().div_ceil(8));
    present.retain(|person| !strict.contains(person));
    gone.extend(&strict);
    !strict.is_empty()
}

/// Whoever asks for more than the most frequent fingerprint allows leaves,
/// strictest first.
fn leave_by_l(persons: &Persons<'_>, largest: u64, present: &mut Vec<u32>, gone: &mut Vec<u32>) {
    leave(present, gone, &persons.l, |l, left| {
        largest * u64::from(l) <= left
    });
}

/// Moves persons from `present` to `gone`, strictest first, until the
/// strictest one left is content; ties in order of `present`, which is random.
fn leave(
    present: &mut Vec<u32>,
    gone: &mut Vec<u32>,
    asked: &[u32],
    is_content: impl Fn(u32, u64) -> bool,
) {
    let mut left = present.len() as u64;
    let of = |person: &u32| asked[*person as usize];
    if present
        .iter()
        .map(of)
        .max()
        .is_none_or(|most| is_content(most, left))
    {
        return;
    }
    let mut strict: Vec<u32> = present.clone();
    strict.retain(|person| !is_content(of(person), left) || of(person) > 1);
    strict.sort_by_key(|person| std::cmp::Reverse(of(person)));
    let mut leaving = rustc_hash::FxHashSet::default();
    for person in strict {
        if is_content(of(&person), left) {
            break;
        }
        leaving.insert(person);
        gone.push(person);
        left -= 1;
    }
    present.retain(|person| !leaving.contains(person));
}

/// Nodes that stand for one value which too many of those present have.
fn hidden(persons: &Persons<'_>, trees: &Trees, present: &[u32], value_l: u32) -> Vec<bool> {
    let mut hidden = vec![false; trees.len()];
    if value_l == 1 {
        return hidden;
    }
    let mut counts = vec![0_u64; trees.items()];
    for &person in present {
        for &item in persons.items(person) {
            counts[item as usize] += 1;
        }
    }
    for (at, hidden) in (0..).zip(&mut hidden) {
        let node = trees.node(at);
        *hidden = node.first == node.last
            && counts[node.first as usize] * u64::from(value_l) > present.len() as u64;
    }
    hidden
}
