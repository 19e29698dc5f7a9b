//! Releases of a series that break a kept set, or say other counterfeits than
//! they have: each is refused by the check that is about it.

use std::sync::Arc;

use vizard_anonymizer::privacy::{Changes, ProtectedIndex, Share};
use vizard_anonymizer::verify::series;

use super::{Plan, Population, candidates, twelve_weeks};
use crate::case::Case;

/// The second week of a series, with some counterfeits.
fn second_week() -> Case {
    week_with_arrivals(0)
}

fn week_with_arrivals(arriving: usize) -> Case {
    let plan = Plan {
        people: 300,
        churn: 50,
        l: 3,
        ..twelve_weeks("arp")
    };
    let mut population = Population::new(plan);
    let first = population.release(&[]).expect("it can be published");
    population.pass_a_week();
    population.people.truncate(290);
    population.arrive(arriving);
    let second = population.release(&[candidates(&first)]);
    let second = second.expect("it can be published");
    assert!(second.verdict().holds());
    second
}

fn failed(case: &mut Case) -> Vec<&'static str> {
    case.seal();
    let verdict = case.verdict();
    let mut failed: Vec<_> = verdict.failed().map(|check| check.kind).collect();
    failed.dedup();
    failed
}

/// The values that the block of each row shows.
fn sets(case: &Case) -> Vec<Vec<String>> {
    let (blocks, values) = (
        case.numbers("sensitive", "block"),
        case.cells("sensitive", "value"),
    );
    let of_row = case.numbers("quasi", "block").into_iter().map(|number| {
        let own = blocks
            .iter()
            .zip(&values)
            .filter(|(block, _)| **block == number);
        let mut own: Vec<String> = own.map(|(_, value)| format!("{value:?}")).collect();
        own.sort_unstable();
        own
    });
    of_row.collect()
}

fn exchanged(case: &mut Case, (one, other): (usize, usize)) {
    let mut blocks = case.numbers("quasi", "block");
    blocks.swap(one, other);
    case.set_numbers("quasi", "block", blocks);
    case.put_in_order();
}

#[test]
fn a_subject_in_another_set_is_found() {
    let mut case = second_week();
    let sets = sets(&case);
    let index = case.protected("illness");
    let has_set = |row: &usize| {
        let history = case.requirements.history().expect("it goes on");
        history.of(index).set(case.record(*row).0).is_some()
    };
    // Two with the same value, so that both blocks keep what they hold.
    let value = |row: usize| case.code("illness", row);
    let rows: Vec<usize> = (0..case.rows()).filter(has_set).collect();
    let pairs = rows
        .iter()
        .flat_map(|&one| rows.iter().map(move |&other| (one, other)));
    let mut pairs = pairs.filter(|&(one, other)| value(one) == value(other));
    let pair = pairs
        .find(|&(one, other)| sets[one] != sets[other])
        .expect("there is one");
    exchanged(&mut case, pair);
    assert_eq!(failed(&mut case), ["sets_kept", "blocks_as_dealt"]);
}

#[test]
fn subjects_dealt_otherwise_inside_a_set_are_found() {
    let mut case = second_week();
    let sets = sets(&case);
    let blocks = case.numbers("quasi", "block");
    let value = |row: usize| case.code("illness", row);
    let rows = 0..case.rows();
    let pairs = rows
        .clone()
        .flat_map(|one| rows.clone().map(move |other| (one, other)));
    let mut pairs = pairs.filter(|&(one, other)| value(one) == value(other));
    let pair = pairs
        .find(|&(one, other)| sets[one] == sets[other] && blocks[one] != blocks[other])
        .expect("there is one");
    exchanged(&mut case, pair);
    assert_eq!(failed(&mut case), ["blocks_as_dealt"]);
}

/// Rows of `sensitive` of the first block with a counterfeit.
fn with_counterfeits(case: &Case) -> Vec<usize> {
    let counterfeits = case.numbers("sensitive", "counterfeits");
    let blocks = case.numbers("sensitive", "block");
    let first = counterfeits.iter().position(|&number| number > 0);
    let number = blocks[first.expect("somebody left")];
    (0..blocks.len())
        .filter(|&row| blocks[row] == number)
        .collect()
}

#[test]
fn a_counterfeit_that_is_left_out_is_found() {
    let mut case = second_week();
    let rows = with_counterfeits(&case);
    // One that no row of the block has.
    let (number, values) = (
        case.numbers("sensitive", "block")[rows[0]],
        case.cells("sensitive", "value"),
    );
    let blocks = case.numbers("quasi", "block");
    let own: Vec<_> = (0..case.rows())
        .filter(|&row| blocks[row] == number)
        .map(|row| case.exact("illness", case.code("illness", row)))
        .collect();
    let gone = rows
        .iter()
        .copied()
        .find(|&row| !own.contains(&values[row]));
    let gone = gone.expect("a counterfeit has a value of its own");
    let mut counterfeits = case.numbers("sensitive", "counterfeits");
    rows.iter().for_each(|&row| counterfeits[row] -= 1);
    case.set_numbers("sensitive", "counterfeits", counterfeits);
    let kept: Vec<usize> = (0..values.len()).filter(|&row| row != gone).collect();
    case.take_rows("sensitive", &kept);
    let failed = failed(&mut case);
    assert!(
        failed.contains(&"sets_kept") && failed.contains(&"kept_as_claimed"),
        "{failed:?}"
    );
}

#[test]
fn a_number_of_counterfeits_that_is_wrong_is_found() {
    let mut case = second_week();
    let rows = with_counterfeits(&case);
    let mut counterfeits = case.numbers("sensitive", "counterfeits");
    counterfeits[rows[0]] += 1;
    case.set_numbers("sensitive", "counterfeits", counterfeits);
    assert_eq!(failed(&mut case), ["counterfeits_listed"]);
}

