//! What published quasi-identifiers say about the subjects behind them.
//!
//! - `cells_cover_their_source`: the interval, node or set holds all that
//!   counts of the subject's values: those of the first or last record, or of
//!   every one (`qid_conflict`).
//! - `cells_span_their_group`: a cell says no more than its group: it is the
//!   least that covers what counts of its members. A wider one still covers,
//!   but its ends would have to come from elsewhere.

use rayon::prelude::*;

use crate::microdata::{Code, NodeIndex};

use super::source::is_plain_set;
use super::view::{PersonsView, QuasiView};
use crate::verify::equivalence::EquivalenceClasses;
use crate::verify::meaning::{Meaning, least_of_numbers};
use crate::verify::verdict::{Check, Failures, Place};

/// Both checks; `groups` are those that the table names.
pub(super) fn cells(view: &PersonsView, groups: &EquivalenceClasses) -> [Check; 2] {
    let parts = view.quasi.par_iter();
    let parts: Vec<_> = parts
        .map(|attribute| (cover(view, attribute), span(view, attribute, groups)))
        .collect();
    let mut all = (Failures::none(), Failures::none());
    for part in parts {
        all = (all.0.and(part.0), all.1.and(part.1));
    }
    [
        Check::structure("cells_cover_their_source", &all.0),
        Check::structure("cells_span_their_group", &all.1),
    ]
}

fn cover(view: &PersonsView, attribute: &QuasiView) -> Failures {
    let mut failures = Failures::none();
    for row in 0..view.rows() {
        let Some(subject) = view.subject(row) else {
            continue;
        };
        let meaning = attribute.cells.meaning(row);
        if !attribute.source.covered_by(meaning, subject) {
            failures.add_at(attribute.name, Place::Row(row as u64 + 1));
        }
    }
    failures
}

fn span(view: &PersonsView, attribute: &QuasiView, groups: &EquivalenceClasses) -> Failures {
    let mut failures = Failures::none();
    let mut members: Vec<u32> = Vec::new();
    for group in 0..groups.len() {
        let rows = groups.rows(group);
        members.clear();
        members.extend(rows.iter().filter_map(|&row| view.subject(row as usize)));
        let Some(least) = Least::of(attribute, &members) else {
            continue;
        };
        // Most groups have one cell: each distinct one is compared once.
        let mut compared = None;
        for &row in rows {
            let code = attribute.cells.codes.at(row as usize);
            if compared == Some(code) {
                continue;
            }
            compared = Some(code);
            if !least.is_said_by(attribute.cells.meaning(row as usize)) {
                failures.add_at(
                    attribute.name,
                    Place::Group(groups.group_number(view.group, group)),
                );
                break;
            }
        }
    }
    failures
}

/// The least cell that covers some subjects.
enum Least {
    Masked,
    Span {
        first: u32,
        last: u32,
    },
    Values(Vec<u32>),
    /// Of numbers or days some of which are missing.
    Numbers(Meaning),
}

impl Least {
    fn of(attribute: &QuasiView, subjects: &[u32]) -> Option<Self> {
        let source = &attribute.source;
        let low = subjects.iter().map(|&at| source.low[at as usize]).min()?;
        let high = subjects.iter().map(|&at| source.high[at as usize]).max()?;
        if is_plain_set(attribute.domain) {
            let mut codes = Vec::new();
            for &subject in subjects {
                source.add_codes(subject, &mut codes);
            }
            codes.sort_unstable();
            codes.dedup();
            return Some(match codes.as_slice() {
                &[one] => Self::Span {
                    first: one,
                    last: one,
                },
                _ => Self::Values(codes),
            });
        }
        if let Some(Code(missing)) = attribute.domain.missing_number() {
            let mut codes = Vec::new();
            for &subject in subjects {
                source.add_codes(subject, &mut codes);
            }
            return Some(Self::Numbers(least_of_numbers(codes.into_iter(), missing)));
        }
        let hierarchy = attribute.domain.hierarchy();
        let Some(hierarchy) = hierarchy.filter(|_| !attribute.domain.is_numeric()) else {
            return Some(Self::Span {
                first: low,
                last: high,
            });
        };
        let index = hierarchy.common_ancestor(Code(low), Code(high));
        let node = hierarchy.node(index);
        if index == NodeIndex::ROOT && node.label == "*" {
            return Some(Self::Masked);
        }
        Some(Self::Span {
            first: node.first_leaf.0,
            last: node.last_leaf().0,
        })
    }

    fn is_said_by(&self, meaning: &Meaning) -> bool {
        match (self, meaning) {
            (Self::Masked, Meaning::Masked) => true,
            (
                Self::Span { first, last },
                Meaning::Span {
                    first: from,
                    last: to,
                },
            ) => (first, last) == (from, to),
            (Self::Values(least), Meaning::Values(codes)) => least == codes,
            (Self::Numbers(least), meaning) => least == meaning,
            _ => false,
        }
    }
}
