//! The sensitive column as published: which leaves each row's cell stands
//! for, and how often each such node occurs among rows that look the same.
//!
//! A node is known by its leaves, first and last: nodes with equal leaves tell
//! the same. How frequent leaves are is counted anew from the dataset version,
//! all of its records.

use rustc_hash::FxHashMap;

use crate::microdata::{Code, Hierarchy, NodeIndex};
use crate::verify::equivalence::EquivalenceClasses;
use crate::verify::meaning::Meaning;
use crate::verify::view::{AttributeView, View};

/// First and last leaf of a node.
pub(super) type Span = (u32, u32);

/// A sum of fractions: numerators and denominators.
pub(super) type Fractions = Vec<(u64, u64)>;

/// The published sensitive values.
pub(super) struct Published<'a> {
    /// Name of the attribute.
    pub name: &'a str,
    pub tree: Option<&'a Hierarchy>,
    /// Leaves of each row's cell; `None` where it is no node.
    pub span_of_row: Vec<Option<Span>>,
    /// Source leaf of each row, where it has a record.
    pub leaf_of_row: Vec<Option<u32>>,
    /// Rows of each class by node; ascending by first leaf, the wider first.
    pub of_class: Vec<Vec<(Span, u64)>>,
    /// Records of the dataset with a leaf below each code.
    below: Vec<u64>,
}

impl<'a> Published<'a> {
    /// Reads the column; classes are rows that look the same.
    pub fn of(view: &View<'a>, sensitive: &AttributeView<'a>, alike: &EquivalenceClasses) -> Self {
        let tree = sensitive.domain.hierarchy().map(AsRef::as_ref);
        let leaves = sensitive.domain.len() as u32;
        let spans = sensitive.cells.meanings.iter();
        let spans: Vec<Option<Span>> = spans
            .map(|meaning| match meaning {
                Meaning::Masked if leaves > 0 => Some((0, leaves - 1)),
                Meaning::Span { first, last } => Some((*first, *last)),
                _ => None,
            })
            .collect();
        let codes = sensitive.cells.codes.iter();
        let span_of_row: Vec<Option<Span>> = codes.map(|code| spans[code as usize]).collect();
        let rows = 0..view.rows();
        let leaf_of_row = rows.map(|row| view.source(sensitive, row)).collect();
        let of_class = (0..alike.len()).map(|class| counted(alike.rows(class), &span_of_row));
        Self {
            name: sensitive.name,
            tree,
            of_class: of_class.collect(),
            leaf_of_row,
            span_of_row,
            below: below(view, sensitive),
        }
    }

    /// Records of the dataset with a leaf in the span.
    pub fn weight(&self, (first, last): Span) -> u64 {
        self.below[last as usize + 1] - self.below[first as usize]
    }

    /// Spans of the nodes above a leaf, each once, the leaf first.
    pub fn spans_above(&self, leaf: u32) -> Vec<Span> {
        let Some(tree) = self.tree else {
            return vec![(leaf, leaf)];
        };
        let mut index = tree.leaf_node(Code(leaf));
        let mut spans = Vec::new();
        loop {
            let node = tree.node(index);
            spans.push((node.first_leaf.0, node.last_leaf().0));
            if index == NodeIndex::ROOT {
                break;
            }
            index = node.parent;
        }
        spans.dedup();
        spans
    }

    /// P_leak of a leaf in a class, times the rows of the class.
    pub fn own_leak(&self, counts: &FxHashMap<Span, u64>, leaf: u32) -> Fractions {
        let own = self.weight((leaf, leaf));
        let spans = self.spans_above(leaf).into_iter();
        let covering = spans.filter_map(|span| Some((span, *counts.get(&span)?)));
        covering
            .map(|(span, count)| (count * own, self.weight(span)))
            .collect()
    }

    /// The probability of any leaf of `guard` in a class, times its rows.
    pub fn guard_leak(&self, class: usize, guard: &[Span]) -> Fractions {
        let within = |(first, last): Span| -> u64 {
            let common = guard
                .iter()
                .map(|&(from, to)| (first.max(from), last.min(to)));
            let common = common.filter(|(from, to)| from <= to);
            common.map(|span| self.weight(span)).sum()
        };
        let nodes = self.of_class[class].iter();
        let leaks = nodes.map(|&(span, count)| (count * within(span), self.weight(span)));
        leaks.filter(|(above, _)| *above > 0).collect()
    }
}

/// Rows by node.
fn counted(rows: &[u32], span_of_row: &[Option<Span>]) -> Vec<(Span, u64)> {
    let mut spans: Vec<Span> = rows
        .iter()
        .filter_map(|&row| span_of_row[row as usize])
        .collect();
    spans.sort_unstable_by_key(|&(first, last)| (first, std::cmp::Reverse(last)));
    let runs = spans.chunk_by(|one, other| one == other);
    runs.map(|run| (run[0], run.len() as u64)).collect()
}

fn below(view: &View, sensitive: &AttributeView) -> Vec<u64> {
    let index = view.table.schema().find(sensitive.name);
    let column = index.and_then(|index| view.table.coded(index));
    let mut below = vec![0_u64; sensitive.domain.len() + 1];
    match (view.whole, sensitive.protected) {
        (Some(whole), Some(index)) => below[1..].copy_from_slice(whole.all(index)),
        _ => {
            for code in column.into_iter().flat_map(|column| &column.codes) {
                below[code as usize + 1] += 1;
            }
        }
    }
    for at in 1..below.len() {
        below[at] += below[at - 1];
    }
    below
}
