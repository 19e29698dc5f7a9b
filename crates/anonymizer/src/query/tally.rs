//! What a count and its bounds are made from.
//!
//! Sums over rows and pools, which add up over the portions of a release. The best
//! bounds do not: one portion may be bounded best by one bucketized attribute and
//! the next by another. So bounds are taken from the sums of the whole.

use super::answer::{Bounds, Estimate};
use super::block::RowBounds;
use super::table::JudgementTable;

/// A count with its bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Count {
    /// Expected number of records.
    pub estimate: f64,
    /// No fewer records satisfy.
    pub lower: u64,
    /// No more records satisfy.
    pub upper: u64,
    /// Rows that may satisfy.
    pub rows: u64,
    /// Classes with a row that may satisfy.
    pub groups_touched: u64,
}

impl Count {
    /// The count as an answer.
    pub fn answer(&self) -> Estimate {
        Estimate {
            estimate: Some(self.estimate),
            lower: Some(self.lower as f64),
            upper: Some(self.upper as f64),
            bounds: Bounds::Certain,
        }
    }
}

/// What is known of the rows of one attribute's pools.
#[derive(Debug, Default)]
pub(super) struct PoolTally {
    /// Per pool: rows certain, and rows possible, on the other attributes.
    pub(super) others: Vec<(u32, u32)>,
    /// Rows in any pool that are certain on every attribute.
    pub(super) certain: u64,
    /// Rows in any pool that are possible on every attribute.
    pub(super) possible: u64,
}

/// Sums of one query.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    rows: RowBounds,
    /// One for each condition.
    pools: Vec<PoolBounds>,
    /// The count of a sliced release, which has no such rows.
    sliced: Count,
}

/// What the pools of one condition's attribute bound.
#[derive(Clone, Copy, Debug, Default)]
struct PoolBounds {
    /// Rows that satisfy at least and at most, pool by pool.
    least: u64,
    most: u64,
    /// Rows certain and possible on the other attributes.
    others_certain: u64,
    others_possible: u64,
    /// Cells in all buckets, and how many of them satisfy.
    cells: u64,
    satisfying: u64,
    /// Rows in any pool that are certain, and possible, on every attribute.
    certain: u64,
    possible: u64,
}

impl Tally {
    pub(super) fn of(rows: RowBounds, tables: &[JudgementTable], pools: &[PoolTally]) -> Self {
        let pools = tables.iter().zip(pools);
        Self {
            rows,
            pools: pools
                .map(|(table, pools)| PoolBounds::of(table, pools))
                .collect(),
            sliced: Count::default(),
        }
    }

    /// The count of a sliced release.
    pub(super) fn of_sliced(sliced: Count) -> Self {
        Self {
            sliced,
            ..Self::default()
        }
    }

    /// Adds the sums of another portion for the same conditions.
    pub(super) fn add(&mut self, other: &Self) {
        self.rows.estimate += other.rows.estimate;
        self.rows.certain += other.rows.certain;
        self.rows.possible += other.rows.possible;
        self.rows.groups_touched += other.rows.groups_touched;
        self.pools.resize(
            other.pools.len().max(self.pools.len()),
            PoolBounds::default(),
        );
        for (all, more) in self.pools.iter_mut().zip(&other.pools) {
            all.add(more);
        }
        let (sliced, more) = (&mut self.sliced, &other.sliced);
        sliced.estimate += more.estimate;
        sliced.lower += more.lower;
        sliced.upper += more.upper;
        sliced.rows += more.rows;
        sliced.groups_touched += more.groups_touched;
    }

    /// The count, with the best bounds over all bucketized attributes of the query.
    pub(super) fn count(&self) -> Count {
        let (rows, sliced) = (self.rows, self.sliced);
        let (mut lower, mut upper) = (rows.certain, rows.possible);
        for pools in &self.pools {
            // All buckets together: their satisfying cells are known exactly even
            // where only groups are linked to buckets.
            let short = pools.cells - pools.satisfying;
            let least = pools.least.max(pools.others_certain.saturating_sub(short));
            let most = pools.most.min(pools.others_possible.min(pools.satisfying));
            lower = lower.max(rows.certain - pools.certain + least);
            upper = upper.min(rows.possible - pools.possible + most);
        }
        // Sums of shares round; the exact value lies between the bounds.
        let estimate = rows.estimate.clamp(lower as f64, upper.max(lower) as f64);
        Count {
            estimate: estimate + sliced.estimate,
            lower: lower + sliced.lower,
            upper: upper.max(lower) + sliced.upper,
            rows: rows.possible + sliced.rows,
            groups_touched: rows.groups_touched + sliced.groups_touched,
        }
    }
}

impl PoolBounds {
    fn of(table: &JudgementTable, pools: &PoolTally) -> Self {
        let (cells, satisfying) = table.bucketized;
        let mut bounds = Self {
            cells,
            satisfying,
            certain: pools.certain,
            possible: pools.possible,
            ..Self::default()
        };
        for (matches, others) in table.pools.iter().zip(&pools.others) {
            let short = matches.size - matches.least;
            bounds.least += u64::from(others.0.saturating_sub(short));
            bounds.most += u64::from(others.1.min(matches.most));
            bounds.others_certain += u64::from(others.0);
            bounds.others_possible += u64::from(others.1);
        }
        bounds
    }

    fn add(&mut self, other: &Self) {
        self.least += other.least;
        self.most += other.most;
        self.others_certain += other.others_certain;
        self.others_possible += other.others_possible;
        self.cells += other.cells;
        self.satisfying += other.satisfying;
        self.certain += other.certain;
        self.possible += other.possible;
    }
}
