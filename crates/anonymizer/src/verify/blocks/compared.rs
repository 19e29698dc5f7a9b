//! The attack `equal_vectors` on the forms of blocks.
//!
//! Bounded where values are published by the block (listed, generalized):
//! there no value has more than 1 in l of it. Rows that show kept values, or
//! windows of a ring, claim something else, and the figure alone is given.

use crate::microdata::Role;
use crate::privacy::{BlockForm, ProtectedIndex};

use super::super::attack::{Homes, Standing, equal_vectors};
use super::super::buckets::Buckets;
use super::super::verdict::Check;
use super::super::view::{AttributeView, NONE, View};
use super::rows::Ways;
use super::view::{BlockView, QuasiView};

/// Of listed blocks: rows that show the same quasi-identifiers.
pub(super) fn of_blocks(view: &QuasiView, block: &BlockView, homes: &Homes) -> Check {
    let own = view.records.iter().map(|&record| match record {
        NONE => NONE,
        record => block.source.at(record as usize),
    });
    let own: Vec<u32> = own.collect();
    let l =
        (0..view.rows()).map(|row| view.terms(row).map_or(1, |terms| terms.l[block.index.at()]));
    let l: Vec<u32> = l.collect();
    let standing = Standing {
        vector: &view.alike.class_of_row,
        own: &own,
        class: &block.members.bucket_of_row,
        l: &l,
        home: homes.of(block.index),
        shown: &|class, to| add_contents(&block.blocks, class, to),
        codes: block.domain.len(),
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
    let classes = if is_alike { &ways.looks } else { &ways.groups };
    let shown = |row: u32| attribute.cells.meaning(row as usize).single();
    let contents = Buckets::of_classes(attribute.domain.len(), classes, shown);
    let own = view.own(attribute);
    let l = (0..view.rows()).map(|row| view.terms(row).map_or(1, |terms| terms.l[index.at()]));
    let l: Vec<u32> = l.collect();
    let standing = Standing {
        vector: &view.known(|attribute| attribute.role == Role::QuasiIdentifier),
        own: &own,
        class: &classes.class_of_row,
        l: &l,
        home: homes.of(index),
        shown: &|class, to| add_contents(&contents, class, to),
        codes: attribute.domain.len(),
    };
    equal_vectors(attribute.name, &standing, is_alike)
}

fn add_contents(buckets: &Buckets, class: u32, to: &mut Vec<u32>) {
    let contents = buckets.contents(class as usize).iter();
    to.extend(contents.map(|&(code, _)| code));
}
