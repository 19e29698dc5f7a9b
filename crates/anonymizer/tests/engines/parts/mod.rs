//! Tables that are published in parts: parts change nothing of strict Mondrian, and
//! of every other engine the union keeps what is claimed, checked by the verifier
//! after a trip through its bytes.

mod elsewhere;

use std::cell::Cell as Count;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::{Map, Value, json};
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::engine::EngineError;
use vizard_anonymizer::microdata::{Preference, Table};
use vizard_anonymizer::privacy::{Parts, PartsRule, Requirements};

use crate::case::Case;
use crate::random_runs::{for_plans, must_hold, threads_do_not_matter};
use crate::scenario::Scenario;
use crate::{arp, lgb, mondrian, one_to_many, personalized, slicing};

/// A table, its terms, and how many records a part has at most.
#[derive(Clone, Debug)]
struct Plan {
    seed: u64,
    records: usize,
    quasi: usize,
    parts: Option<Parts>,
}

fn plans() -> impl Strategy<Value = Plan> {
    let records = prop_oneof![1..60_usize, 30..=300_usize];
    let parts = prop_oneof![1..8_u64, 10..60_u64, 40..200_u64, Just(1000)];
    let least = prop_oneof![Just(None), (0..=20_u64).prop_map(Some)];
    (any::<u64>(), records, 1..=4_usize, (parts, least)).prop_map(
        |(seed, records, quasi, (most, least))| Plan {
            seed,
            records,
            quasi,
            parts: Parts::of(most, least.map(|least| least.min(most))).ok(),
        },
    )
}

impl Case {
    /// The same of a table that is published in parts.
    fn in_parts(
        engine: &str,
        table: Table,
        parameters: &Value,
        preferences: &[Preference],
        (seed, parts): (u64, Option<Parts>),
    ) -> Result<Self, EngineError> {
        let parsed = Engine::parse(engine, parameters, table.schema())?;
        let policy = parsed.policy(table.schema())?;
        let requirements = Requirements::new(&table, policy, preferences);
        let parsed = parsed.with_parts(PartsRule::Given(parts));
        Self::by(&parsed, (table, requirements), seed)
    }
}

fn publish(scenario: &Scenario, parameters: &Value, plan: &Plan) -> Result<Case, EngineError> {
    let made = (plan.seed, plan.parts);
    let preferences = &scenario.preferences;
    let case = Case::in_parts(
        scenario.engine,
        scenario.table(),
        parameters,
        preferences,
        made,
    )?;
    Ok(case.drawn_by(plan.seed))
}

/// What an engine makes of random tables in parts.
fn ends_well(of: impl Fn(&Plan) -> Scenario) {
    let [released, in_parts] = [(); 2].map(|()| Count::new(0_u32));
    for_plans(plans(), 200, |plan| {
        let scenario = of(&plan);
        match publish(&scenario, &scenario.parameters, &plan) {
            Ok(case) => {
                released.set(released.get() + 1);
                let number = case.manifest.parts.map_or(1, |parts| parts.number);
                in_parts.set(in_parts.get() + u32::from(number > 1));
                must_hold(&case, "in parts")?;
                threads_do_not_matter(|| {
                    let again = publish(&scenario, &scenario.parameters, &plan);
                    again.map(|case| (case.tables, case.lineage, case.manifest))
                })
            }
            Err(EngineError::Infeasible(_) | EngineError::InvalidParameter { .. }) => {
                // Parts never stand in the way: as a whole it cannot be published either.
                let whole = Plan {
                    parts: None,
                    ..plan.clone()
                };
                let whole = publish(&scenario, &scenario.parameters, &whole);
                prop_assert!(whole.is_err(), "parts alone are refused");
                Ok(())
            }
            Err(error) => Err(TestCaseError::fail(error.to_string())),
        }
    });
    let [released, in_parts] = [released, in_parts].map(Count::into_inner);
    println!("{released} released, {in_parts} of them in several parts");
    assert!(
        in_parts > released / 8,
        "several parts: {in_parts} of {released}"
    );
}

/// The runs of each engine that goes with parts.
fn mondrian_of(plan: &Plan) -> Scenario {
    let made = mondrian::scenario::Plan {
        seed: plan.seed,
        records: plan.records,
        quasi: plan.quasi,
        sensitive: (plan.seed % 3) as usize,
    };
    made.scenario()
}

fn lgb_of(plan: &Plan) -> Scenario {
    let made = lgb::scenario::Plan {
        seed: plan.seed,
        records: plan.records,
        attributes: plan.quasi + 2,
    };
    made.scenario()
}

fn personalized_of(plan: &Plan) -> Scenario {
    let made = personalized::scenario::Plan {
        seed: plan.seed,
        records: plan.records,
        quasi: plan.quasi,
    };
    made.scenario()
}

