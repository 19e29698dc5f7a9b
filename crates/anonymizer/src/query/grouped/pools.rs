//! The bounds that bucketized attributes give to every cell's count.
//!
//! Of the rows of a pool it is known how many have each value, so a cell's
//! bounds are a sum over pools, of rows that count on the other attributes. Rows
//! are gone through pool by pool: whole numbers have no order to keep, and only
//! one pool's rows are counted at a time.

use crate::privacy::CancelFlag;
use crate::query::table::PoolMatches;

use super::asked::{Asked, Factor, Look, Looks, Says};

/// Pools after which it is asked whether the answer is still wanted.
const POOLS_TOGETHER: usize = 1024;

/// What one bucketized attribute says of a cell.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PoolBounds {
    /// Rows in any pool that are certain on every attribute.
    pub(super) certain: u64,
    /// Rows in any pool that are possible on every attribute.
    pub(super) possible: u64,
    /// How many of those count at least and at most.
    pub(super) least: u64,
    pub(super) most: u64,
}

/// What is known of a cell while pools are gone through.
#[derive(Clone, Copy, Debug, Default)]
struct CellPools {
    bounds: PoolBounds,
    /// Rows of all pools that are certain and possible on the other attributes.
    others: (u64, u64),
    /// The same of this pool.
    here: (u32, u32),
    /// How many rows of this pool satisfy.
    matches: PoolMatches,
}

/// Bounds of every cell by each bucketized attribute that is asked of.
pub(super) fn bounds(asked: &Asked<'_>, cancel: &CancelFlag) -> Vec<Vec<PoolBounds>> {
    let has_pools = |factor: &&usize| {
        let at = asked.factors[**factor].at;
        asked.index.attributes[at].buckets.is_some()
    };
    let bucketized: Vec<usize> = asked
        .varying
        .iter()
        .copied()
        .filter(|factor| has_pools(&factor))
        .collect();
    if bucketized.is_empty() || asked.is_decided {
        return Vec::new();
    }
    let classes = asked.class_of_row();
    let bounds = bucketized.iter();
    bounds
        .map(|&factor| by_pool(asked, factor, &classes, cancel))
        .collect()
}

fn by_pool(
    asked: &Asked<'_>,
    factor: usize,
    classes: &[u32],
    cancel: &CancelFlag,
) -> Vec<PoolBounds> {
    let (starts, rows) = rows_of_pools(asked, factor);
    let mut cells = vec![CellPools::default(); asked.cells];
    let mut touched: Vec<u32> = Vec::new();
    let mut looks = Looks::default();
    let mut looks_of = None;
    for pool in 0..starts.len() - 1 {
        if pool % POOLS_TOGETHER == 0 {
            cancel.heed();
        }
        for &row in &rows[starts[pool] as usize..starts[pool + 1] as usize] {
            let class = classes[row as usize] as usize;
            if looks_of != Some(class) {
                asked.looks_of(class, &mut looks);
                looks_of = Some(class);
            }
            if looks.found.is_empty() {
                continue;
            }
            let mut leaf = |offset: u32, open: u32, own: (u32, PoolMatches)| {
                for look in &looks.found {
                    note(look, (offset, open, own), &mut cells, &mut touched);
                }
            };
            let walk = Walk {
                asked,
                factor,
                pool,
                row: row as usize,
                class,
            };
            walk.each(
                &asked.varying,
                (0, 0, (0, PoolMatches::default())),
                &mut leaf,
            );
        }
        for cell in touched.drain(..) {
            cells[cell as usize].end_pool();
        }
    }
    let numbered = cells.iter().enumerate();
    numbered
        .map(|(cell, pools)| pools.all(bucketized(asked, factor, cell)))
        .collect()
}

/// Notes a row that counts in the cells of a look; `open` conditions of rows are
/// not certain, `own` of them that of the pools.
#[inline]
fn note(
    look: &Look,
    (offset, open, (own, matches)): (u32, u32, (u32, PoolMatches)),
    cells: &mut [CellPools],
    touched: &mut Vec<u32>,
) {
    let open = open + u32::from(look.share != 1.0);
    for cell in look.cells(offset) {
        let pools = &mut cells[cell];
        if pools.here.1 == 0 {
            touched.push(cell as u32);
        }
        pools.here.0 += u32::from(open == own);
        pools.here.1 += 1;
        pools.matches = matches;
        pools.bounds.certain += u64::from(open == 0);
        pools.bounds.possible += 1;
    }
}

