//! Fingerprints in other words: where two sets of nodes say the same of the
//! same people, or one says less by choice, the choice is a message.

use rand::RngExt;
use rand::seq::IndexedRandom;
use vizard_anonymizer::microdata::Hierarchy;
use vizard_anonymizer::release::{Cell, Item};

use super::{Corruption, Done, Random, table};
use crate::case::Case;

type Change = fn(&Hierarchy, &Cell) -> Option<Cell>;

const COLUMN: &str = "disease";

/// Changes one fingerprint wherever it stands, or on one row.
fn change(case: &mut Case, random: &mut Random, change: Change, everywhere: bool) -> Done {
    let mut cells = case.cells("persons", COLUMN);
    let tree = case
        .domain(COLUMN)
        .hierarchy()
        .cloned()
        .expect("diseases are a tree");
    let fits = |cell: &&Cell| change(&tree, cell).is_some_and(|new| new != **cell);
    let all: Vec<Cell> = cells.iter().filter(fits).cloned().collect();
    let Some(old) = all.choose(random) else {
        return Done::Skip;
    };
    let Some(new) = change(&tree, old) else {
        return Done::Skip;
    };
    let rows: Vec<usize> = (0..cells.len()).filter(|&row| cells[row] == *old).collect();
    let upto = if everywhere { rows.len() } else { 1 };
    for &row in &rows[..upto] {
        cells[row] = new.clone();
    }
    case.set_cells("persons", COLUMN, cells);
    Done::Content
}

fn items(cell: &Cell) -> Option<Vec<Item>> {
    match cell {
        Cell::Items(items) => Some(items.clone()),
        _ => None,
    }
}

fn of(mut items: Vec<Item>) -> Option<Cell> {
    items.sort();
    items.dedup();
    Some(Cell::Items(items))
}

/// Replaces the first member that a function takes.
fn replace(cell: &Cell, make: impl Fn(&Item) -> Option<Item>) -> Option<Cell> {
    let mut all = items(cell)?;
    let at = all.iter().position(|item| make(item).is_some())?;
    all[at] = make(&all[at])?;
    of(all)
}

fn twin(tree: &Hierarchy, cell: &Cell) -> Option<Cell> {
    replace(cell, |item| {
        let Item::Node(label) = item else { return None };
        let own = tree.node(tree.find(label)?);
        let same = tree.nodes().iter().find(|node| {
            node.label != own.label
                && (node.first_leaf, node.leaf_count) == (own.first_leaf, own.leaf_count)
        });
        same.map(|node| Item::Node(node.label.clone()))
    })
}

fn parent(tree: &Hierarchy, cell: &Cell) -> Option<Cell> {
    replace(cell, |item| {
        let Item::Node(label) = item else { return None };
        let own = tree.node(tree.find(label)?);
        (own.depth > 0).then(|| Item::Node(tree.node(own.parent).label.clone()))
    })
}

fn child(tree: &Hierarchy, cell: &Cell) -> Option<Cell> {
    replace(cell, |item| {
        let Item::Node(label) = item else { return None };
        let own = tree.node(tree.find(label)?);
        let first = own.children.first()?;
        Some(Item::Node(tree.node(*first).label.clone()))
    })
}

fn union(tree: &Hierarchy, cell: &Cell) -> Option<Cell> {
    replace(cell, |item| {
        let Item::Node(label) = item else { return None };
        let own = tree.node(tree.find(label)?);
        let below = own
            .children
            .iter()
            .map(|&child| tree.node(child).label.clone());
        let mut labels: Vec<String> = below.collect();
        labels.sort();
        (labels.len() > 1).then_some(Item::Union(labels))
    })
}

fn joined(_: &Hierarchy, cell: &Cell) -> Option<Cell> {
    let all = items(cell)?;
    let labels = all.iter().map(|item| match item {
        Item::Node(label) => Some(label.clone()),
        Item::Union(_) => None,
    });
    let mut labels: Vec<String> = labels.collect::<Option<_>>()?;
    labels.sort();
    (labels.len() > 1).then_some(Cell::Items(vec![Item::Union(labels)]))
}

fn more(tree: &Hierarchy, cell: &Cell) -> Option<Cell> {
    let mut all = items(cell)?;
    let label = tree
        .leaf_labels()
        .find(|label| !all.contains(&Item::Node((*label).into())))?;
    all.push(Item::Node(label.into()));
    of(all)
}

