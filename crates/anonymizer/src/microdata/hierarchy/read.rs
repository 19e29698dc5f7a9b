//! Reading hierarchies: ARX's CSV layout, JSON trees, rules that make trees,
//! aligned intervals.
//!
//! CSV has one line a leaf, from leaf to root, separated by `;` or `,`. The
//! root is the same on every line, lines may differ in length, and a label
//! repeated along a line is one node.

use std::sync::Arc;

use serde::Deserialize;

use super::HierarchySource;
use super::leaf_lines::{LEVELS_MAX, csv_branch};
use super::review::{HierarchyReview, of_intervals, of_tree};
use super::rule::{HierarchyRule, RuleError, csv_of};
use super::tree::{Branch, Hierarchy};
use crate::microdata::error::TableError;
use crate::microdata::expectation;
use crate::microdata::hex::to_hex;
use crate::microdata::json_shape::json_shape;
use crate::microdata::limits::HierarchyLimits;
use crate::microdata::sha256::Sha256;

/// The form a hierarchy is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HierarchyFormat {
    /// ARX's layout.
    Csv,
    /// A tree of labels, a rule, or intervals.
    Json,
}

impl HierarchyFormat {
    /// The format that a media type names, parameters aside.
    pub fn of_media_type(media_type: &str) -> Option<Self> {
        match media_type
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase()
            .as_str()
        {
            "text/csv" => Some(Self::Csv),
            "application/json" => Some(Self::Json),
            _ => None,
        }
    }
}

/// Levels of aligned half-open intervals over numbers: the lowest are `width`
/// wide and start at `origin` plus multiples of it; each next level joins
/// `fanouts[level]` intervals of the level below.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Intervals {
    /// Where an interval of every level begins.
    pub origin: f64,
    /// Width of the lowest intervals; above 0.
    pub width: f64,
    /// Intervals joined at each further level; each at least 2.
    pub fanouts: Vec<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TreeDocument {
    label: String,
    #[serde(default)]
    children: Vec<TreeDocument>,
}

/// Whether an object names a rule.
#[derive(Deserialize)]
struct RuleName {
    rule: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IntervalsDocument {
    intervals: Intervals,
}

impl HierarchySource {
    /// Reads a hierarchy of any size that can be read at all. A leading `{`
    /// in CSV would be a label; the format is therefore told, not guessed.
    pub fn read(content: &[u8], format: HierarchyFormat) -> Result<Self, TableError> {
        Self::read_within(content, format, &HierarchyLimits::WIDEST)
    }

    /// Reads a hierarchy that is within limits; one past a limit is refused
    /// before it is built ([`TableError::PastLimit`]).
    pub fn read_within(
        content: &[u8],
        format: HierarchyFormat,
        limits: &HierarchyLimits,
    ) -> Result<Self, TableError> {
        let text =
            std::str::from_utf8(content).map_err(|_| TableError::Hierarchy("not UTF-8".into()))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let source = match format {
            HierarchyFormat::Csv => Self::Tree(read_csv(text, limits)?),
            HierarchyFormat::Json => read_json(text, limits)?,
        };
        if source.height() as usize >= limits.hierarchy_levels_max {
            return Err(limits.too_many_levels());
        }
        Ok(source)
    }

    /// SHA-256 of what the hierarchy says, whatever form it came in; hex.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        match self {
            Self::Tree(tree) => {
                hash.update(b"tree\n");
                for node in tree.nodes() {
                    hash.update(node.depth.to_be_bytes());
                    hash.update((node.label.len() as u64).to_be_bytes());
                    hash.update(node.label.as_bytes());
                }
            }
            Self::Intervals(intervals) => {
                hash.update(b"intervals\n");
                hash.update(intervals.origin.to_be_bytes());
                hash.update(intervals.width.to_be_bytes());
                intervals
                    .fanouts
                    .iter()
                    .for_each(|fanout| hash.update(fanout.to_be_bytes()));
            }
        }
        to_hex(&hash.finish())
    }

    /// Number of leaves; 0 for intervals, whose leaves are a dataset's values.
    pub fn leaf_count(&self) -> usize {
        match self {
            Self::Tree(tree) => tree.leaf_count(),
            Self::Intervals(_) => 0,
        }
    }

    /// What the hierarchy is.
    pub fn review(&self) -> HierarchyReview {
        match self {
            Self::Tree(tree) => of_tree(tree),
            Self::Intervals(intervals) => of_intervals(intervals.width, &intervals.fanouts),
        }
    }

    /// Steps from root to deepest leaf.
    pub fn height(&self) -> u32 {
        match self {
            Self::Tree(tree) => tree.height(),
            // Leaf values, the lowest intervals, one level a fan-out, the root.
            Self::Intervals(intervals) => intervals.fanouts.len() as u32 + 2,
        }
    }
}

