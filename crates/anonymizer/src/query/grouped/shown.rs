//! Which values of a grouped attribute each of its states may be.
//!
//! The condition of one cell on a grouped attribute is that it has one exact
//! value. So a state's shares follow from what it shows: of an interval, a node
//! or a set every value it has is equally likely, of a pool as its buckets say.
//! What is told here is what `Condition::only` would judge, value by value.

use crate::microdata::AttributeType;
use crate::query::attribute::IndexedAttribute;
use crate::query::block::WEIGHT_MIN;
use crate::query::condition::whole_ends;
use crate::query::knowledge::PublicDomain;
use crate::query::places::CellPlaces;
use crate::query::table::PoolMatches;
use crate::release::{Buckets, Cell, Link};

/// No value that is grouped by.
const NONE: u32 = u32::MAX;

/// Values next to each other, each of which a state may be, and how likely.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) from: u32,
    pub(super) to: u32,
    /// Share of the state's possible values that each of these is.
    pub(super) share: f64,
    /// Whether it is all of them.
    pub(super) certain: bool,
}

impl Span {
    /// The share, kept from 0 and 1 where it is open.
    pub(super) fn weight(&self) -> f64 {
        if self.certain {
            return 1.0;
        }
        self.share.clamp(WEIGHT_MIN, 1.0 - f64::EPSILON)
    }
}

/// What the states of an attribute may be of the values that are grouped by.
#[derive(Debug)]
pub(super) struct Shown {
    /// The values.
    pub(super) values: Vec<Cell>,
    /// Cells of the attribute before the pools.
    pub(super) cells: usize,
    spans: Vec<Span>,
    /// Where the spans of each state begin; one more entry than states.
    starts: Vec<u32>,
    /// Of the spans of pools, behind those of cells.
    matches: Vec<PoolMatches>,
    /// Cells in all buckets, and for each value how many are it.
    pub(super) bucketized: (u64, Vec<u64>),
    /// Number of the value that each cell of the buckets is.
    pub(super) value_of: Vec<u32>,
}

/// The values that are grouped by as ascending positions: numbers, days,
/// leaves or ranks.
struct Places(Vec<i64>);

impl Places {
    fn new(values: &[Cell], domain: &PublicDomain) -> Option<Self> {
        let place = |value: &Cell| match value {
            Cell::Label(label) => match &domain.hierarchy {
                Some(tree) => Some(i64::from(tree.leaf(label)?.0)),
                None => Some(domain.rank(label)? as i64),
            },
            value => Some(whole_ends(value)?.0),
        };
        let places: Vec<i64> = values.iter().map(place).collect::<Option<_>>()?;
        places
            .is_sorted_by(|one, next| one < next)
            .then_some(Self(places))
    }

    /// The values from one position to another, both included.
    fn within(&self, lo: i64, hi: i64) -> (u32, u32) {
        let from = self.0.partition_point(|&place| place < lo);
        let to = self.0.partition_point(|&place| place <= hi);
        (from as u32, to.max(from) as u32)
    }

    /// The number of the value at a position.
    fn find(&self, place: i64) -> u32 {
        let found = self.0.binary_search(&place);
        found.map_or(NONE, |at| at as u32)
    }
}

impl Shown {
    /// What an attribute's states may be; `None` where a cell is laid out as no
    /// engine does.
    pub(super) fn of(
        attribute: &IndexedAttribute<'_>,
        domain: &PublicDomain,
        values: &[Cell],
    ) -> Option<Self> {
        let places = Places::new(values, domain)?;
        let mut shown = Self {
            values: values.to_vec(),
            cells: attribute.cells.len(),
            spans: Vec::new(),
            starts: vec![0],
            matches: Vec::new(),
            bucketized: (0, vec![0; values.len()]),
            value_of: Vec::new(),
        };
        // Of a cell that says nothing.
        let all = match (domain.kind, &domain.hierarchy, &domain.hull) {
            (AttributeType::Categorical, Some(tree), _) => tree.leaf_count() as i128,
            (AttributeType::Categorical, None, _) => domain.labels.len() as i128,
            (_, _, Some(hull)) => whole_ends(hull).map(length)?,
            _ => return None,
        };
        if all < 2 {
            // The only value there is: also who says nothing is certain.
            return None;
        }
        let nothing = (0, values.len() as u32, 1.0 / all as f64, false);
        match domain.kind {
            AttributeType::Categorical => {
                for place in domain.cells.shown() {
                    shown.category(place, &domain.cells.members, (&places, nothing))?;
                }
            }
            _ => (attribute.cells.iter()).for_each(|cell| shown.number(cell, (&places, nothing))),
        }
        if let Some(buckets) = &attribute.buckets {
            shown.value_of = value_of(buckets, domain, &places)?;
            shown.pools(buckets);
        }
        Some(shown)
    }

