//! Spread of the values of groups ((k, e)-anonymity, Zhang et al. 2007): the
//! known values of a number or date span at least what is claimed in every
//! group, largest minus smallest; attained is the least that a group spans.
//!
//! A group without a known value says nothing of anybody.

use super::super::diversity::{spread, spread_of_parts};
use super::super::verdict::Check;
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
    let spans = (0..values.classes.len()).filter_map(|class| {
        let contents = values.contents.contents(class);
        let is_known = contents.iter().any(|&(code, _)| Some(code) != missing);
        is_known.then(|| (spread(domain, contents), values.place(view, class)))
    });
    spread_of_parts(values.attribute.name, claimed, spans)
}
