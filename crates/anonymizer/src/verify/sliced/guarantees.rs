//! The guarantees of a sliced release, attribute by attribute.
//!
//! - `l_diversity`: p(t, s) ≤ 1/l for every subject t and value s; attained is
//!   1 over the largest.
//! - `min_spread`: in every bucket the known values beside every combination
//!   span that much; attained is the least that any span.
//! - `t_closeness`: in every bucket the values beside every combination are
//!   within t of all published ones; attained is the largest distance.
//! - `max_leakage`: each subject's own l and share bound p(t, s), their K the
//!   records of their bucket; attained is the largest ratio.

use crate::microdata::Domain;
use crate::privacy::{ProtectedIndex, T};

use super::posterior::{Finding, Profile};
use super::view::SlicedView;
use super::views::JointTable;
use crate::verify::closeness::Reference;
use crate::verify::diversity::{known_to_within, spread, spread_of_parts, spread_share};
use crate::verify::verdict::{Check, Place, Section};

/// Profiles with what was found about each, by sensitive attribute.
pub(super) struct Found<'f> {
    pub(super) profiles: &'f [Profile],
    pub(super) findings: &'f [Vec<Finding>],
}

impl Found<'_> {
    fn of(&self, at: usize) -> impl Iterator<Item = (&Profile, &Finding)> {
        self.profiles
            .iter()
            .zip(self.findings)
            .map(move |(profile, all)| (profile, &all[at]))
    }
}

fn place(view: &SlicedView, profile: &Profile) -> Place {
    Place::Bucket(view.number[profile.row as usize])
}

/// `l_diversity` of the attribute at a position, by an `l` that counts the
/// missing value where there is one: with every value at most 1 in l of all,
/// the known ones are at most 1 in l - 1 of the known.
pub(super) fn l_diversity(view: &SlicedView, found: &Found, at: usize, l: u32) -> Check {
    let bound = 1.0 / f64::from(l);
    let claimed = view.requirements.l_of_known(ProtectedIndex(at as u8), l);
    let one_less = f64::from(l - claimed);
    let mut worst: Option<(f64, &Profile)> = None;
    let mut beyond = 0_u64;
    for (profile, finding) in found.of(at) {
        beyond += u64::from(!finding.allows(finding.floor_is_kept, bound));
        // What every bucket keeps exactly no sum of floats exceeds.
        let most = if finding.floor_is_kept {
            finding.most.map(|most| most.min(bound))
        } else {
            finding.most
        };
        if most > worst.map(|(most, _)| most) {
            worst = most.map(|most| (most, profile));
        }
    }
    Check::new(Section::Guarantee, "l_diversity")
        .about(name(view, at))
        .claiming(f64::from(claimed))
        .attaining(
            worst.map(|(most, _)| 1.0 / most - one_less),
            worst.map(|(_, profile)| place(view, profile)),
        )
        .holding(beyond == 0 && (worst.is_some() || view.rows() == 0))
        .with_figure("profiles", found.profiles.len() as f64)
        .with_figure("profiles_beyond_l", beyond as f64)
        .noting("1 over the largest probability of a value, over all subjects and matching buckets")
}

/// The values beside every combination of every bucket, of one attribute.
pub(super) struct Combinations<'v> {
    name: &'v str,
    domain: &'v Domain,
    /// What the known ones span, and where, with the share of all.
    spans: Vec<(f64, f64, Place)>,
}

impl<'v> Combinations<'v> {
    /// Of the attribute at a position; none if no column shows it.
    pub(super) fn of(view: &'v SlicedView, shown: &JointTable, at: usize) -> Option<Self> {
        let attribute = view.protected(at);
        let mut appearances = view.exact.iter();
        let appearance = appearances.find(|shown| shown.attribute == attribute)?;
        let domain = appearance.domain;
        let missing = domain.missing().map(|code| code.0);
        // What is none of the attribute's values is another check's.
        let is_known = |code: u32| (code as usize) < domain.len() && Some(code) != missing;
        let share = spread_share(domain);
        let all = shown.beside.iter().flat_map(|beside| beside.all());
        let spans = all.filter_map(|(bucket, values)| {
            let values = values.iter().map(|&(code, count)| (code, count.into()));
            let known = values.filter(|&(code, _)| is_known(code));
            let known: Vec<(u32, u64)> = known.collect();
            let place = Place::Bucket(view.bucket_number(bucket as usize));
            let span = spread(domain, &known);
            (!known.is_empty()).then(|| (span, share(&known), place))
        });
        Some(Self {
            name: appearance.name,
            domain,
            spans: spans.collect(),
        })
    }

    /// The guarantee `min_spread`.
    pub(super) fn min_spread(&self, claimed: f64) -> Check {
        let spans = self.spans.iter().map(|&(span, _, place)| (span, place));
        spread_of_parts(self.name, claimed, spans)
    }

