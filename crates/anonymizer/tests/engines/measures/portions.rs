//! Reports, statistics and query errors of portions beside those of the whole.

use std::cell::Cell as Count;
use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};
use vizard_anonymizer::microdata::{PopulationTable, ReadLimits, Table};
use vizard_anonymizer::query::Workload;
use vizard_anonymizer::query::error::{self, Asking, Drawing, QueryErrorSummary};
use vizard_anonymizer::utility::fit::{Fit, FitError, FitSeen, FitSums};
use vizard_anonymizer::utility::{self, Evidence, Measuring, Originals, UtilityReport, Whole};

pub use super::cutting::{Portion, cut};
use super::loose::Loose;
use crate::random_runs::for_plans;
use crate::scenario::Scenario;
use crate::{lgb, mondrian, personalized};

/// The report of portions of a release.
pub fn report(evidence: &Evidence<'_>, portions: &[Portion]) -> UtilityReport {
    let mut whole = Whole::new(originals(evidence, portions));
    for portion in portions {
        whole.see(&portion.evidence(evidence)).expect("it fits");
    }
    let mut measuring = Measuring::new(whole);
    for portion in portions {
        measuring.add(&portion.evidence(evidence)).expect("it fits");
    }
    measuring.finish(evidence.population_table)
}

/// What is counted of the table: of the portions, and of those who are in none.
pub fn originals(evidence: &Evidence<'_>, portions: &[Portion]) -> Originals {
    let mut originals = Originals::default();
    for portion in portions {
        originals.add(&portion.table, &portion.lineage.tables[0].subjects);
    }
    let published = evidence.lineage.tables[0].subjects.iter();
    let published: BTreeSet<u32> = published.map(|subject| subject.0).collect();
    let all = 0..evidence.table.records() as u32;
    let others: Vec<u32> = all.filter(|record| !published.contains(record)).collect();
    originals.add(&evidence.table.part(&others), &[]);
    originals
}

/// Both reports must say the same, but for the order in which floats are added.
pub fn agree(whole: &UtilityReport, portions: &UtilityReport) {
    let [whole, portions] = [whole, portions].map(|report| {
        let report = serde_json::to_value(report);
        report.expect("a report has a form")
    });
    same(&whole, &portions, "");
}

/// Both figures must be the same, but for the order in which floats are added.
pub fn same(one: &Value, other: &Value, path: &str) {
    match (one, other) {
        // Of equally good pairs the one whose values are listed first is told.
        (Value::Object(_), Value::Object(_)) if path.ends_with("/pairing") => {
            let beyond = |pairing: &Value| {
                let figure = |name: &str| pairing[name].as_f64().expect("a figure");
                figure("share") - figure("chance")
            };
            assert!((beyond(one) - beyond(other)).abs() < 1e-12, "{path}");
        }
        (Value::Object(one), Value::Object(other)) => {
            let names = one.keys().collect::<Vec<_>>();
            assert_eq!(names, other.keys().collect::<Vec<_>>(), "{path}");
            for (name, value) in one {
                same(value, &other[name], &format!("{path}/{name}"));
            }
        }
        (Value::Array(one), Value::Array(other)) => {
            assert_eq!(one.len(), other.len(), "{path}");
            // The largest errors stand first, and rounding orders those that are equal.
            let by_error = path.contains("/group_means/");
            let [mut one, mut other] = [one, other].map(|all| all.iter().collect::<Vec<_>>());
            if by_error {
                let names = |pair: &&Value| format!("{} {}", pair["of"], pair["by"]);
                one.sort_by_key(names);
                other.sort_by_key(names);
            }
            let pairs = one.iter().zip(other).enumerate();
            pairs.for_each(|(at, (one, other))| same(one, other, &format!("{path}/{at}")));
        }
        (Value::Number(left), Value::Number(right)) if left.is_f64() && right.is_f64() => {
            let [left, right] = [left, right].map(|number| number.as_f64().expect("a float"));
            let apart = (left - right).abs();
            // What is 0 but for the rounding of sums is nothing relative to itself.
            let is_near = apart <= 1e-9 * left.abs().max(right.abs()) || apart <= 1e-12;
            assert!(is_near, "{path}: {left} {right}");
        }
        _ => assert_eq!(one, other, "{path}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::common::cases::property_cases(150)))]

    #[test]
    fn portions_of_any_release_have_the_report_of_the_whole(
        seed: u64, records in 1_usize..400, by_group: bool, blocks in 1_usize..9, number in 1_usize..7,
    ) {
        let loose = Loose::in_blocks(seed, records, by_group, blocks);
        let people = people(&loose.table, seed);
        let evidence = Evidence { population_table: Some(&people), ..loose.evidence() };
        let portions = cut(&evidence, number, seed);
        let whole = utility::measure(&evidence).expect("the release fits together");
        agree(&whole, &report(&evidence, &portions));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::common::cases::property_cases(60)))]

    #[test]
    fn portions_have_the_statistics_of_the_whole(
        seed: u64, records in 1_usize..200, by_group: bool, blocks in 1_usize..9, number in 1_usize..7,
    ) {
        let loose = Loose::in_blocks(seed, records, by_group, blocks);
        let evidence = loose.evidence();
        let portions = cut(&evidence, number, seed);
        for fit in statistics(&loose.table) {
            let whole = utility::fit::measure(&evidence, &fit).expect("it fits");
            let [whole, portions] = [whole, fitted(&evidence, &portions, &fit)]
                .map(|error| serde_json::to_value(error).expect("it has a form"));
            same(&whole, &portions, &format!("{fit:?}"));
        }
    }

    #[test]
    fn portions_have_the_query_error_of_the_whole(
        seed: u64, records in 1_usize..300, by_group: bool, blocks in 1_usize..9, number in 1_usize..7,
        work_max in prop_oneof![1_000_u64..200_000, Just(Workload::WORK_MAX)],
    ) {
        let loose = Loose::in_blocks(seed, records, by_group, blocks);
        query_errors_agree(&loose, Workload { seed, work_max, ..Workload::standard(100) }, number);
    }
}

