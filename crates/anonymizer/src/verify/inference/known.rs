//! What is known of people: a category for each quasi-identifier.

use crate::microdata::CodedColumn;

/// Categories of a quasi-identifier: of more values, numbers fall into so many
/// intervals of equally many people, and the rarest labels together.
const CATEGORIES_MAX: usize = 64;
/// The categories of people, one row a person.
pub struct Known {
    category_of: Vec<u16>,
    /// Categories of each quasi-identifier.
    pub sizes: Vec<usize>,
    /// Whether neighbouring categories are near each other.
    pub is_ordered: Vec<bool>,
}

impl Known {
    /// Those of these records.
    pub fn of(columns: &[&CodedColumn], records: &[u32]) -> Self {
        let mut category_of = vec![0; columns.len() * records.len()];
        let (mut sizes, mut is_ordered) = (Vec::new(), Vec::new());
        for (at, column) in columns.iter().enumerate() {
            let of_code = categories(column, records);
            let size = of_code
                .iter()
                .max()
                .map_or(0, |&last| usize::from(last) + 1);
            sizes.push(size);
            is_ordered.push(column.domain.is_numeric());
            let own = category_of.iter_mut().skip(at).step_by(columns.len());
            for (category, &record) in own.zip(records) {
                *category = of_code[column.codes.at(record as usize) as usize];
            }
        }
        Self {
            category_of,
            sizes,
            is_ordered,
        }
    }

    /// Those of a person.
    pub fn row(&self, person: usize) -> &[u16] {
        let width = self.sizes.len();
        &self.category_of[person * width..(person + 1) * width]
    }
}

/// Category of each code.
fn categories(column: &CodedColumn, records: &[u32]) -> Vec<u16> {
    let mut counts = vec![0_u64; column.domain.len()];
    for &record in records {
        counts[column.codes.at(record as usize) as usize] += 1;
    }
    if counts.len() <= CATEGORIES_MAX {
        return (0..counts.len() as u16).collect();
    }
    if column.domain.is_numeric() {
        let all = records.len().max(1) as u64;
        let mut before = 0;
        let interval = counts.iter().map(|&count| {
            let interval = before * CATEGORIES_MAX as u64 / all;
            before += count;
            interval.min(CATEGORIES_MAX as u64 - 1) as u16
        });
        return interval.collect();
    }
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_by_key(|&code| std::cmp::Reverse(counts[code]));
    let mut category = vec![0; counts.len()];
    for (rank, code) in order.into_iter().enumerate() {
        category[code] = rank.min(CATEGORIES_MAX - 1) as u16;
    }
    category
}
