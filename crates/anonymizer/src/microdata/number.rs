//! What integers, decimals and days have in common: an order, one text each,
//! and a place among the leaves of a tree.

use std::collections::HashSet;
use std::sync::Arc;

use super::cell;
use super::codes::Codes;
use super::error::{CellErrorCode, TableError};
use super::hierarchy::{Branch, Hierarchy, HierarchySource, NodeIndex};
use super::value_text::{date_days, date_text, decimal_text};

/// A value of a numeric attribute.
pub(super) trait Number: Copy + PartialEq + Send {
    /// What a cell is that is none of these.
    const REFUSAL: CellErrorCode;

    /// The value of a trimmed cell.
    fn read(cell: &[u8]) -> Option<Self>;

    /// A key in the order of the values, equal for equal values only.
    fn key(self) -> u64;

    /// The value as it is published.
    fn text(self) -> String;

    /// The value where intervals are laid over numbers.
    fn number(self) -> f64;
}

impl Number for i64 {
    const REFUSAL: CellErrorCode = CellErrorCode::NotAnInteger;

    #[inline]
    fn read(cell: &[u8]) -> Option<Self> {
        cell::integer(cell)
    }

    #[inline]
    fn key(self) -> u64 {
        self as u64 ^ (1 << 63)
    }

    fn text(self) -> String {
        self.to_string()
    }

    fn number(self) -> f64 {
        self as f64
    }
}

impl Number for f64 {
    const REFUSAL: CellErrorCode = CellErrorCode::NotADecimal;

    #[inline]
    fn read(cell: &[u8]) -> Option<Self> {
        cell::decimal(cell)
    }

    #[inline]
    fn key(self) -> u64 {
        let bits = self.to_bits();
        // Negative numbers grow with their bits: turn them all around.
        if bits >> 63 == 1 {
            !bits
        } else {
            bits | (1 << 63)
        }
    }

    fn text(self) -> String {
        decimal_text(self)
    }

    fn number(self) -> f64 {
        self
    }
}

impl Number for i32 {
    const REFUSAL: CellErrorCode = CellErrorCode::NotADate;

    #[inline]
    fn read(cell: &[u8]) -> Option<Self> {
        date_days(std::str::from_utf8(cell).ok()?)
    }

    #[inline]
    fn key(self) -> u64 {
        i64::from(self).key()
    }

    fn text(self) -> String {
        date_text(self)
    }

    fn number(self) -> f64 {
        f64::from(self)
    }
}

/// Keys of the numbers that are leaves of a tree.
///
/// A leaf whose label is not the text of a number can never occur and does
/// not count. The error: the numbers do not ascend in depth-first order, so
/// that ranges of values would not be runs of leaves.
pub(super) fn leaf_keys<N: Number>(tree: &Hierarchy) -> Result<HashSet<u64>, TableError> {
    let mut keys = HashSet::new();
    let mut last = None;
    for label in tree.leaf_labels() {
        let Some(value) = N::read(label.as_bytes()).filter(|value| value.text() == label) else {
            continue;
        };
        if last.is_some_and(|last| last >= value.key()) {
            return Err(TableError::Hierarchy(
                "the leaves of a numeric attribute must ascend".into(),
            ));
        }
        last = Some(value.key());
        keys.insert(value.key());
    }
    Ok(keys)
}

/// The tree over ascending values: of a given tree the part above them, of
/// intervals those that hold any. Without a value there is none.
pub(super) fn tree_over<N: Number>(
    source: &HierarchySource,
    values: &[N],
) -> Result<Option<Arc<Hierarchy>>, TableError> {
    if values.is_empty() {
        return Ok(None);
    }
    let tree = match source {
        HierarchySource::Intervals(intervals) => {
            let values: Vec<(f64, String)> = values
                .iter()
                .map(|&value| (value.number(), value.text()))
                .collect();
            intervals.tree(&values)?
        }
        HierarchySource::Tree(tree) => {
            leaf_keys::<N>(tree)?;
            let mut kept = vec![false; tree.nodes().len()];
            for value in values {
                let leaf = tree.leaf(&value.text()).ok_or_else(|| {
                    TableError::Chunk("a number is not a leaf of its hierarchy".into())
                })?;
                let mut node = tree.leaf_node(leaf);
                while !kept[node.at()] {
                    kept[node.at()] = true;
                    node = tree.node(node).parent;
                }
            }
            Hierarchy::from_branch(restricted(tree, &kept, NodeIndex::ROOT))?
        }
    };
    Ok(Some(Arc::new(tree)))
}

