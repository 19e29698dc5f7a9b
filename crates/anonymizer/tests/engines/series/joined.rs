//! Releases that join the groups of a series to larger ones, for readers who are
//! to see less.

use proptest::prelude::*;
use serde_json::json;
use vizard_anonymizer::engine::EngineError;
use vizard_anonymizer::privacy::Share;
use vizard_anonymizer::release::candidates::{Candidates, Identity};
use vizard_anonymizer::release::kept_groups;
use vizard_anonymizer::verify::{Judged, Shape, series};

use super::{Plan, Population, candidates, twelve_weeks};
use crate::case::Case;
use crate::random_runs::for_plans;

impl Population {
    /// This week's release of larger groups, made of those that are public.
    fn joined(&self, public: &[Candidates], (k, l): (u32, u32)) -> Result<Case, EngineError> {
        let table = self.table(public);
        let kept = kept_groups(&table, public, (Share::ALL, true)).expect("groups are kept");
        let mut parameters = self.parameters();
        parameters["k"] = json!(k);
        parameters["l"] = json!(l);
        let (seed, preferences) = (self.plan.seed, self.preferences());
        let case = Case::keeping(
            "mondrian",
            table,
            &parameters,
            &preferences,
            (seed, Some(kept)),
        )?;
        Ok(case.drawn_by(seed))
    }
}

/// Two weeks of a series, the public releases, and a joined one of the second.
fn joined() -> (Population, Vec<Candidates>, Case) {
    let plan = Plan {
        people: 600,
        ..twelve_weeks("mondrian")
    };
    let mut population = Population::new(plan);
    let mut public = Vec::new();
    for _ in 0..2 {
        let case = population.release(&public).expect("it can be published");
        public.push(candidates(&case));
        population.pass_a_week();
    }
    let case = population
        .joined(&public, (40, 6))
        .expect("it can be published");
    (population, public, case)
}

fn group_sizes(shown: &Candidates) -> Vec<usize> {
    let Identity::Groups { group_of, .. } = &shown.identity else {
        panic!("mondrian publishes groups");
    };
    let mut sizes = vec![0; group_of.iter().max().map_or(0, |&last| last as usize + 1)];
    group_of
        .iter()
        .for_each(|&group| sizes[group as usize] += 1);
    sizes
}

#[test]
fn public_groups_are_joined_and_the_series_goes_on() {
    let (mut population, mut public, case) = joined();
    let verdict = case.verdict();
    assert!(
        verdict.holds(),
        "{:?}",
        verdict.failed().collect::<Vec<_>>()
    );
    let shown = candidates(&case);
    let (larger, smaller) = (group_sizes(&shown), group_sizes(&public[1]));
    assert!(
        larger.len() >= 5 && larger.iter().all(|&size| size >= 40),
        "{larger:?}"
    );
    assert!(smaller.len() > 2 * larger.len(), "{smaller:?}");
    let kept = case.manifest.kept.clone().expect("the mode says so");
    assert!(kept.joins_groups && kept.companions > 0, "{kept:?}");
    let others: Vec<&Candidates> = public.iter().collect();
    let found = series(&shown, &others);
    assert!(found.is_safe());
    assert_eq!(found.attributes[0].1, Judged::Holds(Shape::Nested));
    // Without the smaller groups before it, it would have to keep its own claims.
    let mut later = shown.clone();
    later.joins_groups = false;
    assert!(!series(&later, &others).is_safe());

    public.push(shown);
    // Everybody who could be in one is.
    let again = population.joined(&public, (40, 6));
    let Err(EngineError::InvalidParameter { parameter, .. }) = again else {
        panic!("nobody is left");
    };
    assert_eq!(parameter, "series.join_groups");
    for _ in 0..2 {
        let case = population.release(&public).expect("the series goes on");
        assert!(case.verdict().holds());
        let others: Vec<&Candidates> = public.iter().collect();
        let week = candidates(&case);
        assert!(series(&week, &others).is_safe());
        public.push(week);
        population.pass_a_week();
    }
}

#[test]
fn a_release_that_parts_public_groups_is_found() {
    let (_, public, case) = joined();
    let others: Vec<&Candidates> = public.iter().collect();
    let shown = candidates(&case);
    let Identity::Groups { group_of, .. } = &shown.identity else {
        panic!("mondrian publishes groups");
    };
    let other = group_of.iter().position(|&group| group != group_of[0]);
    let other = other.expect("there are two groups");
    let mut moved = shown.clone();
    if let Identity::Groups { group_of, .. } = &mut moved.identity {
        group_of.swap(0, other);
    }
    for attribute in &mut moved.attributes {
        attribute.class_of.swap(0, other);
    }
    assert!(!series(&moved, &others).is_safe());
    // A value that nobody of the public groups has.
    let mut changed = shown.clone();
    let class = &mut changed.attributes[0].classes[0];
    let values = class.len() as u32;
    class[0].1 -= 1;
    class[1].1 += 1;
    assert!(values > 1 && !series(&changed, &others).is_safe());
    // Somebody less.
    let mut fewer = case.clone();
    let rows: Vec<usize> = (1..case.rows()).collect();
    fewer.take_rows(case.row_table(), &rows);
    fewer.seal();
    let failed: Vec<_> = fewer.verdict().failed().map(|check| check.kind).collect();
    assert!(failed.contains(&"groups_joined"), "{failed:?}");
    assert!(!series(&candidates(&fewer), &others).is_safe());
}

#[test]
fn there_is_nothing_to_join_before_the_first_release() {
    let population = Population::new(twelve_weeks("mondrian"));
    let Err(EngineError::InvalidParameter { parameter, .. }) = population.joined(&[], (40, 6))
    else {
        panic!("nothing is public");
    };
    assert_eq!(parameter, "series.join_groups");
}

#[test]
fn joined_groups_of_any_series_hold_alone_and_beside_it() {
    let plans = (any::<u64>(), 20..300_usize, 0..2_u32, 2..4_u32, 0..200_u32);
    let plans = plans.prop_map(|(seed, people, churn, l, askers)| Plan {
        seed,
        people,
        churn: churn * 30,
        l,
        askers,
        ..twelve_weeks("mondrian")
    });
    for_plans(plans, 60, |plan| {
        let mut population = Population::new(plan);
        let mut public: Vec<Candidates> = Vec::new();
        for week in 0..3 {
            if let Ok(case) = population.release(&public) {
                public.push(candidates(&case));
            }
            population.pass_a_week();
            let case = match population.joined(&public, (plan.l * 3, plan.l)) {
                Ok(case) => case,
                Err(EngineError::Infeasible(_) | EngineError::InvalidParameter { .. }) => continue,
                Err(error) => return Err(TestCaseError::fail(error.to_string())),
            };
            let verdict = case.verdict();
            let failed: Vec<_> = verdict.failed().collect();
            prop_assert!(failed.is_empty(), "week {week}: {failed:?}");
            let shown = candidates(&case);
            let others: Vec<&Candidates> = public.iter().collect();
            let found = series(&shown, &others);
            prop_assert!(found.is_safe(), "week {week}: {found:?}");
            public.push(shown);
        }
        Ok(())
    });
}
