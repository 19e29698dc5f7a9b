//! Random rules make trees.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::*;

/// Multiples: each of these numbers times all before it.
fn products(first: i64, factors: &[i64]) -> Vec<i64> {
    std::iter::once(first)
        .chain(factors.iter().scan(first, |size, factor| {
            *size *= factor;
            Some(*size)
        }))
        .collect()
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::btree_set("[a-c0-2äß;\" -]{0,5}[a-cß]", 1..40)
        .prop_map(|texts| {
            texts
                .into_iter()
                .filter(|text| text.trim() == text)
                .collect()
        })
        .prop_filter("a value is needed", |texts: &Vec<String>| !texts.is_empty())
        .prop_shuffle()
}

fn bounds(label: &str) -> (f64, f64) {
    let number = |text: &str| text.parse::<f64>().unwrap();
    if let Some(hi) = label.strip_prefix('<') {
        return (f64::NEG_INFINITY, number(hi));
    }
    if let Some(lo) = label.strip_prefix(">=") {
        return (number(lo), f64::INFINITY);
    }
    let inner = label
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(')'));
    let (lo, hi) = inner.unwrap().split_once("..").unwrap();
    (number(lo), number(hi))
}

fn check_intervals(lines: &[Vec<String>]) -> Result<(), TestCaseError> {
    check(lines).map_err(TestCaseError::fail)?;
    let leaves: Vec<f64> = lines.iter().map(|line| line[0].parse().unwrap()).collect();
    prop_assert!(leaves.is_sorted_by(|a, b| a < b));
    for (line, leaf) in lines.iter().zip(leaves) {
        for label in &line[1..line.len() - 1] {
            let (lo, hi) = bounds(label);
            prop_assert!(lo <= leaf && leaf < hi, "{:?}", line);
        }
    }
    Ok(())
}

fn decimals(numbers: &[i64], scale: f64) -> Vec<RuleNumber> {
    let decimal = |&number: &i64| RuleNumber::Decimal(number as f64 / scale);
    numbers.iter().map(decimal).collect()
}

fn integers(numbers: &[i64]) -> Vec<RuleNumber> {
    numbers.iter().copied().map(RuleNumber::Integer).collect()
}

fn check_texts(rule: &HierarchyRule, values: &[String]) -> Result<(), TestCaseError> {
    let lines = match rule.leaf_lines(NODES_MAX) {
        Ok(lines) => lines,
        // Random texts may look like labels: then a sentence must say so.
        Err(RuleError::Unfit(sentence)) => {
            prop_assert!(sentence.contains("same label") || sentence.contains("another node"));
            return Ok(());
        }
        Err(error) => return Err(TestCaseError::fail(error.to_string())),
    };
    check(&lines).map_err(TestCaseError::fail)?;
    prop_assert!(lines.iter().map(|line| &line[0]).eq(values));
    prop_assert_eq!(read_csv(&csv_of(&lines)), lines);
    Ok(())
}

