//! The attack `minimality` (Wong 2007): what somebody learns of a person's
//! sensitive value who knows how an engine makes its classes, and can run it.
//!
//! Counting says: of a class with two of five flu, each member has flu with 2 in
//! 5. But an engine that looks at values makes some classes of some tables only:
//! that a group was not split may tell that its parts would not have held. So the
//! values of each class are dealt to its members anew, and the engine runs on
//! that table, with a seed and a secret of their own. Tables for which a class
//! comes again are those that are left for it; the share of them in which a
//! member has a value stands beside that of counting.
//!
//! Classes are looked at one by one: an adversary who asks that *all* come again
//! may learn more, but has no table left to compare with beyond a dozen people
//! (the engines' tests do that).
//!
//! | figure | what it says |
//! |---|---|
//! | attained | share of right guesses: each member's likeliest value in half of the tables, tried on the other half |
//! | counting | share of right guesses by the most frequent value of each class |
//! | people | members of classes that came again at least [`OFTEN`] times |
//! | told | of these, who has a value that is likelier than counting says, by more than chance |
//! | largest_gain | by how much, at most |
//! | reruns | tables that were tried |
//!
//! Beyond chance: by Chernoff's bound, a share p of n tables where counting says
//! s has a chance of at most exp(−n · D(p‖s)), D the relative entropy; less than
//! [`CHANCE`] is none.
//!
//! Engines whose classes do not depend on values have each class come again, and
//! nothing is told. Nothing is tried of many records a person, of rings and
//! slices, where what is counted is not the share in a class, and of series that
//! keep what was shown, where values cannot be dealt anew.

use std::ops::Range;

use rand::seq::SliceRandom;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::verdict::{Check, Section};
use crate::microdata::{AttributeIndex, Codes, Multiplicity, Table};
use crate::privacy::{CancelFlag, Requirements, Seed};
use crate::release::candidates::{AttributeCandidates, Candidates, Identity, NO_CLASS};

/// People of a table at most; larger ones are not tried.
const PEOPLE_MAX: usize = 500;
/// Tables that are tried.
const RERUNS: u64 = 100;
/// Of them the first so many; if no class comes again for [`AGAIN`] of these, none
/// would often enough.
const FIRST: u64 = 20;
const AGAIN: usize = 2;
/// Tables for which a class comes again, at least, to be looked at.
const OFTEN: usize = 20;
/// A chance that is none.
const CHANCE: f64 = 1e-6;
/// Tables that counting is worth when a value is guessed.
const WEIGHT: f64 = 5.0;
/// Seed and stream of the dealings.
const SEED: u64 = 20;
const STAGE: u32 = 2;

/// What the engine shows of a table of the same people, by a seed and a secret
/// of this number; nothing where it publishes nothing.
pub type Rerun<'a> = &'a (dyn Fn(&Table, u64) -> Option<Candidates> + Sync);

/// Tables that are tried of so many people.
pub fn reruns(people: usize) -> u64 {
    match people {
        0 => 0,
        1..=PEOPLE_MAX => RERUNS,
        _ => 0,
    }
}

