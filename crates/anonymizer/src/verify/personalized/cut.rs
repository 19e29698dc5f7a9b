//! What published sensitive values are.
//!
//! - `sensitive_values_under_their_node`: each is a node of the hierarchy at
//!   or above the record's value.
//! - `sensitive_nodes_do_not_overlap`: the nodes of rows that look the same
//!   form an antichain. A node beside one under it would tell that its value
//!   was not published as the lower one, and why.

use super::published::Published;
use crate::verify::equivalence::EquivalenceClasses;
use crate::verify::verdict::{Check, Failures, Place};
use crate::verify::view::{AttributeView, View};

pub(super) fn values_under_their_node(
    view: &View,
    sensitive: &AttributeView,
    published: &Published,
) -> Check {
    let mut failures = Failures::none();
    for row in 0..view.rows() {
        let span = published.span_of_row[row];
        let leaf = published.leaf_of_row[row];
        let holds = match (span, leaf) {
            (None, _) => false,
            (Some((first, last)), Some(leaf)) => first <= leaf && leaf <= last,
            // A row without a record is named elsewhere.
            (Some(_), None) => true,
        };
        if !holds {
            failures.add_at(sensitive.name, Place::Row(row as u64 + 1));
        }
    }
    Check::structure("sensitive_values_under_their_node", &failures)
}

pub(super) fn nodes_do_not_overlap(
    view: &View,
    alike: &EquivalenceClasses,
    published: &Published,
) -> Check {
    let mut failures = Failures::none();
    for (class, nodes) in published.of_class.iter().enumerate() {
        // Ascending by first leaf: of two that overlap some neighbours do.
        let overlap = nodes.windows(2).any(|pair| {
            let ((_, last), (first, _)) = (pair[0].0, pair[1].0);
            first <= last
        });
        if overlap {
            let group = alike.group_number(view.group, class);
            failures.add_at(published.name, Place::Group(group));
        }
    }
    Check::structure("sensitive_nodes_do_not_overlap", &failures)
}
