//! Rules at their edges, and what they refuse.

use std::collections::{BTreeMap, HashSet};

use super::*;

mod numbers;
mod random;

const NODES_MAX: usize = 200_000;

fn rule(json: &str) -> HierarchyRule {
    serde_json::from_str(json).unwrap()
}

fn lines(json: &str) -> Vec<String> {
    let lines = rule(json).leaf_lines(NODES_MAX).expect(json);
    check(&lines).expect(json);
    lines.iter().map(|line| line.join(";")).collect()
}

/// The sentence that a rule is refused with.
fn refusal(json: &str) -> String {
    match rule(json).leaf_lines(NODES_MAX) {
        Err(RuleError::Unfit(sentence)) => sentence,
        other => panic!("{json}: {other:?}"),
    }
}

/// Says what keeps lines from being a tree. It counts nodes by path, as the
/// reader of CSV does, and knows nothing of how lines are made.
fn check(lines: &[Vec<String>]) -> Result<(), String> {
    let mut leaves = HashSet::new();
    let mut path_by_label: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in lines {
        let mut path: Vec<&str> = line.iter().rev().map(String::as_str).collect();
        path.dedup();
        if path.first() != Some(&"*") || path.len() < 2 {
            return Err(format!("root: {line:?}"));
        }
        if path
            .iter()
            .any(|label| label.trim() != *label || label.is_empty())
        {
            return Err(format!("empty or white space: {line:?}"));
        }
        for depth in 1..=path.len() {
            let here = path[..depth].to_vec();
            let known = path_by_label.entry(path[depth - 1]).or_insert(here.clone());
            if *known != here {
                return Err(format!("two nodes of one label: {line:?}"));
            }
        }
        if !leaves.insert(line[0].as_str()) {
            return Err(format!("leaf twice: {line:?}"));
        }
    }
    let parents: HashSet<&str> = path_by_label
        .values()
        .filter_map(|path| path.iter().rev().nth(1).copied())
        .collect();
    match leaves.intersection(&parents).next() {
        Some(label) => Err(format!("leaf above a leaf: {label}")),
        None => Ok(()),
    }
}

/// Reads CSV of `csv_of` back.
fn read_csv(csv: &str) -> Vec<Vec<String>> {
    let (mut lines, mut line, mut cell) = (Vec::new(), Vec::new(), String::new());
    let mut is_quoted = false;
    let mut signs = csv.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '"' if is_quoted && signs.next_if_eq(&'"').is_some() => cell.push('"'),
            '"' => is_quoted = !is_quoted,
            ';' if !is_quoted => line.push(std::mem::take(&mut cell)),
            '\n' if !is_quoted => {
                line.push(std::mem::take(&mut cell));
                lines.push(std::mem::take(&mut line));
            }
            sign => cell.push(sign),
        }
    }
    lines
}