// Readers bound the depth of a tree, so plain recursion is safe.
fn restricted(tree: &Hierarchy, kept: &[bool], at: NodeIndex) -> Branch {
    let node = tree.node(at);
    let children = node.children.iter().filter(|child| kept[child.at()]);
    Branch {
        label: node.label.clone(),
        children: children
            .map(|&child| restricted(tree, kept, child))
            .collect(),
    }
}

/// The distinct values, ascending, and each value's rank among them.
pub(super) fn ranked<N: Number>(values: &[N]) -> (Vec<N>, Codes) {
    let keys = || values.iter().map(|value| value.key());
    let (Some(least), Some(most)) = (keys().min(), keys().max()) else {
        return (Vec::new(), Codes::default());
    };
    // Few possible values: one counting pass instead of a sort.
    let room = (values.len() as u64 * 2).max(DENSE_SPAN_MIN);
    if most - least < room {
        return dense_ranks(values, least, (most - least) as usize + 1);
    }
    let mut order: Vec<(u64, u32)> = keys().zip(0..).collect();
    order.sort_unstable();
    let mut distinct = Vec::new();
    let mut ranks = vec![0; values.len()];
    let mut last = None;
    for (key, at) in order {
        if last != Some(key) {
            distinct.push(values[at as usize]);
            last = Some(key);
        }
        ranks[at as usize] = distinct.len() as u32 - 1;
    }
    (distinct, Codes::from(ranks))
}

/// Span of keys up to which a table of them is worth its memory.
const DENSE_SPAN_MIN: u64 = 1 << 20;

fn dense_ranks<N: Number>(values: &[N], least: u64, span: usize) -> (Vec<N>, Codes) {
    let place = |value: N| (value.key() - least) as usize;
    // First which places occur, then their ranks.
    let mut table = vec![u32::MAX; span];
    for (at, &value) in (0_u32..).zip(values) {
        table[place(value)] = at;
    }
    let mut distinct = Vec::new();
    for entry in table.iter_mut().filter(|entry| **entry != u32::MAX) {
        distinct.push(values[*entry as usize]);
        *entry = distinct.len() as u32 - 1;
    }
    let ranks = values.iter().map(|&value| table[place(value)]);
    let ranks = Codes::below(distinct.len(), ranks);
    (distinct, ranks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::microdata::HierarchyFormat;

    fn source(text: &str, format: HierarchyFormat) -> HierarchySource {
        HierarchySource::read(text.as_bytes(), format).unwrap()
    }

    proptest::proptest! {
        #[test]
        fn ranks_are_those_of_a_sort(values: Vec<i64>, small in proptest::collection::vec(-99_i64..99, 0..50)) {
            for values in [values, small] {
                let (distinct, ranks) = ranked(&values);
                let mut sorted = values.clone();
                sorted.sort_unstable();
                sorted.dedup();
                assert_eq!(distinct, sorted);
                for (value, rank) in values.iter().zip(&ranks) {
                    assert_eq!(distinct[rank as usize], *value);
                }
            }
        }

        #[test]
        fn keys_have_the_order_of_decimals(left in proptest::num::f64::NORMAL, right in proptest::num::f64::ANY) {
            if let (Some(left), Some(right)) = (Some(left + 0.0), Some(right + 0.0).filter(|r| r.is_finite())) {
                assert_eq!(left.key().cmp(&right.key()), left.partial_cmp(&right).unwrap());
            }
        }
    }

    #[test]
    fn a_tree_over_numbers_keeps_the_part_above_its_values() {
        let tree = source("1;1-2;*\n2;1-2;*\n3;3-4;*\n4;3-4;*\n", HierarchyFormat::Csv);
        let over = tree_over(&tree, &[2_i64, 3, 4]).unwrap().unwrap();
        assert_eq!(over.leaf_labels().collect::<Vec<_>>(), ["2", "3", "4"]);
        assert_eq!(over.node(over.find("3-4").unwrap()).leaf_count, 2);
        assert!(tree_over::<i64>(&tree, &[]).unwrap().is_none());
    }

    #[test]
    fn a_tree_whose_numbers_do_not_ascend_is_refused() {
        let tree = source("2;*\n10;*\n-1;*\n", HierarchyFormat::Csv);
        assert!(matches!(
            tree_over(&tree, &[2_i64]),
            Err(TableError::Hierarchy(_))
        ));
        let tree = source("unknown;*\n-1;*\n2;*\n007;*\n", HierarchyFormat::Csv);
        assert!(tree_over(&tree, &[2_i64]).is_ok());
    }
}
