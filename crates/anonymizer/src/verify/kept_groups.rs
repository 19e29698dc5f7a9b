//! What a release keeps of the groups that public releases show, where its series
//! is nested: `cells_kept` or, where it joins these groups, `groups_joined`;
//! `kept_as_claimed`.
//!
//! Who stays in which group is judged by the series itself, on what all of its
//! releases show (`series`).

use rustc_hash::FxHashMap;

use super::evidence::Evidence;
use super::exclusions::left_out;
use super::meaning::numbers;
use super::shape::MICRODATA;
use super::verdict::{Check, Failures, Place, Section};
use super::view::records_of_rows;
use crate::microdata::Role;
use crate::privacy::{Changes, KeptGroups};
use crate::release::{Cells, Content, Kept, cell_text};

/// The checks; none where no groups are kept.
pub(super) fn checks(evidence: &Evidence) -> Vec<Check> {
    let Some(groups) = evidence.requirements.kept_groups() else {
        return Vec::new();
    };
    let as_shown = if groups.joins {
        groups_joined(evidence, groups)
    } else {
        cells_kept(evidence, groups)
    };
    vec![as_shown, as_claimed(evidence, groups)]
}

/// Every group is made of whole groups that public releases show, of subjects who
/// are as they were shown.
fn groups_joined(evidence: &Evidence, groups: &KeptGroups) -> Check {
    let group = evidence.published(MICRODATA).and_then(|table| {
        let mut columns = table.columns.iter();
        let column = columns.find(|column| column.content == Content::Group)?;
        numbers(column)
    });
    let Some(group) = group else {
        return Check::not_examined(Section::Structure, "groups_joined")
            .noting("there is no column of groups");
    };
    let records = records_of_rows(evidence, group.len());
    let mut failures = Failures::none();
    let mut of_class: FxHashMap<usize, (u64, usize)> = FxHashMap::default();
    for (row, (&record, &group)) in records.iter().zip(group).enumerate() {
        let class = groups.class(record);
        let is_same = groups.is_same.get(record as usize).copied();
        let Some(class) = class.filter(|_| is_same.unwrap_or(false)) else {
            failures.add_at(MICRODATA, Place::Row(row as u64 + 1));
            continue;
        };
        let (first, members) = of_class.entry(class).or_insert((group, 0));
        *members += 1;
        if *first != group {
            failures.add_at(MICRODATA, Place::Row(row as u64 + 1));
        }
    }
    for (class, kept) in groups.classes.iter().enumerate() {
        let there = of_class.get(&class).map(|&(_, members)| members);
        if there.is_some_and(|there| !kept.is_whole || there != kept.members.len()) {
            failures.add("part of a public group is published");
        }
    }
    Check::structure("groups_joined", &failures)
}

/// The quasi-identifiers of subjects who were public show the cells that the last
/// release showed of them, and nothing finer.
fn cells_kept(evidence: &Evidence, groups: &KeptGroups) -> Check {
    let Some(table) = evidence.published(MICRODATA) else {
        return Check::not_examined(Section::Structure, "cells_kept")
            .noting("there is no table of rows");
    };
    let records = records_of_rows(evidence, table.rows());
    let schema = evidence.table.schema();
    let quasi = schema.select(|attribute| attribute.role == Role::QuasiIdentifier);
    let mut failures = Failures::none();
    for (at, index) in quasi.into_iter().enumerate() {
        let name = &schema.attribute(index).name;
        let column = table.column(name).map(|column| &column.cells);
        let Some(Cells::Dictionary { codes, cells }) = column else {
            failures.add("a column of a quasi-identifier cannot be read");
            continue;
        };
        let texts: Vec<String> = cells.iter().map(cell_text).collect();
        for (row, &record) in records.iter().enumerate() {
            let Some(class) = groups.class(record) else {
                continue;
            };
            let kept = groups.classes[class].cells.get(at);
            let kept = kept.and_then(|&cell| groups.cells[at].get(cell as usize));
            if kept != texts.get(codes.at(row) as usize) {
                failures.add_at(name, Place::Row(row as u64 + 1));
            }
        }
    }
    Check::structure("cells_kept", &failures)
}

fn as_claimed(evidence: &Evidence, groups: &KeptGroups) -> Check {
    let (waiting, companions) = left_out(evidence);
    let expected = Kept {
        waiting,
        companions,
        changes: Changes::Hidden,
        joins_groups: groups.joins,
        attributes: Vec::new(),
    };
    let mut failures = Failures::none();
    if evidence.manifest.kept != Some(expected.published()) {
        failures.add("`kept` is not what follows from the tables");
    }
    Check::structure("kept_as_claimed", &failures)
}
