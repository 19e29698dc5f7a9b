//! The guarantee `max_leakage`: for each subject the probability of their own
//! value, and of any value that they guard, is at most what they accept.
//!
//! P_leak(t) = (1/|G|) Σ_i [t.s under node_i] · w(t.s)/w(node_i) over the rows
//! i that look like t, t included (`[PERS]`), w the frequency in the dataset.
//! Attained is the largest ratio of that to the bound; it is decided in
//! fractions, the figure alone is a float.

use rustc_hash::FxHashMap;

use super::guards::guarded;
use super::published::{Fractions, Published, Span};
use crate::privacy::Share;
use crate::verify::equivalence::EquivalenceClasses;
use crate::verify::verdict::{Check, Place, Section};
use crate::verify::view::{NONE, View};

/// The worst that was seen.
#[derive(Default)]
struct Worst {
    ratio: Option<(f64, u64)>,
    probability: f64,
    beyond: u64,
}

impl Worst {
    fn take(&mut self, leak: &Fractions, bound: Share, (rows, group): (u64, u64)) {
        let probability = value(leak, rows);
        let ratio = probability / bound.get();
        if self.ratio.is_none_or(|(worst, _)| ratio > worst) {
            self.ratio = Some((ratio, group));
        }
        self.beyond += u64::from(!bound.allows_sum(leak, rows));
    }
}

/// A sum of fractions, shared out over rows.
pub(super) fn value(fractions: &Fractions, rows: u64) -> f64 {
    let real = fractions.iter().filter(|(_, below)| *below > 0);
    let sum: f64 = real
        .map(|&(above, below)| above as f64 / below as f64)
        .sum();
    sum / rows.max(1) as f64
}

/// The check over all published records.
pub(super) fn max_leakage(view: &View, alike: &EquivalenceClasses, published: &Published) -> Check {
    let mut worst = Worst::default();
    let guards: Vec<Option<Vec<Span>>> = view
        .requirements
        .distinct_terms()
        .iter()
        .map(|terms| guarded(published.tree, terms))
        .collect();
    let terms_of = view.requirements.terms_of_record();
    for class in 0..alike.len() {
        let rows = alike.rows(class);
        let place = (rows.len() as u64, alike.group_number(view.group, class));
        let counts: FxHashMap<Span, u64> = published.of_class[class].iter().copied().collect();
        let mut own: FxHashMap<u32, Fractions> = FxHashMap::default();
        let mut guarded: FxHashMap<u32, Fractions> = FxHashMap::default();
        for &row in rows {
            let record = view.records[row as usize];
            let leaf = published.leaf_of_row[row as usize];
            let (true, Some(leaf)) = (record != NONE, leaf) else {
                continue;
            };
            let terms = terms_of.at(record as usize);
            let bound = view.requirements.distinct_terms()[terms as usize]
                .max_share
                .first()
                .copied()
                .unwrap_or(Share::LEAST);
            let leak = own
                .entry(leaf)
                .or_insert_with(|| published.own_leak(&counts, leaf));
            worst.take(leak, bound, place);
            worst.probability = worst.probability.max(value(leak, place.0));
            if let Some(guard) = &guards[terms as usize] {
                let leak = guarded
                    .entry(terms)
                    .or_insert_with(|| published.guard_leak(class, guard));
                worst.take(leak, bound, place);
            }
        }
    }
    Check::new(Section::Guarantee, "max_leakage")
        .about(published.name)
        .claiming(1.0)
        .attaining(
            worst.ratio.map(|(ratio, _)| ratio),
            worst.ratio.map(|(_, group)| Place::Group(group)),
        )
        .holding(worst.beyond == 0)
        .with_figure("largest_probability", worst.probability)
        .with_figure("probabilities_beyond_their_bound", worst.beyond as f64)
        .noting("largest ratio of a probability, of the own value or a guarded one, to its bound")
}
