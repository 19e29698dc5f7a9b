//! `sensitive_exact`: a sensitive attribute is published as it is.
//!
//! All that is claimed of the values of a group speaks of what is published;
//! values that were exchanged between rows would keep every claim and tell
//! lies.

use crate::microdata::Role;

use crate::verify::verdict::{Check, Failures, Place};
use crate::verify::view::View;

/// The check: number of rows that do not show their record's value.
pub(super) fn sensitive_exact(view: &View) -> Check {
    let mut failures = Failures::none();
    let sensitive = view.attributes.iter();
    for attribute in sensitive.filter(|attribute| attribute.role == Role::Sensitive) {
        for row in 0..view.rows() {
            let source = view.source(attribute, row);
            if source.is_some() && attribute.cells.meaning(row).single() != source {
                failures.add_at(attribute.name, Place::Row(row as u64 + 1));
            }
        }
    }
    Check::structure("sensitive_exact", &failures)
}
