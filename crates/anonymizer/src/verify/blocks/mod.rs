//! The rules of engines that publish sensitive values in blocks of records:
//! `arp` and its comparators `aip`, `anatomy` and `ng`.
//!
//! Which form a release must have, and which attributes are in it, is the
//! policy's to say ([`BlockForm`]), never the manifest's. Beside the checks of
//! the tables the records are dealt into blocks again (`dealt`).

mod compared;
mod contents;
mod coverage;
mod dealt;
mod diversity;
mod kept;
mod leakage;
mod outcomes;
mod posterior;
mod randomized;
mod ring;
mod rows;
mod view;

use crate::microdata::AttributeIndex;
use crate::privacy::{
    BlockForm, ColumnRule, InBlock, InBucket, Model, ProtectedIndex, Protections, Requirements,
    SliceVariant, Slicing,
};

use self::dealt::Dealing;
use self::view::QuasiView;
use super::attack::Homes;
use super::diversity::Repeats;
use super::evidence::Evidence;
use super::leakage::Worst;
use super::rules::{Rows, Rules};
use super::shape::{self, QUASI};
use super::sliced;
use super::verdict::Check;

/// The rules of a release of blocks in this form; `None` if the engine that
/// the job ordered does not publish in it.
pub(super) fn rules<'e>(evidence: &'e Evidence<'e>, form: BlockForm) -> Option<Rules<'e>> {
    let dealing = Dealing::again(evidence, form);
    let rules = of_form(evidence, form, dealing.homes)?;
    Some(rules.ending(dealing.check))
}

/// All rules but that of the dealing.
fn of_form<'e>(evidence: &'e Evidence<'e>, form: BlockForm, homes: Homes) -> Option<Rules<'e>> {
    match (evidence.ordered.engine, form) {
        ("arp" | "anatomy", BlockForm::Distinct) => Some(listed(evidence, true, homes)),
        ("aip", BlockForm::Eligible) => Some(listed(evidence, false, homes)),
        ("arp", BlockForm::Generalized | BlockForm::Randomized { .. })
        | ("ng", BlockForm::Ring) => Some(rows::rules(evidence, form, homes)),
        ("arp", BlockForm::Sliced) => {
            let found = Slicing {
                variant: SliceVariant::Slicing,
                columns: ColumnRule::Found { clusters: 1 },
                generalize: Vec::new(),
                drop: Vec::new(),
            };
            let order = sliced::Order {
                slicing: &found,
                protections: in_buckets(evidence.requirements),
            };
            Some(sliced::rules(evidence, order, homes))
        }
        _ => None,
    }
}

/// The sensitive attributes that the policy publishes, in schema order.
fn published(requirements: &Requirements) -> Vec<ProtectedIndex> {
    let Model::Blocks { sensitive, .. } = requirements.policy().model else {
        return Vec::new();
    };
    let all = requirements.protected();
    all.filter(|&index| sensitive.contains(index)).collect()
}

/// The protections of blocks; none if the policy is not about blocks.
fn protections(requirements: &Requirements) -> &[(AttributeIndex, InBlock)] {
    match &requirements.policy().model {
        Model::Blocks { protections, .. } => protections,
        _ => &[],
    }
}

/// The same of blocks whose columns are permuted, as buckets are.
fn in_buckets(requirements: &Requirements) -> Protections<InBucket> {
    let protections = protections(requirements).iter();
    let in_bucket = |&(attribute, own): &(AttributeIndex, InBlock)| (attribute, own.into());
    protections.map(in_bucket).collect()
}

/// The job's l of an attribute.
fn floor(requirements: &Requirements, index: ProtectedIndex) -> u32 {
    let protections = protections(requirements);
    let own = protections.get(index.at());
    own.map_or(1, |(_, own)| own.l.get())
}

/// The rules of the tables `quasi` and `sensitive`; where `is_distinct`, no
/// value is in a block twice.
fn listed<'e>(evidence: &'e Evidence<'e>, is_distinct: bool, homes: Homes) -> Rules<'e> {
    let requirements = evidence.requirements;
    let attributes: Vec<_> = published(requirements)
        .into_iter()
        .map(|index| requirements.attribute(index))
        .collect();
    let keeps_sets = requirements.history().is_some();
    let expected = shape::expected_listed(evidence.table.schema(), &attributes, keeps_sets);
    Rules::new(expected.into(), Rows::Records(QUASI), move |expected| {
        let mut checks = Vec::new();
        if let Some((view, failures)) = QuasiView::of(evidence, expected) {
            checks.push(Check::structure("blocks_well_formed", &failures));
            with_view(&view, (is_distinct, &homes), &mut checks);
            if let Some(history) = requirements.history() {
                checks.extend(kept::checks(evidence, &view, history));
            }
        }
        checks
    })
}

fn with_view(view: &QuasiView, (is_distinct, homes): (bool, &Homes), checks: &mut Vec<Check>) {
    view.cancel.heed();
    checks.extend(coverage::exact(view));
    view.cancel.heed();
    checks.push(contents::match_source(view));
    let mut worst = Worst::default();
    leakage::identity(view, &mut worst);
    for block in &view.blocks {
        let least_spread = diversity::min_spread(view, block);
        // Blocks that are joined for their spread may have a value twice.
        let repeats = if is_distinct && least_spread.is_none() {
            Repeats::Refused
        } else {
            Repeats::Allowed
        };
        view.cancel.heed();
        checks.push(diversity::l_diversity(view, block, repeats));
        view.cancel.heed();
        checks.extend(least_spread);
        view.cancel.heed();
        checks.push(posterior::of_vectors(view, block, &mut worst));
        leakage::values(view, block, &mut worst);
        view.cancel.heed();
        checks.extend(diversity::attacks(block));
        view.cancel.heed();
        checks.push(compared::of_blocks(view, block, homes));
    }
    view.cancel.heed();
    checks.push(worst.check("terms_exceeded"));
    view.cancel.heed();
    checks.push(leakage::linkage(view));
}
