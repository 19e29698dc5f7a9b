//! ARX's CSV layout: one line a leaf, from leaf to root.
//!
//! Nodes are found by their parent and label while lines come in, and counted
//! as they are made: a hierarchy with more than is allowed is refused at the
//! line that brings one too many.

use super::tree::Branch;
use crate::microdata::error::TableError;
use crate::microdata::limits::HierarchyLimits;

/// A tree under construction: children by position, found by label.
#[derive(Default)]
struct Growing {
    labels: Vec<String>,
    children: Vec<Vec<usize>>,
    child_by_label: rustc_hash::FxHashMap<(usize, String), usize>,
}

impl Growing {
    fn node(&mut self, label: &str) -> usize {
        self.labels.push(label.into());
        self.children.push(Vec::new());
        self.labels.len() - 1
    }

    fn child(&mut self, parent: usize, label: &str) -> usize {
        if let Some(&found) = self.child_by_label.get(&(parent, label.to_owned())) {
            return found;
        }
        let made = self.node(label);
        self.children[parent].push(made);
        self.child_by_label.insert((parent, label.into()), made);
        made
    }

    fn take(&self, at: usize) -> Branch {
        let children = self.children[at]
            .iter()
            .map(|&child| self.take(child))
            .collect();
        Branch {
            label: self.labels[at].clone(),
            children,
        }
    }
}

/// Labels along one CSV line, and with it the depth of recursion over a tree.
pub(super) const LEVELS_MAX: usize = 256;
/// Cells of one line; a label may be repeated along it.
const CELLS_MAX: usize = 4096;

/// Reads ARX's layout.
pub(super) fn csv_branch(text: &str, limits: &HierarchyLimits) -> Result<Branch, TableError> {
    let first = text.lines().next().unwrap_or_default();
    let separator = if first.contains(';') { b';' } else { b',' };
    let cells = |line: &[u8]| line.iter().filter(|&&byte| byte == separator).count();
    let mut lines = text.as_bytes().split(|&byte| byte == b'\n');
    if lines.any(|line| cells(line) >= CELLS_MAX) {
        return Err(limits.too_many_levels());
    }
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut growing = Growing::default();
    let mut leaves = rustc_hash::FxHashSet::default();
    let mut line = csv::StringRecord::new();
    while reader
        .read_record(&mut line)
        .map_err(|_| TableError::Hierarchy("CSV cannot be read".into()))?
    {
        let number = line.position().map_or(0, csv::Position::line);
        let at_line = |what: &str| TableError::Hierarchy(format!("line {number}: {what}"));
        let mut labels: Vec<&str> = line.iter().rev().collect();
        labels.dedup();
        if labels.len() > limits.hierarchy_levels_max.min(LEVELS_MAX) {
            return Err(limits.too_many_levels());
        }
        if labels.len() < 2 || labels.iter().any(|label| label.is_empty()) {
            return Err(at_line(
                "a leaf and a root above it are needed, and no label is empty",
            ));
        }
        if growing.labels.is_empty() {
            growing.node(labels[0]);
        }
        if growing.labels[0] != labels[0] {
            return Err(at_line("the last column is not the root of the first line"));
        }
        let leaf = labels[1..]
            .iter()
            .fold(0, |parent, label| growing.child(parent, label));
        if growing.labels.len() > limits.hierarchy_nodes_max {
            return Err(limits.too_many_nodes());
        }
        if !leaves.insert(leaf) {
            return Err(at_line("the leaf is given twice"));
        }
    }
    if growing.labels.is_empty() {
        return Err(TableError::Hierarchy("no line".into()));
    }
    let is_inner = |node: &usize| !growing.children[*node].is_empty();
    if (0..growing.labels.len()).any(|node| leaves.contains(&node) && is_inner(&node)) {
        return Err(TableError::Hierarchy(
            "a label is a leaf on one line and above a leaf on another".into(),
        ));
    }
    Ok(growing.take(0))
}