#[test]
fn a_value_more_in_a_block_of_new_subjects_is_found() {
    let mut case = week_with_arrivals(100);
    let history = case.requirements.history().expect("it goes on").clone();
    let index = case.protected("illness");
    let blocks = case.numbers("quasi", "block");
    let rows = 0..case.rows();
    let is_new = |number: u64| {
        let mut own = rows.clone().filter(|&row| blocks[row] == number);
        own.all(|row| history.of(index).set(case.record(row).0).is_none())
    };
    let of_lists = case.numbers("sensitive", "block");
    let new = of_lists
        .iter()
        .position(|&number| is_new(number))
        .expect("some came");
    let mut counts = case.numbers("sensitive", "count");
    let mut counterfeits = case.numbers("sensitive", "counterfeits");
    counts[new] += 1;
    for row in (0..of_lists.len()).filter(|&row| of_lists[row] == of_lists[new]) {
        counterfeits[row] += 1;
    }
    case.set_numbers("sensitive", "count", counts);
    case.set_numbers("sensitive", "counterfeits", counterfeits);
    let failed = failed(&mut case);
    for kind in [
        "block_contents_match",
        "counterfeits_listed",
        "kept_as_claimed",
    ] {
        assert!(failed.contains(&kind), "{kind}: {failed:?}");
    }
}

#[test]
fn a_manifest_that_says_less_counterfeits_is_found() {
    let mut case = second_week();
    let kept = case.manifest.kept.as_mut().expect("it goes on");
    kept.attributes[0].counterfeits -= 1;
    assert_eq!(failed(&mut case), ["kept_as_claimed"]);
    let mut case = second_week();
    case.manifest.kept = None;
    assert_eq!(failed(&mut case), ["kept_as_claimed"]);
}

#[test]
fn counterfeits_beyond_what_the_job_allows_are_found() {
    let mut case = second_week();
    let mut history = case.requirements.history().expect("it goes on").clone();
    history.max_counterfeits = Share::LEAST;
    case.requirements = case.requirements.keeping(Some(Arc::new(history)));
    assert_eq!(failed(&mut case), ["counterfeits"]);
}

#[test]
fn a_changed_value_in_a_set_with_values_that_were_shown_is_found() {
    let plan = Plan {
        people: 300,
        churn: 50,
        l: 2,
        changes: Changes::Visible,
        ..twelve_weeks("arp")
    };
    let mut population = Population::new(plan);
    let first = population.release(&[]).expect("it can be published");
    population.pass_a_week();
    let second = population.release(&[candidates(&first)]);
    let mut case = second.expect("it can be published");
    assert!(case.verdict().holds());
    let kept = case.manifest.kept.clone().expect("the mode says so");
    assert!(kept.attributes[0].renewed > 0, "{kept:?}");
    // The same release, of a job that keeps changes hidden.
    let history = case.requirements.history().expect("it is a series").clone();
    let mut hidden = history.clone();
    hidden.attributes[0].changes = Changes::Hidden;
    case.requirements = case.requirements.clone().keeping(Some(Arc::new(hidden)));
    let found = failed(&mut case);
    assert!(found.contains(&"sets_kept"), "{found:?}");
    case.requirements = case.requirements.clone().keeping(Some(Arc::new(history)));
    // Somebody who shows another set now, and somebody with the same value whose
    // set has a value that was shown of the first.
    let shown = sets(&case);
    let before = sets(&first);
    let own: Vec<_> = case.subjects().iter().map(|subject| subject.0).collect();
    let key = |case: &Case, row: usize| {
        let subject = case.subjects()[row];
        case.table.subject_keys().get(subject.at()).to_owned()
    };
    let set_before = |row: usize| {
        let key_now = key(&case, row);
        let rows = 0..first.rows();
        let mut all = rows.filter(|&at| key(&first, at) == key_now);
        all.next().map(|at| before[at].clone())
    };
    let value = |row: usize| {
        let column = case.table.coded(case.table.schema().protectable()[0]);
        column.expect("it has values").codes.at(own[row] as usize)
    };
    let pair = (0..case.rows()).find_map(|row| {
        let old = set_before(row).filter(|old| *old != shown[row])?;
        let overlaps = |other: &usize| {
            value(*other) == value(row)
                && shown[*other] != shown[row]
                && shown[*other].iter().any(|one| old.contains(one))
        };
        Some((row, (0..case.rows()).find(overlaps)?))
    });
    exchanged(&mut case, pair.expect("there are such people"));
    let found = failed(&mut case);
    assert!(found.contains(&"sets_kept"), "{found:?}");
    let series = series(&candidates(&case), &[&candidates(&first)]);
    assert!(!series.is_safe());
}

#[test]
fn new_subjects_who_make_no_blocks_among_themselves_are_found() {
    let case = week_with_arrivals(200);
    let history = case.requirements.history().expect("it is a series");
    let index = ProtectedIndex(0);
    let is_new = |row: usize| {
        let sets = history.of(index);
        sets.number(case.record(row).0).is_none()
    };
    let column = case.table.coded(case.requirements.attribute(index));
    let column = column.expect("it has values");
    let value = |row: usize| column.codes.at(case.record(row).0 as usize);
    // Of the new ones those with one value alone.
    let first = (0..case.rows()).find(|&row| is_new(row));
    let value_of_first = value(first.expect("somebody is new"));
    let rows: Vec<usize> = (0..case.rows())
        .filter(|&row| !is_new(row) || value(row) == value_of_first)
        .collect();
    let mut fewer = case.clone();
    fewer.take_rows(case.row_table(), &rows);
    assert!(failed(&mut fewer).contains(&"blocks_as_dealt"));
}