/// The query error of so many portions must be that of the whole.
fn query_errors_agree(loose: &Loose, workload: Workload, number: usize) {
    let evidence = loose.evidence();
    let portions = cut(&evidence, number, workload.seed);
    let whole = error::measure(&loose.table, &loose.tables, &loose.lineage, workload);
    let [whole, portions] = [
        whole.expect("it fits"),
        query_error(&evidence, &portions, workload),
    ]
    .map(|error| serde_json::to_value(error).expect("it has a form"));
    same(&whole, &portions, "");
}

/// The list of buckets has one dictionary: a portion without buckets of an
/// attribute once left out the work that the whole was charged for it.
#[test]
fn an_attribute_is_charged_for_the_values_of_its_own_buckets_alone() {
    let seed = 12_714_867_579_220_909_005;
    let workload = Workload {
        seed,
        work_max: 14_165,
        ..Workload::standard(100)
    };
    query_errors_agree(&Loose::in_blocks(seed, 34, true, 6), workload, 2);
}

/// Few people, who are not enough for every class of rows, or more.
fn people(table: &Table, seed: u64) -> PopulationTable {
    let towns = ["Bergen", "Hamar", "Oslo", "Voss"];
    let people = (0..7 + seed % 90).map(|at| towns[(at * at % 7 % 4) as usize]);
    let text = std::iter::once("town").chain(people).collect::<Vec<_>>();
    let text = text.join("\n") + "\n";
    let limits = ReadLimits::default();
    let read = PopulationTable::read(text.as_bytes(), table.schema(), &limits, 1_000);
    read.expect("a table of people")
}

/// Every statistic of a table of numbers and categories.
fn statistics(table: &Table) -> Vec<Fit> {
    let attributes = table.schema().attributes().iter();
    let names: Vec<&str> = attributes
        .map(|attribute| attribute.name.as_str())
        .collect();
    let pairs = names
        .iter()
        .flat_map(|of| names.iter().map(move |by| (of, by)));
    let documents = pairs.flat_map(|(of, by)| {
        [
            json!({"statistic": "mean", "of": of}),
            json!({"statistic": "cross_table", "of": of, "by": by}),
            json!({"statistic": "regression", "of": of, "on": by}),
        ]
    });
    let fits = documents.map(|document| serde_json::from_value(document).expect("a statistic"));
    fits.filter(|fit: &Fit| fit.check(table.schema()).is_ok())
        .collect()
}

