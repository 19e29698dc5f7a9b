//! The most likely value of a distribution, in integers.
//!
//! A [`MaximalShare`] says that no value has more than `most` of `total`; l holds if
//! `most · l ≤ total`. Where records are counted it is exact. On a join on the
//! sensitive attribute two distributions count:
//!
//! - the joined rows, n_Y(y, s) · n_Z(z, s): what a reader sees who joins the
//!   two columns;
//! - the expected records, n_Y(y, s) · n_Z(z, s) / n(k, s), k the known
//!   attributes that both columns show: each of the n(k, s) records with that
//!   value has one row in either column, and every way to match them is as
//!   likely as any other.
//!
//! The fractions are put over a common denominator where one of at most
//! 40 bits exists; else they are rounded against the claim by one part in
//! 10⁹, so that a maximal share is never taken for lower than it is.

use crate::privacy::Share;

/// Denominators up to this many are exact.
const DENOMINATOR_MAX: u128 = 1 << 40;
/// Where they are not: how far sums are rounded against the claim.
const MARGIN: f64 = 1e-9;
/// Scale of rounded sums.
const SCALE: f64 = (1_u64 << 32) as f64;

/// No value has more than `most` of `total`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MaximalShare {
    pub most: u128,
    pub total: u128,
}

impl MaximalShare {
    /// Whether no value has more than 1 in l, nor more than `share`.
    pub fn allows(&self, l: u32, share: Share) -> bool {
        let diverse = l <= 1 || self.most * u128::from(l) <= self.total;
        let rare = share == Share::ALL
            || self.most * u128::from(Share::WHOLE_PARTS) <= self.total * u128::from(share.parts());
        diverse && rare
    }

    /// The largest l that holds; at least 1.
    pub fn largest_l(&self) -> u32 {
        let l = self.total / self.most.max(1);
        u32::try_from(l).unwrap_or(u32::MAX).max(1)
    }

    /// The maximal share of plain counts.
    pub fn of_counts(counts: impl Iterator<Item = u32>) -> Self {
        let mut maximal_share = Self { most: 0, total: 0 };
        for count in counts {
            maximal_share.most = maximal_share.most.max(u128::from(count));
            maximal_share.total += u128::from(count);
        }
        maximal_share
    }
}

/// One value of a join: its counts in both columns and in the bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joined {
    pub left: u32,
    pub right: u32,
    /// Records of the bucket with this value and the shared known attributes;
    /// at least 1.
    pub shared: u32,
}

/// The peaks of a join, by joined rows and by expected records; `None` for an
/// empty one, which nobody is behind.
pub(super) fn of_join(values: &[Joined]) -> Option<[MaximalShare; 2]> {
    let rows = |value: &Joined| u128::from(value.left) * u128::from(value.right);
    let all: u128 = values.iter().map(rows).sum();
    if all == 0 {
        return None;
    }
    let counted = MaximalShare {
        most: values.iter().map(rows).max().unwrap_or(0),
        total: all,
    };
    let denominator = values.iter().try_fold(1_u128, |all, value| {
        let least = least_common_multiple(all, u128::from(value.shared));
        (least <= DENOMINATOR_MAX).then_some(least)
    });
    let expected = match denominator {
        Some(denominator) => {
            let parts = |value: &Joined| rows(value) * (denominator / u128::from(value.shared));
            MaximalShare {
                most: values.iter().map(parts).max().unwrap_or(0),
                total: values.iter().map(parts).sum(),
            }
        }
        None => rounded(values),
    };
    Some([counted, expected])
}

fn rounded(values: &[Joined]) -> MaximalShare {
    let part =
        |value: &Joined| f64::from(value.left) * f64::from(value.right) / f64::from(value.shared);
    let most = values.iter().map(part).fold(0.0, f64::max);
    let total: f64 = values.iter().map(part).sum();
    MaximalShare {
        most: (most * SCALE * (1.0 + MARGIN)).ceil() as u128,
        total: (total * SCALE * (1.0 - MARGIN)).floor() as u128,
    }
}

fn least_common_multiple(one: u128, other: u128) -> u128 {
    let (mut a, mut b) = (one, other);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    one / a.max(1) * other
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(left: u32, right: u32, shared: u32) -> Joined {
        Joined {
            left,
            right,
            shared,
        }
    }

    #[test]
    fn l_holds_at_equality_and_not_above() {
        let maximal_share = MaximalShare::of_counts([2, 3, 1].into_iter());
        assert!(maximal_share.allows(2, Share::ALL) && !maximal_share.allows(3, Share::ALL));
        assert_eq!(maximal_share.largest_l(), 2);
        assert!(maximal_share.allows(1, Share::new(0.5).unwrap()));
        assert!(!maximal_share.allows(1, Share::new(0.499_999_999).unwrap()));
    }

    #[test]
    fn a_join_is_weighed_by_rows_and_by_records() {
        // Rows 2·1 and 1·1; records 2·1/2 and 1·1/1: even.
        let peaks = of_join(&[joined(2, 1, 2), joined(1, 1, 1)]).unwrap();
        assert_eq!(peaks[0], MaximalShare { most: 2, total: 3 });
        assert_eq!(peaks[1], MaximalShare { most: 2, total: 4 });
        assert!(of_join(&[]).is_none());
        assert!(of_join(&[joined(0, 3, 3)]).is_none());
    }

    #[test]
    fn what_has_no_small_denominator_is_rounded_against_the_claim() {
        let large = [999_983, 999_979, 999_961, 999_959];
        let values = large.map(|shared| joined(shared, 1, shared));
        let [_, expected] = of_join(&values).unwrap();
        // Four values, one record each: l = 4 exactly, which rounding gives up.
        assert!(expected.allows(3, Share::ALL) && !expected.allows(4, Share::ALL));
        assert!(expected.most as f64 / expected.total as f64 - 0.25 < 1e-8);
    }
}
