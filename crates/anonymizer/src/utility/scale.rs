//! The scale that cells of an attribute are measured on: the loss of a cell
//! (engines.md, rule 6) and the place of a value.
//!
//! Two scales exist for each attribute: that of the dataset version, and that
//! which the release itself shows (hull of the published intervals and bucket
//! values, hierarchies, distinct published labels). They differ only where
//! records that were left out or masked held the extremes.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::microdata::{AttributeType, Domain, Hierarchy, Values};
use crate::release::{Buckets, Cell, JoinedAttribute};

/// What cells of one attribute are measured on.
#[derive(Clone, Debug)]
pub enum Scale {
    /// Numbers or days from lo to hi.
    Numeric {
        /// Smallest value.
        lo: f64,
        /// Largest value.
        hi: f64,
    },
    /// Leaves of a hierarchy.
    Tree(Arc<Hierarchy>),
    /// Categories in ascending order.
    Plain(Vec<String>),
}

impl Scale {
    /// The scale of a dataset version.
    pub fn of_domain(domain: &Domain) -> Self {
        match (domain.values(), domain.hierarchy()) {
            (Values::Category(_), Some(tree)) => Self::Tree(Arc::clone(tree)),
            (Values::Category(labels), None) => Self::Plain(labels.clone()),
            _ if domain.known_len() == 0 => Self::Numeric { lo: 0.0, hi: 0.0 },
            _ => {
                let last = crate::microdata::Code::from_usize(domain.known_len() - 1);
                Self::Numeric {
                    lo: domain.number(crate::microdata::Code(0)),
                    hi: domain.number(last),
                }
            }
        }
    }

    /// The scale that a release shows of an attribute; a hierarchy is public.
    pub fn of_published(
        attribute: &JoinedAttribute<'_>,
        hierarchy: Option<&Arc<Hierarchy>>,
    ) -> Self {
        let mut shown = ShownScale::new(attribute.kind, hierarchy.cloned());
        shown.see(attribute);
        shown.scale()
    }

    /// Loss of one cell, 0 to 1: (hi − lo)/range; leaves(node)/leaves(root)
    /// and 0 for a leaf; |set|/|domain| and 0 for one value; masked 1; in a
    /// bucket 0; a missing number 0 alone and 1 beside numbers. A cell that is
    /// not on the scale loses everything.
    pub fn loss(&self, cell: &Cell) -> f64 {
        match (self, cell) {
            (_, Cell::Empty) => 0.0,
            (_, Cell::Masked) => 1.0,
            // A missing value alone is exact; beside numbers it is as far from
            // each as the whole range.
            (Self::Numeric { .. }, Cell::Label(_)) if cell.is_missing() => 0.0,
            (_, Cell::OrMissing(_)) => 1.0,
            (Self::Numeric { lo, hi }, _) => match ends(cell) {
                Some((from, to)) if from == to => 0.0,
                Some((from, to)) => ((to - from) / (hi - lo)).min(1.0),
                None => 1.0,
            },
            (Self::Tree(tree), Cell::Label(label)) => match tree.find(label) {
                None => 1.0,
                Some(node) => match tree.node(node).leaf_count {
                    1 => 0.0,
                    leaves => f64::from(leaves) / tree.leaf_count() as f64,
                },
            },
            (_, Cell::Label(_)) => 0.0,
            (Self::Plain(labels), Cell::Set(members)) if members.len() > 1 => {
                members.len() as f64 / labels.len().max(1) as f64
            }
            (Self::Tree(tree), Cell::Set(members)) if members.len() > 1 => {
                members.len() as f64 / tree.leaf_count() as f64
            }
            (_, Cell::Set(_)) => 0.0,
            _ => 1.0,
        }
    }

    /// The place of an exact value: the number itself, the position of a leaf,
    /// or the rank of a category.
    pub fn place(&self, cell: &Cell) -> Option<f64> {
        match (self, cell) {
            (Self::Numeric { .. }, _) => ends(cell).map(|(from, _)| from),
            (Self::Tree(tree), Cell::Label(label)) => {
                tree.leaf(label).map(|leaf| f64::from(leaf.0))
            }
            (Self::Plain(labels), Cell::Label(label)) => {
                labels.binary_search(label).ok().map(|rank| rank as f64)
            }
            _ => None,
        }
    }

