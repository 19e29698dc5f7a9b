//! What was found in portions, put together.
//!
//! Failures and numbers of things add up; of figures the worse one is kept, by what
//! the check is about; means are weighted by what they are of. A median of all cannot
//! be had from those of portions, and is left out.

use crate::verify::attack::{Compared, entry};
use crate::verify::verdict::{Check, Section};
use crate::verify::ways::{Worse, worst};

/// Checks whose attained figure is the worse the less it is.
const LESS_IS_WORSE: [&str; 8] = [
    "k_anonymity",
    "l_diversity",
    "distinct_l_diversity",
    "entropy_l_diversity",
    "min_spread",
    "candidates_remain",
    "similarity",
    "joint_knowledge",
];

/// What is said of attacks that compare the rows of several groups.
const NOT_COMPARED: &str = "people in different portions of the release were not compared";

/// Every check of two sets of portions.
pub(super) fn joined(one: Vec<Check>, mut other: Vec<Check>) -> Vec<Check> {
    let mut all = Vec::with_capacity(one.len());
    for check in one {
        let mut found = other.iter();
        let same = found.position(|found| {
            // Of structure the attribute is where it failed, not what it is about.
            let is_about =
                check.section == Section::Structure || found.attribute == check.attribute;
            found.kind == check.kind && is_about
        });
        all.push(match same {
            Some(at) => join(check, other.remove(at)),
            None => unexamined(check),
        });
    }
    all.extend(other.into_iter().map(unexamined));
    all
}

/// A check that a portion was too broken for.
fn unexamined(check: Check) -> Check {
    Check {
        holds: false,
        note: Some("not examined in every portion of the release"),
        ..check
    }
}

fn join(one: Check, other: Check) -> Check {
    if let (Some(found), Some(more)) = (&one.compared, &other.compared) {
        let together = Compared::joined(found, more);
        let name = one.attribute.as_deref().unwrap_or_default();
        return entry(together, name).noting(NOT_COMPARED);
    }
    let is_count = one.section == Section::Structure && one.kind != "candidates_remain";
    let worse = if LESS_IS_WORSE.contains(&one.kind) {
        Worse::Less
    } else {
        Worse::More
    };
    let figures = [one.attained, other.attained].into_iter().flatten();
    let attained = match worse {
        _ if is_count => figures.reduce(|one, other| one + other),
        Worse::Less => figures.reduce(f64::min),
        Worse::More => figures.reduce(f64::max),
    };
    let weight = one.weight + other.weight;
    let figures = joined_figures(&one, &other);
    let holds = one.holds && other.holds;
    let note = match one.kind {
        "matching_groups" => Some(NOT_COMPARED),
        _ => one.note.or(other.note),
    };
    let kept = if is_count && one.attained.unwrap_or(0.0) > 0.0 {
        one
    } else if is_count {
        other
    } else {
        let (name, first) = (one.attribute.clone(), one.clone());
        let kept = worst(vec![one, other], worse).unwrap_or(first);
        Check {
            attribute: name,
            ..kept
        }
    };
    Check {
        attained,
        holds,
        figures,
        note,
        weight,
        ..kept
    }
}

/// How a figure of two sets of portions is that of both.
enum Together {
    Sum,
    Mean,
    Least,
    Most,
    Same,
    Unknown,
}

impl Together {
    fn of(figure: &str) -> Self {
        match figure {
            "mean" | "prosecutor_mean" | "marketer" | "share_below_k" | "share_in_several" => {
                Self::Mean
            }
            "known_to_within" => Self::Least,
            "largest_probability" | "max_posterior_attained" => Self::Most,
            "l" | "max_posterior_claimed" => Self::Same,
            "known_to_within_median" => Self::Unknown,
            _ => Self::Sum,
        }
    }
}

fn joined_figures(one: &Check, other: &Check) -> Vec<(&'static str, f64)> {
    let named = |check: &Check, name: &str| {
        let mut figures = check.figures.iter();
        let found = figures.find(|(figure, _)| *figure == name);
        found.map(|&(_, figure)| figure)
    };
    let mut names: Vec<&'static str> = one.figures.iter().map(|&(name, _)| name).collect();
    for (name, _) in &other.figures {
        if !names.contains(name) {
            names.push(name);
        }
    }
    let figures = names.into_iter().filter_map(|name| {
        let (own, more) = (named(one, name), named(other, name));
        let both = [own, more].into_iter().flatten();
        let figure = match Together::of(name) {
            Together::Sum => both.sum(),
            Together::Least => both.reduce(f64::min)?,
            Together::Most => both.reduce(f64::max)?,
            Together::Same => own.or(more)?,
            Together::Unknown => return None,
            Together::Mean => {
                let weighted = [(own, one.weight), (more, other.weight)];
                let known = weighted.iter().filter(|(figure, _)| figure.is_some());
                let weight: f64 = known.clone().map(|(_, weight)| weight).sum();
                let sum: f64 = known
                    .map(|(figure, weight)| figure.unwrap_or_default() * weight)
                    .sum();
                sum / weight.max(1.0)
            }
        };
        Some((name, figure))
    });
    figures.collect()
}
