//! What published cells say about the records behind them: exactly their
//! values. `cells_cover_their_source` is about quasi-identifiers,
//! `insensitive_exact` about insensitive attributes.

use crate::microdata::Role;

use super::view::QuasiView;
use crate::verify::verdict::{Check, Failures, Place};
use crate::verify::view::NONE;

/// The two checks.
pub(super) fn exact(view: &QuasiView) -> [Check; 2] {
    let (mut quasi, mut insensitive) = (Failures::none(), Failures::none());
    for attribute in &view.attributes {
        let failures = match attribute.role {
            Role::Insensitive => &mut insensitive,
            _ => &mut quasi,
        };
        for (row, &record) in view.records.iter().enumerate() {
            let shown = attribute.cells.meaning(row).single();
            if record != NONE && shown != Some(attribute.source.at(record as usize)) {
                failures.add_at(attribute.name, Place::Row(row as u64 + 1));
            }
        }
    }
    [
        Check::structure("cells_cover_their_source", &quasi),
        Check::structure("insensitive_exact", &insensitive),
    ]
}
