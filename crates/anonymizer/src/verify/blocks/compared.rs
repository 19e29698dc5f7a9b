//! The attack `equal_vectors` on the forms of blocks.
//!
//! Bounded where values are published by the block (listed, generalized):
//! there no value has more than 1 in l of it. Rows that show kept values, or
//! windows of a ring, claim something else, and the figure alone is given.

use crate::microdata::Role;
use crate::privacy::{BlockForm, ProtectedIndex};

use super::rows::Ways;
use super::view::{BlockView, QuasiView};
use crate::verify::attack::{Homes, Standing, equal_vectors};
use crate::verify::classes::{Classes, Counts, Numbering};
use crate::verify::verdict::Check;
use crate::verify::view::{AttributeView, NONE, View};

/// Of listed blocks: rows that show the same quasi-identifiers.
pub(super) fn of_blocks(view: &QuasiView, block: &BlockView, homes: &Homes) -> Check {
    let own = view.records.iter().map(|&record| match record {
        NONE => NONE,
        record => block.source.at(record as usize),
    });
    let own: Vec<u32> = own.collect();
    let l = |row: usize| view.terms(row).map_or(1, |terms| terms.l[block.index.at()]);
    let l: Vec<u32> = (0..view.rows()).map(l).collect();
    let standing = Standing {
        l: Some(&l),
        home: homes.of(block.index),
        ..Standing::of(block.classes(), view.alike.of_rows(), &own)
    };
    equal_vectors(block.name, &standing, true)
}

/// Of rows that show values: people with the same quasi-identifiers in the
/// source.
pub(super) fn of_rows(
    view: &View,
    ways: &Ways,
    (form, homes): (BlockForm, &Homes),
    (index, attribute): (ProtectedIndex, &AttributeView),
) -> Check {
    let is_alike = form == BlockForm::Generalized;
    let members = if is_alike { &ways.alike } else { &ways.groups };
    let shown = |row: u32| attribute.cells.meaning(row as usize).single();
    let counts = Counts::of_rows(attribute.domain.len(), &members.members, shown);
    let classes = Classes {
        index,
        name: attribute.name,
        domain: attribute.domain,
        members: &members.members,
        counts: &counts,
        numbering: Numbering::Groups(view.group),
        of_all: None,
    };
    let own = view.own(attribute);
    let l = view.asked_l(index);
    let vector = view.known(|attribute| attribute.role == Role::QuasiIdentifier);
    let standing = Standing {
        l: Some(&l),
        home: homes.of(index),
        ..Standing::of(classes, &vector, &own)
    };
    equal_vectors(attribute.name, &standing, is_alike)
}
