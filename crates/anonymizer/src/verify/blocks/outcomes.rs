//! What the rows of a randomized block tell of whose values they show.
//!
//! The adversary knows the m values of a block, each of one of its m records,
//! and the value that each row shows. An assignment of values to records has
//! weight r^f, f the number of rows that show the value assigned to them and
//! r = 1 + p·m/(1 − p). With c_v rows that show value v, the assignments that
//! have at least a chosen set of k rows right are e_k(c)·(m − k)!, e_k the
//! elementary symmetric polynomial: so the weight of all is
//! Σ_k e_k(c)·(m − k)!·(r − 1)^k. Fixing one row to one value leaves a smaller
//! block of the same kind.

/// The largest probability of a value of one record, over the records and
/// values of a block whose rows show `counts[v]` times value v; `retention`
/// below 1. The values that no row shows are in `counts` as 0.
pub(super) fn largest_posterior(counts: &[u64], retention: f64) -> f64 {
    let m = counts.len();
    if m < 2 {
        return 1.0;
    }
    let gain = retention * m as f64 / (1.0 - retention);
    let all = weight(counts, gain);
    let mut largest = 0.0_f64;
    let mut distinct: Vec<u64> = counts.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    // A record whose row shows a value that `shown` rows show.
    for &shown in distinct.iter().filter(|&&count| count > 0) {
        let Some(own) = counts.iter().position(|&count| count == shown) else {
            continue;
        };
        let without_own = without(counts, own);
        largest = largest.max((1.0 + gain) * weight(&without_own, gain) / all);
        // Another value, one that `other` rows show.
        for &other in &distinct {
            let position = (0..m).find(|&at| at != own && counts[at] == other);
            if let Some(at) = position {
                let mut rest = counts.to_vec();
                rest[own] -= 1;
                let rest = without(&rest, at);
                largest = largest.max(weight(&rest, gain) / all);
            }
        }
    }
    // Beyond what floats hold nothing is shown.
    if largest.is_finite() && all.is_finite() {
        largest
    } else {
        1.0
    }
}

fn without(counts: &[u64], at: usize) -> Vec<u64> {
    [&counts[..at], &counts[at + 1..]].concat()
}

/// Σ_k e_k(c)·(m − k)!·gain^k.
fn weight(counts: &[u64], gain: f64) -> f64 {
    let m = counts.len();
    let mut symmetric = vec![0.0_f64; m + 1];
    symmetric[0] = 1.0;
    for (at, &count) in counts.iter().enumerate() {
        for k in (1..=at + 1).rev() {
            symmetric[k] += symmetric[k - 1] * count as f64 * gain;
        }
    }
    let mut sum = 0.0;
    let mut factorial = 1.0;
    for k in (0..=m).rev() {
        sum += symmetric[k] * factorial;
        factorial *= (m - k + 1) as f64;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_kept_makes_every_value_equally_likely() {
        for counts in [vec![1, 1, 1], vec![3, 0, 0], vec![2, 1, 0]] {
            assert!((largest_posterior(&counts, 0.0) - 1.0 / 3.0).abs() < 1e-12);
        }
    }

    #[test]
    fn two_rows_that_show_both_values_tell_more_than_one_row_does() {
        assert!((largest_posterior(&[1, 1], 0.3) - 0.4225 / 0.545).abs() < 1e-12);
        // Both show the same value: one of them is wrong, nobody knows which.
        assert!((largest_posterior(&[2, 0], 0.3) - 0.5).abs() < 1e-12);
    }

    /// Every assignment, one by one.
    fn by_hand(shown: &[usize], p: f64) -> f64 {
        let m = shown.len();
        let odds = 1.0 + p * m as f64 / (1.0 - p);
        let mut orders: Vec<Vec<usize>> = vec![vec![]];
        for _ in 0..m {
            orders = orders
                .iter()
                .flat_map(|order| {
                    let rest = (0..m).filter(|at| !order.contains(at));
                    rest.map(|at| [order.clone(), vec![at]].concat())
                        .collect::<Vec<_>>()
                })
                .collect();
        }
        let weight = |order: &Vec<usize>| {
            let right = order.iter().zip(shown).filter(|(own, shown)| own == shown);
            odds.powi(right.count() as i32)
        };
        let all: f64 = orders.iter().map(weight).sum();
        let mut largest = 0.0_f64;
        for row in 0..m {
            for value in 0..m {
                let fixed = orders.iter().filter(|order| order[row] == value);
                largest = largest.max(fixed.map(weight).sum::<f64>() / all);
            }
        }
        largest
    }

    #[test]
    fn the_polynomial_counts_what_every_assignment_gives() {
        for shown in [
            vec![0, 1, 2, 3],
            vec![0, 0, 1, 2],
            vec![1, 1, 1, 2],
            vec![3, 3, 3, 3],
            vec![0, 1, 2, 2, 4],
        ] {
            for p in [0.1, 0.5, 0.9] {
                let mut counts = vec![0_u64; shown.len()];
                shown.iter().for_each(|&value| counts[value] += 1);
                let (hand, found) = (by_hand(&shown, p), largest_posterior(&counts, p));
                assert!((hand - found).abs() < 1e-9, "{shown:?} {p}: {hand} {found}");
            }
        }
    }
}
