//! Subjects who are excluded though one group of everyone would meet their terms.
//!
//! The most that a release can do for a subject is one group of everyone in
//! which every value is the root. There P_leak of a value is its frequency in
//! the dataset version, and of a guard the frequency of all values under it.
//! A subject is left out with need only if that is beyond their bound, or if
//! their K is more than all records that are published, themselves included.
//! No one group can do better; and where it does not fail, recoding raises
//! values until the subject's terms hold, so that nobody stays away for
//! another's terms.

use crate::microdata::{RecordIndex, Table};
use crate::privacy::Requirements;

use super::guards::guarded;

/// Number of `absent`, each by one record, who could be put back among so many
/// `published`.
pub(in crate::verify) fn without_need(
    table: &Table,
    requirements: &Requirements,
    published: u64,
    absent: &[RecordIndex],
) -> usize {
    let Some(index) = requirements.protected().next() else {
        return 0;
    };
    let Some(column) = table.coded(requirements.attribute(index)) else {
        return 0;
    };
    if absent.is_empty() {
        return 0;
    }
    // Records with a code below each.
    let mut below = vec![0_u64; column.domain.len() + 1];
    for code in column.codes.iter() {
        below[code as usize + 1] += 1;
    }
    for code in 0..column.domain.len() {
        below[code + 1] += below[code];
    }
    let tree = column.domain.hierarchy().map(AsRef::as_ref);
    let within = |first: u32, last: u32| below[last as usize + 1] - below[first as usize];
    let records = table.records() as u64;
    let could_be = |&&record: &&RecordIndex| {
        let terms = requirements.of(record);
        let share = terms.max_share[index.at()];
        let k = terms.k.max(share.reciprocal_ceiling());
        let code = column.code(record).0;
        let spans = guarded(tree, terms).unwrap_or_default();
        let guards = spans.iter().map(|&(first, last)| within(first, last));
        u64::from(k) <= published + 1
            && share.allows(within(code, code), records)
            && share.allows(guards.sum(), records)
    };
    absent.iter().filter(could_be).count()
}
