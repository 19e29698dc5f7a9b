//! Texts: by their first characters, in groups of their order, or flat.

use std::collections::HashMap;

use super::error::{ROOT_LABEL, RuleError};
use super::shape::{check_levels, check_texts, refuse_any};

/// A sign that stands for the rest of a text, whatever its length.
const REST: char = '…';

/// Lines with the beginnings of a text above it.
pub(super) fn prefixes(
    lengths: &[usize],
    values: Option<&[String]>,
    digits: Option<u32>,
    nodes_max: usize,
) -> Result<Vec<Vec<String>>, RuleError> {
    check_levels("lengths", lengths.len())?;
    if lengths.contains(&0) || !lengths.is_sorted_by(|a, b| a > b) {
        return Err(RuleError::unfit(
            "`lengths` does not descend to at least 1: give each length once, the longest first",
        ));
    }
    match (values, digits) {
        (Some(values), None) => {
            check_texts(values, nodes_max)?;
            // The signs of labels: a value with one could be taken for a node.
            let signed = values
                .iter()
                .filter(|value| value.contains(['*', REST]))
                .count();
            refuse_any(
                signed,
                "value(s)",
                "with `*` or `…`, which mark the nodes above values: write them without.",
            )?;
            Ok(begun(values, lengths))
        }
        (None, Some(digits)) => Ok(begun(&numerals(digits, nodes_max)?, lengths)),
        _ => Err(RuleError::unfit("give either `values` or `digits`")),
    }
}

fn numerals(digits: u32, nodes_max: usize) -> Result<Vec<String>, RuleError> {
    if digits == 0 {
        return Err(RuleError::unfit("`digits` is 0: give at least 1"));
    }
    match 10_usize.checked_pow(digits) {
        Some(count) if count <= nodes_max => Ok((0..count)
            .map(|number| format!("{number:0>width$}", width = digits as usize))
            .collect()),
        _ => Err(RuleError::TooManyNodes),
    }
}

fn begun(values: &[String], lengths: &[usize]) -> Vec<Vec<String>> {
    let mut sizes = values.iter().map(|value| value.chars().count());
    let first = sizes.next();
    let is_mixed = sizes.any(|size| Some(size) != first);
    let beginning = |value: &str, length: usize| {
        // The byte after the last character that is kept.
        let Some((end, _)) = value.char_indices().nth(length) else {
            return value.to_owned();
        };
        let (kept, rest) = value.split_at_checked(end).unwrap_or((value, ""));
        if is_mixed {
            format!("{kept}{REST}")
        } else {
            format!("{kept}{}", "*".repeat(rest.chars().count()))
        }
    };
    let line = |value: &String| {
        std::iter::once(value.clone())
            .chain(lengths.iter().map(|&length| beginning(value, length)))
            .chain([ROOT_LABEL.to_owned()])
            .collect()
    };
    values.iter().map(line).collect()
}

/// Lines with groups of consecutive values above each value.
pub(super) fn groups(
    values: &[String],
    sizes: &[usize],
    nodes_max: usize,
) -> Result<Vec<Vec<String>>, RuleError> {
    check_levels("sizes", sizes.len())?;
    check_texts(values, nodes_max)?;
    if sizes.contains(&0) {
        return Err(RuleError::unfit(
            "`sizes` has a 0: give sizes of at least 1",
        ));
    }
    let mut steps = sizes.iter().zip(sizes.iter().skip(1));
    if steps.any(|(below, size)| !size.is_multiple_of(*below)) {
        return Err(RuleError::unfit(
            "`sizes` has a size that is no multiple of the size before it: groups would overlap. \
             Give each size as a multiple of the one before",
        ));
    }
    let mut lines: Vec<Vec<String>> = values.iter().map(|value| vec![value.clone()]).collect();
    // Values may hold ` - ` themselves, so two groups could have one label.
    let mut run_by_label: HashMap<String, (usize, usize)> = HashMap::new();
    for &size in sizes {
        let runs = values.chunks(size).zip(lines.chunks_mut(size));
        for (at, (run, lines)) in runs.enumerate() {
            let label = run_label(run);
            let here = (at * size, run.len());
            let earlier = run_by_label.insert(label.clone(), here);
            if earlier.is_some_and(|earlier| earlier != here) {
                return Err(RuleError::unfit(
                    "two groups would have the same label, because values hold ` - `: write \
                     these values in another way",
                ));
            }
            lines.iter_mut().for_each(|line| line.push(label.clone()));
        }
    }
    lines
        .iter_mut()
        .for_each(|line| line.push(ROOT_LABEL.into()));
    Ok(lines)
}

fn run_label(run: &[String]) -> String {
    match run {
        [first, .., last] => format!("{first} - {last}"),
        [only] => only.clone(),
        [] => String::new(),
    }
}

/// Lines with the root right above each value.
pub(super) fn flat(values: &[String], nodes_max: usize) -> Result<Vec<Vec<String>>, RuleError> {
    check_texts(values, nodes_max)?;
    let line = |value: &String| vec![value.clone(), ROOT_LABEL.into()];
    Ok(values.iter().map(line).collect())
}
