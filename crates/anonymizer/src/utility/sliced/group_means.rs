//! Error of group means of a sliced release: attributes of one column stay
//! linked; of two columns a reader takes the mean over the bucket.

use super::correlation::Binned;
use super::prepared::PreparedSliced;
use crate::utility::group_means::{Averaged, GroupMeans, Grouping, numbers, of_pairs};
use crate::utility::spread::BINS_MAX;

/// Measures pairs of attributes in columns of which one is sensitive.
pub(super) fn measure(prepared: &PreparedSliced<'_>, binned: &[Binned]) -> GroupMeans {
    let whole: Vec<(u32, f32)> = (0..).map(|bin| (bin, 1.0)).take(BINS_MAX).collect();
    let averaged: Vec<Averaged<'_>> = binned
        .iter()
        .filter_map(|attribute| averaged(prepared, attribute))
        .collect();
    let groupings = binned.iter().map(|attribute| grouping(attribute, &whole));
    let groupings: Vec<Grouping<'_>> = groupings.collect();
    let columns = |name: &str| {
        let found = binned.iter().find(|attribute| attribute.name == name);
        found.map_or(&[][..], |attribute| &attribute.columns)
    };
    of_pairs(prepared.rows, (&averaged, &groupings), |one, other| {
        columns(one)
            .iter()
            .any(|column| columns(other).contains(column))
    })
}

fn grouping<'g>(attribute: &'g Binned, whole: &'g [(u32, f32)]) -> Grouping<'g> {
    Grouping {
        name: &attribute.name,
        is_sensitive: attribute.is_sensitive,
        bins: attribute.bins,
        original: Box::new(|row| attribute.of_record[row] as usize),
        shown: Box::new(|row| attribute.of_row[row] as usize),
        shares: whole[..attribute.bins].chunks(1).collect(),
    }
}

/// The attribute with the mean of each row's bucket; none without numbers.
fn averaged<'g>(prepared: &'g PreparedSliced<'_>, binned: &'g Binned) -> Option<Averaged<'g>> {
    let mut all = prepared.linked().map(|(_, at)| &prepared.attributes[at]);
    let attribute = all.find(|attribute| attribute.name == binned.name)?;
    if !attribute.original.domain.is_numeric() {
        return None;
    }
    let numbers = numbers(&attribute.original.domain);
    let values = attribute.values();
    let mut sums = vec![(0.0, 0.0); prepared.sizes.len()];
    for (row, &bucket) in prepared.bucket_of_row.iter().enumerate() {
        let value = values[attribute.codes.at(row) as usize];
        let number = value.map(|code| numbers[code as usize]);
        if let Some(number) = number.filter(|number| !number.is_nan()) {
            let (sum, known) = &mut sums[bucket as usize];
            *sum += number;
            *known += 1.0;
        }
    }
    // Without a number this is 0/0: not a number either.
    let means: Vec<f64> = sums.into_iter().map(|(sum, known)| sum / known).collect();
    Some(Averaged {
        name: &binned.name,
        is_sensitive: binned.is_sensitive,
        original: Box::new(move |row| {
            let record = prepared.records[row] as usize;
            numbers[attribute.original.codes.at(record) as usize]
        }),
        shown: Box::new(move |row| means[prepared.bucket_of_row[row] as usize]),
    })
}
