//! l-diversity of blocks (Machanavajjhala et al. 2006 in the frequency form
//! of Xiao & Tao 2006): in each block (most frequent value) × L ≤ size, L the
//! largest that policy or a member asks for; where the engine promises
//! distinct values, none occurs twice. A missing value is neither one of the
//! l nor of the size.
//!
//! And two attacks on the contents of blocks: `homogeneity`, the largest share
//! of one value, and `similarity`, the least that the values of a block span,
//! as a share of what all values span.

use super::super::diversity::{known_to_within, spread, spread_of_parts, spread_share};
use super::super::verdict::{Check, Place, Section};
use super::floor;
use super::view::{BlockView, QuasiView};

/// The guarantee `l_diversity` of one attribute: attained is the least, over
/// blocks, of known values / largest count, rounded down.
pub(super) fn l_diversity(view: &QuasiView, block: &BlockView, is_distinct: bool) -> Check {
    let of_known = |l: u32| view.requirements.l_of_known(block.index, l);
    let claimed = of_known(floor(view.requirements, block.index));
    let blocks = &block.blocks;
    let mut worst: Option<(bool, u64, usize)> = None;
    let (mut below, mut repeated) = (0_u64, 0_u64);
    let mut attained: Option<u64> = None;
    for at in 0..blocks.len() {
        let most = blocks.largest_count(at);
        let (most_known, known) = blocks.known(at, block.domain);
        let rows = block.members.rows(at).iter();
        let asked = rows.filter_map(|&row| Some(view.terms(row as usize)?.l[block.index.at()]));
        let demanded = asked.max().map_or(1, of_known).max(claimed);
        let is_short = u128::from(most_known) * u128::from(demanded) > u128::from(known);
        // A block without any known value says nothing.
        let l = match known {
            0 => u64::MAX,
            known => known / most_known,
        };
        let is_repeated = is_distinct && most > 1;
        below += u64::from(is_short);
        repeated += u64::from(is_repeated);
        attained = (known > 0).then_some(l).into_iter().chain(attained).min();
        // Sound blocks sort behind those that fail.
        let rank = (!(is_short || is_repeated), l, at);
        worst = Some(worst.map_or(rank, |worst| worst.min(rank)));
    }
    let check = Check::new(Section::Guarantee, "l_diversity")
        .about(block.name)
        .claiming(f64::from(claimed))
        .attaining(
            attained.map(|l| l as f64),
            worst.map(|(_, _, at)| Place::Bucket(at as u64 + 1)),
        )
        .holding(below == 0 && repeated == 0)
        .with_figure("blocks", blocks.len() as f64)
        .with_figure("blocks_below_l", below as f64);
    match is_distinct {
        true => check.with_figure("blocks_with_a_value_twice", repeated as f64),
        false => check,
    }
}

/// The guarantee `min_spread` of one attribute, where it is claimed.
pub(super) fn min_spread(view: &QuasiView, block: &BlockView) -> Option<Check> {
    let claimed = view.requirements.protection(block.index).min_spread()?;
    let blocks = &block.blocks;
    let known = (0..blocks.len()).filter(|&at| blocks.known(at, block.domain).1 > 0);
    let span = |at: usize| spread(block.domain, blocks.contents(at));
    let spans = known.map(|at| (span(at), Place::Bucket(at as u64 + 1)));
    Some(spread_of_parts(block.name, claimed, spans))
}

/// The attacks on one attribute's blocks; nothing bounds them beyond what
/// l-diversity does.
pub(super) fn attacks(block: &BlockView) -> [Check; 2] {
    let blocks = &block.blocks;
    let figure = |of: &dyn Fn(usize) -> f64, kind, is_worst: fn(f64, f64) -> bool| {
        let mut worst: Option<(f64, usize)> = None;
        for at in 0..blocks.len() {
            let value = of(at);
            if worst.is_none_or(|(known, _)| is_worst(value, known)) {
                worst = Some((value, at));
            }
        }
        Check::new(Section::Attack, kind)
            .about(block.name)
            .attaining(
                worst.map(|(value, _)| value),
                worst.map(|(_, at)| Place::Bucket(at as u64 + 1)),
            )
    };
    let share = |at: usize| blocks.largest_count(at) as f64 / blocks.sizes[at].max(1) as f64;
    let span = |at: usize| spread(block.domain, blocks.contents(at));
    let narrow = spread_share(block.domain);
    let narrow = |at: usize| narrow(blocks.contents(at));
    let similarity = figure(&narrow, "similarity", |value, known| value < known);
    [
        figure(&share, "homogeneity", |value, known| value > known),
        known_to_within(similarity, block.domain, (0..blocks.len()).map(span)),
    ]
}
