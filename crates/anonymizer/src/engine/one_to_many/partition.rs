//! Stage 2, Partition: generalizes fingerprints until each is shared by at
//! least K persons (`[1:M]` Partition, after He & Naughton 2009).
//!
//! A *part* is a set of persons with one common generalized fingerprint: a
//! set of nodes, none above another, each holding items of every person of
//! the part. It begins as everyone at the roots. The node whose expansion
//! saves most loss is replaced, for each person, by those of its children
//! that the person's items lie under; persons with the same set of children
//! become a part of their own. Only the sets that occur are looked at.
//!
//! Sets of too few persons are pooled and keep the node. *Ours*: every
//! expansion is tried with its pool settled before the best one is taken; the
//! paper expands by the node alone, and finds out afterwards.

use rayon::prelude::*;

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;

use super::expansion::{Expander, Expansion};
use super::persons::Persons;
use super::trees::Trees;

/// A part with fewer persons is not worth handing to another thread.
const TASK_PERSONS: usize = 1024;

/// What a partition is made of.
#[derive(Clone, Copy)]
pub(super) struct Material<'a> {
    pub persons: &'a Persons<'a>,
    pub trees: &'a Trees,
    /// Least number of persons in a part, before personal terms.
    pub k: u32,
    /// Nodes that are never published, by node: values too frequent for
    /// `value_l`.
    pub hidden: &'a [bool],
}

/// Published fingerprints.
#[derive(Clone, Debug, Default)]
pub(super) struct Fingerprints {
    /// Position in `nodes` of each person; `u32::MAX` for those not included.
    pub of_person: Vec<u32>,
    /// Nodes of each fingerprint.
    pub nodes: Vec<Vec<u32>>,
    /// Number of persons of each fingerprint.
    pub sizes: Vec<u32>,
}

impl Fingerprints {
    /// Persons who share the most frequent fingerprint.
    pub fn largest(&self) -> u32 {
        self.sizes.iter().copied().max().unwrap_or(0)
    }
}

/// A part that is still looked at.
struct Part<'p> {
    members: &'p mut [u32],
    nodes: Vec<u32>,
    /// Nodes that cannot be expanded for this part, nor for any within it.
    closed: Vec<u32>,
}

/// A part that is done.
struct Done<'p> {
    members: &'p [u32],
    nodes: Vec<u32>,
}

/// Partitions `included`, whose order decides between equals; there are at
/// least K of them. The result does not depend on the number of threads.
pub(super) fn partition(
    material: Material<'_>,
    mut included: Vec<u32>,
    context: &RunContext<'_>,
) -> Result<Fingerprints, EngineError> {
    let whole = Part {
        members: &mut included,
        nodes: material.trees.roots().to_vec(),
        closed: Vec::new(),
    };
    let done = refine(whole, &mut Expander::new(material), context)?;
    let mut fingerprints = Fingerprints {
        of_person: vec![u32::MAX; material.persons.len()],
        ..Fingerprints::default()
    };
    for (number, part) in (0..).zip(done) {
        for &person in part.members {
            fingerprints.of_person[person as usize] = number;
        }
        fingerprints.sizes.push(part.members.len() as u32);
        fingerprints.nodes.push(part.nodes);
    }
    Ok(fingerprints)
}

fn refine<'p>(
    mut part: Part<'p>,
    expander: &mut Expander<'_>,
    context: &RunContext<'_>,
) -> Result<Vec<Done<'p>>, EngineError> {
    context.check()?;
    let Some(expansion) = best(&mut part, expander) else {
        return Ok(vec![Done {
            members: part.members,
            nodes: part.nodes,
        }]);
    };
    let (mut large, mut small) = (Vec::new(), Vec::new());
    for part in divided(part, expansion.node, expander) {
        if part.members.len() >= TASK_PERSONS {
            large.push(part)
        } else {
            small.push(part)
        }
    }
    let material = expander.material();
    let of_small = || -> Result<Vec<Done<'p>>, EngineError> {
        let mut done = Vec::with_capacity(small.len());
        for part in small {
            done.append(&mut refine(part, expander, context)?);
        }
        Ok(done)
    };
    if large.is_empty() {
        return of_small();
    }
    let of_large = || -> Vec<Result<Vec<Done<'p>>, EngineError>> {
        let large = large.into_par_iter();
        large
            .map(|part| refine(part, &mut Expander::new(material), context))
            .collect()
    };
    let (of_large, of_small) = rayon::join(of_large, of_small);
    let mut done = of_small?;
    for parts in of_large {
        done.append(&mut parts?);
    }
    Ok(done)
}

/// The parts that a part falls into where a node is expanded.
fn divided<'p>(part: Part<'p>, node: u32, expander: &mut Expander<'_>) -> Vec<Part<'p>> {
    let sets = expander.arrange(node, part.members);
    let mut rest = part.members;
    let parts = sets.into_iter().map(|(size, children)| {
        let (members, behind) = std::mem::take(&mut rest).split_at_mut(size);
        rest = behind;
        let (mut nodes, mut closed) = (part.nodes.clone(), part.closed.clone());
        if children.is_empty() {
            closed.push(node);
        } else {
            nodes.retain(|&other| other != node);
            nodes.extend(children);
        }
        Part {
            members,
            nodes,
            closed,
        }
    });
    parts.collect()
}

/// The expansion that saves most; `None` if nothing can be expanded. Nodes
/// that cannot are closed.
fn best(part: &mut Part<'_>, expander: &mut Expander<'_>) -> Option<Expansion> {
    let mut best: Option<Expansion> = None;
    for &node in &part.nodes {
        if part.closed.contains(&node) || expander.material().trees.node(node).is_leaf() {
            continue;
        }
        match expander.expand(node, part.members) {
            None => part.closed.push(node),
            Some(found) if best.as_ref().is_none_or(|best| found.gain > best.gain) => {
                expander.keep();
                best = Some(found);
            }
            Some(_) => {}
        }
    }
    best
}
