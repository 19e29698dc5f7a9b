//! The attacks `composition` and `difference`: what a release tells together
//! with those of the same people that were public before.
//!
//! `composition` is of all of them ([`composition()`]); its figures are lower
//! bounds of what they tell. `difference` is of the latest one that shares people
//! with it. Classes of both that share members are joined to parts, the smallest
//! sets of people that are whole classes in both but for those who left or
//! came. Of each part the values that are no longer shown are those of who left,
//! and the new ones those of who came; but those whose values are the same
//! cancel out. Where all values of those who left are seen, and they are fewer
//! than k, or one value is that of more than 1 in l of them, the difference tells
//! more than either release.
//!
//! Counts are rounded up to tens: an exact number of shared people would tell
//! that one left.

use std::collections::BTreeMap;

use super::composition::{composition, numbered_subjects, numbered_values};
use super::verdict::{Check, Section};
use crate::privacy::CancelFlag;
use crate::release::candidates::{AttributeCandidates, Candidates, Identity, NO_CLASS};
use crate::release::up_to_tens;

/// Both attacks on each sensitive attribute, beside releases in the order in
/// which they became public.
pub fn together(release: &Candidates, public: &[Candidates], cancel: &CancelFlag) -> Vec<Check> {
    let others: Vec<&Candidates> = public.iter().collect();
    let found = composition(release, &others, cancel);
    if found.shared == 0 {
        return Vec::new();
    }
    let mut checks = Vec::new();
    for one in &found.attributes {
        let share = in_tens(one.certain) / in_tens(found.shared);
        let check = Check::new(Section::Attack, "composition")
            .about(&one.attribute)
            .attaining(Some(share), None)
            .with_figure("releases", public.len() as f64)
            .with_figure("shared_subjects", in_tens(found.shared))
            .with_figure("below_l", in_tens(one.below_l))
            .with_figure("one_candidate", in_tens(one.one_left))
            .with_figure("certain", in_tens(one.certain))
            .noting(
                "share of people in this and an earlier public release whose value is certain from \
                 all of them together; lower bounds",
            );
        checks.push(check);
    }
    let is_in = |subject: &str| release.subjects.find_sorted(subject).is_some();
    let shares = |other: &&&Candidates| other.subjects.iter().any(is_in);
    if let Some(latest) = others.iter().rev().find(shares) {
        for attribute in &release.attributes {
            cancel.heed();
            let mut all = latest.attributes.iter();
            let before = all.find(|one| one.name == attribute.name);
            let told = before.and_then(|before| Told::of((release, attribute), (latest, before)));
            checks.extend(told.map(|told| told.check(&attribute.name)));
        }
    }
    checks
}

/// A count as it is told.
fn in_tens(count: u64) -> f64 {
    up_to_tens(count) as f64
}

/// What a difference tells of the people who are in one release alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Told {
    left: u64,
    came: u64,
    /// Of these, who is in too small or too uneven a set whose values are seen.
    attributable: u64,
    /// Of these, who is in a set of one value.
    certain: u64,
}

impl Told {
    fn check(self, attribute: &str) -> Check {
        Check::new(Section::Attack, "difference")
            .about(attribute)
            .attaining(Some(in_tens(self.attributable)), None)
            .with_figure("left", in_tens(self.left))
            .with_figure("came", in_tens(self.came))
            .with_figure("certain", in_tens(self.certain))
            .noting(
                "people who are in one of this and the latest public release alone, and whose \
                 values the difference of both tells to fewer than k of them, or beyond 1 in l",
            )
    }
}

/// People who left or came of a smallest set of people that is whole classes in
/// both releases.
#[derive(Default)]
struct Part {
    left: u64,
    came: u64,
    /// Values of the earlier release without those of the later one.
    difference: BTreeMap<u32, i64>,
}

impl Told {
    /// `None` where it is not known what the classes of both hold.
    fn of(
        (release, now): (&Candidates, &AttributeCandidates),
        (latest, before): (&Candidates, &AttributeCandidates),
    ) -> Option<Self> {
        let is_known = |one: &AttributeCandidates| one.is_whole && one.is_counted;
        if !is_known(now) || !is_known(before) {
            return None;
        }
        let (ids, subjects) = numbered_subjects(&[release, latest]);
        let values = numbered_values([now, before].into_iter());
        let (mut class_now, mut class_before) =
            (vec![NO_CLASS; subjects], vec![NO_CLASS; subjects]);
        for (class_of, (ids, shown)) in [&mut class_now, &mut class_before]
            .into_iter()
            .zip(ids.iter().zip([now, before]))
        {
            for (&id, &class) in ids.iter().zip(&shown.class_of) {
                class_of[id as usize] = class;
            }
        }
        // Classes of the later release, then those of the earlier one.
        let first_before = now.classes.len() as u32;
        let mut joined = Joined::apart(now.classes.len() + before.classes.len());
        for (&one, &other) in class_now.iter().zip(&class_before) {
            if one != NO_CLASS && other != NO_CLASS {
                joined.join(one, first_before + other);
            }
        }
        let mut parts: BTreeMap<u32, Part> = BTreeMap::new();
        for (&one, &other) in class_now.iter().zip(&class_before) {
            match (one, other) {
                (NO_CLASS, NO_CLASS) => {}
                (_, NO_CLASS) => parts.entry(joined.part(one)).or_default().came += 1,
                (NO_CLASS, _) => {
                    parts
                        .entry(joined.part(first_before + other))
                        .or_default()
                        .left += 1;
                }
                _ => {}
            }
        }
        let both = [(now, 0, -1), (before, first_before, 1)];
        for ((shown, first, sign), values) in both.into_iter().zip(&values) {
            for (class, held) in (0_u32..).zip(&shown.classes) {
                if let Some(part) = parts.get_mut(&joined.part(first + class)) {
                    for &(value, count) in held {
                        let difference = part.difference.entry(values[value as usize]);
                        *difference.or_default() += sign * i64::from(count);
                    }
                }
            }
        }
        let k = |one: &Candidates| match one.identity {
            Identity::Groups { k, .. } => u64::from(k),
            Identity::Exact | Identity::Unknown => 1,
        };
        let (k, l) = (k(release).max(k(latest)), u64::from(now.l.max(before.l)));
        let mut told = Self::default();
        for part in parts.values() {
            told.add(part, (k, l));
        }
        Some(told)
    }

