//! What is published of sensitive values.

use vizard_anonymizer::privacy::QidConflict;
use vizard_anonymizer::release::{Cell, Item};

use super::base::counting;
use super::is_rmr;
use super::rows::dress;
use crate::case::Case;
use crate::negative::{Corruption, Done, Random, any, corruption};

const COVER: &str = "fingerprints_cover_their_source";
const INVENT: &str = "fingerprints_invent_nothing";
const WELL_FORMED: &str = "fingerprints_well_formed";
const ANTICHAINS: &str = "fingerprints_are_antichains";

pub fn corruptions() -> Vec<Corruption> {
    let mut all = strangers();
    all.extend(relatives());
    all.extend(texts());
    all.extend(guarantees());
    all
}

/// Members that are wrong about their subject.
fn strangers() -> Vec<Corruption> {
    vec![
        corruption("swap the fingerprints of two rows", &[COVER, INVENT], swap),
        corruption(
            "replace a node by a child of it",
            &[COVER, INVENT],
            other_leaf,
        ),
        corruption(
            "replace a node by its sibling",
            &[COVER, INVENT],
            |case, random| change(case, random, "flu|heart", &["flu", "skin"]),
        ),
        corruption(
            "replace a union by a neighbour",
            &[COVER, INVENT],
            |case, random| {
                change(
                    case,
                    random,
                    "respiratory|{colitis|gastritis}",
                    &["hernia", "respiratory"],
                )
            },
        ),
    ]
}

/// Members that are wrong about each other.
fn relatives() -> Vec<Corruption> {
    vec![
        corruption(
            "put a parent next to its child",
            &[ANTICHAINS],
            |case, random| change(case, random, "flu|heart", &["flu", "heart", "respiratory"]),
        ),
        corruption(
            "put the root next to a node",
            &[ANTICHAINS],
            |case, random| change(case, random, "digestive|skin", &["any", "skin"]),
        ),
        corruption(
            "put a child next to its union",
            &[ANTICHAINS],
            |case, random| {
                let from = "respiratory|{colitis|gastritis}";
                change(
                    case,
                    random,
                    from,
                    &["colitis", "respiratory", "colitis+gastritis"],
                )
            },
        ),
        corruption("let two unions overlap", &[ANTICHAINS], |case, random| {
            let from = "respiratory|{colitis|gastritis}";
            let to = &["respiratory", "colitis+gastritis", "colitis+hernia"];
            change(case, random, from, to)
        }),
        corruption("drop an item", &[COVER], |case, random| {
            change(case, random, "digestive|skin", &["digestive"])
        }),
        corruption("drop a union", &[COVER], |case, random| {
            change(
                case,
                random,
                "respiratory|{colitis|gastritis}",
                &["respiratory"],
            )
        }),
        corruption("add an item", &[INVENT], |case, random| {
            change(case, random, "flu", &["flu", "skin"])
        }),
        corruption("add an exact item", &[INVENT], |case, random| {
            change(case, random, "flu", &["acne", "flu"])
        }),
        corruption("add a union", &[INVENT], |case, random| {
            change(case, random, "flu", &["flu", "colitis+gastritis"])
        }),
    ]
}

