//! Releases with one row a record: blocks are the groups of the table
//! `microdata`, and rows show a sensitive value.
//!
//! `arp` by generalization: rows of a group look the same, and their values
//! are the group's. What holds of groups must also hold of all rows that look
//! the same: groups that do are one group to an adversary. The other forms
//! have files of their own: `randomized`, `ring`.

use crate::microdata::Role;
use crate::privacy::{BlockForm, ProtectedIndex, Seed};
use crate::release::Content;

use super::super::attack::{Homes, linkage};
use super::super::conservation::blocks_numbered;
use super::super::coverage;
use super::super::diversity::{spread, spread_of_parts};
use super::super::evidence::Evidence;
use super::super::k_anonymity::LargestK;
use super::super::leakage::{Ratio, Worst};
use super::super::meaning::MeaningColumn;
use super::super::rules::{Rows, Rules};
use super::super::shape::{self, MICRODATA};
use super::super::signature::{Signatures, Subjects};
use super::super::verdict::{Check, Failures, Place, Section};
use super::super::view::{AttributeView, View};
use super::{compared, floor, guarantees_not_examined, randomized, ring};

/// The rules of a form whose table is `microdata`.
pub(super) fn rules<'e>(evidence: &'e Evidence<'e>, form: BlockForm, homes: Homes) -> Rules<'e> {
    let expected = shape::expected_microdata(evidence.table.schema(), Content::Exact);
    Rules::new(expected.into(), Rows::Records(MICRODATA), move |expected| {
        let mut checks = Vec::new();
        match View::of(evidence, expected) {
            Some(view) => with_view(&view, (form, evidence.seed, &homes), &mut checks),
            None => checks.extend(guarantees_not_examined(evidence)),
        }
        checks
    })
}

/// The ways in which rows fall together.
pub(super) struct Ways {
    /// By published number.
    pub(super) groups: Signatures,
    /// By what quasi-identifiers show.
    pub(super) looks: Signatures,
}

fn with_view(
    view: &View,
    (form, seed, homes): (BlockForm, &Seed, &Homes),
    checks: &mut Vec<Check>,
) {
    let quasi = view.attributes.iter();
    let quasi = quasi.filter(|attribute| attribute.role == Role::QuasiIdentifier);
    let columns: Vec<&MeaningColumn> = quasi.map(|attribute| &attribute.cells).collect();
    let subjects = Subjects {
        of_row: &view.records,
        number: view.table.records(),
    };
    let ways = Ways {
        groups: Signatures::of_groups(view.group, subjects),
        looks: Signatures::of_columns(view.group, &columns, subjects),
    };
    let is_alike = form == BlockForm::Generalized;
    let strangers: &[u32] = if is_alike { &ways.looks.strangers } else { &[] };
    let [numbered, alike] = blocks_numbered(view.group, strangers);
    view.cancel.heed();
    checks.push(numbered);
    let mut worst = Worst::default();
    match form {
        BlockForm::Generalized => {
            view.cancel.heed();
            checks.push(alike);
            // By group: joined with others of its look it might be wider.
            view.cancel.heed();
            checks.extend(coverage::cells(view, &ways.groups));
            view.cancel.heed();
            checks.push(sensitive_exact(view));
            generalized(view, &ways, &mut worst, checks);
        }
        BlockForm::Randomized { .. } => {
            randomized::verify(view, &ways, form, seed, (&mut worst, checks));
        }
        _ => ring::verify(view, &ways, seed, (&mut worst, checks)),
    }
    let compared = view.protected();
    let form = (form, homes);
    view.cancel.heed();
    checks.extend(compared.map(|protected| compared::of_rows(view, &ways, form, protected)));
    view.cancel.heed();
    checks.push(worst.check("terms_exceeded"));
}

/// The guarantees of groups that look the same.
fn generalized(view: &View, ways: &Ways, worst: &mut Worst, checks: &mut Vec<Check>) {
    for row in 0..view.rows() {
        if let Some(terms) = view.terms(row) {
            worst.take(Ratio {
                attained: u128::from(terms.k),
                accepted: u128::from(ways.looks.sizes[ways.looks.class_of_row[row] as usize]),
                place: Place::Group(view.group[row]),
            });
        }
    }
    for (index, attribute) in view.protected() {
        let both = [&ways.groups, &ways.looks];
        let both = both.map(|classes| l_diversity(view, (index, attribute), classes, worst));
        // Of one check made in two ways the one that fails, or attains less.
        let least = both.into_iter().min_by(|a, b| {
            let figures = a
                .attained
                .unwrap_or(0.0)
                .total_cmp(&b.attained.unwrap_or(0.0));
            a.holds.cmp(&b.holds).then(figures)
        });
        checks.extend(least);
        checks.extend(min_spread(view, (index, attribute), ways));
    }
    let k = view.requirements.policy().k.get();
    let largest_k = LargestK::of(&ways.looks, k, |row| Some(view.terms(row)?.k));
    checks.push(linkage(view.group, &ways.looks, &largest_k));
}

