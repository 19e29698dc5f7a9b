//! Measures of persons beside their naive versions.

use proptest::prelude::*;
use serde_json::Value;
use vizard_anonymizer::release::Cell;
use vizard_anonymizer::utility::{self, UtilityReport, public_part};

use super::persons_loose::{LoosePersons, SENSITIVE};
use super::{close, figure};
use crate::common::cases::property_cases;
use crate::naive::measures::cell;
use crate::naive::persons::Naive;

fn naive(loose: &LoosePersons) -> Naive<'_> {
    Naive {
        table: &loose.table,
        requirements: &loose.requirements,
        persons: &loose.tables[0],
        subjects: loose.lineage.of("persons").expect("rows have a lineage"),
    }
}

fn report(loose: &LoosePersons) -> UtilityReport {
    utility::measure(&loose.evidence()).expect("the release fits together")
}

/// Counts of a histogram's bars.
fn bars(value: &Value) -> Vec<u64> {
    let bins = value["bins"].as_array().expect("a histogram").iter();
    bins.map(|bin| bin["count"].as_u64().expect("a count"))
        .collect()
}

/// Shares in twenty bars; one at a border belongs to the bar above.
fn twentieths(shares: &[f64]) -> Vec<u64> {
    let mut bars = vec![0; 20];
    for share in shares {
        let bar = (0..20).rfind(|&bar| *share + 1e-9 >= f64::from(bar) / 20.0);
        bars[bar.expect("no share is negative") as usize] += 1;
    }
    bars
}

fn most(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(property_cases(100)))]

    #[test]
    fn losses_and_fingerprints_equal_the_naive_ones(seed: u64, subjects in 1_usize..30) {
        let loose = LoosePersons::new(seed, subjects);
        let (report, naive) = (report(&loose), naive(&loose));
        prop_assert!(close(figure(&report, "qid_ncp/sum"), naive.qid_loss()));
        prop_assert!(close(figure(&report, "qid_ncp/mean"), naive.qid_loss() / (4.0 * naive.subjects.len() as f64)));
        let (mut sum, mut items) = (0.0, 0);
        for name in SENSITIVE {
            let own = naive.item_loss(name);
            let shown = |part: &str| figure(&report, &format!("sa_ncp/attributes/{name}/{part}"));
            prop_assert!(close(shown("sum"), own.0));
            prop_assert_eq!(shown("items"), own.1 as f64);
            (sum, items) = (sum + own.0, items + own.1);
        }
        prop_assert!(close(figure(&report, "sa_ncp/mean"), sum / items as f64));

        let fingerprints = naive.fingerprints();
        prop_assert_eq!(figure(&report, "fingerprints/fingerprints"), fingerprints.len() as f64);
        let largest = most(fingerprints.iter().map(|&size| size as f64));
        prop_assert!(close(figure(&report, "fingerprints/largest_share"), largest / naive.subjects.len() as f64));
        let persons = bars(&report.value("fingerprints").expect("it is there")["persons"]);
        prop_assert_eq!(persons.iter().sum::<u64>(), fingerprints.len() as u64);
        let published = (0..naive.subjects.len()).flat_map(|row| SENSITIVE.map(|name| (row, name)));
        let published: usize = published
            .map(|(row, name)| match cell(naive.persons, name, row) {
                Cell::Items(items) => items.len(),
                _ => 1,
            })
            .sum();
        prop_assert!(close(figure(&report, "fingerprints/mean_items"), published as f64 / naive.subjects.len() as f64));
        let (originals, items) = naive.originals_counted();
        prop_assert_eq!(figure(&report, "fingerprints_original/fingerprints"), originals as f64);
        prop_assert!(close(figure(&report, "fingerprints_original/mean_items"), items as f64 / naive.subjects.len() as f64));
    }

    #[test]
    fn shares_in_groups_equal_the_naive_ones(seed: u64, subjects in 1_usize..30) {
        let loose = LoosePersons::new(seed, subjects);
        let (report, naive) = (report(&loose), naive(&loose));
        let shown = report.value("value_shares").expect("it is there");
        let mut largest: f64 = 0.0;
        for (part, values_only) in [("values", true), ("nodes", false)] {
            for name in SENSITIVE {
                let (shares, shown) = (naive.shares(name, values_only), &shown[part][name]);
                let mean = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
                let max = most(shares.iter().copied());
                prop_assert_eq!(shown["pairs"].as_u64(), Some(shares.len() as u64), "{} {}", part, name);
                prop_assert!(close(shown["mean"].as_f64().expect("a number"), mean));
                prop_assert!(close(shown["max"].as_f64().expect("a number"), max));
                prop_assert_eq!(bars(&shown["shares"]), twentieths(&shares));
                if values_only {
                    largest = largest.max(max);
                }
            }
        }
        prop_assert!(close(figure(&report, "value_shares/max"), largest));

        let leaks = naive.leaks();
        let mean = leaks.iter().map(|leak| leak.0).sum::<f64>() / leaks.len() as f64;
        prop_assert!(close(figure(&report, "leakage/subjects/mean"), mean));
        prop_assert!(close(figure(&report, "leakage/subjects/max"), most(leaks.iter().map(|leak| leak.0))));
        prop_assert!(close(figure(&report, "leakage/subjects/max_of_limit"), most(leaks.iter().map(|leak| leak.1))));
        let near = leaks.iter().filter(|leak| leak.1 >= 0.9 - 1e-9).count() as f64;
        prop_assert_eq!(figure(&report, "leakage/subjects/near_limit"), ((near + 5.0) / 10.0).floor() * 10.0);
    }

    #[test]
    fn who_was_left_out_changes_nothing_that_analysts_see(seed: u64, subjects in 2_usize..30) {
        let loose = LoosePersons::new(seed, subjects);
        let other = LoosePersons::with_another_left_out(seed, subjects);
        let (own, others) = (report(&loose), report(&other));
        prop_assert!(figure(&others, "qid_ncp/sum") < figure(&own, "qid_ncp/sum") + 1e-9);
        prop_assert_eq!(public_part(&own), public_part(&others));
    }
}
