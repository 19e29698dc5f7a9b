//! Sums and averages of a number in every cell.
//!
//! Rows are gone through by what they say of the measure, a cell or a pool at a
//! time: the records that are expected of it are known of every cell before the
//! next begins, and each cell's total takes its sources in their order.

use crate::privacy::CancelFlag;
use crate::query::condition::{Condition, Part};
use crate::query::sum::{PoolSource, PoolValue, Total};
use crate::query::table::JudgementTable;

use super::asked::{Asked, Factor, Looks, ROWS_MAX, Says};
use super::shown::Shown;

/// Names a class in place of a row.
const CLASS: u32 = ROWS_MAX as u32;
/// Sources after which it is asked whether the answer is still wanted.
const SOURCES_TOGETHER: usize = 1024;

/// Sums attribute number `measure` over the records of every cell.
pub(super) fn totals(asked: &Asked<'_>, measure: usize, cancel: &CancelFlag) -> Vec<Total> {
    let summing = Summing::new(asked, measure);
    let (starts, rows) = summing.by_state();
    let classes = asked.class_of_row();
    let mut expected = Expected::new(asked.cells);
    let mut totals: Vec<Total> = Vec::new();
    totals.resize_with(asked.cells, Total::default);
    for state in 0..starts.len() - 1 {
        if state % SOURCES_TOGETHER == 0 {
            cancel.heed();
        }
        for &row in &rows[starts[state] as usize..starts[state + 1] as usize] {
            summing.add_expected(row, &classes, &mut expected);
        }
        summing.end_state(state, &mut expected, &mut totals);
    }
    totals
}

/// A measure while it is summed up.
struct Summing<'a> {
    asked: &'a Asked<'a>,
    measure: usize,
    /// The condition on the measure itself, if it is the same of all cells.
    own: Own<'a>,
    /// The other factors, the last first.
    others: Vec<usize>,
}

/// The condition on the measure itself.
enum Own<'a> {
    /// The same of all cells.
    One(Box<OwnCondition<'a>>),
    /// One of the values that are grouped by, by its stride.
    Each(&'a Shown, u32, Vec<Option<Part>>),
}

struct OwnCondition<'a> {
    condition: Condition,
    table: JudgementTable,
    pools: Option<PoolSource<'a>>,
}

/// Records that are expected of each cell, and the cells where any are.
struct Expected {
    records: Vec<f64>,
    cells: Vec<u32>,
    looks: Looks,
    /// The class whose looks these are.
    looks_of: Option<u32>,
    values: Vec<PoolValue>,
}

impl Expected {
    fn new(cells: usize) -> Self {
        Self {
            records: vec![0.0; cells],
            cells: Vec::new(),
            looks: Looks::default(),
            looks_of: None,
            values: Vec::new(),
        }
    }

    /// Adds records, more than 0.
    #[inline]
    fn add(records: &mut [f64], cells: &mut Vec<u32>, cell: usize, more: f64) {
        let known = &mut records[cell];
        if *known == 0.0 {
            cells.push(cell as u32);
        }
        *known += more;
    }
}

impl<'a> Summing<'a> {
    fn new(asked: &'a Asked<'a>, measure: usize) -> Self {
        let (attribute, domain) = (
            &asked.index.attributes[measure],
            &asked.index.domains[measure],
        );
        let mut factors = asked.factors.iter();
        let own = factors.find(|factor| factor.at == measure);
        let one = |condition: &Condition| {
            let mut table = JudgementTable::default();
            table.fill(condition, attribute, domain);
            let pools = PoolSource::new(condition, attribute, domain);
            Own::One(Box::new(OwnCondition {
                condition: condition.clone(),
                table,
                pools,
            }))
        };
        let own = match own.map(|own| &own.says) {
            None => one(&Condition::all(domain)),
            Some(Says::One(condition, ..)) => one(condition),
            Some(Says::Each(shown, stride)) => {
                let parts = shown.values.iter().map(|value| {
                    let only = Condition::only(value, domain);
                    only.part(value, domain)
                });
                Own::Each(shown, *stride, parts.collect())
            }
        };
        let others = (0..asked.factors.len()).rev();
        Self {
            asked,
            measure,
            own,
            others: others
                .filter(|&factor| asked.factors[factor].at != measure)
                .collect(),
        }
    }

    /// Rows by the state of the measure, in order, and where each state begins.
    /// A class whose rows have no say of their own is one entry.
    fn by_state(&self) -> (Vec<u32>, Vec<u32>) {
        let asked = self.asked;
        let index = asked.index;
        let measured = &index.columns[self.measure];
        let attribute = &index.attributes[self.measure];
        let pools = attribute
            .buckets
            .as_ref()
            .map_or(0, |buckets| buckets.pools());
        let states = attribute.cells.len() + pools;
        let is_whole = |class: usize| {
            let mut others = self.others.iter();
            !measured.is_by_row(class)
                && !others.any(|&factor| asked.factors[factor].column.is_by_row(class))
        };
        let mut starts = vec![0_u32; states + 1];
        let each = |note: &mut dyn FnMut(u32, usize)| {
            for class in 0..asked.classes() {
                let rows = asked.rows(class);
                if is_whole(class) {
                    note(class as u32 | CLASS, measured.state(class, rows.start));
                } else {
                    rows.for_each(|row| note(row as u32, measured.state(class, row)));
                }
            }
        };
        each(&mut |_, state| starts[state + 1] += 1);
        for state in 0..states {
            starts[state + 1] += starts[state];
        }
        let mut next = starts.clone();
        let mut rows = vec![0; starts[states] as usize];
        each(&mut |row, state| {
            rows[next[state] as usize] = row;
            next[state] += 1;
        });
        (starts, rows)
    }

