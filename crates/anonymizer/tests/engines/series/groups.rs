//! Series that keep the groups of their subjects.

use vizard_anonymizer::release::Cell;
use vizard_anonymizer::release::candidates::{Candidates, Identity};
use vizard_anonymizer::verify::{Judged, Shape, series};

use super::{GROUPS, Plan, Population, candidates, story, twelve_weeks};
use crate::case::Case;

#[test]
fn where_nobody_leaves_everyone_stays_and_who_is_new_joins() {
    for engine in ["mondrian", GROUPS] {
        let mut population = Population::new(twelve_weeks(engine));
        let mut public = Vec::new();
        for week in 0..4 {
            let case = population.release(&public).expect("it can be published");
            let verdict = case.verdict();
            assert!(
                verdict.holds(),
                "{engine}: {:?}",
                verdict.failed().collect::<Vec<_>>()
            );
            assert_eq!(case.rows(), 2_000 + 100 * week, "{engine}");
            public.push(candidates(&case));
            population.arrive(100);
        }
    }
}

#[test]
fn twelve_weeks_take_companions_along_with_who_leaves() {
    for engine in ["mondrian", GROUPS] {
        let weeks = story(twelve_weeks(engine)).expect("every week holds");
        println!("{engine}: {weeks:?}");
        assert_eq!(weeks.len(), 12);
        assert!(weeks[1].companions > 0 && weeks[1].companions < 1_000);
        assert!(weeks[11].rows > 200, "{weeks:?}");
    }
}

#[test]
fn groups_that_are_made_anew_are_not_safe() {
    let mut population = Population::new(twelve_weeks("mondrian"));
    let first = candidates(&population.release(&[]).expect("it can be published"));
    population.pass_a_week();
    let anew = candidates(&population.release(&[]).expect("it can be published"));
    assert!(!series(&anew, &[&first]).is_safe());
    let kept = population.release(std::slice::from_ref(&first));
    let kept = candidates(&kept.expect("it can be published"));
    let found = series(&kept, &[&first]);
    assert!(found.is_safe());
    assert_eq!(found.attributes[0].1, Judged::Holds(Shape::Nested));
}

/// The first week and the second, in which some left.
fn two_weeks() -> (Candidates, Case) {
    let plan = Plan {
        people: 400,
        churn: 30,
        ..twelve_weeks("mondrian")
    };
    let mut population = Population::new(plan);
    let first = candidates(&population.release(&[]).expect("it can be published"));
    population.pass_a_week();
    let second = population.release(std::slice::from_ref(&first));
    let second = second.expect("it can be published");
    assert!(second.verdict().holds());
    let kept = second.manifest.kept.as_ref().expect("it goes on");
    assert!(kept.companions > 0);
    (first, second)
}

fn failed(case: &mut Case) -> Vec<&'static str> {
    case.seal();
    let verdict = case.verdict();
    verdict.failed().map(|check| check.kind).collect()
}

/// Rows of the first group that was public before.
fn kept_group(case: &Case) -> Vec<usize> {
    let history = case.requirements.history().expect("it goes on");
    let groups = history.groups.as_ref().expect("it keeps groups");
    let class = |row: usize| groups.class(case.record(row).0);
    let first = (0..case.rows()).find_map(class).expect("somebody stayed");
    (0..case.rows())
        .filter(|&row| class(row) == Some(first))
        .collect()
}

#[test]
fn other_cells_of_a_public_group_are_found() {
    let (_, mut case) = two_weeks();
    let mut cells = case.cells("microdata", "age");
    for row in kept_group(&case) {
        cells[row] = Cell::Masked;
    }
    case.set_cells("microdata", "age", cells);
    case.put_in_order();
    let failed = failed(&mut case);
    assert!(failed.contains(&"cells_kept"), "{failed:?}");
}

