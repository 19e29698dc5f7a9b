//! Cells of a category as positions: leaves of its hierarchy, or ranks of its
//! published labels. Texts are looked up once for all queries; a condition
//! then compares numbers.

use rustc_hash::FxHashMap;

use crate::microdata::Hierarchy;
use crate::release::Cell;

/// What each of an attribute's distinct cells shows.
#[derive(Clone, Debug, Default)]
pub struct Places {
    shown: Vec<CellPlaces>,
    /// Positions in all sets, one set behind the other.
    pub(super) members: Vec<u32>,
}

/// What one cell shows.
#[derive(Clone, Copy, Debug)]
pub(super) enum CellPlaces {
    /// Nothing of the value.
    Nothing,
    /// Positions from the first to the last.
    Run(u32, u32),
    /// These of the members; the set itself has `size`.
    Members { from: u32, to: u32, size: u32 },
}

/// Labels by order of first appearance, until their ranks are known.
#[derive(Debug, Default)]
pub(super) struct Labels<'a> {
    numbers: FxHashMap<&'a str, u32>,
    labels: Vec<&'a str>,
}

impl Places {
    /// Cells of an attribute over a hierarchy.
    pub(super) fn in_tree<'a>(tree: &Hierarchy, cells: impl Iterator<Item = &'a Cell>) -> Self {
        let mut places = Self::default();
        for cell in cells {
            let shown = match cell {
                Cell::Label(label) => tree.find(label).map_or(CellPlaces::Nothing, |node| {
                    let node = tree.node(node);
                    CellPlaces::Run(node.first_leaf.0, node.last_leaf().0)
                }),
                Cell::Set(members) => {
                    let leaves = members.iter().filter_map(|member| tree.leaf(member));
                    places.set(leaves.map(|leaf| leaf.0), members.len())
                }
                _ => CellPlaces::Nothing,
            };
            places.shown.push(shown);
        }
        places
    }

    /// Cells of an attribute without one; positions are numbers of `labels`
    /// until [`Places::rank`].
    pub(super) fn by_label<'a>(
        labels: &mut Labels<'a>,
        cells: impl Iterator<Item = &'a Cell>,
    ) -> Self {
        let mut places = Self::default();
        for cell in cells {
            let shown = match cell {
                Cell::Label(label) => {
                    let number = labels.number(label);
                    CellPlaces::Run(number, number)
                }
                Cell::Set(members) => {
                    let numbers = members.iter().map(|member| labels.number(member));
                    places.set(numbers, members.len())
                }
                _ => CellPlaces::Nothing,
            };
            places.shown.push(shown);
        }
        places
    }

    /// Puts the rank of each number in its place.
    pub(super) fn rank(&mut self, ranks: &[u32]) {
        for shown in &mut self.shown {
            if let CellPlaces::Run(first, last) = shown {
                (*first, *last) = (ranks[*first as usize], ranks[*last as usize]);
            }
        }
        for member in &mut self.members {
            *member = ranks[*member as usize];
        }
    }

    fn set(&mut self, positions: impl Iterator<Item = u32>, size: usize) -> CellPlaces {
        let from = self.members.len() as u32;
        self.members.extend(positions);
        CellPlaces::Members {
            from,
            to: self.members.len() as u32,
            size: size as u32,
        }
    }

    /// What each cell shows.
    pub(super) fn shown(&self) -> impl Iterator<Item = CellPlaces> + '_ {
        self.shown.iter().copied()
    }

    /// For each cell how many of its positions satisfy, and how many it has;
    /// `None` where it shows nothing. `run` counts those that satisfy from a
    /// first to a last position.
    pub(super) fn count<'p>(
        &'p self,
        run: impl Fn(u32, u32) -> u32 + 'p,
    ) -> impl Iterator<Item = Option<(u32, u32)>> + 'p {
        self.shown.iter().map(move |&shown| match shown {
            CellPlaces::Nothing => None,
            CellPlaces::Run(first, last) => Some((run(first, last), last - first + 1)),
            CellPlaces::Members { from, to, size } => {
                let members = self.members[from as usize..to as usize].iter();
                let hits: u32 = members.map(|&member| run(member, member)).sum();
                Some((hits, size))
            }
        })
    }
}

impl<'a> Labels<'a> {
    /// Numbers labels that need not appear.
    pub(super) fn add(&mut self, labels: impl IntoIterator<Item = &'a String>) {
        for label in labels {
            self.number(label);
        }
    }

    fn number(&mut self, label: &'a str) -> u32 {
        let next = self.labels.len() as u32;
        let number = *self.numbers.entry(label).or_insert(next);
        if number == next {
            self.labels.push(label);
        }
        number
    }

    /// The labels in ascending order, and the rank of each number.
    pub(super) fn ranked(self) -> (Vec<String>, Vec<u32>) {
        let mut order: Vec<u32> = (0..self.labels.len() as u32).collect();
        order.sort_unstable_by_key(|&number| self.labels[number as usize]);
        let mut ranks = vec![0; order.len()];
        for (rank, &number) in (0..).zip(&order) {
            ranks[number as usize] = rank;
        }
        let labels = order.iter();
        let labels = labels.map(|&number| self.labels[number as usize].to_owned());
        (labels.collect(), ranks)
    }
}
