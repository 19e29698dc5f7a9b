//! What a policy takes from the values of the table: which attributes lack
//! some, and how far apart values of its scale are.
//!
//! Both show in a release. So anyone who asked to be in none plays no part: else
//! a least spread could tell an excluded subject's number, and buckets of one
//! value more that a subject's value is missing.

use crate::microdata::{
    AttributeIndex, AttributeType, Code, CodedColumn, Domain, RecordIndex, Table,
};

use super::policy::Policy;
use super::protected::{ProtectedIndex, ProtectedSet};
use super::protection::Spread;

/// The records of those who did not ask to be left out.
pub(super) struct Asking<'a> {
    table: &'a Table,
    /// By subject, whether they asked to be in no release.
    excluded: Vec<bool>,
}

impl<'a> Asking<'a> {
    /// The records of a table whose subjects are not excluded.
    pub(super) fn new(table: &'a Table, excluded: Vec<bool>) -> Self {
        Self { table, excluded }
    }

    /// An attribute with the number of these records that have each code.
    fn counts(&self, attribute: AttributeIndex) -> Option<(&'a CodedColumn, Vec<u32>)> {
        let column = self.table.coded(attribute)?;
        let mut counts = column.histogram();
        if !self.excluded.contains(&true) {
            return Some((column, counts));
        }
        for (at, code) in column.codes.iter().enumerate() {
            let subject = self.table.subject_of(RecordIndex::from_usize(at));
            counts[code as usize] -= u32::from(self.excluded[subject.at()]);
        }
        Some((column, counts))
    }
}

/// Gives spreads that follow the table's scale their size. By ranks, so that no
/// extreme value decides, and it is published itself: it tells of two values
/// out of the middle nine tenths.
pub(super) fn scale_spreads(asking: &Asking<'_>, policy: &mut Policy) {
    policy.model.change_spreads(|attribute, min_spread| {
        if *min_spread == Spread::OfScale {
            let counted = asking.counts(attribute);
            let scale = counted.and_then(|(column, counts)| spread_of(&column.domain, counts));
            *min_spread = scale.map_or(Spread::Nothing, Spread::AtLeast);
        }
    });
}

/// A tenth of what lies between the 5th and the 95th of a hundred known
/// values, in whole units where values are whole; none for categories.
fn spread_of(domain: &Domain, mut counts: Vec<u32>) -> Option<f64> {
    if !domain.is_numeric() {
        return None;
    }
    if let Some(missing) = domain.missing() {
        counts[missing.at()] = 0;
    }
    let known: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    let at = |rank: u64| {
        let mut before = 0;
        let found = counts.iter().position(|&count| {
            before += u64::from(count);
            before > rank
        });
        found.map(|code| domain.number(Code::from_usize(code)))
    };
    let last = known.checked_sub(1)?;
    // Divided first: what lies between may be more than a number can say.
    let tenth = at(last * 95 / 100)? / 10.0 - at(last * 5 / 100)? / 10.0;
    let spread = match domain.kind() {
        AttributeType::Decimal => tenth,
        _ => tenth.floor(),
    };
    (spread > 0.0).then_some(spread)
}

/// The protected attributes of which some of these records lacks the value.
pub(super) fn lacking(asking: &Asking<'_>, policy: &Policy) -> ProtectedSet {
    let protections = (0..).zip(policy.protections());
    let lacks = protections.filter(|(_, (attribute, _))| {
        let column = asking.table.coded(*attribute);
        // Most attributes have no missing value: they need no counting.
        let missing = column.and_then(|column| column.domain.missing());
        missing.is_some_and(|missing| {
            let counted = asking.counts(*attribute);
            counted.is_some_and(|(_, counts)| counts[missing.at()] > 0)
        })
    });
    lacks.fold(ProtectedSet::default(), |set, (at, _)| {
        set.with(ProtectedIndex(at))
    })
}

#[cfg(test)]
mod tests {
    use crate::microdata::Values;

    use super::*;

    fn spread_of_decimals(values: &[f64]) -> Option<f64> {
        let domain = Domain::new(Values::Decimal(values.to_vec()), None);
        spread_of(&domain, vec![10; values.len()])
    }

    #[test]
    fn a_spread_is_a_number_however_far_apart_values_lie() {
        assert_eq!(
            spread_of_decimals(&[-1.7e308, 1.7e308]),
            Some(1.7e307 * 2.0)
        );
        assert_eq!(spread_of_decimals(&[7.0]), None);
        assert_eq!(spread_of_decimals(&[]), None);
    }
}
