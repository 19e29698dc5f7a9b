//! What a query asks of every cell: its conditions, of which those on grouped
//! attributes differ from cell to cell, and what a class or a row says of the
//! cells that it overlaps.
//!
//! Cells are numbered with the last attribute's values next to each other: a
//! cell's number is the sum of its values, each times the stride of its
//! attribute.

use std::ops::Range;

use crate::query::columns::IndexedColumn;
use crate::query::condition::Condition;
use crate::query::filter::Admitted;
use crate::query::index::{Conditions, QueryIndex};
use crate::query::table::JudgementTable;
use crate::release::Cell;

use super::shown::{Shown, Span};

/// More conditions on classes than this are asked cell by cell: the product of
/// their shares needs care.
const LOOKS_MAX: usize = 15;
/// Rows have numbers below this: what is behind names a class.
pub(super) const ROWS_MAX: usize = 1 << 31;

/// The conditions of a query in order.
pub(super) struct Asked<'i> {
    pub(super) index: &'i QueryIndex<'i>,
    /// Number of cells.
    pub(super) cells: usize,
    pub(super) factors: Vec<Factor<'i>>,
    /// Factors that classes have a say in, in order of attributes.
    pub(super) looks: Vec<usize>,
    /// Factors that rows have a say in, in order.
    pub(super) varying: Vec<usize>,
    /// Whether every row decides every varying factor.
    pub(super) is_decided: bool,
}

/// One condition.
pub(super) struct Factor<'i> {
    /// Position of the attribute.
    pub(super) at: usize,
    pub(super) column: &'i IndexedColumn,
    pub(super) says: Says,
}

/// What states say of a condition.
pub(super) enum Says {
    /// The same of every cell; marks of the cells' ranks where each decides.
    One(Condition, JudgementTable, Option<Admitted>),
    /// Of each value that is grouped by, with the stride of the attribute.
    Each(Shown, u32),
}

/// Cells next to each other, or a stride apart, of which a class says the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    first: u32,
    count: u32,
    stride: u32,
    /// Product of the shares.
    pub(super) share: f64,
}

impl Look {
    /// The cells, moved by what rows add to their numbers.
    #[inline]
    pub(super) fn cells(&self, offset: u32) -> impl Iterator<Item = usize> + use<> {
        let (first, stride) = (self.first + offset, self.stride);
        (0..self.count).map(move |at| (first + at * stride) as usize)
    }
}

/// A grouped attribute while cells are gone through: the place of its factor,
/// its spans, and its stride.
type Open<'a> = (usize, &'a [Span], u32);

/// Memory that looks are made in.
#[derive(Default)]
pub(super) struct Looks {
    weights: Vec<f64>,
    pub(super) found: Vec<Look>,
}

impl<'i> Asked<'i> {
    /// `None` where it has to be asked cell by cell.
    pub(super) fn new(
        index: &'i QueryIndex<'_>,
        conditions: &Conditions,
        grouped: &[(usize, Vec<Cell>)],
    ) -> Option<Self> {
        if index.sliced.is_some() || index.pairs.are_kept() || index.rows() >= ROWS_MAX {
            return None;
        }
        let is_grouped = |at: usize| grouped.iter().position(|(other, _)| *other == at);
        let stride = |at: usize| {
            let behind = grouped[at + 1..].iter().map(|(_, values)| values.len());
            behind.product::<usize>() as u32
        };
        let each = |at: usize| {
            let (of, values) = &grouped[at];
            let shown = Shown::of(&index.attributes[*of], &index.domains[*of], values)?;
            Some(Says::Each(shown, stride(at)))
        };
        let mut factors = Vec::new();
        let mut push = |at: usize, says: Says| {
            let column = &index.columns[at];
            factors.push(Factor { at, column, says });
        };
        // Conditions that are there already keep their places.
        for (at, condition) in conditions {
            let says = match is_grouped(*at) {
                Some(position) => each(position)?,
                None => one(index, *at, condition),
            };
            push(*at, says);
        }
        for (position, (at, _)) in grouped.iter().enumerate() {
            if !conditions.iter().any(|(other, _)| other == at) {
                push(*at, each(position)?);
            }
        }
        let mut looks: Vec<usize> = (0..factors.len()).collect();
        looks.retain(|&factor| !factors[factor].column.is_of_rows_alone);
        looks.sort_unstable_by_key(|&factor| factors[factor].at);
        let mut varying: Vec<usize> = (0..factors.len()).collect();
        varying.retain(|&factor| !factors[factor].column.of_row.is_empty());
        let decided = varying.iter().map(|&factor| factors[factor].decides());
        let decided: Vec<bool> = decided.collect::<Option<_>>()?;
        (looks.len() <= LOOKS_MAX).then(|| Self {
            index,
            cells: grouped.iter().map(|(_, values)| values.len()).product(),
            factors,
            looks,
            varying,
            is_decided: decided.iter().all(|&decides| decides),
        })
    }

