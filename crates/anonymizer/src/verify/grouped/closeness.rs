//! t-closeness of the values of groups (Li et al. 2007), in exact integers.
//!
//! Distances are those of `closeness`: ordered for numbers and dates, equal
//! for categories. They are measured from the values of the whole *published*
//! table, the best that anyone can learn about everyone.

use crate::privacy::T;

use super::super::closeness::Reference;
use super::super::verdict::{Check, Section};
use super::super::view::View;
use super::values::Values;
use super::ways::{Worse, worst};

/// The guarantee `t_closeness` of one attribute: attained is the largest
/// distance of a group.
pub(super) fn t_closeness(view: &View, t: T, ways: &[Values]) -> Option<Check> {
    let checks = ways.iter().map(|values| of_way(view, t, values));
    worst(checks.collect(), Worse::More)
}

fn of_way(view: &View, t: T, values: &Values) -> Check {
    let reference = Reference::of(values.attribute.domain, &values.contents);
    let mut farthest: Option<(f64, usize)> = None;
    let (mut beyond, mut broken) = (0_u64, None);
    for class in 0..values.classes.len() {
        let distance = reference.distance(values.contents.contents(class));
        if !t.allows(distance.numerator, distance.denominator) {
            beyond += 1;
            broken.get_or_insert(class);
        }
        if farthest.is_none_or(|(most, _)| distance.get() > most) {
            farthest = Some((distance.get(), class));
        }
    }
    let worst = farthest.map(|(_, class)| class).or(broken);
    Check::new(Section::Guarantee, "t_closeness")
        .about(values.attribute.name)
        .claiming(t.get())
        .attaining(
            farthest.map(|(distance, _)| distance),
            worst.map(|class| values.place(view, class)),
        )
        .holding(beyond == 0)
        .with_figure("groups", values.classes.len() as f64)
        .with_figure("groups_beyond_t", beyond as f64)
}
