//! Groups that look alike are one, and keep each member's own terms (*ours*).
//!
//! Relaxed splits, and cuts below one node of a hierarchy, leave groups with
//! the same published quasi-identifiers, which an adversary cannot tell apart.
//! They become one group; what the job asks of groups holds for their union.
//!
//! The l of one group's member may not hold over the values of the other. Such
//! a union is joined with a near group that makes it hold, the one that adds
//! least loss, until all hold: everyone together does.

use rustc_hash::FxHashMap;

use crate::engine::kernel::{Condition, Covers, Present, Scale};
use crate::microdata::CodedColumn;

use super::conditions::{Conditions, Counts};

/// Nearest groups that are tried before the nearest is taken as it is.
const TRIED_MAX: usize = 64;
/// Places in the order of the partition, to either side, in which a group is
/// looked for: neighbours there were parted by few cuts.
const REACH: usize = 1024;

/// Records that look the same.
struct Class {
    /// Empty once it was joined with another.
    records: Vec<u32>,
    look: Vec<u32>,
    lowest: Vec<u32>,
    highest: Vec<u32>,
}

/// Classes by their looks.
struct Looks<'a> {
    columns: Vec<&'a CodedColumn>,
    scales: Vec<Scale>,
    covers: Vec<Covers<'a>>,
    classes: Vec<Class>,
    at: FxHashMap<Vec<u32>, usize>,
    conditions: &'a Conditions,
    counts: Counts,
    /// Position among those present of each record.
    position: Vec<u32>,
}

/// The groups with those that look alike joined, in order of the first.
pub(super) fn joined(
    present: &Present<'_>,
    conditions: &Conditions,
    groups: Vec<Vec<u32>>,
) -> Vec<Vec<u32>> {
    let columns = present.quasi_columns();
    let mut position = vec![0; present.table.records()];
    for (at, &record) in (0..).zip(&present.records) {
        position[record as usize] = at;
    }
    let covers = columns.iter().map(|column| Covers::new(&column.domain));
    let mut looks = Looks {
        covers: covers.collect(),
        scales: present.quasi_scales(),
        columns: columns.clone(),
        classes: Vec::with_capacity(groups.len()),
        at: FxHashMap::default(),
        conditions,
        counts: conditions.buffers(),
        position,
    };
    for group in groups {
        looks.insert(group, None);
    }
    let mut open: Vec<usize> = (0..looks.classes.len()).collect();
    open.retain(|&at| !looks.holds(&[at]));
    while let Some(at) = open.pop() {
        if !looks.classes[at].records.is_empty() && !looks.holds(&[at]) {
            open.extend(looks.join_with_near(at));
        }
    }
    let classes = looks.classes.into_iter().map(|class| class.records);
    classes.filter(|records| !records.is_empty()).collect()
}

impl Looks<'_> {
    /// Adds records to the class that looks like them, or as a class of their
    /// own at an empty place, if one is given; where they are.
    fn insert(&mut self, records: Vec<u32>, place: Option<usize>) -> usize {
        let columns = self.columns.iter().zip(&mut self.covers);
        let look = columns.map(|(column, covers)| covers.cover(column, &records));
        let look: Vec<u32> = look.collect();
        if let Some(&at) = self.at.get(&look) {
            self.classes[at].records.extend(records);
            return at;
        }
        let at = place.unwrap_or(self.classes.len());
        let ends = |column: &&CodedColumn| {
            let codes = records.iter().map(|&record| column.codes[record as usize]);
            codes.fold((u32::MAX, 0), |(low, high), code| {
                (code.min(low), code.max(high))
            })
        };
        let (lowest, highest) = self.columns.iter().map(ends).unzip();
        self.at.insert(look.clone(), at);
        let class = Class {
            records,
            look,
            lowest,
            highest,
        };
        match self.classes.get_mut(at) {
            Some(place) => *place = class,
            None => self.classes.push(class),
        }
        at
    }

    /// Whether classes would hold as one.
    fn holds(&mut self, classes: &[usize]) -> bool {
        let records = classes.iter().flat_map(|&at| &self.classes[at].records);
        let rows = records.map(|&record| self.position[record as usize]);
        let rows: Vec<u32> = rows.collect();
        self.conditions.holds(&rows, &mut self.counts)
    }

    /// Joins a class with the nearest one that makes it hold, or the nearest;
    /// where they are. `None` if there is no other.
    fn join_with_near(&mut self, at: usize) -> Option<usize> {
        let growths = self.near(at).into_iter();
        let mut nearest: Vec<(f64, usize)> = growths
            .map(|other| (self.growth(at, other), other))
            .collect();
        nearest.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        let (_, first) = *nearest.first()?;
        let tried = nearest.iter().take(TRIED_MAX);
        let tried: Vec<usize> = tried.map(|&(_, other)| other).collect();
        let found = tried.into_iter().find(|&other| self.holds(&[at, other]));
        let mut records = self.take(at);
        records.extend(self.take(found.unwrap_or(first)));
        Some(self.insert(records, Some(at)))
    }

    /// Other classes within reach; all of them where none is.
    fn near(&self, at: usize) -> Vec<usize> {
        let is_other = |other: &usize| *other != at && !self.classes[*other].records.is_empty();
        let last = self.classes.len().min(at + REACH);
        let near: Vec<usize> = (at.saturating_sub(REACH)..last).filter(is_other).collect();
        match near.is_empty() {
            true => (0..self.classes.len()).filter(is_other).collect(),
            false => near,
        }
    }

    fn take(&mut self, at: usize) -> Vec<u32> {
        let class = &mut self.classes[at];
        self.at.remove(&class.look);
        std::mem::take(&mut class.records)
    }

    /// What joining two classes adds to the loss of their records.
    fn growth(&self, one: usize, other: usize) -> f64 {
        let (one, other) = (&self.classes[one], &self.classes[other]);
        let sizes = [one.records.len() as f64, other.records.len() as f64];
        let columns = self.scales.iter().enumerate();
        let growth = columns.map(|(column, scale)| {
            let own = |class: &Class| {
                f64::from(scale.interval(class.lowest[column], class.highest[column]))
            };
            let lowest = one.lowest[column].min(other.lowest[column]);
            let highest = one.highest[column].max(other.highest[column]);
            let both = f64::from(scale.interval(lowest, highest));
            both * (sizes[0] + sizes[1]) - own(one) * sizes[0] - own(other) * sizes[1]
        });
        growth.sum()
    }
}
