//! A hierarchy as a tree to fold, as much of it as a page can hold.
//!
//! Of large trees levels are opened from the top until the page is full: what is
//! not there has a way of its own, or is found by a search, which shows matching
//! nodes with all that stands above them.

use std::collections::BTreeSet;

use maud::{Markup, html};
use vizard_anonymizer::microdata::{Hierarchy, NodeIndex};

use super::super::visitor::query_text;

/// Bytes that nodes of a page may take, about, and bytes of a node beside its label.
const ROOM: usize = 48 << 10;
const OF_NODE: usize = 130;
/// Children of one node.
const CHILDREN_MAX: usize = 100;
/// Trees of so many nodes stand open.
const OPEN_NODES_MAX: usize = 60;
/// Nodes that a search shows.
const MATCHES_MAX: usize = 100;

/// The part of a tree that a page shows.
pub struct Shown<'t> {
    tree: &'t Hierarchy,
    top: NodeIndex,
    /// Nodes whose children are there.
    expanded: BTreeSet<NodeIndex>,
    /// What a search found, in small letters, with the nodes that it shows.
    found: Option<(String, BTreeSet<NodeIndex>)>,
    /// Nodes that match, also those that are not shown.
    pub matches: usize,
}

/// Bytes that a node takes, about: its label stands there twice, once as a place.
fn cost(tree: &Hierarchy, at: NodeIndex) -> usize {
    OF_NODE + 4 * tree.node(at).label.len()
}

impl<'t> Shown<'t> {
    /// All below a node, level by level.
    pub fn below(tree: &'t Hierarchy, top: NodeIndex) -> Self {
        let mut expanded = BTreeSet::new();
        let mut room = ROOM;
        let mut open = std::collections::VecDeque::from([top]);
        while let Some(at) = open.pop_front() {
            let children = &tree.node(at).children;
            let children = &children[..children.len().min(CHILDREN_MAX)];
            let needed: usize = children.iter().map(|child| cost(tree, *child)).sum();
            // The node that was asked for is opened whatever it takes.
            if needed > room && at != top {
                continue;
            }
            room = room.saturating_sub(needed);
            expanded.insert(at);
            open.extend(children);
        }
        Self {
            tree,
            top,
            expanded,
            found: None,
            matches: 0,
        }
    }

    /// Nodes whose label has a text, and those above them.
    pub fn found(tree: &'t Hierarchy, wanted: &str) -> Self {
        let wanted = wanted.to_lowercase();
        let nodes = (0..).map(NodeIndex).zip(tree.nodes());
        let matching = nodes.filter(|(_, node)| node.label.to_lowercase().contains(&wanted));
        let matching: Vec<NodeIndex> = matching.map(|(at, _)| at).collect();
        let (mut shown, mut room) = (BTreeSet::new(), ROOM);
        for &at in matching.iter().take(MATCHES_MAX) {
            let needed = cost(tree, at);
            if needed > room {
                break;
            }
            room -= needed;
            let mut above = at;
            while shown.insert(above) && above != NodeIndex::ROOT {
                above = tree.node(above).parent;
            }
        }
        Self {
            tree,
            top: NodeIndex::ROOT,
            expanded: shown.clone(),
            matches: matching.len(),
            found: Some((wanted, shown)),
        }
    }

    /// The tree as lists that fold.
    pub fn drawn(&self) -> Markup {
        html! { ul.tree { (self.node(self.top)) } }
    }

