//! Mean-square contingency φ² of two attributes: how far one tells the other.
//!
//! φ²(a, b) = Σ (f_ij − f_i f_j)² / (f_i f_j) / (min(r, c) − 1) over the
//! relative frequencies f, that is χ² / (n · (min(r, c) − 1)): 0 where the
//! attributes are independent, 1 where one decides the other. r and c count
//! the values that occur. Numbers and dates are cut into at most
//! [`INTERVALS_MAX`] intervals of nearly equal frequency first, for φ² only
//! (`[Slicing]` section 4.1, which `[ARP]` Alg. 1 takes over).
//!
//! It is counted in integers, each summand rounded down to a whole number of
//! parts: so the order of attributes by φ² is the same in whatever order they
//! are added up.

use crate::microdata::CodedColumn;

/// Intervals of an attribute of numbers or dates.
pub const INTERVALS_MAX: usize = 16;
/// Parts in which φ² is counted: 1 is this many.
const PARTS: u64 = 1 << 60;
/// A table with more cells than this is counted by sorting.
const DENSE_CELLS_MAX: usize = 1 << 20;

/// One column as φ² reads it: a category for each of the records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Categories {
    /// Category of each record, in the order of the records given.
    of_record: Vec<u32>,
    /// How often each category occurs; none is 0.
    counts: Vec<u32>,
}

impl Categories {
    /// The categories of a column over `records`: intervals of nearly equal
    /// frequency for numbers and dates, else the values themselves.
    pub fn of(column: &CodedColumn, records: &[u32]) -> Self {
        let mut counts = vec![0_u32; column.domain.len()];
        for &record in records {
            counts[column.codes.at(record as usize) as usize] += 1;
        }
        let (category_of_code, counts) = if column.domain.is_numeric() {
            intervals(&counts, records.len())
        } else {
            occurring(&counts)
        };
        let of_record = records.iter();
        let of_record = of_record
            .map(|&record| category_of_code[column.codes.at(record as usize) as usize])
            .collect();
        Self { of_record, counts }
    }

