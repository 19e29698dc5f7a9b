//! Attacks that read the values of single groups of rows that look the same.
//!
//! - Homogeneity: a group that one value fills gives that value away. Figure:
//!   the largest share of a value in a group.
//! - Similarity: values that differ but lie close give their neighbourhood
//!   away. Figure: the least spread of a group as a share of what the whole
//!   attribute spans (range, branches of the root, or values).
//! - Skewness (Li et al. 2007): a group that differs from the whole tells more
//!   than the whole. Figure: the largest distance; bound: t, where claimed.
//!
//! Diversity and each subject's own terms have checks of their own, so only
//! skewness is bounded here.

use crate::privacy::T;

use super::super::closeness::Reference;
use super::super::diversity::{known_to_within, spread, spread_share};
use super::super::verdict::{Check, Section};
use super::super::view::View;
use super::values::Values;

/// The three entries of one attribute.
pub(super) fn attacks(view: &View, bound: Option<T>, values: &Values) -> [Check; 3] {
    let contents = &values.contents;
    let share =
        |class: usize| contents.largest_count(class) as f64 / contents.sizes[class].max(1) as f64;
    let narrow = spread_share(values.attribute.domain);
    let narrow = |class: usize| narrow(contents.contents(class));
    let similarity = entry(view, "similarity", values, narrow, -1.0);
    let domain = values.attribute.domain;
    let spans = (0..values.classes.len()).map(|class| spread(domain, contents.contents(class)));
    let reference = Reference::of(values.attribute.domain, contents);
    let distance = |class: usize| reference.distance(contents.contents(class)).get();
    let skewness = entry(view, "skewness", values, distance, 1.0);
    let is_close = |t: T| {
        (0..values.classes.len()).all(|class| {
            let distance = reference.distance(contents.contents(class));
            t.allows(distance.numerator, distance.denominator)
        })
    };
    [
        entry(view, "homogeneity", values, share, 1.0),
        known_to_within(similarity, domain, spans),
        match bound {
            Some(t) => skewness.claiming(t.get()).holding(is_close(t)),
            None => skewness,
        },
    ]
}

/// An entry with the worst figure of a class and the mean; `sign` is 1 where
/// the largest is the worst, −1 where the smallest is.
fn entry(
    view: &View,
    kind: &'static str,
    values: &Values,
    figure: impl Fn(usize) -> f64,
    sign: f64,
) -> Check {
    let mut worst: Option<(f64, usize)> = None;
    let mut sum = 0.0;
    for class in 0..values.classes.len() {
        let figure = figure(class);
        sum += figure;
        if worst.is_none_or(|(most, _)| figure * sign > most * sign) {
            worst = Some((figure, class));
        }
    }
    Check::new(Section::Attack, kind)
        .about(values.attribute.name)
        .attaining(
            worst.map(|(figure, _)| figure),
            worst.map(|(_, class)| values.place(view, class)),
        )
        .with_figure("mean", sum / values.classes.len().max(1) as f64)
}
