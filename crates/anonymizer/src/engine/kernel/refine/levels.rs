//! Levels of an attribute: coarser and coarser ways to call values the same.
//!
//! A hierarchy's levels are the nodes so many steps above the leaves. Numbers
//! and dates have runs of codes, as many in each, twice as long from level to
//! level. A category without hierarchy has its values, and all of them
//! together.

use std::collections::BinaryHeap;

use crate::engine::kernel::Scale;
use crate::engine::kernel::loss::span;

/// Runs of the finest level above single numbers.
const RUNS_MAX: usize = 64;

/// One level of one attribute.
pub(super) struct Level {
    /// A number for what the level calls each code, that hardly any other name
    /// of this or another attribute has. Empty where all codes have one name.
    pub keys: Vec<u64>,
    /// Loss of publishing all codes of that name as one.
    pub loss: Vec<f32>,
}

impl Level {
    /// A level of attribute number `attribute` by the name of each code.
    fn new(attribute: usize, names: &[u32], loss: Vec<f32>) -> Self {
        let is_one = names.windows(2).all(|pair| pair[0] == pair[1]);
        let key = |&name: &u32| mix((attribute as u64) << 32 | u64::from(name));
        Self {
            keys: if is_one {
                Vec::new()
            } else {
                names.iter().map(key).collect()
            },
            loss,
        }
    }
}

/// A bijection that spreads near numbers far (the finalizer of SplitMix64).
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Levels of attribute number `attribute` with `domain` codes, finest first.
pub(super) fn levels(attribute: usize, scale: &Scale, domain: usize) -> Vec<Level> {
    let new = |names: &[u32], loss| Level::new(attribute, names, loss);
    let names: Vec<u32> = (0..domain as u32).collect();
    let mut levels = vec![new(&names, vec![0.0; domain])];
    match scale {
        Scale::Set(_) => levels.push(new(&vec![0; domain], vec![1.0; domain])),
        Scale::Number(positions) => {
            let mut runs = RUNS_MAX;
            while runs >= 1 {
                if runs < domain {
                    let (names, loss) = of_runs(positions, runs);
                    levels.push(new(&names, loss));
                }
                runs /= 2;
            }
        }
        Scale::Tree(tree) => {
            let mut at: Vec<u32> = names.iter().map(|&code| tree.leaf(code)).collect();
            loop {
                let above = at.iter().map(|&node| tree.node(node).parent);
                let above: Vec<u32> = above.collect();
                if above == at {
                    break;
                }
                let loss = above.iter().map(|&node| tree.node(node).loss).collect();
                levels.push(new(&above, loss));
                at = above;
            }
        }
    }
    levels
}

/// The run that each code is in, and the loss of that run.
fn of_runs(positions: &[f32], runs: usize) -> (Vec<u32>, Vec<f32>) {
    let length = positions.len().div_ceil(runs);
    let name = (0..positions.len()).map(|code| (code / length) as u32);
    let losses = positions.chunks(length).flat_map(|run| {
        let loss = span(run[0], run[run.len() - 1]);
        std::iter::repeat_n(loss, run.len())
    });
    (name.collect(), losses.collect())
}

/// Which level each attribute is taken at.
pub(super) type Choice = Vec<u8>;

/// Choices in order of the sum of their attributes' mean losses.
pub(super) struct Ascending {
    /// Mean loss of each level of each attribute, and the level, ascending.
    means: Vec<Vec<(f32, u8)>>,
    open: BinaryHeap<Priced<Open>>,
}

/// Something at a price; the cheapest is the greatest, since heaps give that
/// first. Equal prices are in the order of the things, lowest first.
#[derive(PartialEq)]
pub(super) struct Priced<T> {
    pub price: f32,
    pub thing: T,
}

impl<T: Ord> Eq for Priced<T> {}

impl<T: Ord> Ord for Priced<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let prices = other.price.total_cmp(&self.price);
        prices.then_with(|| other.thing.cmp(&self.thing))
    }
}

impl<T: Ord> PartialOrd for Priced<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// A choice to come: positions in the means, the last one that was raised.
type Open = (Vec<u8>, usize);

impl Ascending {
    /// All choices of one level an attribute, by mean losses `[attribute][level]`.
    pub fn new(means: Vec<Vec<f32>>) -> Self {
        let sorted = means.into_iter().map(|means| {
            let mut levels: Vec<(f32, u8)> = means.into_iter().zip(0..).collect();
            levels.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
            levels
        });
        let means: Vec<Vec<(f32, u8)>> = sorted.collect();
        let first = Priced {
            price: means.iter().map(|levels| levels[0].0).sum(),
            thing: (vec![0; means.len()], 0),
        };
        Self {
            means,
            open: BinaryHeap::from([first]),
        }
    }
}

impl Iterator for Ascending {
    type Item = (f32, Choice);

    /// Every choice comes from the one that has its last raised attribute one
    /// level lower, and so once.
    fn next(&mut self) -> Option<(f32, Choice)> {
        let next = self.open.pop()?;
        let (positions, last) = next.thing;
        for raised in last..self.means.len() {
            let (levels, at) = (&self.means[raised], positions[raised] as usize);
            if at + 1 < levels.len() {
                let mut raised_at = positions.clone();
                raised_at[raised] += 1;
                self.open.push(Priced {
                    price: next.price - levels[at].0 + levels[at + 1].0,
                    thing: (raised_at, raised),
                });
            }
        }
        let levels = self.means.iter().zip(&positions);
        let choice = levels.map(|(levels, &at)| levels[at as usize].1).collect();
        Some((next.price, choice))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_comes_once_and_none_before_a_cheaper_one() {
        let means = vec![vec![0.0, 0.5, 0.25], vec![0.0, 0.125], vec![0.0, 0.3, 1.0]];
        let all: Vec<(f32, Choice)> = Ascending::new(means.clone()).collect();
        assert_eq!(all.len(), 18);
        assert!(all.windows(2).all(|pair| pair[0].0 <= pair[1].0 + 1e-6));
        for (sum, choice) in &all {
            let levels = choice.iter().zip(&means);
            let expected: f32 = levels.map(|(&level, means)| means[level as usize]).sum();
            assert!((sum - expected).abs() < 1e-5);
        }
        let mut choices: Vec<&Choice> = all.iter().map(|(_, choice)| choice).collect();
        choices.sort();
        choices.dedup();
        assert_eq!(choices.len(), 18);
    }
}
