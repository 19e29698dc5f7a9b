//! Sums and averages of a number.
//!
//! Rows are gathered by what they say of the measure: its cell, or the pool
//! that its value is in. Each such *source* then has x expected records. Its
//! lower sum is that of its ⌊x⌋ smallest satisfying values (its lower end,
//! ⌊x⌋ times), its upper that of its ⌈x⌉ largest (\[LGB\], aggregate queries);
//! with negative values whichever of the two counts is more extreme. For an
//! average x is not rounded: lower and upper are Σ sums / Σ x of the smallest
//! and largest x values (*ours*). Predicates on the measure itself narrow a
//! source's values instead of multiplying.

use crate::release::{Buckets, Link};

use super::answer::{Bounds, Estimate};
use super::attribute::IndexedAttribute;
use super::condition::{Condition, Part};
use super::index::{Conditions, QueryIndex};
use super::knowledge::PublicDomain;
use super::table::{JudgementTable, bucket_matches};

/// Rounding forgiven before a count goes up or down to a whole number.
const SLACK: f64 = 1e-9;

/// Sums over all sources.
#[derive(Debug, Default)]
pub(super) struct Total {
    records: f64,
    estimate: f64,
    /// With counts rounded down and up.
    rounded: (f64, f64),
    /// With counts as they are.
    exact: (f64, f64),
}

/// A value of a pool and how many of its cells may hold it.
#[derive(Clone, Copy, Debug)]
pub(super) struct PoolValue {
    pub(super) value: f64,
    pub(super) copies: f64,
}

impl QueryIndex<'_> {
    /// Sums attribute number `measure` over satisfying records.
    pub(super) fn total(&self, measure: usize, conditions: &Conditions) -> Total {
        let domain = &self.domains[measure];
        let own = conditions.iter().find(|(at, _)| *at == measure);
        let own = own.map_or_else(|| Condition::all(domain), |(_, own)| own.clone());
        let others: Conditions = conditions
            .iter()
            .filter(|(at, _)| *at != measure)
            .cloned()
            .collect();
        if let Some(sliced) = &self.sliced {
            return sliced.total(self, (measure, &own), &others);
        }
        let mut own_table = JudgementTable::default();
        own_table.fill(&own, &self.attributes[measure], domain);
        let expected = self.expected(measure, &own_table, &others);
        let mut total = Total::default();
        let cells = self.attributes[measure].cells.iter();
        for ((cell, &weight), judgement) in cells.zip(&expected).zip(&own_table.judgements) {
            let records = weight * judgement.share;
            if let (true, Some(part)) = (records > 0.0, own.part(cell, domain)) {
                total.add_cell(records, part);
            }
        }
        self.add_pools(measure, &own, &expected[own_table.cells..], &mut total);
        total
    }

    /// Records expected of each source, by state of the measure: Σ over rows of
    /// the shares of all conditions but the measure's own.
    ///
    /// What is the same on all rows of a class is asked once a class.
    fn expected(&self, measure: usize, own: &JudgementTable, others: &Conditions) -> Vec<f64> {
        let table = |(at, condition): &(usize, Condition)| {
            let mut table = JudgementTable::default();
            table.fill(condition, &self.attributes[*at], &self.domains[*at]);
            (*at, table)
        };
        let tables: Vec<(usize, JudgementTable)> = others.iter().map(table).collect();
        let mut by_state = vec![0.0; own.judgements.len()];
        let mut varying = Vec::with_capacity(tables.len());
        for class in 0..self.starts.len() - 1 {
            let rows = self.starts[class] as usize..self.starts[class + 1] as usize;
            let mut share = 1.0;
            varying.clear();
            // Values that are grouped by stand last, and leave the fewest classes.
            for (at, table) in tables.iter().rev() {
                if self.columns[*at].is_by_row(class) {
                    varying.push((*at, table));
                } else {
                    share *= table.judgements[self.columns[*at].state(class, rows.start)].share;
                }
                if share == 0.0 {
                    break;
                }
            }
            if share == 0.0 {
                continue;
            }
            let measured = &self.columns[measure];
            if varying.is_empty() && !measured.is_by_row(class) {
                by_state[measured.state(class, rows.start)] += share * rows.len() as f64;
                continue;
            }
            for row in rows {
                let of_row = |&(at, table): &(usize, &JudgementTable)| {
                    table.judgements[self.columns[at].state(class, row)].share
                };
                by_state[measured.state(class, row)] +=
                    share * varying.iter().map(of_row).product::<f64>();
            }
        }
        by_state
    }

    /// Adds what the pools of the measure give; `weights` has one entry each.
    fn add_pools(&self, measure: usize, own: &Condition, weights: &[f64], total: &mut Total) {
        let (attribute, domain) = (&self.attributes[measure], &self.domains[measure]);
        let Some(source) = PoolSource::new(own, attribute, domain) else {
            return;
        };
        let mut values: Vec<PoolValue> = Vec::new();
        for (pool, &weight) in weights.iter().enumerate() {
            if weight <= 0.0 {
                continue;
            }
            let (share, moment) = source.gather(pool, &mut values);
            total.add_pool(weight * share, weight * moment, &values);
        }
    }
}

