//! The box around a set of records, and what one more record would add to
//! its loss.
//!
//! A [`BoxLayout`] orders attributes by kind (numbers, then hierarchies, then
//! sets), so that the loops over a row have no branch on the kind. Cells of
//! numbers are the bits of their position in the range, so that a row needs no
//! look-up. The loss of a set is the sum of its attributes' losses
//! (`[LGB]` Alg. 4 after Xu et al. 2006); it is kept up record by record.

use std::sync::Arc;

use crate::microdata::CodedColumn;

use super::loss::{Scale, Tree, TreeNode, span, span_growth};
use super::rows::Rows;

/// Attributes in the order in which boxes read them.
#[derive(Debug)]
pub struct BoxLayout {
    /// Position of each column of a row among the attributes it was made from.
    order: Vec<usize>,
    numbers: Vec<Arc<[f32]>>,
    trees: Vec<Arc<Tree>>,
    sets: Vec<SetColumn>,
    words: usize,
}

/// A category without hierarchy: its number of values, and where its bits lie.
#[derive(Clone, Copy, Debug)]
struct SetColumn {
    share: f32,
    first_word: usize,
}

impl BoxLayout {
    /// Orders attributes by kind.
    pub fn new(scales: &[Scale]) -> Self {
        let mut space = Self {
            order: Vec::with_capacity(scales.len()),
            numbers: Vec::new(),
            trees: Vec::new(),
            sets: Vec::new(),
            words: 0,
        };
        for (at, scale) in scales.iter().enumerate() {
            if let Scale::Number(position) = scale {
                space.order.push(at);
                space.numbers.push(Arc::clone(position));
            }
        }
        for (at, scale) in scales.iter().enumerate() {
            if let Scale::Tree(tree) = scale {
                space.order.push(at);
                space.trees.push(Arc::clone(tree));
            }
        }
        for (at, scale) in scales.iter().enumerate() {
            if let Scale::Set(values) = scale {
                space.order.push(at);
                space.sets.push(SetColumn {
                    share: 1.0 / *values as f32,
                    first_word: space.words,
                });
                space.words += (*values as usize).div_ceil(64);
            }
        }
        space
    }

    /// Rows of `records` in the order of this space; `columns` are those of
    /// the attributes that it was made from.
    pub fn gather(&self, columns: &[&CodedColumn], records: &[u32]) -> Rows {
        let ordered: Vec<&CodedColumn> = self.order.iter().map(|&at| columns[at]).collect();
        let mut rows = Rows::gather(&ordered, records);
        for (column, position) in self.numbers.iter().enumerate() {
            rows.map_column(column, |code| position[code as usize].to_bits());
        }
        rows
    }

    /// Loss of publishing two rows as one.
    pub fn pair(&self, one: &[u32], other: &[u32]) -> f32 {
        let (numbers, trees) = (self.numbers.len(), self.trees.len());
        let mut loss = 0.0;
        for (&a, &b) in one[..numbers].iter().zip(&other[..numbers]) {
            loss += span(0.0, (f32::from_bits(a) - f32::from_bits(b)).abs());
        }
        let cells = one[numbers..].iter().zip(&other[numbers..]);
        for ((&a, &b), tree) in cells.zip(&self.trees) {
            if a != b {
                loss += tree.node(tree.climb(tree.leaf(a), b)).loss;
            }
        }
        let first = numbers + trees;
        for ((&a, &b), set) in one[first..].iter().zip(&other[first..]).zip(&self.sets) {
            if a != b {
                loss += 2.0 * set.share;
            }
        }
        loss
    }
}

/// The box around a set of rows of a space.
#[derive(Debug)]
pub struct Cover<'a> {
    space: &'a BoxLayout,
    low: Vec<f32>,
    high: Vec<f32>,
    node_at: Vec<u32>,
    nodes: Vec<TreeNode>,
    bits: Vec<u64>,
    set_sizes: Vec<u32>,
}

