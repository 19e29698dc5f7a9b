//! The attack `background_knowledge`: what somebody who knows more than
//! quasi-identifiers makes of a class (Machanavajjhala 2007; Martin 2007).
//!
//! | figure | what is known besides | what it says |
//! |---|---|---|
//! | without_1, without_2 | one or two values that the person does not have | largest chance of a person's value |
//! | certain_without_1, certain_without_2 | the same | share of people whose value can be certain |
//! | neighbours_1, neighbours_2 | the values of one or two others of the class | largest chance of a person's value |
//! | neighbours_l_minus_2 | those of l − 2 others | the same |
//! | values_left | the same | different values that are left, at least |
//! | known_1, known_2 | one or two other sensitive values of the person | share of people whose value is then certain |
//!
//! What is known is the worst for the person: the values or others of the class
//! that leave the largest chance. Nothing bounds the figures but l: with l − 2
//! values or people known two values are left, never one. `known` is of values
//! that stand in rows: there one value of a person finds the others. Buckets
//! have the attack `joint_knowledge` of their engine.

use rustc_hash::FxHashMap;

use super::verdict::{Check, Section};
use crate::microdata::{Codes, Multiplicity, Table};
use crate::privacy::CancelFlag;
use crate::release::candidates::{AttributeCandidates, Candidates, Identity, NO_CLASS};

/// Other sensitive attributes that are tried in pairs, at most.
const PAIRED_MAX: usize = 6;

/// The attack on each sensitive attribute whose counts are published; not of
/// many records a person, nor of rings and slices, where a person may be in
/// several classes.
pub fn background_knowledge(table: &Table, shown: &Candidates, cancel: &CancelFlag) -> Vec<Check> {
    let is_one = table.schema().multiplicity() == Multiplicity::One;
    if !is_one || shown.identity == Identity::Unknown {
        return Vec::new();
    }
    // Who is who matters where one value of a row finds another.
    let in_rows = shown.attributes.iter().filter(|one| one.stands_in_rows);
    let records = if in_rows.count() > 1 {
        let record_of = shown.records(table);
        record_of.map(|record_of| Records { table, record_of })
    } else {
        None
    };
    let counted = shown.attributes.iter().filter(|one| one.is_counted);
    let checks = counted.filter_map(|one| {
        cancel.heed();
        let known = Attained::of(one)?;
        let mut check = Check::new(Section::Attack, "background_knowledge")
            .about(&one.name)
            .attaining(Some(known.without[1]), None)
            .with_figure("without_1", known.without[0])
            .with_figure("without_2", known.without[1])
            .with_figure("certain_without_1", known.certain[0])
            .with_figure("certain_without_2", known.certain[1])
            .with_figure("neighbours_1", known.neighbours[0])
            .with_figure("neighbours_2", known.neighbours[1])
            .noting(
                "largest chance of a person's value, if two values are known that the person does \
                 not have",
            );
        if one.l > 2 {
            check = check
                .with_figure("neighbours_l_minus_2", known.of_l)
                .with_figure("values_left", known.left as f64);
        }
        let told = records.as_ref();
        let told = told.map_or_else(Vec::new, |records| known_values(records, shown, one));
        for (name, share) in ["known_1", "known_2"].into_iter().zip(told) {
            check = check.with_figure(name, share);
        }
        Some(check)
    });
    checks.collect()
}

/// What is attained over all classes of an attribute.
struct Attained {
    without: [f64; 2],
    certain: [f64; 2],
    neighbours: [f64; 2],
    of_l: f64,
    left: usize,
}

impl Attained {
    /// `None` where no class has members.
    fn of(shown: &AttributeCandidates) -> Option<Self> {
        let mut members = vec![0_u64; shown.classes.len()];
        for &class in shown.class_of.iter().filter(|&&class| class != NO_CLASS) {
            members[class as usize] += 1;
        }
        let people: u64 = members.iter().sum();
        if people == 0 {
            return None;
        }
        let mut known = Self {
            without: [0.0; 2],
            certain: [0.0; 2],
            neighbours: [0.0; 2],
            of_l: 0.0,
            left: usize::MAX,
        };
        let others = u64::from(shown.l.saturating_sub(2));
        let mut certain = [0_u64; 2];
        for (class, &members) in shown.classes.iter().zip(&members) {
            if members == 0 {
                continue;
            }
            let mut counts: Vec<u64> = class.iter().map(|&(_, count)| u64::from(count)).collect();
            counts.sort_unstable_by_key(|&count| std::cmp::Reverse(count));
            for excluded in 1..=2 {
                let share = without(&counts, excluded);
                let worst = &mut known.without[excluded - 1];
                *worst = worst.max(share);
                if counts.len() <= excluded + 1 {
                    certain[excluded - 1] += members;
                }
                let worst = &mut known.neighbours[excluded - 1];
                *worst = worst.max(beside(&counts, excluded as u64));
            }
            known.of_l = known.of_l.max(beside(&counts, others));
            known.left = known.left.min(left(&counts, others));
        }
        known.certain = certain.map(|certain| certain as f64 / people as f64);
        Some(known)
    }
}

/// Chance of the most frequent value, if the next so many are excluded; counts
/// descend.
fn without(counts: &[u64], excluded: usize) -> f64 {
    let first = counts.first().copied().unwrap_or(0);
    let rest: u64 = counts.iter().skip(1 + excluded).sum();
    first as f64 / (first + rest).max(1) as f64
}

