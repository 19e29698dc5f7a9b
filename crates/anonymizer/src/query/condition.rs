//! A predicate made ready for one attribute: which values satisfy it, and what
//! share of a published cell's possible values do.
//!
//! Several predicates on one attribute are intersected before shares are
//! taken: `age > 30` and `age < 40` are one range, not two independent events.
//!
//! A missing number satisfies no comparison, and has no part in a sum. A cell
//! that may be missing is so with half its weight (*ours*).

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::microdata::{AttributeType, Hierarchy};
use crate::release::Cell;

use super::knowledge::PublicDomain;
use super::places::Places;

/// Which values satisfy.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// Whole numbers or days: disjoint ascending ranges, ends included.
    Whole(Vec<(i64, i64)>),
    /// Decimals: disjoint ascending spans.
    Real(Vec<Span>),
    /// Leaves of a hierarchy.
    Leaves {
        /// The hierarchy.
        tree: Arc<Hierarchy>,
        /// Satisfying leaves before each leaf; one more entry than leaves.
        before: Vec<u32>,
    },
    /// Labels: these, or all but these.
    Labels {
        /// Whether each published label is named, by rank.
        named: Vec<bool>,
        /// Named labels that are not published.
        beyond: BTreeSet<String>,
        /// Whether all others satisfy instead.
        except: bool,
    },
}

/// A run of decimals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Lower end.
    pub lo: f64,
    /// Whether the lower end itself is left out.
    pub lo_open: bool,
    /// Upper end.
    pub hi: f64,
    /// Whether the upper end itself is left out.
    pub hi_open: bool,
}

/// What a published cell says about a condition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// Share of the cell's possible values that satisfy.
    pub share: f64,
    /// Whether all do.
    pub certain: bool,
    /// Whether any may.
    pub possible: bool,
}

impl Judgement {
    /// None of the cell's possible values satisfies.
    const NEVER: Self = Self {
        share: 0.0,
        certain: false,
        possible: false,
    };

    /// Whether all of the cell's possible values satisfy, or none.
    pub fn is_decided(&self) -> bool {
        self.certain == self.possible
    }
}

/// The part of a numeric cell that satisfies a condition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Mean, values taken as equally likely.
    pub mean: f64,
}

impl Span {
    /// Every decimal.
    pub const ALL: Self = Self {
        lo: f64::NEG_INFINITY,
        lo_open: false,
        hi: f64::INFINITY,
        hi_open: false,
    };

    fn is_empty(&self) -> bool {
        self.lo > self.hi || (self.lo == self.hi && (self.lo_open || self.hi_open))
    }

    fn intersect(&self, other: &Self) -> Self {
        let (lo, lo_open) = match self.lo.total_cmp(&other.lo) {
            _ if self.lo == other.lo => (self.lo, self.lo_open || other.lo_open),
            std::cmp::Ordering::Less => (other.lo, other.lo_open),
            _ => (self.lo, self.lo_open),
        };
        let (hi, hi_open) = match self.hi.total_cmp(&other.hi) {
            _ if self.hi == other.hi => (self.hi, self.hi_open || other.hi_open),
            std::cmp::Ordering::Greater => (other.hi, other.hi_open),
            _ => (self.hi, self.hi_open),
        };
        Self {
            lo,
            lo_open,
            hi,
            hi_open,
        }
    }
}

impl Condition {
    /// The condition that every value of a domain satisfies.
    pub fn all(domain: &PublicDomain) -> Self {
        match (domain.kind, &domain.hierarchy) {
            (AttributeType::Integer | AttributeType::Date, _) => {
                Self::Whole(vec![(i64::MIN, i64::MAX)])
            }
            (AttributeType::Decimal, _) => Self::Real(vec![Span::ALL]),
            (AttributeType::Categorical, Some(tree)) => {
                Self::of_leaves(tree, &vec![true; tree.leaf_count()])
            }
            (AttributeType::Categorical, None) => Self::of_labels([], domain, true),
        }
    }

