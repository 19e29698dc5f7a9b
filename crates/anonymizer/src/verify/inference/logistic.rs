//! A logistic model with interactions: the logarithm of how likely a value is
//! is a sum over a person's categories, and over each pair of them.
//!
//! Trained step by step with rates of its own for each weight (AdaGrad, Duchi
//! et al. 2011). Of many values a step looks at those that may be the person's
//! and at some others drawn by how frequent they are (sampled softmax).

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha12Rng;

use super::known::Known;
use super::{Class, Learner, SEED, STAGE};
use crate::privacy::Seed;

/// Quasi-identifiers whose pairs count; the first ones.
const PAIRED_MAX: usize = 10;
/// Categories of each one of a pair: as many of these as there is room for.
const OF_PAIR: [u32; 2] = [16, 8];
/// Weights of a model, at most. Where pairs have no room they are left out, and
/// where single categories have none the model knows nothing.
const WEIGHTS_MAX: usize = 1 << 22;
/// Values that a step looks at whole, and how many others it draws of more.
const WHOLE_VALUES: usize = 64;
const DRAWN_VALUES: usize = 16;
/// Weights that a pass over the people moves, about; of more it takes a part.
const PASS_MAX: usize = 8_000_000;
/// Size of a step; what holds weights near 0.
const STEP: f32 = 0.01;
const SHRINK: f32 = 0.01;

/// Weights of features and values.
pub struct Logistic {
    /// Features of each person, so many each.
    features: Vec<u32>,
    of_person: usize,
    /// Different values.
    values: usize,
    /// Weight of each feature, by value; sums of squared slopes beside it.
    pub(super) weights: Vec<f32>,
    squares: Vec<f32>,
    /// How often a value occurs; logarithms of the shares.
    frequent: Vec<f64>,
    prior: Vec<f32>,
    random: ChaCha12Rng,
}

impl Logistic {
    /// One that knows nobody yet, of people numbered from 0.
    pub fn empty(known: &Known, people: usize, values: usize) -> Self {
        let layout = Layout::of(known, values);
        let mut features = Vec::with_capacity(people * layout.of_person);
        for person in 0..people {
            layout.featured(known, person, &mut features);
        }
        let weights = layout.features * values;
        Self {
            features,
            of_person: layout.of_person,
            values,
            weights: vec![0.0; weights],
            squares: vec![0.0; weights],
            frequent: Vec::new(),
            prior: Vec::new(),
            random: Seed::of_number(SEED).stream(STAGE, 2),
        }
    }

    fn features(&self, person: usize) -> &[u32] {
        &self.features[person * self.of_person..(person + 1) * self.of_person]
    }

    /// The sum of a person's weights for a value.
    fn sum(&self, person: usize, value: u32) -> f32 {
        let features = self.features(person).iter();
        let weights =
            features.map(|&feature| self.weights[feature as usize * self.values + value as usize]);
        weights.sum()
    }

    fn set_prior(&mut self, classes: &[Class], placed: &[Vec<f64>]) {
        self.frequent = vec![0.0; self.values];
        for (class, placed) in classes.iter().zip(placed) {
            for (_, shares) in class.members(placed) {
                for (&(value, _), share) in class.values.iter().zip(shares) {
                    self.frequent[value as usize] += share;
                }
            }
        }
        let all: f64 = self.frequent.iter().sum();
        let share = |&people: &f64| ((people + 1e-3) / all.max(1.0)) as f32;
        self.prior = self
            .frequent
            .iter()
            .map(|people| libm::logf(share(people)))
            .collect();
        let mut before = 0.0;
        for people in &mut self.frequent {
            before += *people / all.max(f64::MIN_POSITIVE);
            *people = before;
        }
    }

    /// The values that a step looks at where they are many: those of the person,
    /// and some drawn.
    fn looked_at(&mut self, own: &[(u32, f64)], values: &mut Vec<u32>) {
        values.clear();
        values.extend(own.iter().map(|&(value, _)| value));
        for _ in 0..DRAWN_VALUES {
            let at: f64 = self.random.random();
            let drawn = self.frequent.partition_point(|&before| before < at);
            values.push(drawn.min(self.values - 1) as u32);
        }
        values.sort_unstable();
        values.dedup();
    }

