//! Levels of an attribute: coarser and coarser ways to call values the same.
//!
//! A hierarchy's levels are the nodes so many steps above the leaves. Numbers
//! and dates have runs of codes, as many in each, twice as long from level to
//! level. A category without hierarchy has its values, and all of them
//! together.

use crate::engine::kernel::Scale;

/// Runs of the finest level above single numbers.
const RUNS_MAX: usize = 64;

/// One level of one attribute.
pub(super) struct Level {
    /// What the level calls each code.
    pub name: Vec<u32>,
    /// Loss of publishing all codes of that name as one.
    pub loss: Vec<f32>,
}

/// Levels of an attribute with `domain` codes, finest first.
pub(super) fn levels(scale: &Scale, domain: usize) -> Vec<Level> {
    let exact = Level {
        name: (0..domain as u32).collect(),
        loss: vec![0.0; domain],
    };
    let mut levels = vec![exact];
    match scale {
        Scale::Set(_) => levels.push(Level {
            name: vec![0; domain],
            loss: vec![1.0; domain],
        }),
        Scale::Number(positions) => {
            let mut runs = RUNS_MAX;
            while runs >= 1 {
                if runs < domain {
                    levels.push(of_runs(positions, runs));
                }
                runs /= 2;
            }
        }
        Scale::Tree(tree) => {
            let mut at: Vec<u32> = (0..domain as u32).map(|code| tree.leaf(code)).collect();
            loop {
                let above = at.iter().map(|&node| tree.node(node).parent);
                let above: Vec<u32> = above.collect();
                if above == at {
                    break;
                }
                levels.push(Level {
                    loss: above.iter().map(|&node| tree.node(node).loss).collect(),
                    name: above.clone(),
                });
                at = above;
            }
        }
    }
    levels
}

fn of_runs(positions: &[f32], runs: usize) -> Level {
    let length = positions.len().div_ceil(runs);
    let name = (0..positions.len()).map(|code| (code / length) as u32);
    let losses = positions.chunks(length).flat_map(|run| {
        let loss = run[run.len() - 1] - run[0];
        std::iter::repeat_n(loss, run.len())
    });
    Level {
        name: name.collect(),
        loss: losses.collect(),
    }
}

/// Which level each attribute is taken at.
pub(super) type Choice = Vec<u8>;

/// Choices in order of the sum of their attributes' mean losses.
pub(super) struct Ascending {
    /// Mean loss of each level of each attribute, and the level, ascending.
    means: Vec<Vec<(f32, u8)>>,
    open: std::collections::BinaryHeap<Open>,
}

/// A choice to come: positions in the means, the last one that was raised.
#[derive(PartialEq)]
struct Open {
    sum: f32,
    raised: usize,
    at: Vec<u8>,
}

impl Eq for Open {}

impl Ord for Open {
    /// The heap gives the greatest first: that is the least sum.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let sums = other.sum.total_cmp(&self.sum);
        sums.then_with(|| other.at.cmp(&self.at))
    }
}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ascending {
    /// All choices of one level an attribute, by mean losses `[attribute][level]`.
    pub fn new(means: Vec<Vec<f32>>) -> Self {
        let sorted = means.into_iter().map(|means| {
            let mut levels: Vec<(f32, u8)> = means.into_iter().zip(0..).collect();
            levels.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
            levels
        });
        let means: Vec<Vec<(f32, u8)>> = sorted.collect();
        let first = Open {
            sum: means.iter().map(|levels| levels[0].0).sum(),
            raised: 0,
            at: vec![0; means.len()],
        };
        Self {
            means,
            open: std::collections::BinaryHeap::from([first]),
        }
    }
}

impl Iterator for Ascending {
    type Item = (f32, Choice);

    /// Every choice comes from the one that has its last raised attribute one
    /// level lower, and so once.
    fn next(&mut self) -> Option<(f32, Choice)> {
        let next = self.open.pop()?;
        for raised in next.raised..self.means.len() {
            let (levels, at) = (&self.means[raised], next.at[raised] as usize);
            if at + 1 < levels.len() {
                let mut raised_at = next.at.clone();
                raised_at[raised] += 1;
                self.open.push(Open {
                    sum: next.sum - levels[at].0 + levels[at + 1].0,
                    raised,
                    at: raised_at,
                });
            }
        }
        let levels = self.means.iter().zip(&next.at);
        let choice = levels.map(|(levels, &at)| levels[at as usize].1).collect();
        Some((next.sum, choice))
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
