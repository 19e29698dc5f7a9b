//! Diversity of fingerprints: K subjects of every published fingerprint, and
//! no fingerprint with more than 1 in L subjects of a group (`[1:M]`, (k, l)-
//! diversity), K and L the largest that policy or a member asks for.
//!
//! For K two fingerprints are one if they read the same: that is what can be
//! matched. For L they are one if they cover the same leaves: writing one
//! meaning in two ways makes no diversity.

use super::super::verdict::{Check, Place, Section};
use super::partition::{Partition, least};
use super::view::PersonsView;

/// Subjects of each published fingerprint, as it reads.
pub(super) fn sharers(view: &PersonsView) -> Vec<u64> {
    let last = view.look_of_row.iter().max();
    let mut sharers = vec![0_u64; last.map_or(0, |&last| last as usize + 1)];
    for row in (0..view.rows()).filter(|&row| view.subject(row).is_some()) {
        sharers[view.look_of_row[row] as usize] += 1;
    }
    sharers
}

/// The guarantee `fingerprint_k`: attained is the number of subjects of the
/// rarest fingerprint.
pub(super) fn fingerprint_k(view: &PersonsView, sharers: &[u64]) -> Check {
    let claimed = view.requirements.policy().k.get();
    let mut short = vec![false; sharers.len()];
    // The first row that shows a fingerprint is named, not whoever asks for
    // most: terms are their subject's own business.
    let mut first = vec![None; sharers.len()];
    for row in 0..view.rows() {
        let Some(terms) = view.terms(row) else {
            continue;
        };
        let look = view.look_of_row[row] as usize;
        short[look] |= sharers[look] < u64::from(claimed.max(terms.own.k));
        first[look].get_or_insert(row);
    }
    let shown = (0..sharers.len()).filter_map(|look| Some((look, first[look]?)));
    let worst = shown
        .map(|(look, row)| (!short[look], sharers[look], row))
        .min();
    let rarest = sharers.iter().filter(|&&sharers| sharers > 0).min();
    let below = short.iter().filter(|&&short| short).count();
    Check::new(Section::Guarantee, "fingerprint_k")
        .claiming(f64::from(claimed))
        .attaining(
            rarest.map(|&sharers| sharers as f64),
            worst.map(|(_, _, row)| Place::Row(row as u64 + 1)),
        )
        .holding(below == 0)
        .with_figure("fingerprints", sharers.len() as f64)
        .with_figure("fingerprints_below_k", below as f64)
}

/// The guarantee `l_diversity` of fingerprints: attained is the least, over
/// groups, of size / most frequent fingerprint, rounded down.
/// `kept` is the l with the fingerprint of missing values counted as one,
/// `claimed` that of the others.
pub(super) fn l_diversity(
    view: &PersonsView,
    partitions: &[Partition],
    kept: u32,
    claimed: u32,
) -> Check {
    let checks = partitions.iter();
    let check = least(checks.map(|partition| of_partition(view, partition, (kept, claimed))));
    check.unwrap_or_else(|| Check::not_examined(Section::Guarantee, "l_diversity").about("*"))
}

fn of_partition(view: &PersonsView, partition: &Partition, (kept, claimed): (u32, u32)) -> Check {
    let one_less = u64::from(kept - claimed);
    let mut below = 0_u64;
    let mut attained: Option<u64> = None;
    let mut worst: Option<(bool, u64, usize)> = None;
    for (class, &largest) in partition.largest.iter().enumerate() {
        let rows = partition.classes.rows(class).iter();
        let asked = rows.filter_map(|&row| view.terms(row as usize)?.l.iter().max());
        let demanded = asked.max().copied().unwrap_or(1).max(kept);
        let l = partition.classes.sizes[class] / largest.max(1);
        let short = l < u64::from(demanded);
        below += u64::from(short);
        attained = Some(attained.map_or(l, |least| least.min(l)));
        let rank = (!short, l, class);
        worst = Some(worst.map_or(rank, |worst| worst.min(rank)));
    }
    Check::new(Section::Guarantee, "l_diversity")
        .about("*")
        .claiming(f64::from(claimed))
        .attaining(
            attained.map(|l| l.saturating_sub(one_less) as f64),
            worst.map(|(_, _, class)| partition.place(view, class)),
        )
        .holding(below == 0)
        .with_figure("groups", partition.largest.len() as f64)
        .with_figure("groups_below_l", below as f64)
}