    /// Adds what a row, or all rows of a class, give to the cells.
    fn add_expected(&self, row: u32, classes: &[u32], expected: &mut Expected) {
        let is_whole = row >= CLASS;
        let class = if is_whole {
            row - CLASS
        } else {
            classes[row as usize]
        };
        let Expected {
            records,
            cells,
            looks,
            looks_of,
            ..
        } = expected;
        if *looks_of != Some(class) {
            self.asked.shares_of(class as usize, &self.others, looks);
            *looks_of = Some(class);
        }
        if looks.found.is_empty() {
            return;
        }
        let mut add = |offset: u32, times: f64| {
            for look in &looks.found {
                for cell in look.cells(offset) {
                    Expected::add(records, cells, cell, look.share * times);
                }
            }
        };
        if is_whole {
            add(0, self.asked.rows(class as usize).len() as f64);
        } else {
            let of = (class as usize, row as usize);
            self.each_of_row(&self.others, of, (0, 1.0), &mut add);
        }
    }

    /// Goes through what a row may be in these factors: what that adds to the
    /// number of a cell, and the product of the shares.
    fn each_of_row(
        &self,
        factors: &[usize],
        (class, row): (usize, usize),
        (offset, share): (u32, f64),
        leaf: &mut impl FnMut(u32, f64),
    ) {
        let Some((&factor, rest)) = factors.split_first() else {
            leaf(offset, share);
            return;
        };
        let Factor { column, says, .. } = &self.asked.factors[factor];
        if !column.is_by_row(class) {
            self.each_of_row(rest, (class, row), (offset, share), leaf);
            return;
        }
        let state = column.of_row[row] as usize;
        match says {
            Says::One(_, table, _) => {
                let judgement = table.judgements[state];
                if judgement.share > 0.0 {
                    let next = (offset, share * judgement.share);
                    self.each_of_row(rest, (class, row), next, leaf);
                }
            }
            Says::Each(shown, stride) => {
                for span in shown.spans(state) {
                    for value in span.from..span.to {
                        let next = (offset + value * stride, share * span.share);
                        self.each_of_row(rest, (class, row), next, leaf);
                    }
                }
            }
        }
    }

    /// Adds the records that are expected of a state to the totals of the cells.
    fn end_state(&self, state: usize, expected: &mut Expected, totals: &mut [Total]) {
        let attribute = &self.asked.index.attributes[self.measure];
        let cell_of_state = attribute.cells.get(state);
        let Expected {
            records,
            cells,
            values,
            ..
        } = expected;
        let mut weights = cells
            .drain(..)
            .map(|cell| (cell as usize, std::mem::take(&mut records[cell as usize])))
            .filter(|&(_, weight)| weight > 0.0);
        match (&self.own, cell_of_state) {
            (Own::One(own), Some(cell)) => {
                let share = own.table.judgements[state].share;
                let part = own
                    .condition
                    .part(cell, &self.asked.index.domains[self.measure]);
                for (cell, weight) in weights {
                    let records = weight * share;
                    if let (true, Some(part)) = (records > 0.0, part) {
                        totals[cell].add_cell(records, part);
                    }
                }
            }
            (Own::One(own), None) => {
                let pool = state - attribute.cells.len();
                let source = own.pools.as_ref().zip(weights.next());
                if let Some((pools, first)) = source {
                    let (share, moment) = pools.gather(pool, values);
                    for (cell, weight) in std::iter::once(first).chain(weights) {
                        totals[cell].add_pool(weight * share, weight * moment, values);
                    }
                }
            }
            (Own::Each(shown, stride, parts), Some(_)) => {
                for (first, weight) in weights {
                    for span in shown.spans(state) {
                        for value in span.from..span.to {
                            let records = weight * span.share;
                            let cell = first + (value * stride) as usize;
                            if let (true, Some(part)) = (records > 0.0, parts[value as usize]) {
                                totals[cell].add_cell(records, part);
                            }
                        }
                    }
                }
            }
            (Own::Each(shown, stride, parts), None) => {
                let pool = state - attribute.cells.len();
                let Some(buckets) = &attribute.buckets else {
                    return;
                };
                let weights: Vec<(usize, f64)> = weights.collect();
                for span in shown.spans(state) {
                    let value = span.from;
                    let Some(part) = parts[value as usize] else {
                        continue;
                    };
                    let source = PoolSource::of_value(buckets, &shown.value_of, (value, part.min));
                    let (share, moment) = source.gather(pool, values);
                    for &(first, weight) in &weights {
                        let cell = first + (value * stride) as usize;
                        totals[cell].add_pool(weight * share, weight * moment, values);
                    }
                }
            }
        }
    }
}
