//! l-diversity of buckets (Machanavajjhala et al. 2006 in the frequency form
//! of Xiao & Tao 2006), as the buckets of the LGB paper have it: at least l
//! cells, no value twice, l the largest that policy or a member asks for. A
//! missing value is none of the l, nor of the cells that they are counted in.
//!
//! And `min_spread` (*ours*): every bucket spans a numeric range, or a number
//! of branches of the hierarchy's root (of values, where there is none).

use crate::microdata::{Code, Domain};

use super::membership::Bucketized;
use super::verdict::{Check, Place, Section};
use super::view::View;

/// The guarantee `l_diversity` of one attribute: attained is the least, over
/// buckets, of known values / largest count, rounded down. `claimed` counts
/// the missing value, where there is one.
pub(super) fn l_diversity(view: &View, claimed: u32, bucketized: &Bucketized) -> Check {
    let Bucketized {
        index,
        attribute,
        buckets,
        members,
    } = *bucketized;
    let of_known = |l: u32| view.requirements.l_of_known(index, l);
    let claimed = of_known(claimed);
    let mut attained: Option<u64> = None;
    let mut worst: Option<(bool, u64, usize)> = None;
    let (mut below, mut repeated) = (0_u64, 0_u64);
    for at in 0..buckets.len() {
        let largest = buckets.largest_count(at);
        let (most, known) = buckets.known(at, attribute.domain);
        let rows = members.rows(at).iter();
        let asked = rows.filter_map(|&row| Some(view.terms(row as usize)?.l[index.at()]));
        let demanded = asked.max().map_or(1, of_known).max(claimed);
        let short = u128::from(most) * u128::from(demanded) > u128::from(known);
        // A bucket without any known value says nothing.
        let l = match known {
            0 => u64::MAX,
            known => known / most,
        };
        below += u64::from(short);
        repeated += u64::from(largest > 1);
        attained = (known > 0).then_some(l).into_iter().chain(attained).min();
        // Sound buckets sort behind those that fail.
        let rank = (!(short || largest > 1), l, at);
        worst = Some(worst.map_or(rank, |worst| worst.min(rank)));
    }
    Check::new(Section::Guarantee, "l_diversity")
        .about(attribute.name)
        .claiming(f64::from(claimed))
        .attaining(
            attained.map(|l| l as f64),
            worst.map(|(_, _, at)| Place::Bucket(at as u64 + 1)),
        )
        .holding(below == 0 && repeated == 0)
        .with_figure("buckets", buckets.len() as f64)
        .with_figure("buckets_below_l", below as f64)
        .with_figure("buckets_with_a_value_twice", repeated as f64)
}

/// The guarantee `min_spread` of buckets.
pub(super) fn min_spread(claimed: f64, bucketized: &Bucketized) -> Check {
    let Bucketized {
        attribute, buckets, ..
    } = *bucketized;
    let span = |at: usize| spread(attribute.domain, buckets.contents(at));
    let spans = (0..buckets.len()).map(|at| (span(at), Place::Bucket(at as u64 + 1)));
    spread_of_parts(attribute.name, claimed, spans)
}

/// The guarantee `min_spread` of an attribute over the parts of a release that
/// are given with what they span ((k, e)-anonymity, Zhang et al. 2007):
/// attained is the least. Parts without a known value say nothing of anybody
/// and are left out by the caller.
pub(super) fn spread_of_parts(
    attribute: &str,
    claimed: f64,
    spans: impl Iterator<Item = (f64, Place)>,
) -> Check {
    let (mut least, mut below): (Option<(f64, Place)>, u64) = (None, 0);
    for (span, place) in spans {
        below += u64::from(span < claimed);
        if least.is_none_or(|(narrowest, _)| span < narrowest) {
            least = Some((span, place));
        }
    }
    Check::new(Section::Guarantee, "min_spread")
        .about(attribute)
        .claiming(claimed)
        .attaining(least.map(|(span, _)| span), least.map(|(_, place)| place))
        .holding(below == 0)
        .with_figure("too_narrow", below as f64)
}

/// What the values of a bucket span, as a share of what all values span.
pub(super) fn spread_share(domain: &Domain) -> impl Fn(&[(u32, u64)]) -> f64 {
    let codes = 0..domain.len() as u32;
    let all: Vec<(u32, u64)> = codes.map(|code| (code, 1)).collect();
    let whole = spread(domain, &all);
    move |contents| match whole > 0.0 {
        true => spread(domain, contents) / whole,
        false => 0.0,
    }
}

/// Says in the attribute's own unit (days for dates) how nearly a number is
/// known of whoever is known to be in a bucket, where its values lie nearest
/// and in the middle bucket. Nothing for categories, which have no unit.
pub(super) fn known_to_within(
    check: Check,
    domain: &Domain,
    spans: impl Iterator<Item = f64>,
) -> Check {
    if !domain.is_numeric() {
        return check;
    }
    let mut spans: Vec<f64> = spans.collect();
    if spans.is_empty() {
        return check;
    }
    spans.sort_unstable_by(f64::total_cmp);
    check
        .with_figure("known_to_within", spans[0])
        .with_figure("known_to_within_median", spans[(spans.len() - 1) / 2])
}

/// What the known values of a bucket span: max − min for numbers and dates,
/// branches of the root for a hierarchy, else distinct values.
pub(super) fn spread(domain: &Domain, contents: &[(u32, u64)]) -> f64 {
    let missing = domain.missing().map(|code| code.0);
    if let Some(at) = contents.iter().position(|&(code, _)| Some(code) == missing) {
        let known = [&contents[..at], &contents[at + 1..]].concat();
        return spread_of_known(domain, &known);
    }
    spread_of_known(domain, contents)
}

fn spread_of_known(domain: &Domain, contents: &[(u32, u64)]) -> f64 {
    let (Some(&(low, _)), Some(&(high, _))) = (contents.first(), contents.last()) else {
        return 0.0;
    };
    if domain.is_numeric() {
        return domain.number(Code(high)) - domain.number(Code(low));
    }
    match domain.hierarchy() {
        None => contents.len() as f64,
        Some(hierarchy) => {
            // Codes ascend, so those of one branch stand side by side.
            let branches = contents
                .iter()
                .map(|&(code, _)| hierarchy.branch_of(Code(code)));
            let mut branches: Vec<_> = branches.collect();
            branches.dedup();
            branches.len() as f64
        }
    }
}