/// The statistic of portions of a release.
fn fitted(evidence: &Evidence<'_>, portions: &[Portion], fit: &Fit) -> Option<FitError> {
    let mut whole = Whole::new(originals(evidence, portions));
    let mut seen = FitSeen::new(fit.clone());
    for portion in portions {
        whole.see(&portion.evidence(evidence)).expect("it fits");
        seen.see(&portion.evidence(evidence)).expect("it fits");
    }
    let mut sums = FitSums::new(seen);
    for portion in portions {
        sums.add(&portion.evidence(evidence), &whole)
            .expect("it fits");
    }
    sums.finish()
}

/// The query error of portions of a release.
fn query_error(
    evidence: &Evidence<'_>,
    portions: &[Portion],
    workload: Workload,
) -> QueryErrorSummary {
    let mut drawing = Drawing::new(workload, evidence.tables[0].rows() as u64);
    for portion in portions {
        let seen = drawing.see(&portion.table, portion.published(), &mut |_| true);
        assert!(seen.expect("it fits"), "the rest is wanted");
    }
    let mut asking = Asking::new(drawing);
    for portion in portions {
        let asked = asking.ask(&portion.table, portion.published(), &mut |_| true);
        assert!(asked.expect("it fits"), "the rest is wanted");
    }
    asking.finish()
}

#[test]
fn random_releases_in_blocks_are_cut() {
    let cut = (0..40).map(|seed| {
        let loose = Loose::in_blocks(seed, 300, seed % 2 == 0, 6);
        cut(&loose.evidence(), 4, seed).len()
    });
    assert!(cut.filter(|&portions| portions > 2).count() > 30);
}

/// What engines make of random tables is reported alike in portions, which
/// [`crate::case::Case::report`] looks at.
fn reports_agree(of: impl Fn((u64, usize, usize)) -> Scenario) {
    let [released, cut_apart] = [(); 2].map(|()| Count::new(0_u32));
    let plans = (any::<u64>(), 10..200_usize, 1..=4_usize);
    for_plans(plans, 60, |plan| {
        let scenario = of(plan);
        if let Ok(case) = scenario.publish(&scenario.parameters, plan.0) {
            case.report().expect("the release fits together");
            released.set(released.get() + 1);
            let portions = cut(&case.evidence(None), 4, plan.0).len();
            cut_apart.set(cut_apart.get() + u32::from(portions > 1));
        }
        Ok(())
    });
    let [released, cut_apart] = [released, cut_apart].map(Count::into_inner);
    assert!(cut_apart > released / 8, "{cut_apart} of {released}");
}

#[test]
fn portions_of_mondrian_have_the_report_of_the_whole() {
    reports_agree(|(seed, records, quasi)| {
        let sensitive = (seed % 3) as usize;
        mondrian::scenario::Plan {
            seed,
            records,
            quasi,
            sensitive,
        }
        .scenario()
    });
}

#[test]
fn portions_of_lgb_have_the_report_of_the_whole() {
    reports_agree(|(seed, records, quasi)| {
        let attributes = quasi + 2;
        lgb::scenario::Plan {
            seed,
            records,
            attributes,
        }
        .scenario()
    });
}

#[test]
fn portions_of_personalized_have_the_report_of_the_whole() {
    reports_agree(|(seed, records, quasi)| {
        personalized::scenario::Plan {
            seed,
            records,
            quasi,
        }
        .scenario()
    });
}

#[test]
fn a_portion_with_other_columns_or_of_another_table_is_refused() {
    let loose = Loose::in_blocks(3, 100, false, 4);
    let evidence = loose.evidence();
    let portions = cut(&evidence, 3, 3);
    let originals = originals(&evidence, &portions);
    assert!(Whole::new(Originals::default()).see(&evidence).is_err());
    let mut whole = Whole::new(originals);
    whole
        .see(&portions[0].evidence(&evidence))
        .expect("it fits");
    let mut other = Loose::in_blocks(3, 100, false, 4);
    other.tables[0]
        .columns
        .retain(|column| column.name != "town");
    assert!(whole.see(&other.evidence()).is_err());
    assert!(Measuring::new(whole).add(&other.evidence()).is_err());
}
