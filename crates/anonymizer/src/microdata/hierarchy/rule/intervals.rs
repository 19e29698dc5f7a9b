//! Numbers in half-open intervals: aligned ones, or between cuts.

use super::decimal::{LEAF_BOUND, RuleNumber, Scale};
use super::error::{ROOT_LABEL, RuleError};
use super::shape::{check_count, check_levels, refuse_any};

/// The texts of the leaves, in ascending order.
pub(super) fn leaves(
    range: (Option<i64>, Option<i64>),
    values: Option<&[RuleNumber]>,
    nodes_max: usize,
) -> Result<Vec<String>, RuleError> {
    match (range, values) {
        ((Some(from), Some(to)), None) if from <= to => {
            let count = i128::from(to) - i128::from(from) + 1;
            if usize::try_from(count).map_or(true, |count| count > nodes_max) {
                return Err(RuleError::TooManyNodes);
            }
            Ok((from..=to).map(|leaf| leaf.to_string()).collect())
        }
        ((Some(_), Some(_)), None) => Err(RuleError::unfit(
            "`from` is greater than `to`: exchange them",
        )),
        ((None, None), Some(values)) => given(values, nodes_max),
        _ => Err(RuleError::unfit("give either `from` and `to`, or `values`")),
    }
}

fn given(values: &[RuleNumber], nodes_max: usize) -> Result<Vec<String>, RuleError> {
    check_count(values.len(), nodes_max)?;
    let infinite = values.iter().filter(|value| !value.is_finite()).count();
    refuse_any(
        infinite,
        "number(s)",
        "that are not finite: leave them out.",
    )?;
    let mut sorted = values.to_vec();
    // One column has one type: beside a decimal, whole numbers are decimals.
    if values.iter().any(|value| value.is_decimal()) {
        sorted
            .iter_mut()
            .for_each(|value| *value = value.as_decimal());
    }
    sorted.sort_unstable_by(RuleNumber::by_size);
    sorted.dedup();
    Ok(sorted.into_iter().map(RuleNumber::text).collect())
}

/// Lines with intervals of fixed widths above each leaf.
pub(super) fn by_widths(
    leaves: &[String],
    origin: Option<RuleNumber>,
    widths: &[RuleNumber],
) -> Result<Vec<Vec<String>>, RuleError> {
    check_levels("widths", widths.len())?;
    let origin = origin.unwrap_or(RuleNumber::Integer(0));
    let scale = Scale::of(widths.iter().copied().chain([origin]));
    let origin = scale.whole(origin)?;
    let widths = widths
        .iter()
        .map(|&width| scale.whole(width))
        .collect::<Result<Vec<_>, _>>()?;
    if widths.iter().any(|&width| width <= 0) {
        return Err(RuleError::unfit(
            "`widths` has a width that is not above 0: give widths above 0",
        ));
    }
    let mut steps = widths.iter().zip(widths.iter().skip(1));
    if steps.any(|(below, width)| width % below != 0) {
        return Err(RuleError::unfit(
            "`widths` has a width that is no multiple of the width before it: intervals would \
             overlap. Give each width as a multiple of the one before",
        ));
    }
    let line = |leaf: &String| {
        let value = scale.floor(leaf);
        if value.abs() >= LEAF_BOUND {
            return Err(RuleError::unfit(
                "a value has too many digits for these widths: give larger widths or leave such \
                 values out",
            ));
        }
        let intervals = widths.iter().map(|width| {
            // The width is above 0, so this rounds down below the origin too.
            let start = origin + (value - origin).div_euclid(*width) * width;
            format!("[{}..{})", scale.text(start), scale.text(start + width))
        });
        Ok(line_of(leaf, intervals))
    };
    leaves.iter().map(line).collect()
}

/// Lines with intervals between cuts above each leaf.
pub(super) fn by_cuts(
    leaves: &[String],
    cuts: &[Vec<RuleNumber>],
) -> Result<Vec<Vec<String>>, RuleError> {
    check_levels("cuts", cuts.len())?;
    let scale = Scale::of(cuts.iter().flatten().copied());
    let levels = cuts
        .iter()
        .map(|level| level.iter().map(|&cut| scale.whole(cut)).collect())
        .collect::<Result<Vec<Vec<i128>>, _>>()?;
    if levels.iter().any(Vec::is_empty) {
        return Err(RuleError::unfit(
            "`cuts` has a level without a cut: leave the level out",
        ));
    }
    if !levels.iter().all(|level| level.is_sorted_by(|a, b| a < b)) {
        return Err(RuleError::unfit(
            "`cuts` has a level whose cuts do not ascend: sort them and give each cut once",
        ));
    }
    let mut steps = levels.iter().zip(levels.iter().skip(1));
    if steps.any(|(below, level)| level.iter().any(|cut| below.binary_search(cut).is_err())) {
        return Err(RuleError::unfit(
            "`cuts` has a level with a cut that the level before it lacks: intervals would \
             overlap. Add the cut to the level before",
        ));
    }
    let lines = leaves.iter().map(|leaf| {
        let value = scale.floor(leaf);
        let intervals = levels.iter().map(|level| between(level, value, scale));
        line_of(leaf, intervals)
    });
    Ok(lines.collect())
}

fn between(cuts: &[i128], value: i128, scale: Scale) -> String {
    let above = cuts.partition_point(|&cut| cut <= value);
    let lo = above.checked_sub(1).and_then(|below| cuts.get(below));
    match (lo, cuts.get(above)) {
        (Some(&lo), Some(&hi)) => format!("[{}..{})", scale.text(lo), scale.text(hi)),
        (Some(&lo), None) => format!(">={}", scale.text(lo)),
        (None, Some(&hi)) => format!("<{}", scale.text(hi)),
        // Without a cut, the interval holds all numbers.
        (None, None) => ROOT_LABEL.into(),
    }
}

fn line_of(leaf: &str, above: impl Iterator<Item = String>) -> Vec<String> {
    std::iter::once(leaf.to_owned())
        .chain(above)
        .chain([ROOT_LABEL.to_owned()])
        .collect()
}
