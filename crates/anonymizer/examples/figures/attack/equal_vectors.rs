//! The attack on vectors that stand in several classes: whoever they belong
//! to, their values should be in all of them.
//!
//! Rules of guessing one value for everyone who shares a vector:
//! - *common*: one of the values that all its classes show, evenly; no guess
//!   where there is none. Also of those with fewer than l such values, and
//!   with exactly one.
//! - *likeliest*: the value with the largest mean share over the classes,
//!   times the share of classes that show it; ties evenly.

use std::collections::BTreeMap;

use super::sight::{Person, Sight};

/// Guesses, and how many of them were right.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hits {
    pub people: u64,
    pub right: f64,
}

impl Hits {
    /// Share of guesses that were right.
    pub fn rate(self) -> f64 {
        self.right / self.people as f64
    }

    fn add(&mut self, people: u64, right: f64) {
        self.people += people;
        self.right += right;
    }
}

/// What the attack attains.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attained {
    /// Vectors in at least two classes.
    pub vectors: u64,
    pub common: Hits,
    pub fewer_than_l: Hits,
    pub one_left: Hits,
    pub likeliest: Hits,
}

/// Carries out the attack on one attribute.
pub fn attack(sight: &Sight, l: u32) -> Attained {
    let mut by_vector: BTreeMap<u32, Vec<&Person>> = BTreeMap::new();
    for person in &sight.people {
        by_vector.entry(person.vector).or_default().push(person);
    }
    let mut attained = Attained::default();
    for people in by_vector.values() {
        let mut in_class: BTreeMap<u32, u64> = BTreeMap::new();
        for person in people {
            *in_class.entry(person.class).or_default() += 1;
        }
        if in_class.len() < 2 {
            continue;
        }
        attained.vectors += 1;
        let mut seen: BTreeMap<u32, (usize, f64)> = BTreeMap::new();
        for (&class, &rows) in &in_class {
            for &(value, share) in &sight.classes[class as usize] {
                let seen = seen.entry(value).or_default();
                seen.0 += 1;
                seen.1 += share * rows as f64;
            }
        }
        let all = in_class.len();
        let common = seen.iter().filter(|(_, (classes, _))| *classes == all);
        let common: Vec<u32> = common.map(|(&value, _)| value).collect();
        let number = people.len() as u64;
        if !common.is_empty() {
            let right = right(people, &common);
            attained.common.add(number, right);
            if common.len() < l as usize {
                attained.fewer_than_l.add(number, right);
            }
            if common.len() == 1 {
                attained.one_left.add(number, right);
            }
        }
        let weight = |(classes, share): &(usize, f64)| *share * *classes as f64 / all as f64;
        let most = seen.values().map(weight).fold(0.0, f64::max);
        let best = seen.iter();
        let best = best.filter(|(_, seen)| weight(seen) >= most * (1.0 - 1e-12));
        let best: Vec<u32> = best.map(|(&value, _)| value).collect();
        attained.likeliest.add(number, right(people, &best));
    }
    attained
}

/// Guesses that are right if each of these values is guessed as often.
fn right(people: &[&Person], guesses: &[u32]) -> f64 {
    let hits = guesses.iter().map(|guess| {
        let hit = people.iter();
        hit.filter(|person| person.own.binary_search(guess).is_ok())
            .count()
    });
    hits.sum::<usize>() as f64 / guesses.len().max(1) as f64
}