impl<'a> Cover<'a> {
    /// A box around nothing; [`Cover::start`] it before use.
    pub fn new(space: &'a BoxLayout) -> Self {
        let nothing = TreeNode {
            first: 0,
            last: 0,
            parent: 0,
            loss: 0.0,
        };
        Self {
            space,
            low: vec![0.0; space.numbers.len()],
            high: vec![0.0; space.numbers.len()],
            node_at: vec![0; space.trees.len()],
            nodes: vec![nothing; space.trees.len()],
            bits: vec![0; space.words],
            set_sizes: vec![0; space.sets.len()],
        }
    }

    /// Makes it the box around one row.
    pub fn start(&mut self, row: &[u32]) {
        let (numbers, rest) = row.split_at(self.low.len());
        let (leaves, members) = rest.split_at(self.nodes.len());
        for (at, &bits) in numbers.iter().enumerate() {
            self.low[at] = f32::from_bits(bits);
            self.high[at] = f32::from_bits(bits);
        }
        for (at, &leaf) in leaves.iter().enumerate() {
            let tree = &self.space.trees[at];
            self.node_at[at] = tree.leaf(leaf);
            self.nodes[at] = *tree.node(tree.leaf(leaf));
        }
        self.bits.fill(0);
        for (at, &code) in members.iter().enumerate() {
            self.set_sizes[at] = 1;
            let word = self.space.sets[at].first_word + code as usize / 64;
            self.bits[word] |= 1 << (code % 64);
        }
    }

    /// What the row would add to the loss of one record of the box.
    #[inline]
    pub fn growth(&self, row: &[u32]) -> f32 {
        let (numbers, rest) = row.split_at(self.low.len());
        let (leaves, members) = rest.split_at(self.nodes.len());
        let mut growth = 0.0;
        for ((&bits, &low), &high) in numbers.iter().zip(&self.low).zip(&self.high) {
            let position = f32::from_bits(bits);
            growth += span_growth((low, high), low - position, position - high);
        }
        for (at, &leaf) in leaves.iter().enumerate() {
            let node = &self.nodes[at];
            if leaf < node.first || leaf > node.last {
                let tree = &self.space.trees[at];
                growth += tree.node(tree.climb(node.parent, leaf)).loss - node.loss;
            }
        }
        for (at, &code) in members.iter().enumerate() {
            let set = &self.space.sets[at];
            if self.bits[set.first_word + code as usize / 64] >> (code % 64) & 1 == 0 {
                // The first second value costs two shares: one value costs none.
                growth += if self.set_sizes[at] == 1 { 2.0 } else { 1.0 } * set.share;
            }
        }
        growth
    }

    /// Takes the row into the box.
    pub fn include(&mut self, row: &[u32]) {
        let (numbers, rest) = row.split_at(self.low.len());
        let (leaves, members) = rest.split_at(self.nodes.len());
        for (at, &bits) in numbers.iter().enumerate() {
            let position = f32::from_bits(bits);
            self.low[at] = self.low[at].min(position);
            self.high[at] = self.high[at].max(position);
        }
        for (at, &leaf) in leaves.iter().enumerate() {
            let node = &self.nodes[at];
            if leaf < node.first || leaf > node.last {
                let tree = &self.space.trees[at];
                self.node_at[at] = tree.climb(self.node_at[at], leaf);
                self.nodes[at] = *tree.node(self.node_at[at]);
            }
        }
        for (at, &code) in members.iter().enumerate() {
            let word = self.space.sets[at].first_word + code as usize / 64;
            let bit = 1 << (code % 64);
            self.set_sizes[at] += u32::from(self.bits[word] & bit == 0);
            self.bits[word] |= bit;
        }
    }

    /// Makes it the box around several rows, at least one.
    pub fn enclose(&mut self, rows: &Rows, members: &[u32]) {
        self.start(rows.row(members[0]));
        for &member in &members[1..] {
            self.include(rows.row(member));
        }
    }

