//! Groups of one equivalence class are one, and keep each member's own terms (*ours*).
//!
//! Relaxed splits, and cuts below one node of a hierarchy, leave groups with
//! the same published quasi-identifiers, which an adversary cannot tell apart.
//! They become one group; what the job asks of groups holds for their union.
//!
//! The l of one group's member may not hold over the values of the other. Where
//! those who ask something of values hold by themselves, they keep their cells,
//! and the others are joined with the near group with which they hold, so that
//! their cells differ. Any other such union is joined with a near group that
//! makes it hold, the one that adds least loss, until all hold: everyone
//! together does.

use std::cell::OnceCell;
use std::hash::{Hash, Hasher};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHasher};

use crate::engine::kernel::{Covers, Included, PartCondition, Scale};
use crate::microdata::CodedColumn;

use super::conditions::{Conditions, Counts};

/// Nearest groups that are tried before the nearest is taken as it is.
const TRIED_MAX: usize = 64;
/// Places in the order of the partition, to either side, in which a group is
/// looked for: neighbours there were parted by few cuts.
const REACH: usize = 1024;

/// Groups that one thread looks at, at least.
const GROUPS_MIN: usize = 256;

/// Records of one equivalence class.
struct Class {
    /// Empty once it was joined with another.
    records: Vec<u32>,
    cells: Vec<u32>,
    /// Lowest and highest code of each column, once they were asked for.
    ends: OnceCell<Vec<(u32, u32)>>,
}

/// The equivalence classes, by their cells.
struct EquivalenceClasses<'a> {
    columns: Vec<&'a CodedColumn>,
    scales: Vec<Scale>,
    covers: Vec<Covers<'a>>,
    classes: Vec<Class>,
    at: FxHashMap<Vec<u32>, usize>,
    conditions: &'a Conditions,
    counts: Counts,
    /// Position among those included of each record.
    position: Vec<u32>,
}

/// Lowest and highest code of each column of some records.
pub(super) fn ends(columns: &[&CodedColumn], records: &[u32]) -> Vec<(u32, u32)> {
    let ends = columns.iter().map(|column| {
        let codes = records.iter();
        let codes = codes.map(|&record| column.codes.at(record as usize));
        codes.fold((u32::MAX, 0), |(low, high), code| {
            (code.min(low), code.max(high))
        })
    });
    ends.collect()
}