/// The attack on each sensitive attribute of a release, by so many reruns.
pub fn minimality(
    (table, requirements): (&Table, &Requirements),
    shown: &Candidates,
    (rerun, reruns): (Rerun<'_>, u64),
    cancel: &CancelFlag,
) -> Vec<Check> {
    let is_one = table.schema().multiplicity() == Multiplicity::One;
    let is_anew = requirements.history().is_none();
    if !is_one || !is_anew || shown.identity == Identity::Unknown || reruns == 0 {
        return Vec::new();
    }
    let keys = table.subject_keys();
    let records = (0..table.subjects()).map(|at| (keys.get(at), at as u32));
    let records: FxHashMap<&str, u32> = records.collect();
    let attributes = shown.attributes.iter().filter(|one| one.is_counted);
    let attacked = attributes.filter_map(|one| Attacked::of(table, &records, shown, one));
    let mut attacked: Vec<Attacked> = attacked.collect();
    if attacked.is_empty() {
        return Vec::new();
    }
    let first = FIRST.min(reruns);
    try_tables((table, &mut attacked), &records, (rerun, 0..first), cancel);
    let come_again = attacked.iter().flat_map(|one| &one.seen);
    let often = come_again.map(Vec::len).max().unwrap_or(0);
    if often < AGAIN {
        return attacked.iter().map(|one| one.check(first)).collect();
    }
    let rest = (rerun, first..reruns);
    try_tables((table, &mut attacked), &records, rest, cancel);
    attacked.iter().map(|one| one.check(reruns)).collect()
}

/// Runs the engine on the tables of these numbers, and keeps which classes came
/// again.
fn try_tables(
    (table, attacked): (&Table, &mut [Attacked<'_>]),
    records: &FxHashMap<&str, u32>,
    (rerun, numbers): (Rerun<'_>, Range<u64>),
    cancel: &CancelFlag,
) {
    let of_release = &*attacked;
    let tried: Vec<Vec<Vec<Seen>>> = numbers
        .into_par_iter()
        .filter_map(|number| {
            cancel.heed();
            let dealt = dealt(table, of_release, number);
            let again = rerun(&dealt, number)?;
            let seen = of_release.iter();
            let seen = seen.map(|one| one.seen(&dealt, records, &again));
            Some(seen.collect())
        })
        .collect();
    for of_table in tried {
        for (one, seen) in attacked.iter_mut().zip(of_table) {
            for (class, values) in seen {
                one.seen[class].push(values);
            }
        }
    }
}

/// A table of the same people, the values of each class dealt anew.
fn dealt(table: &Table, attacked: &[Attacked<'_>], number: u64) -> Table {
    let mut dealt = table.clone();
    let mut random = Seed::of_number(SEED).stream(STAGE, number);
    for one in attacked {
        let mut codes = one.codes.clone();
        for class in &one.classes {
            let mut own: Vec<u32> = class.iter().map(|&row| codes[row as usize]).collect();
            own.shuffle(&mut random);
            for (&row, code) in class.iter().zip(own) {
                codes[row as usize] = code;
            }
        }
        let codes = Codes::below(one.domain, codes.into_iter());
        dealt = dealt.with_codes(one.index, codes);
    }
    dealt
}

/// A class that came again, and the codes of its members.
type Seen = (usize, Vec<u32>);

/// One attribute of the release.
struct Attacked<'a> {
    shown: &'a AttributeCandidates,
    index: AttributeIndex,
    domain: usize,
    /// Code of each record.
    codes: Vec<u32>,
    /// Records of each class, ascending.
    classes: Vec<Vec<u32>>,
    /// Of each class the codes of its members, in each table for which it came
    /// again.
    seen: Vec<Vec<Vec<u32>>>,
}

impl<'a> Attacked<'a> {
    fn of(
        table: &Table,
        records: &FxHashMap<&str, u32>,
        all: &Candidates,
        shown: &'a AttributeCandidates,
    ) -> Option<Self> {
        let index = table.schema().find(&shown.name)?;
        let column = table.coded(index)?;
        let classes = classes(records, all, shown)?;
        Some(Self {
            shown,
            index,
            domain: column.domain.len(),
            codes: column.codes.iter().collect(),
            seen: vec![Vec::new(); classes.len()],
            classes,
        })
    }

    /// Classes of the release that are also shown of a table whose values were
    /// dealt anew.
    fn seen(&self, dealt: &Table, records: &FxHashMap<&str, u32>, again: &Candidates) -> Vec<Seen> {
        let mut attributes = again.attributes.iter();
        let shown = attributes.find(|one| one.name == self.shown.name);
        let classes = shown.and_then(|shown| classes(records, again, shown));
        let (Some(classes), Some(column)) = (classes, dealt.coded(self.index)) else {
            return Vec::new();
        };
        let own = self.classes.iter().zip(0..);
        let own: FxHashMap<&Vec<u32>, usize> = own.collect();
        let found = classes.iter().filter_map(|class| {
            let codes = class.iter().map(|&row| column.codes.at(row as usize));
            Some((*own.get(class)?, codes.collect()))
        });
        found.collect()
    }

    fn check(&self, reruns: u64) -> Check {
        let mut all = Sums::default();
        for (class, seen) in self.classes.iter().zip(&self.seen) {
            if class.len() > 1 && seen.len() >= OFTEN {
                all.add(&self.counts(class), class.len(), seen);
            }
        }
        let mean = |sum: f64| (all.people > 0).then(|| sum / all.people as f64);
        Check::new(Section::Attack, "minimality")
            .about(&self.shown.name)
            .attaining(mean(all.right), None)
            .with_figure("counting", mean(all.counting).unwrap_or(0.0))
            .with_figure("people", all.people as f64)
            .with_figure("told", all.told as f64)
            .with_figure("largest_gain", all.largest_gain)
            .with_figure("reruns", reruns as f64)
            .noting(
                "share of people whose value is guessed right by running the engine on tables that \
                 fit the release, of classes that come again; counting: the same by the counts of \
                 each class alone; told: people of whom that makes a value likelier",
            )
    }

    /// The codes of a class with their shares.
    fn counts(&self, class: &[u32]) -> Vec<(u32, f64)> {
        let mut counts: Vec<(u32, f64)> = Vec::new();
        for &row in class {
            let code = self.codes[row as usize];
            let share = 1.0 / class.len() as f64;
            match counts.iter_mut().find(|(other, _)| *other == code) {
                Some((_, sum)) => *sum += share,
                None => counts.push((code, share)),
            }
        }
        counts
    }
}

/// Records of each class of an attribute, ascending.
fn classes(
    records: &FxHashMap<&str, u32>,
    all: &Candidates,
    shown: &AttributeCandidates,
) -> Option<Vec<Vec<u32>>> {
    let mut classes = vec![Vec::new(); shown.classes.len()];
    for (subject, &class) in all.subjects.iter().zip(&shown.class_of) {
        if class != NO_CLASS {
            classes[class as usize].push(*records.get(subject)?);
        }
    }
    for class in &mut classes {
        class.sort_unstable();
    }
    Some(classes)
}

/// Sums over people.
#[derive(Default)]
struct Sums {
    people: u64,
    right: f64,
    counting: f64,
    told: u64,
    largest_gain: f64,
}

impl Sums {
    /// The members of a class, whose codes have these shares, with their codes in
    /// the tables for which it came again.
    fn add(&mut self, counts: &[(u32, f64)], members: usize, seen: &[Vec<u32>]) {
        let most = counts.iter().map(|one| one.1).fold(0.0, f64::max);
        for member in 0..members {
            self.people += 1;
            self.counting += most;
            let halves = [0, 1].map(|half| {
                let learned = tables(seen, half);
                let guess = guess(counts, member, learned);
                let tried = tables(seen, 1 - half).filter(|codes| codes[member] == guess);
                tried.count()
            });
            self.right += (halves[0] + halves[1]) as f64 / seen.len() as f64;
            let gains = counts.iter().filter_map(|&(code, share)| {
                let with = seen.iter().filter(|codes| codes[member] == code).count();
                let found = with as f64 / seen.len() as f64;
                let is_chance = chance(seen.len(), found, share) >= CHANCE;
                (found > share && !is_chance).then_some(found - share)
            });
            let gain = gains.fold(0.0, f64::max);
            self.told += u64::from(gain > 0.0);
            self.largest_gain = gain.max(self.largest_gain);
        }
    }
}

/// Every other table.
fn tables(seen: &[Vec<u32>], half: usize) -> impl Iterator<Item = &Vec<u32>> {
    seen.iter().skip(half).step_by(2)
}

/// A member's likeliest code in some tables.
fn guess<'s>(
    counts: &[(u32, f64)],
    member: usize,
    learned: impl Iterator<Item = &'s Vec<u32>>,
) -> u32 {
    let mut votes: Vec<f64> = counts.iter().map(|&(_, share)| WEIGHT * share).collect();
    for codes in learned {
        let code = codes[member];
        if let Some(at) = counts.iter().position(|&(other, _)| other == code) {
            votes[at] += 1.0;
        }
    }
    let votes = counts.iter().zip(votes);
    let likeliest = votes.max_by(|one, other| one.1.total_cmp(&other.1));
    likeliest.map_or(0, |(&(code, _), _)| code)
}

/// The chance of a share of so many tables or a larger one where it is `share`,
/// at most.
fn chance(tables: usize, found: f64, share: f64) -> f64 {
    let part = |one: f64, other: f64| {
        if one == 0.0 {
            0.0
        } else {
            one * (one / other).ln()
        }
    };
    let entropy = part(found, share) + part(1.0 - found, 1.0 - share);
    (-(tables as f64) * entropy).exp()
}

#[cfg(test)]
mod tests;
