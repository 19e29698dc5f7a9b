//! Diversity of fingerprints: K subjects of every published fingerprint, and
//! no fingerprint with more than 1 in L subjects of a group (`[1:M]`, (k, l)-
//! diversity), K and L the largest that policy or a member asks for.
//!
//! For K two fingerprints are one if they read the same: that is what can be
//! matched. For L they are one if they cover the same leaves: writing one
//! meaning in two ways makes no diversity.

use super::partition::Partition;
use super::view::PersonsView;
use crate::verify::diversity::{Frequency, LeastL};
use crate::verify::verdict::{Check, Place, Section};
use crate::verify::ways::{Worse, worst};

/// Subjects of each published fingerprint, as it reads.
pub(super) fn sharers(view: &PersonsView) -> Vec<u64> {
    let last = view.reading_of_row.iter().max();
    let mut sharers = vec![0_u64; last.map_or(0, |&last| last as usize + 1)];
    for row in (0..view.rows()).filter(|&row| view.subject(row).is_some()) {
        sharers[view.reading_of_row[row] as usize] += 1;
    }
    sharers
}

/// The guarantee `fingerprint_k`: attained is the number of subjects of the
/// rarest fingerprint.
pub(super) fn fingerprint_k(view: &PersonsView, sharers: &[u64]) -> Check {
    let claimed = view.requirements.policy().k.get();
    let mut short = vec![false; sharers.len()];
    // The first row that shows a fingerprint is named, not the row that asks for
    // most: terms are their subject's own business.
    let mut first = vec![None; sharers.len()];
    for row in 0..view.rows() {
        let Some(terms) = view.terms(row) else {
            continue;
        };
        let reading = view.reading_of_row[row] as usize;
        short[reading] |= sharers[reading] < u64::from(claimed.max(terms.own.k));
        first[reading].get_or_insert(row);
    }
    let shown = (0..sharers.len()).filter_map(|reading| Some((reading, first[reading]?)));
    let worst = shown
        .map(|(reading, row)| (!short[reading], sharers[reading], row))
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
    let of_partition = |partition| of_partition(view, partition, (kept, claimed));
    let checks = partitions.iter().map(of_partition).collect();
    let check = worst(checks, Worse::Less);
    check.unwrap_or_else(|| Check::not_examined(Section::Guarantee, "l_diversity").about("*"))
}

fn of_partition(view: &PersonsView, partition: &Partition, (kept, claimed): (u32, u32)) -> Check {
    let one_less = u64::from(kept - claimed);
    let frequencies = partition.largest.iter().enumerate();
    let frequencies = frequencies.map(|(class, &largest)| {
        let rows = partition.classes.rows(class).iter();
        let asked = rows.filter_map(|&row| view.terms(row as usize)?.l.iter().max());
        Frequency {
            // A class of nobody falls short, too.
            most: largest.max(1),
            of: partition.classes.sizes[class],
            demanded: asked.max().copied().unwrap_or(1).max(kept),
            is_refused: false,
        }
    });
    let least = LeastL::of(frequencies);
    Check::new(Section::Guarantee, "l_diversity")
        .about("*")
        .claiming(f64::from(claimed))
        .attaining(
            least.attained.map(|l| l.saturating_sub(one_less) as f64),
            least.worst.map(|(_, class)| partition.place(view, class)),
        )
        .holding(least.below == 0)
        .with_figure("groups", partition.largest.len() as f64)
        .with_figure("groups_below_l", least.below as f64)
}
