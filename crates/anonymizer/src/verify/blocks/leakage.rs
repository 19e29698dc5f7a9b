//! Each subject's own terms on listed blocks (the guarantee `max_leakage`):
//! - k / (rows that show the same quasi-identifiers);
//! - l · (largest count) / size of the subject's own block.
//!
//! What is shared across blocks is in `posterior`. Nothing but a subject's own
//! k bounds `linkage`: these tables do not protect identity, and their
//! manifests say so.

use super::super::leakage::{Ratio, Worst};
use super::super::verdict::{Check, Place, Section};
use super::super::view::NONE;
use super::view::{BlockView, QuasiView};

/// How many rows look like each subject's, against their own k.
pub(super) fn identity(view: &QuasiView, worst: &mut Worst) {
    for row in 0..view.rows() {
        if let Some(terms) = view.terms(row) {
            let class = view.alike.class_of_row[row] as usize;
            worst.take(Ratio {
                attained: u128::from(terms.k),
                accepted: u128::from(view.alike.sizes[class]),
                place: Place::Row(row as u64 + 1),
            });
        }
    }
}

/// The largest share in each subject's own block, against their own l.
pub(super) fn values(view: &QuasiView, block: &BlockView, worst: &mut Worst) {
    for row in 0..view.rows() {
        let at = block.members.bucket_of_row[row];
        let Some(terms) = view.terms(row).filter(|_| at != NONE) else {
            continue;
        };
        let most = u128::from(block.blocks.largest_count(at as usize));
        worst.take(Ratio {
            attained: most * u128::from(terms.l[block.index.at()]),
            accepted: u128::from(block.blocks.sizes[at as usize]),
            place: Place::Bucket(u64::from(at) + 1),
        });
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
