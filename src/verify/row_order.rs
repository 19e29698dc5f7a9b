//! `row_order_independent`: the order of published rows says nothing about
//! the order of the source or about any attribute.
//!
//! Measured by Spearman's ρ between a row's position and its record's
//! position in the source, and between position and each attribute's value in
//! domain order (middle ranks for ties), against 4/√n as trust.md has it: in
//! a fair permutation ρ·√n is close to standard normal, so one comparison
//! goes beyond 4 once in 16,000 times. A release has a comparison for every
//! attribute; so that it does not fail that much more often by chance, the
//! bound for m comparisons is √(16 + 2 ln m), which keeps the chance of the
//! whole release at that of one comparison (the tail of the normal
//! distribution falls as e^(−x²/2)). Sorted rows have ρ near 1 and fail by far.
//!
//! Below [`ROWS_MIN`] rows the bound is no smaller than 0.73 and says little:
//! the check is not made. An attribute with one value has no order.

use rayon::prelude::*;

use super::verdict::{Check, Section};
use super::view::{NONE, View};

/// Rows below which no order is tested.
pub(super) const ROWS_MIN: usize = 30;

/// The check; attained is the largest |ρ|·√n.
pub(super) fn row_order_independent(view: &View) -> Check {
    let records = view.records.iter().copied();
    let records = records.filter(|&record| record != NONE);
    let rows = records.clone().count();
    if rows < ROWS_MIN {
        return of_orders(rows, &[]);
    }
    let mut found = vec![(None, spearman(records, view.table.records()))];
    found.par_extend(view.attributes.par_iter().map(|attribute| {
        let codes = (0..view.rows()).filter_map(|row| view.source(attribute, row));
        (
            Some(attribute.name),
            spearman(codes, attribute.domain.len()),
        )
    }));
    of_orders(rows, &found)
}

/// The check of a table with so many rows, by ρ between position and source
/// (no name) or attribute; `None` where there is no order.
pub(super) fn of_orders(rows: usize, found: &[(Option<&str>, Option<f64>)]) -> Check {
    let check = Check::new(Section::Structure, "row_order_independent");
    if rows < ROWS_MIN {
        return check.noting("not tested: fewer than 30 rows");
    }
    let scaled = found
        .iter()
        .filter_map(|&(name, rho)| Some((name, rho?.abs() * (rows as f64).sqrt())));
    let scaled: Vec<(Option<&str>, f64)> = scaled.collect();
    let bound = (16.0 + 2.0 * (scaled.len().max(1) as f64).ln()).sqrt();
    let largest = scaled.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let Some(&(name, attained)) = largest else {
        return check.noting("not tested: nothing has an order");
    };
    let check = match name {
        Some(name) => check.about(name),
        None => check,
    };
    check
        .claiming(bound)
        .attaining(Some(attained), None)
        .holding(attained < bound)
        .with_figure("comparisons", scaled.len() as f64)
        .noting("largest |rho| times the square root of the rows; attributes with one value are left out")
}

/// Spearman's ρ between position and code, codes below `domain`; `None` where
/// all codes are equal.
///
/// One pass: all positions of a code have its one rank, so their sum will do.
pub(super) fn spearman(codes: impl IntoIterator<Item = u32>, domain: usize) -> Option<f64> {
    let mut found = vec![(0_u64, 0_u64); domain];
    for (position, code) in (0..).zip(codes) {
        let (count, positions) = &mut found[code as usize];
        *count += 1;
        *positions += position;
    }
    let rows: u64 = found.iter().map(|(count, _)| count).sum();
    let n = rows as f64;
    let mean = (n - 1.0) / 2.0;
    let (mut product, mut squares) = (0.0_f64, 0.0_f64);
    let mut below = 0;
    for (count, positions) in found.into_iter().filter(|&(count, _)| count > 0) {
        let rank = (2 * below + count - 1) as f64 / 2.0 - mean;
        product += rank * (positions as f64 - count as f64 * mean);
        squares += rank * rank * count as f64;
        below += count;
    }
    let positions = n * (n * n - 1.0) / 12.0;
    (squares > 0.0).then(|| product / (squares * positions).sqrt())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn one_pass_finds_the_rho_of_middle_ranks(codes in prop::collection::vec(0..7_u32, 1..60)) {
            let n = codes.len() as f64;
            let ranks = codes.iter().map(|code| {
                let below = codes.iter().filter(|other| *other < code).count() as f64;
                let alike = codes.iter().filter(|other| *other == code).count() as f64;
                below + (alike - 1.0) / 2.0 - (n - 1.0) / 2.0
            });
            let ranks: Vec<f64> = ranks.collect();
            let places = (0..codes.len()).map(|at| at as f64 - (n - 1.0) / 2.0);
            let product: f64 = places.clone().zip(&ranks).map(|(place, rank)| place * rank).sum();
            let squares: f64 = ranks.iter().map(|rank| rank * rank).sum();
            let places: f64 = places.map(|place| place * place).sum();
            match spearman(codes.iter().copied(), 9) {
                None => prop_assert_eq!(squares, 0.0),
                Some(rho) => prop_assert!((rho - product / (squares * places).sqrt()).abs() < 1e-9),
            }
        }
    }

    #[test]
    fn a_sorted_column_has_rho_one_and_a_constant_one_none() {
        let rising: Vec<u32> = (0..40).collect();
        assert!((spearman(rising, 40).unwrap() - 1.0).abs() < 1e-12);
        let falling: Vec<u32> = (0..40).rev().collect();
        assert!((spearman(falling, 40).unwrap() + 1.0).abs() < 1e-12);
        assert_eq!(spearman([3; 40], 40), None);
    }

    #[test]
    fn ties_take_their_middle_rank() {
        // Ranks 0.5 0.5 2.5 2.5 against 0 1 2 3: 4 / sqrt(4 * 5).
        let rho = spearman([7, 7, 9, 9], 10).unwrap();
        assert!((rho - 4.0 / 20.0_f64.sqrt()).abs() < 1e-12);
    }
}
