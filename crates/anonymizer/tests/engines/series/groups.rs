//! Series that keep the groups of their subjects.

use vizard_anonymizer::verify::{Judged, Shape, series};

use super::{GROUPS, Population, candidates, story, twelve_weeks};

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
        assert!(weeks[1].companions > 0 && weeks[1].companions < 400);
        assert!(weeks[11].rows > 700, "{weeks:?}");
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