#[test]
fn json_of_rules_is_read_strictly_and_comes_back() {
    for json in [
        r#"{"rule":"intervals","from":0,"to":119,"widths":[5,10,20]}"#,
        r#"{"rule":"intervals","values":[1,2.5],"origin":0.5,"widths":[5]}"#,
        r#"{"rule":"intervals","from":0,"to":119,"cuts":[[18,30],[18]]}"#,
        r#"{"rule":"dates","from":"2026-01-01","to":"2026-12-31","levels":["month","year"]}"#,
        r#"{"rule":"dates","values":["2026-01-01"],"levels":["week"]}"#,
        r#"{"rule":"prefixes","lengths":[4,3],"digits":5}"#,
        r#"{"rule":"icd10","values":["E11.9"],"levels":["block"],"others":"Other"}"#,
        r#"{"rule":"groups","values":["a","b"],"sizes":[2]}"#,
        r#"{"rule":"flat","values":["a","b"]}"#,
    ] {
        assert_eq!(serde_json::to_string(&rule(json)).unwrap(), json);
        assert!(rule(json).leaf_lines(NODES_MAX).is_ok());
        let unknown = json.replacen('{', r#"{"extra":1,"#, 1);
        assert!(serde_json::from_str::<HierarchyRule>(&unknown).is_err());
    }
    for json in [
        r#"{"rule":"flat"}"#,
        r#"{"values":["a"]}"#,
        r#"{"rule":"tree","values":["a"]}"#,
        r#"{"rule":"flat","values":["a"],"sizes":[2]}"#,
        r#"{"rule":"dates","values":["2026-01-01"],"levels":["century"]}"#,
        r#"{"rule":"intervals","from":0,"to":9223372036854775808,"widths":[5]}"#,
        r#"{"rule":"prefixes","lengths":[-1],"digits":5}"#,
        r#"{"rule":"intervals","values":["5"],"widths":[5]}"#,
        r#"{"rule":"intervals","values":[1e999],"widths":[5]}"#,
    ] {
        assert!(
            serde_json::from_str::<HierarchyRule>(json).is_err(),
            "{json}"
        );
    }
}

#[test]
fn days_lie_in_parts_of_the_calendar() {
    let days = lines(
        r#"{"rule":"dates","from":"1999-12-31","to":"2000-03-01","levels":["month","quarter","half","year","decade"]}"#,
    );
    assert_eq!(days.len(), 62);
    assert_eq!(days[0], "1999-12-31;1999-12;1999-Q4;1999-H2;1999;1990s;*");
    assert_eq!(days[60], "2000-02-29;2000-02;2000-Q1;2000-H1;2000;2000s;*");
    assert_eq!(
        lines(r#"{"rule":"dates","values":["2021-01-04","2020-12-31"],"levels":["week"]}"#),
        ["2020-12-31;2020-W53;*", "2021-01-04;2021-W01;*"]
    );
    let all = r#"{"rule":"dates","from":"0001-01-01","to":"9999-12-31","levels":["year"]}"#;
    assert_eq!(
        rule(all).leaf_lines(NODES_MAX),
        Err(RuleError::TooManyNodes)
    );
    let century = r#"{"rule":"dates","from":"1920-01-01","to":"2030-12-31","levels":["month","quarter","year","decade"]}"#;
    assert_eq!(lines(century).len(), 40_543);
    for (fields, said) in [
        (
            r#""from":"2020-01-01","to":"2019-01-01","levels":["year"]"#,
            "later",
        ),
        (r#""from":"2020-01-01","levels":["year"]"#, "either"),
        (
            r#""from":"2020-01-01","to":"2020-02-30","levels":["year"]"#,
            "no day",
        ),
        (
            r#""values":["2020-01-01","01.02.2020"],"levels":["year"]"#,
            "1 value(s)",
        ),
        (
            r#""values":["2020-01-01","2020-01-01"],"levels":["year"]"#,
            "given before",
        ),
        (
            r#""values":["2020-01-01"],"levels":[]"#,
            "`levels` is empty",
        ),
        (
            r#""values":["2020-01-01"],"levels":["year","month"]"#,
            "ascend",
        ),
        (
            r#""values":["2020-01-01"],"levels":["year","year"]"#,
            "ascend",
        ),
        (
            r#""values":["2020-01-01"],"levels":["week","year"]"#,
            "`week`",
        ),
    ] {
        let sentence = refusal(&format!(r#"{{"rule":"dates",{fields}}}"#));
        assert!(sentence.contains(said), "{fields}: {sentence}");
    }
}

#[test]
fn texts_are_joined_by_their_first_characters() {
    let all = lines(r#"{"rule":"prefixes","lengths":[2,1],"digits":3}"#);
    assert_eq!(all.len(), 1000);
    assert_eq!(all[7], "007;00*;0**;*");
    assert_eq!(
        lines(r#"{"rule":"prefixes","lengths":[5,4,3,1],"values":["A10BA02"]}"#),
        ["A10BA02;A10BA**;A10B***;A10****;A******;*"]
    );
    assert_eq!(
        lines(r#"{"rule":"prefixes","lengths":[3,2],"values":["ÄÖÜß","ÄÖÜẞ"]}"#),
        ["ÄÖÜß;ÄÖÜ*;ÄÖ**;*", "ÄÖÜẞ;ÄÖÜ*;ÄÖ**;*"]
    );
    assert_eq!(
        lines(r#"{"rule":"prefixes","lengths":[4,2],"values":["12345","1234","12","123456"]}"#),
        [
            "12345;1234…;12…;*",
            "1234;1234;12…;*",
            "12;12;12;*",
            "123456;1234…;12…;*"
        ]
    );
    let huge = r#"{"rule":"prefixes","lengths":[4],"digits":4294967295}"#;
    assert_eq!(
        rule(huge).leaf_lines(usize::MAX),
        Err(RuleError::TooManyNodes)
    );
    for (fields, said) in [
        (r#""lengths":[2]"#, "either"),
        (r#""lengths":[2],"digits":3,"values":["a"]"#, "either"),
        (r#""lengths":[],"digits":3"#, "`lengths` is empty"),
        (r#""lengths":[2,0],"digits":3"#, "descend"),
        (r#""lengths":[2,2],"digits":3"#, "descend"),
        (r#""lengths":[2],"digits":0"#, "`digits` is 0"),
        (r#""lengths":[2],"values":["12*"]"#, "with `*`"),
        (r#""lengths":[2],"values":["12…"]"#, "with `*`"),
    ] {
        let sentence = refusal(&format!(r#"{{"rule":"prefixes",{fields}}}"#));
        assert!(sentence.contains(said), "{fields}: {sentence}");
    }
}

#[test]
fn codes_lie_under_category_block_and_chapter() {
    assert_eq!(
        lines(r#"{"rule":"icd10","values":["I21","I21.4","e11.9","D90"]}"#),
        [
            "I21;I21.-;I20-I25;IX: I00-I99;*",
            "I21.4;I21.-;I20-I25;IX: I00-I99;*",
            "e11.9;E11.-;E10-E14;IV: E00-E90;*",
            "D90;D90.-;III: D50-D90;*",
        ]
    );
    assert_eq!(
        lines(r#"{"rule":"icd10","values":["I21.-","x"],"levels":["block"],"others":"Other"}"#),
        ["I21.-;I20-I25;*", "x;Other;*"]
    );
    // Alone in its category, the value is the node.
    assert_eq!(
        lines(r#"{"rule":"icd10","values":["I21.-"],"levels":["category"]}"#),
        ["I21.-;I21.-;*"]
    );
    for (fields, said) in [
        (
            r#""values":["I21","x","y"]"#,
            "2 value(s) that are no ICD-10 code",
        ),
        (r#""values":["I21"],"levels":[]"#, "`levels` is empty"),
        (
            r#""values":["I21"],"levels":["block","category"]"#,
            "ascend",
        ),
        (r#""values":["I21.-","I21.4"]"#, "label of another node"),
        (
            r#""values":["x","y"],"others":"x""#,
            "label of another node",
        ),
        (r#""values":["x"],"others":"""#, "`others`"),
        (r#""values":["x"],"others":"*""#, "`others`"),
        (r#""values":["x"],"others":"I20-I25""#, "`others`"),
        (r#""values":["x"],"others":"IX: I00-I99""#, "`others`"),
        (r#""values":["x"],"others":"I21.-""#, "`others`"),
        (
            r#""values":["I20-I25","I21"],"others":"Other""#,
            "label of another node",
        ),
    ] {
        let sentence = refusal(&format!(r#"{{"rule":"icd10",{fields}}}"#));
        assert!(sentence.contains(said), "{fields}: {sentence}");
    }
}

#[test]
fn values_are_joined_in_their_order_or_lie_flat() {
    assert_eq!(
        lines(r#"{"rule":"groups","values":["a","b","c","d","e"],"sizes":[2,4]}"#),
        [
            "a;a - b;a - d;*",
            "b;a - b;a - d;*",
            "c;c - d;a - d;*",
            "d;c - d;a - d;*",
            "e;e;e;*"
        ]
    );
    assert_eq!(
        lines(r#"{"rule":"groups","values":["a","b"],"sizes":[18446744073709551615]}"#),
        ["a;a - b;*", "b;a - b;*"]
    );
    assert_eq!(
        lines(r#"{"rule":"flat","values":["b","a"]}"#),
        ["b;*", "a;*"]
    );
    for (fields, said) in [
        (r#""values":["a"],"sizes":[]"#, "`sizes` is empty"),
        (r#""values":["a"],"sizes":[0]"#, "0"),
        (r#""values":["a"],"sizes":[2,3]"#, "multiple"),
        (
            r#""values":["a","b","x","a - b"],"sizes":[2]"#,
            "label of another node",
        ),
        (
            r#""values":["a","b - c","a - b","c"],"sizes":[2,4]"#,
            "same label",
        ),
    ] {
        let sentence = refusal(&format!(r#"{{"rule":"groups",{fields}}}"#));
        assert!(sentence.contains(said), "{fields}: {sentence}");
    }
}

#[test]
fn unfit_values_are_counted_and_never_repeated() {
    for (values, said) in [
        (r#"[]"#, "is empty"),
        (r#"["secret",""]"#, "1 value(s) empty"),
        (r#"["secret "," secret"]"#, "2 value(s) with white space"),
        (r#"["*"]"#, "label of the root"),
        (r#"["sec\nret"]"#, "control character"),
        (r#"["secret","secret","secret"]"#, "2 value(s) given before"),
    ] {
        let sentence = refusal(&format!(r#"{{"rule":"flat","values":{values}}}"#));
        assert!(sentence.contains(said), "{values}: {sentence}");
        assert!(!sentence.contains("secret"), "{sentence}");
    }
    let flat = rule(r#"{"rule":"flat","values":["a","b"]}"#);
    assert!(flat.leaf_lines(3).is_ok());
    assert_eq!(flat.leaf_lines(2), Err(RuleError::TooManyNodes));
    assert_eq!(flat.leaf_lines(1), Err(RuleError::TooManyNodes));
    let wide = HierarchyRule::Flat {
        values: vec![";".repeat(5000)],
    };
    assert!(matches!(wide.leaf_lines(9), Err(RuleError::Unfit(_))));
}

#[test]
fn labels_are_quoted_where_csv_needs_it() {
    let values = ["a;b", "say \"no\"", "\"", "\u{feff}x", "a,b", "d"].map(String::from);
    let flat = HierarchyRule::Flat {
        values: values.to_vec(),
    };
    let lines = flat.leaf_lines(NODES_MAX).unwrap();
    let csv = csv_of(&lines);
    assert!(
        csv.starts_with("\"a;b\";*\n\"say \"\"no\"\"\";*\n\"\"\"\";*\n"),
        "{csv}"
    );
    assert!(csv.ends_with("a,b;*\nd;*\n"));
    assert_eq!(read_csv(&csv), lines);
}

#[test]
fn a_small_rule_makes_no_gigabytes() {
    let long = "x".repeat(40_000);
    let mut values: Vec<String> = (0..3_000).map(|at| format!("v{at}")).collect();
    values[0].clone_from(&long);
    for rule in [
        HierarchyRule::Groups {
            values: values.clone(),
            sizes: vec![3_001],
        },
        HierarchyRule::Icd10 {
            values: vec!["I21.4".into(), "x".into()],
            levels: None,
            others: Some(long),
        },
        HierarchyRule::Prefixes {
            lengths: (1..30).rev().collect(),
            values: None,
            digits: Some(8),
        },
        HierarchyRule::Intervals {
            from: Some(i64::MIN),
            to: Some(i64::MAX),
            values: None,
            origin: None,
            widths: Some(vec![RuleNumber::Integer(5)]),
            cuts: None,
        },
    ] {
        assert!(rule.leaf_lines(usize::MAX).is_err());
    }
}
