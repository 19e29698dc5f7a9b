//! The guarantees of listed blocks: `l_diversity`, where the engine promises it
//! with no value twice in a block, and `min_spread`; and the attacks on their
//! contents, which nothing bounds beyond what l-diversity does.

use super::floor;
use super::view::{BlockView, QuasiView};
use crate::verify::attack::{homogeneity, similarity};
use crate::verify::diversity::{self, Asked, Repeats};
use crate::verify::verdict::Check;

/// The guarantee `l_diversity` of one attribute.
pub(super) fn l_diversity(view: &QuasiView, block: &BlockView, repeats: Repeats) -> Check {
    let asked = Asked {
        requirements: view.requirements,
        l: floor(view.requirements, block.index),
        repeats,
        of_row: &|row| Some(view.terms(row)?.l[block.index.at()]),
    };
    diversity::l_diversity(&block.classes(), &asked, diversity::BLOCKS)
}

/// The guarantee `min_spread` of one attribute, where it is claimed, of blocks
/// with a known value.
pub(super) fn min_spread(view: &QuasiView, block: &BlockView) -> Option<Check> {
    let claimed = view.requirements.protection(block.index).min_spread()?;
    let classes = block.classes();
    let known = classes.with_known_values();
    Some(diversity::min_spread(&classes, claimed, known))
}

/// The attacks on one attribute's blocks.
pub(super) fn attacks(block: &BlockView) -> [Check; 2] {
    let classes = block.classes();
    [homogeneity(&classes).check, similarity(&classes).check]
}
