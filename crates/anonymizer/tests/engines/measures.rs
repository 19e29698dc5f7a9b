//! Measures and queries beside their naive versions, on releases that promise
//! nothing but to fit together.

mod cells;
mod cutting;
mod journalist;
mod loose;
mod persons;
mod persons_loose;
pub mod portions;
mod queries;
mod source;

use proptest::prelude::*;
use serde_json::json;
use vizard_anonymizer::catalog::{Assignment, Engine, Unobserved, in_memory, produce};
use vizard_anonymizer::engine::RunContext;
use vizard_anonymizer::microdata::{ChunkColumn, HierarchySet};
use vizard_anonymizer::release::{Cells, Content, InputDescription};
use vizard_anonymizer::utility::{self, Audience, JoinedEvidence, UtilityReport, public_part};

use crate::case::edit;
use crate::common::cases::property_cases;
use crate::made;
use crate::naive::measures as naive;
use loose::Loose;

fn figure(report: &UtilityReport, path: &str) -> f64 {
    let (measure, rest) = path.split_once('/').expect("a measure and a figure");
    let value = report.value(measure).expect("the measure is there");
    let found = value.pointer(&format!("/{rest}"));
    found
        .and_then(serde_json::Value::as_f64)
        .expect("the figure is there")
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-6 * (1.0 + left.abs().max(right.abs()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(property_cases(200)))]

    #[test]
    fn fast_measures_equal_the_naive_ones(seed: u64, records in 1_usize..60, by_group: bool) {
        let loose = Loose::new(seed, records, by_group);
        let report = utility::measure(&loose.evidence()).expect("the release fits together");
        let microdata = &loose.tables[0];
        prop_assert_eq!(figure(&report, "c_dm/c_dm") as u64, naive::c_dm(microdata));
        prop_assert!(close(figure(&report, "ncp/sum"), naive::ncp(&loose.table, microdata)));
        for attribute in ["age", "area", "salary", "ill"] {
            let leaks = naive::leakage(&loose.table, &loose.tables, &loose.records(), attribute);
            let Some(leakage) = report.value("leakage").and_then(|value| value["attributes"].get(attribute)) else {
                prop_assert!(leaks.is_empty());
                continue;
            };
            let mean = leaks.iter().sum::<f64>() / leaks.len().max(1) as f64;
            let most = leaks.iter().copied().fold(0.0, f64::max);
            prop_assert!(close(leakage["mean"].as_f64().expect("a number"), mean));
            prop_assert!(close(leakage["max"].as_f64().expect("a number"), most));
        }
    }

    #[test]
    fn figures_of_a_report_agree_with_each_other(seed: u64, records in 1_usize..60, by_group: bool) {
        let loose = Loose::new(seed, records, by_group);
        let report = utility::measure(&loose.evidence()).expect("the release fits together");
        let rows = loose.tables[0].rows() as f64;
        let groups = figure(&report, "group_sizes/groups");
        prop_assert!(close(figure(&report, "group_sizes/mean") * groups, rows) || rows == 0.0);
        prop_assert!(close(figure(&report, "c_dm/per_record") * rows, figure(&report, "c_dm/c_dm")));
        prop_assert!(figure(&report, "reidentification_risk/prosecutor_max") <= 1.0);
        prop_assert!(figure(&report, "ncp/mean") <= 1.0);
        // The range that the release shows is never wider than the dataset's.
        prop_assert!(figure(&report, "ncp_published/sum") + 1e-9 >= figure(&report, "ncp/sum"));
        for pair in report.value("correlation").expect("correlation")["pairs"].as_array().expect("pairs") {
            for side in ["before", "after"] {
                let share = pair[side].as_f64().expect("a number");
                prop_assert!((0.0..=1.0 + 1e-6).contains(&share), "{}", pair);
            }
        }
        for measure in ["marginals/mean", "information_left/mean"] {
            prop_assert!((-1e-6..=1.0 + 1e-6).contains(&figure(&report, measure)), "{}", measure);
        }
    }

    #[test]
    fn order_of_rows_changes_no_measure(seed: u64, records in 2_usize..40) {
        let loose = Loose::new(seed, records, false);
        let mut turned = Loose::new(seed, records, false);
        for column in &mut turned.tables[0].columns {
            match &mut column.cells {
                Cells::Numbers(numbers) => numbers.reverse(),
                Cells::Dictionary { codes, .. } => edit(codes, |codes| codes.reverse()),
            }
        }
        turned.lineage.tables[0].subjects.reverse();
        let report = utility::measure(&loose.evidence()).expect("the release fits together");
        let other = utility::measure(&turned.evidence()).expect("the release fits together");
        for path in ["c_dm/c_dm", "ncp/sum", "leakage/subjects/mean", "marginals/mean", "correlation/mean_change"] {
            prop_assert!(close(figure(&report, path), figure(&other, path)), "{}", path);
        }
    }
}