    /// Number of classes.
    pub(super) fn classes(&self) -> usize {
        self.index.starts.len() - 1
    }

    /// The rows of a class.
    #[inline]
    pub(super) fn rows(&self, class: usize) -> Range<usize> {
        self.index.starts[class] as usize..self.index.starts[class + 1] as usize
    }

    /// The class of each row.
    pub(super) fn class_of_row(&self) -> Vec<u32> {
        let mut classes = Vec::with_capacity(self.index.rows());
        for class in 0..self.classes() {
            classes.extend(std::iter::repeat_n(class as u32, self.rows(class).len()));
        }
        classes
    }

    /// The cells that may have rows of a class, as far as it says, with the
    /// product of its weights: 0 for none, 1 where all is certain.
    pub(super) fn looks_of(&self, class: usize, looks: &mut Looks) {
        looks.found.clear();
        looks.weights.clear();
        let mut open: [Open<'_>; LOOKS_MAX] = [(0, &[], 0); LOOKS_MAX];
        let mut opened = 0;
        for (place, &factor) in self.looks.iter().enumerate() {
            let Factor { column, says, .. } = &self.factors[factor];
            let weight = match says {
                Says::One(_, table, _) => table.weights[column.of_class.at(class) as usize],
                Says::Each(..) if column.is_by_row(class) => 1.0,
                Says::Each(shown, stride) => {
                    let spans = shown.spans(column.of_class.at(class) as usize);
                    open[opened] = (place, spans, *stride);
                    opened += 1;
                    1.0
                }
            };
            if weight == 0.0 {
                return;
            }
            looks.weights.push(weight);
        }
        expand(
            &open[..opened],
            &mut looks.weights,
            0,
            &mut looks.found,
            Span::weight,
        );
    }

    /// The same for some factors in this order with shares in place of weights;
    /// those that rows of the class have a say in are left out.
    pub(super) fn shares_of(&self, class: usize, factors: &[usize], looks: &mut Looks) {
        looks.found.clear();
        looks.weights.clear();
        let mut open = Vec::with_capacity(factors.len());
        for (place, &factor) in factors.iter().enumerate() {
            let Factor { column, says, .. } = &self.factors[factor];
            let state = column.of_class.at(class) as usize;
            let share = match says {
                _ if column.is_by_row(class) => 1.0,
                Says::One(_, table, _) => table.judgements[state].share,
                Says::Each(shown, stride) => {
                    open.push((place, shown.spans(state), *stride));
                    1.0
                }
            };
            if share == 0.0 {
                return;
            }
            looks.weights.push(share);
        }
        expand(&open, &mut looks.weights, 0, &mut looks.found, |span| {
            span.share
        });
    }
}

/// What the states of one condition say of all cells alike.
fn one(index: &QueryIndex<'_>, at: usize, condition: &Condition) -> Says {
    let mut table = JudgementTable::default();
    table.fill(condition, &index.attributes[at], &index.domains[at]);
    let exact = index.columns[at].exact.as_ref();
    let admitted = exact.and_then(|exact| Some(table.admitted(exact)?.1));
    Says::One(condition.clone(), table, admitted)
}

impl Factor<'_> {
    /// Whether every row decides it; `None` where rows decide it for some cells
    /// and not for others.
    fn decides(&self) -> Option<bool> {
        match &self.says {
            Says::One(_, _, admitted) => Some(admitted.is_some()),
            Says::Each(..) if self.column.exact.is_none() => Some(false),
            Says::Each(shown, _) => shown.decides(),
        }
    }
}

/// Goes through the cells that the open attributes overlap; `weights` are those
/// of all factors in order, of open ones filled in here.
fn expand(
    open: &[Open<'_>],
    weights: &mut [f64],
    first: u32,
    found: &mut Vec<Look>,
    weigh: impl Fn(&Span) -> f64 + Copy,
) {
    let Some((&(place, spans, stride), rest)) = open.split_first() else {
        let share = product(weights);
        found.push(Look {
            first,
            count: 1,
            stride: 1,
            share,
        });
        return;
    };
    for span in spans {
        weights[place] = weigh(span);
        if rest.is_empty() {
            found.push(Look {
                first: first + span.from * stride,
                count: span.to - span.from,
                stride,
                share: product(weights),
            });
            continue;
        }
        for value in span.from..span.to {
            expand(rest, weights, first + value * stride, found, weigh);
        }
    }
}

/// The product of weights in their order.
fn product(weights: &[f64]) -> f64 {
    weights.iter().fold(1.0, |share, weight| share * weight)
}
