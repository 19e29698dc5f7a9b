//! Hierarchies by rule that fit a column.

use super::columns::Column;
use super::forms::Cells;
use super::inspection::RuleProposal;
use super::names::Meaning;
use crate::microdata::hierarchy::rule::{DateLevel, is_icd10};
use crate::microdata::value_text::date_text;
use crate::microdata::{AttributeType, HierarchyRule, RuleNumber};

/// Nodes of a tree that is proposed.
const NODES_MAX: usize = 200_000;
/// Values of a category that a tree is proposed for.
const VALUES_MAX: usize = 20_000;
/// Groups of equal count at the lowest level.
const GROUPS: usize = 8;

/// The rules that fit, the one to take first; each makes a tree.
pub(super) fn rules_for(
    column: &Column,
    cells: &Cells,
    meaning: Option<Meaning>,
) -> Vec<RuleProposal> {
    let mut rules: Vec<(HierarchyRule, String)> = Vec::new();
    match cells.kind {
        Some(AttributeType::Integer) => numbers(column, cells, &mut rules),
        Some(AttributeType::Date) => days(column, cells, &mut rules),
        Some(AttributeType::Categorical) => categories(column, cells, meaning, &mut rules),
        _ => {}
    }
    let proposals = rules.into_iter().filter_map(|(rule, words)| {
        // The tree of a range is sound if that of its last leaf is.
        let lines = of_last_leaf(&rule).leaf_lines(NODES_MAX).ok()?;
        let example = lines.into_iter().max_by_key(Vec::len)?;
        Some(RuleProposal {
            rule,
            words,
            example,
        })
    });
    proposals.collect()
}

/// The rule over its last leaf alone, where it is of a range.
fn of_last_leaf(rule: &HierarchyRule) -> HierarchyRule {
    let mut rule = rule.clone();
    match &mut rule {
        HierarchyRule::Intervals { from, to, .. } => *from = *to,
        HierarchyRule::Dates { from, to, .. } => from.clone_from(to),
        _ => {}
    }
    rule
}

fn numbers(column: &Column, cells: &Cells, rules: &mut Vec<(HierarchyRule, String)>) {
    let Some((least, most)) = cells.range else {
        return;
    };
    let (from, to) = (least.floor() as i64, most.ceil() as i64);
    if to.saturating_sub(from) as usize >= NODES_MAX / 4 || from == to {
        return;
    }
    let width = round_width((most - least) / 20.0);
    let widths = [width, width * 2, width * 4];
    let interval = |widths: Option<Vec<RuleNumber>>, cuts: Option<Vec<Vec<RuleNumber>>>| {
        HierarchyRule::Intervals {
            from: Some(from),
            to: Some(to),
            values: None,
            origin: None,
            widths,
            cuts,
        }
    };
    rules.push((
        interval(Some(widths.map(RuleNumber::Integer).to_vec()), None),
        format!(
            "intervals of {}, {} and {}",
            widths[0], widths[1], widths[2]
        ),
    ));
    if let Some(cuts) = equal_counts(column, cells) {
        rules.push((
            interval(None, Some(cuts)),
            "intervals that hold about equally many records".into(),
        ));
    }
}

/// The next of 1, 2, 5, 10, 20, 50, …
fn round_width(width: f64) -> i64 {
    let mut power = 1.0;
    loop {
        for factor in [1.0, 2.0, 5.0] {
            if factor * power >= width || power > 1e15 {
                return (factor * power) as i64;
            }
        }
        power *= 10.0;
    }
}

