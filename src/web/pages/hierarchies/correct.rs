//! Corrections of a tree: another label, another place, a new leaf.
//!
//! Each makes a whole new tree, as JSON that the reader of hierarchies takes: so
//! it is as valid as one that somebody put. A node that has nothing below it any
//! more goes away: it would be taken for a value.

use serde_json::{Value, json};
use vizard_anonymizer::microdata::{Hierarchy, HierarchyFormat, HierarchySource, NodeIndex};

/// One correction.
pub enum Correction<'c> {
    /// A node gets another label.
    Rename(&'c str, &'c str),
    /// A node, with all below it, goes below another.
    Move(&'c str, &'c str),
    /// A leaf of this label comes below a node.
    Add(&'c str, &'c str),
}

/// The tree after a correction, as CSV; or why there is none.
pub fn corrected(tree: &Hierarchy, correction: &Correction<'_>) -> Result<String, String> {
    let changed = Changed::of(tree, correction)?;
    let document = changed.branch(NodeIndex::ROOT);
    let document = document.ok_or("Nothing would be left.")?.to_string();
    match HierarchySource::read(document.as_bytes(), HierarchyFormat::Json) {
        Ok(HierarchySource::Tree(tree)) => Ok(tree.to_csv()),
        Ok(HierarchySource::Intervals(_)) => Err("These are intervals.".into()),
        Err(error) => Err(error.to_string()),
    }
}

struct Changed<'t> {
    tree: &'t Hierarchy,
    renamed: Option<(NodeIndex, &'t str)>,
    moved: Option<(NodeIndex, NodeIndex)>,
    added: Option<(&'t str, NodeIndex)>,
}

impl<'t> Changed<'t> {
    fn of(tree: &'t Hierarchy, correction: &Correction<'t>) -> Result<Self, &'static str> {
        let node = |label: &str| {
            let found = tree.find(label.trim());
            found.ok_or("There is no node of this name.")
        };
        let new = |label: &'t str| match label.trim() {
            "" => Err("Give a name."),
            label if tree.find(label).is_some() => Err("There is a node of this name already."),
            label => Ok(label),
        };
        let inner = |label: &str| {
            let at = node(label)?;
            if tree.node(at).children.is_empty() {
                return Err("That is a leaf: it would be no value any more.");
            }
            Ok(at)
        };
        let mut changed = Self {
            tree,
            renamed: None,
            moved: None,
            added: None,
        };
        match *correction {
            Correction::Rename(label, to) => changed.renamed = Some((node(label)?, new(to)?)),
            Correction::Add(leaf, under) => changed.added = Some((new(leaf)?, inner(under)?)),
            Correction::Move(label, under) => {
                let (at, under) = (node(label)?, inner(under)?);
                let mut above = under;
                while above != at && above != NodeIndex::ROOT {
                    above = tree.node(above).parent;
                }
                if above == at {
                    return Err("A node cannot stand below itself.");
                }
                changed.moved = Some((at, under));
            }
        }
        Ok(changed)
    }

    /// A node with all below it; none where nothing is left of it.
    fn branch(&self, at: NodeIndex) -> Option<Value> {
        let node = self.tree.node(at);
        let label = match self.renamed {
            Some((renamed, to)) if renamed == at => to,
            _ => &node.label,
        };
        if node.children.is_empty() {
            return Some(json!({"label": label}));
        }
        let stays = |child: &&NodeIndex| self.moved.is_none_or(|(moved, _)| moved != **child);
        let children = node.children.iter().filter(stays);
        let mut children: Vec<Value> = children.filter_map(|child| self.branch(*child)).collect();
        if let Some((moved, _)) = self.moved.filter(|(_, under)| *under == at) {
            children.extend(self.branch(moved));
        }
        if let Some((leaf, _)) = self.added.filter(|(_, under)| *under == at) {
            children.push(json!({"label": leaf}));
        }
        (!children.is_empty()).then(|| json!({"label": label, "children": children}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WARDS: &str = "red;warm;*\norange;warm;*\nblue;cold;*\n";

    fn after(correction: &Correction<'_>) -> Result<String, String> {
        match HierarchySource::read(WARDS.as_bytes(), HierarchyFormat::Csv) {
            Ok(HierarchySource::Tree(tree)) => corrected(&tree, correction),
            _ => panic!("no tree"),
        }
    }

    #[test]
    fn a_correction_changes_what_it_names_and_nothing_else() {
        for (correction, csv) in [
            (
                Correction::Rename("warm", "hot"),
                "red;hot;*\norange;hot;*\nblue;cold;*\n",
            ),
            (
                Correction::Move("orange", "cold"),
                "red;warm;*\nblue;cold;*\norange;cold;*\n",
            ),
            // What has nothing below it any more goes away.
            (
                Correction::Move("blue", "warm"),
                "red;warm;*\norange;warm;*\nblue;warm;*\n",
            ),
            (
                Correction::Move("cold", "warm"),
                "red;warm;*\norange;warm;*\nblue;cold;warm;*\n",
            ),
            (
                Correction::Add(" violet ", "cold"),
                "red;warm;*\norange;warm;*\nblue;cold;*\nviolet;cold;*\n",
            ),
        ] {
            assert_eq!(after(&correction).as_deref(), Ok(csv));
        }
    }

    #[test]
    fn what_would_break_the_tree_is_refused() {
        for (correction, said) in [
            (Correction::Rename("warm", "red"), "already"),
            (Correction::Rename("warm", " "), "Give a name"),
            (Correction::Rename("nowhere", "x"), "no node"),
            (Correction::Move("red", "blue"), "is a leaf"),
            (Correction::Move("warm", "warm"), "below itself"),
            (Correction::Move("*", "warm"), "below itself"),
            (Correction::Add("red", "warm"), "already"),
            (Correction::Add("x", "blue"), "is a leaf"),
        ] {
            let refused = after(&correction).expect_err(said);
            assert!(refused.contains(said), "{refused}");
        }
    }
}
