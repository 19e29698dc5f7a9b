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

use super::{compared, floor, randomized, ring};
use crate::verify::attack::{Homes, linkage};
use crate::verify::conservation::blocks_numbered;
use crate::verify::coverage;
use crate::verify::diversity::{Frequency, LeastL, spread, spread_of_parts};
use crate::verify::equivalence::{EquivalenceClasses, Subjects};
use crate::verify::evidence::Evidence;
use crate::verify::k_anonymity::LargestK;
use crate::verify::leakage::Worst;
use crate::verify::rules::{Rows, Rules};
use crate::verify::shape::{self, MICRODATA};
use crate::verify::verdict::{Check, Failures, Place, Section};
use crate::verify::view::{AttributeView, View};
use crate::verify::ways::{Worse, worst as worse_of};

/// The rules of a form whose table is `microdata`.
pub(super) fn rules<'e>(evidence: &'e Evidence<'e>, form: BlockForm, homes: Homes) -> Rules<'e> {
    let expected = shape::expected_microdata(evidence.table.schema(), Content::Exact);
    Rules::new(expected.into(), Rows::Records(MICRODATA), move |expected| {
        let mut checks = Vec::new();
        if let Some(view) = View::of(evidence, expected) {
            with_view(&view, (form, evidence.seed, &homes), &mut checks);
        }
        checks
    })
}

/// The ways in which rows fall together.
pub(super) struct Ways {
    /// By published number.
    pub(super) groups: EquivalenceClasses,
    /// By what quasi-identifiers show.
    pub(super) alike: EquivalenceClasses,
}

fn with_view(
    view: &View,
    (form, seed, homes): (BlockForm, &Seed, &Homes),
    checks: &mut Vec<Check>,
) {
    let ways = Ways {
        groups: EquivalenceClasses::of_groups(view.group, Subjects::of(view)),
        alike: EquivalenceClasses::of_quasi_identifiers(view),
    };
    let is_alike = form == BlockForm::Generalized;
    let mismatched: &[u32] = if is_alike {
        &ways.alike.mismatched
    } else {
        &[]
    };
    let [numbered, differing] = blocks_numbered(view.group, mismatched);
    view.cancel.heed();
    checks.push(numbered);
    let mut worst = Worst::default();
    match form {
        BlockForm::Generalized => {
            view.cancel.heed();
            checks.push(differing);
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
            let size = ways.alike.sizes[ways.alike.class(row)];
            worst.take_k(terms.k, size, Place::Group(view.group[row]));
        }
    }
    for (index, attribute) in view.protected() {
        let both = [&ways.groups, &ways.alike];
        let both = both.map(|classes| l_diversity(view, (index, attribute), classes, worst));
        checks.extend(worse_of(both.into(), Worse::Less));
        checks.extend(min_spread(view, (index, attribute), ways));
    }
    let k = view.requirements.policy().k.get();
    let largest_k = LargestK::of(&ways.alike, k, |row| Some(view.terms(row)?.k));
    checks.push(linkage(view.group, &ways.alike, &largest_k));
}

/// `l_diversity` of the published values of classes of rows.
fn l_diversity(
    view: &View,
    (index, attribute): (ProtectedIndex, &AttributeView),
    classes: &EquivalenceClasses,
    worst: &mut Worst,
) -> Check {
    let claimed = floor(view.requirements, index);
    let frequencies = (0..classes.len()).map(|class| {
        let rows = classes.rows(class);
        let asked = rows.iter();
        let asked = asked.filter_map(|&row| Some(view.terms(row as usize)?.l[index.at()]));
        let most = largest_count(attribute, rows);
        let demanded = asked.max().unwrap_or(claimed).max(claimed);
        let of = rows.len() as u64;
        let number = classes.group_number(view.group, class);
        worst.take_l(demanded, (most, of), Place::Group(number));
        Frequency {
            most,
            of,
            demanded,
            is_refused: false,
        }
    });
    let least = LeastL::of(frequencies);
    let number = |class| classes.group_number(view.group, class);
    Check::new(Section::Guarantee, "l_diversity")
        .about(attribute.name)
        .claiming(f64::from(claimed))
        .attaining(
            least.worst.map(|(l, _)| l as f64),
            least.worst.map(|(_, class)| Place::Group(number(class))),
        )
        .holding(least.below == 0)
        .with_figure("groups_below_l", least.below as f64)
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
