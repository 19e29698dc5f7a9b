//! `t_closeness` of buckets: no bucket is farther than t from all cells in
//! buckets, every bucket has two distinct values, and no value more than the
//! share that policy and each member accept.

use crate::privacy::{Share, T};
use crate::verify::classes::Classes;
use crate::verify::closeness::Distances;
use crate::verify::verdict::Check;
use crate::verify::view::View;

/// The guarantee of one attribute: attained is the largest distance.
pub(super) fn t_closeness(view: &View, (t, max_posterior): (T, Share), classes: &Classes) -> Check {
    let distances = Distances::of(classes, t);
    let mut broken: Option<usize> = None;
    let (mut single, mut above) = (0_u64, 0_u64);
    let mut largest_share = 0.0_f64;
    for class in 0..classes.len() {
        let (most, size) = classes.largest(class);
        let rows = classes.members.rows(class).iter();
        let accepted =
            rows.filter_map(|&row| Some(view.terms(row as usize)?.max_share[classes.index.at()]));
        let bound = accepted.min().unwrap_or(max_posterior).min(max_posterior);
        let is_single = classes.contents(class).len() < 2;
        let is_above = !bound.allows(most, size);
        single += u64::from(is_single);
        above += u64::from(is_above);
        largest_share = largest_share.max(most as f64 / size.max(1) as f64);
        if distances.is_beyond[class] || is_above || is_single {
            broken.get_or_insert(class);
        }
    }
    let beyond = distances.beyond() as u64;
    let worst = broken.or(distances.farthest.map(|(_, class)| class));
    distances
        .check(classes, t, worst)
        .holding(beyond + single + above == 0)
        .with_figure("buckets", classes.len() as f64)
        .with_figure("buckets_beyond_t", beyond as f64)
        .with_figure("buckets_with_one_value", single as f64)
        .with_figure("buckets_above_their_share", above as f64)
        .with_figure("max_posterior_claimed", max_posterior.get())
        .with_figure("max_posterior_attained", largest_share)
}
