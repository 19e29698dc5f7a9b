//! Writing a tree as the API takes it: CSV, a line a leaf, from leaf to root.

use super::rule::push_cell;
use super::tree::{Hierarchy, NodeIndex};

impl Hierarchy {
    /// The tree as CSV, leaves in order, labels separated by `;`. Reading it
    /// gives the same tree.
    pub fn to_csv(&self) -> String {
        let mut csv = String::new();
        for leaf in self.nodes().iter().filter(|node| node.children.is_empty()) {
            push_cell(&mut csv, &leaf.label);
            let mut at = leaf.parent;
            loop {
                let node = self.node(at);
                csv.push(';');
                push_cell(&mut csv, &node.label);
                if at == NodeIndex::ROOT {
                    break;
                }
                at = node.parent;
            }
            csv.push('\n');
        }
        csv
    }
}

#[cfg(test)]
mod tests {
    use crate::microdata::{HierarchyFormat, HierarchySource};

    fn tree(content: &str, format: HierarchyFormat) -> std::sync::Arc<crate::microdata::Hierarchy> {
        match HierarchySource::read(content.as_bytes(), format).unwrap() {
            HierarchySource::Tree(tree) => tree,
            HierarchySource::Intervals(_) => panic!("a tree"),
        }
    }

    #[test]
    fn what_is_written_reads_back_as_the_same_tree() {
        let odd = serde_json::json!({"label": "*", "children": [
            {"label": "a;b", "children": [{"label": "x, y"}, {"label": "say \"no\""}]},
            {"label": "only child", "children": [{"label": "deep", "children": [{"label": "deepest"}]}]},
            {"label": "two\nlines"}, {"label": "\u{feff}mark"}, {"label": "{1|2}"}]});
        for (content, format) in [
            ("z;A;*\ny;B;*\nx;A;*\n", HierarchyFormat::Csv),
            ("b,*\na,*\n", HierarchyFormat::Csv),
            (&odd.to_string(), HierarchyFormat::Json),
        ] {
            let tree = tree(content, format);
            let again = self::tree(&tree.to_csv(), HierarchyFormat::Csv);
            assert_eq!(again, tree, "{content}");
            let extended = tree.with_missing_leaf();
            let again = self::tree(&extended.to_csv(), HierarchyFormat::Csv);
            assert_eq!(*again, extended);
        }
    }
}
