//! Releases of persons that cover their source and promise nothing: groups of
//! any size, cuts of the trees drawn anew for every cell, neighbours joined
//! anywhere, subjects left out.

use rand::seq::SliceRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use serde_json::json;
use vizard_anonymizer::microdata::{
    AttributeType, Code, Domain, Hierarchy, NodeIndex, Preference, RecordIndex, Role, SubjectIndex,
    Table,
};
use vizard_anonymizer::privacy::{CancelFlag, K, L, Model, Policy, QidConflict, Requirements};
use vizard_anonymizer::release::{
    Cell, Cells, Content, Item, Lineage, Manifest, PublishedColumn, PublishedTable, TableLineage,
};
use vizard_anonymizer::utility::Evidence;

use super::cells::{column, covering, dictionary};
use super::loose::manifest;
use crate::tables::table;

const AREAS: &str = "a1;a;all\na2;a;all\na3;a;all\nb1;b;all\nb2;b;all\nc1;c;all\n";
const ILLS: &str = "flu;lung;chest;*\ncold;lung;chest;*\nangina;heart;chest;*\nulcer;gut;*;*\nreflux;gut;*;*\nmigraine;head;*;*\n";
const DAYS: &str = r#"{"intervals": {"origin": 0, "width": 5, "fanouts": [2, 2]}}"#;
pub const SENSITIVE: [&str; 4] = ["ill", "days", "drug", "cost"];

/// A release beside its source.
pub struct LoosePersons {
    pub table: Table,
    pub requirements: Requirements,
    manifest: Manifest,
    pub tables: Vec<PublishedTable>,
    pub lineage: Lineage,
}

impl LoosePersons {
    pub fn new(seed: u64, subjects: usize) -> Self {
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        let table = read(&records(subjects, &mut rng));
        let requirements = requirements(&table);
        let (persons, lineage) = publish(&table, &mut rng);
        Self {
            manifest: manifest(persons.rows() as u64),
            tables: vec![persons],
            table,
            requirements,
            lineage,
        }
    }

    /// The same release of a table with one subject more, who was left out.
    pub fn with_another_left_out(seed: u64, subjects: usize) -> Self {
        let mut loose = Self::new(seed, subjects);
        let mut text = records(subjects, &mut ChaCha12Rng::seed_from_u64(seed));
        text += "late,400,2024-01-01,c1,Tromsø,1,migraine,97,z,900\n";
        loose.table = read(&text);
        loose.requirements = requirements(&loose.table);
        loose
    }

    pub fn evidence(&self) -> Evidence<'_> {
        Evidence {
            table: &self.table,
            requirements: &self.requirements,
            manifest: &self.manifest,
            tables: &self.tables,
            lineage: &self.lineage,
            population_table: None,
            cancel: CancelFlag::never(),
        }
    }
}

fn read(records: &str) -> Table {
    let schema = json!({"name": "visits", "subject_key": "id", "multiplicity": "many", "attributes": [
        {"name": "id", "role": "identifier"},
        {"name": "age", "role": "quasi_identifier", "type": "integer"},
        {"name": "born", "role": "quasi_identifier", "type": "date"},
        {"name": "area", "role": "quasi_identifier", "type": "categorical", "hierarchy": "area"},
        {"name": "town", "role": "quasi_identifier", "type": "categorical"},
        {"name": "ward", "role": "insensitive", "type": "integer"},
        {"name": "ill", "role": "sensitive", "type": "categorical", "hierarchy": "ill"},
        {"name": "days", "role": "sensitive", "type": "integer", "hierarchy": "days"},
        {"name": "drug", "role": "sensitive", "type": "categorical"},
        {"name": "cost", "role": "sensitive", "type": "integer"}]});
    let hierarchies = [("area", AREAS), ("ill", ILLS), ("days", DAYS)];
    table(schema, &hierarchies, records)
}

