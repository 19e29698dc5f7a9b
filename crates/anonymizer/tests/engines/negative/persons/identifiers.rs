//! Who somebody is, and columns that should not be there.

use rand::RngExt;
use sha2::{Digest, Sha256};
use vizard_anonymizer::release::{Cell, Content, Item, PublishedColumn};

use crate::case::{Case, dictionary};
use crate::negative::{Corruption, Done, any, corruption};

const BOTH: &[&str] = &["tables_and_columns", "no_source_identifier"];

pub fn corruptions() -> Vec<Corruption> {
    vec![
        corruption("copy an identifier", BOTH, |case, random| {
            let content = any(&[Content::Exact, Content::Generalized], random).unwrap();
            let name = any(&["patient", "id"], random).unwrap();
            add(case, name, content, |case, row| Cell::Label(key(case, row)))
        }),
        corruption("copy an identifier as a fingerprint", BOTH, |case, _| {
            add(case, "patient", Content::Fingerprint, |case, row| {
                Cell::Items(vec![Item::Node(key(case, row))])
            })
        }),
        corruption("copy the digest of an identifier", BOTH, |case, _| {
            add(case, "token", Content::Exact, |case, row| {
                let digest = Sha256::digest(key(case, row).as_bytes());
                Cell::Label(digest.iter().map(|byte| format!("{byte:02x}")).collect())
            })
        }),
        corruption(
            "put an identifier among the items",
            &["fingerprints_well_formed", "no_source_identifier"],
            |case, random| {
                let row = random.random_range(0..case.rows());
                let mut cells = case.cells("persons", "disease");
                let own = key(case, row);
                if let Cell::Items(items) = &mut cells[row] {
                    items.push(Item::Node(own));
                    items.sort();
                }
                case.set_cells("persons", "disease", cells);
                Done::Seal
            },
        ),
        corruption(
            "put an identifier into a union",
            &["fingerprints_well_formed", "no_source_identifier"],
            |case, random| {
                let row = random.random_range(0..case.rows());
                let mut cells = case.cells("persons", "drug");
                let union = Item::Union(vec![key(case, row), "b".into()]);
                cells[row] = Cell::Items(vec![union]);
                case.set_cells("persons", "drug", cells);
                Done::Seal
            },
        ),
        corruption(
            "put an identifier for a job",
            &["cells_cover_their_source", "no_source_identifier"],
            |case, random| {
                let row = random.random_range(0..case.rows());
                let mut cells = case.cells("persons", "job");
                cells[row] = Cell::Label(key(case, row));
                case.set_cells("persons", "job", cells);
                Done::Seal
            },
        ),
        corruption(
            "publish an insensitive attribute",
            &["tables_and_columns"],
            |case, _| add(case, "ward", Content::Exact, |_, _| Cell::Label("A".into())),
        ),
    ]
}

fn key(case: &Case, row: usize) -> String {
    let keys = case.table.subject_keys();
    keys.get(case.subjects()[row].at()).to_owned()
}

fn add(case: &mut Case, name: &str, content: Content, cell: impl Fn(&Case, usize) -> Cell) -> Done {
    let cells = (0..case.rows()).map(|row| cell(case, row)).collect();
    let column = PublishedColumn {
        name: name.into(),
        content,
        kind: None,
        cells: dictionary(cells),
    };
    case.published_mut("persons").columns.push(column);
    Done::Seal
}
