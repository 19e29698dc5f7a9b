//! What a release keeps of the groups that public releases show, where its series
//! is nested: `cells_kept`, `kept_as_claimed`.
//!
//! Who stays in which group is judged by the series itself, on what all of its
//! releases show (`series`).

use super::evidence::Evidence;
use super::exclusions::left_out;
use super::shape::MICRODATA;
use super::verdict::{Check, Failures, Place, Section};
use super::view::records_of_rows;
use crate::microdata::Role;
use crate::privacy::{Changes, KeptGroups};
use crate::release::{Cells, Kept, cell_text};

/// The checks; none where no groups are kept.
pub(super) fn checks(evidence: &Evidence) -> Vec<Check> {
    let Some(groups) = evidence.requirements.kept_groups() else {
        return Vec::new();
    };
    vec![cells_kept(evidence, groups), as_claimed(evidence)]
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

fn as_claimed(evidence: &Evidence) -> Check {
    let (waiting, companions) = left_out(evidence);
    let expected = Kept {
        waiting,
        companions,
        changes: Changes::Hidden,
        attributes: Vec::new(),
    };
    let mut failures = Failures::none();
    if evidence.manifest.kept != Some(expected.published()) {
        failures.add("`kept` is not what follows from the tables");
    }
    Check::structure("kept_as_claimed", &failures)
}
