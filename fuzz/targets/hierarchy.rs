//! Hierarchies as CSV and JSON: any bytes are a tree, intervals, or an error; a
//! tree has one digest in both forms. The first byte chooses the form.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use vizard_anonymizer::microdata::{Hierarchy, HierarchyFormat, HierarchySource, NodeIndex};

/// Steps from root to leaf that JSON can have: each nests an object and a list.
const JSON_STEPS_MAX: u32 = 60;

fuzz_target!(init: vizard_fuzz::begin(), |bytes: &[u8]| {
    let Some((choice, content)) = bytes.split_first() else {
        return;
    };
    vizard_fuzz::plant(bytes);
    let format = match choice % 2 {
        0 => HierarchyFormat::Csv,
        _ => HierarchyFormat::Json,
    };
    let Ok(source) = HierarchySource::read(content, format) else {
        return;
    };
    match &source {
        HierarchySource::Tree(tree) => check(tree, &source.digest()),
        HierarchySource::Intervals(intervals) => {
            let values = [-1e300, -7.5, 0.0, 3.0, 1e300].map(|value| (value, format!("{value}")));
            // Widths too small or large for numbers of 64 bits are refused here.
            if let Ok(tree) = intervals.tree(&values) {
                assert_eq!(tree.leaf_count(), values.len());
            }
        }
    }
});

fn check(tree: &Hierarchy, digest: &str) {
    for label in tree.leaf_labels() {
        assert!(tree.leaf(label).is_some(), "a leaf is found by its label");
    }
    // CSV would end the line that tells the separator.
    let has_lines = tree
        .nodes()
        .iter()
        .any(|node| node.label.contains(['\r', '\n']));
    if !has_lines {
        let text = HierarchySource::read(csv(tree).as_bytes(), HierarchyFormat::Csv);
        assert_eq!(text.expect("a tree can be written as CSV").digest(), digest);
    }
    if tree.height() <= JSON_STEPS_MAX {
        let text = json(tree, NodeIndex::ROOT).to_string();
        let text = HierarchySource::read(text.as_bytes(), HierarchyFormat::Json);
        assert_eq!(
            text.expect("a tree can be written as JSON").digest(),
            digest
        );
    }
}

fn json(tree: &Hierarchy, at: NodeIndex) -> Value {
    let node = tree.node(at);
    let children = node.children.iter().map(|&child| json(tree, child));
    json!({"label": node.label, "children": children.collect::<Vec<_>>()})
}

fn csv(tree: &Hierarchy) -> String {
    let leaves = tree.nodes().iter().filter(|node| node.children.is_empty());
    let line = |leaf: &vizard_anonymizer::microdata::Node| {
        let mut cells = Vec::new();
        let mut node = leaf;
        loop {
            cells.push(format!("\"{}\"", node.label.replace('"', "\"\"")));
            if node.depth == 0 {
                break cells.join(";") + "\n";
            }
            node = tree.node(node.parent);
        }
    };
    leaves.map(line).collect()
}
