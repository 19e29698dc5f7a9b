//! The attack `inference`: what somebody guesses of each person's sensitive
//! value who knows all quasi-identifiers, has nothing but the release, and
//! learns from it how values go with quasi-identifiers (Kifer 2009).
//!
//! Two learners try it: a naive Bayes model and a logistic model with
//! interactions of quasi-identifiers. Which value of a bucket or group is whose
//! is not known, so model and placement of the values are made better in turn
//! (expectation and maximization): inside a class the probabilities of all
//! members fit the number of each value. The guess is each person's likeliest
//! value there. Nothing bounds the share of right guesses: l-diversity says what
//! a class holds, not what is likely.
//!
//! Beside it stands what statistics of the population tell anyhow: the same
//! learners, trained on the true values of one half of the people, guess those of
//! the other half without any release. Of both learners the better one counts, for
//! the release and for the population. The `lift` is the quotient of the release's
//! share and the largest of these: the population's, that of the most frequent
//! value, and 1/l, where the job claims an l: what the release adds for those
//! who are in it, beyond what it says of itself.
//!
//! Only of releases whose rows are whole and whose classes an adversary knows:
//! not of rings and slices, where a person may be in several.
//!
//! At most [`PEOPLE_MAX`] people are looked at, whole classes drawn by the
//! verifier's own number, the same ones every time.

mod bayes;
mod known;
mod logistic;

use rand::seq::SliceRandom;

use self::bayes::Bayes;
use self::known::Known;
use self::logistic::Logistic;
use super::verdict::{Check, Section};
use crate::microdata::{AttributeIndex, CodedColumn, Multiplicity, Role, Table};
use crate::privacy::{CancelFlag, Diversity, Protection, Requirements, Seed};
use crate::release::candidates::{AttributeCandidates, Candidates, Identity, NO_CLASS};
use crate::release::codes_by_class;

/// People that are looked at.
const PEOPLE_MAX: usize = 20_000;
/// People of each half whose value is guessed from the population.
const GUESSED_MAX: usize = 5_000;
/// Times that model and placement are made better.
const ROUNDS: usize = 8;
/// Seed and stream of the draws.
const SEED: u64 = 20;
const STAGE: u32 = 1;

/// The attack on each sensitive attribute that a release shows exactly. Nothing
/// of many records a person, nor where no quasi-identifier is known.
pub fn inference(
    table: &Table,
    requirements: &Requirements,
    shown: &Candidates,
    cancel: &CancelFlag,
) -> Vec<Check> {
    let is_one = table.schema().multiplicity() == Multiplicity::One;
    if !is_one || shown.identity == Identity::Unknown {
        return Vec::new();
    }
    let quasi = table
        .schema()
        .select(|attribute| attribute.role == Role::QuasiIdentifier);
    let quasi: Vec<&CodedColumn> = quasi.iter().filter_map(|&at| table.coded(at)).collect();
    if quasi.is_empty() {
        return Vec::new();
    }
    let Some(record_of) = shown.records(table) else {
        return Vec::new();
    };
    let attacked = shown.attributes.iter().filter_map(|shown| {
        cancel.heed();
        let index = table.schema().find(&shown.name)?;
        let mut protected = requirements.protected();
        let protected = protected.find(|&one| requirements.attribute(one) == index)?;
        let attack = Attack {
            claimed: claimed(requirements.protection(protected)),
            table,
            index,
            sensitive: table.coded(index)?,
            quasi: &quasi,
            shown,
            cancel,
        };
        attack.check(&record_of)
    });
    attacked.collect()
}

/// The probability of a value that a protection allows by itself, 0 where it
/// says nothing of one.
fn claimed(protection: Protection) -> f64 {
    match protection {
        Protection::Diversity { l, .. }
        | Protection::InGroup {
            diversity: Some(Diversity::Distinct(l) | Diversity::Entropy(l)),
            ..
        } if l.get() > 1 => 1.0 / f64::from(l.get()),
        _ => 0.0,
    }
}

/// The attack on one attribute.
struct Attack<'a> {
    claimed: f64,
    table: &'a Table,
    index: AttributeIndex,
    sensitive: &'a CodedColumn,
    quasi: &'a [&'a CodedColumn],
    shown: &'a AttributeCandidates,
    cancel: &'a CancelFlag,
}

/// The people of a class, by position among those looked at, and the values
/// that it shows, with their counts.
struct Class {
    people: std::ops::Range<usize>,
    values: Vec<(u32, f64)>,
}

