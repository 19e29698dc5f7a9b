//! What `one_to_many` makes of the same subjects: valid, and broken by what
//! breaks any release.

use rand_chacha::rand_core::SeedableRng;
use serde_json::json;
use vizard_anonymizer::engine::RunContext;
use vizard_anonymizer::engine::one_to_many::{Params, run};
use vizard_anonymizer::privacy::{QidConflict, Requirements};

use super::base::{Engine, preferences, source};
use super::{garbage, identifiers};
use crate::case::Case;
use crate::negative::{Done, Random, failed};

fn made(seed: u64, rule: QidConflict) -> Case {
    let table = source(&mut Random::seed_from_u64(seed));
    let parameters = json!({
        "k": 4, "l": 3, "k_group": 4, "value_l": 2, "qid_conflict": rule, "max_excluded": 0.1
    });
    let params: Params = serde_json::from_value(parameters.clone()).expect("sound parameters");
    let policy = params.policy(table.schema()).expect("they fit the schema");
    let requirements = Requirements::new(&table, policy, &preferences(Engine::Rmr));
    let release = run(&table, &requirements, &params, &RunContext::silent(seed));
    let release = release.expect("the subjects can be published");
    Case::made_by("one_to_many", (table, requirements), parameters, release)
}

#[test]
fn what_one_to_many_makes_is_verified_under_every_rule() {
    for rule in [QidConflict::Hull, QidConflict::First, QidConflict::Latest] {
        for seed in 0..8 {
            let verdict = made(seed, rule).verdict();
            let failed: Vec<_> = verdict.failed().collect();
            assert!(verdict.holds(), "seed {seed}, {rule:?}: {failed:#?}");
        }
    }
}

#[test]
fn what_breaks_any_release_of_persons_breaks_those_of_the_engine() {
    let case = made(1, QidConflict::Hull);
    let all = identifiers::corruptions().into_iter();
    for corruption in all.chain(garbage::corruptions()) {
        for seed in 0..4 {
            let mut broken = case.clone();
            match (corruption.apply)(&mut broken, &mut Random::seed_from_u64(seed)) {
                Done::Skip => continue,
                Done::Seal => broken.seal(),
                Done::Keep => {}
            }
            let failed = failed(&broken);
            let mut wanted = corruption.caught_by.iter();
            let named = wanted.all(|kind| failed.contains(kind));
            assert!(named, "{}, seed {seed}: {failed:?}", corruption.name);
        }
    }
}