    /// One step: the model's probabilities go towards those of the person.
    fn step(&mut self, person: usize, own: &[(u32, f64)], shares: &[f64], room: &mut Room) {
        let is_whole = self.values <= WHOLE_VALUES;
        room.slopes.clear();
        if is_whole {
            room.slopes.extend(&self.prior);
            for &feature in self.features(person) {
                let row = feature as usize * self.values;
                let weights = &self.weights[row..row + self.values];
                let sums = room.slopes.iter_mut().zip(weights);
                sums.for_each(|(sum, weight)| *sum += weight);
            }
        } else {
            self.looked_at(own, &mut room.values);
            let sums = room.values.iter();
            let sums = sums.map(|&value| self.sum(person, value));
            room.slopes.extend(sums);
        }
        softmax(&mut room.slopes);
        for (&(value, _), &share) in own.iter().zip(shares) {
            let at = if is_whole {
                Ok(value as usize)
            } else {
                room.values.binary_search(&value)
            };
            if let Ok(at) = at {
                room.slopes[at] -= share as f32;
            }
        }
        for at in person * self.of_person..(person + 1) * self.of_person {
            let row = self.features[at] as usize * self.values;
            let weights = &mut self.weights[row..row + self.values];
            let squares = &mut self.squares[row..row + self.values];
            if is_whole {
                let weights = weights.iter_mut().zip(squares);
                for ((weight, square), &slope) in weights.zip(&room.slopes) {
                    descend(weight, square, slope);
                }
            } else {
                for (&value, &slope) in room.values.iter().zip(&room.slopes) {
                    let value = value as usize;
                    descend(&mut weights[value], &mut squares[value], slope);
                }
            }
        }
    }
}

/// Turns logarithms into probabilities.
fn softmax(scores: &mut [f32]) {
    let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut all = 0.0;
    for score in &mut *scores {
        *score = libm::expf(*score - largest);
        all += *score;
    }
    scores.iter_mut().for_each(|score| *score /= all);
}

/// Moves a weight against its slope.
#[inline]
fn descend(weight: &mut f32, square: &mut f32, slope: f32) {
    let slope = slope + SHRINK * *weight;
    *square += slope * slope;
    *weight -= STEP * slope / (1.0 + *square).sqrt();
}

/// What a step needs.
#[derive(Default)]
struct Room {
    values: Vec<u32>,
    slopes: Vec<f32>,
}

impl Learner for Logistic {
    /// Each is a small step for each person.
    const PASSES: usize = 8;

    fn learn(&mut self, _known: &Known, classes: &[Class], placed: &[Vec<f64>]) {
        self.set_prior(classes, placed);
        let members = classes.iter().zip(placed).enumerate();
        let mut order: Vec<(usize, usize)> = members
            .flat_map(|(at, (class, placed))| {
                let people = class.members(placed);
                people.enumerate().map(move |(member, _)| (at, member))
            })
            .collect();
        order.shuffle(&mut self.random);
        let looked_at = self.values.min(WHOLE_VALUES) * self.of_person;
        order.truncate(PASS_MAX / looked_at.max(1));
        let mut room = Room::default();
        for &(at, member) in &order {
            let (class, width) = (&classes[at], classes[at].values.len());
            let shares = &placed[at][member * width..(member + 1) * width];
            let person = class.people.start + member;
            self.step(person, &class.values, shares, &mut room);
        }
    }

    fn ratio(&self, _known: &Known, person: usize, value: u32) -> f64 {
        f64::from(libm::expf(self.sum(person, value).clamp(-40.0, 40.0)))
    }
}

/// Which features there are.
struct Layout {
    /// Quasi-identifiers whose pairs are, and categories of each one of a pair.
    paired: usize,
    of_pair: u32,
    /// All features, and those of a person; none where there is no room.
    features: usize,
    of_person: usize,
}

impl Layout {
    /// The richest that there is room for.
    fn of(known: &Known, values: usize) -> Self {
        let singles: usize = known.sizes.iter().sum();
        let paired = known.sizes.len().min(PAIRED_MAX);
        let pairs = paired * paired.saturating_sub(1) / 2;
        let layout = |paired: usize, pairs: usize, of_pair: u32| Self {
            paired,
            of_pair,
            features: singles + pairs * (of_pair * of_pair) as usize,
            of_person: known.sizes.len() + pairs,
        };
        let [many, few] = OF_PAIR.map(|of_pair| layout(paired, pairs, of_pair));
        let mut all = [many, few, layout(0, 0, 0)].into_iter();
        let fits = |one: &Self| one.features * values <= WEIGHTS_MAX;
        all.find(fits).unwrap_or(Self {
            paired: 0,
            of_pair: 0,
            features: 0,
            of_person: 0,
        })
    }

    /// Adds a person's features: each category, and each pair of coarser ones.
    fn featured(&self, known: &Known, person: usize, features: &mut Vec<u32>) {
        if self.of_person == 0 {
            return;
        }
        let row = known.row(person);
        let mut before = 0;
        for (&category, &size) in row.iter().zip(&known.sizes) {
            features.push(before + u32::from(category));
            before += size as u32;
        }
        let coarse = |at: usize| {
            let size = known.sizes[at] as u32;
            match u32::from(row[at]) {
                category if size <= self.of_pair => category,
                category if known.is_ordered[at] => category * self.of_pair / size,
                category => category.min(self.of_pair - 1),
            }
        };
        for one in 0..self.paired {
            for other in one + 1..self.paired {
                features.push(before + coarse(one) * self.of_pair + coarse(other));
                before += self.of_pair * self.of_pair;
            }
        }
    }
}
