//! The attack `equal_vectors` on buckets: people with the same
//! quasi-identifiers in different buckets, beside the values of these.
//!
//! Bounded where l-diversity is claimed: values stand in an order of their
//! own, so that one who is known to be in a bucket may have any of it.

use crate::microdata::{AttributeIndex, refine_by_code};
use crate::privacy::{InBucket, ProtectedIndex};

use super::view::SlicedView;
use crate::verify::attack;
use crate::verify::classes::{Classes, Counts, Numbering};
use crate::verify::verdict::Check;
use crate::verify::view::NONE;

/// The entry of one sensitive attribute; `None` where it is not shown.
pub(super) fn equal_vectors(
    view: &SlicedView,
    index: ProtectedIndex,
    (attribute, protection): (AttributeIndex, InBucket),
    home: Option<&[u32]>,
) -> Option<Check> {
    let mut exact = view.exact.iter();
    let shown = exact.find(|appearance| appearance.attribute == attribute)?;
    let own = view.record_of_row.iter().map(|&record| match record {
        NONE => NONE,
        record => shown.source.at(record as usize),
    });
    let own: Vec<u32> = own.collect();
    let l = (0..view.rows()).map(|row| view.terms(row).map_or(1, |terms| terms.l[index.at()]));
    let l: Vec<u32> = l.collect();
    let codes = shown.domain.len();
    let counts = Counts::of_rows(codes, &view.buckets.members, |row| {
        let code = shown.codes[row as usize];
        ((code as usize) < codes).then_some(code)
    });
    let vector = known(view);
    let classes = Classes {
        index,
        name: shown.name,
        domain: shown.domain,
        members: &view.buckets.members,
        counts: &counts,
        numbering: Numbering::Groups(view.number),
        of_all: None,
    };
    let standing = attack::Standing {
        l: Some(&l),
        home,
        ..attack::Standing::of(classes, &vector, &own)
    };
    let is_bounded = matches!(protection, InBucket::Diversity { .. });
    Some(attack::equal_vectors(shown.name, &standing, is_bounded))
}

/// Numbers the rows by the quasi-identifiers of their records.
fn known(view: &SlicedView) -> Vec<u32> {
    let is_known = |attribute| !view.is_protected(attribute);
    let mut vector = vec![0_u32; view.rows()];
    for appearance in view.generalized.iter().chain(&view.exact) {
        if is_known(appearance.attribute) {
            refine_by_code(&mut vector, |row| match view.record_of_row[row] {
                NONE => 0,
                record => appearance.source.at(record as usize) + 1,
            });
        }
    }
    for (vector, &record) in vector.iter_mut().zip(&view.record_of_row) {
        if record == NONE {
            *vector = NONE;
        }
    }
    vector
}
