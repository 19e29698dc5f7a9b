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
use crate::engine::kernel::PartCondition;
use crate::engine::kernel::cut::{CutBuffers, lower_median_cut};

use super::conditions::{Conditions, Counts};
use super::space::{Axis, Children, Extremes, Space};

/// A part with fewer persons is not worth handing to another thread.
const TASK_PERSONS: usize = 1024;

/// A set of so many has its axes tried side by side: such sets are fewer than
/// threads.
pub(super) const WIDE: usize = 8 * TASK_PERSONS;

/// What is split, and under which conditions.
pub(super) struct Splitter<'a> {
    pub space: &'a Space<'a>,
    pub conditions: &'a Conditions<'a>,
    /// Axes in the order in which they are tried; the first of equals wins.
    pub order: Vec<usize>,
    /// Least size of a set whose axes are tried side by side.
    pub wide: usize,
}

/// Buffers that one task reuses from set to set.
struct Buffers {
    counts: Counts,
    cut: CutBuffers,
    extremes: Extremes,
    part_extremes: Extremes,
    seen: Vec<u32>,
    children: Children,
    /// Part of each member.
    part_of: Vec<u32>,
    by_part: Parts,
    /// Parts that may be groups.
    kept: Vec<usize>,
    tried: Parts,
    best: Parts,
}

