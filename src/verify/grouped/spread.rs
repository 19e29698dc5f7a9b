//! Spread of the values of groups ((k, e)-anonymity, Zhang et al. 2007): the
//! known values of a number or date span at least what is claimed in every
//! group, largest minus smallest; attained is the least that a group spans.
//!
//! A group without a known value says nothing of anybody.

use super::super::diversity::spread;
use super::super::verdict::{Check, Section};
use super::super::view::View;
use super::values::Values;
use super::ways::{Worse, worst};

/// The guarantee, in the worse of several ways.
pub(super) fn min_spread(view: &View, claimed: f64, ways: &[Values]) -> Option<Check> {
    let checks = ways.iter().map(|values| of_way(view, claimed, values));
    worst(checks.collect(), Worse::Less)
}

fn of_way(view: &View, claimed: f64, values: &Values) -> Check {
    let domain = values.attribute.domain;
    let missing = domain.missing().map(|code| code.0);
    let mut least: Option<(f64, usize)> = None;
    let mut below = 0_u64;
    for class in 0..values.classes.len() {
        let contents = values.contents.contents(class);
        if contents.iter().all(|&(code, _)| Some(code) == missing) {
            continue;
        }
        let span = spread(domain, contents);
        below += u64::from(span < claimed);
        if least.is_none_or(|(narrowest, _)| span < narrowest) {
            least = Some((span, class));
        }
    }
    Check::new(Section::Guarantee, "min_spread")
        .about(values.attribute.name)
        .claiming(claimed)
        .attaining(
            least.map(|(span, _)| span),
            least.map(|(_, class)| values.place(view, class)),
        )
        .holding(below == 0)
        .with_figure("groups_below", below as f64)
}
