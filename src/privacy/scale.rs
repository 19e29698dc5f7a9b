//! What a policy takes from the values of the table: which attributes lack
//! some, and how far apart values of its scale are.

use crate::microdata::{AttributeType, Code, CodedColumn, Table};

use super::policy::{Policy, Protection, Spread};
use super::requirements::{ProtectedIndex, ProtectedSet};

/// Gives spreads that follow the table's scale their size. By ranks, so that no
/// extreme value decides, and by all records, whoever is published: it is
/// published itself, and tells of two values out of the middle nine tenths.
pub(super) fn scale_spreads(table: &Table, policy: &mut Policy) {
    for (attribute, protection) in &mut policy.protections {
        if let Protection::InGroup { min_spread, .. } | Protection::Diversity { min_spread, .. } =
            protection
            && *min_spread == Spread::OfScale
        {
            let column = table.coded(*attribute);
            let scale = column.and_then(spread_of_scale);
            *min_spread = scale.map_or(Spread::Nothing, Spread::AtLeast);
        }
    }
}

/// A tenth of what lies between the 5th and the 95th of a hundred known
/// values, in whole units where values are whole; none for categories.
fn spread_of_scale(column: &CodedColumn) -> Option<f64> {
    let domain = &column.domain;
    if !domain.is_numeric() {
        return None;
    }
    let mut counts = column.histogram();
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
    let tenth = (at(last * 95 / 100)? - at(last * 5 / 100)?) / 10.0;
    let spread = match domain.kind() {
        AttributeType::Decimal => tenth,
        _ => tenth.floor(),
    };
    (spread > 0.0).then_some(spread)
}

/// The protected attributes of which some record of the table lacks the value.
pub(super) fn lacking(table: &Table, policy: &Policy) -> ProtectedSet {
    let protections = (0..).zip(&policy.protections);
    let lacks = protections.filter(|(_, (attribute, _))| {
        let column = table.coded(*attribute);
        column.is_some_and(|column| match column.domain.missing() {
            Some(missing) => column.codes.iter().any(|code| code == missing.0),
            None => false,
        })
    });
    lacks.fold(ProtectedSet::default(), |set, (at, _)| {
        set.with(ProtectedIndex(at))
    })
}