/// `l_diversity` of the published values of classes of rows.
fn l_diversity(
    view: &View,
    (index, attribute): (ProtectedIndex, &AttributeView),
    classes: &Signatures,
    worst: &mut Worst,
) -> Check {
    let claimed = floor(view.requirements, index);
    let mut attained: Option<(bool, u64, u64)> = None;
    let mut below = 0_u64;
    for class in 0..classes.len() {
        let rows = classes.rows(class);
        let (most, size) = (largest_count(attribute, rows), rows.len() as u64);
        let number = classes.group_number(view.group, class);
        let asked = rows.iter();
        let asked = asked.filter_map(|&row| Some(view.terms(row as usize)?.l[index.at()]));
        let demanded = asked.max().unwrap_or(claimed).max(claimed);
        let ratio = Ratio {
            attained: u128::from(most) * u128::from(demanded),
            accepted: u128::from(size),
            place: Place::Group(number),
        };
        let is_short = ratio.attained > ratio.accepted;
        below += u64::from(is_short);
        worst.take(ratio);
        let entry = (!is_short, size / most.max(1), number);
        attained = Some(attained.map_or(entry, |known| known.min(entry)));
    }
    Check::new(Section::Guarantee, "l_diversity")
        .about(attribute.name)
        .claiming(f64::from(claimed))
        .attaining(
            attained.map(|(_, l, _)| l as f64),
            attained.map(|(.., number)| Place::Group(number)),
        )
        .holding(below == 0)
        .with_figure("groups_below_l", below as f64)
}

/// `min_spread` of the published values of groups, where it is claimed; classes
/// of rows that look the same are groups, or several of them.
fn min_spread(
    view: &View,
    (index, attribute): (ProtectedIndex, &AttributeView),
    ways: &Ways,
) -> Option<Check> {
    let claimed = view.requirements.protection(index).min_spread()?;
    let missing = attribute.domain.missing().map(|code| code.0);
    let spans = (0..ways.groups.len()).filter_map(|class| {
        let rows = ways.groups.rows(class).iter();
        let shown = rows.filter_map(|&row| attribute.cells.meaning(row as usize).single());
        let known = shown.filter(|&code| Some(code) != missing);
        let mut known: Vec<(u32, u64)> = known.map(|code| (code, 1)).collect();
        known.sort_unstable();
        let number = ways.groups.group_number(view.group, class);
        let span = spread(attribute.domain, &known);
        (!known.is_empty()).then_some((span, Place::Group(number)))
    });
    Some(spread_of_parts(attribute.name, claimed, spans))
}

/// How many of these rows show the most frequent value; values that cannot be
/// read count as one.
pub(super) fn largest_count(attribute: &AttributeView, rows: &[u32]) -> u64 {
    let shown = rows.iter();
    let mut shown: Vec<Option<u32>> = shown
        .map(|&row| attribute.cells.meaning(row as usize).single())
        .collect();
    shown.sort_unstable();
    let runs = shown.chunk_by(|a, b| a == b);
    runs.map(|run| run.len() as u64).max().unwrap_or(0)
}

/// `sensitive_exact`: rows show the sensitive value of their record.
pub(super) fn sensitive_exact(view: &View) -> Check {
    let mut failures = Failures::none();
    for (_, attribute) in view.protected() {
        for row in 0..view.rows() {
            let source = view.source(attribute, row);
            if source.is_some() && attribute.cells.meaning(row).single() != source {
                failures.add_at(attribute.name, Place::Row(row as u64 + 1));
            }
        }
    }
    Check::structure("sensitive_exact", &failures)
}

/// `cells_cover_their_source` and `insensitive_exact` of rows that show more
/// than their own record (`is_exact`: nothing else).
pub(super) fn cover(view: &View, is_exact: bool) -> [Check; 2] {
    let (mut quasi, mut insensitive) = (Failures::none(), Failures::none());
    for attribute in &view.attributes {
        for row in 0..view.rows() {
            let Some(code) = view.source(attribute, row) else {
                continue;
            };
            let meaning = attribute.cells.meaning(row);
            let place = Place::Row(row as u64 + 1);
            let is_shown = meaning.single() == Some(code);
            match attribute.role {
                Role::Insensitive if !is_shown => insensitive.add_at(attribute.name, place),
                Role::QuasiIdentifier if is_exact && !is_shown => {
                    quasi.add_at(attribute.name, place);
                }
                Role::QuasiIdentifier if !meaning.covers(code) => {
                    quasi.add_at(attribute.name, place);
                }
                _ => {}
            }
        }
    }
    [
        Check::structure("cells_cover_their_source", &quasi),
        Check::structure("insensitive_exact", &insensitive),
    ]
}
