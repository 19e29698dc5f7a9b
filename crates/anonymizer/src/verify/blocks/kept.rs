//! What a release of listed blocks keeps of the public releases of its
//! subjects, where its series keeps sets of values.
//!
//! `sets_kept`: a row whose subject was public is in a block that shows each
//! value of the set that was shown of them, once, and no other; or, where the job
//! lets changes be seen, of another set, which has the subject's value and none of
//! those that were shown of them, unless it is a set that was. `counterfeits`:
//! the table gives for each block the number of its values that belong to no
//! row, and blocks of subjects who are new have none; all together they are no
//! larger share of an attribute's values than the job allows. `kept_as_claimed`:
//! the manifest gives the numbers that follow from the tables and originals.

use crate::privacy::{History, KeptSets};
use crate::release::{Kept, KeptAttribute};

use super::view::{BlockView, QuasiView};
use crate::verify::evidence::Evidence;
use crate::verify::exclusions::left_out;
use crate::verify::meaning::{dictionary, numbers};
use crate::verify::shape::SENSITIVE;
use crate::verify::verdict::{Check, Failures, Place, Section};
use crate::verify::view::NONE;

/// All checks of a release that keeps sets.
pub(super) fn checks(evidence: &Evidence, view: &QuasiView, history: &History) -> Vec<Check> {
    let mut checks = vec![
        sets_kept(view, history),
        counterfeits_listed(evidence, view, history),
    ];
    let shares = view.blocks.iter().map(|block| share(block, history));
    checks.extend(shares);
    checks.push(as_claimed(evidence, view, history));
    checks
}

/// Whether the block at a position has somebody whose set is kept.
pub(super) fn keeps_a_set(view: &QuasiView, block: &BlockView, sets: &KeptSets, at: usize) -> bool {
    let mut rows = block.members.rows(at).iter();
    let shows_all = |set: &[u32]| {
        let shown = block.blocks.contents(at).iter();
        shown.map(|&(code, _)| code).eq(set.iter().copied())
    };
    rows.any(|&row| sets.set(view.records[row as usize]).is_some_and(shows_all))
}

/// Whether a set was shown of a record that does not have its value, and the block
/// at a position does not either.
pub(super) fn is_outdated(block: &BlockView, sets: &KeptSets, (record, at): (u32, usize)) -> bool {
    let code = block.source.at(record as usize);
    let is_not_in = |set: &[u32]| set.binary_search(&code).is_err();
    sets.set(record).is_some_and(is_not_in) && block.blocks.count(at, code) == 0
}

/// Whether a record shows another set than before.
fn is_renewed(block: &BlockView, sets: &KeptSets, (record, at): (u32, usize)) -> bool {
    let code = block.source.at(record as usize);
    sets.renews(record, code) && block.blocks.count(at, code) > 0
}

fn sets_kept(view: &QuasiView, history: &History) -> Check {
    let mut failures = Failures::none();
    for block in &view.blocks {
        let sets = history.of(block.index);
        for (row, &record) in view
            .records
            .iter()
            .enumerate()
            .filter(|(_, record)| **record != NONE)
        {
            let Some(set) = sets.set(record) else {
                continue;
            };
            let shown = block
                .members
                .class_of(row)
                .map(|at| block.blocks.contents(at));
            let code = block.source.at(record as usize);
            let is_kept = shown.is_some_and(|shown| {
                let codes: Vec<u32> = shown.iter().map(|&(code, _)| code).collect();
                let is_renewed = sets.renews(record, code)
                    && codes.binary_search(&code).is_ok()
                    && sets.may_show(record, &codes);
                (codes == set || is_renewed) && shown.iter().all(|&(_, count)| count == 1)
            });
            if !is_kept {
                failures.add_at(block.name, Place::Row(row as u64 + 1));
            }
        }
    }
    Check::structure("sets_kept", &failures)
}

/// Values of a block beyond its rows.
fn beyond(block: &BlockView, at: usize) -> Option<u64> {
    block.blocks.sizes[at].checked_sub(block.members.rows(at).len() as u64)
}

fn counterfeits_listed(evidence: &Evidence, view: &QuasiView, history: &History) -> Check {
    let mut failures = Failures::none();
    for block in &view.blocks {
        let sets = history.of(block.index);
        for at in 0..block.blocks.len() {
            let is_right = match beyond(block, at) {
                Some(0) => true,
                Some(_) => keeps_a_set(view, block, sets, at),
                None => false,
            };
            if !is_right {
                failures.add_at(block.name, Place::Bucket(at as u64 + 1));
            }
        }
    }
    if compare_column(evidence, view, &mut failures).is_none() {
        failures.add("the column of counterfeits cannot be read");
    }
    Check::structure("counterfeits_listed", &failures)
}

/// Compares the published column with the blocks, row by row.
fn compare_column(evidence: &Evidence, view: &QuasiView, failures: &mut Failures) -> Option<()> {
    let table = evidence.published(SENSITIVE)?;
    let given = numbers(table.column("counterfeits")?)?;
    let block_of = numbers(table.column("block")?)?;
    let (codes, cells) = dictionary(table.column("attribute")?)?;
    for (row, &given) in given.iter().enumerate() {
        let cell = &cells[codes.at(row) as usize];
        let owner = view
            .blocks
            .iter()
            .find(|block| matches!(cell, crate::release::Cell::Label(name) if name == block.name));
        let expected = owner.and_then(|block| {
            let at = block.blocks.position(*block_of.get(row)?)?;
            beyond(block, at as usize)
        });
        if expected != Some(given) {
            failures.add_at("counterfeits", Place::Row(row as u64 + 1));
        }
    }
    Some(())
}

fn counted(block: &BlockView) -> (u64, u64) {
    let values: u64 = block.blocks.sizes.iter().sum();
    let all = 0..block.blocks.len();
    (all.filter_map(|at| beyond(block, at)).sum(), values)
}

/// The guarantee `counterfeits` of one attribute.
fn share(block: &BlockView, history: &History) -> Check {
    let (counterfeits, values) = counted(block);
    Check::new(Section::Structure, "counterfeits")
        .about(block.name)
        .claiming(history.max_counterfeits.get())
        .attaining(Some(counterfeits as f64 / values.max(1) as f64), None)
        .holding(history.max_counterfeits.allows(counterfeits, values))
        .with_figure("counterfeits", counterfeits as f64)
}

fn as_claimed(evidence: &Evidence, view: &QuasiView, history: &History) -> Check {
    let attributes = view.blocks.iter().map(|block| {
        let sets = history.of(block.index);
        let (counterfeits, values) = counted(block);
        let known = || {
            let rows = view.records.iter().enumerate();
            let known = rows.filter(|(_, record)| **record != NONE);
            known.filter_map(|(row, &record)| Some((record, block.members.class_of(row)?)))
        };
        let outdated = known().filter(|&shown| is_outdated(block, sets, shown));
        let renewed = known().filter(|&shown| is_renewed(block, sets, shown));
        KeptAttribute {
            attribute: block.name.to_owned(),
            values,
            counterfeits,
            outdated: outdated.count() as u64,
            renewed: renewed.count() as u64,
        }
    });
    let expected = Kept {
        waiting: left_out(evidence).0,
        companions: 0,
        changes: history.changes(),
        joins_groups: false,
        attributes: attributes.collect(),
    };
    let mut failures = Failures::none();
    if evidence.manifest.kept != Some(expected.published()) {
        failures.add("`kept` is not what follows from the tables");
    }
    Check::structure("kept_as_claimed", &failures)
}