/// Chance of the most frequent value, if so many people are known who have
/// others.
fn beside(counts: &[u64], known: u64) -> f64 {
    let first = counts.first().copied().unwrap_or(0);
    let rest: u64 = counts.iter().skip(1).sum();
    first as f64 / (first + rest.saturating_sub(known)).max(1) as f64
}

/// Different values that are left, if so many people are known who have the
/// rarest.
fn left(counts: &[u64], mut known: u64) -> usize {
    let gone = counts.iter().rev().take_while(|&&count| {
        let is_gone = count <= known;
        known = known.saturating_sub(count);
        is_gone
    });
    counts.len() - gone.count()
}

/// Share of people whose value is certain for who knows one or two other
/// sensitive values of theirs that stand in the same row; of one other, and of a
/// pair, that tells the most people. Nothing where no other stands in rows.
fn known_values(
    records: &Records<'_>,
    shown: &Candidates,
    target: &AttributeCandidates,
) -> Vec<f64> {
    let all = shown.attributes.iter();
    let others = all.filter(|one| one.stands_in_rows && one.name != target.name);
    let others: Vec<&AttributeCandidates> = others.take(PAIRED_MAX).collect();
    if !target.stands_in_rows || others.is_empty() {
        return Vec::new();
    }
    let worst = |known: Vec<Vec<&AttributeCandidates>>| {
        let shares = known.iter().map(|known| certain(records, target, known));
        shares.fold(0.0, f64::max)
    };
    let mut found = vec![worst(others.iter().map(|&one| vec![one]).collect())];
    if others.len() > 1 {
        let pairs = (0..others.len()).flat_map(|one| {
            let others = &others;
            (one + 1..others.len()).map(move |other| vec![others[one], others[other]])
        });
        found.push(worst(pairs.collect()));
    }
    found
}

/// The true values of the people of a release.
struct Records<'a> {
    table: &'a Table,
    /// Record of each subject, by position.
    record_of: Vec<u32>,
}

impl Records<'_> {
    fn codes(&self, attribute: &str) -> Option<&Codes> {
        let index = self.table.schema().find(attribute)?;
        Some(&self.table.coded(index)?.codes)
    }
}

/// Share of people for whom the known values of their row leave one value.
fn certain(
    records: &Records<'_>,
    target: &AttributeCandidates,
    known: &[&AttributeCandidates],
) -> f64 {
    let Some(of_target) = records.codes(&target.name) else {
        return 0.0;
    };
    let known: Option<Vec<&Codes>> = known.iter().map(|one| records.codes(&one.name)).collect();
    let Some(known) = known else {
        return 0.0;
    };
    // The one value of those who look the same, none where they have several.
    let mut alike: FxHashMap<(u32, [u32; 2]), Option<u32>> = FxHashMap::default();
    let mut keys = Vec::with_capacity(records.record_of.len());
    for (&record, &class) in records.record_of.iter().zip(&target.class_of) {
        let mut values = [0; 2];
        for (value, codes) in values.iter_mut().zip(&known) {
            *value = codes.at(record as usize);
        }
        let key = (class, values);
        let own = of_target.at(record as usize);
        let one = alike.entry(key).or_insert(Some(own));
        if *one != Some(own) {
            *one = None;
        }
        keys.push(key);
    }
    let told = keys.iter().filter(|key| alike[key].is_some()).count();
    told as f64 / keys.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::composition::made::release;

    fn known(classes: &[(&[u32], &str)], l: u32) -> Attained {
        let mut attribute = release(classes).attributes.remove(0);
        attribute.l = l;
        Attained::of(&attribute).expect("classes have members")
    }

    #[test]
    fn values_and_people_who_are_excluded_leave_the_rest() {
        // a a b c d: without b it is 2 of 4, without b and c 2 of 3; of people
        // with b or c known the same.
        let known = known(&[(&[0, 1, 2, 3, 4], "aabcd")], 4);
        assert_eq!(known.without, [2.0 / 4.0, 2.0 / 3.0]);
        assert_eq!(known.neighbours, [2.0 / 4.0, 2.0 / 3.0]);
        assert_eq!(known.certain, [0.0, 0.0]);
        assert_eq!((known.of_l, known.left), (2.0 / 3.0, 2));
    }

    #[test]
    fn the_most_frequent_value_that_is_excluded_counts_once_and_people_one_by_one() {
        // a a a b b c: excluding b leaves 3 of 4, knowing one who has b 3 of 5.
        let known = known(&[(&[0, 1, 2, 3, 4, 5], "aaabbc")], 2);
        assert_eq!(known.without, [3.0 / 4.0, 1.0]);
        assert_eq!(known.neighbours, [3.0 / 5.0, 3.0 / 4.0]);
        // Two values of three can be excluded: everyone's value can be certain.
        assert_eq!(known.certain, [0.0, 1.0]);
        // Nobody is known: all three values are left.
        assert_eq!((known.of_l, known.left), (3.0 / 6.0, 3));
    }

    #[test]
    fn the_worst_class_counts_and_shares_are_of_people() {
        let known = known(&[(&[0, 1], "ab"), (&[2, 3, 4, 5, 6, 7], "abcdef")], 2);
        assert_eq!(known.without, [1.0, 1.0]);
        assert_eq!(known.certain, [0.25, 0.25]);
    }
}
