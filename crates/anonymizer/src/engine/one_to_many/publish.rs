//! The table `persons` (releases.md): one row a subject, a group, its
//! generalized quasi-identifiers, and per sensitive attribute the generalized
//! fingerprint.
//!
//! Numbers and rows stand as the engine has them: the order of what is
//! published is the release's.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::engine::kernel::cells::{interval_cell, number_cell, set_cell};
use crate::engine::kernel::covers::known_ends;
use crate::microdata::{AttributeIndex, AttributeType, Code, Values};
use crate::release::layout::PERSONS;
use crate::release::{Cell, Cells, Content, Item, Lineage, PublishedColumn, PublishedTable};

use super::persons::{Persons, Quasi};
use super::trees::{Label, Trees};

/// Persons in groups, each with a published fingerprint.
pub(super) struct Layout<'a> {
    pub persons: &'a Persons<'a>,
    pub trees: &'a Trees,
    /// Persons of each group.
    pub groups: &'a [&'a [u32]],
    /// Position in `fingerprints` of each person.
    pub fingerprint_of: &'a [u32],
    /// Distinct published fingerprints: nodes, none above another.
    pub fingerprints: &'a [Vec<u32>],
}

impl Layout<'_> {
    /// The table and its lineage.
    pub fn publish(&self) -> (PublishedTable, Lineage) {
        let rows: Vec<(u32, u32)> = (0..)
            .zip(self.groups)
            .flat_map(|(group, persons)| persons.iter().map(move |&person| (person, group)))
            .collect();
        let groups = rows.iter().map(|&(_, group)| u64::from(group) + 1);
        let mut columns = vec![PublishedColumn::of_numbers(Content::Group, groups)];
        let quasi = self.persons.quasi.par_iter();
        let quasi = quasi.map(|quasi| (quasi.attribute, self.quasi_column(quasi, &rows)));
        let trees = self.trees.attributes().par_iter().enumerate();
        let fingerprints =
            trees.map(|(number, &attribute)| (attribute, self.fingerprint_column(number, &rows)));
        // Fingerprints take longest.
        let mut others: Vec<(AttributeIndex, PublishedColumn)> =
            fingerprints.chain(quasi).collect();
        others.sort_by_key(|(attribute, _)| *attribute);
        columns.extend(others.into_iter().map(|(_, column)| column));
        let subjects = rows.iter();
        let subjects = subjects.map(|&(person, _)| self.persons.subjects[person as usize]);
        let lineage = Lineage::of_table(PERSONS, subjects);
        let table = PublishedTable {
            name: PERSONS.into(),
            columns,
        };
        (table, lineage)
    }

    fn name(&self, attribute: AttributeIndex) -> String {
        let schema = self.persons.table.schema();
        schema.attribute(attribute).name.clone()
    }

    fn quasi_column(&self, quasi: &Quasi<'_>, rows: &[(u32, u32)]) -> PublishedColumn {
        let mut dictionary = Dictionary::default();
        let of_group: Vec<u32> = self
            .groups
            .iter()
            .map(|persons| {
                let cover = cover(quasi, persons);
                dictionary.position(cover, |cover| cell(quasi, cover))
            })
            .collect();
        let codes = rows.iter().map(|&(_, group)| of_group[group as usize]);
        PublishedColumn {
            name: self.name(quasi.attribute),
            content: Content::Generalized,
            kind: Some(quasi.column.domain.kind()),
            cells: Cells::Dictionary {
                codes: codes.collect(),
                cells: dictionary.cells,
            },
        }
    }

    fn fingerprint_column(&self, number: usize, rows: &[(u32, u32)]) -> PublishedColumn {
        let mut dictionary = Dictionary::default();
        let positions: Vec<u32> = self
            .fingerprints
            .iter()
            .map(|nodes| {
                let nodes = nodes.iter().copied();
                let own: Vec<u32> = nodes
                    .filter(|&node| self.trees.node(node).tree as usize == number)
                    .collect();
                dictionary.position(own, |nodes| self.items_cell(nodes))
            })
            .collect();
        let codes = rows
            .iter()
            .map(|&(person, _)| positions[self.fingerprint_of[person as usize] as usize]);
        PublishedColumn {
            name: self.name(self.trees.attributes()[number]),
            content: Content::Fingerprint,
            kind: Some(AttributeType::Categorical),
            cells: Cells::Dictionary {
                codes: codes.collect(),
                cells: dictionary.cells,
            },
        }
    }

    fn items_cell(&self, nodes: &[u32]) -> Cell {
        let items = nodes.iter().map(|&node| match self.trees.label(node) {
            Label::Any => None,
            Label::One(label) => Some(Item::Node(label)),
            Label::Union(labels) => Some(Item::Union(labels)),
        });
        match items.collect::<Option<Vec<Item>>>() {
            Some(mut items) => {
                items.sort_unstable();
                Cell::Items(items)
            }
            // The root stands alone: no node of its tree lies beside it.
            None => Cell::Masked,
        }
    }
}

