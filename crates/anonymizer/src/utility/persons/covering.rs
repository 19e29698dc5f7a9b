//! Which values of a sensitive attribute the items of a published fingerprint
//! cover, and what each item loses.

use rustc_hash::FxHashMap;

use crate::microdata::{Code, Domain};
use crate::release::{Cell, Item};

/// Neighbouring codes under one item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// First code.
    pub first: u32,
    /// Last code.
    pub last: u32,
    /// Loss of the item for one of its codes, 0 to 1.
    pub loss: f64,
}

/// Reads the fingerprints of one attribute.
#[derive(Debug)]
pub struct Covering<'a> {
    domain: &'a Domain,
    /// Codes of numbers without a hierarchy, by their text.
    numbers: FxHashMap<String, u32>,
}

impl<'a> Covering<'a> {
    /// Reads fingerprints over a domain.
    pub fn new(domain: &'a Domain) -> Self {
        let mut numbers = FxHashMap::default();
        if domain.is_numeric() && domain.hierarchy().is_none() {
            for code in 0..domain.len() as u32 {
                numbers.insert(domain.text(Code(code)), code);
            }
        }
        Self { domain, numbers }
    }

    /// First and last code under a node.
    pub fn span(&self, label: &str) -> Option<(u32, u32)> {
        if let Some(tree) = self.domain.hierarchy() {
            let node = tree.node(tree.find(label)?);
            return Some((node.first_leaf.0, node.last_leaf().0));
        }
        let code = if self.domain.is_numeric() {
            self.numbers.get(label).copied()
        } else {
            self.domain.code_of_label(label).map(|code| code.0)
        };
        code.map(|code| (code, code))
    }

    /// What a cell covers, ascending: all for a masked one, nothing for a cell
    /// that is no fingerprint or names what is not in the domain.
    pub fn runs(&self, cell: &Cell) -> Vec<Run> {
        let mut runs = Vec::new();
        match cell {
            Cell::Masked => runs.push(Run {
                first: 0,
                last: self.domain.len().saturating_sub(1) as u32,
                loss: 1.0,
            }),
            Cell::Items(items) => {
                for item in items {
                    self.item_runs(item, &mut runs);
                }
                runs.sort_unstable_by_key(|run| run.first);
            }
            _ => {}
        }
        runs
    }

    /// Leaves of all nodes of an item together say what it loses.
    fn item_runs(&self, item: &Item, runs: &mut Vec<Run>) {
        let labels = match item {
            Item::Node(label) => std::slice::from_ref(label),
            Item::Union(labels) => labels.as_slice(),
        };
        let spans = labels.iter().filter_map(|label| self.span(label));
        let leaves: u32 = spans.clone().map(|(first, last)| last - first + 1).sum();
        let loss = match leaves {
            0 | 1 => 0.0,
            leaves => f64::from(leaves) / self.domain.len() as f64,
        };
        runs.extend(spans.map(|(first, last)| Run { first, last, loss }));
    }
}

/// Loss of one original value under runs of one cell; 1 where none covers it.
#[inline]
pub fn loss_of(code: u32, runs: &[Run]) -> f64 {
    let behind = runs.partition_point(|run| run.first <= code);
    match behind.checked_sub(1).map(|at| runs[at]) {
        Some(run) if run.last >= code => run.loss,
        _ => 1.0,
    }
}
