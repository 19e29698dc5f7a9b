//! Stage 3: Mondrian with l-diversity on fingerprints (`[1:M]` Mondrian, after
//! LeFevre et al. 2006).
//!
//! A set of persons is split on the attribute where the split saves most
//! loss over all attributes (*ours*; the paper takes the widest). A number is
//! cut at the lower median; a category with a hierarchy falls into the
//! children of the lowest node above the set. Children that are no groups by
//! themselves are pooled with their parent's label; where the pool is none
//! either, it takes in further children, those that lose least by it. A split
//! is allowed only if every part satisfies the conditions of its own members.

use rayon::prelude::*;

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::kernel::Condition;
use crate::engine::kernel::cut::{CutBuffers, lower_median_cut};

use super::conditions::{Conditions, Counts};
use super::space::{Axis, Extremes, Space};

/// A part with fewer persons is not worth handing to another thread.
const TASK_PERSONS: usize = 1024;

/// What is split, and under which conditions.
pub(super) struct Splitter<'a> {
    pub space: &'a Space<'a>,
    pub conditions: &'a Conditions<'a>,
    /// Axes in the order in which they are tried; the first of equals wins.
    pub order: Vec<usize>,
}

/// Buffers that one task reuses from set to set.
struct Buffers {
    counts: Counts,
    cut: CutBuffers,
    extremes: Extremes,
    part_extremes: Extremes,
    seen: Vec<u32>,
    /// Part of each member.
    part_of: Vec<u32>,
    /// Members by part, and the ends of the parts.
    tried: Vec<u32>,
    tried_ends: Vec<usize>,
    best: Vec<u32>,
    best_ends: Vec<usize>,
}

/// Splits persons into groups. The result does not depend on the number of
/// threads.
pub(super) fn split(
    splitter: &Splitter<'_>,
    persons: &mut [u32],
    context: &RunContext<'_>,
) -> Result<Vec<usize>, EngineError> {
    splitter.go_down(persons, &mut splitter.buffers(), context)
}

