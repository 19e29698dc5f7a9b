//! Hierarchies by rule: a JSON document says a rule, and the module makes the
//! leaf lines of the tree.
//!
//! A line holds the labels from a leaf to the root, which is always `*`. A
//! label repeated along a line is one node. Sentences about what is wrong name
//! counts and fields, never a value: values may be personal.

mod dates;
mod decimal;
mod error;
mod icd10;
mod intervals;
mod shape;
#[cfg(test)]
mod tests;
mod texts;

pub use dates::DateLevel;
pub use decimal::RuleNumber;
pub use error::{ROOT_LABEL, RuleError};
pub use icd10::Icd10Level;
pub(crate) use icd10::is_icd10;

use serde::{Deserialize, Serialize};

/// A hierarchy by rule, as its JSON says it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "snake_case", deny_unknown_fields)]
pub enum HierarchyRule {
    /// Numbers are joined in half-open intervals. The leaves are `from..=to` or
    /// `values`, the levels are `widths` or `cuts`.
    Intervals {
        /// The first leaf.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<i64>,
        /// The last leaf.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<i64>,
        /// The leaves, in any order. A number given twice is one leaf.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        values: Option<Vec<RuleNumber>>,
        /// A number where an interval of every width begins; 0 if not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        origin: Option<RuleNumber>,
        /// The width of the intervals of each level. Each width is a multiple
        /// of the width before it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        widths: Option<Vec<RuleNumber>>,
        /// The ascending bounds between the intervals of each level. Each level
        /// has only cuts that the level before it has too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cuts: Option<Vec<Vec<RuleNumber>>>,
    },
    /// Days are joined in parts of the calendar. The leaves are `from..=to` or
    /// `values`, written `YYYY-MM-DD`.
    Dates {
        /// The first leaf.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<String>,
        /// The last leaf.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<String>,
        /// The leaves, in any order.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        values: Option<Vec<String>>,
        /// The levels from the shortest to the longest. `week` stands alone.
        levels: Vec<DateLevel>,
    },
    /// Texts are joined by their first characters. The leaves are `values`, or
    /// all texts of `digits` digits.
    ///
    /// If all values have the same length, each character left out becomes one
    /// `*` (`123**`). If lengths differ, one `…` stands for all of them
    /// (`123…`), so that `12345` and `123456` have one node above them. A value
    /// that is no longer than a level's length stays as it is on that level.
    Prefixes {
        /// The characters that each level keeps, in descending order.
        lengths: Vec<usize>,
        /// The leaves, in the order of the tree.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        values: Option<Vec<String>>,
        /// The length of the leaves, which are then all texts of digits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digits: Option<u32>,
    },
    /// ICD-10 codes are joined by category, block and chapter.
    Icd10 {
        /// The leaves, as the table writes them.
        values: Vec<String>,
        /// The levels from the lowest to the highest; all three if not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        levels: Option<Vec<Icd10Level>>,
        /// The node for values that are no ICD-10 code. They are refused if it
        /// is not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        others: Option<String>,
    },
    /// Consecutive values are joined in groups of fixed sizes.
    Groups {
        /// The leaves, in the order of the tree.
        values: Vec<String>,
        /// The number of leaves in a group of each level. Each size is a
        /// multiple of the size before it.
        sizes: Vec<usize>,
    },
    /// Every value lies right under the root.
    Flat {
        /// The leaves, in the order of the tree.
        values: Vec<String>,
    },
}

impl HierarchyRule {
    /// Makes the labels of each leaf, from leaf to root.
    ///
    /// The tree has at most `nodes_max` nodes. A rule that is known to make
    /// more leaves is refused before a line is made. The error says what is
    /// wrong and how to mend it, and repeats no value.
    pub fn leaf_lines(&self, nodes_max: usize) -> Result<Vec<Vec<String>>, RuleError> {
        self.check_size()?;
        let lines = match self {
            Self::Intervals {
                from,
                to,
                values,
                origin,
                widths,
                cuts,
            } => {
                let leaves = intervals::leaves((*from, *to), values.as_deref(), nodes_max)?;
                match (widths, cuts) {
                    (Some(widths), None) => intervals::by_widths(&leaves, *origin, widths),
                    (None, Some(cuts)) if origin.is_none() => intervals::by_cuts(&leaves, cuts),
                    (None, Some(_)) => Err(RuleError::unfit(
                        "`origin` goes with `widths` only: leave it out beside `cuts`",
                    )),
                    _ => Err(RuleError::unfit("give either `widths` or `cuts`")),
                }
            }
            Self::Dates {
                from,
                to,
                values,
                levels,
            } => {
                let range = (from.as_deref(), to.as_deref());
                dates::lines(range, values.as_deref(), levels, nodes_max)
            }
            Self::Prefixes {
                lengths,
                values,
                digits,
            } => texts::prefixes(lengths, values.as_deref(), *digits, nodes_max),
            Self::Icd10 {
                values,
                levels,
                others,
            } => icd10::lines(values, levels.as_deref(), others.as_deref(), nodes_max),
            Self::Groups { values, sizes } => texts::groups(values, sizes, nodes_max),
            Self::Flat { values } => texts::flat(values, nodes_max),
        }?;
        shape::check_tree(&lines, nodes_max)?;
        Ok(lines)
    }
}