    /// What a state may be.
    #[inline]
    pub(super) fn spans(&self, state: usize) -> &[Span] {
        &self.spans[self.starts[state] as usize..self.starts[state + 1] as usize]
    }

    /// How many rows of a pool have the value of its span at a place.
    #[inline]
    pub(super) fn matches(&self, pool: usize, span: usize) -> PoolMatches {
        let of_cells = self.starts[self.cells] as usize;
        self.matches[self.starts[self.cells + pool] as usize - of_cells + span]
    }

    /// Whether every cell is one value or none of those that are grouped by:
    /// `Some(false)` where all values are open in some cell, `None` where some
    /// values are and others are not.
    pub(super) fn decides(&self) -> Option<bool> {
        let of_cells = &self.spans[..self.starts[self.cells] as usize];
        let open = || of_cells.iter().filter(|span| !span.certain);
        if open().next().is_none() {
            return Some(true);
        }
        let is_all = |span: &Span| span.from == 0 && span.to as usize == self.values.len();
        open().any(is_all).then_some(false)
    }

    fn push(&mut self, (from, to, share, certain): (u32, u32, f64, bool)) {
        if from < to {
            self.spans.push(Span {
                from,
                to,
                share,
                certain,
            });
        }
    }

    fn end(&mut self) {
        self.starts.push(self.spans.len() as u32);
    }

    fn number(&mut self, cell: &Cell, (places, nothing): (&Places, (u32, u32, f64, bool))) {
        let known = |ends: (i64, i64)| {
            let (from, to) = places.within(ends.0, ends.1);
            let of = length(ends);
            (from, to, 1.0 / of as f64, of == 1)
        };
        let span = match cell {
            Cell::OrMissing(interval) => whole_ends(interval).map(|ends| {
                let (from, to, share, _) = known(ends);
                (from, to, share / 2.0, false)
            }),
            cell if cell.is_missing() => Some((0, 0, 0.0, false)),
            cell => whole_ends(cell).map(known),
        };
        self.push(span.unwrap_or(nothing));
        self.end();
    }

    fn category(
        &mut self,
        place: CellPlaces,
        members: &[u32],
        (places, nothing): (&Places, (u32, u32, f64, bool)),
    ) -> Option<()> {
        match place {
            CellPlaces::Nothing => self.push(nothing),
            CellPlaces::Run(first, last) => {
                let (from, to) = places.within(i64::from(first), i64::from(last));
                let of = last - first + 1;
                self.push((from, to, 1.0 / f64::from(of), of == 1));
            }
            CellPlaces::Members { from, to, size } => {
                let mut members = members[from as usize..to as usize].to_vec();
                members.sort_unstable();
                if size == 0 || members.windows(2).any(|two| two[0] == two[1]) {
                    return None;
                }
                for member in members {
                    let (from, to) = places.within(i64::from(member), i64::from(member));
                    self.push((from, to, 1.0 / f64::from(size), size == 1));
                }
            }
        }
        self.end();
        Some(())
    }