/// The values that the pools of a measure give.
pub(super) struct PoolSource<'a> {
    buckets: &'a Buckets<'a>,
    satisfying: Satisfying<'a>,
}

/// Which values of buckets satisfy.
enum Satisfying<'a> {
    /// How many cells of each bucket do, and the value of each cell that does.
    Of(Vec<u32>, Vec<Option<f64>>),
    /// Those of one number, by the numbers of the cells; and the value.
    Only(&'a [u32], (u32, f64)),
}

impl<'a> PoolSource<'a> {
    /// The values that satisfy a condition; `None` without buckets.
    pub(super) fn new(
        own: &Condition,
        attribute: &'a IndexedAttribute<'a>,
        domain: &PublicDomain,
    ) -> Option<Self> {
        let buckets = attribute.buckets.as_ref()?;
        let matches = bucket_matches(own, buckets, domain);
        let values = buckets.cells().iter();
        let values = values.map(|cell| own.part(cell, domain).map(|part| part.min));
        Some(Self {
            satisfying: Satisfying::Of(matches, values.collect()),
            buckets,
        })
    }

    /// Those of one number: `numbers` has one for each cell of the buckets.
    pub(super) fn of_value(
        buckets: &'a Buckets<'a>,
        numbers: &'a [u32],
        value: (u32, f64),
    ) -> Self {
        Self {
            buckets,
            satisfying: Satisfying::Only(numbers, value),
        }
    }

    /// How many of a bucket's cells satisfy.
    fn matched(&self, bucket: usize) -> u32 {
        match &self.satisfying {
            Satisfying::Of(matches, _) => matches[bucket],
            Satisfying::Only(numbers, (number, _)) => {
                let run = self.buckets.coded_run(bucket);
                run.filter(|&(cell, _)| numbers[cell as usize] == *number)
                    .map(|(_, count)| count)
                    .sum()
            }
        }
    }

    /// The value of a cell of the buckets, if it satisfies.
    fn value(&self, cell: u32) -> Option<f64> {
        match &self.satisfying {
            Satisfying::Of(_, values) => values[cell as usize],
            Satisfying::Only(numbers, (number, value)) => {
                (numbers[cell as usize] == *number).then_some(*value)
            }
        }
    }

