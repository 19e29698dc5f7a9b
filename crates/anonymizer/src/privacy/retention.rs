//! Randomized values: what keeping some of them tells.
//!
//! A block has m records with m different values. Each value is kept with
//! probability p, else replaced by one drawn evenly from the block's values,
//! its own included. An adversary who knows the block's values, but not whose
//! they are, sees the rows of the whole block: if the other rows show other
//! values, that a row shows its own becomes more likely than p + (1 − p)/m.
//!
//! With r = 1 + p·m/(1 − p), the odds of a value shown by its own record to
//! one shown by another, an assignment of values to records with f rows right
//! has weight r^f. Where every row shows another value, the assignments with
//! f right are C(m, f)·D(m − f), D the derangements, and the probability that
//! a given row is right is Σ f/m · C(m, f)·D(m − f)·r^f over the sum without
//! f/m. That is the worst that the rows of a block can show (*ours*; the tests
//! look at every outcome of small blocks).

use super::parameter::{L, Share};

impl Share {
    /// The largest probability, over blocks of l to 2·l values, that a row
    /// shows its own value when values are kept with this share; rounded up.
    /// In larger blocks values are kept only where they tell no more
    /// ([`Share::posterior_in_block`]). One value alone is certain.
    pub fn posterior_of_kept(self, l: L) -> Self {
        let sizes = l.get()..=l.get().saturating_mul(2);
        let all = sizes.map(|size| self.posterior_in_block(size));
        all.max().unwrap_or(Self::ALL)
    }

    /// The same for blocks of `size` values.
    pub fn posterior_in_block(self, size: u32) -> Self {
        if size < 2 {
            return Self::ALL;
        }
        // A hair above: the figure is a bound, and shares are parts of 1e9.
        let bound = posterior(self.get(), size) + 2e-9;
        Self::new(bound.min(1.0)).unwrap_or(Self::ALL)
    }

    /// Whether this share is at most 1/l.
    pub fn allows_times(self, l: u32) -> bool {
        u64::from(self.parts()) * u64::from(l) <= Self::WHOLE_PARTS
    }
}

/// The probability that a row of a block of m rows, each with another value,
/// shows its own.
fn posterior(p: f64, m: u32) -> f64 {
    if p >= 1.0 {
        return 1.0;
    }
    let odds = 1.0 + p * f64::from(m) / (1.0 - p);
    // Terms over m!: C(m, f)·D(m − f)/m! = (1/f!)·(D(m − f)/(m − f)!), which
    // stay near 1; powers of the odds are divided out from the largest.
    let derangements = derangement_shares(m);
    let (mut all, mut right) = (0.0, 0.0);
    let mut weight = 1.0;
    for f in 0..=m {
        if f > 0 {
            weight *= odds / f64::from(f);
        }
        let term = weight * derangements[(m - f) as usize];
        all += term;
        right += term * f64::from(f) / f64::from(m);
    }
    right / all
}

/// D(n)/n! for n up to m: 1 − 1 + 1/2! − 1/3! …
fn derangement_shares(m: u32) -> Vec<f64> {
    let (mut sum, mut part) = (0.0, 1.0);
    let shares = (0..=m).map(|n| {
        if n > 0 {
            part /= -f64::from(n);
        }
        sum += part;
        // D(1) is 0, whatever rounding says.
        if n == 1 { 0.0 } else { sum }
    });
    shares.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest probability over every assignment and every outcome.
    fn largest_by_hand(p: f64, m: usize) -> f64 {
        let (kept, drawn) = (p + (1.0 - p) / m as f64, (1.0 - p) / m as f64);
        let mut orders = vec![vec![]];
        for _ in 0..m {
            orders = orders
                .into_iter()
                .flat_map(|order: Vec<usize>| {
                    let rest: Vec<usize> = (0..m).filter(|at| !order.contains(at)).collect();
                    rest.into_iter()
                        .map(move |at| [order.clone(), vec![at]].concat())
                })
                .collect();
        }
        let mut largest = 0.0_f64;
        for outcome in 0..m.pow(m as u32) {
            let shown: Vec<usize> = (0..m).map(|at| outcome / m.pow(at as u32) % m).collect();
            let weight = |order: &Vec<usize>| -> f64 {
                let rows = order.iter().zip(&shown);
                rows.map(|(own, shown)| if own == shown { kept } else { drawn })
                    .product()
            };
            let all: f64 = orders.iter().map(weight).sum();
            for value in 0..m {
                let own = orders.iter().filter(|order| order[0] == value);
                largest = largest.max(own.map(weight).sum::<f64>() / all);
            }
        }
        largest
    }

    #[test]
    fn the_bound_is_the_worst_that_any_outcome_shows() {
        for m in 2..=5 {
            for p in [0.1, 0.3, 0.5, 0.8, 0.95] {
                let (hand, bound) = (largest_by_hand(p, m), posterior(p, m as u32));
                assert!((hand - bound).abs() < 1e-9, "m {m} p {p}: {hand} {bound}");
            }
        }
    }

    #[test]
    fn two_of_two_kept_with_three_tenths_tell_more_than_one_row_does() {
        // 0.65² / (0.65² + 0.35²), not 0.65.
        assert!((posterior(0.3, 2) - 0.4225 / 0.545).abs() < 1e-12);
    }

    #[test]
    fn keeping_more_than_half_tells_nearly_all_in_large_blocks() {
        let (less, more) = (Share::new(0.3).unwrap(), Share::new(0.7).unwrap());
        assert!(less.posterior_in_block(60) < less.posterior_in_block(5));
        assert!(more.posterior_in_block(60) > more.posterior_in_block(5));
        let l = L::new(5).unwrap();
        for share in [less, more] {
            let bound = share.posterior_of_kept(l);
            assert!((5..=10).all(|size| share.posterior_in_block(size) <= bound));
        }
        assert_eq!(less.posterior_of_kept(L::NONE), Share::ALL);
    }
}
