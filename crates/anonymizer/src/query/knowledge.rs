//! What the release says of an attribute's domain to someone who has nothing
//! else: its type, its hierarchy (hierarchies are public), the hull of its
//! published numbers, its published labels.
//!
//! The values of the dataset version are *not* public, so a cell's hidden
//! value is taken as uniform over every whole number or day in its interval,
//! over its length for decimals, over the leaves of its node whether or not
//! they occur, or over the members of its set. A masked cell is uniform over
//! the hull, all leaves, or all published labels; its value may lie outside
//! the hull, so bounds treat it as unknown.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::microdata::{AttributeType, Hierarchy};
use crate::release::{Cell, JoinedAttribute};

use super::places::{Labels, Places};

/// The public domain of one attribute.
#[derive(Clone, Debug)]
pub struct PublicDomain {
    /// What the values are.
    pub kind: AttributeType,
    /// The hierarchy of a category.
    pub hierarchy: Option<Arc<Hierarchy>>,
    /// The cell from the lowest to the highest published number.
    pub hull: Option<Cell>,
    /// Published labels of a category without a hierarchy, ascending.
    pub labels: Vec<String>,
    /// What the distinct cells of a category show.
    pub cells: Places,
    /// What the values of its buckets show; nothing those of other attributes.
    pub values: Places,
}

impl PublicDomain {
    /// Reads the public domain off an attribute's published cells.
    pub fn of(attribute: &JoinedAttribute<'_>, hierarchy: Option<Arc<Hierarchy>>) -> Self {
        Self::within(attribute, hierarchy, &Shown::default())
    }

    /// The same of a portion of a release that shows more: `whole` is what all of it
    /// does.
    pub(super) fn within(
        attribute: &JoinedAttribute<'_>,
        hierarchy: Option<Arc<Hierarchy>>,
        whole: &Shown,
    ) -> Self {
        let hierarchy = hierarchy.filter(|_| attribute.kind == AttributeType::Categorical);
        let cells: Vec<&Cell> = attribute.cells.iter().collect();
        let values = values_of(attribute);
        let mut domain = Self {
            kind: attribute.kind,
            hierarchy,
            hull: whole.hull.clone(),
            labels: Vec::new(),
            cells: Places::default(),
            values: Places::default(),
        };
        if domain.kind != AttributeType::Categorical {
            for cell in cells.into_iter().chain(values) {
                match cell {
                    Cell::Integer(..) | Cell::Decimal(..) | Cell::Date(..) => {
                        see_number(&mut domain.hull, cell);
                    }
                    Cell::OrMissing(interval) => see_number(&mut domain.hull, interval),
                    _ => {}
                }
            }
        } else if let Some(tree) = &domain.hierarchy {
            domain.cells = Places::in_tree(tree, cells.into_iter());
            domain.values = Places::in_tree(tree, values.into_iter());
        } else {
            let mut labels = Labels::default();
            labels.add(&whole.labels);
            domain.cells = Places::by_label(&mut labels, cells.into_iter());
            domain.values = Places::by_label(&mut labels, values.into_iter());
            let (labels, ranks) = labels.ranked();
            domain.cells.rank(&ranks);
            domain.values.rank(&ranks);
            domain.labels = labels;
        }
        domain
    }

    /// The rank of a published label.
    pub(super) fn rank(&self, label: &str) -> Option<usize> {
        let found = self
            .labels
            .binary_search_by(|known| known.as_str().cmp(label));
        found.ok()
    }

    /// The exact values that can be grouped by, in order: leaves, published
    /// labels, or whole numbers and days of the hull. `None` where there are
    /// more than `limit`, or the values cannot be listed (decimals).
    pub fn values(&self, limit: usize) -> Option<Vec<Cell>> {
        let whole = |lo: i64, hi: i64| (hi.abs_diff(lo) < limit as u64).then_some(lo..=hi);
        match (&self.hierarchy, &self.hull) {
            (Some(tree), _) if tree.leaf_count() <= limit => {
                Some(tree.leaf_labels().map(label_cell).collect())
            }
            (Some(_), _) => None,
            (None, &Some(Cell::Integer(lo, hi))) => Some(
                whole(lo, hi)?
                    .map(|value| Cell::Integer(value, value))
                    .collect(),
            ),
            (None, &Some(Cell::Date(lo, hi))) => Some(
                whole(i64::from(lo), i64::from(hi))?
                    .map(|day| Cell::Date(day as i32, day as i32))
                    .collect(),
            ),
            (None, Some(_)) => None,
            (None, None) if self.labels.len() <= limit => {
                Some(self.labels.iter().map(|label| label_cell(label)).collect())
            }
            (None, None) => None,
        }
    }
}

/// What a whole release shows of an attribute, from all of its portions.
#[derive(Clone, Debug, Default)]
pub(super) struct Shown {
    hull: Option<Cell>,
    labels: BTreeSet<String>,
}

impl Shown {
    /// Adds what a portion shows.
    pub(super) fn add(&mut self, portion: &PublicDomain) {
        if let Some(cell) = &portion.hull {
            see_number(&mut self.hull, cell);
        }
        for label in &portion.labels {
            if !self.labels.contains(label) {
                self.labels.insert(label.clone());
            }
        }
    }
}

/// Widens the hull so far by a cell of numbers.
fn see_number(hull: &mut Option<Cell>, cell: &Cell) {
    *hull = Some(match hull.take() {
        None => cell.clone(),
        Some(known) => widened(known, cell),
    });
}

/// The cells of the dictionary of an attribute's buckets; those that are only
/// other attributes' are empty.
fn values_of<'a>(attribute: &'a JoinedAttribute<'_>) -> Vec<&'a Cell> {
    let Some(buckets) = &attribute.buckets else {
        return Vec::new();
    };
    let mut values = vec![&Cell::Empty; buckets.cells().len()];
    for (value, _) in (0..buckets.len()).flat_map(|bucket| buckets.coded_run(bucket)) {
        values[value as usize] = &buckets.cells()[value as usize];
    }
    values
}

fn label_cell(label: &str) -> Cell {
    Cell::Label(label.to_owned())
}

fn widened(known: Cell, cell: &Cell) -> Cell {
    match (known, cell) {
        (Cell::Integer(lo, hi), &Cell::Integer(from, to)) => {
            Cell::Integer(lo.min(from), hi.max(to))
        }
        (Cell::Decimal(lo, hi), &Cell::Decimal(from, to)) => {
            Cell::Decimal(lo.min(from), hi.max(to))
        }
        (Cell::Date(lo, hi), &Cell::Date(from, to)) => Cell::Date(lo.min(from), hi.max(to)),
        (known, _) => known,
    }
}