impl Splitter<'_> {
    fn buffers(&self) -> Buffers {
        Buffers {
            counts: self.conditions.buffers(),
            cut: CutBuffers::default(),
            extremes: Extremes::default(),
            part_extremes: Extremes::default(),
            seen: Vec::new(),
            part_of: Vec::new(),
            tried: Vec::new(),
            tried_ends: Vec::new(),
            best: Vec::new(),
            best_ends: Vec::new(),
        }
    }

    /// Sizes of the groups, which follow one another in `persons`.
    fn go_down(
        &self,
        persons: &mut [u32],
        buffers: &mut Buffers,
        context: &RunContext<'_>,
    ) -> Result<Vec<usize>, EngineError> {
        context.check()?;
        if !self.best_split(persons, buffers) {
            return Ok(vec![persons.len()]);
        }
        persons.copy_from_slice(&buffers.best);
        let ends = buffers.best_ends.clone();
        let is_large = persons.len() >= TASK_PERSONS;
        let mut parts = Vec::with_capacity(ends.len());
        let (mut rest, mut start) = (persons, 0);
        for end in ends {
            let (part, behind) = rest.split_at_mut(end - start);
            (rest, start) = (behind, end);
            parts.push(part);
        }
        let sizes: Vec<Result<Vec<usize>, EngineError>> = match is_large {
            true => parts
                .into_par_iter()
                .map(|part| self.go_down(part, &mut self.buffers(), context))
                .collect(),
            false => parts
                .into_iter()
                .map(|part| self.go_down(part, buffers, context))
                .collect(),
        };
        let sizes: Result<Vec<Vec<usize>>, EngineError> = sizes.into_iter().collect();
        Ok(sizes?.concat())
    }

    /// Finds the split that saves most; false if there is none.
    fn best_split(&self, persons: &[u32], buffers: &mut Buffers) -> bool {
        self.space.extremes(persons, &mut buffers.extremes);
        let all = self
            .space
            .loss(persons, &buffers.extremes, &mut buffers.seen);
        let before = all * persons.len() as f32;
        let mut best = 0.0;
        let mut found = false;
        for &axis in &self.order {
            if !self.divide(persons, axis, buffers) {
                continue;
            }
            let after = self.loss_of_parts(buffers);
            if !found || before - after > best {
                best = before - after;
                found = true;
                std::mem::swap(&mut buffers.tried, &mut buffers.best);
                std::mem::swap(&mut buffers.tried_ends, &mut buffers.best_ends);
            }
        }
        found
    }

    fn loss_of_parts(&self, buffers: &mut Buffers) -> f32 {
        let mut loss = 0.0;
        let mut start = 0;
        for &end in &buffers.tried_ends {
            let part = &buffers.tried[start..end];
            self.space.extremes(part, &mut buffers.part_extremes);
            let of_row = self
                .space
                .loss(part, &buffers.part_extremes, &mut buffers.seen);
            loss += of_row * part.len() as f32;
            start = end;
        }
        loss
    }

    /// Divides the set on one axis into at least two parts that may all be
    /// groups; false if that cannot be.
    fn divide(&self, persons: &[u32], axis: usize, buffers: &mut Buffers) -> bool {
        match &self.space.axes[axis] {
            Axis::Number(_) | Axis::Set(_) => self.cut(persons, axis, buffers),
            Axis::Tree(trees) => {
                let (low, high) = (buffers.extremes.low[axis], buffers.extremes.high[axis]);
                let node = trees.common_ancestor(low, high);
                if trees.node(node).is_leaf() {
                    return false;
                }
                let children = trees.children(node);
                buffers.part_of.clear();
                // Part 0 keeps the node: those who lie under several children.
                buffers.part_of.extend(persons.iter().map(|&person| {
                    let low = self.space.low(person, axis);
                    let child = trees.child_position(node, low);
                    let covers = self.space.high(person, axis) <= trees.node(children[child]).last;
                    if covers { child as u32 + 1 } else { 0 }
                }));
                self.pool(persons, children.len() + 1, buffers)
            }
        }
    }

    fn cut(&self, persons: &[u32], axis: usize, buffers: &mut Buffers) -> bool {
        let (low, top) = (buffers.extremes.low[axis], buffers.extremes.low_top[axis]);
        let codes = persons.iter().map(|&person| self.space.low(person, axis));
        let Some(cut) = lower_median_cut(codes, low, top, &mut buffers.cut) else {
            return false;
        };
        buffers.tried.clear();
        let is_left = |person: &u32| self.space.low(*person, axis) <= cut.code;
        buffers
            .tried
            .extend(persons.iter().filter(|person| is_left(person)));
        buffers
            .tried
            .extend(persons.iter().filter(|person| !is_left(person)));
        buffers.tried_ends.clear();
        buffers.tried_ends.extend([cut.left, persons.len()]);
        let (left, right) = buffers.tried.split_at(cut.left);
        self.conditions.holds(left, &mut buffers.counts)
            && self.conditions.holds(right, &mut buffers.counts)
    }

    /// Sorts members by part, pools parts that are no groups into part 0, and
    /// lets the pool take in others until it is one.
    fn pool(&self, persons: &[u32], parts: usize, buffers: &mut Buffers) -> bool {
        let mut sizes = vec![0_usize; parts];
        for &part in &buffers.part_of {
            sizes[part as usize] += 1;
        }
        let mut ends = Vec::with_capacity(parts);
        let mut start = 0;
        for &size in &sizes {
            ends.push(start);
            start += size;
        }
        buffers.tried.clear();
        buffers.tried.resize(persons.len(), 0);
        for (&person, &part) in persons.iter().zip(&buffers.part_of) {
            let end = &mut ends[part as usize];
            buffers.tried[*end] = person;
            *end += 1;
        }
        let part = |number: usize| ends[number] - sizes[number]..ends[number];
        let mut pool: Vec<u32> = buffers.tried[part(0)].to_vec();
        let mut kept: Vec<usize> = Vec::new();
        for number in (1..parts).filter(|&number| sizes[number] > 0) {
            let members = &buffers.tried[part(number)];
            match self.conditions.holds(members, &mut buffers.counts) {
                true => kept.push(number),
                false => pool.extend_from_slice(members),
            }
        }
        // Smallest first: they have least to lose.
        kept.sort_by_key(|&number| sizes[number]);
        let mut taken = 0;
        while !pool.is_empty() && !self.conditions.holds(&pool, &mut buffers.counts) {
            let Some(&number) = kept.get(taken) else {
                return false;
            };
            pool.extend_from_slice(&buffers.tried[part(number)]);
            taken += 1;
        }
        let kept = &kept[taken..];
        if kept.len() + usize::from(!pool.is_empty()) < 2 {
            return false;
        }
        let mut sorted = pool;
        buffers.tried_ends.clear();
        if !sorted.is_empty() {
            buffers.tried_ends.push(sorted.len());
        }
        for &number in kept {
            sorted.extend_from_slice(&buffers.tried[part(number)]);
            buffers.tried_ends.push(sorted.len());
        }
        buffers.tried = sorted;
        true
    }
}