/// Cuts between eight, four and two parts of about equally many records.
fn equal_counts(column: &Column, cells: &Cells) -> Option<Vec<Vec<RuleNumber>>> {
    if column.is_full {
        return None;
    }
    let known = column.values.iter();
    let mut numbers: Vec<(i64, u64)> = known
        .filter_map(|(text, count)| Some((cells.reading.number_of(text)? as i64, *count)))
        .collect();
    numbers.sort_unstable();
    let all: u64 = numbers.iter().map(|(_, count)| count).sum();
    let mut bounds: Vec<(usize, i64)> = Vec::new();
    let (mut below, mut part) = (0, 1);
    for (number, count) in numbers {
        while part < GROUPS && below * GROUPS as u64 >= all * part as u64 && below > 0 {
            bounds.push((part, number));
            part += 1;
        }
        below += count;
    }
    let level = |every: usize| {
        let wanted = bounds.iter().filter(|(part, _)| part % every == 0);
        let mut cuts: Vec<i64> = wanted.map(|(_, cut)| *cut).collect();
        cuts.dedup();
        cuts
    };
    let mut levels = vec![level(1), level(2), level(4)];
    levels.retain(|cuts| !cuts.is_empty());
    levels.dedup();
    let numbers = |cuts: Vec<i64>| cuts.into_iter().map(RuleNumber::Integer).collect();
    (!levels.is_empty()).then(|| levels.into_iter().map(numbers).collect())
}

fn days(column: &Column, cells: &Cells, rules: &mut Vec<(HierarchyRule, String)>) {
    let Some(pattern) = cells.pattern() else {
        return;
    };
    let mut found: Vec<i32> = column
        .texts()
        .filter_map(|(text, _)| pattern.day_of(text))
        // Days that stand for none would stretch the tree.
        .filter(|day| (-54_787..=73_049).contains(day) && *day != -25_567)
        .collect();
    found.sort_unstable();
    let (Some(&from), Some(&to)) = (found.first(), found.last()) else {
        return;
    };
    use DateLevel::{Decade, Month, Quarter, Year};
    let levels = match to - from {
        0..=800 => vec![Month, Quarter, Year],
        _ => vec![Month, Year, Decade],
    };
    rules.push((
        HierarchyRule::Dates {
            from: Some(date_text(from)),
            to: Some(date_text(to)),
            values: None,
            levels,
        },
        "months and longer".into(),
    ));
}

fn categories(
    column: &Column,
    cells: &Cells,
    meaning: Option<Meaning>,
    rules: &mut Vec<(HierarchyRule, String)>,
) {
    if column.is_full || column.values.len() > VALUES_MAX {
        return;
    }
    let known = column.values.iter().map(|(text, _)| text);
    let known = known.filter(|text| !cells.missing_words.contains(text));
    let values: Vec<String> = known.cloned().collect();
    if values.is_empty() {
        return;
    }
    let shares = |fits: fn(&str) -> bool| {
        let fitting = values.iter().filter(|value| fits(value)).count();
        fitting * 10 >= values.len() * 9
    };
    if meaning == Some(Meaning::PostalCode) || (cells.has_leading_zeros && values.len() > 8) {
        let longest = values.iter().map(|value| value.chars().count()).max();
        let lengths: Vec<usize> = (1..longest.unwrap_or(1).min(9)).rev().collect();
        rules.push((
            HierarchyRule::Prefixes {
                lengths,
                values: Some(values.clone()),
                digits: None,
            },
            "first characters".into(),
        ));
    }
    if shares(is_atc) {
        rules.push((
            HierarchyRule::Prefixes {
                lengths: vec![5, 4, 3, 1],
                values: Some(values.clone()),
                digits: None,
            },
            "levels of ATC".into(),
        ));
    } else if shares(is_icd10) {
        rules.push((
            HierarchyRule::Icd10 {
                values: values.clone(),
                levels: None,
                others: Some("Other".into()),
            },
            "categories, blocks and chapters of ICD-10".into(),
        ));
    }
    if rules.is_empty() {
        rules.push((
            HierarchyRule::Flat { values },
            "every value under the root".into(),
        ));
    }
}

/// A letter, two digits, two letters, two digits.
fn is_atc(text: &str) -> bool {
    let is_of = |letter: bool, byte: &u8| {
        if letter {
            byte.is_ascii_uppercase()
        } else {
            byte.is_ascii_digit()
        }
    };
    let form = [true, false, false, true, true, false, false];
    text.len() == 7
        && form
            .iter()
            .zip(text.as_bytes())
            .all(|(&letter, byte)| is_of(letter, byte))
}
