//! The journalist's risk of a release: how likely its row is matched to one of
//! those among whom its people could be.
//!
//! The adversary has a population table and picks a row; of the people who fit its
//! published cells one is right. The risk of a record is 1 / people who fit, and
//! never less is counted as fitting than the class has records: somebody of each
//! of them is in the population, whatever its table says. A class's people are
//! counted exactly, by the attributes that rows and table both show; one that rows
//! do not show widens the choice, so the risk is what the *table* lets find.

use serde::Serialize;

use super::evidence::Evidence;
use super::report::{Audience, Description};
use crate::microdata::PopulationTable;
use crate::release::{Cell, JoinedAttribute, JoinedTable, ShownAttribute, Signatures, fitting};

/// What this measure is.
pub(super) const DESCRIPTION: Description = Description {
    title: "Journalist's risk",
    audience: Audience::Steward,
    definition: "Against the dataset's population table: 1 / max(people of the table who fit the cells of a record's class, records of the class), its maximum and mean over records; a class shows the same quasi-identifiers. A masked cell, and one whose value is in a bucket, fits everybody. k_map: the least such maximum. not_covered: records of classes that fewer people fit than they have records. null where no row shows an attribute of the table, or the schema has lost one.",
    source: "El Emam & Dankar 2008, Protecting privacy using k-anonymity; k-map: Sweeney 2001",
};

/// The journalist's risk of a release.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JournalistRisk {
    /// Largest probability of finding a record's person.
    pub max: f64,
    /// The same as a mean over records.
    pub mean: f64,
    /// People of the smallest class that records are in.
    pub k_map: u64,
    /// Records of classes that fewer people of the table fit than they have
    /// records: the table does not hold everybody.
    pub not_covered: u64,
    /// The attributes that rows and table both show.
    pub attributes: Vec<String>,
    /// People of the table.
    pub people: u64,
    /// SHA-256 of the table's canonical text.
    pub sha256: String,
}

/// Rows by what they show, and what each class of them does.
pub(super) struct ShownClasses<'a> {
    /// Rows of each class.
    pub sizes: &'a [u32],
    attributes: Vec<ShownAttribute<'a>>,
}

impl<'a> ShownClasses<'a> {
    /// Classes of these sizes that show nothing yet.
    pub fn new(sizes: &'a [u32]) -> Self {
        Self {
            sizes,
            attributes: Vec::new(),
        }
    }

    /// Classes of rows that differ in nothing that is known of them.
    pub fn of_rows(
        evidence: &Evidence<'a>,
        (joined, classes): (&'a JoinedTable<'a>, &'a Signatures),
        is_known: impl Fn(&JoinedAttribute<'_>) -> bool,
    ) -> Self {
        let mut shown = Self::new(classes.sizes());
        if evidence.population_table.is_none() {
            return shown;
        }
        let mut first = vec![None; classes.len()];
        for (row, &class) in classes.class_of().iter().enumerate() {
            first[class as usize].get_or_insert(row);
        }
        let known = joined.attributes().iter().filter(|one| is_known(one));
        for attribute in known {
            let of_class = first.iter().flatten();
            let of_class = of_class.map(|&row| attribute.codes.at(row)).collect();
            shown.add(evidence, (attribute.name, attribute.cells), of_class);
        }
        shown
    }

    /// Adds an attribute that rows of a class show alike, where the population
    /// table has it.
    pub fn add(
        &mut self,
        evidence: &Evidence<'a>,
        (name, cells): (&'a str, &'a [Cell]),
        of_class: Vec<u32>,
    ) {
        let (Some(population), table) = (evidence.population_table, evidence.table) else {
            return;
        };
        let is_there = population.attributes().iter().any(|one| one.name == name);
        let Some(index) = table.schema().find(name).filter(|_| is_there) else {
            return;
        };
        let domain = table.coded(index).map(|column| &column.domain);
        self.attributes.push(ShownAttribute {
            name,
            cells,
            of_class,
            hierarchy: domain
                .and_then(|domain| domain.hierarchy())
                .map(|tree| &**tree),
            forms: table.schema().attribute(index).forms(),
        });
    }
}

/// What is counted of classes, portion by portion.
#[derive(Debug)]
pub(super) struct JournalistSums {
    k_map: u64,
    not_covered: u64,
    records: u64,
    /// Sum over records of the risk.
    risk: f64,
    /// Names of the attributes that rows and table both show.
    attributes: Vec<String>,
}

impl JournalistSums {
    /// No classes yet.
    pub(super) fn new() -> Self {
        Self {
            k_map: u64::MAX,
            not_covered: 0,
            records: 0,
            risk: 0.0,
            attributes: Vec::new(),
        }
    }

    /// Adds classes; nothing without a population table, or with one with which
    /// nothing can be compared.
    pub(super) fn add(&mut self, evidence: &Evidence<'_>, rows: &ShownClasses<'_>) {
        let Some(table) = evidence.population_table else {
            return;
        };
        let is_stale = !table.unfit(evidence.table.schema()).is_empty();
        if is_stale || rows.attributes.is_empty() {
            return;
        }
        let fit = fitting(table, rows.sizes.len(), &rows.attributes, evidence.cancel);
        for (&size, &people) in rows.sizes.iter().zip(&fit) {
            let size = u64::from(size);
            let among = people.max(size);
            self.k_map = self.k_map.min(among);
            self.records += size;
            self.not_covered += if people < size { size } else { 0 };
            self.risk += size as f64 / among as f64;
        }
        let is_shown = |name: &str| rows.attributes.iter().any(|shown| shown.name == name);
        let shown = table.attributes().iter().filter(|one| is_shown(&one.name));
        self.attributes = shown.map(|one| one.name.clone()).collect();
    }

    /// The risk of all classes; nothing where none could be compared.
    pub(super) fn finish(self, table: &PopulationTable) -> Option<JournalistRisk> {
        (self.records > 0).then(|| JournalistRisk {
            max: 1.0 / self.k_map as f64,
            mean: self.risk / self.records as f64,
            k_map: self.k_map,
            not_covered: self.not_covered,
            attributes: self.attributes,
            people: table.people(),
            sha256: table.sha256().to_owned(),
        })
    }
}
