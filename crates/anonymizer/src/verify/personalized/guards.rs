//! What a subject guards: any value under a node they named is a leak (Xiao &
//! Tao 2006), whatever their own value is. Several nodes are guarded together.
//!
//! A name that the hierarchy does not have could be any value: it guards all.

use super::published::Span;
use crate::microdata::Hierarchy;
use crate::privacy::RecordTerms;

/// Leaves that the terms guard, as spans that do not overlap; `None` where
/// they guard nothing. Only one attribute is protected, the first.
pub(super) fn guarded(tree: Option<&Hierarchy>, terms: &RecordTerms) -> Option<Vec<Span>> {
    let tree = tree?;
    let all = (0, tree.leaf_count() as u32 - 1);
    let labels = terms.guard.iter().filter(|(index, _)| index.at() == 0);
    let mut spans: Vec<Span> = labels
        .flat_map(|(_, labels)| labels)
        .map(|label| {
            let node = tree.find(label).map(|index| tree.node(index));
            node.map_or(all, |node| (node.first_leaf.0, node.last_leaf().0))
        })
        .collect();
    // Nodes of a tree lie within each other or apart: keep the outermost.
    spans.sort_unstable_by_key(|&(first, last)| (first, std::cmp::Reverse(last)));
    let mut outermost: Vec<Span> = Vec::new();
    for span in spans {
        if outermost.last().is_none_or(|&(_, last)| span.0 > last) {
            outermost.push(span);
        }
    }
    (!outermost.is_empty()).then_some(outermost)
}