    /// The attack `similarity`: the least that values span, as a share of what
    /// all values do.
    pub(super) fn similarity(self) -> Check {
        let spans = self.spans.iter();
        let least = spans.min_by(|one, other| one.1.total_cmp(&other.1));
        let check = Check::new(Section::Attack, "similarity")
            .about(self.name)
            .attaining(
                least.map(|&(_, share, _)| share),
                least.map(|&(.., place)| place),
            );
        known_to_within(
            check,
            self.domain,
            self.spans.iter().map(|&(span, ..)| span),
        )
    }
}

/// `t_closeness` of the attribute at a position.
pub(super) fn t_closeness(view: &SlicedView, shown: &JointTable, (at, t): (usize, T)) -> Check {
    let check = Check::new(Section::Guarantee, "t_closeness")
        .about(name(view, at))
        .claiming(t.get());
    let attribute = view.protected(at);
    let appearance = view.exact.iter().find(|shown| shown.attribute == attribute);
    let Some(appearance) = appearance else {
        return check.holding(false);
    };
    let mut totals = vec![0_u64; appearance.domain.len()];
    for &code in &appearance.codes {
        match totals.get_mut(code as usize) {
            Some(total) => *total += 1,
            None => {
                return check
                    .holding(false)
                    .noting("a value is none of the attribute's");
            }
        }
    }
    let reference = Reference::of_totals(appearance.domain, &totals);
    let mut farthest: Option<(f64, u32)> = None;
    let (mut beyond, mut combinations) = (0_u64, 0_u64);
    for (bucket, values) in shown.beside.iter().flat_map(|beside| beside.all()) {
        let contents: Vec<(u32, u64)> = values
            .iter()
            .map(|&(code, count)| (code, u64::from(count)))
            .collect();
        let Some(distance) = distance(&reference, &contents) else {
            return check
                .holding(false)
                .noting("a value is none of the attribute's");
        };
        beyond += u64::from(!t.allows(distance.numerator, distance.denominator));
        combinations += 1;
        if farthest.is_none_or(|(most, _)| distance.get() > most) {
            farthest = Some((distance.get(), bucket));
        }
    }
    let worst = farthest.map(|(_, bucket)| Place::Bucket(view.bucket_number(bucket as usize)));
    check
        .attaining(farthest.map(|(distance, _)| distance), worst)
        .holding(beyond == 0)
        .with_figure("combinations", combinations as f64)
        .with_figure("combinations_beyond_t", beyond as f64)
}

fn distance(
    reference: &Reference,
    contents: &[(u32, u64)],
) -> Option<crate::verify::closeness::Distance> {
    let known = contents.iter().all(|&(code, _)| reference.knows(code));
    known.then(|| reference.distance(contents))
}

/// `max_leakage`: the largest ratio of what is attained to what each subject's
/// own terms accept.
pub(super) fn max_leakage(view: &SlicedView, found: &Found) -> Check {
    let mut worst: Option<(f64, Place)> = None;
    let mut beyond = 0_u64;
    let mut take = |ratio: f64, holds: bool, place: Place| {
        beyond += u64::from(!holds);
        if worst.is_none_or(|(most, _)| ratio > most) {
            worst = Some((ratio, place));
        }
    };
    for row in 0..view.rows() {
        let Some(terms) = view.terms(row) else {
            continue;
        };
        let size = view.buckets.sizes[view.buckets.class(row)];
        let ratio = f64::from(terms.k) / size.max(1) as f64;
        take(
            ratio,
            u64::from(terms.k) <= size,
            Place::Bucket(view.number[row]),
        );
    }
    for at in 0..view.requirements.policy().model.protected() {
        for (profile, finding) in found.of(at) {
            let (l, share) = profile.asked[at];
            let bound = (1.0 / f64::from(l)).min(share.get());
            let most = finding.most.unwrap_or(0.0);
            let ratio = if finding.is_kept {
                (most / bound).min(1.0)
            } else {
                most / bound
            };
            take(
                ratio,
                finding.allows(finding.is_kept, bound),
                place(view, profile),
            );
        }
    }
    Check::new(Section::Guarantee, "max_leakage")
        .about("*")
        .claiming(1.0)
        .attaining(worst.map(|(ratio, _)| ratio), worst.map(|(_, place)| place))
        .holding(beyond == 0)
        .with_figure("terms_not_kept", beyond as f64)
        .noting("largest ratio of what is attained to what the subject's own terms accept")
}

/// Name of the sensitive attribute at a position.
fn name<'v>(view: &'v SlicedView, at: usize) -> &'v str {
    let attribute = view.protected(at);
    let appearance = view.exact.iter().find(|shown| shown.attribute == attribute);
    appearance.map_or("", |appearance| appearance.name)
}