/// Members by part, and the ends of the parts.
#[derive(Default)]
struct Parts {
    members: Vec<u32>,
    ends: Vec<usize>,
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
            children: Children::default(),
            part_of: Vec::new(),
            by_part: Parts::default(),
            kept: Vec::new(),
            tried: Parts::default(),
            best: Parts::default(),
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
        persons.copy_from_slice(&buffers.best.members);
        let ends = buffers.best.ends.clone();
        let is_large = persons.len() >= TASK_PERSONS;
        let mut parts = Vec::with_capacity(ends.len());
        let (mut rest, mut start) = (persons, 0);
        for end in ends {
            let (part, behind) = rest.split_at_mut(end - start);
            (rest, start) = (behind, end);
            parts.push(part);
        }
        let sizes: Vec<Result<Vec<usize>, EngineError>> = if is_large {
            parts
                .into_par_iter()
                .map(|part| self.go_down(part, &mut self.buffers(), context))
                .collect()
        } else {
            parts
                .into_iter()
                .map(|part| self.go_down(part, buffers, context))
                .collect()
        };
        let sizes: Result<Vec<Vec<usize>>, EngineError> = sizes.into_iter().collect();
        Ok(sizes?.concat())
    }

    /// Finds the split that saves most; false if there is none.
    fn best_split(&self, persons: &[u32], buffers: &mut Buffers) -> bool {
        if persons.len() < 2 * self.conditions.least() {
            return false;
        }
        self.space.extremes(persons, &mut buffers.extremes);
        let all = self
            .space
            .loss(persons, &buffers.extremes, &mut buffers.seen);
        let before = all * persons.len() as f32;
        let mut best: Option<f32> = None;
        let mut is_best = |after: f32| {
            let gain = before - after;
            let is_best = best.is_none_or(|best| gain > best);
            if is_best {
                best = Some(gain);
            }
            is_best
        };
        if persons.len() < self.wide {
            for &axis in &self.order {
                if self
                    .try_axis(persons, axis, buffers)
                    .is_some_and(&mut is_best)
                {
                    std::mem::swap(&mut buffers.tried, &mut buffers.best);
                }
            }
            return best.is_some();
        }
        let extremes = &buffers.extremes;
        let tried = self.order.par_iter().map(|&axis| {
            let mut own = self.buffers();
            own.extremes.clone_from(extremes);
            let after = self.try_axis(persons, axis, &mut own)?;
            Some((after, own.tried))
        });
        let tried: Vec<Option<(f32, Parts)>> = tried.collect();
        for (after, parts) in tried.into_iter().flatten() {
            if is_best(after) {
                buffers.best = parts;
            }
        }
        best.is_some()
    }

    /// Divides the set on one axis; the loss that is left, or `None` if it
    /// cannot be divided.
    fn try_axis(&self, persons: &[u32], axis: usize, buffers: &mut Buffers) -> Option<f32> {
        self.divide(persons, axis, buffers)
            .then(|| self.loss_of_parts(buffers))
    }

    fn loss_of_parts(&self, buffers: &mut Buffers) -> f32 {
        let mut loss = 0.0;
        let mut start = 0;
        for &end in &buffers.tried.ends {
            let part = &buffers.tried.members[start..end];
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
            Axis::Tree(tree, hierarchy) => {
                let (low, high) = (buffers.extremes.low[axis], buffers.extremes.high[axis]);
                let children = &mut buffers.children;
                children.look_up((tree, hierarchy), low, high);
                if children.number() == 0 {
                    return false;
                }
                let parts = children.number() + 1;
                buffers.part_of.clear();
                {
                    // Part 0 keeps the node: those who lie under several children.
                    let child = children.position();
                    buffers.part_of.extend(persons.iter().map(|&person| {
                        let low = self.space.low(person, axis);
                        let high = self.space.high(person, axis);
                        child(low, high).map_or(0, |child| child as u32 + 1)
                    }));
                }
                self.pool(persons, parts, buffers)
            }
        }
    }

    fn cut(&self, persons: &[u32], axis: usize, buffers: &mut Buffers) -> bool {
        let (low, top) = (buffers.extremes.low[axis], buffers.extremes.low_top[axis]);
        let codes = persons.iter().map(|&person| self.space.low(person, axis));
        let Some(cut) = lower_median_cut(codes, low, top, &mut buffers.cut) else {
            return false;
        };
        buffers.tried.members.clear();
        let is_left = |person: &u32| self.space.low(*person, axis) <= cut.code;
        buffers
            .tried
            .members
            .extend(persons.iter().filter(|person| is_left(person)));
        buffers
            .tried
            .members
            .extend(persons.iter().filter(|person| !is_left(person)));
        buffers.tried.ends.clear();
        buffers.tried.ends.extend([cut.left, persons.len()]);
        let (left, right) = buffers.tried.members.split_at(cut.left);
        self.conditions.holds(left, &mut buffers.counts)
            && self.conditions.holds(right, &mut buffers.counts)
    }

    /// Sorts members by part, pools parts that are no groups into part 0, and
    /// lets the pool take in others until it is one.
    fn pool(&self, persons: &[u32], parts: usize, buffers: &mut Buffers) -> bool {
        let Buffers {
            counts,
            part_of,
            by_part,
            kept,
            tried,
            ..
        } = buffers;
        by_part.sort(persons, part_of, parts);
        let Parts {
            members: pool,
            ends,
        } = tried;
        pool.clear();
        pool.extend_from_slice(by_part.part(0));
        kept.clear();
        for number in 1..parts {
            let members = by_part.part(number);
            if self.conditions.holds(members, counts) {
                kept.push(number)
            } else {
                pool.extend_from_slice(members)
            }
        }
        // Smallest first: they have least to lose.
        kept.sort_by_key(|&number| by_part.part(number).len());
        let mut kept = kept.iter().map(|&number| by_part.part(number));
        while !pool.is_empty() && !self.conditions.holds(pool, counts) {
            let Some(members) = kept.next() else {
                return false;
            };
            pool.extend_from_slice(members);
        }
        if kept.len() + usize::from(!pool.is_empty()) < 2 {
            return false;
        }
        ends.clear();
        if !pool.is_empty() {
            ends.push(pool.len());
        }
        for members in kept {
            pool.extend_from_slice(members);
            ends.push(pool.len());
        }
        true
    }
}

impl Parts {
    /// Makes it the members sorted by their part, of so many parts.
    fn sort(&mut self, members: &[u32], part_of: &[u32], parts: usize) {
        self.ends.clear();
        self.ends.resize(parts + 1, 0);
        for &part in part_of {
            self.ends[part as usize + 1] += 1;
        }
        for part in 0..parts {
            self.ends[part + 1] += self.ends[part];
        }
        // From where parts start to where they end, member by member.
        self.members.clear();
        self.members.resize(members.len(), 0);
        for (&member, &part) in members.iter().zip(part_of) {
            let end = &mut self.ends[part as usize];
            self.members[*end] = member;
            *end += 1;
        }
    }

    /// Members of a part.
    fn part(&self, number: usize) -> &[u32] {
        let start = match number {
            0 => 0,
            _ => self.ends[number - 1],
        };
        &self.members[start..self.ends[number]]
    }
}