fn persons_of(plan: &Plan, engine: &'static str) -> Scenario {
    let made = one_to_many::scenario::Plan {
        seed: plan.seed,
        subjects: plan.records,
        quasi: plan.quasi,
        sensitive: 1,
    };
    made.scenario(engine)
}

#[test]
fn mondrian_in_parts_keeps_what_it_claims() {
    ends_well(mondrian_of);
}

#[test]
fn lgb_in_parts_keeps_what_it_claims() {
    ends_well(lgb_of);
}

#[test]
fn personalized_in_parts_keeps_what_it_claims() {
    ends_well(personalized_of);
}

#[test]
fn persons_in_parts_keep_what_is_claimed() {
    for engine in ["one_to_many", "rmr"] {
        ends_well(|plan| persons_of(plan, engine));
    }
}

#[test]
fn buckets_of_parts_are_close_to_the_values_of_the_whole_table() {
    ends_well(|plan| {
        let mut scenario = lgb::scenario::Plan {
            seed: plan.seed,
            // Of a few records some are masked in lgb that the verifier wants seen,
            // with parts or without.
            records: plan.records.max(40),
            attributes: plan.quasi + 2,
        }
        .scenario();
        let t = [0.1, 0.2, 0.35, 0.5][(plan.seed % 4) as usize];
        let close = json!({"t_closeness": t, "max_posterior": 0.9});
        let table = scenario.table();
        let attributes = table.schema().attributes().iter();
        let protectable = attributes.filter(|attribute| attribute.is_protectable());
        let close: Map<String, Value> = protectable
            .map(|attribute| (attribute.name.clone(), close.clone()))
            .collect();
        scenario.parameters = json!({"k": 2, "attributes": close});
        scenario
    });
}

#[test]
fn parts_change_nothing_of_strict_mondrian_without_a_search() {
    let several = Count::new(0_u32);
    let asking = Count::new(0_u32);
    for_plans(plans(), 300, |plan| {
        let mut scenario = mondrian::scenario::Plan {
            seed: plan.seed,
            records: plan.records,
            quasi: plan.quasi,
            sensitive: (plan.seed % 3) as usize,
        }
        .scenario();
        for (name, value) in [
            ("split", "widest"),
            ("partitioning", "strict"),
            ("effort", "none"),
        ] {
            scenario.parameters[name] = json!(value);
        }
        let whole = Plan {
            parts: None,
            ..plan.clone()
        };
        let whole = publish(&scenario, &scenario.parameters, &whole);
        let made = |case: Case| (case.tables, case.lineage, case.manifest, case.excluded);
        for most in [1, 50, 1000, plan.records as u64] {
            let parted = Plan {
                parts: Parts::of(most, plan.parts.map(|_| 0)).ok(),
                ..plan.clone()
            };
            let parted = publish(&scenario, &scenario.parameters, &parted);
            if let Ok(case) = &parted
                && case.manifest.parts.is_some()
            {
                // Those who ask something of values are grouped by themselves in
                // each part.
                asking.set(asking.get() + 1);
                must_hold(case, "in parts")?;
                continue;
            }
            several.set(several.get() + u32::from(most < plan.records as u64 && parted.is_ok()));
            let same = whole.clone().map(made) == parted.map(made);
            prop_assert!(same, "parts of {most} change the release");
        }
        Ok(())
    });
    let [several, asking] = [several, asking].map(Count::into_inner);
    println!("{several} in several parts, {asking} with terms about values");
    assert!(several > 100 && asking > 0);
}

#[test]
fn what_is_of_the_whole_table_is_refused_in_parts() {
    let parts = Parts::of(10, None).ok();
    let refused = |scenario: &Scenario| {
        let plan = Plan {
            seed: 1,
            records: 100,
            quasi: 2,
            parts,
        };
        match publish(scenario, &scenario.parameters, &plan) {
            Err(EngineError::InvalidParameter { parameter, .. }) => parameter,
            other => panic!("{:?}", other.map(|case| case.manifest)),
        }
    };
    for engine in ["arp", "aip", "anatomy", "ng"] {
        let scenario = arp::scenario::Plan {
            seed: 1,
            records: 100,
            quasi: 2,
            sensitive: 1,
        };
        let mut scenario = scenario.scenario(engine);
        scenario.parameters = json!({"l": 2});
        assert_eq!(refused(&scenario), "parts", "{engine}");
    }
    let scenario = slicing::scenario::Plan {
        seed: 1,
        records: 100,
        quasi: 2,
        sensitive: 1,
        insensitive: 0,
    };
    let mut scenario = scenario.scenario();
    scenario.parameters = json!({"l": 2, "clusters": 2});
    assert_eq!(refused(&scenario), "parts");
}
