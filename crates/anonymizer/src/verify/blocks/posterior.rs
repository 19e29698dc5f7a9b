//! `vector_posterior`: what an adversary learns who knows the target's
//! quasi-identifiers and averages over every row that shows them.
//!
//! Rows with one published vector u may lie in several blocks B. The target
//! is any of them with equal chance, so P(s | u) = (1/n_u) Σ c_B(s)/|B| over
//! the n_u rows. It must be at most 1/l of the job, and at most 1/L of every
//! subject who shows u. A vector whose rows lie in one block has that block's
//! shares, which l-diversity has looked at.

use rustc_hash::FxHashMap;

use crate::privacy::Share;

use super::floor;
use super::view::{BlockView, QuasiView};
use crate::verify::leakage::{Ratio, Worst};
use crate::verify::verdict::{Check, Place, Section};
use crate::verify::view::NONE;

/// The largest P(s | u) of one attribute; subjects' own terms go to `worst`.
pub(super) fn of_vectors(view: &QuasiView, block: &BlockView, worst: &mut Worst) -> Check {
    let claimed = floor(view.requirements, block.index);
    let (mut largest, mut exceeded) = (Largest::default(), 0_u64);
    let mut blocks: Vec<u32> = Vec::new();
    for class in 0..view.alike.len() {
        let rows = view.alike.rows(class);
        blocks.clear();
        let of_rows = rows.iter();
        let of_rows = of_rows.map(|&row| block.members.class_of_row[row as usize]);
        blocks.extend(of_rows.filter(|&at| at != NONE));
        blocks.sort_unstable();
        let Some(posterior) = Posterior::of(block, &blocks) else {
            continue;
        };
        let place = rows.first().map_or(0, |&row| row);
        largest.take(posterior.get(), place);
        let holds = |l: u32| posterior.is_within(l);
        exceeded += u64::from(!holds(claimed));
        let asked = rows.iter();
        let asked = asked.filter_map(|&row| Some(view.terms(row as usize)?.l[block.index.at()]));
        if let Some(strictest) = asked.max() {
            worst.take(posterior.ratio(strictest, place));
        }
    }
    Check::new(Section::Attack, "vector_posterior")
        .about(block.name)
        .claiming(1.0 / f64::from(claimed))
        .attaining(
            largest.value,
            largest.place.map(|row| Place::Row(u64::from(row) + 1)),
        )
        .holding(exceeded == 0)
        .with_figure("vectors", view.alike.len() as f64)
        .with_figure("vectors_beyond_l", exceeded as f64)
}

#[derive(Default)]
struct Largest {
    value: Option<f64>,
    place: Option<u32>,
}

impl Largest {
    fn take(&mut self, value: f64, place: u32) {
        if self.value.is_none_or(|known| value > known) {
            (self.value, self.place) = (Some(value), Some(place));
        }
    }
}

/// The likeliest value of a vector: counts over block sizes, to be divided by
/// the number of rows.
struct Posterior {
    fractions: Vec<(u64, u64)>,
    rows: u64,
}

impl Posterior {
    /// From the blocks of the vector's rows, ascending; `None` for none.
    fn of(block: &BlockView, blocks: &[u32]) -> Option<Self> {
        let (&first, &last) = (blocks.first()?, blocks.last()?);
        let rows = blocks.len() as u64;
        let size = |at: u32| block.blocks.sizes[at as usize];
        if first == last {
            let most = block.blocks.largest_count(first as usize);
            let fractions = vec![(most * rows, size(first))];
            return Some(Self { fractions, rows });
        }
        let mut of_value: FxHashMap<u32, Vec<(u64, u64)>> = FxHashMap::default();
        for run in blocks.chunk_by(|a, b| a == b) {
            for &(code, count) in block.blocks.contents(run[0] as usize) {
                let fractions = of_value.entry(code).or_default();
                fractions.push((count * run.len() as u64, size(run[0])));
            }
        }
        let mut all: Vec<(u32, Vec<(u64, u64)>)> = of_value.into_iter().collect();
        all.sort_unstable_by_key(|&(code, _)| code);
        let likeliest = all
            .into_iter()
            .max_by(|a, b| sum(&a.1).total_cmp(&sum(&b.1)));
        let fractions = likeliest.map(|(_, fractions)| fractions)?;
        Some(Self { fractions, rows })
    }

    fn get(&self) -> f64 {
        sum(&self.fractions) / self.rows as f64
    }

    /// Whether the probability is at most 1/l, exactly.
    fn is_within(&self, l: u32) -> bool {
        let times_l = self.fractions.iter();
        let times_l = times_l.map(|&(count, size)| (count.saturating_mul(u64::from(l)), size));
        let times_l: Vec<(u64, u64)> = times_l.collect();
        Share::ALL.allows_sum(&times_l, self.rows)
    }

    /// The ratio to what a subject accepts.
    fn ratio(&self, l: u32, row: u32) -> Ratio {
        let whole = u128::from(Share::WHOLE_PARTS);
        let parts = (self.get() * f64::from(l) * whole as f64).round() as u128;
        // The figure is rounded, the decision is not.
        let attained = if self.is_within(l) {
            parts.min(whole)
        } else {
            parts.max(whole + 1)
        };
        Ratio {
            attained,
            accepted: whole,
            place: Place::Row(u64::from(row) + 1),
        }
    }
}

fn sum(fractions: &[(u64, u64)]) -> f64 {
    let real = fractions.iter();
    real.map(|&(count, size)| count as f64 / size.max(1) as f64)
        .sum()
}