#[test]
fn a_manifest_that_says_less_companions_is_found() {
    let (_, mut case) = two_weeks();
    let kept = case.manifest.kept.as_mut().expect("it goes on");
    kept.companions -= 10;
    assert_eq!(failed(&mut case), ["kept_as_claimed"]);
}

#[test]
fn one_subject_more_who_leaves_a_public_group_is_found() {
    let (first, mut case) = two_weeks();
    assert!(series(&candidates(&case), &[&first]).is_safe());
    let gone = kept_group(&case)[0];
    let rows: Vec<usize> = (0..case.rows()).filter(|&row| row != gone).collect();
    case.take_rows("microdata", &rows);
    let found = series(&candidates(&case), &[&first]);
    assert!(!found.is_safe(), "{found:?}");
    let failed = failed(&mut case);
    assert!(failed.contains(&"exclusions_asked_for"), "{failed:?}");
}

#[test]
fn subjects_who_exchange_public_groups_are_found() {
    let (first, case) = two_weeks();
    let shown = candidates(&case);
    let Identity::Groups { group_of, .. } = &shown.identity else {
        panic!("mondrian publishes groups");
    };
    let was_public = |at: usize| first.subjects.find_sorted(shown.subjects.get(at)).is_some();
    let one = (0..group_of.len()).find(|&at| was_public(at));
    let one = one.expect("somebody stayed");
    let other = (0..group_of.len()).find(|&at| was_public(at) && group_of[at] != group_of[one]);
    let other = other.expect("there are two groups");
    let mut moved = shown.clone();
    if let Identity::Groups { group_of, .. } = &mut moved.identity {
        group_of.swap(one, other);
    }
    for attribute in &mut moved.attributes {
        attribute.class_of.swap(one, other);
    }
    assert!(series(&shown, &[&first]).is_safe());
    assert!(!series(&moved, &[&first]).is_safe());
}

#[test]
fn somebody_with_terms_of_their_own_costs_no_other_group() {
    let mut plan = twelve_weeks("mondrian");
    let alone = story(Plan { weeks: 3, ..plan }).expect("every week holds");
    plan.askers = 20;
    let weeks = story(Plan { weeks: 3, ..plan }).expect("every week holds");
    let left = |weeks: &[super::Week]| weeks[2].companions;
    assert!(left(&weeks) <= 2 * left(&alone), "{alone:?} {weeks:?}");
}

/// People who look alike, with these illnesses.
fn look_alikes(illnesses: &[usize]) -> Population {
    let plan = Plan {
        people: illnesses.len(),
        l: 2,
        ..twelve_weeks("mondrian")
    };
    let mut population = Population::new(plan);
    for (person, &illness) in population.people.iter_mut().zip(illnesses) {
        (person.age, person.town, person.illness) = (30, 0, illness);
    }
    population
}

#[test]
fn how_many_go_does_not_depend_on_the_value_of_who_leaves() {
    let classes: [(&[usize], usize); 4] = [
        (&[0, 0, 1, 1, 2], 0),
        (&[0, 0, 1, 1, 2, 3], 0),
        (&[0, 1, 2, 3], 2),
        (&[0, 0, 1, 1, 2, 3, 4, 5], 4),
    ];
    for (illnesses, expected) in classes {
        let first = candidates(&look_alikes(illnesses).release(&[]).expect("it holds"));
        for leaver in 0..illnesses.len() {
            let mut population = look_alikes(illnesses);
            population.people.remove(leaver);
            // Others come, as a release needs somebody.
            population.arrive(40);
            for seed in 0..20 {
                population.plan.seed = 1 + 4 * seed;
                let case = population.release(std::slice::from_ref(&first));
                let shown = candidates(&case.expect("it can be published"));
                let stay = |subject: &&str| first.subjects.find_sorted(subject).is_some();
                let stay = shown.subjects.iter().filter(stay).count();
                assert_eq!(stay, expected, "{illnesses:?} without {leaver}");
            }
        }
    }
}