impl CellPools {
    fn end_pool(&mut self) {
        let (certain, possible) = std::mem::take(&mut self.here);
        let short = self.matches.size - self.matches.least;
        self.bounds.least += u64::from(certain.saturating_sub(short));
        self.bounds.most += u64::from(possible.min(self.matches.most));
        self.others.0 += u64::from(certain);
        self.others.1 += u64::from(possible);
    }

    /// The bounds with what is known of all buckets together: of these cells
    /// in them so many satisfy.
    fn all(&self, (cells, satisfying): (u64, u64)) -> PoolBounds {
        let (certain, possible) = self.others;
        PoolBounds {
            least: self
                .bounds
                .least
                .max(certain.saturating_sub(cells - satisfying)),
            most: self.bounds.most.min(possible.min(satisfying)),
            ..self.bounds
        }
    }
}

/// Cells in all buckets of a factor's attribute, and how many of them satisfy in
/// a cell of the answer.
fn bucketized(asked: &Asked<'_>, factor: usize, cell: usize) -> (u64, u64) {
    match &asked.factors[factor].says {
        Says::One(_, table, _) => table.bucketized,
        Says::Each(shown, stride) => {
            let value = cell / *stride as usize % shown.values.len();
            (shown.bucketized.0, shown.bucketized.1[value])
        }
    }
}

/// The rows of each pool of a factor's attribute, and where they begin.
fn rows_of_pools(asked: &Asked<'_>, factor: usize) -> (Vec<u32>, Vec<u32>) {
    let Factor { at, column, .. } = &asked.factors[factor];
    let attribute = &asked.index.attributes[*at];
    let pools = attribute
        .buckets
        .as_ref()
        .map_or(0, |buckets| buckets.pools());
    let cells = attribute.cells.len() as u32;
    let mut starts = vec![0_u32; pools + 1];
    // A row whose class says its cell has no state of its own.
    let pool_of = |&state: &u32| state.checked_sub(cells);
    let in_pool = |class: usize| column.is_by_row(class);
    let members = || {
        let classes = (0..asked.classes()).filter(|&class| in_pool(class));
        let rows = classes.flat_map(|class| asked.rows(class));
        rows.filter_map(|row| Some((row, pool_of(&column.of_row[row])?)))
    };
    members().for_each(|(_, pool)| starts[pool as usize + 1] += 1);
    for pool in 0..pools {
        starts[pool + 1] += starts[pool];
    }
    let mut next = starts.clone();
    let mut rows = vec![0; starts[pools] as usize];
    for (row, pool) in members() {
        let place = &mut next[pool as usize];
        rows[*place as usize] = row as u32;
        *place += 1;
    }
    (starts, rows)
}

/// A row of a pool while its cells are gone through.
struct Walk<'a> {
    asked: &'a Asked<'a>,
    /// The factor whose pools are counted, and the pool.
    factor: usize,
    pool: usize,
    row: usize,
    class: usize,
}

/// So far: what is added to the number of a cell, how many conditions are not
/// certain, and how many of those, with which matches, the pool's own.
type SoFar = (u32, u32, (u32, PoolMatches));

impl Walk<'_> {
    fn each(
        &self,
        varying: &[usize],
        (offset, open, own): SoFar,
        leaf: &mut impl FnMut(u32, u32, (u32, PoolMatches)),
    ) {
        let Some((&factor, rest)) = varying.split_first() else {
            leaf(offset, open, own);
            return;
        };
        let Factor { column, says, .. } = &self.asked.factors[factor];
        if !column.is_by_row(self.class) {
            self.each(rest, (offset, open, own), leaf);
            return;
        }
        let state = column.of_row[self.row] as usize;
        let is_own = factor == self.factor;
        match says {
            Says::One(_, table, _) => {
                let judgement = table.judgements[state];
                if judgement.possible {
                    let not_certain = u32::from(!judgement.certain);
                    let own = match table.pools.get(self.pool) {
                        Some(&matches) if is_own => (not_certain, matches),
                        _ => own,
                    };
                    self.each(rest, (offset, open + not_certain, own), leaf);
                }
            }
            Says::Each(shown, stride) => {
                for (place, span) in shown.spans(state).iter().enumerate() {
                    let not_certain = u32::from(!span.certain);
                    let own = if is_own {
                        (not_certain, shown.matches(self.pool, place))
                    } else {
                        own
                    };
                    for value in span.from..span.to {
                        let so_far = (offset + value * stride, open + not_certain, own);
                        self.each(rest, so_far, leaf);
                    }
                }
            }
        }
    }
}
