//! The box around a set of persons, as one short row of numbers.
//!
//! A row holds two cells for each quasi-identifier that has an order: the
//! lowest and highest position of a number in its range (the bits of a
//! non-negative `f32`, whose order is that of the numbers), or the lowest and
//! highest leaf of a hierarchy. A category without one holds a bit for each
//! value that occurs. Boxes join by taking lows, highs and bits together, so
//! a person, a cluster and a node of an index all look the same, and a person
//! whose records disagree (`hull`) is a box like any other.
//!
//! Losses steer clusters; no decision on privacy rests on them.

use std::sync::Arc;

use crate::engine::kernel::Scale;
use crate::engine::kernel::loss::{Tree, TreeNode, span_growth};
use crate::engine::one_to_many::persons::{Persons, Quasi};

/// Where the bits of a category without hierarchy lie.
#[derive(Clone, Copy, Debug)]
struct SetCells {
    /// Loss of one value more.
    share: f32,
    first: usize,
    end: usize,
}

/// The quasi-identifiers in the order in which rows hold them.
#[derive(Debug)]
pub(super) struct RowLayout {
    numbers: usize,
    trees: Vec<Arc<Tree>>,
    sets: Vec<SetCells>,
    width: usize,
}

/// Loss of publishing `size` values of a category without hierarchy.
fn loss_of_set(size: u32, share: f32) -> f32 {
    if size > 1 { size as f32 * share } else { 0.0 }
}

impl RowLayout {
    /// The space of the persons' quasi-identifiers, and the row of each
    /// person, one after the other.
    pub fn lay_out(persons: &Persons<'_>) -> (Self, Vec<u32>) {
        let mut space = Self {
            numbers: 0,
            trees: Vec::new(),
            sets: Vec::new(),
            width: 0,
        };
        // First cell of each quasi-identifier.
        let mut firsts = vec![0; persons.quasi.len()];
        for (at, quasi) in persons.quasi.iter().enumerate() {
            if let Scale::Number(_) = quasi.scale {
                firsts[at] = space.width;
                space.width += 2;
                space.numbers += 1;
            }
        }
        for (at, quasi) in persons.quasi.iter().enumerate() {
            if let Scale::Tree(tree) = &quasi.scale {
                firsts[at] = space.width;
                space.width += 2;
                space.trees.push(Arc::clone(tree));
            }
        }
        for (at, quasi) in persons.quasi.iter().enumerate() {
            if let Scale::Set(values) = quasi.scale {
                firsts[at] = space.width;
                space.width += (values as usize).div_ceil(32);
                space.sets.push(SetCells {
                    share: 1.0 / values as f32,
                    first: firsts[at],
                    end: space.width,
                });
            }
        }
        let mut rows = vec![0; persons.len() * space.width];
        if space.width > 0 {
            for (person, row) in (0..).zip(rows.chunks_exact_mut(space.width)) {
                for (quasi, &first) in persons.quasi.iter().zip(&firsts) {
                    write(quasi, person, &mut row[first..]);
                }
            }
        }
        (space, rows)
    }

    /// Number of cells of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of quasi-identifiers.
    pub fn attributes(&self) -> usize {
        self.numbers + self.trees.len() + self.sets.len()
    }

