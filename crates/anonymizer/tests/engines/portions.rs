//! A verdict about portions of a release beside the one about the whole.

use std::cell::Cell;

use vizard_anonymizer::verify::{Check, Section, Verdict};

/// Engines whose releases are looked at portion by portion where they are large.
pub const ENGINES: [&str; 3] = ["mondrian", "lgb", "personalized"];

/// Verdicts and reports of a test that are all looked at in portions, too.
const FIRST: u32 = 16;

/// Of those after them one of so many: most are of one random scenario after another.
/// No divisor of how often a scenario asks, so that verdicts and reports take turns.
const ONE_OF: u32 = 5;

thread_local! {
    static ASKED: Cell<u32> = const { Cell::new(0) };
}

/// Whether what is said of a release of this engine is compared with what its portions
/// say. Each test counts from its beginning, where failures that were kept stand.
pub fn are_compared(engine: &str) -> bool {
    let asked = ASKED.get();
    ASKED.set(asked.wrapping_add(1));
    ENGINES.contains(&engine) && (asked < FIRST || asked.is_multiple_of(ONE_OF))
}

/// Attacks that compare people of several groups: in portions they compare fewer.
const COMPARING: [&str; 2] = ["equal_vectors", "matching_groups"];

/// A figure of several portions that is not had from those of each.
const OF_ALL: &str = "known_to_within_median";

/// Both must say the same of everything but what compares people of several groups. A
/// release that does not hold must not hold in portions, whatever the figures are.
pub fn agree(whole: &Verdict, portions: &Verdict) {
    let by_chance = |check: &&Check| check.kind == "equal_vectors";
    if whole.failed().any(|check| !by_chance(&check)) {
        assert!(!portions.holds(), "{whole:#?}");
        return;
    }
    let kinds = |verdict: &Verdict| -> Vec<_> {
        let checks = verdict.checks.iter();
        checks.map(|check| (check.kind, about(check))).collect()
    };
    assert_eq!(kinds(whole), kinds(portions));
    for (one, other) in whole.checks.iter().zip(&portions.checks) {
        let both = format!("{one:#?} {other:#?}");
        if COMPARING.contains(&one.kind) {
            assert!(one.holds || one.kind == "equal_vectors", "{both}");
            continue;
        }
        assert_eq!(one.holds, other.holds, "{both}");
        assert_eq!(one.claimed, other.claimed, "{both}");
        assert!(are_same(one.attained, other.attained), "{both}");
        assert_eq!(one.worst.is_some(), other.worst.is_some(), "{both}");
        for (name, figure) in one.figures.iter().filter(|(name, _)| *name != OF_ALL) {
            let found = other.figures.iter().find(|(other, _)| other == name);
            let found = found.map(|(_, figure)| *figure);
            assert!(are_same(Some(*figure), found), "{name} of {both}");
        }
    }
}

/// The attribute that a check is about; of structure it is where it fails.
fn about(check: &Check) -> Option<String> {
    let is_about = check.section != Section::Structure;
    is_about.then(|| check.attribute.clone()).flatten()
}

/// Whether two figures are the same but for the order in which they were added up.
fn are_same(one: Option<f64>, other: Option<f64>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => {
            one == other || (one - other).abs() <= 1e-9 * one.abs().max(1.0)
        }
        (one, other) => one.is_none() && other.is_none(),
    }
}
