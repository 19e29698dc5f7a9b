//! The nearest persons without looking at all of them: a tree of boxes.
//!
//! Each node halves its persons along the quasi-identifier that leaves least
//! loss, down to a handful. A query goes down the nearer child first and
//! leaves out every node whose box cannot hold anyone nearer than the best so
//! far ([`Probe::least_growth`]), or in which nobody is left. It is exact:
//! ties go to the lower slot, as in a walk over everybody.

use super::bounds::{Probe, RowLayout};

/// Persons of a node that is not halved.
const LEAF: usize = 8;
/// No node.
const NONE: u32 = u32::MAX;

/// A node: the slots `start..end`.
#[derive(Debug)]
struct Node {
    start: u32,
    end: u32,
    above: u32,
    /// Second child; the first one follows its parent. `NONE` in a leaf.
    second: u32,
    /// Persons left.
    left: u32,
}

/// Boxes that can be searched and taken out. A *slot* is a position in the
/// order of the tree.
#[derive(Debug)]
pub(super) struct Index<'a> {
    space: &'a RowLayout,
    /// Number of the box in each slot.
    order: Vec<u32>,
    /// Row of each slot.
    rows: Vec<u32>,
    nodes: Vec<Node>,
    /// Row of each node.
    node_rows: Vec<u32>,
    /// Leaf of each slot.
    leaf_of: Vec<u32>,
    is_left: Vec<bool>,
}

impl<'a> Index<'a> {
    /// An index over boxes, given row after row.
    pub fn new(space: &'a RowLayout, rows: &[u32], boxes: usize) -> Self {
        let mut index = Self {
            space,
            order: (0..boxes as u32).collect(),
            rows: Vec::with_capacity(rows.len()),
            nodes: Vec::new(),
            node_rows: Vec::new(),
            leaf_of: vec![0; boxes],
            is_left: vec![true; boxes],
        };
        if boxes > 0 {
            index.build(rows);
        }
        let width = space.width();
        for &at in &index.order {
            let start = at as usize * width;
            index.rows.extend_from_slice(&rows[start..start + width]);
        }
        index
    }

    fn build(&mut self, rows: &[u32]) {
        let mut halver = Halver::new(self.space, rows);
        // Second children wait until the first one's nodes are made.
        let mut open = vec![(0, self.order.len(), NONE, false)];
        while let Some((start, end, above, is_second)) = open.pop() {
            let at = self.nodes.len() as u32;
            if is_second {
                self.nodes[above as usize].second = at;
            }
            self.nodes.push(Node {
                start: start as u32,
                end: end as u32,
                above,
                second: NONE,
                left: (end - start) as u32,
            });
            let slots = &mut self.order[start..end];
            self.node_rows.extend(halver.hull(slots));
            if slots.len() > LEAF {
                halver.halve(slots);
                let middle = start + (end - start) / 2;
                open.push((middle, end, at, true));
                open.push((start, middle, at, false));
            } else {
                self.leaf_of[start..end].fill(at);
            }
        }
    }

    /// Numbers of the boxes, slot by slot: neighbours lie near each other.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Row of a slot.
    #[inline]
    pub fn row(&self, slot: u32) -> &[u32] {
        let start = slot as usize * self.space.width();
        &self.rows[start..start + self.space.width()]
    }

    /// Whether the slot has not been taken out.
    pub fn has(&self, slot: u32) -> bool {
        self.is_left[slot as usize]
    }

    /// Number of slots that have not been taken out.
    pub fn left(&self) -> usize {
        self.nodes.first().map_or(0, |root| root.left as usize)
    }

    /// Takes out a slot that is left.
    pub fn take_out(&mut self, slot: u32) {
        debug_assert!(self.has(slot));
        self.is_left[slot as usize] = false;
        let mut at = self.leaf_of[slot as usize];
        while at != NONE {
            let node = &mut self.nodes[at as usize];
            node.left -= 1;
            at = node.above;
        }
    }

    /// The slot left that adds least to the probe's box, and what it adds.
    pub fn nearest(&self, probe: &Probe<'_>, open: &mut Vec<(f32, u32)>) -> Option<(u32, f32)> {
        let mut best = (f32::INFINITY, NONE);
        open.clear();
        if self.left() > 0 {
            open.push((0.0, 0));
        }
        while let Some((least, at)) = open.pop() {
            let node = &self.nodes[at as usize];
            if least > best.0 || (least == best.0 && node.start > best.1) {
                continue;
            }
            if node.second == NONE {
                for slot in node.start..node.end {
                    if self.is_left[slot as usize] {
                        let growth = probe.growth(self.row(slot));
                        if growth < best.0 || (growth == best.0 && slot < best.1) {
                            best = (growth, slot);
                        }
                    }
                }
                continue;
            }
            let [first, second] = [at + 1, node.second].map(|child| {
                let width = self.space.width();
                let start = child as usize * width;
                let row = &self.node_rows[start..start + width];
                (probe.least_growth(row), child)
            });
            // The last one pushed is looked at first.
            let children = if second.0 < first.0 {
                [first, second]
            } else {
                [second, first]
            };
            let is_open = |child: &(f32, u32)| self.nodes[child.1 as usize].left > 0;
            open.extend(children.into_iter().filter(is_open));
        }
        (best.1 != NONE).then_some((best.1, best.0))
    }
}

/// Halves sets of boxes.
struct Halver<'a> {
    space: &'a RowLayout,
    rows: &'a [u32],
    keyed: Vec<(u32, u32)>,
}

impl<'a> Halver<'a> {
    fn new(space: &'a RowLayout, rows: &'a [u32]) -> Self {
        Self {
            space,
            rows,
            keyed: Vec::new(),
        }
    }

    fn row(&self, at: u32) -> &'a [u32] {
        let start = at as usize * self.space.width();
        &self.rows[start..start + self.space.width()]
    }

    /// The box around all of them.
    fn hull(&self, boxes: &[u32]) -> Vec<u32> {
        let mut hull = self.row(boxes[0]).to_vec();
        for &at in &boxes[1..] {
            self.space.join(&mut hull, self.row(at));
        }
        hull
    }

    /// Sorts the half with lower values along some quasi-identifier first:
    /// the one for which the two halves lose least.
    fn halve(&mut self, boxes: &mut [u32]) {
        let middle = boxes.len() / 2;
        let mut best: Option<(f32, Vec<u32>)> = None;
        for attribute in 0..self.space.attributes() {
            self.keyed.clear();
            for &at in &*boxes {
                self.keyed
                    .push((self.space.key(self.row(at), attribute), at));
            }
            self.keyed.select_nth_unstable(middle);
            let sorted: Vec<u32> = self.keyed.iter().map(|&(_, at)| at).collect();
            let (low, high) = sorted.split_at(middle);
            let loss = self.space.loss(&self.hull(low)) + self.space.loss(&self.hull(high));
            if best.as_ref().is_none_or(|(least, _)| loss < *least) {
                best = Some((loss, sorted));
            }
        }
        if let Some((_, sorted)) = best {
            boxes.copy_from_slice(&sorted);
        }
    }
}
