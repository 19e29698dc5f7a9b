//! The quasi-identifiers as the splits of stage 3 see them.
//!
//! Every attribute is an [`Axis`]: numbers are cut in two, categories with a
//! hierarchy fall into the children of the lowest node above them all,
//! categories without one are cut in two like numbers. Under `hull` a person
//! may cover several codes; a cut sends them where their lowest code goes, so
//! the parts' lowest codes differ and no two groups ever look the same.

use std::sync::Arc;

use crate::engine::kernel::Scale;
use crate::engine::kernel::loss::{Tree, span};
use crate::microdata::{Hierarchy, NodeIndex};

use super::persons::{Persons, Quasi};
use super::trees::Firsts;

/// One quasi-identifier.
pub(super) enum Axis<'a> {
    /// Position of each code in the range, 0 to 1.
    Number(Arc<[f32]>),
    /// A hierarchy, as it is climbed and with its children.
    Tree(Arc<Tree>, &'a Hierarchy),
    /// Share of the domain that one value is.
    Set(f32),
}

/// Codes that lie together: a row is as many of these as hold all attributes.
const LANES: usize = 8;

/// Codes of a row of up to [`LANES`] attributes; 0 beyond the last.
type Lanes = [u32; LANES];

/// All of them, with the persons' codes row by row.
pub(super) struct Space<'a> {
    pub axes: Vec<Axis<'a>>,
    quasi: &'a [Quasi<'a>],
    /// Lanes of a row.
    width: usize,
    /// Lowest codes, row by row.
    low: Vec<Lanes>,
    /// Highest codes, row by row; empty where they are the lowest.
    high: Vec<Lanes>,
}

/// Lowest and highest codes of a set of persons.
#[derive(Clone, Debug, Default)]
pub(super) struct Extremes {
    pub low: Vec<u32>,
    /// Highest of the persons' lowest codes.
    pub low_top: Vec<u32>,
    pub high: Vec<u32>,
}

impl<'a> Space<'a> {
    /// Lays out the quasi-identifiers of all persons.
    pub fn new(persons: &'a Persons<'a>) -> Self {
        let width = persons.quasi.len().div_ceil(LANES);
        let axes = persons.quasi.iter().map(|quasi| {
            match (&quasi.scale, quasi.column.domain.hierarchy()) {
                (Scale::Number(positions), _) => Axis::Number(Arc::clone(positions)),
                (Scale::Tree(tree), Some(hierarchy)) => Axis::Tree(Arc::clone(tree), hierarchy),
                _ => Axis::Set(1.0 / quasi.column.domain.len() as f32),
            }
        });
        let row_by_row = |codes: fn(&'a Quasi<'a>) -> &'a [u32]| {
            let mut rows = vec![[0; LANES]; persons.len() * width];
            for (at, quasi) in persons.quasi.iter().enumerate() {
                for (person, &code) in codes(quasi).iter().enumerate() {
                    rows[person * width + at / LANES][at % LANES] = code;
                }
            }
            rows
        };
        let has_hulls = persons.quasi.iter().any(|quasi| quasi.low != quasi.high);
        Self {
            axes: axes.collect(),
            quasi: &persons.quasi,
            width,
            low: row_by_row(|quasi| &quasi.low),
            high: if has_hulls {
                row_by_row(|quasi| &quasi.high)
            } else {
                Vec::new()
            },
        }
    }

    /// A person's lowest code on an axis.
    #[inline]
    pub fn low(&self, person: u32, axis: usize) -> u32 {
        self.low[person as usize * self.width + axis / LANES][axis % LANES]
    }

    /// A person's highest code on an axis.
    #[inline]
    pub fn high(&self, person: u32, axis: usize) -> u32 {
        if self.high.is_empty() {
            self.low(person, axis)
        } else {
            self.high[person as usize * self.width + axis / LANES][axis % LANES]
        }
    }

    /// Codes that a set of persons covers; the set is not empty.
    pub fn extremes(&self, persons: &[u32], into: &mut Extremes) {
        into.low.clear();
        into.low_top.clear();
        into.high.clear();
        for lanes in 0..self.width {
            let row = |person: u32| person as usize * self.width + lanes;
            let (mut low, mut top) = ([u32::MAX; LANES], [0; LANES]);
            for &person in persons {
                let codes = &self.low[row(person)];
                low = lane_by_lane(low, codes, u32::min);
                top = lane_by_lane(top, codes, u32::max);
            }
            into.low.extend(low);
            into.low_top.extend(top);
            if self.high.is_empty() {
                into.high.extend(top);
                continue;
            }
            let mut high = [0; LANES];
            for &person in persons {
                high = lane_by_lane(high, &self.high[row(person)], u32::max);
            }
            into.high.extend(high);
        }
    }

    /// Loss of one row of a group of these persons, summed over axes.
    pub fn loss(&self, persons: &[u32], extremes: &Extremes, seen: &mut Vec<u32>) -> f32 {
        let losses = self.axes.iter().enumerate().map(|(at, axis)| {
            let (low, high) = (extremes.low[at], extremes.high[at]);
            match axis {
                _ if low == high => 0.0,
                Axis::Number(positions) => span(positions[low as usize], positions[high as usize]),
                Axis::Tree(tree, _) => tree.node(tree.climb(tree.leaf(low), high)).loss,
                Axis::Set(share) => {
                    self.codes(persons, at, seen);
                    seen.len() as f32 * share
                }
            }
        });
        losses.sum()
    }

    /// Distinct codes of a set of persons on an axis without hierarchy.
    fn codes(&self, persons: &[u32], axis: usize, seen: &mut Vec<u32>) {
        seen.clear();
        seen.extend(persons.iter().map(|&person| self.low(person, axis)));
        let sets = &self.quasi[axis].sets;
        if !sets.is_empty() {
            let more = persons.iter().filter_map(|person| sets.get(person));
            seen.extend(more.flatten());
        }
        seen.sort_unstable();
        seen.dedup();
    }
}

#[inline]
fn lane_by_lane(one: Lanes, other: &Lanes, choose: impl Fn(u32, u32) -> u32) -> Lanes {
    std::array::from_fn(|lane| choose(one[lane], other[lane]))
}

/// The children of the lowest node of a tree that covers two codes.
#[derive(Default)]
pub(super) struct Children {
    /// First code under each child, ascending; none if the node is a leaf.
    firsts: Vec<u32>,
    /// Last code under each child.
    lasts: Vec<u32>,
}

impl Children {
    /// Makes it the children of the lowest node that covers `low` and `high`.
    pub fn look_up(&mut self, (tree, hierarchy): (&Tree, &Hierarchy), low: u32, high: u32) {
        let node = NodeIndex(tree.climb(tree.leaf(low), high));
        self.firsts.clear();
        self.lasts.clear();
        for &child in &hierarchy.node(node).children {
            let child = tree.node(child.0);
            self.firsts.push(child.first);
            self.lasts.push(child.last);
        }
    }

    /// Number of children.
    pub fn number(&self) -> usize {
        self.firsts.len()
    }

    /// The child that covers given codes under the node: its position, by the
    /// lowest and the highest of them; `None` if they lie under several.
    pub fn position(&self) -> impl Fn(u32, u32) -> Option<usize> {
        let firsts = Firsts::new(&self.firsts);
        move |low, high| {
            let at = firsts.position(low);
            (high <= self.lasts[at]).then_some(at)
        }
    }
}