    /// The condition that these labels satisfy, or all but these.
    pub fn of_labels<'a>(
        labels: impl IntoIterator<Item = &'a str>,
        domain: &PublicDomain,
        except: bool,
    ) -> Self {
        let mut named = vec![false; domain.labels.len()];
        let mut beyond = BTreeSet::new();
        for label in labels {
            match domain.rank(label) {
                Some(rank) => named[rank] = true,
                None => {
                    beyond.insert(label.to_owned());
                }
            }
        }
        Self::Labels {
            named,
            beyond,
            except,
        }
    }

    /// The condition that the marked leaves satisfy.
    pub fn of_leaves(tree: &Arc<Hierarchy>, marked: &[bool]) -> Self {
        let mut before = Vec::with_capacity(marked.len() + 1);
        let mut count = 0;
        before.push(0);
        for &marked in marked {
            count += u32::from(marked);
            before.push(count);
        }
        Self::Leaves {
            tree: Arc::clone(tree),
            before,
        }
    }

    /// The condition that one exact value satisfies.
    pub fn only(cell: &Cell, domain: &PublicDomain) -> Self {
        match (cell, &domain.hierarchy) {
            (&Cell::Integer(lo, hi), _) => Self::Whole(vec![(lo, hi)]),
            (&Cell::Date(lo, hi), _) => Self::Whole(vec![(i64::from(lo), i64::from(hi))]),
            (Cell::Label(label), Some(tree)) => {
                let mut marked = vec![false; tree.leaf_count()];
                if let Some(leaf) = tree.leaf(label) {
                    marked[leaf.at()] = true;
                }
                Self::of_leaves(tree, &marked)
            }
            (Cell::Label(label), None) => Self::of_labels([label.as_str()], domain, false),
            _ => Self::all(domain),
        }
    }

    /// Whether an exact value satisfies.
    pub fn admits(&self, cell: &Cell, domain: &PublicDomain) -> bool {
        match (self, cell) {
            (Self::Whole(ranges), cell) => whole_ends(cell)
                .is_some_and(|(value, _)| ranges.iter().any(|of| (of.0..=of.1).contains(&value))),
            (Self::Leaves { tree, before }, Cell::Label(label)) => tree
                .leaf(label)
                .is_some_and(|leaf| before[leaf.at()] < before[leaf.at() + 1]),
            (Self::Labels { named, except, .. }, Cell::Label(label)) => domain
                .rank(label)
                .is_some_and(|rank| named[rank] != *except),
            // Values of decimals are not listed.
            _ => true,
        }
    }

    /// What satisfies both; both are of one attribute.
    #[must_use]
    pub fn intersect(self, other: Self) -> Self {
        match (self, other) {
            (Self::Whole(left), Self::Whole(right)) => {
                let pairs = left
                    .iter()
                    .flat_map(|a| right.iter().map(move |b| (a.0.max(b.0), a.1.min(b.1))));
                Self::Whole(pairs.filter(|(lo, hi)| lo <= hi).collect())
            }
            (Self::Real(left), Self::Real(right)) => {
                let pairs = left
                    .iter()
                    .flat_map(|a| right.iter().map(move |b| a.intersect(b)));
                Self::Real(pairs.filter(|span| !span.is_empty()).collect())
            }
            (Self::Leaves { tree, before }, Self::Leaves { before: other, .. }) => {
                let marks = |before: &[u32]| -> Vec<bool> {
                    before.windows(2).map(|pair| pair[0] < pair[1]).collect()
                };
                let both: Vec<bool> = marks(&before)
                    .into_iter()
                    .zip(marks(&other))
                    .map(|(left, right)| left && right)
                    .collect();
                Self::of_leaves(&tree, &both)
            }
            (
                Self::Labels {
                    named,
                    beyond,
                    except,
                },
                Self::Labels {
                    named: other_named,
                    beyond: others,
                    except: other_except,
                },
            ) => {
                let both = |one: bool, other: bool| match (except, other_except) {
                    (true, true) => one || other,
                    (true, false) => other && !one,
                    (false, true) => one && !other,
                    (false, false) => one && other,
                };
                let named = named.into_iter().zip(other_named);
                Self::Labels {
                    named: named.map(|(one, other)| both(one, other)).collect(),
                    beyond: match (except, other_except) {
                        (true, true) => &beyond | &others,
                        (true, false) => &others - &beyond,
                        (false, true) => &beyond - &others,
                        (false, false) => &beyond & &others,
                    },
                    except: except && other_except,
                }
            }
            // Conditions of one attribute are of one form.
            (left, _) => left,
        }
    }

    /// What each published cell says about the condition; `places` are those
    /// of the cells. A masked cell, and one that is in no bucket though it is
    /// empty, may hold any value.
    pub(super) fn judge_all(
        &self,
        cells: &[Cell],
        places: &Places,
        domain: &PublicDomain,
        judgements: &mut Vec<Judgement>,
    ) {
        let unknown = self.judge_unknown(domain);
        let judged = |found: Option<(u32, u32)>| match found {
            Some((hit, of)) => Judgement {
                share: f64::from(hit) / f64::from(of.max(1)),
                certain: hit >= of,
                possible: hit > 0,
            },
            None => unknown,
        };
        match self {
            Self::Whole(ranges) => judgements.extend(cells.iter().map(|cell| {
                let known = |cell: &Cell| whole_ends(cell).map(|ends| judge_whole(ranges, ends));
                judge_number(cell, known).unwrap_or(unknown)
            })),
            Self::Real(spans) => judgements.extend(cells.iter().map(|cell| {
                let known = |cell: &Cell| match *cell {
                    Cell::Decimal(lo, hi) => Some(judge_real(spans, lo, hi)),
                    _ => None,
                };
                judge_number(cell, known).unwrap_or(unknown)
            })),
            Self::Leaves { before, .. } => {
                let run =
                    |first: u32, last: u32| before[last as usize + 1] - before[first as usize];
                judgements.extend(places.count(run).map(judged));
            }
            Self::Labels { named, except, .. } => {
                let run = |rank: u32, _: u32| u32::from(named[rank as usize] != *except);
                judgements.extend(places.count(run).map(judged));
            }
        }
    }

    /// What is said by a cell that says nothing of the value.
    fn judge_unknown(&self, domain: &PublicDomain) -> Judgement {
        Judgement {
            share: self.share_of_all(domain),
            certain: self.admits_all(),
            possible: !self.admits_none(),
        }
    }

    fn admits_all(&self) -> bool {
        match self {
            Self::Whole(ranges) => ranges.contains(&(i64::MIN, i64::MAX)),
            Self::Real(spans) => spans.contains(&Span::ALL),
            Self::Leaves { before, .. } => before[before.len() - 1] as usize == before.len() - 1,
            Self::Labels {
                named,
                beyond,
                except,
            } => *except && beyond.is_empty() && !named.contains(&true),
        }
    }

    fn admits_none(&self) -> bool {
        match self {
            Self::Whole(ranges) => ranges.is_empty(),
            Self::Real(spans) => spans.is_empty(),
            Self::Leaves { before, .. } => before[before.len() - 1] == 0,
            Self::Labels {
                named,
                beyond,
                except,
            } => !*except && beyond.is_empty() && !named.contains(&true),
        }
    }

    /// Share of the public domain that satisfies.
    fn share_of_all(&self, domain: &PublicDomain) -> f64 {
        let share = |hit: u32, of: usize| (of > 0).then(|| f64::from(hit) / of as f64);
        let share = match self {
            Self::Whole(ranges) => {
                let hull = domain.hull.as_ref().and_then(whole_ends);
                hull.map(|hull| judge_whole(ranges, hull).share)
            }
            Self::Real(spans) => match domain.hull {
                Some(Cell::Decimal(lo, hi)) => Some(judge_real(spans, lo, hi).share),
                _ => None,
            },
            Self::Leaves { tree, before } => share(before[before.len() - 1], tree.leaf_count()),
            Self::Labels { named, except, .. } => {
                let hits = named.iter().filter(|named| *named != except);
                share(hits.count() as u32, named.len())
            }
        };
        share.unwrap_or_else(|| f64::from(self.admits_all()))
    }

    /// The part of a numeric cell (the hull for a masked one) that satisfies;
    /// `None` where none does.
    pub fn part(&self, cell: &Cell, domain: &PublicDomain) -> Option<Part> {
        let cell = match cell {
            Cell::Masked | Cell::Empty => domain.hull.as_ref()?,
            Cell::OrMissing(interval) => interval,
            cell => cell,
        };
        let parts: Vec<(f64, f64, f64)> = match self {
            Self::Whole(ranges) => {
                let (lo, hi) = whole_ends(cell)?;
                let cut = ranges
                    .iter()
                    .map(|range| (range.0.max(lo), range.1.min(hi)));
                cut.filter(|(lo, hi)| lo <= hi)
                    .map(|part| (part.0 as f64, part.1 as f64, overlap(part, part) as f64))
                    .collect()
            }
            Self::Real(spans) => {
                let &Cell::Decimal(lo, hi) = cell else {
                    return None;
                };
                let cut = spans.iter().map(|span| span.intersect(&closed(lo, hi)));
                cut.filter(|part| !part.is_empty())
                    .map(|part| (part.lo, part.hi, part.hi - part.lo))
                    .collect()
            }
            _ => return None,
        };
        let (min, max) = (parts.first()?.0, parts.last()?.1);
        let weight: f64 = parts.iter().map(|part| part.2).sum();
        let moment: f64 = parts
            .iter()
            .map(|part| (part.0 + part.1) / 2.0 * part.2)
            .sum();
        let mean = if weight > 0.0 {
            moment / weight
        } else {
            (min + max) / 2.0
        };
        Some(Part { min, max, mean })
    }
}