/// The groups with those of one class joined, in order of the first.
pub(super) fn joined(
    included: &Included<'_>,
    conditions: &Conditions,
    groups: Vec<Vec<u32>>,
) -> Vec<Vec<u32>> {
    let columns = included.quasi_columns();
    let covered: Vec<(Covers<'_>, Vec<u32>)> = columns
        .par_iter()
        .map(|column| {
            let mut covers = Covers::new(&column.domain);
            let of_groups = groups.iter().map(|group| covers.cover(column, group));
            let of_groups = of_groups.collect();
            (covers, of_groups)
        })
        .collect();
    let (covers, of_groups): (Vec<Covers<'_>>, Vec<Vec<u32>>) = covered.into_iter().unzip();
    let first_of = first_alike(&of_groups, groups.len());
    let (groups, firsts) = united(groups, &first_of);
    if !conditions.tells_rows_apart() {
        // What holds for each holds for those that were joined.
        return groups;
    }
    let position = included.positions();
    let fails = |counts: &mut Counts, (at, group): (usize, &Vec<u32>)| {
        (!hold(conditions, &position, group.iter(), counts)).then_some(at)
    };
    let places = groups.par_iter().enumerate().with_min_len(GROUPS_MIN);
    let places = places.map_init(|| conditions.buffers(), fails);
    let mut open: Vec<usize> = places.flatten_iter().collect();
    if open.is_empty() {
        return groups;
    }
    let mut equivalence = EquivalenceClasses {
        covers,
        scales: included.quasi_scales(),
        columns: columns.clone(),
        classes: Vec::with_capacity(groups.len()),
        at: FxHashMap::default(),
        conditions,
        counts: conditions.buffers(),
        position,
    };
    for (group, &first) in groups.into_iter().zip(&firsts) {
        let cells = of_groups.iter().map(|column| column[first]).collect();
        equivalence.insert(group, cells, None);
    }
    while let Some(at) = open.pop() {
        if !equivalence.classes[at].records.is_empty() && !equivalence.holds(&[at]) {
            let part = equivalence.send_others_away(at);
            open.extend(part.or_else(|| equivalence.join_with_near(at)));
        }
    }
    let classes = equivalence.classes.into_iter().map(|class| class.records);
    classes.filter(|records| !records.is_empty()).collect()
}

/// The first group of the class of each group; a column of cells each has one
/// entry a group.
fn first_alike(columns: &[Vec<u32>], groups: usize) -> Vec<usize> {
    let hash = |at: usize| {
        let mut hasher = FxHasher::default();
        columns
            .iter()
            .for_each(|column| column[at].hash(&mut hasher));
        (hasher.finish(), at)
    };
    let mut order: Vec<(u64, usize)> = (0..groups).into_par_iter().map(hash).collect();
    order.par_sort_unstable();
    let is_alike = |one: usize, other: usize| {
        let mut columns = columns.iter();
        columns.all(|column| column[one] == column[other])
    };
    let mut first_of: Vec<usize> = (0..groups).collect();
    for run in order.chunk_by(|one, other| one.0 == other.0) {
        // EquivalenceClasses that share a hash by accident are told apart.
        let mut firsts: Vec<usize> = Vec::new();
        for &(_, at) in run {
            match firsts.iter().find(|&&first| is_alike(first, at)) {
                Some(&first) => first_of[at] = first,
                None => firsts.push(at),
            }
        }
    }
    first_of
}

/// Groups joined with the first of their class, in order of the first,
/// and which that was.
fn united(mut groups: Vec<Vec<u32>>, first_of: &[usize]) -> (Vec<Vec<u32>>, Vec<usize>) {
    for (at, &first) in first_of
        .iter()
        .enumerate()
        .filter(|&(at, &first)| first < at)
    {
        let records = std::mem::take(&mut groups[at]);
        groups[first].extend(records);
    }
    let firsts: Vec<usize> = (0..groups.len()).filter(|&at| first_of[at] == at).collect();
    groups.retain(|records| !records.is_empty());
    (groups, firsts)
}

/// Whether records hold as one group; `position` is [`Included::positions`].
fn hold<'r>(
    conditions: &Conditions,
    position: &[u32],
    records: impl Iterator<Item = &'r u32>,
    counts: &mut Counts,
) -> bool {
    let rows = records.map(|&record| position[record as usize]);
    conditions.holds(&rows.collect::<Vec<u32>>(), counts)
}

impl EquivalenceClasses<'_> {
    /// The cell of each column for records as one group.
    fn cells(&mut self, records: &[u32]) -> Vec<u32> {
        let columns = self.columns.iter().zip(&mut self.covers);
        let cells = columns.map(|(column, covers)| covers.cover(column, records));
        cells.collect()
    }

    /// Adds records to the class with these cells, or as a class of their
    /// own at an empty place, if one is given; where they are.
    fn insert(&mut self, records: Vec<u32>, cells: Vec<u32>, place: Option<usize>) -> usize {
        if let Some(&at) = self.at.get(&cells) {
            let class = &mut self.classes[at];
            class.records.extend(records);
            class.ends.take();
            return at;
        }
        let at = place.unwrap_or(self.classes.len());
        self.at.insert(cells.clone(), at);
        let class = Class {
            records,
            cells,
            ends: OnceCell::new(),
        };
        match self.classes.get_mut(at) {
            Some(place) => *place = class,
            None => self.classes.push(class),
        }
        at
    }

    /// Lowest and highest code of each column of a class.
    fn ends(&self, at: usize) -> &[(u32, u32)] {
        let class = &self.classes[at];
        class
            .ends
            .get_or_init(|| ends(&self.columns, &class.records))
    }

    /// Whether classes would hold as one.
    fn holds(&mut self, classes: &[usize]) -> bool {
        let records = classes.iter().flat_map(|&at| &self.classes[at].records);
        hold(self.conditions, &self.position, records, &mut self.counts)
    }

    /// Leaves those of a class who ask something of values by themselves, if
    /// they hold so, and joins the others with the nearest class with which
    /// they hold; where these are. Every time fewer classes are without anybody
    /// who asks.
    fn send_others_away(&mut self, at: usize) -> Option<usize> {
        let asks = |record: &u32| {
            let row = self.position[*record as usize];
            self.conditions.asks_of_values(row)
        };
        let all = self.classes[at].records.clone();
        let (asking, others): (Vec<u32>, Vec<u32>) = all.iter().partition(|&record| asks(record));
        let cells = self.cells(&asking);
        let keeps_cells = cells == self.classes[at].cells;
        if asking.is_empty() || others.is_empty() || !keeps_cells {
            return None;
        }
        self.set(at, asking);
        let away = self.classes.len();
        self.classes.push(Class {
            cells: Vec::new(),
            records: others,
            ends: OnceCell::new(),
        });
        let tried = self.nearest(away, self.near(at));
        let tried = tried
            .into_iter()
            .filter(|&other| other != at && other != away);
        let mut tried = tried.take(TRIED_MAX);
        let found = if self.holds(&[at]) {
            tried.find(|&other| self.holds(&[away, other]))
        } else {
            None
        };
        let mut records = self.classes.pop()?.records;
        let Some(other) = found else {
            self.set(at, all);
            return None;
        };
        records.extend(self.take(other));
        let cells = self.cells(&records);
        Some(self.insert(records, cells, Some(other)))
    }

    /// Gives a class other records of the same cells.
    fn set(&mut self, at: usize, records: Vec<u32>) {
        let class = &mut self.classes[at];
        class.records = records;
        class.ends.take();
    }

    /// Classes in order of what joining this one with them adds to the loss.
    fn nearest(&self, at: usize, others: Vec<usize>) -> Vec<usize> {
        let growths = others.into_iter();
        let mut nearest: Vec<(f64, usize)> = growths
            .map(|other| (self.growth(at, other), other))
            .collect();
        nearest.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        nearest.into_iter().map(|(_, other)| other).collect()
    }

    /// Joins a class with the nearest one that makes it hold, or the nearest;
    /// where they are. `None` if there is no other.
    fn join_with_near(&mut self, at: usize) -> Option<usize> {
        let nearest = self.nearest(at, self.near(at));
        let first = *nearest.first()?;
        let tried = nearest.into_iter().take(TRIED_MAX);
        let found = tried.into_iter().find(|&other| self.holds(&[at, other]));
        let mut records = self.take(at);
        records.extend(self.take(found.unwrap_or(first)));
        let cells = self.cells(&records);
        Some(self.insert(records, cells, Some(at)))
    }

    /// Other classes within reach; all of them where none is.
    fn near(&self, at: usize) -> Vec<usize> {
        let is_other = |other: &usize| *other != at && !self.classes[*other].records.is_empty();
        let last = self.classes.len().min(at + REACH);
        let near: Vec<usize> = (at.saturating_sub(REACH)..last).filter(is_other).collect();
        if near.is_empty() {
            (0..self.classes.len()).filter(is_other).collect()
        } else {
            near
        }
    }

    fn take(&mut self, at: usize) -> Vec<u32> {
        let class = &mut self.classes[at];
        self.at.remove(&class.cells);
        std::mem::take(&mut class.records)
    }

    /// What joining two classes adds to the loss of their records.
    fn growth(&self, one: usize, other: usize) -> f64 {
        let sizes = [one, other].map(|at| self.classes[at].records.len() as f64);
        let ends = self.ends(one).iter().zip(self.ends(other));
        let columns = self.scales.iter().zip(ends);
        let growth = columns.map(|(scale, (one, other))| {
            let loss = |lowest, highest| f64::from(scale.interval(lowest, highest));
            let both = loss(one.0.min(other.0), one.1.max(other.1));
            both * (sizes[0] + sizes[1])
                - loss(one.0, one.1) * sizes[0]
                - loss(other.0, other.1) * sizes[1]
        });
        growth.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_that_look_alike_are_one_in_order_of_the_first() {
        let columns = [vec![0, 1, 0, 0, 1], vec![5, 5, 5, 6, 5]];
        let first_of = first_alike(&columns, 5);
        assert_eq!(first_of, [0, 1, 0, 3, 1]);
        let groups = (0..5).map(|group| vec![2 * group, 2 * group + 1]);
        let (groups, firsts) = united(groups.collect(), &first_of);
        let expected: [&[u32]; 3] = [&[0, 1, 4, 5], &[2, 3, 8, 9], &[6, 7]];
        assert_eq!(groups, expected);
        assert_eq!(firsts, [0, 1, 3]);
    }

    #[test]
    fn no_two_of_many_different_looks_are_taken_for_one() {
        let column = |factor: u32| (0..40_000).map(move |at| at / 2 * factor % 20_000);
        let columns = [column(1).collect(), column(7).collect()];
        let expected: Vec<usize> = (0..40_000).map(|at| at / 2 * 2).collect();
        assert_eq!(first_alike(&columns, 40_000), expected);
        // Without a column all rows are one class.
        assert_eq!(first_alike(&[], 3), [0, 0, 0]);
    }
}