    /// Number of categories that occur.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

/// φ² of two columns over the same records, 0 to 1; 0 where one of them has
/// fewer than two categories. Both come from the same list of records.
pub fn phi_squared(left: &Categories, right: &Categories) -> f64 {
    phi_squared_parts(left, right) as f64 / PARTS as f64
}

/// φ² in parts of 2⁻⁶⁰. Each n_ij² / (n_i n_j) is rounded down to such parts
/// before they are added, and the mean over the degrees of freedom again.
pub fn phi_squared_parts(left: &Categories, right: &Categories) -> u64 {
    let least = left.len().min(right.len());
    if least < 2 {
        return 0;
    }
    let width = right.len() as u64;
    let pairs = left.of_record.iter().zip(&right.of_record);
    let pairs = pairs.map(|(&i, &j)| u64::from(i) * width + u64::from(j));
    let mut sum = 0_u128;
    let mut add = |cell: u64, count: u32| {
        let (i, j) = ((cell / width) as usize, (cell % width) as usize);
        let expected = u128::from(left.counts[i]) * u128::from(right.counts[j]);
        sum += u128::from(count) * u128::from(count) * u128::from(PARTS) / expected;
    };
    let cells = left.len().saturating_mul(right.len());
    if cells <= DENSE_CELLS_MAX {
        let mut counts = vec![0_u32; cells];
        pairs.for_each(|cell| counts[cell as usize] += 1);
        let counts = counts.iter().enumerate().filter(|&(_, &count)| count > 0);
        counts.for_each(|(cell, &count)| add(cell as u64, count));
    } else {
        let mut cells: Vec<u64> = pairs.collect();
        cells.sort_unstable();
        let runs = cells.chunk_by(|a, b| a == b);
        runs.for_each(|run| add(run[0], run.len() as u32));
    }
    // χ² / n = Σ n_ij² / (n_i n_j) − 1; rounding must not leave 0 to 1.
    let parts = sum.saturating_sub(PARTS.into()) / (least as u128 - 1);
    parts.min(PARTS.into()) as u64
}

/// Numbers the codes that occur.
fn occurring(counts: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut kept = Vec::new();
    let of_code = counts.iter().map(|&count| {
        if count > 0 {
            kept.push(count);
        }
        (kept.len() as u32).saturating_sub(1)
    });
    (of_code.collect(), kept)
}

/// Cuts codes into at most [`INTERVALS_MAX`] runs of nearly equal frequency;
/// a code belongs where the middle of its records falls.
fn intervals(counts: &[u32], records: usize) -> (Vec<u32>, Vec<u32>) {
    if counts.iter().filter(|&&count| count > 0).count() <= INTERVALS_MAX {
        return occurring(counts);
    }
    let (mut before, mut last) = (0_usize, None);
    let mut totals: Vec<u32> = Vec::new();
    let of_code = counts.iter().map(|&count| {
        if count > 0 {
            let middle = 2 * before + count as usize;
            let place = (middle * INTERVALS_MAX / (2 * records)).min(INTERVALS_MAX - 1);
            if last.replace(place) != Some(place) {
                totals.push(0);
            }
            before += count as usize;
        }
        let open = totals.len().saturating_sub(1);
        if let Some(total) = totals.last_mut() {
            *total += count;
        }
        open as u32
    });
    (of_code.collect(), totals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::microdata::{Domain, Values};

    fn column(values: Values, codes: &[u32]) -> CodedColumn {
        CodedColumn {
            domain: Domain::new(values, None).into(),
            codes: codes.to_vec().into(),
        }
    }

    fn labels(number: usize) -> Values {
        Values::Category((0..number).map(|at| format!("v{at:03}")).collect())
    }

    fn phi(left: &CodedColumn, right: &CodedColumn) -> f64 {
        let records: Vec<u32> = (0..left.codes.len() as u32).collect();
        let of = |column| Categories::of(column, &records);
        phi_squared(&of(left), &of(right))
    }

    #[test]
    fn independent_attributes_have_no_contingency() {
        let left = column(labels(2), &[0, 0, 0, 1, 1, 1, 1, 1, 1]);
        let right = column(labels(2), &[0, 1, 1, 0, 0, 1, 1, 1, 1]);
        assert!(phi(&left, &right) < 1e-12);
    }

    #[test]
    fn an_attribute_that_decides_the_other_has_all_contingency() {
        let left = column(labels(4), &[0, 0, 0, 1, 3, 3]);
        let right = column(labels(2), &[0, 0, 0, 1, 1, 1]);
        assert!((phi(&left, &right) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn contingency_is_chi_squared_over_records_and_degrees() {
        // Counts 3 1 / 1 3: χ² = 8 · (3·3 − 1·1)² / (4·4·4·4) = 2; over 8 · 1.
        let left = column(labels(2), &[0, 0, 0, 0, 1, 1, 1, 1]);
        let right = column(labels(2), &[0, 0, 0, 1, 0, 1, 1, 1]);
        assert!((phi(&left, &right) - 0.25).abs() < 1e-12);
    }

    #[test]
    fn a_constant_attribute_has_no_contingency() {
        let left = column(labels(3), &[2, 2, 2]);
        let right = column(labels(3), &[0, 1, 2]);
        assert_eq!(phi(&left, &right), 0.0);
        assert_eq!(phi(&column(labels(1), &[]), &column(labels(1), &[])), 0.0);
    }

    #[test]
    fn numbers_are_cut_into_intervals_of_equal_frequency() {
        let codes: Vec<u32> = (0..160).collect();
        let numbers = column(Values::Integer((0..160).collect()), &codes);
        let categories = Categories::of(&numbers, &codes);
        assert_eq!(categories.counts, vec![10; INTERVALS_MAX]);
        assert_eq!(categories.of_record[..20], [[0_u32; 10], [1; 10]].concat());
    }

    #[test]
    fn a_frequent_number_has_an_interval_of_its_own_and_all_are_counted() {
        let codes: Vec<u32> = (0..40).chain([7; 60]).collect();
        let numbers = column(Values::Integer((0..40).collect()), &codes);
        let records: Vec<u32> = (0..100).collect();
        let categories = Categories::of(&numbers, &records);
        assert!(categories.len() <= INTERVALS_MAX);
        assert_eq!(categories.counts.iter().sum::<u32>(), 100);
        let own = categories.of_record[7];
        assert_eq!(categories.counts[own as usize], 61);
    }

    #[test]
    fn tables_too_large_to_lie_dense_are_counted_alike() {
        let codes: Vec<u32> = (0..2000).collect();
        let left = column(labels(2000), &codes);
        let right = column(labels(2000), &codes);
        assert!((phi(&left, &right) - 1.0).abs() < 1e-12);
    }
}
