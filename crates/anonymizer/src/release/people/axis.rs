//! One attribute of a population table as an axis: its values at places, so that
//! what a cell covers is a few runs of places.
//!
//! Numbers and days stand by value; categories by the depth-first order of the
//! hierarchy's leaves, so that a node is a run, those that are no leaf behind
//! them; without a hierarchy by the class of their spellings.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::microdata::normalize::class;

use crate::microdata::value_text::MISSING_LABEL;
use crate::microdata::{Form, Hierarchy, PopulationColumn, Values};
use crate::release::cell::Cell;

/// What of an axis a cell covers.
#[derive(Debug, PartialEq)]
pub(super) enum Cover {
    /// All of it.
    All,
    /// These places: ascending, none empty, none touching the next.
    Runs(Vec<Range<u32>>),
}

/// The values of one attribute at their places.
pub(super) struct Axis<'a> {
    /// Place of each combination.
    pub places: Vec<u32>,
    /// Number of places.
    pub len: u32,
    column: &'a PopulationColumn,
    categories: Categories<'a>,
}

/// How categories find their places.
enum Categories<'a> {
    /// They are numbers or days, whose places are their codes.
    None,
    /// The leaf of each place, ascending; behind all leaves where it is none.
    Leaves(&'a Hierarchy, Vec<u32>, SameLeaves<'a>),
    /// The class of each place, ascending, the missing value first.
    Classes(Vec<Option<String>>, &'a [Form]),
}

/// The first leaf of each class of spellings, where spellings are one value.
struct SameLeaves<'a> {
    forms: &'a [Form],
    first: FxHashMap<Option<String>, u32>,
}

impl<'a> SameLeaves<'a> {
    fn new(tree: &Hierarchy, forms: &'a [Form]) -> Self {
        let mut first = FxHashMap::default();
        let labels = tree.leaf_labels().filter(|_| !forms.is_empty());
        for (leaf, label) in (0..).zip(labels) {
            first.entry(class(label, forms)).or_insert(leaf);
        }
        Self { forms, first }
    }

    /// The leaf that stands for a label.
    fn of(&self, tree: &Hierarchy, label: &str) -> Option<u32> {
        if self.forms.is_empty() {
            tree.leaf(label).map(|code| code.0)
        } else {
            self.first.get(&class(label, self.forms)).copied()
        }
    }
}

impl<'a> Axis<'a> {
    /// The axis of a column; the hierarchy is that of its categories.
    pub fn new(
        column: &'a PopulationColumn,
        hierarchy: Option<&'a Hierarchy>,
        forms: &'a [Form],
    ) -> Self {
        let Values::Category(labels) = &column.values else {
            return Self {
                places: column.codes.clone(),
                len: column.len() as u32,
                column,
                categories: Categories::None,
            };
        };
        let missing = column.lacks.then_some(MISSING_LABEL);
        let labels: Vec<&str> = labels.iter().map(String::as_str).chain(missing).collect();
        let (order, categories) = match hierarchy {
            Some(tree) => {
                let same = SameLeaves::new(tree, forms);
                let leaf = |label: &str| same.of(tree, label).unwrap_or(u32::MAX);
                let leaves: Vec<u32> = labels.iter().map(|label| leaf(label)).collect();
                let (order, leaves) = in_order(leaves);
                (order, Categories::Leaves(tree, leaves, same))
            }
            None => {
                let classes = labels.iter().map(|label| class(label, forms)).collect();
                let (order, classes) = in_order(classes);
                (order, Categories::Classes(classes, forms))
            }
        };
        let mut place_of = vec![0; order.len()];
        for (place, &code) in (0..).zip(&order) {
            place_of[code as usize] = place;
        }
        let places = column.codes.iter().map(|&code| place_of[code as usize]);
        Self {
            places: places.collect(),
            len: order.len() as u32,
            column,
            categories,
        }
    }

    /// What a cell covers.
    pub fn cover(&self, cell: &Cell) -> Cover {
        let mut runs = match cell {
            // It says nothing of the value.
            Cell::Empty | Cell::Masked => return Cover::All,
            Cell::Label(label) => vec![self.label(label)],
            Cell::Set(labels) => labels.iter().map(|label| self.label(label)).collect(),
            Cell::OrMissing(interval) => vec![self.interval(interval), self.missing()],
            Cell::Integer(..) | Cell::Decimal(..) | Cell::Date(..) => vec![self.interval(cell)],
            // A fingerprint is no value of one attribute of a person.
            Cell::Items(_) => Vec::new(),
        };
        runs.retain(|run| !run.is_empty());
        runs.sort_unstable_by_key(|run| run.start);
        let mut joined: Vec<Range<u32>> = Vec::new();
        for run in runs {
            match joined.last_mut() {
                Some(last) if run.start <= last.end => last.end = last.end.max(run.end),
                _ => joined.push(run),
            }
        }
        Cover::Runs(joined)
    }

    /// The places of a category or a node; of numbers, of the missing one.
    fn label(&self, label: &str) -> Range<u32> {
        match &self.categories {
            Categories::None => self.missing(),
            Categories::Leaves(tree, leaves, same) => {
                let Some(node) = tree.find(label).map(|index| tree.node(index)) else {
                    return 0..0;
                };
                let (mut first, mut last) = (node.first_leaf.0, node.last_leaf().0);
                if first == last {
                    let leaf = &tree.node(tree.leaf_node(node.first_leaf)).label;
                    first = same.of(tree, leaf).unwrap_or(first);
                    last = first;
                }
                let from = leaves.partition_point(|&leaf| leaf < first);
                let to = leaves.partition_point(|&leaf| leaf <= last);
                from as u32..to as u32
            }
            Categories::Classes(classes, forms) => {
                let wanted = class(label, forms);
                let from = classes.partition_point(|known| *known < wanted);
                let to = classes.partition_point(|known| *known <= wanted);
                from as u32..to as u32
            }
        }
    }

    /// The place of a missing number or day.
    fn missing(&self) -> Range<u32> {
        let known = self.column.known_len() as u32;
        known..self.column.len() as u32
    }

    /// The places of the numbers or days of an interval.
    fn interval(&self, cell: &Cell) -> Range<u32> {
        fn between<T: PartialOrd>(values: &[T], lo: &T, hi: &T) -> Range<u32> {
            let from = values.partition_point(|value| value < lo) as u32;
            let to = values.partition_point(|value| value <= hi) as u32;
            from..to.max(from)
        }
        match (&self.column.values, cell) {
            (Values::Integer(values), Cell::Integer(lo, hi)) => between(values, lo, hi),
            (Values::Decimal(values), Cell::Decimal(lo, hi)) => between(values, lo, hi),
            (Values::Date(values), Cell::Date(lo, hi)) => between(values, lo, hi),
            _ => 0..0,
        }
    }
}

/// Positions of keys in ascending order of the keys, and the keys in that order.
fn in_order<K: Ord>(keys: Vec<K>) -> (Vec<u32>, Vec<K>) {
    let mut pairs: Vec<(K, u32)> = keys.into_iter().zip(0..).collect();
    pairs.sort();
    let (keys, order) = pairs.into_iter().unzip();
    (order, keys)
}
