//! The rules of sliced releases: the table `sliced`, whose columns are
//! permuted inside buckets, and `columns`, which says which attributes form
//! one ([Slicing]).
//!
//! An adversary knows every quasi-identifier and may read each column by
//! itself, join columns that show the same attribute, and weigh the buckets
//! that a target matches: see `views` and `posterior`.

mod compared;
mod conservation;
mod coverage;
mod declared;
mod guarantees;
mod order;
mod posterior;
mod view;
mod views;

use crate::microdata::{AttributeIndex, Role};
use crate::privacy::{InBucket, Protections, Slicing};

use self::guarantees::{Combinations, Found};
use self::posterior::{Adversary, profiles};
use self::view::SlicedView;
use super::attack::{Homes, linkage};
use super::conservation::blocks_numbered;
use super::equivalence::{EquivalenceClasses, Subjects};
use super::evidence::Evidence;
use super::k_anonymity::{LargestK, k_anonymity};
use super::meaning::MeaningColumn;
use super::rules::{Rows, Rules};
use super::shape::{SLICED, expected_sliced};
use super::verdict::Check;

/// What a policy says of a sliced release.
pub(super) struct Order<'a> {
    /// Which attributes form a column; an engine that finds its own gives
    /// [`ColumnRule::Found`].
    ///
    /// [`ColumnRule::Found`]: crate::privacy::ColumnRule::Found
    pub(super) slicing: &'a Slicing,
    /// The protection of each sensitive attribute.
    pub(super) protections: Protections<InBucket>,
}

/// The rules of a sliced release. `homes` are the blocks of like people that
/// the engine dealt rows from, if it did.
pub(super) fn rules<'e>(evidence: &'e Evidence<'e>, order: Order, homes: Homes) -> Rules<'e> {
    let Order {
        slicing,
        protections,
    } = order;
    let schema = evidence.table.schema();
    let declared = declared::read(evidence);
    let said = declared.clone().unwrap_or_default();
    let expected = expected_sliced(schema, &said.generalized, &said.columns);
    let as_declared = declared::columns_as_declared(evidence, slicing, declared.as_ref());
    let rules = Rules::new(expected.into(), Rows::Records(SLICED), move |expected| {
        let mut checks = Vec::new();
        checks.extend(
            declared
                .as_ref()
                .map(|declared| order::columns_sorted(evidence, declared, &expected[0])),
        );
        let view = declared.and_then(|declared| SlicedView::of(evidence, &declared, &expected[0]));
        if let Some(view) = &view {
            with_view(view, (&protections, &homes), &mut checks);
        }
        checks
    });
    rules.declaring(as_declared)
}

/// For each sensitive attribute the quasi-identifiers that every column shows
/// which shows it: records that agree on them meet the same distributions.
/// None under t-closeness, where all records meet that of the whole table.
pub(super) fn shared_combinations(
    evidence: &Evidence,
    protections: &[(AttributeIndex, InBucket)],
) -> Vec<Vec<AttributeIndex>> {
    let Some(declared) = declared::read(evidence) else {
        return Vec::new();
    };
    let is_quasi = |&at: &AttributeIndex| {
        let role = evidence.table.schema().attribute(at).role;
        role == Role::QuasiIdentifier
    };
    let of_one = |&(sensitive, protection): &(AttributeIndex, InBucket)| {
        let mut columns = declared.columns.iter();
        let first = columns.find(|column| column.contains(&sensitive))?;
        let mut shared: Vec<AttributeIndex> = first.iter().copied().filter(is_quasi).collect();
        for column in columns.filter(|column| column.contains(&sensitive)) {
            shared.retain(|at| column.contains(at));
        }
        if matches!(protection, InBucket::Closeness { .. }) {
            shared.clear();
        }
        Some(shared)
    };
    protections.iter().filter_map(of_one).collect()
}

/// What every release must be, then the guarantees; not these if a sensitive
/// attribute is shown in no column, or in more than two.
fn with_view(
    view: &SlicedView,
    (protections, homes): (&[(AttributeIndex, InBucket)], &Homes),
    checks: &mut Vec<Check>,
) {
    let subjects = Subjects {
        of_row: &view.record_of_row,
        number: view.records,
    };
    let shown: Vec<&MeaningColumn> = view.generalized.iter().map(|one| &one.cells).collect();
    let alike = EquivalenceClasses::of_columns(view.number, &shown, subjects);
    view.cancel.heed();
    checks.extend(blocks_numbered(view.number, &alike.mismatched));
    view.cancel.heed();
    checks.extend(conservation::combinations(view));
    view.cancel.heed();
    checks.extend(coverage::cells(view));
    let policy = view.requirements.policy();
    let floors = protections.iter().map(|&(_, protection)| match protection {
        InBucket::Diversity { l, .. } => l.get(),
        InBucket::Closeness { .. } => 1,
    });
    let Some(adversary) = Adversary::of(view, floors.collect()) else {
        return;
    };
    let asked = |row: usize| Some(view.terms(row)?.k);
    let largest_k = LargestK::of(&view.buckets, policy.k.get(), asked);
    view.cancel.heed();
    checks.push(k_anonymity(view.number, &view.buckets, &largest_k));
    let profiles = profiles(view);
    let findings = adversary.findings(&profiles);
    let found = Found {
        profiles: &profiles,
        findings: &findings,
    };
    for (at, &(_, protection)) in protections.iter().enumerate() {
        let combinations = Combinations::of(view, &adversary.shown[at], at);
        let least = match protection {
            InBucket::Diversity { min_spread, .. } => min_spread.get(),
            InBucket::Closeness { .. } => None,
        };
        if let (Some(least), Some(combinations)) = (least, &combinations) {
            view.cancel.heed();
            checks.push(combinations.min_spread(least));
        }
        view.cancel.heed();
        checks.extend(combinations.map(Combinations::similarity));
        view.cancel.heed();
        checks.push(match protection {
            InBucket::Diversity { l, .. } => guarantees::l_diversity(view, &found, at, l.get()),
            InBucket::Closeness { t, .. } => {
                guarantees::t_closeness(view, &adversary.shown[at], (at, t))
            }
        });
    }
    view.cancel.heed();
    checks.push(guarantees::max_leakage(view, &found));
    view.cancel.heed();
    checks.push(linkage(view.number, &view.buckets, &largest_k));
    let sensitive = view.requirements.protected().zip(protections);
    view.cancel.heed();
    checks.extend(sensitive.filter_map(|(index, &protected)| {
        compared::equal_vectors(view, index, protected, homes.of(index))
    }));
}