/// What a cell of numbers says that `known` judges where none is missing.
fn judge_number(cell: &Cell, known: impl Fn(&Cell) -> Option<Judgement>) -> Option<Judgement> {
    match cell {
        Cell::OrMissing(interval) => known(interval).map(|known| Judgement {
            share: known.share / 2.0,
            certain: false,
            possible: known.possible,
        }),
        cell if cell.is_missing() => Some(Judgement::NEVER),
        cell => known(cell),
    }
}

/// What a cell of whole numbers says.
fn judge_whole(ranges: &[(i64, i64)], ends: (i64, i64)) -> Judgement {
    let hits = ranges.iter().map(|range| overlap(*range, ends));
    let (hit, of) = (hits.sum::<i128>(), overlap(ends, ends));
    Judgement {
        share: if of > 0 { hit as f64 / of as f64 } else { 0.0 },
        // In whole numbers: a wide interval may lack a single one.
        certain: hit == of,
        possible: hit > 0,
    }
}

/// What a cell of decimals says.
fn judge_real(spans: &[Span], lo: f64, hi: f64) -> Judgement {
    let cell = closed(lo, hi);
    let parts = spans.iter().map(|span| span.intersect(&cell));
    let (mut count, mut length, mut certain) = (0_u32, 0.0, false);
    for part in parts.filter(|part| !part.is_empty()) {
        count += 1;
        length += part.hi - part.lo;
        // A span may lack single points that have no length.
        certain |= part == cell;
    }
    let share = match lo == hi {
        true => f64::from(count),
        false if hi > lo => length / (hi - lo),
        false => 0.0,
    };
    Judgement {
        share,
        certain,
        possible: count > 0,
    }
}

/// Whole numbers in both ranges.
fn overlap(left: (i64, i64), right: (i64, i64)) -> i128 {
    let (lo, hi) = (left.0.max(right.0), left.1.min(right.1));
    (i128::from(hi) - i128::from(lo) + 1).max(0)
}

fn closed(lo: f64, hi: f64) -> Span {
    Span {
        lo,
        lo_open: false,
        hi,
        hi_open: false,
    }
}

/// The ends of a cell of whole numbers or days.
pub(super) fn whole_ends(cell: &Cell) -> Option<(i64, i64)> {
    match *cell {
        Cell::Integer(lo, hi) => Some((lo, hi)),
        Cell::Date(lo, hi) => Some((i64::from(lo), i64::from(hi))),
        _ => None,
    }
}
