//! Step 2, first half: the order in which clusters would be merged.
//!
//! Two clusters at a time, those whose merging adds least to the loss of
//! quasi-identifiers summed over their members, until one is left. The result
//! is a tree of clusters ([`Merges`]); [`choose`](super::choose) then decides
//! how far up each branch goes.
//!
//! Merging looks at all pairs, so it works on at most [`BLOCK`] clusters at a
//! time: neighbours in the order of an index, on all threads, until a quarter
//! of them is left; then again.

use std::ops::Range;

use rayon::prelude::*;

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;

use super::bounds::RowLayout;
use super::index::Index;

/// Clusters among which all pairs are looked at.
const BLOCK: usize = 1024;
/// Part of a block that is left after a round that is not the last.
const KEPT: usize = 4;

/// A cluster, or two merged.
#[derive(Clone, Debug)]
pub(super) struct Merge {
    /// The two, earlier in the list; `None` for a cluster of step 1.
    pub parts: Option<(u32, u32)>,
    /// Its members: positions in [`Merges::members`].
    pub members: Range<usize>,
    /// Loss of quasi-identifiers summed over members: mean cell loss of each.
    pub loss: f64,
}

/// The tree of clusters; parts come before wholes, the last one is everybody.
#[derive(Debug, Default)]
pub(super) struct Merges {
    pub nodes: Vec<Merge>,
    pub members: Vec<u32>,
}

impl Merges {
    /// Members of a cluster.
    pub fn members_of(&self, at: usize) -> &[u32] {
        &self.members[self.nodes[at].members.clone()]
    }
}

/// A cluster in a block.
#[derive(Clone, Debug)]
struct Block<'a> {
    space: &'a RowLayout,
    rows: Vec<u32>,
    sizes: Vec<f32>,
    losses: Vec<f32>,
    /// Those left.
    left: Vec<u32>,
    /// Nearest other one of each, and what merging the two adds.
    nearest: Vec<(f32, u32)>,
}

/// Merges clusters of persons, whose rows are given, into one.
pub(super) fn merge(
    space: &RowLayout,
    rows: &[u32],
    clusters: &[Vec<u32>],
    context: &RunContext<'_>,
) -> Result<Merges, EngineError> {
    let width = space.width();
    let hull = |cluster: &Vec<u32>| {
        let row = |person: u32| &rows[person as usize * width..][..width];
        let mut hull = row(cluster[0]).to_vec();
        for &person in &cluster[1..] {
            space.join(&mut hull, row(person));
        }
        hull
    };
    let hulls: Vec<Vec<u32>> = clusters.par_iter().map(hull).collect();
    let mut pairs: Vec<Option<(u32, u32)>> = vec![None; clusters.len()];
    let mut all_rows: Vec<u32> = hulls.concat();
    let mut sizes: Vec<usize> = clusters.iter().map(Vec::len).collect();
    let mut left: Vec<u32> = (0..clusters.len() as u32).collect();
    while left.len() > 1 {
        let is_last = left.len() <= BLOCK;
        let blocks = divide(space, &all_rows, &left);
        let merged: Result<Vec<_>, EngineError> = blocks
            .par_iter()
            .map(|block| {
                let keep = if is_last {
                    1
                } else {
                    block.len().div_ceil(KEPT)
                };
                Block::new(space, &all_rows, &sizes, block).merge(keep, context)
            })
            .collect();
        left.clear();
        for (block, merged) in blocks.iter().zip(merged?) {
            let mut number = block.clone();
            for (one, other) in merged {
                let (a, b) = (number[one as usize], number[other as usize]);
                let at = pairs.len() as u32;
                pairs.push(Some((a, b)));
                sizes.push(sizes[a as usize] + sizes[b as usize]);
                let mut row = all_rows[a as usize * width..][..width].to_vec();
                space.join(&mut row, &all_rows[b as usize * width..][..width]);
                all_rows.extend(row);
                number[one as usize] = at;
                number[other as usize] = u32::MAX;
            }
            left.extend(number.into_iter().filter(|&at| at != u32::MAX));
        }
    }
    Ok(arrange(space, clusters, &pairs, &all_rows))
}

/// Blocks of clusters that lie near each other.
fn divide(space: &RowLayout, rows: &[u32], left: &[u32]) -> Vec<Vec<u32>> {
    if left.len() <= BLOCK {
        return vec![left.to_vec()];
    }
    let width = space.width();
    let of = left.iter().map(|&at| &rows[at as usize * width..][..width]);
    let own: Vec<u32> = of.flatten().copied().collect();
    let index = Index::new(space, &own, left.len());
    let order: Vec<u32> = index.order().iter().map(|&at| left[at as usize]).collect();
    let size = left.len().div_ceil(left.len().div_ceil(BLOCK));
    order.chunks(size).map(<[u32]>::to_vec).collect()
}