    fn add(&mut self, part: &Part, (k, l): (u64, u64)) {
        self.left += part.left;
        self.came += part.came;
        for (people, sign) in [(part.left, 1), (part.came, -1)] {
            let seen = part
                .difference
                .values()
                .map(|&count| (sign * count).max(0) as u64);
            let (seen, most) = (seen.clone().sum::<u64>(), seen.max().unwrap_or(0));
            // With fewer values than people some cancel out; whose is not known.
            if people == 0 || seen != people {
                continue;
            }
            if people < k || most * l > people {
                self.attributable += people;
            }
            if most == people {
                self.certain += people;
            }
        }
    }
}

/// Classes that are joined, each with one that stands for all (union and find).
struct Joined {
    parent: Vec<u32>,
}

impl Joined {
    fn apart(classes: usize) -> Self {
        Self {
            parent: (0..classes as u32).collect(),
        }
    }

    fn part(&mut self, class: u32) -> u32 {
        let mut at = class;
        while self.parent[at as usize] != at {
            let above = self.parent[at as usize];
            self.parent[at as usize] = self.parent[above as usize];
            at = above;
        }
        at
    }

    fn join(&mut self, one: u32, other: u32) {
        let (one, other) = (self.part(one), self.part(other));
        self.parent[one.max(other) as usize] = one.min(other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::composition::made::{grouped, release};

    fn told(now: &Candidates, before: &Candidates) -> Told {
        let told = Told::of((now, &now.attributes[0]), (before, &before.attributes[0]));
        told.expect("known")
    }

    #[test]
    fn the_same_people_in_other_classes_have_no_difference() {
        let before = release(&[(&[0, 1], "ab"), (&[2, 3], "cd")]);
        let now = release(&[(&[0, 2], "ac"), (&[1, 3], "bd")]);
        assert_eq!(told(&now, &before), Told::default());
    }

    #[test]
    fn the_value_of_one_who_left_is_what_is_no_longer_shown() {
        let before = release(&[(&[0, 1, 2], "abc"), (&[3, 4], "ab")]);
        let now = release(&[(&[0, 1], "ab"), (&[3, 4], "ab")]);
        let found = told(&now, &before);
        let one = Told {
            left: 1,
            came: 0,
            attributable: 1,
            certain: 1,
        };
        assert_eq!(found, one);
        // Also where groups are others, as long as one set of them holds all.
        let now = release(&[(&[0, 3], "ab"), (&[1, 4], "ab")]);
        assert_eq!(told(&now, &before), one);
        // Who came is told the same way.
        let found = told(&before, &now);
        assert_eq!((found.came, found.certain), (1, 1));
    }

    #[test]
    fn of_two_who_left_with_different_values_neither_is_certain() {
        let before = release(&[(&[0, 1, 2, 3], "abcd")]);
        let now = release(&[(&[0, 1], "ab")]);
        let found = told(&now, &before);
        assert_eq!((found.left, found.attributable, found.certain), (2, 0, 0));
        // Of groups of three who look alike two are too few.
        let before = grouped(3, &[(&[0, 1, 2, 3, 4], "abcde")]);
        let now = grouped(3, &[(&[0, 1, 2], "abc")]);
        let found = told(&now, &before);
        assert_eq!((found.left, found.attributable, found.certain), (2, 2, 0));
    }

    #[test]
    fn values_that_cancel_out_tell_nothing() {
        let before = release(&[(&[0, 1, 2], "abc")]);
        let now = release(&[(&[0, 1, 3], "abc")]);
        let found = told(&now, &before);
        assert_eq!((found.left, found.came, found.certain), (1, 1, 0));
    }

    #[test]
    fn checks_stand_beside_the_latest_that_shares_people_and_have_no_exact_counts() {
        let before = release(&[(&[0, 1, 2], "abc"), (&[3, 4], "ab")]);
        let others = release(&[(&[7, 8], "ab")]);
        let now = release(&[(&[0, 1], "ab"), (&[3, 4], "ab")]);
        let found = together(&now, &[before, others.clone()], CancelFlag::never());
        let kinds: Vec<&str> = found.iter().map(|check| check.kind).collect();
        assert_eq!(kinds, ["composition", "difference"]);
        let figure = |check: &Check, name: &str| {
            let mut figures = check.figures.iter();
            figures
                .find(|(known, _)| *known == name)
                .map(|(_, figure)| *figure)
        };
        assert_eq!(figure(&found[0], "shared_subjects"), Some(10.0));
        assert_eq!(figure(&found[1], "certain"), Some(10.0));
        assert_eq!(found[1].attained, Some(10.0));
        assert!(found.iter().all(|check| check.holds));
        assert_eq!(together(&now, &[others], CancelFlag::never()), []);
    }
}