    /// Cells that hold a low end and its high end, or bits.
    fn parts<'r>(&self, row: &'r [u32]) -> (&'r [u32], &'r [u32], &'r [u32]) {
        let (numbers, rest) = row.split_at(2 * self.numbers);
        let (trees, bits) = rest.split_at(2 * self.trees.len());
        (numbers, trees, bits)
    }

    /// Takes `other` into the box `row`.
    pub fn join(&self, row: &mut [u32], other: &[u32]) {
        let ordered = 2 * (self.numbers + self.trees.len());
        let (ends, bits) = row.split_at_mut(ordered);
        let (other_ends, other_bits) = other.split_at(ordered);
        for (ends, other) in ends.chunks_exact_mut(2).zip(other_ends.chunks_exact(2)) {
            ends[0] = ends[0].min(other[0]);
            ends[1] = ends[1].max(other[1]);
        }
        for (bits, other) in bits.iter_mut().zip(other_bits) {
            *bits |= other;
        }
    }

    /// Loss of one person of the box, summed over quasi-identifiers.
    pub fn loss(&self, row: &[u32]) -> f32 {
        let (numbers, trees, _) = self.parts(row);
        let mut loss = 0.0;
        for ends in numbers.chunks_exact(2) {
            loss += f32::from_bits(ends[1]) - f32::from_bits(ends[0]);
        }
        for (ends, tree) in trees.chunks_exact(2).zip(&self.trees) {
            if ends[0] != ends[1] {
                loss += tree.node(tree.climb(tree.leaf(ends[0]), ends[1])).loss;
            }
        }
        for set in &self.sets {
            loss += loss_of_set(ones(&row[set.first..set.end]), set.share);
        }
        loss
    }

    /// Loss of one person of the box around two boxes.
    pub fn loss_of_two(&self, one: &[u32], other: &[u32]) -> f32 {
        let (numbers, trees, _) = self.parts(one);
        let (other_numbers, other_trees, _) = self.parts(other);
        let mut loss = 0.0;
        for (a, b) in numbers.chunks_exact(2).zip(other_numbers.chunks_exact(2)) {
            loss += f32::from_bits(a[1].max(b[1])) - f32::from_bits(a[0].min(b[0]));
        }
        let ends = trees.chunks_exact(2).zip(other_trees.chunks_exact(2));
        for ((a, b), tree) in ends.zip(&self.trees) {
            let (low, high) = (a[0].min(b[0]), a[1].max(b[1]));
            if low != high {
                loss += tree.node(tree.climb(tree.leaf(low), high)).loss;
            }
        }
        for set in &self.sets {
            let cells = one[set.first..set.end].iter();
            let cells = cells.zip(&other[set.first..set.end]);
            let size = cells.map(|(a, b)| (a | b).count_ones()).sum();
            loss += loss_of_set(size, set.share);
        }
        loss
    }

    /// Where the box lies along one quasi-identifier, to sort by.
    pub fn key(&self, row: &[u32], attribute: usize) -> u32 {
        let ordered = self.numbers + self.trees.len();
        if attribute < ordered {
            row[2 * attribute]
        } else {
            let set = &self.sets[attribute - ordered];
            let cells = (0..).zip(&row[set.first..set.end]);
            let lowest = cells
                .filter(|(_, bits)| **bits != 0)
                .map(|(cell, bits): (u32, &u32)| 32 * cell + bits.trailing_zeros());
            lowest.min().unwrap_or(0)
        }
    }
}

fn ones(cells: &[u32]) -> u32 {
    cells.iter().map(|bits| bits.count_ones()).sum()
}

fn write(quasi: &Quasi<'_>, person: u32, cells: &mut [u32]) {
    let (low, high) = (quasi.low[person as usize], quasi.high[person as usize]);
    match &quasi.scale {
        Scale::Number(position) => {
            // Adding zero makes a negative zero positive, whose bits are lower.
            cells[0] = (position[low as usize] + 0.0).to_bits();
            cells[1] = (position[high as usize] + 0.0).to_bits();
        }
        Scale::Tree(_) => (cells[0], cells[1]) = (low, high),
        Scale::Set(_) => {
            let more = quasi.sets.get(&person).into_iter().flatten();
            for &code in more.chain([&low]) {
                cells[code as usize / 32] |= 1 << (code % 32);
            }
        }
    }
}

/// A growing box that is asked again and again what others would add to it.
#[derive(Debug)]
pub(super) struct Probe<'a> {
    space: &'a RowLayout,
    row: Vec<u32>,
    /// Node of each hierarchy that covers the box.
    nodes: Vec<(u32, TreeNode)>,
    /// Number of values of each category without hierarchy.
    sizes: Vec<u32>,
}

