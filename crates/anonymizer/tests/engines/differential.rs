//! Fast kernels equal the naive ones.

use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};
use vizard_anonymizer::engine::kernel::cut::{CutBuffers, lower_median_cut};
use vizard_anonymizer::engine::lgb::{Params, run};
use vizard_anonymizer::engine::{EngineError, RunContext};
use vizard_anonymizer::microdata::Table;
use vizard_anonymizer::privacy::Requirements;
use vizard_anonymizer::release::Release;

use super::common::cases::property_cases;
use super::naive::release::{bucket_values, check};
use super::naive::{buckets, median};
use super::tables::table;

/// Calls `check` with one random generator per case, always the same ones.
fn for_cases(by_default: u32, check: impl Fn(&mut ChaCha12Rng)) {
    for case in 0..property_cases(by_default) {
        check(&mut ChaCha12Rng::seed_from_u64(u64::from(case)));
    }
}

#[test]
fn the_cut_by_counting_or_selecting_is_the_cut_by_sorting() {
    let mut buffers = CutBuffers::default();
    for case in 0..property_cases(500) {
        let random = &mut ChaCha12Rng::seed_from_u64(u64::from(case));
        let (size, span) = (random.random_range(1..40), random.random_range(1..200));
        let codes: Vec<u32> = (0..size).map(|_| random.random_range(0..span)).collect();
        let lowest = codes.iter().copied().min().unwrap_or(0);
        let highest = codes.iter().copied().max().unwrap_or(0);
        let cut = lower_median_cut(codes.iter().copied(), lowest, highest, &mut buffers);
        let naive = median::left_codes(&codes);
        assert_eq!(cut.map(|cut| cut.left), naive.as_ref().map(Vec::len));
        assert_eq!(
            cut.map(|cut| cut.code),
            naive.and_then(|left| left.last().copied())
        );
    }
}

/// A table with one sensitive integer; `counts[v]` records have the value
/// `10 v`.
fn salaries(counts: &[u32]) -> Table {
    let schema = json!({
        "name": "counts", "subject_key": "id",
        "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "salary", "role": "sensitive", "type": "integer"}
        ]
    });
    let mut records = String::from("id,salary\n");
    for (value, &count) in counts.iter().enumerate() {
        for copy in 0..count {
            records.push_str(&format!("{value}-{copy},{}\n", 10 * value));
        }
    }
    table(schema, &[], &records)
}

fn publish(table: &Table, parameters: &Value) -> Result<(Requirements, Release), EngineError> {
    let params: Params = serde_json::from_value(parameters.clone()).expect("the shape is right");
    let requirements = Requirements::new(table, params.policy(table.schema())?, &[]);
    let release = run(table, &requirements, &params, &RunContext::silent(5))?;
    Ok((requirements, release))
}

#[test]
fn buckets_are_made_wherever_some_assignment_exists() {
    for_cases(300, |random| {
        let values = random.random_range(1..6);
        let counts: Vec<u32> = (0..values).map(|_| random.random_range(0..4)).collect();
        let l = random.random_range(1..5);
        if counts.iter().sum::<u32>() == 0 {
            return;
        }
        let table = salaries(&counts);
        for assignment in ["random", "invariance", "nearest"] {
            let parameters = json!({"k": 1, "l": l, "assignment": assignment});
            match publish(&table, &parameters) {
                Ok((requirements, release)) => {
                    check(&table, &requirements, &release);
                    assert!(buckets::exist(&counts, l), "{counts:?} l={l}");
                }
                Err(EngineError::Infeasible(answer)) => {
                    assert!(!buckets::exist(&counts, l), "{counts:?} l={l}");
                    let strongest = answer.strongest_value.expect("l=1 always holds") as u32;
                    assert!(buckets::exist(&counts, strongest));
                    assert!(!buckets::exist(&counts, strongest + 1));
                }
                Err(other) => panic!("{other}"),
            }
        }
    });
}

#[test]
fn the_widest_spread_is_the_one_that_trying_everything_finds() {
    for_cases(60, |random| {
        let values = random.random_range(2..6);
        let counts: Vec<u32> = (0..values).map(|_| random.random_range(0..3)).collect();
        let numbers: Vec<i64> = counts
            .iter()
            .enumerate()
            .flat_map(|(value, &count)| std::iter::repeat_n(10 * value as i64, count as usize))
            .collect();
        let Some(widest) = buckets::widest_spread(&numbers, 2).filter(|_| !numbers.is_empty())
        else {
            return;
        };
        let table = salaries(&counts);
        let with =
            |spread: i64| json!({"k": 1, "l": 2, "attributes": {"salary": {"min_spread": spread}}});
        let (requirements, release) = publish(&table, &with(widest)).expect("the widest holds");
        check(&table, &requirements, &release);
        for values in bucket_values(&release, "salary").into_values() {
            let number = |text: &String| text.split("..").next().map(str::parse::<i64>);
            let numbers: Vec<i64> = values.iter().filter_map(number).flatten().collect();
            let range = numbers
                .iter()
                .max()
                .zip(numbers.iter().min())
                .map(|(max, min)| max - min);
            assert!(range >= Some(widest), "{range:?} of {widest}");
        }
        match publish(&table, &with(widest + 1)) {
            Err(EngineError::Infeasible(answer)) => {
                assert_eq!(answer.strongest_value, Some(widest as f64));
            }
            other => panic!("wider than possible: {:?}", other.map(|_| "published")),
        }
    });
}