fn root_too(tree: &Hierarchy, cell: &Cell) -> Option<Cell> {
    let mut all = items(cell)?;
    all.push(Item::Node(tree.nodes()[0].label.clone()));
    of(all)
}

fn ancestor_too(tree: &Hierarchy, cell: &Cell) -> Option<Cell> {
    let mut all = items(cell)?;
    let above = all.iter().find_map(|item| {
        let Item::Node(label) = item else { return None };
        let own = tree.node(tree.find(label)?);
        (own.depth > 0).then(|| tree.node(own.parent).label.clone())
    })?;
    all.push(Item::Node(above));
    of(all)
}

fn fewer(_: &Hierarchy, cell: &Cell) -> Option<Cell> {
    let mut all = items(cell)?;
    (all.len() > 1).then(|| {
        all.pop();
        Cell::Items(all)
    })
}

fn turned(_: &Hierarchy, cell: &Cell) -> Option<Cell> {
    let mut all = items(cell)?;
    (all.len() > 1).then(|| {
        all.reverse();
        Cell::Items(all)
    })
}

fn twice(_: &Hierarchy, cell: &Cell) -> Option<Cell> {
    let mut all = items(cell)?;
    all.push(all.last()?.clone());
    Some(Cell::Items(all))
}

fn masked(_: &Hierarchy, cell: &Cell) -> Option<Cell> {
    (*cell != Cell::Masked).then_some(Cell::Masked)
}

fn emptied(_: &Hierarchy, cell: &Cell) -> Option<Cell> {
    (*cell != Cell::Empty).then_some(Cell::Empty)
}

/// Exchanges the fingerprints of two subjects of one group.
fn exchange(case: &mut Case, random: &mut Random) -> Done {
    let numbers = case.numbers("persons", "group");
    let mut cells = case.cells("persons", COLUMN);
    let one = random.random_range(0..cells.len());
    let other = (0..cells.len()).find(|&at| numbers[at] == numbers[one] && cells[at] != cells[one]);
    let Some(other) = other else {
        return Done::Skip;
    };
    cells.swap(one, other);
    case.set_cells("persons", COLUMN, cells);
    Done::Content
}

pub fn corruptions() -> Vec<Corruption> {
    table(&[
        (
            "a member's twin over the same leaves",
            "Two labels of one meaning are a bit.",
            |c, r| change(c, r, twin, true),
        ),
        (
            "one row's member as its twin",
            "One row stands apart in words alone.",
            |c, r| change(c, r, twin, false),
        ),
        (
            "one row's fingerprint one level up",
            "The row stands apart.",
            |c, r| change(c, r, parent, false),
        ),
        (
            "a fingerprint one level down",
            "More is told than is true.",
            |c, r| change(c, r, child, true),
        ),
        (
            "a member as the union of its children",
            "Two ways to say one thing are a bit.",
            |c, r| change(c, r, union, true),
        ),
        (
            "one row's member as the union of its children",
            "The row stands apart in words alone.",
            |c, r| change(c, r, union, false),
        ),
        (
            "all members as one union",
            "Less is told by choice, and in a union of no neighbours.",
            |c, r| change(c, r, joined, true),
        ),
        (
            "one more member",
            "A value is told that nobody has.",
            |c, r| change(c, r, more, true),
        ),
        (
            "the root as one more member",
            "A member that everyone has is a bit.",
            |c, r| change(c, r, root_too, true),
        ),
        (
            "a node above a member as one more member",
            "A member that follows from another is a bit.",
            |c, r| change(c, r, ancestor_too, true),
        ),
        ("one member less", "A value is not told of.", |c, r| {
            change(c, r, fewer, true)
        }),
        (
            "members the other way round",
            "The order inside a fingerprint is a permutation.",
            |c, r| change(c, r, turned, true),
        ),
        (
            "a member twice",
            "Which one is there twice is a message.",
            |c, r| change(c, r, twice, true),
        ),
        (
            "a mask in place of a fingerprint",
            "Less is told by choice.",
            |c, r| change(c, r, masked, true),
        ),
        (
            "one row's fingerprint masked",
            "The row stands apart.",
            |c, r| change(c, r, masked, false),
        ),
        ("no fingerprint", "Nothing is told of some.", |c, r| {
            change(c, r, emptied, true)
        }),
        (
            "fingerprints of two subjects of a group exchanged",
            "Fingerprints stand beside the wrong people.",
            exchange,
        ),
    ])
}