impl<'a> Probe<'a> {
    /// A probe of one box.
    pub fn new(space: &'a RowLayout, row: &[u32]) -> Self {
        let (_, trees, _) = space.parts(row);
        let ends = trees.chunks_exact(2).zip(&space.trees);
        let nodes = ends.map(|(ends, tree)| {
            let at = tree.climb(tree.leaf(ends[0]), ends[1]);
            (at, *tree.node(at))
        });
        let nodes = nodes.collect();
        let sets = space.sets.iter();
        Self {
            space,
            row: row.to_vec(),
            nodes,
            sizes: sets.map(|set| ones(&row[set.first..set.end])).collect(),
        }
    }

    /// The box.
    pub fn row(&self) -> &[u32] {
        &self.row
    }

    /// Takes another box in.
    pub fn include(&mut self, other: &[u32]) {
        let (_, trees, _) = self.space.parts(other);
        let ends = trees.chunks_exact(2).zip(&self.space.trees);
        for ((ends, tree), node) in ends.zip(&mut self.nodes) {
            let at = tree.climb(tree.climb(node.0, ends[0]), ends[1]);
            *node = (at, *tree.node(at));
        }
        self.space.join(&mut self.row, other);
        for (size, set) in self.sizes.iter_mut().zip(&self.space.sets) {
            *size = ones(&self.row[set.first..set.end]);
        }
    }

    /// What a person would add to the loss of one person of the box.
    #[inline]
    pub fn growth(&self, other: &[u32]) -> f32 {
        let (numbers, trees, _) = self.space.parts(&self.row);
        let (other_numbers, other_trees, _) = self.space.parts(other);
        let mut growth = 0.0;
        for (own, other) in numbers.chunks_exact(2).zip(other_numbers.chunks_exact(2)) {
            let (low, high) = (f32::from_bits(own[0]), f32::from_bits(own[1]));
            let below = low - f32::from_bits(other[0]);
            growth += span_growth((low, high), below, f32::from_bits(other[1]) - high);
        }
        debug_assert_eq!(trees.len(), other_trees.len());
        for (at, ends) in other_trees.chunks_exact(2).enumerate() {
            growth += self.climb(at, ends[0], ends[1]);
        }
        for (set, &size) in self.space.sets.iter().zip(&self.sizes) {
            let own = self.row[set.first..set.end].iter();
            let more = own.zip(&other[set.first..set.end]);
            let more: u32 = more.map(|(own, other)| (other & !own).count_ones()).sum();
            growth += loss_of_set(size + more, set.share) - loss_of_set(size, set.share);
        }
        growth
    }

    /// The least that any person inside the box `other` would add: never more
    /// than [`Probe::growth`] of one of them.
    #[inline]
    pub fn least_growth(&self, other: &[u32]) -> f32 {
        let (numbers, _, _) = self.space.parts(&self.row);
        let (other_numbers, other_trees, _) = self.space.parts(other);
        let mut growth = 0.0;
        for (own, other) in numbers.chunks_exact(2).zip(other_numbers.chunks_exact(2)) {
            let (low, high) = (f32::from_bits(own[0]), f32::from_bits(own[1]));
            let below = low - f32::from_bits(other[1]);
            growth += span_growth((low, high), below, f32::from_bits(other[0]) - high);
        }
        for (at, ends) in other_trees.chunks_exact(2).enumerate() {
            // The end that lies nearer; inside the node nothing is added.
            let node = &self.nodes[at].1;
            let near = if ends[1] < node.first {
                ends[1]
            } else {
                ends[0].max(node.first)
            };
            growth += self.climb(at, near, near);
        }
        for (set, &size) in self.space.sets.iter().zip(&self.sizes) {
            let own = self.row[set.first..set.end].iter();
            let mut cells = own.zip(&other[set.first..set.end]);
            if cells.all(|(own, other)| own & other == 0) {
                growth += loss_of_set(size + 1, set.share) - loss_of_set(size, set.share);
            }
        }
        growth
    }

    /// What two leaves of a hierarchy add.
    #[inline]
    fn climb(&self, tree: usize, low: u32, high: u32) -> f32 {
        let (at, node) = &self.nodes[tree];
        if node.first <= low && high <= node.last {
            return 0.0;
        }
        let tree = &self.space.trees[tree];
        tree.node(tree.climb(tree.climb(*at, low), high)).loss - node.loss
    }
}