/// Cells that are no fingerprints, or have another text for the same meaning.
fn texts() -> Vec<Corruption> {
    vec![
        corruption("name what is no node", &[WELL_FORMED], |case, random| {
            change(case, random, "flu", &["influenza"])
        }),
        corruption(
            "join what are no neighbours",
            &[WELL_FORMED],
            |case, random| change(case, random, "digestive|skin", &["skin", "colitis+ulcer"]),
        ),
        corruption(
            "join children of two nodes",
            &[WELL_FORMED],
            |case, random| change(case, random, "flu|heart", &["angina+hernia", "flu"]),
        ),
        corruption(
            "join all children of a node",
            &[WELL_FORMED],
            |case, random| change(case, random, "flu|heart", &["flu", "angina+stroke"]),
        ),
        corruption(
            "join a node with its child",
            &[WELL_FORMED],
            |case, random| change(case, random, "digestive|skin", &["skin", "digestive+ulcer"]),
        ),
        corruption("join one node alone", &[WELL_FORMED], |case, random| {
            let union = Cell::Items(vec![Item::Union(vec!["flu".into()])]);
            put(case, random, "flu", union)
        }),
        corruption(
            "name a union out of order",
            &[WELL_FORMED],
            |case, random| {
                let union = Item::Union(vec!["gastritis".into(), "colitis".into()]);
                let items = vec![Item::Node("respiratory".into()), union];
                put(
                    case,
                    random,
                    "respiratory|{colitis|gastritis}",
                    Cell::Items(items),
                )
            },
        ),
        corruption("name items out of order", &[WELL_FORMED], |case, random| {
            let items = ["skin", "digestive"].map(|label| Item::Node(label.into()));
            put(case, random, "digestive|skin", Cell::Items(items.into()))
        }),
        corruption("name an item twice", &[WELL_FORMED], |case, random| {
            let items = ["flu", "flu"].map(|label| Item::Node(label.into()));
            put(case, random, "flu", Cell::Items(items.into()))
        }),
        corruption(
            "mask a root that has a name",
            &[WELL_FORMED],
            |case, random| put(case, random, "any", Cell::Masked),
        ),
        corruption(
            "leave a fingerprint empty",
            &[WELL_FORMED],
            |case, random| {
                let none = any(&[Cell::Empty, Cell::Items(Vec::new())], random).unwrap();
                put(case, random, "flu", none)
            },
        ),
        corruption(
            "publish a label for a fingerprint",
            &[WELL_FORMED],
            |case, random| put(case, random, "flu", Cell::Label("flu".into())),
        ),
    ]
}

/// True fingerprints that too few share, or too many.
fn guarantees() -> Vec<Corruption> {
    vec![
        corruption(
            "break K of a fingerprint by a leaf",
            &["fingerprint_k"],
            |case, random| {
                if is_rmr(case) {
                    Done::Skip
                } else {
                    own_leaf(case, random)
                }
            },
        ),
        corruption(
            "break K of a fingerprint by the root",
            &["fingerprint_k"],
            |case, random| {
                if is_rmr(case) {
                    Done::Skip
                } else {
                    change(case, random, "flu", &["any"])
                }
            },
        ),
        corruption(
            "break k of a combination",
            &["km_anonymity"],
            |case, random| {
                if is_rmr(case) {
                    own_leaf(case, random)
                } else {
                    Done::Skip
                }
            },
        ),
        corruption("break L of a group", &["l_diversity"], |case, random| {
            if is_rmr(case) {
                Done::Skip
            } else {
                exchange(case, random, ("digestive|skin", "any"))
            }
        }),
        corruption(
            "break the share of a value",
            &["value_l"],
            |case, random| {
                if is_rmr(case) {
                    Done::Skip
                } else {
                    exchange(case, random, ("flu", "digestive|skin"))
                }
            },
        ),
        corruption(
            "break L where somebody asks for it",
            &["max_leakage"],
            |case, random| exchange(case, random, ("any", "digestive|skin")),
        ),
    ]
}

/// A cell of items by their labels, `+` joining a union.
fn items(labels: &[&str]) -> Cell {
    let items = labels.iter().map(|label| {
        if label.contains('+') {
            Item::Union(label.split('+').map(str::to_owned).collect())
        } else {
            Item::Node((*label).into())
        }
    });
    let mut items: Vec<Item> = items.collect();
    items.sort();
    Cell::Items(items)
}

/// Rows whose fingerprint of diseases reads so.
fn reading(case: &Case, text: &str) -> Vec<usize> {
    let cells = case.cells("persons", "disease");
    let reads = |cell: &Cell| {
        let mut own = String::new();
        cell.text(&mut own);
        own == text
    };
    (0..cells.len()).filter(|&row| reads(&cells[row])).collect()
}