    fn node(&self, at: NodeIndex) -> Markup {
        let node = self.tree.node(at);
        if node.children.is_empty() {
            return html! { li { a href=(way(&node.label)) { (self.marked(&node.label)) } } };
        }
        if !self.expanded.contains(&at) {
            return html! { li { a href=(way(&node.label)) { (node.label) } " " span.note { (node.leaf_count) " leaves ›" } } };
        }
        let is_found = |child: &&NodeIndex| match &self.found {
            Some((_, shown)) => shown.contains(*child),
            None => true,
        };
        let children: Vec<_> = node.children.iter().filter(is_found).collect();
        let there = &children[..children.len().min(CHILDREN_MAX)];
        let is_open = self.found.is_some() && !there.is_empty()
            || at == self.top
            || self.tree.nodes().len() <= OPEN_NODES_MAX;
        html! {
            li {
                details open[is_open] {
                    summary { (self.marked(&node.label)) " " span.note { (node.leaf_count) } }
                    ul {
                        @if at != self.top || self.found.is_some() { li { a.note href=(way(&node.label)) { "this node alone" } } }
                        @for child in there { (self.node(**child)) }
                        @if there.len() < children.len() { li.note { (children.len() - there.len()) " more below it: search for them" } }
                    }
                }
            }
        }
    }

    /// A label, marked where it is what was searched for.
    fn marked(&self, label: &str) -> Markup {
        let wanted = self.found.as_ref().map_or("", |(wanted, _)| wanted);
        let is_found = !wanted.is_empty() && label.to_lowercase().contains(wanted);
        html! { @if is_found { mark { (label) } } @else { (label) } }
    }
}

/// The way to a node's own page.
pub fn way(label: &str) -> String {
    format!("?{}", query_text("at", label))
}

/// The nodes above one, the root first.
pub fn above(tree: &Hierarchy, at: NodeIndex) -> Vec<NodeIndex> {
    let mut above = Vec::new();
    let mut at = at;
    while at != NodeIndex::ROOT {
        at = tree.node(at).parent;
        above.push(at);
    }
    above.reverse();
    above
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::sync::Arc;

    use super::*;
    use vizard_anonymizer::microdata::{HierarchyFormat, HierarchySource};

    fn tree(csv: &str) -> Arc<Hierarchy> {
        match HierarchySource::read(csv.as_bytes(), HierarchyFormat::Csv) {
            Ok(HierarchySource::Tree(tree)) => tree,
            _ => panic!("no tree"),
        }
    }

    fn large() -> Arc<Hierarchy> {
        let mut csv = String::new();
        for leaf in 0..10_000 {
            let line = format!(
                "leaf {leaf:05};group {:03};part {};*",
                leaf / 50,
                leaf / 1000
            );
            writeln!(csv, "{line}").expect("a String");
        }
        tree(&csv)
    }

    #[test]
    fn of_ten_thousand_leaves_a_page_has_what_it_can_hold() {
        let tree = large();
        let all = Shown::below(&tree, NodeIndex::ROOT).drawn().into_string();
        assert!(all.len() < 64 << 10, "{}", all.len());
        assert!(all.contains("part 9") && all.contains("leaves ›"));
        let group = tree.find("group 199").expect("it is there");
        let one = Shown::below(&tree, group).drawn().into_string();
        assert_eq!(one.matches("leaf 0").count(), 50);
        let found = Shown::found(&tree, "LEAF 0999");
        let text = found.drawn().into_string();
        assert_eq!((found.matches, text.matches("<mark>").count()), (10, 10));
        assert!(text.contains("part 9") && !text.contains("part 8"));
        let many = Shown::found(&tree, "leaf");
        assert_eq!(many.matches, 10_000);
        assert!(many.drawn().into_string().len() < 64 << 10);
    }

    #[test]
    fn a_wide_node_shows_its_first_children_and_labels_are_text() {
        let mut csv = String::from("<script>;*\n");
        for leaf in 0..500 {
            writeln!(csv, "leaf {leaf};*").expect("a String");
        }
        let tree = tree(&csv);
        let text = Shown::below(&tree, NodeIndex::ROOT).drawn().into_string();
        assert!(text.contains("401 more below it"), "{text}");
        assert!(text.contains("&lt;script&gt;") && !text.contains("<script>"));
        assert!(text.contains("?at=%3Cscript%3E"));
    }
}
