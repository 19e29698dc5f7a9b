//! Quasi-identifiers by how far they tell the sensitive attribute: by φ²,
//! descending, equals in schema order.
//!
//! φ²(a, b) = (Σ n_ij² / (n_i n_j) − 1) / (min(r, c) − 1), where n counts the
//! people with a category of a, of b, and of both, and r and c the categories
//! that occur; 0 where one of them has fewer than two. It is counted in parts
//! of 2⁻⁶⁰: each summand is rounded down, and the quotient again. So the order
//! is the same no matter who counts.
//!
//! Numbers and dates with more than 16 values are cut into 16 intervals: with b
//! people below a value and c people with it, the value is in interval
//! ⌊16 (2b + c) / 2n⌋.

use rayon::prelude::*;

use crate::microdata::CodedColumn;

use super::people::People;

/// Intervals of numbers and dates.
const INTERVALS: u64 = 16;
/// Parts of which φ² = 1 has this many.
const PARTS: u128 = 1 << 60;

/// The quasi-identifiers in the order in which blocks are split by them.
pub(super) fn by_contingency<'a>(people: &People<'a>) -> Vec<&'a CodedColumn> {
    let sensitive = categories(people.sensitive, &people.records);
    let told = people.quasi.par_iter().map(|&column| {
        let categories = categories(column, &people.records);
        (contingency(&categories, &sensitive), column)
    });
    let mut told: Vec<(u128, &CodedColumn)> = told.collect();
    told.sort_by_key(|&(phi, _)| std::cmp::Reverse(phi));
    told.into_iter().map(|(_, column)| column).collect()
}

/// The category of each record.
fn categories(column: &CodedColumn, records: &[u32]) -> Vec<u32> {
    let codes = || {
        records
            .iter()
            .map(|&record| column.codes.at(record as usize))
    };
    let mut counts = vec![0_u64; column.domain.len()];
    codes().for_each(|code| counts[code as usize] += 1);
    let values = counts.iter().filter(|&&count| count > 0).count() as u64;
    if !column.domain.is_numeric() || values <= INTERVALS {
        return codes().collect();
    }
    let mut below = 0;
    let intervals = counts.iter().map(|&count| {
        let middle = 2 * below + count;
        below += count;
        (INTERVALS * middle / (2 * records.len() as u64)) as u32
    });
    let intervals: Vec<u32> = intervals.collect();
    codes().map(|code| intervals[code as usize]).collect()
}

/// φ² in parts of 2⁻⁶⁰.
fn contingency(one: &[u32], other: &[u32]) -> u128 {
    let (of_one, of_other) = (counts(one), counts(other));
    let occurring = |counts: &[u128]| counts.iter().filter(|&&count| count > 0).count();
    let least = occurring(&of_one).min(occurring(&of_other)) as u128;
    if least < 2 {
        return 0;
    }
    let pairs = one.iter().zip(other);
    let mut pairs: Vec<u64> = pairs
        .map(|(&one, &other)| u64::from(one) << 32 | u64::from(other))
        .collect();
    pairs.sort_unstable();
    let summands = pairs.chunk_by(|one, other| one == other).map(|both| {
        let [one, other] = [both[0] >> 32, both[0] & u64::from(u32::MAX)];
        let expected = of_one[one as usize] * of_other[other as usize];
        (both.len() as u128).pow(2) * PARTS / expected
    });
    let sum: u128 = summands.sum();
    sum.saturating_sub(PARTS) / (least - 1)
}

/// How often each category occurs.
fn counts(categories: &[u32]) -> Vec<u128> {
    let highest = categories.iter().copied().max().unwrap_or(0);
    let mut counts = vec![0; highest as usize + 1];
    categories
        .iter()
        .for_each(|&category| counts[category as usize] += 1);
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::microdata::{Domain, Values};

    #[test]
    fn contingency_is_what_it_is_on_paper() {
        // Counts 3 1 / 1 3: Σ = (9 + 1 + 1 + 9) / 16 = 5/4.
        let (one, other) = ([0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 0, 1, 1, 1]);
        assert_eq!(contingency(&one, &other), PARTS / 4);
        assert_eq!(contingency(&one, &one), PARTS);
        assert_eq!(contingency(&one, &[5; 8]), 0);
        assert_eq!(contingency(&[], &[]), 0);
    }

    #[test]
    fn summands_are_rounded_down_one_by_one() {
        // Counts 1 1 / 1 0: 1/4·2 and 1/2 twice, of 2 · 2, 2 · 1 and 1 · 2.
        let sum = PARTS / 4 + 2 * (PARTS / 2);
        assert_eq!(contingency(&[0, 0, 1], &[0, 1, 0]), sum - PARTS);
        // 1/3 is no number of parts: three of them are less than 1.
        assert_eq!(3 * (PARTS / 3), PARTS - 1);
        assert_eq!(contingency(&[0, 0, 0, 1], &[0, 0, 0, 1]), PARTS);
        assert_eq!(contingency(&[0, 1, 2], &[0, 0, 1]), 2 * (PARTS / 2));
    }

    #[test]
    fn numbers_are_cut_into_sixteen_intervals() {
        let column = |values: i64| CodedColumn {
            domain: Domain::new(Values::Integer((0..values).collect()), None).into(),
            codes: (0..values as u32).collect::<Vec<u32>>().into(),
        };
        let records: Vec<u32> = (0..160).collect();
        let cut = categories(&column(160), &records);
        assert_eq!(counts(&cut), [10; 16]);
        assert_eq!(cut[..20], [[0_u32; 10], [1; 10]].concat());
        assert_eq!(categories(&column(16), &records[..16]), records[..16]);
    }
}