fn put(case: &mut Case, random: &mut Random, from: &str, to: Cell) -> Done {
    let row = any(&reading(case, from), random).expect("every kind is published");
    let mut cells = case.cells("persons", "disease");
    cells[row] = to;
    case.set_cells("persons", "disease", cells);
    Done::Seal
}

fn change(case: &mut Case, random: &mut Random, from: &str, to: &[&str]) -> Done {
    put(case, random, from, items(to))
}

/// Nobody of the one has anything of the other.
fn swap(case: &mut Case, random: &mut Random) -> Done {
    let [row, other] = ["flu", "digestive|skin"].map(|text| any(&reading(case, text), random));
    let mut cells = case.cells("persons", "disease");
    cells.swap(row.unwrap(), other.unwrap());
    case.set_cells("persons", "disease", cells);
    Done::Seal
}

/// The leaves that a row's subject has under `respiratory`.
fn respiratory(case: &Case, row: usize) -> Vec<String> {
    let codes = counting(
        &case.table,
        "disease",
        QidConflict::Hull,
        case.subjects()[row],
    );
    let domain = case.domain("disease");
    let mut leaves: Vec<String> = codes.iter().map(|&code| domain.text(code)).collect();
    leaves.retain(|leaf| ["flu", "asthma", "pneumonia"].contains(&leaf.as_str()));
    leaves.sort();
    leaves.dedup();
    leaves
}

/// A leaf that the subject does not have, and none for those that they have.
fn other_leaf(case: &mut Case, random: &mut Random) -> Done {
    let row = any(&reading(case, "respiratory|ulcer"), random).unwrap();
    let own = respiratory(case, row);
    let others = ["flu", "asthma", "pneumonia"];
    let others = others
        .into_iter()
        .filter(|leaf| !own.contains(&(*leaf).into()));
    let Some(other) = any(&others.collect::<Vec<_>>(), random) else {
        return Done::Skip;
    };
    let mut cells = case.cells("persons", "disease");
    cells[row] = items(&[other, "ulcer"]);
    case.set_cells("persons", "disease", cells);
    Done::Seal
}

/// All that the subject has, said exactly: nobody else's fingerprint says it,
/// and nobody of the group has it together with an ulcer.
fn own_leaf(case: &mut Case, random: &mut Random) -> Done {
    let row = any(&reading(case, "respiratory|ulcer"), random).unwrap();
    let mut own = respiratory(case, row);
    own.push("ulcer".into());
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    let mut cells = case.cells("persons", "disease");
    cells[row] = items(&own);
    case.set_cells("persons", "disease", cells);
    Done::Seal
}

/// Somebody of the one kind joins a group, and somebody of the other leaves
/// it for theirs: the first kind has three of twelve there, the second one.
/// It is the group of somebody who asks for as many fingerprints as there are
/// kinds, so that their own terms break too, under either engine.
fn exchange(case: &mut Case, random: &mut Random, (joins, leaves): (&str, &str)) -> Done {
    let mut numbers = case.numbers("persons", "group");
    let asking = (0..numbers.len()).find(|&row| {
        let own = super::base::terms(case, row).own.l;
        own.into_iter().max() > Some(2)
    });
    let into = numbers[asking.expect("somebody asks for it")];
    let joining: Vec<usize> = reading(case, joins)
        .into_iter()
        .filter(|&row| numbers[row] != into)
        .collect();
    let leaving: Vec<usize> = reading(case, leaves)
        .into_iter()
        .filter(|&row| numbers[row] == into && Some(row) != asking)
        .collect();
    let (joining, leaving) = (
        any(&joining, random).unwrap(),
        any(&leaving, random).unwrap(),
    );
    numbers.swap(joining, leaving);
    case.set_numbers("persons", "group", numbers);
    dress(case);
    Done::Seal
}