impl<'a> Block<'a> {
    fn new(space: &'a RowLayout, rows: &[u32], sizes: &[usize], numbers: &[u32]) -> Self {
        let width = space.width();
        let mut block = Self {
            space,
            rows: Vec::with_capacity(numbers.len() * width),
            sizes: Vec::with_capacity(numbers.len()),
            losses: Vec::with_capacity(numbers.len()),
            left: (0..numbers.len() as u32).collect(),
            nearest: vec![(f32::INFINITY, u32::MAX); numbers.len()],
        };
        for &at in numbers {
            let row = &rows[at as usize * width..][..width];
            block.rows.extend_from_slice(row);
            block.sizes.push(sizes[at as usize] as f32);
            block.losses.push(space.loss(row));
        }
        block
    }

    fn row(&self, at: u32) -> &[u32] {
        let width = self.space.width();
        &self.rows[at as usize * width..][..width]
    }

    /// What merging two adds to the loss summed over their members.
    fn cost(&self, one: u32, other: u32) -> f32 {
        let (a, b) = (one as usize, other as usize);
        let merged = self.space.loss_of_two(self.row(one), self.row(other));
        self.sizes[a] * (merged - self.losses[a]) + self.sizes[b] * (merged - self.losses[b])
    }

    fn find_nearest(&self, at: u32) -> (f32, u32) {
        let others = self.left.iter().filter(|&&other| other != at);
        let costs = others.map(|&other| (self.cost(at, other), other));
        let least = costs.min_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        least.unwrap_or((f32::INFINITY, u32::MAX))
    }

    /// Merges until `keep` are left; the second of each pair is gone, the
    /// first stands for both.
    fn merge(
        mut self,
        keep: usize,
        context: &RunContext<'_>,
    ) -> Result<Vec<(u32, u32)>, EngineError> {
        for at in 0..self.left.len() as u32 {
            self.nearest[at as usize] = self.find_nearest(at);
        }
        let mut merged = Vec::with_capacity(self.left.len());
        while self.left.len() > keep.max(1) {
            context.check()?;
            let nearest = self
                .left
                .iter()
                .map(|&at| (self.nearest[at as usize].0, at));
            let least =
                nearest.min_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
            let Some((_, one)) = least else {
                break;
            };
            let other = self.nearest[one as usize].1;
            self.join(one, other);
            merged.push((one, other));
        }
        Ok(merged)
    }

    fn join(&mut self, one: u32, other: u32) {
        let width = self.space.width();
        let mut row = self.row(one).to_vec();
        self.space.join(&mut row, self.row(other));
        self.losses[one as usize] = self.space.loss(&row);
        self.sizes[one as usize] += self.sizes[other as usize];
        self.rows[one as usize * width..][..width].copy_from_slice(&row);
        self.left.retain(|&at| at != other);
        self.nearest[one as usize] = self.find_nearest(one);
        for position in 0..self.left.len() {
            let at = self.left[position];
            let (cost, nearest) = self.nearest[at as usize];
            if at == one {
                continue;
            }
            if nearest == one || nearest == other {
                self.nearest[at as usize] = self.find_nearest(at);
            } else {
                let now = self.cost(at, one);
                if now < cost || (now == cost && one < nearest) {
                    self.nearest[at as usize] = (now, one);
                }
            }
        }
    }
}

/// Lays members out so that every cluster's stand together.
fn arrange(
    space: &RowLayout,
    clusters: &[Vec<u32>],
    pairs: &[Option<(u32, u32)>],
    rows: &[u32],
) -> Merges {
    let width = space.width();
    let attributes = space.attributes().max(1) as f64;
    let mut merges = Merges::default();
    let mut ranges: Vec<Range<usize>> = vec![0..0; pairs.len()];
    let mut open = vec![(pairs.len() - 1, false)];
    while let Some((at, is_done)) = open.pop() {
        match pairs[at] {
            None => {
                let start = merges.members.len();
                merges.members.extend_from_slice(&clusters[at]);
                ranges[at] = start..merges.members.len();
            }
            Some((one, other)) if is_done => {
                ranges[at] = ranges[one as usize].start..ranges[other as usize].end;
            }
            Some((one, other)) => {
                open.push((at, true));
                open.push((other as usize, false));
                open.push((one as usize, false));
            }
        }
    }
    let nodes = pairs.iter().zip(ranges).enumerate();
    merges.nodes = nodes
        .map(|(at, (&parts, members))| {
            let loss = f64::from(space.loss(&rows[at * width..][..width])) / attributes;
            Merge {
                parts,
                loss: loss * members.len() as f64,
                members,
            }
        })
        .collect();
    merges
}