    /// Distance between the first and the last place.
    pub fn span(&self) -> f64 {
        match self {
            Self::Numeric { lo, hi } => hi - lo,
            Self::Tree(tree) => (tree.leaf_count().max(1) - 1) as f64,
            Self::Plain(labels) => (labels.len().max(1) - 1) as f64,
        }
    }
}

/// The scale that a release shows of an attribute, seen portion by portion.
#[derive(Clone, Debug)]
pub struct ShownScale {
    is_category: bool,
    hierarchy: Option<Arc<Hierarchy>>,
    lo: f64,
    hi: f64,
    /// Kept once each: sets of many groups share most of their members.
    labels: FxHashSet<String>,
}

impl ShownScale {
    /// Nothing is seen yet of an attribute of this kind; a hierarchy is public.
    pub fn new(kind: AttributeType, hierarchy: Option<Arc<Hierarchy>>) -> Self {
        Self {
            is_category: kind == AttributeType::Categorical,
            hierarchy: hierarchy.filter(|_| kind == AttributeType::Categorical),
            lo: f64::INFINITY,
            hi: f64::NEG_INFINITY,
            labels: FxHashSet::default(),
        }
    }

    /// Sees all cells of the attribute, those of buckets included.
    pub fn see(&mut self, attribute: &JoinedAttribute<'_>) {
        match (self.is_category, &self.hierarchy) {
            (true, Some(_)) => {}
            (true, None) => each_cell(attribute, |cell| match cell {
                Cell::Label(label) => self.see_label(label),
                Cell::Set(members) => members.iter().for_each(|label| self.see_label(label)),
                _ => {}
            }),
            (false, _) => each_cell(attribute, |cell| {
                if let Some((from, to)) = ends(cell) {
                    (self.lo, self.hi) = (self.lo.min(from), self.hi.max(to));
                }
            }),
        }
    }

    fn see_label(&mut self, label: &str) {
        if !self.labels.contains(label) {
            self.labels.insert(label.to_owned());
        }
    }

    /// The scale of all that was seen.
    #[expect(clippy::disallowed_methods, reason = "labels are sorted at once")]
    pub fn scale(&self) -> Scale {
        match (self.is_category, &self.hierarchy) {
            (true, Some(tree)) => Scale::Tree(Arc::clone(tree)),
            (true, None) => {
                let mut labels: Vec<String> = self.labels.iter().cloned().collect();
                labels.sort_unstable();
                Scale::Plain(labels)
            }
            (false, _) if self.lo <= self.hi => Scale::Numeric {
                lo: self.lo,
                hi: self.hi,
            },
            (false, _) => Scale::Numeric { lo: 0.0, hi: 0.0 },
        }
    }
}

/// Both ends of a numeric cell; of one that may be missing those of the numbers.
fn ends(cell: &Cell) -> Option<(f64, f64)> {
    match *cell {
        Cell::OrMissing(ref interval) => ends(interval),
        Cell::Integer(from, to) => Some((from as f64, to as f64)),
        Cell::Decimal(from, to) => Some((from, to)),
        Cell::Date(from, to) => Some((f64::from(from), f64::from(to))),
        _ => None,
    }
}

/// Visits every cell that an attribute publishes, bucket values included.
fn each_cell<'a>(attribute: &'a JoinedAttribute<'_>, mut visit: impl FnMut(&'a Cell)) {
    attribute.cells.iter().for_each(&mut visit);
    if let Some(buckets) = &attribute.buckets {
        let runs = 0..Buckets::len(buckets);
        let mut seen = vec![false; buckets.cells().len()];
        for (value, _) in runs.flat_map(|bucket| buckets.coded_run(bucket)) {
            if !std::mem::replace(&mut seen[value as usize], true) {
                visit(&buckets.cells()[value as usize]);
            }
        }
    }
}