fn read_csv(text: &str, limits: &HierarchyLimits) -> Result<Arc<Hierarchy>, TableError> {
    let branch = csv_branch(text, limits)?;
    Ok(Arc::new(Hierarchy::from_branch(branch)?))
}

/// The CSV of the tree that a rule makes; `None` where the JSON is no rule.
///
/// # Errors
/// What is wrong with the rule, or the limit that its tree would pass.
pub fn csv_of_rule(content: &[u8], limits: &HierarchyLimits) -> Result<Option<String>, TableError> {
    let Ok(text) = std::str::from_utf8(content) else {
        return Ok(None);
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // Trees can be large: few are read twice to know.
    if !text.contains("\"rule\"") || json_shape(text.as_bytes()).levels > limits.json_depth_max {
        return Ok(None);
    }
    match serde_json::from_str::<RuleName>(text) {
        Ok(RuleName { rule: Some(_) }) => {}
        _ => return Ok(None),
    }
    let rule: HierarchyRule = serde_json::from_str(text)
        .map_err(|error| TableError::Hierarchy(format!("rule: {}", expectation(&error))))?;
    let lines = rule.leaf_lines(limits.hierarchy_nodes_max);
    let lines = lines.map_err(|error| match error {
        RuleError::TooManyNodes => limits.too_many_nodes(),
        RuleError::Unfit(what) => TableError::Hierarchy(what),
    })?;
    Ok(Some(csv_of(&lines)))
}

fn read_json(text: &str, limits: &HierarchyLimits) -> Result<HierarchySource, TableError> {
    if let Some(csv) = csv_of_rule(text.as_bytes(), limits)? {
        return Ok(HierarchySource::Tree(read_csv(&csv, limits)?));
    }
    let shape = json_shape(text.as_bytes());
    if shape.levels > limits.json_depth_max {
        return Err(TableError::PastLimit {
            name: "json_depth_max",
            value: limits.json_depth_max as u64,
            unit: "levels",
        });
    }
    // Every node is an object.
    if shape.objects > limits.hierarchy_nodes_max {
        return Err(limits.too_many_nodes());
    }
    let json_error =
        |error: serde_json::Error| TableError::Hierarchy(format!("JSON, line {}", error.line()));
    if is_intervals(text) {
        let document: IntervalsDocument = serde_json::from_str(text).map_err(json_error)?;
        return Ok(HierarchySource::Intervals(checked(document.intervals)?));
    }
    let document: TreeDocument = serde_json::from_str(text).map_err(json_error)?;
    Ok(HierarchySource::Tree(Arc::new(Hierarchy::from_branch(
        branch(document),
    )?)))
}

/// Whether the text is an object whose first key is `intervals`: such a
/// document has no other, and no tree has it.
fn is_intervals(text: &str) -> bool {
    let inside = text.trim_start().strip_prefix('{').unwrap_or_default();
    inside.trim_start().starts_with("\"intervals\"")
}

fn checked(intervals: Intervals) -> Result<Intervals, TableError> {
    let fanouts = intervals.fanouts.iter().map(|&fanout| f64::from(fanout));
    let widest = fanouts.product::<f64>() * intervals.width;
    let sound = intervals.origin.is_finite()
        && widest.is_finite()
        && intervals.width > 0.0
        && intervals.fanouts.len() <= LEVELS_MAX
        && intervals.fanouts.iter().all(|&fanout| fanout >= 2);
    if sound {
        Ok(intervals)
    } else {
        Err(TableError::Hierarchy(
            "intervals need a finite origin, finite widths above 0, fan-outs of at least 2 and \
             at most 256 of them"
                .into(),
        ))
    }
}

// serde_json limits the depth of what it reads, so plain recursion is safe.
fn branch(document: TreeDocument) -> Branch {
    Branch {
        label: document.label.trim().into(),
        children: document.children.into_iter().map(branch).collect(),
    }
}

impl Intervals {
    /// The tree over the ascending values of a dataset: leaves are the values
    /// (their texts), above them the intervals `lo..hi` (hi exclusive) that
    /// hold any, then the root `*`.
    pub fn tree(&self, values: &[(f64, String)]) -> Result<Hierarchy, TableError> {
        let mut level: Vec<(f64, Branch)> = values
            .iter()
            .map(|(value, text)| {
                (
                    *value,
                    Branch {
                        label: text.clone(),
                        children: Vec::new(),
                    },
                )
            })
            .collect();
        let mut width = self.width;
        for fanout in std::iter::once(1).chain(self.fanouts.iter().copied()) {
            width *= f64::from(fanout);
            level = self.join(level, width);
        }
        let children = level.into_iter().map(|(_, branch)| branch).collect();
        Hierarchy::from_branch(Branch {
            label: "*".into(),
            children,
        })
    }

    fn join(&self, level: Vec<(f64, Branch)>, width: f64) -> Vec<(f64, Branch)> {
        let mut joined: Vec<(f64, Branch)> = Vec::new();
        for (value, branch) in level {
            let start = self.origin + ((value - self.origin) / width).floor() * width;
            match joined.last_mut() {
                Some((open, parent)) if *open == start => parent.children.push(branch),
                _ => {
                    let label = format!("[{start}..{})", start + width);
                    joined.push((
                        start,
                        Branch {
                            label,
                            children: vec![branch],
                        },
                    ));
                }
            }
        }
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::microdata::hierarchy::tree::NodeIndex;
    use crate::microdata::index::Code;

    fn tree(text: &str) -> Result<Arc<Hierarchy>, TableError> {
        match HierarchySource::read(text.as_bytes(), HierarchyFormat::Csv)? {
            HierarchySource::Tree(tree) => Ok(tree),
            HierarchySource::Intervals(_) => panic!("a tree was asked for"),
        }
    }

    #[test]
    fn lines_of_different_length_and_repeated_labels_make_one_tree() {
        let tree = tree("a;A;*\nb;A;A;*\nc;*\nd;B;*\n").unwrap();
        assert_eq!(tree.leaf_labels().collect::<Vec<_>>(), ["a", "b", "c", "d"]);
        assert_eq!(tree.node(NodeIndex::ROOT).leaf_count, 4);
        assert_eq!(tree.node(tree.common_ancestor(Code(0), Code(1))).label, "A");
        assert_eq!(tree.node(tree.common_ancestor(Code(1), Code(2))).label, "*");
        assert_eq!(tree.leaf("A"), None);
        assert_eq!(tree.height(), 2);
    }

    #[test]
    fn a_line_has_256_labels_at_most_whatever_the_limits_say() {
        let line = |labels: usize| {
            let labels: Vec<String> = (0..labels).map(|label| label.to_string()).collect();
            tree(&labels.join(";"))
        };
        assert_eq!(line(256).unwrap().height(), 255);
        assert!(matches!(line(257), Err(TableError::PastLimit { .. })));
    }

    #[test]
    fn contradictions_are_refused() {
        for text in [
            "",
            "a\n",
            "a;*\nb;+\n",
            "a;*\na;*\n",
            "a;*\nb;a;*\n",
            "x;A;*\nx;B;*\n",
            "a;;*\n",
        ] {
            assert!(tree(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn json_and_csv_of_one_tree_have_one_digest() {
        let json = r#"{"label":"*","children":[{"label":"A","children":[{"label":"a"},{"label":"b"}]},{"label":"c"}]}"#;
        let json = HierarchySource::read(json.as_bytes(), HierarchyFormat::Json).unwrap();
        let csv = HierarchySource::read(b"a,A,*\nb,A,*\nc,*\n", HierarchyFormat::Csv).unwrap();
        assert_eq!(json.digest(), csv.digest());
    }

    #[test]
    fn intervals_are_aligned_to_their_origin() {
        let intervals = Intervals {
            origin: 0.0,
            width: 5.0,
            fanouts: vec![2],
        };
        let values: Vec<_> = [3, 5, 9, 10]
            .iter()
            .map(|n| (f64::from(*n), n.to_string()))
            .collect();
        let tree = intervals.tree(&values).unwrap();
        assert_eq!(
            tree.node(tree.common_ancestor(Code(1), Code(2))).label,
            "[5..10)"
        );
        assert_eq!(
            tree.node(tree.common_ancestor(Code(0), Code(2))).label,
            "[0..10)"
        );
        assert_eq!(tree.node(tree.common_ancestor(Code(0), Code(3))).label, "*");
    }

    #[test]
    fn intervals_that_could_not_be_laid_are_refused() {
        let read = |origin: &str, width: &str, fanouts: &str| {
            let json = format!(
                r#"{{"intervals": {{"origin": {origin}, "width": {width}, "fanouts": [{fanouts}]}}}}"#
            );
            HierarchySource::read(json.as_bytes(), HierarchyFormat::Json)
        };
        assert!(read("0", "5", "2, 5").is_ok());
        assert!(read("-0.5", "1e300", "10").is_ok());
        let many = vec!["2"; 257].join(",");
        for (origin, width, fanouts) in [
            ("0", "0", "2"),
            ("0", "-1", ""),
            ("0", "1", "1"),
            ("0", "1e300", "1000000000"),
            ("0", "1e-300", &many),
        ] {
            assert!(read(origin, width, fanouts).is_err(), "{width} {fanouts}");
        }
    }

    #[test]
    fn a_rule_is_the_tree_of_the_csv_that_it_makes() {
        let rule = br#"{"values": ["12345", "12399"], "lengths": [3], "rule": "prefixes"}"#;
        let csv = csv_of_rule(rule, &HierarchyLimits::WIDEST)
            .unwrap()
            .unwrap();
        assert_eq!(csv, "12345;123**;*\n12399;123**;*\n");
        let read = |content: &[u8], format| HierarchySource::read(content, format);
        let by_rule = read(rule, HierarchyFormat::Json).unwrap();
        let by_csv = read(csv.as_bytes(), HierarchyFormat::Csv).unwrap();
        assert_eq!(by_rule.digest(), by_csv.digest());
        // A label may be called rule.
        let tree = br#"{"label": "*", "children": [{"label": "rule"}, {"label": "b"}]}"#;
        assert_eq!(csv_of_rule(tree, &HierarchyLimits::WIDEST), Ok(None));
        for (rule, said) in [
            (
                r#"{"rule": "flat", "values": ["canary", "canary"]}"#,
                "given before",
            ),
            (r#"{"rule": "flat", "canary": 1}"#, "expected"),
            (r#"{"rule": "canary"}"#, "expected one of `intervals`"),
            (
                r#"{"rule": "prefixes", "digits": 12, "lengths": [3]}"#,
                "nodes",
            ),
        ] {
            let error = read(rule.as_bytes(), HierarchyFormat::Json).unwrap_err();
            let text = error.to_string();
            assert!(!text.contains("canary"), "{text}");
            assert!(text.contains(said), "{text}");
        }
    }

    #[test]
    fn a_missing_leaf_keeps_every_other_code() {
        let tree = tree("a;A;*\nb;A;*\n").unwrap().with_missing_leaf();
        assert_eq!(tree.leaf("b"), Some(Code(1)));
        assert_eq!(tree.leaf("(missing)"), Some(Code(2)));
        assert_eq!(tree.node(tree.common_ancestor(Code(0), Code(2))).label, "*");
    }
}
