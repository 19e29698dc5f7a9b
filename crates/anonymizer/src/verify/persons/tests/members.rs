//! Members of fingerprints: nodes, unions, roots.

use crate::microdata::{Domain, HierarchyFormat, HierarchySource, Values};
use crate::release::{Cell, Content};
use crate::verify::persons::items::{Fault, Trees};

/// root( a(a1 a2 a3 a4) b(c(c1)) d(d1 d2) )
fn domain(root: &str) -> Domain {
    let lines = ["a1;a", "a2;a", "a3;a", "a4;a", "c1;c;b", "d1;d", "d2;d"];
    let lines: Vec<String> = lines
        .iter()
        .map(|line| format!("{line};{root}\n"))
        .collect();
    let source = HierarchySource::read(lines.concat().as_bytes(), HierarchyFormat::Csv);
    let Ok(HierarchySource::Tree(hierarchy)) = source else {
        panic!("the tree is sound");
    };
    let leaves = hierarchy.leaf_labels().map(str::to_owned).collect();
    Domain::new(Values::Category(leaves), Some(hierarchy))
}

fn cell(text: &str) -> Cell {
    Cell::parse(text, Content::Fingerprint, None).expect("the text is canonical")
}

fn fault(domain: &Domain, text: &str) -> Option<Fault> {
    let mut trees = Trees::default();
    let tree = trees.add(domain);
    trees.read(tree, &cell(text)).fault
}

#[test]
fn unions_join_some_neighbouring_children_of_one_node() {
    let domain = domain("*");
    for text in [
        "{a1|a2}",
        "d|{a2|a3|a4}",
        "d1|{a|b}",
        "{a|b}",
        "{b|d}",
        "{a1|a2}|{a3|a4}",
    ] {
        assert_eq!(fault(&domain, text), None, "{text}");
    }
    let unknown = [
        "{a1|a3}",
        "{a1|a2|a3|a4}",
        "{a|b|d}",
        "{a4|c1}",
        "{a|d}",
        "{b|d1}",
        "{a|a1}",
        "{d1|d2}",
        "{b|c}",
        "{a1|nobody}",
    ];
    for text in unknown {
        assert_eq!(fault(&domain, text), Some(Fault::Unknown), "{text}");
    }
}

#[test]
fn members_that_cover_what_another_one_does_overlap() {
    let domain = domain("any");
    for text in ["a|a1", "a1|{a1|a2}", "any|d", "c1|{a|b}", "{a1|a2}|{a2|a3}"] {
        assert_eq!(fault(&domain, text), Some(Fault::Overlapping), "{text}");
    }
}

#[test]
fn a_root_has_one_way_to_be_written() {
    assert_eq!(fault(&domain("any"), "any"), None);
    assert_eq!(fault(&domain("any"), "*"), Some(Fault::Unknown));
    assert_eq!(fault(&domain("*"), "*"), None);
    assert_eq!(fault(&domain("*"), "\\*"), Some(Fault::Unknown));
    let values = Domain::new(Values::Category(vec!["*".into(), "x".into()]), None);
    assert_eq!(fault(&values, "*"), None);
    assert_eq!(fault(&values, "\\*"), None);
}

/// A domain of one value: the root says no value, so that it is none.
#[test]
fn a_node_over_all_leaves_is_published_as_the_root() {
    let one = Domain::new(Values::Category(vec!["x".into()]), None);
    assert_eq!(fault(&one, "*"), None);
    assert_eq!(fault(&one, "x"), Some(Fault::Unknown));
    let source = HierarchySource::read(b"x;above;any\n".as_slice(), HierarchyFormat::Csv);
    let Ok(HierarchySource::Tree(hierarchy)) = source else {
        panic!("the tree is sound");
    };
    let one = Domain::new(Values::Category(vec!["x".into()]), Some(hierarchy));
    assert_eq!(fault(&one, "any"), None);
    assert_eq!(fault(&one, "above"), Some(Fault::Unknown));
    assert_eq!(fault(&one, "x"), Some(Fault::Unknown));
}

#[test]
fn numbers_without_a_tree_are_members_by_their_text() {
    let numbers = Domain::new(Values::Integer(vec![-3, 5, 7, 10]), None);
    for text in ["-3", "10|5", "{5|7}", "-3|{10|7}", "*"] {
        assert_eq!(fault(&numbers, text), None, "{text}");
    }
    for text in ["6", "05", "5..7", "{10|5}", "{-3|10|5|7}"] {
        assert_eq!(fault(&numbers, text), Some(Fault::Unknown), "{text}");
    }
    let decimals = Domain::new(Values::Decimal(vec![0.5, 1.0]), None);
    assert_eq!(fault(&decimals, "0.5|1"), None);
    assert_eq!(fault(&decimals, "1.0"), Some(Fault::Unknown));
}

#[test]
fn of_nodes_over_the_same_leaves_the_lowest_is_published() {
    let domain = domain("*");
    for text in ["b", "c", "a1|b", "b|c", "b|c1"] {
        assert_eq!(fault(&domain, text), Some(Fault::Unknown), "{text}");
    }
    let mut trees = Trees::default();
    let tree = trees.add(&domain);
    let [leaf, a, a1] = ["c1", "a", "a1"].map(|text| trees.read(tree, &cell(text)));
    assert_ne!(a.spans, a1.spans);
    assert!(trees.node(leaf.nodes[0]).is_exact());
    assert!(trees.node(a1.nodes[0]).is_exact());
    assert!(!trees.node(a.nodes[0]).is_exact());
    // Equal unions are one node, in whichever fingerprint they stand.
    let [one, other] = ["{a1|a2}", "d|{a1|a2}"].map(|text| trees.read(tree, &cell(text)));
    assert_eq!(one.nodes[0], other.nodes[0]);
}

#[test]
fn what_is_no_fingerprint_is_named_and_read_as_nothing() {
    let domain = domain("*");
    let mut trees = Trees::default();
    let tree = trees.add(&domain);
    for cell in [
        Cell::Empty,
        Cell::Label("a".into()),
        Cell::Integer(1, 2),
        Cell::Set(vec!["a".into(), "d".into()]),
        Cell::Items(Vec::new()),
        Cell::Items(vec![crate::release::Item::Union(vec!["a1".into()])]),
        Cell::Items(vec![crate::release::Item::Union(Vec::new())]),
        Cell::Items(vec![crate::release::Item::Union(vec![
            "a2".into(),
            "a1".into(),
        ])]),
    ] {
        let read = trees.read(tree, &cell);
        assert_eq!(read.fault, Some(Fault::Unknown));
        assert!(read.nodes.is_empty());
    }
}
