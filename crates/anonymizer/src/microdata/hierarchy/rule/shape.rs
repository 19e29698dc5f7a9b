//! What every rule must keep: sound values, few levels, and a tree.

use std::collections::{HashMap, HashSet};

use super::error::{ROOT_LABEL, RuleError};

/// Levels that a rule may name between leaf and root. Every line holds one
/// label a level, so that this limits the memory of the lines.
const LEVELS_MAX: usize = 32;
/// Bytes of a value, and of a label that stands for several.
const TEXT_BYTES_MAX: usize = 256;
/// Bytes of all labels of all lines, about: a label is written once a line.
const LINES_BYTES_MAX: usize = 256 << 20;
/// Bytes that a label costs beside its text.
const LABEL_BYTES: usize = 48;
/// Separators in one line of CSV, with those inside of labels. The reader of
/// hierarchies refuses longer lines.
const SEPARATORS_MAX: usize = 4000;

/// Checks that a rule names at least one level and not too many.
pub(super) fn check_levels(field: &str, levels: usize) -> Result<(), RuleError> {
    match levels {
        0 => Err(RuleError::unfit(format!(
            "`{field}` is empty: name at least one level, or use the rule `flat`"
        ))),
        1..=LEVELS_MAX => Ok(()),
        _ => Err(RuleError::unfit(format!(
            "`{field}` names more than {LEVELS_MAX} levels: leave some out"
        ))),
    }
}

/// Checks that there is a value and that there are no more than nodes.
pub(super) fn check_count(values: usize, nodes_max: usize) -> Result<(), RuleError> {
    match values {
        0 => Err(RuleError::unfit(
            "`values` is empty: give at least one value",
        )),
        _ if values > nodes_max => Err(RuleError::TooManyNodes),
        _ => Ok(()),
    }
}

/// Checks that the lines of so many leaves and levels take no more memory than
/// they may; no label is longer than `longest` bytes.
pub(super) fn check_size(leaves: usize, levels: usize, longest: usize) -> Result<(), RuleError> {
    let labels = leaves.saturating_mul(levels + 2);
    let bytes = labels.saturating_mul(longest + LABEL_BYTES);
    if bytes > LINES_BYTES_MAX {
        Err(RuleError::TooManyNodes)
    } else {
        Ok(())
    }
}

/// Checks that texts are not too long for labels.
pub(super) fn check_lengths<'t>(texts: impl Iterator<Item = &'t String>) -> Result<(), RuleError> {
    let count = texts.filter(|text| text.len() > TEXT_BYTES_MAX).count();
    refuse_any(count, "value(s)", "longer than 256 bytes: shorten them")
}

/// Checks that texts can be the leaves of a tree.
pub(super) fn check_texts(values: &[String], nodes_max: usize) -> Result<(), RuleError> {
    check_count(values.len(), nodes_max)?;
    check_lengths(values.iter())?;
    let refuse_where = |is_unfit: &dyn Fn(&String) -> bool, what: &str| {
        let count = values.iter().filter(|value| is_unfit(value)).count();
        refuse_any(count, "value(s)", what)
    };
    refuse_where(
        &|value| value.is_empty(),
        "empty: leave them out of `values`.",
    )?;
    refuse_where(
        &|value| value.trim().len() < value.len(),
        "with white space at an end: trim them.",
    )?;
    refuse_where(
        &|value| value == ROOT_LABEL,
        "`*`, which is the label of the root: write them in another way.",
    )?;
    // No cell of a table holds one either.
    refuse_where(
        &|value| value.contains(char::is_control),
        "with a line break or another control character: remove it.",
    )?;
    let mut seen = HashSet::with_capacity(values.len());
    let repeated = values.iter().filter(|value| !seen.insert(*value)).count();
    refuse_any(repeated, "value(s)", "given before: give each value once.")
}

/// Refuses a rule at which a count is not 0.
pub(super) fn refuse_any(count: usize, noun: &str, what: &str) -> Result<(), RuleError> {
    match count {
        0 => Ok(()),
        _ => Err(RuleError::unfit(format!(
            "`values` has {count} {noun} {what}"
        ))),
    }
}

/// Checks that lines make a tree: each label is one node with one parent, and
/// no leaf is above another leaf.
pub(super) fn check_tree(lines: &[Vec<String>], nodes_max: usize) -> Result<(), RuleError> {
    let mut parents: HashMap<&str, &str> = HashMap::new();
    let mut inner: HashSet<&str> = HashSet::from([ROOT_LABEL]);
    let mut contradictions = 0_usize;
    for line in lines {
        let inside: usize = line.iter().map(|label| label.matches(';').count()).sum();
        if inside + line.len() > SEPARATORS_MAX {
            return Err(RuleError::unfit(
                "values hold too many `;` for one line of CSV: write them with fewer",
            ));
        }
        let pairs = line.iter().zip(line.iter().skip(1));
        for (label, above) in pairs.filter(|(label, above)| label != above) {
            inner.insert(above);
            let earlier = parents.insert(label, above);
            if earlier.is_some_and(|earlier| earlier != above) {
                contradictions += 1;
            }
        }
        // The root counts as well.
        if parents.len() >= nodes_max {
            return Err(RuleError::TooManyNodes);
        }
    }
    let leaves = lines.iter().filter_map(|line| line.first());
    contradictions += leaves.filter(|leaf| inner.contains(leaf.as_str())).count();
    refuse_any(
        contradictions,
        "value(s)",
        "whose label is also the label of another node: write them in another way, or leave \
         out the level that makes this label.",
    )
}
