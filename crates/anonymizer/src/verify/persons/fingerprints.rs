//! What published fingerprints say about the subjects behind them.
//!
//! - `fingerprints_well_formed`: every member is a node of its attribute's
//!   tree, or a union of neighbouring children of one node.
//! - `fingerprints_are_antichains`: no member covers what another one does.
//! - `fingerprints_cover_their_source`: every value of the subject lies under
//!   a member.
//! - `fingerprints_invent_nothing`: every member has a value of the subject
//!   under it.
//!
//! The last two merge two ascending lists a cell: linear in their members.

use super::items::Fault;
use super::view::PersonsView;
use crate::verify::verdict::{Check, Failures, Place};

/// The four checks.
pub(super) fn fingerprints(view: &PersonsView) -> [Check; 4] {
    let mut unknown = Failures::none();
    let mut overlapping = Failures::none();
    let mut uncovered = Failures::none();
    let mut invented = Failures::none();
    for attribute in &view.sensitive {
        for row in 0..view.rows() {
            let place = Place::Row(row as u64 + 1);
            let published = attribute.fingerprint(row);
            match published.fault {
                Some(Fault::Unknown) => {
                    unknown.add_at(attribute.name, place);
                    continue;
                }
                Some(Fault::Overlapping) => {
                    overlapping.add_at(attribute.name, place);
                    continue;
                }
                None => {}
            }
            let Some(subject) = view.subject(row) else {
                continue;
            };
            let nodes = published.nodes.iter().map(|&at| {
                let node = view.trees.node(at);
                (node.first, node.last)
            });
            let (misses, invents) = compare(attribute.source.of_subject(subject), nodes);
            if misses {
                uncovered.add_at(attribute.name, place);
            }
            if invents {
                invented.add_at(attribute.name, place);
            }
        }
    }
    [
        Check::structure("fingerprints_well_formed", &unknown),
        Check::structure("fingerprints_are_antichains", &overlapping),
        Check::structure("fingerprints_cover_their_source", &uncovered),
        Check::structure("fingerprints_invent_nothing", &invented),
    ]
}

/// Whether a value lies under no node, and whether a node has no value; both
/// lists ascend and no two nodes overlap.
fn compare(codes: &[u32], nodes: impl Iterator<Item = (u32, u32)>) -> (bool, bool) {
    let (mut misses, mut invents) = (false, false);
    let mut rest = codes;
    for (first, last) in nodes {
        let before = rest.partition_point(|&code| code < first);
        misses |= before > 0;
        let under = rest[before..].partition_point(|&code| code <= last);
        invents |= under == 0;
        rest = &rest[before + under..];
    }
    (misses || !rest.is_empty(), invents)
}

#[cfg(test)]
mod tests {
    use super::compare;

    #[test]
    fn values_outside_nodes_and_nodes_without_values_are_told_apart() {
        let compare = |codes: &[u32], nodes: &[(u32, u32)]| compare(codes, nodes.iter().copied());
        assert_eq!(compare(&[1, 4, 5], &[(0, 2), (4, 5)]), (false, false));
        assert_eq!(compare(&[1, 3, 5], &[(0, 2), (4, 5)]), (true, false));
        assert_eq!(compare(&[1], &[(0, 2), (4, 5)]), (false, true));
        assert_eq!(compare(&[1, 6], &[(0, 2), (4, 5)]), (true, true));
        assert_eq!(compare(&[3], &[]), (true, false));
    }
}
