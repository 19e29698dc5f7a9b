//! Each subject's own terms on listed blocks (the guarantee `max_leakage`):
//! - k / (rows that show the same quasi-identifiers);
//! - l · (largest count) / size of the subject's own block.
//!
//! What is shared across blocks is in `posterior`. Nothing but a subject's own
//! k bounds `linkage`: these tables do not protect identity, and their
//! manifests say so.

use super::view::{BlockView, QuasiView};
use crate::verify::leakage::Worst;
use crate::verify::verdict::{Check, Place, Section};

/// How many rows show each subject's quasi-identifiers, against their own k.
pub(super) fn identity(view: &QuasiView, worst: &mut Worst) {
    for row in 0..view.rows() {
        if let Some(terms) = view.terms(row) {
            let size = view.alike.sizes[view.alike.class(row)];
            worst.take_k(terms.k, size, Place::Row(row as u64 + 1));
        }
    }
}

/// The largest share in each subject's own block, against their own l.
pub(super) fn values(view: &QuasiView, block: &BlockView, worst: &mut Worst) {
    let classes = block.classes();
    for row in 0..view.rows() {
        let (Some(terms), Some(class)) = (view.terms(row), classes.members.class_of(row)) else {
            continue;
        };
        let own = terms.l[block.index.at()];
        worst.take_l(own, classes.largest(class), classes.place(class));
    }
}

/// The attack `linkage`: 1 / (rows that show the same quasi-identifiers).
pub(super) fn linkage(view: &QuasiView) -> Check {
    let alike = &view.alike;
    let smallest = (0..alike.len()).min_by_key(|&class| alike.sizes[class]);
    let risk = smallest.map(|class| 1.0 / alike.sizes[class].max(1) as f64);
    let place = smallest.and_then(|class| alike.rows(class).first());
    let mean = alike.len() as f64 / view.rows().max(1) as f64;
    Check::new(Section::Attack, "linkage")
        .attaining(risk, place.map(|&row| Place::Row(u64::from(row) + 1)))
        .with_figure("prosecutor_mean", mean)
        .with_figure("marketer", mean)
        .noting("identity is not protected: quasi-identifiers are published as they are")
}