#[test]
fn the_report_of_a_wide_table_has_the_pairs_of_its_budget_and_counts_the_others() {
    const ATTRIBUTES: usize = 60;
    let described = (0..ATTRIBUTES).map(|at| {
        let role = if at == 0 {
            "sensitive"
        } else {
            "quasi_identifier"
        };
        json!({"name": format!("a{at}"), "role": role, "type": "integer"})
    });
    let key = json!({"name": "id", "role": "identifier"});
    let described: Vec<_> = std::iter::once(key).chain(described).collect();
    let schema = json!({"name": "wide", "subject_key": "id", "attributes": described});
    let schema = serde_json::from_value(schema).expect("it is a schema");
    let keys: Vec<String> = (0..40).map(|record| format!("p{record}")).collect();
    let keys = ChunkColumn::Text(keys.iter().map(String::as_str).collect());
    let values = |at: i64| ChunkColumn::Integer((0..40).map(|record| record * at % 7).collect());
    let columns = std::iter::once(keys).chain((1..=ATTRIBUTES as i64).map(values));
    let table = made::table(&schema, &HierarchySet::new(), columns.collect());
    let engine = Engine::parse("mondrian", &json!({"k": 4}), &schema).expect("sound parameters");
    let assignment = Assignment {
        table: &table,
        preferences: &[],
        engine: &engine,
        input: InputDescription {
            dataset: "wide".into(),
            version: 1,
            series: None,
        },
        history: None,
        public: &[],
        suppressed: 0,
        reproducible_seed: true,
        accept_exact: &[],
        queries: 20,
        fit: None,
        population_table: None,
        reruns: 0,
        keeps_shown: true,
        rows_at_once: vizard_anonymizer::verify::AtOnce::ROWS,
        verify: true,
        report: true,
    };
    let context = RunContext::silent(1);
    let produced = produce(&assignment, &context, &mut in_memory, &mut Unobserved);
    let report = produced.expect("there is a release").report;
    let report = report.expect("a report was asked for");
    let correlation = &report["measures"]["correlation"]["value"];
    let pairs = correlation["pairs"].as_array().expect("pairs");
    let left_out = correlation["pairs_left_out"].as_u64().unwrap_or(0);
    let all = (ATTRIBUTES * (ATTRIBUTES - 1) / 2) as u64;
    assert!(pairs.len() < 600, "{} pairs", pairs.len());
    assert_eq!(pairs.len() as u64 + left_out, all);
    // What is sensitive stands in no pair that is left out.
    let with_sensitive = pairs.iter().filter(|pair| pair["attributes"][0] == "a0");
    assert_eq!(with_sensitive.count(), ATTRIBUTES - 1);
}

#[test]
fn an_untouched_table_loses_nothing() {
    let mut loose = Loose::new(5, 50, false);
    let records = loose.records();
    for column in &mut loose.tables[0].columns {
        let Some(index) = loose.table.schema().find(&column.name) else {
            continue;
        };
        let original = loose.table.coded(index).expect("it is published");
        let cells = records
            .iter()
            .map(|&record| cells::exact(&original.domain, original.code(record)));
        column.cells = cells::dictionary(cells);
    }
    loose.tables[0]
        .columns
        .retain(|column| column.content != Content::Bucket);
    let report = utility::measure(&loose.evidence()).expect("the release fits together");
    for path in [
        "ncp/sum",
        "ncp_published/sum",
        "correlation/mean_change",
        "marginals/mean",
    ] {
        assert!(figure(&report, path).abs() < 1e-9, "{path}");
    }
    assert!((figure(&report, "information_left/mean") - 1.0).abs() < 1e-9);
}

#[test]
fn analysts_see_nothing_that_needed_the_original() {
    let loose = Loose::new(9, 40, false);
    let report = utility::measure(&loose.evidence()).expect("the release fits together");
    let public = public_part(&report);
    assert!(
        public
            .measures
            .values()
            .all(|measure| measure.audience == Audience::Analyst)
    );
    for private in [
        "ncp",
        "leakage",
        "correlation",
        "marginals",
        "information_left",
    ] {
        assert!(report.measures.contains_key(private), "{private}");
        assert!(!public.measures.contains_key(private), "{private}");
    }
    // The public part of another table with the same release is the same: it
    // cannot tell of the original.
    let mut other = Loose::new(10, 40, false);
    other.tables = loose.tables.clone();
    other.lineage = loose.lineage.clone();
    let again = utility::measure(&other.evidence()).expect("the release fits together");
    assert_eq!(public_part(&again), public);
}

#[test]
fn a_release_that_does_not_fit_together_is_an_error_not_a_panic() {
    let broken: [fn(&mut Loose); 7] = [
        |loose| loose.tables[0].name = "rows".into(),
        |loose| drop(loose.tables.remove(1)),
        |loose| loose.lineage.tables[0].subjects.truncate(1),
        |loose| loose.lineage.tables[0].subjects[0].0 = 4_000,
        |loose| loose.tables[0].columns[1].name = "unknown".into(),
        |loose| numbers(&mut loose.tables[1].columns[1].cells)[0] = 0,
        |loose| {
            let bucket = |column: &&mut vizard_anonymizer::release::PublishedColumn| {
                column.content == Content::Bucket
            };
            let column = loose.tables[0]
                .columns
                .iter_mut()
                .find(bucket)
                .expect("buckets");
            numbers(&mut column.cells)[0] = 900;
        },
    ];
    for (at, breaks) in broken.iter().enumerate() {
        let mut loose = Loose::new(3, 30, false);
        assert!(JoinedEvidence::new(&loose.evidence()).is_ok());
        breaks(&mut loose);
        assert!(
            utility::measure(&loose.evidence()).is_err(),
            "broken in way {at}"
        );
    }
}

fn numbers(cells: &mut Cells) -> &mut Vec<u64> {
    match cells {
        Cells::Numbers(numbers) => numbers,
        Cells::Dictionary { .. } => panic!("a column of cells"),
    }
}