/// Bytes of the longest label of numbers and of days, about.
const NUMBER_BYTES: usize = 48;

impl HierarchyRule {
    /// Refuses what would take too much memory before a line is made.
    fn check_size(&self) -> Result<(), RuleError> {
        let longest = |values: &[String]| values.iter().map(String::len).max().unwrap_or(0);
        let (leaves, levels, bytes) = match self {
            Self::Intervals {
                from,
                to,
                values,
                widths,
                cuts,
                ..
            } => {
                let named = [widths.as_ref().map(Vec::len), cuts.as_ref().map(Vec::len)];
                let levels = named.into_iter().flatten().max().unwrap_or(0);
                match (values, from, to) {
                    (Some(values), ..) => {
                        let texts = values.iter().map(|value| value.text().len());
                        (values.len(), levels, 2 * texts.max().unwrap_or(0) + 4)
                    }
                    (None, Some(from), Some(to)) => {
                        (to.abs_diff(*from) as usize, levels, NUMBER_BYTES)
                    }
                    _ => (0, levels, NUMBER_BYTES),
                }
            }
            Self::Dates {
                from,
                to,
                values,
                levels,
            } => {
                let year = |day: &Option<String>| {
                    let text = day.as_ref()?.get(..4)?;
                    text.parse::<usize>().ok()
                };
                let years = match (year(from), year(to)) {
                    (Some(from), Some(to)) => to.saturating_sub(from) + 1,
                    _ => 0,
                };
                let leaves = values.as_ref().map_or(years * 366, Vec::len);
                (leaves, levels.len(), NUMBER_BYTES)
            }
            Self::Prefixes {
                lengths,
                values,
                digits,
            } => match values {
                Some(values) => (values.len(), lengths.len(), longest(values) + 4),
                None => {
                    let leaves = 10_usize.saturating_pow(digits.unwrap_or(0));
                    (leaves, lengths.len(), NUMBER_BYTES)
                }
            },
            Self::Icd10 {
                values,
                levels,
                others,
            } => {
                shape::check_lengths(others.iter())?;
                let others = others.as_ref().map_or(0, String::len);
                let levels = levels.as_ref().map_or(3, Vec::len);
                let bytes = longest(values).max(others).max(NUMBER_BYTES);
                (values.len(), levels, bytes)
            }
            Self::Groups { values, sizes } => (values.len(), sizes.len(), 2 * longest(values) + 3),
            Self::Flat { values } => (values.len(), 0, longest(values)),
        };
        shape::check_size(leaves, levels, bytes)
    }
}

/// Writes the lines as CSV, the form that the API keeps.
///
/// Labels are separated by `;`. A label that holds `;`, a quote or a line break
/// is quoted.
pub fn csv_of(lines: &[Vec<String>]) -> String {
    let bytes = lines.iter().flatten().map(|label| label.len() + 1).sum();
    let mut csv = String::with_capacity(bytes);
    for line in lines {
        for (at, label) in line.iter().enumerate() {
            if at > 0 {
                csv.push(';');
            }
            push_cell(&mut csv, label);
        }
        csv.push('\n');
    }
    csv
}

pub(super) fn push_cell(csv: &mut String, label: &str) {
    // A reader drops a byte order mark that is the first character of a file.
    if label.contains([';', '"', '\n', '\r', '\u{feff}']) {
        csv.push('"');
        csv.push_str(&label.replace('"', "\"\""));
        csv.push('"');
    } else {
        csv.push_str(label);
    }
}