proptest! {
    #[test]
    fn whole_numbers_lie_in_their_widths(
        from: i64,
        count in 0_i64..200,
        origin in proptest::option::of(any::<i64>()),
        first in 1_i64..1000,
        factors in proptest::collection::vec(1_i64..20, 0..5),
    ) {
        let from = from.min(i64::MAX - count);
        let rule = HierarchyRule::Intervals {
            from: Some(from),
            to: Some(from + count),
            values: None,
            origin: origin.map(RuleNumber::Integer),
            widths: Some(integers(&products(first, &factors))),
            cuts: None,
        };
        let lines = rule.leaf_lines(NODES_MAX).unwrap();
        check(&lines).map_err(TestCaseError::fail)?;
        for (line, leaf) in lines.iter().zip(from..) {
            prop_assert_eq!(&line[0], &leaf.to_string());
            for label in &line[1..line.len() - 1] {
                let inner = label.trim_matches(['[', ')']);
                let (lo, hi) = inner.split_once("..").unwrap();
                let (lo, hi): (i128, i128) = (lo.parse().unwrap(), hi.parse().unwrap());
                prop_assert!(lo <= i128::from(leaf) && i128::from(leaf) < hi);
            }
        }
    }

    #[test]
    fn decimals_lie_in_their_widths(
        values in proptest::collection::vec(-100_000_i64..100_000, 1..60),
        any_values in proptest::collection::vec(-1e9..1e9, 0..20),
        tiny_values in proptest::collection::vec(-1e-5..1e-5, 0..20),
        origin in -1_000_000_i64..1_000_000,
        first in 1_i64..500,
        factors in proptest::collection::vec(1_i64..10, 0..4),
        scale in 0_i32..5,
    ) {
        let scale = 10_f64.powi(scale);
        let mut leaves = decimals(&values, scale);
        leaves.extend(any_values.into_iter().chain(tiny_values).map(RuleNumber::Decimal));
        let rule = HierarchyRule::Intervals {
            from: None,
            to: None,
            values: Some(leaves),
            origin: Some(RuleNumber::Decimal(origin as f64 / scale)),
            widths: Some(decimals(&products(first, &factors), scale)),
            cuts: None,
        };
        check_intervals(&rule.leaf_lines(NODES_MAX).unwrap())?;
    }

    #[test]
    fn numbers_lie_between_their_cuts(
        values in proptest::collection::vec(-1000_i64..1000, 1..60),
        cuts in proptest::collection::btree_set(-1000_i64..1000, 1..12),
        kept in proptest::collection::vec(1_usize..4, 0..3),
        scales in (0_i32..3, 0_i32..3),
    ) {
        let mut levels: Vec<Vec<i64>> = vec![cuts.into_iter().collect()];
        for step in kept {
            let level = levels.last().unwrap().iter().step_by(step).copied().collect();
            levels.push(level);
        }
        let scale = 10_f64.powi(scales.1);
        let rule = HierarchyRule::Intervals {
            from: None,
            to: None,
            values: Some(decimals(&values, 10_f64.powi(scales.0))),
            origin: None,
            widths: None,
            cuts: Some(levels.iter().map(|level| decimals(level, scale)).collect()),
        };
        check_intervals(&rule.leaf_lines(NODES_MAX).unwrap())?;
    }

    #[test]
    fn days_make_trees(
        year in 1_u32..9999,
        month in 1_u32..13,
        day in 1_u32..29,
        until in (1_u32..13, 1_u32..29),
        chosen in proptest::sample::subsequence(
            vec![
                DateLevel::Month,
                DateLevel::Quarter,
                DateLevel::Half,
                DateLevel::Year,
                DateLevel::Decade,
            ],
            0..=5,
        ),
    ) {
        let levels = if chosen.is_empty() { vec![DateLevel::Week] } else { chosen };
        let rule = HierarchyRule::Dates {
            from: Some(format!("{year:04}-{month:02}-{day:02}")),
            to: Some(format!("{:04}-{:02}-{:02}", year + 1, until.0, until.1)),
            values: None,
            levels,
        };
        let lines = rule.leaf_lines(NODES_MAX).unwrap();
        check(&lines).map_err(TestCaseError::fail)?;
        prop_assert!(lines.is_sorted_by(|a, b| a[0] < b[0]));
    }

    #[test]
    fn beginnings_of_texts_make_trees(
        values in texts(),
        lengths in proptest::collection::btree_set(1_usize..7, 1..5),
    ) {
        let rule = HierarchyRule::Prefixes {
            lengths: lengths.into_iter().rev().collect(),
            values: Some(values.clone()),
            digits: None,
        };
        let lines = rule.leaf_lines(NODES_MAX).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(lines.len(), values.len());
        check_texts(&rule, &values)?;
    }

    #[test]
    fn groups_and_flat_values_make_trees(
        values in texts(),
        first in 1_i64..5,
        factors in proptest::collection::vec(1_i64..5, 0..4),
    ) {
        let sizes = products(first, &factors).into_iter().map(|size| size as usize).collect();
        check_texts(&HierarchyRule::Groups { values: values.clone(), sizes }, &values)?;
        let flat = HierarchyRule::Flat { values: values.clone() };
        prop_assert!(flat.leaf_lines(NODES_MAX).is_ok());
        check_texts(&flat, &values)?;
    }

    #[test]
    fn codes_make_trees(
        codes in proptest::collection::btree_set("[A-Za-c][0-9][0-9AB](\\.?[0-9X][0-9]?)?( ?[GVR])?|x[a-z]", 1..60),
        chosen in proptest::sample::subsequence(
            vec![Icd10Level::Category, Icd10Level::Block, Icd10Level::Chapter],
            0..=3,
        ),
    ) {
        let values: Vec<String> = codes.into_iter().collect();
        let rule = HierarchyRule::Icd10 {
            values: values.clone(),
            levels: (!chosen.is_empty()).then_some(chosen),
            others: Some("Other".into()),
        };
        prop_assert!(rule.leaf_lines(NODES_MAX).is_ok());
        check_texts(&rule, &values)?;
    }

    #[test]
    fn no_json_of_a_rule_panics(
        kind in proptest::sample::select(vec!["intervals", "dates", "prefixes", "icd10", "groups", "flat"]),
        fields in "[ -~]{0,20}",
        numbers in proptest::collection::vec(any::<f64>(), 0..6),
        widths in proptest::collection::vec(any::<f64>(), 0..4),
        texts in proptest::collection::vec("\\PC{0,8}", 0..6),
    ) {
        let values = if kind == "intervals" { serde_json::json!(numbers) } else { serde_json::json!(texts) };
        let sizes: Vec<u32> = widths.iter().map(|width| *width as u32).collect();
        let mut json = serde_json::json!({"rule": kind, "values": values});
        let named: &[(&str, serde_json::Value)] = match kind {
            "intervals" => &[("widths", serde_json::json!(widths))],
            "dates" => &[("levels", serde_json::json!(["year"]))],
            "prefixes" => &[("lengths", serde_json::json!(sizes))],
            "groups" => &[("sizes", serde_json::json!(sizes))],
            "icd10" => &[("others", serde_json::json!(fields))],
            _ => &[],
        };
        for (name, value) in named {
            json[*name] = value.clone();
        }
        if let Ok(Ok(lines)) = serde_json::from_value::<HierarchyRule>(json).map(|rule| rule.leaf_lines(50)) {
            check(&lines).map_err(TestCaseError::fail)?;
            prop_assert_eq!(read_csv(&csv_of(&lines)), lines);
        }
    }
}