impl Class {
    /// Its people, each with the probabilities of the values.
    fn members<'a>(&self, placed: &'a [f64]) -> impl Iterator<Item = (usize, &'a [f64])> {
        let shares = placed.chunks(self.values.len().max(1));
        self.people.clone().zip(shares)
    }
}

/// A model of how values go with quasi-identifiers.
trait Learner {
    /// Times that it has to learn from the same people.
    const PASSES: usize;

    /// Learns from people in classes, with the probability that each member has
    /// each value.
    fn learn(&mut self, known: &Known, classes: &[Class], placed: &[Vec<f64>]);

    /// How much more likely a person with such quasi-identifiers has a value
    /// than somebody of the whole.
    fn ratio(&self, known: &Known, person: usize, value: u32) -> f64;
}

impl Attack<'_> {
    fn check(&self, record_of: &[u32]) -> Option<Check> {
        let (records, mut classes) = self.drawn(record_of);
        if records.len() < 2 {
            return None;
        }
        let own = |&record: &u32| self.sensitive.codes.at(record as usize);
        let mut own: Vec<u32> = records.iter().map(own).collect();
        let values = renumber(&mut own, &mut classes);
        let known = Known::of(self.quasi, &records);
        let bayes = || Bayes::empty(&known, values);
        let logistic = || Logistic::empty(&known, own.len(), values);
        let ((by_bayes, of_bayes), (by_logistic, of_logistic)) = rayon::join(
            || self.both((&known, &classes, &own), values, bayes),
            || self.both((&known, &classes, &own), values, logistic),
        );
        let (release, population) = (by_bayes.max(by_logistic), of_bayes.max(of_logistic));
        let mut counts = vec![0_u64; values];
        own.iter().for_each(|&value| counts[value as usize] += 1);
        let most = counts.iter().max().copied().unwrap_or(0) as f64 / records.len() as f64;
        let known_anyhow = population.max(most).max(self.claimed);
        Some(
            Check::new(Section::Attack, "inference")
                .about(&self.shown.name)
                .attaining(Some(release), None)
                .with_figure("naive_bayes", by_bayes)
                .with_figure("logistic", by_logistic)
                .with_figure("population", population)
                .with_figure("lift", release / known_anyhow)
                .with_figure("most_frequent_value", most)
                .with_figure("one_in_l", self.claimed)
                .with_figure("people", records.len() as f64)
                .noting(
                    "share of people whose value a model guesses that was learned from the release \
                     alone; lift: beside what statistics of other people tell (population, or the \
                     most frequent value), or 1 in l",
                ),
        )
    }

    /// Whole classes in random order until there are enough people: their
    /// records, class by class.
    fn drawn(&self, record_of: &[u32]) -> (Vec<u32>, Vec<Class>) {
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); self.shown.classes.len()];
        for (&record, &class) in record_of.iter().zip(&self.shown.class_of) {
            if class != NO_CLASS {
                members[class as usize].push(record);
            }
        }
        let attribute = self.table.schema().attribute(self.index);
        let codes = codes_by_class(attribute, self.sensitive);
        let code = |at: u32| codes.get(&self.shown.values[at as usize]).copied();
        let mut order: Vec<usize> = (0..members.len()).collect();
        order.shuffle(&mut Seed::of_number(SEED).stream(STAGE, 0));
        let (mut records, mut classes) = (Vec::new(), Vec::new());
        for at in order {
            let first = records.len();
            if first >= PEOPLE_MAX {
                break;
            }
            if members[at].is_empty() {
                continue;
            }
            records.append(&mut members[at]);
            let values = self.shown.classes[at].iter();
            let values =
                values.filter_map(|&(value, count)| Some((code(value)?, f64::from(count))));
            classes.push(Class {
                people: first..records.len(),
                values: values.collect(),
            });
        }
        (records, classes)
    }

    /// Shares of right guesses by one learner: from the release, and of one half
    /// of the people from the other.
    fn both<L: Learner + Send>(
        &self,
        (known, classes, own): (&Known, &[Class], &[u32]),
        values: usize,
        empty: impl Fn() -> L + Sync,
    ) -> (f64, f64) {
        rayon::join(
            || self.guessed_of_release((known, classes, own), empty()),
            || self.guessed_of_population((known, own), values, &empty),
        )
    }

    /// Share of right guesses from the release.
    fn guessed_of_release(
        &self,
        (known, classes, own): (&Known, &[Class], &[u32]),
        mut model: impl Learner,
    ) -> f64 {
        let mut placed: Vec<Vec<f64>> = classes.iter().map(as_published).collect();
        for _ in 0..ROUNDS {
            self.cancel.heed();
            model.learn(known, classes, &placed);
            for (class, placed) in classes.iter().zip(&mut placed) {
                place(&model, known, class, placed);
            }
        }
        let mut right = 0;
        for (class, placed) in classes.iter().zip(&placed) {
            for (person, shares) in class.members(placed) {
                let values = class.values.iter().zip(shares);
                let guess = values.max_by(|one, other| one.1.total_cmp(other.1));
                let guess = guess.map(|(&(value, _), _)| value);
                right += usize::from(guess == Some(own[person]));
            }
        }
        right as f64 / own.len() as f64
    }

    /// Share of right guesses of one half of the people by a model of the other.
    fn guessed_of_population<L: Learner>(
        &self,
        (known, own): (&Known, &[u32]),
        values: usize,
        empty: impl Fn() -> L,
    ) -> f64 {
        let (mut guessed, mut right) = (0, 0);
        let mut people: Vec<usize> = (0..own.len()).collect();
        people.shuffle(&mut Seed::of_number(SEED).stream(STAGE, 1));
        let (one, other) = people.split_at(people.len() / 2);
        for (trained, tried) in [(one, other), (other, one)] {
            let mut of_value = vec![0_u64; values];
            let classes = trained.iter().map(|&person| {
                of_value[own[person] as usize] += 1;
                Class {
                    people: person..person + 1,
                    values: vec![(own[person], 1.0)],
                }
            });
            let classes: Vec<Class> = classes.collect();
            let placed = vec![vec![1.0]; classes.len()];
            let mut model = empty();
            for _ in 0..L::PASSES {
                self.cancel.heed();
                model.learn(known, &classes, &placed);
            }
            let there = (0_u32..).zip(&of_value).filter(|(_, people)| **people > 0);
            let there: Vec<(u32, f64)> = there.map(|(value, &all)| (value, all as f64)).collect();
            for &person in tried.iter().take(GUESSED_MAX) {
                let scores = there
                    .iter()
                    .map(|&(value, all)| (value, all * model.ratio(known, person, value)));
                let guess = scores.max_by(|one, other| one.1.total_cmp(&other.1));
                guessed += 1;
                right += usize::from(guess.map(|(value, _)| value) == Some(own[person]));
            }
        }
        right as f64 / guessed.max(1) as f64
    }
}