    /// The values that each pool may be.
    fn pools(&mut self, buckets: &Buckets<'_>) {
        let mut found = Found::new(self.values.len());
        let contents = self.contents(buckets, &mut found);
        let content = |bucket: usize| &contents.0[contents.1[bucket]..contents.1[bucket + 1]];
        let size = |bucket: usize| buckets.sizes()[bucket];
        match buckets.link() {
            Link::Row(_) => {
                for bucket in 0..buckets.len() {
                    for &(value, matched) in content(bucket) {
                        let share = f64::from(matched) / f64::from(size(bucket));
                        let matches = PoolMatches {
                            size: size(bucket),
                            least: matched,
                            most: matched,
                        };
                        self.pool_value(value, share, matches);
                    }
                    self.end();
                }
            }
            Link::Group {
                starts,
                buckets: of_group,
                counts,
                ..
            } => {
                for run in starts.windows(2) {
                    let parts = run[0] as usize..run[1] as usize;
                    let parts = parts.map(|at| (of_group[at] as usize, counts[at]));
                    let (mut cells, mut least_of_all) = (0_u32, 0_u32);
                    for (bucket, part) in parts {
                        let unmatched = part.saturating_sub(size(bucket));
                        cells += part;
                        least_of_all += unmatched;
                        for &(value, matched) in content(bucket) {
                            let sum = found.at(value);
                            sum.most += part.min(matched);
                            sum.least += part.saturating_sub(size(bucket) - matched) - unmatched;
                            sum.expected +=
                                f64::from(matched) / f64::from(size(bucket)) * f64::from(part);
                        }
                    }
                    for (value, sum) in found.take() {
                        let matches = PoolMatches {
                            size: cells,
                            least: least_of_all + sum.least,
                            most: sum.most,
                        };
                        self.pool_value(value, sum.expected / f64::from(cells.max(1)), matches);
                    }
                    self.end();
                }
            }
        }
    }

    /// How many cells of each bucket are each of the values, and where the
    /// content of each bucket begins.
    fn contents(
        &mut self,
        buckets: &Buckets<'_>,
        found: &mut Found,
    ) -> (Vec<(u32, u32)>, Vec<usize>) {
        let (mut contents, mut starts) = (Vec::new(), vec![0]);
        for bucket in 0..buckets.len() {
            self.bucketized.0 += u64::from(buckets.sizes()[bucket]);
            for (cell, count) in buckets.coded_run(bucket) {
                let value = self.value_of[cell as usize];
                if value != NONE && count > 0 {
                    found.at(value).most += count;
                    self.bucketized.1[value as usize] += u64::from(count);
                }
            }
            contents.extend(found.take().map(|(value, sum)| (value, sum.most)));
            starts.push(contents.len());
        }
        (contents, starts)
    }

    fn pool_value(&mut self, value: u32, share: f64, matches: PoolMatches) {
        let certain = matches.least == matches.size;
        self.push((value, value + 1, share, certain));
        self.matches.push(matches);
    }
}

/// Sums by value, of the few that were found.
struct Found {
    sums: Vec<FoundSum>,
    values: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct FoundSum {
    is_found: bool,
    least: u32,
    most: u32,
    expected: f64,
}

impl Found {
    fn new(values: usize) -> Self {
        Self {
            sums: vec![FoundSum::default(); values],
            values: Vec::new(),
        }
    }

    fn at(&mut self, value: u32) -> &mut FoundSum {
        let sum = &mut self.sums[value as usize];
        if !sum.is_found {
            sum.is_found = true;
            self.values.push(value);
        }
        sum
    }

    fn take(&mut self) -> impl Iterator<Item = (u32, FoundSum)> {
        let sums = &mut self.sums;
        let found = self.values.drain(..);
        found.map(|value| (value, std::mem::take(&mut sums[value as usize])))
    }
}

/// Number of the value that each cell of an attribute's buckets is; `None` where
/// one is not exact.
fn value_of(buckets: &Buckets<'_>, domain: &PublicDomain, places: &Places) -> Option<Vec<u32>> {
    let mut value_of = vec![NONE; buckets.cells().len()];
    let shown: Vec<CellPlaces> = domain.values.shown().collect();
    for (cell, _) in (0..buckets.len()).flat_map(|bucket| buckets.coded_run(bucket)) {
        let at = cell as usize;
        value_of[at] = match domain.kind {
            AttributeType::Categorical => match shown[at] {
                CellPlaces::Run(first, last) if first == last => places.find(i64::from(first)),
                _ => return None,
            },
            _ if buckets.cells()[at].is_missing() => NONE,
            _ => match whole_ends(&buckets.cells()[at])? {
                (lo, hi) if lo == hi => places.find(lo),
                _ => return None,
            },
        };
    }
    Some(value_of)
}

/// Whole numbers from one to another.
fn length(ends: (i64, i64)) -> i128 {
    (i128::from(ends.1) - i128::from(ends.0) + 1).max(0)
}