    /// Loss of one record of the box, summed over attributes.
    pub fn loss(&self) -> f32 {
        let numbers = self.low.iter().zip(&self.high);
        let numbers: f32 = numbers.map(|(&low, &high)| span(low, high)).sum();
        let trees: f32 = self.nodes.iter().map(|node| node.loss).sum();
        let sizes = self.set_sizes.iter().zip(&self.space.sets);
        let sets: f32 = sizes
            .filter(|(size, _)| **size > 1)
            .map(|(&size, set)| size as f32 * set.share)
            .sum();
        numbers + trees + sets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::microdata::{Domain, HierarchyFormat, HierarchySource, Values};

    fn columns() -> Vec<CodedColumn> {
        let tree = HierarchySource::read(b"a;ab;*\nb;ab;*\nc;cd;*\nd;cd;*\n", HierarchyFormat::Csv);
        let HierarchySource::Tree(tree) = tree.expect("the tree is well-formed") else {
            panic!("a CSV hierarchy is a tree");
        };
        let labels = |texts: &[&str]| texts.iter().map(|text| (*text).into()).collect();
        let domains = [
            Domain::new(Values::Category(labels(&["x", "y", "z"])), None),
            Domain::new(Values::Category(labels(&["a", "b", "c", "d"])), Some(tree)),
            Domain::new(Values::Integer(vec![0, 1, 5, 10]), None),
            Domain::new(Values::Integer(vec![0, 4, 10]), None).with_missing(),
        ];
        let codes = [[0, 1, 2, 1], [0, 1, 3, 2], [0, 2, 1, 3], [1, 2, 3, 0]];
        let columns = domains.into_iter().zip(codes);
        columns
            .map(|(domain, codes)| CodedColumn {
                domain: Arc::new(domain),
                codes: codes.to_vec().into(),
            })
            .collect()
    }

    #[test]
    fn growth_is_the_difference_of_losses_and_a_pair_is_a_box_of_two() {
        let columns = columns();
        let views: Vec<&CodedColumn> = columns.iter().collect();
        let scales: Vec<Scale> = views.iter().map(|view| Scale::new(&view.domain)).collect();
        let space = BoxLayout::new(&scales);
        let rows = space.gather(&views, &[0, 1, 2, 3]);
        for first in 0..4 {
            for second in 0..4 {
                let mut cover = Cover::new(&space);
                cover.start(rows.row(first));
                assert_eq!(cover.loss(), 0.0);
                let mut before = 0.0;
                for (turn, row) in [second, 2, 3].into_iter().enumerate() {
                    let growth = cover.growth(rows.row(row));
                    cover.include(rows.row(row));
                    assert!((cover.loss() - before - growth).abs() < 1e-6);
                    before = cover.loss();
                    if turn == 0 {
                        let pair = space.pair(rows.row(first), rows.row(second));
                        assert!((pair - before).abs() < 1e-6);
                    }
                }
            }
        }
    }

    #[test]
    fn the_loss_of_a_box_follows_the_definition() {
        let columns = columns();
        let views: Vec<&CodedColumn> = columns.iter().collect();
        let scales: Vec<Scale> = views.iter().map(|view| Scale::new(&view.domain)).collect();
        let space = BoxLayout::new(&scales);
        let rows = space.gather(&views, &[0, 1]);
        // x,y of three; a,b under one node of two leaves out of four; 0..5 and
        // 4..10 of 10.
        let pair = space.pair(rows.row(0), rows.row(1));
        assert!((pair - (2.0 / 3.0 + 0.5 + 0.5 + 0.6)).abs() < 1e-6);
    }

    #[test]
    fn numbers_and_the_missing_value_lose_the_whole_range_and_no_more() {
        let lacking = Domain::new(Values::Integer(vec![0, 4, 10]), None).with_missing();
        let column = CodedColumn {
            domain: Arc::new(lacking),
            codes: vec![1, 3, 0, 3].into(),
        };
        let space = BoxLayout::new(&[Scale::new(&column.domain)]);
        let rows = space.gather(&[&column], &[0, 1, 2, 3]);
        let mut cover = Cover::new(&space);
        cover.start(rows.row(1));
        cover.include(rows.row(3));
        assert_eq!(cover.loss(), 0.0, "the missing value alone");
        assert_eq!(cover.growth(rows.row(0)), 1.0);
        assert_eq!(space.pair(rows.row(0), rows.row(1)), 1.0);
        cover.include(rows.row(0));
        assert_eq!(cover.loss(), 1.0);
        assert_eq!(cover.growth(rows.row(2)), 0.0);
    }
}