/// Numbers the values that somebody has or a class shows from 0, in their order:
/// models hold no place for others. Answers how many there are.
fn renumber(own: &mut [u32], classes: &mut [Class]) -> usize {
    let shown = classes.iter().flat_map(|class| &class.values);
    let shown = shown.map(|&(value, _)| value);
    let mut there: Vec<u32> = own.iter().copied().chain(shown).collect();
    there.sort_unstable();
    there.dedup();
    let number = |value: &mut u32| *value = there.partition_point(|one| one < value) as u32;
    own.iter_mut().for_each(number);
    let shown = classes.iter_mut().flat_map(|class| &mut class.values);
    shown.for_each(|(value, _)| number(value));
    there.len()
}

/// Every member has every value as often as the class shows it.
fn as_published(class: &Class) -> Vec<f64> {
    let all: f64 = class.values.iter().map(|&(_, count)| count).sum();
    let one = class.values.iter().map(|&(_, count)| count / all.max(1.0));
    let one: Vec<f64> = one.collect();
    one.repeat(class.people.len())
}

/// Steps in which rows and columns of a class are scaled in turn.
const SCALINGS: usize = 6;

/// The probabilities of a class's members by the model, scaled so that each
/// member's are 1 in all and each value's as many as the class shows; a class
/// with counterfeits has more values than members.
fn place(model: &impl Learner, known: &Known, class: &Class, placed: &mut [f64]) {
    let width = class.values.len();
    if width == 0 {
        return;
    }
    for (person, shares) in class.people.clone().zip(placed.chunks_mut(width)) {
        for (&(value, count), share) in class.values.iter().zip(shares) {
            *share = count * model.ratio(known, person, value);
        }
    }
    let all: f64 = class.values.iter().map(|&(_, count)| count).sum();
    let part = class.people.len() as f64 / all;
    for _ in 0..SCALINGS {
        for at in 0..width {
            let sum: f64 = placed.iter().skip(at).step_by(width).sum();
            let scale = class.values[at].1 * part / sum.max(f64::MIN_POSITIVE);
            placed
                .iter_mut()
                .skip(at)
                .step_by(width)
                .for_each(|share| *share *= scale);
        }
        for shares in placed.chunks_mut(width) {
            let sum: f64 = shares.iter().sum();
            shares
                .iter_mut()
                .for_each(|share| *share /= sum.max(f64::MIN_POSITIVE));
        }
    }
}

#[cfg(test)]
mod tests;
