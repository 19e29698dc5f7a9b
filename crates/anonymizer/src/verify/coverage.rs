//! What published cells say about the records behind them.
//!
//! - `cells_cover_their_source`: the interval, node or set holds the record's
//!   value (masked holds any; a flagged cell shows nothing and is checked by
//!   `membership`).
//! - `insensitive_exact`: an insensitive attribute is published as it is.
//! - `cells_span_their_group`: a cell says no more than the rows that look
//!   like it: its interval is the least that holds their values, its node
//!   their lowest common ancestor, its set the values present (engines.md,
//!   stage 3). A wider cell still covers, but its ends would have to come from
//!   elsewhere: from a record that was left out, for one. Groups that a series
//!   keeps show the cells that were public before.

use rayon::prelude::*;

use crate::microdata::{Code, Role};
use crate::privacy::KeptGroups;

use super::equivalence::EquivalenceClasses;
use super::meaning::{ANY, Meaning, least_of_numbers};
use super::verdict::{Check, Failures, Place};
use super::view::{AttributeView, View};

/// The three checks, attribute by attribute.
pub(super) fn cells(view: &View, alike: &EquivalenceClasses) -> [Check; 3] {
    let parts = view
        .attributes
        .par_iter()
        .map(|attribute| match attribute.role {
            Role::Insensitive => (Failures::none(), exact(view, attribute), Failures::none()),
            // In a bucket, or published by the rules of the engine.
            Role::Sensitive => (cover(view, attribute), Failures::none(), Failures::none()),
            _ => (
                cover(view, attribute),
                Failures::none(),
                span(view, attribute, alike),
            ),
        });
    let parts: Vec<_> = parts.collect();
    let mut all = (Failures::none(), Failures::none(), Failures::none());
    for part in parts {
        all = (all.0.and(part.0), all.1.and(part.1), all.2.and(part.2));
    }
    [
        Check::structure("cells_cover_their_source", &all.0),
        Check::structure("insensitive_exact", &all.1),
        Check::structure("cells_span_their_group", &all.2),
    ]
}

fn cover(view: &View, attribute: &AttributeView) -> Failures {
    let mut failures = Failures::none();
    let spans: Vec<(u32, u32)> = attribute.cells.meanings.iter().map(span_of).collect();
    for row in 0..view.rows() {
        let Some(code) = view.source(attribute, row) else {
            continue;
        };
        let (first, last) = spans[attribute.cells.codes.at(row) as usize];
        let within = first <= code && code <= last;
        if within || attribute.cells.meaning(row).covers(code) {
            continue;
        }
        let terms = view.terms(row).zip(attribute.protected);
        if !terms.is_some_and(|(terms, index)| terms.flags.contains(index)) {
            failures.add_at(attribute.name, Place::Row(row as u64 + 1));
        }
    }
    failures
}

/// First and last code of a meaning that covers all codes between two; for
/// other meanings a span that holds no code.
fn span_of(meaning: &Meaning) -> (u32, u32) {
    match *meaning {
        Meaning::Masked => (0, u32::MAX),
        Meaning::Span { first, last } => (first, last),
        Meaning::Empty | Meaning::Values(_) | Meaning::SpanOrMissing { .. } | Meaning::Unknown => {
            (1, 0)
        }
    }
}

fn exact(view: &View, attribute: &AttributeView) -> Failures {
    let mut failures = Failures::none();
    for row in 0..view.rows() {
        let source = view.source(attribute, row);
        if source.is_some() && attribute.cells.meaning(row).single() != source {
            failures.add_at(attribute.name, Place::Row(row as u64 + 1));
        }
    }
    failures
}

fn span(view: &View, attribute: &AttributeView, alike: &EquivalenceClasses) -> Failures {
    let mut failures = Failures::none();
    let mut codes: Vec<u32> = Vec::new();
    for class in 0..alike.len() {
        let rows = alike.rows(class);
        let Some(&first) = rows.first() else {
            continue;
        };
        // Rows of a class look the same: the first row's cell stands for all.
        let meaning = attribute.cells.meaning(first as usize);
        // What stands in place of a flagged value spans nothing.
        let is_hidden = matches!(meaning, Meaning::Empty | Meaning::Masked);
        if is_hidden && attribute.role != Role::QuasiIdentifier {
            continue;
        }
        // What a public release showed is shown again (`kept_groups`).
        let is_kept = |groups: &KeptGroups| {
            let mut records = rows.iter().map(|&row| view.records[row as usize]);
            records.any(|record| groups.class(record).is_some())
        };
        if view.requirements.groups_shown_again().is_some_and(is_kept) {
            continue;
        }
        codes.clear();
        codes.extend(
            rows.iter()
                .filter_map(|&row| view.source(attribute, row as usize)),
        );
        if !is_least(attribute, meaning, &mut codes) {
            failures.add_at(
                attribute.name,
                Place::Group(alike.group_number(view.group, class)),
            );
        }
    }
    failures
}

/// Whether no narrower cell of the same kind covers all of `codes`.
pub(super) fn is_least(attribute: &AttributeView, meaning: &Meaning, codes: &mut Vec<u32>) -> bool {
    let (Some(&low), Some(&high)) = (codes.iter().min(), codes.iter().max()) else {
        return true;
    };
    if let Some(Code(missing)) = attribute.domain.missing_number() {
        return *meaning == least_of_numbers(codes.iter().copied(), missing);
    }
    match (meaning, attribute.domain.hierarchy()) {
        (Meaning::Masked, Some(hierarchy)) if !attribute.domain.is_numeric() => {
            // A root with a name of its own is published by its name.
            let node = hierarchy.node(hierarchy.common_ancestor(Code(low), Code(high)));
            node.depth == 0 && node.label == ANY
        }
        (Meaning::Values(values), None) => {
            codes.sort_unstable();
            codes.dedup();
            values == codes
        }
        (Meaning::Span { first, last }, Some(hierarchy)) if !attribute.domain.is_numeric() => {
            let node = hierarchy.node(hierarchy.common_ancestor(Code(low), Code(high)));
            (Code(*first), Code(*last)) == (node.first_leaf, node.last_leaf())
        }
        (Meaning::Span { first, last }, _) => (*first, *last) == (low, high),
        _ => false,
    }
}