/// One to four records a subject, whose subjects are mixed.
fn records(subjects: usize, rng: &mut impl Rng) -> String {
    let mut lines = Vec::new();
    for subject in 0..subjects {
        let age = rng.random_range(20..26);
        for _ in 0..rng.random_range(1..5) {
            let mut pick = |all: &[&'static str]| all[rng.random_range(0..all.len())];
            let area = pick(&["a1", "a2", "a3", "b1", "b2", "c1"]);
            let town = pick(&["Bergen", "Hamar", "Oslo"]);
            let ill = pick(&["flu", "cold", "angina", "ulcer", "reflux", "migraine"]);
            let (drug, born) = (
                pick(&["x", "y", "z|", "{w"]),
                pick(&["1970-01-01", "1980-02-03"]),
            );
            let (days, cost) = (rng.random_range(0..35), rng.random_range(0..6) * 100);
            let line =
                format!("p{subject},{age},{born},{area},{town},1,{ill},{days},{drug},{cost}\n");
            lines.push(line);
        }
    }
    lines.shuffle(rng);
    format!(
        "id,age,born,area,town,ward,ill,days,drug,cost\n{}",
        lines.concat()
    )
}

fn requirements(table: &Table) -> Requirements {
    let l = L::new(2).expect("l is at least 1");
    let protectable = table.schema().protectable().into_iter();
    let policy = Policy {
        model: Model::Fingerprints {
            k_group: K::NONE,
            value_l: L::new(1).expect("l is at least 1"),
            qid_conflict: QidConflict::Hull,
            l: protectable.map(|attribute| (attribute, l)).collect(),
        },
        k: K::NONE,
        apply_preferences: true,
    };
    let asked: Vec<Preference> = serde_json::from_value(json!([
        {"subject": "p1", "max_leakage": 0.2}, {"subject": "p3", "max_leakage": {"cost": 0.34}}]))
    .expect("the preferences are sound");
    Requirements::new(table, policy, &asked)
}

fn publish(table: &Table, rng: &mut impl Rng) -> (PublishedTable, Lineage) {
    let mut subjects: Vec<u32> = (0..table.subjects() as u32).collect();
    subjects.shuffle(rng);
    let kept = rng.random_range(subjects.len().div_ceil(2)..=subjects.len());
    subjects.truncate(kept);
    let group_count = rng.random_range(1..=kept.div_ceil(2));
    let groups: Vec<usize> = (0..kept)
        .map(|_| rng.random_range(0..group_count))
        .collect();
    let numbers = groups.iter().map(|&group| group as u64 + 1).collect();
    let mut columns = vec![column(
        "group",
        Content::Group,
        None,
        Cells::Numbers(numbers),
    )];
    for (at, attribute) in table.schema().attributes().iter().enumerate() {
        let index = vizard_anonymizer::microdata::AttributeIndex(at as u16);
        let Some(original) = table.coded(index) else {
            continue;
        };
        let codes = |subject: u32| -> Vec<u32> {
            let records = (0..table.records()).map(|at| RecordIndex(at as u32));
            let own = records.filter(|&record| table.subject_of(record).0 == subject);
            own.map(|record| original.code(record).0).collect()
        };
        columns.extend(match attribute.role {
            Role::QuasiIdentifier => {
                let of_group: Vec<Cell> = (0..group_count)
                    .map(|group| {
                        let members = (0..kept).filter(|&row| groups[row] == group);
                        let codes: Vec<u32> =
                            members.flat_map(|row| codes(subjects[row])).collect();
                        if codes.is_empty() || rng.random_ratio(1, 8) {
                            Cell::Masked
                        } else {
                            covering(&original.domain, codes)
                        }
                    })
                    .collect();
                let cells = dictionary(groups.iter().map(|&group| of_group[group].clone()));
                Some(column(
                    &attribute.name,
                    Content::Generalized,
                    attribute.kind,
                    cells,
                ))
            }
            Role::Sensitive => {
                let cells = subjects
                    .iter()
                    .map(|&subject| fingerprint(&original.domain, &codes(subject), rng));
                Some(fingerprints(&attribute.name, dictionary(cells)))
            }
            _ => None,
        });
    }
    let lineage = TableLineage {
        table: "persons".into(),
        subjects: subjects.into_iter().map(SubjectIndex).collect(),
    };
    let persons = PublishedTable {
        name: "persons".into(),
        columns,
    };
    (
        persons,
        Lineage {
            tables: vec![lineage],
        },
    )
}

fn fingerprints(name: &str, cells: Cells) -> PublishedColumn {
    column(
        name,
        Content::Fingerprint,
        Some(AttributeType::Categorical),
        cells,
    )
}

/// A fingerprint that covers these values, and nothing that none of them is under.
fn fingerprint(domain: &Domain, codes: &[u32], rng: &mut impl Rng) -> Cell {
    // An item with the codes under it.
    let mut items: Vec<(Item, Vec<u32>)> = Vec::new();
    match domain.hierarchy() {
        Some(tree) => cut(tree, NodeIndex::ROOT, rng, &mut items),
        None if rng.random_ratio(1, 4) => return Cell::Masked,
        None => {
            let values = (0..domain.len() as u32).map(|code| (domain.text(Code(code)), vec![code]));
            items = joined(values.collect(), rng);
        }
    }
    items.retain(|(_, under)| under.iter().any(|code| codes.contains(code)));
    let mut items: Vec<Item> = items.into_iter().map(|(item, _)| item).collect();
    items.sort_unstable();
    match items.as_slice() {
        [Item::Node(root)] if root == "*" => Cell::Masked,
        _ => Cell::Items(items),
    }
}

/// Cuts the tree below a node at random.
fn cut(tree: &Hierarchy, index: NodeIndex, rng: &mut impl Rng, items: &mut Vec<(Item, Vec<u32>)>) {
    let node = tree.node(index);
    let under = (node.first_leaf.0..=node.last_leaf().0).collect();
    if node.children.is_empty() || rng.random_ratio(1, 4) {
        return items.push((Item::Node(node.label.clone()), under));
    }
    let children = node.children.iter().map(|&child| {
        let child = tree.node(child);
        (
            child.label.clone(),
            (child.first_leaf.0..=child.last_leaf().0).collect(),
        )
    });
    for (item, under) in joined(children.collect(), rng) {
        match &item {
            Item::Node(label) => cut(tree, tree.find(label).expect("a child"), rng, items),
            Item::Union(_) => items.push((item, under)),
        }
    }
}

/// Joins neighbours at random.
fn joined(nodes: Vec<(String, Vec<u32>)>, rng: &mut impl Rng) -> Vec<(Item, Vec<u32>)> {
    let mut runs: Vec<(Vec<String>, Vec<u32>)> = Vec::new();
    for (label, under) in nodes {
        match runs.last_mut() {
            Some((labels, all)) if rng.random_ratio(1, 4) => {
                labels.push(label);
                all.extend(under);
            }
            _ => runs.push((vec![label], under)),
        }
    }
    let item = |(mut labels, under): (Vec<String>, Vec<u32>)| {
        labels.sort_unstable();
        match labels.len() {
            1 => (Item::Node(labels.remove(0)), under),
            _ => (Item::Union(labels), under),
        }
    };
    runs.into_iter().map(item).collect()
}
