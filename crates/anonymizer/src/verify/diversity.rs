//! l-diversity of classes (Machanavajjhala et al. 2006 in the frequency form of
//! Xiao & Tao 2006): the most frequent value × l is at most all values of a
//! class, l the largest that policy or a member asks for; buckets of the LGB
//! paper and distinct blocks also hold no value twice. A missing value is none
//! of the l, nor of the cells that they are counted in.
//!
//! And `min_spread` (*ours*): every class spans a numeric range, or a number
//! of branches of the hierarchy's root (of values, where there is none).

use crate::microdata::{Code, Domain};
use crate::privacy::Requirements;

use super::classes::Classes;
use super::verdict::{Check, Place, Section};

/// How frequent the most frequent value of a class is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frequency {
    /// Cells of the most frequent value.
    pub(super) most: u64,
    /// All cells that it is one of.
    pub(super) of: u64,
    /// The l that the class must have.
    pub(super) demanded: u32,
    /// Whether the class fails whatever its l is.
    pub(super) is_refused: bool,
}

impl Frequency {
    /// All cells / most frequent value, rounded down; a class that holds
    /// nothing says nothing.
    fn l(self) -> u64 {
        self.of.checked_div(self.most).unwrap_or(u64::MAX)
    }

    fn is_short(self) -> bool {
        u128::from(self.most) * u128::from(self.demanded) > u128::from(self.of)
    }
}

/// What l-diversity attains over classes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LeastL {
    /// The least l of a class that holds something.
    pub(super) attained: Option<u64>,
    /// The worst class with its l: one that fails before one that is sound,
    /// then the one with the least l.
    pub(super) worst: Option<(u64, usize)>,
    /// Classes whose l is too small.
    pub(super) below: u64,
}

impl LeastL {
    /// Over all classes, in their order.
    pub(super) fn of(classes: impl Iterator<Item = Frequency>) -> Self {
        let mut least = Self::default();
        let mut worst: Option<(bool, u64, usize)> = None;
        for (class, frequency) in classes.enumerate() {
            let (l, is_short) = (frequency.l(), frequency.is_short());
            least.below += u64::from(is_short);
            let known = (frequency.most > 0).then_some(l);
            least.attained = known.into_iter().chain(least.attained).min();
            let rank = (!(is_short || frequency.is_refused), l, class);
            worst = Some(worst.map_or(rank, |worst| worst.min(rank)));
        }
        least.worst = worst.map(|(_, l, class)| (l, class));
        least
    }
}

/// Whether a class may hold a value twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeats {
    Allowed,
    Refused,
}

/// Names of the figures of `l_diversity`.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClassNames {
    all: &'static str,
    below: &'static str,
    repeating: &'static str,
}

/// Where classes are buckets.
pub(super) const BUCKETS: ClassNames = ClassNames {
    all: "buckets",
    below: "buckets_below_l",
    repeating: "buckets_with_a_value_twice",
};

/// Where classes are blocks.
pub(super) const BLOCKS: ClassNames = ClassNames {
    all: "blocks",
    below: "blocks_below_l",
    repeating: "blocks_with_a_value_twice",
};

/// What is asked of the classes of an attribute.
pub(super) struct Asked<'a> {
    pub(super) requirements: &'a Requirements,
    /// The job's l, with which the missing value is counted where there is one.
    pub(super) l: u32,
    pub(super) repeats: Repeats,
    /// The l of each row's subject, where it has one.
    pub(super) of_row: &'a dyn Fn(usize) -> Option<u32>,
}

/// The guarantee `l_diversity` of one attribute: attained is the least, over
/// classes, of known values / largest count, rounded down.
pub(super) fn l_diversity(classes: &Classes, asked: &Asked, names: ClassNames) -> Check {
    let of_known = |l: u32| asked.requirements.l_of_known(classes.index, l);
    let claimed = of_known(asked.l);
    let is_refused =
        |class: usize| asked.repeats == Repeats::Refused && classes.counts.largest_count(class) > 1;
    let frequencies = (0..classes.len()).map(|class| {
        let (most, of) = classes.largest_known(class);
        let rows = classes.members.rows(class).iter();
        let of_rows = rows.filter_map(|&row| (asked.of_row)(row as usize));
        Frequency {
            most,
            of,
            demanded: of_rows.max().map_or(1, of_known).max(claimed),
            is_refused: is_refused(class),
        }
    });
    let least = LeastL::of(frequencies);
    let repeated = (0..classes.len())
        .filter(|&class| is_refused(class))
        .count();
    let check = Check::new(Section::Guarantee, "l_diversity")
        .about(classes.name)
        .claiming(f64::from(claimed))
        .attaining(
            least.attained.map(|l| l as f64),
            least.worst.map(|(_, class)| classes.place(class)),
        )
        .holding(least.below == 0 && repeated == 0)
        .with_figure(names.all, classes.len() as f64)
        .with_figure(names.below, least.below as f64);
    match asked.repeats {
        Repeats::Refused => check.with_figure(names.repeating, repeated as f64),
        Repeats::Allowed => check,
    }
}

/// The guarantee `min_spread` of one attribute over some of its classes.
pub(super) fn min_spread(
    classes: &Classes,
    claimed: f64,
    among: impl Iterator<Item = usize>,
) -> Check {
    let span = |class: usize| spread(classes.domain, classes.contents(class));
    let spans = among.map(|class| (span(class), classes.place(class)));
    spread_of_parts(classes.name, claimed, spans)
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
    move |contents| {
        if whole > 0.0 {
            spread(domain, contents) / whole
        } else {
            0.0
        }
    }
}

/// Says in the attribute's own unit (days for dates) how nearly a number is
/// known of anyone who is known to be in a bucket, where its values lie nearest
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