    /// Puts the satisfying values of a pool into `values`, ascending; the share of its rows
    /// that have one, and their sum a row.
    pub(super) fn gather(&self, pool: usize, values: &mut Vec<PoolValue>) -> (f64, f64) {
        let buckets = self.buckets;
        values.clear();
        let (mut share, mut moment) = (0.0, 0.0);
        // A bucket of the pool: `cells` of its own cells are the pool's,
        // which is `part` of the pool.
        let mut add = |bucket: usize, cells: u32, part: f64| {
            let size = f64::from(buckets.sizes()[bucket]);
            share += part * f64::from(self.matched(bucket)) / size;
            for (value, count) in buckets.coded_run(bucket) {
                if let Some(value) = self.value(value) {
                    moment += part * value * f64::from(count) / size;
                    let copies = f64::from(count.min(cells));
                    values.push(PoolValue { value, copies });
                }
            }
        };
        match buckets.link() {
            Link::Row(_) => add(pool, u32::MAX, 1.0),
            Link::Group {
                starts,
                buckets: of_group,
                counts,
                ..
            } => {
                let run = starts[pool] as usize..starts[pool + 1] as usize;
                let cells: f64 = counts[run.clone()].iter().map(|&n| f64::from(n)).sum();
                for at in run {
                    let part = f64::from(counts[at]) / cells;
                    add(of_group[at] as usize, counts[at], part);
                }
            }
        }
        ascending(values);
        (share, moment)
    }
}

impl Total {
    /// The sum.
    pub(super) fn sum(&self) -> Estimate {
        Estimate {
            estimate: Some(self.estimate),
            lower: Some(self.rounded.0.min(self.estimate)),
            upper: Some(self.rounded.1.max(self.estimate)),
            bounds: Bounds::Expected,
        }
    }

    /// The average.
    pub(super) fn average(&self) -> Estimate {
        let per_record = |sum: f64| (self.records > SLACK).then(|| sum / self.records);
        Estimate {
            estimate: per_record(self.estimate),
            lower: per_record(self.exact.0.min(self.estimate)),
            upper: per_record(self.exact.1.max(self.estimate)),
            bounds: Bounds::Expected,
        }
    }

    /// Adds records of one cell, of which this part satisfies.
    pub(super) fn add_cell(&mut self, records: f64, part: Part) {
        self.records += records;
        self.estimate += records * part.mean;
        self.exact.0 += records * part.min;
        self.exact.1 += records * part.max;
        let (fewest, most) = whole_around(records);
        self.rounded.0 += (fewest * part.min).min(most * part.min);
        self.rounded.1 += (fewest * part.max).max(most * part.max);
    }

    /// Adds records of one pool with these values, ascending; `estimate` is their
    /// sum.
    pub(super) fn add_pool(&mut self, records: f64, estimate: f64, values: &[PoolValue]) {
        self.records += records;
        self.estimate += estimate;
        let (fewest, most) = whole_around(records);
        let smallest = |records: f64| first(values.iter(), records);
        let largest = |records: f64| first(values.iter().rev(), records);
        self.exact.0 += smallest(records);
        self.exact.1 += largest(records);
        self.rounded.0 += smallest(fewest).min(smallest(most));
        self.rounded.1 += largest(fewest).max(largest(most));
    }
}

/// Puts values in ascending order.
pub(super) fn ascending(values: &mut [PoolValue]) {
    values.sort_by(|left, right| left.value.total_cmp(&right.value));
}

/// The sum of the first `records` values, the last one in part.
fn first<'a>(values: impl Iterator<Item = &'a PoolValue>, records: f64) -> f64 {
    let mut left = records;
    let mut sum = 0.0;
    for value in values {
        let taken = value.copies.min(left);
        sum += taken * value.value;
        left -= taken;
        if left <= 0.0 {
            break;
        }
    }
    sum
}

/// The whole numbers below and above an expected count.
fn whole_around(records: f64) -> (f64, f64) {
    let (below, above) = (records + SLACK, records - SLACK);
    // Of many groups few records are expected, and rounding calls a function.
    if above > 0.0 && below < 1.0 {
        return (0.0, 1.0);
    }
    (below.floor(), above.ceil().max(0.0))
}