/// The cells of a group's quasi-identifiers as one text: equal for groups of one
/// equivalence class.
pub(super) fn quasi_cells(persons: &Persons<'_>, group: &[u32]) -> String {
    let mut text = String::new();
    for quasi in &persons.quasi {
        cell(quasi, &cover(quasi, group)).text(&mut text);
        text.push('\0');
    }
    text
}

/// Codes that a group covers: two ends, or every code included.
#[derive(PartialEq, Eq, Hash, Clone)]
enum Covered {
    Span(u32, u32),
    Codes(Vec<u32>),
    /// Ends of the numbers, and whether the missing value is among them.
    Numbers(Option<(u32, u32)>, bool),
}

fn cover(quasi: &Quasi<'_>, persons: &[u32]) -> Covered {
    let people = || persons.iter().map(|&person| person as usize);
    let domain = &quasi.column.domain;
    match domain.values() {
        Values::Category(_) if domain.hierarchy().is_none() => {
            let mut codes: Vec<u32> = people().map(|person| quasi.low[person]).collect();
            for person in persons {
                codes.extend(quasi.sets.get(person).into_iter().flatten());
            }
            codes.sort_unstable();
            codes.dedup();
            Covered::Codes(codes)
        }
        _ if let Some(Code(missing)) = domain.missing_number() => {
            let own = people().flat_map(|person| [quasi.low[person], quasi.high[person]]);
            let more = persons.iter().filter_map(|person| quasi.sets.get(person));
            let (known, is_missing) = known_ends(own.chain(more.flatten().copied()), missing);
            Covered::Numbers(known, is_missing)
        }
        _ => {
            let low = people().map(|person| quasi.low[person]).min();
            let high = people().map(|person| quasi.high[person]).max();
            Covered::Span(low.unwrap_or(0), high.unwrap_or(0))
        }
    }
}

fn cell(quasi: &Quasi<'_>, cover: &Covered) -> Cell {
    let domain = &quasi.column.domain;
    match (cover, domain.values()) {
        (Covered::Codes(codes), Values::Category(values)) => set_cell(values, codes),
        (Covered::Span(low, high), _) => interval_cell(domain, *low, *high),
        (Covered::Numbers(known, is_missing), _) => number_cell(domain, *known, *is_missing),
        (Covered::Codes(_), _) => Cell::Masked,
    }
}

/// Distinct cells of one column.
struct Dictionary<K> {
    cells: Vec<Cell>,
    positions: FxHashMap<K, u32>,
}

impl<K> Default for Dictionary<K> {
    fn default() -> Self {
        Self {
            cells: Vec::new(),
            positions: FxHashMap::default(),
        }
    }
}

impl<K: std::hash::Hash + Eq + Clone> Dictionary<K> {
    fn position(&mut self, key: K, cell: impl FnOnce(&K) -> Cell) -> u32 {
        match self.positions.get(&key) {
            Some(&position) => position,
            None => {
                let position = self.cells.len() as u32;
                self.cells.push(cell(&key));
                self.positions.insert(key, position);
                position
            }
        }
    }
}
