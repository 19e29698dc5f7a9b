//! Groups as runs of the records in order of their quasi-identifiers.
//!
//! A group is filled until it has K of its members. Then the next record joins
//! if what it adds to the loss of this group is at most its share of the loss
//! of the group that would begin with it (*ours*: the paper's test compares a
//! change with a level). A record that would leave the group below its own K
//! begins the next one. A tail below K joins the groups before it.
//!
//! Records are sorted by the attribute with fewest values first (*ours*; the
//! paper leaves the order open): runs then agree on most attributes. Equal
//! records, and attributes with equally many values, are in random order.

use rand::seq::SliceRandom;
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::kernel::{BoxLayout, Cover, Groups, Included, Rows};
use crate::microdata::CodedColumn;

use super::sizes::Sizes;

/// Groups between two looks at the cancel flag.
const GROUPS_PER_CHECK: usize = 1024;

/// Gathers the included records into groups; `stage` names the random stream.
pub(super) fn groups(
    included: &Included<'_>,
    sizes: &Sizes,
    (context, stage): (&RunContext<'_>, u32),
) -> Result<Groups, EngineError> {
    let records = in_order(included, context, stage);
    let space = BoxLayout::new(&included.quasi_scales());
    let columns = included.quasi_columns();
    let rows = space.gather(&columns, &records);
    let mut runs = Runs {
        sizes,
        records: &records,
        rows: &rows,
        cover: Cover::new(&space),
        following: Cover::new(&space),
    };
    let mut groups: Vec<(usize, usize)> = Vec::new();
    let mut start = 0;
    while start < records.len() {
        if groups.len().is_multiple_of(GROUPS_PER_CHECK) {
            context.check()?;
        }
        match runs.filled(start) {
            Some(end) => {
                let end = runs.grown(start, end);
                groups.push((start, end));
                start = end;
            }
            None => {
                join_tail(&mut groups, start, &records, sizes);
                break;
            }
        }
    }
    let mut starts = vec![false; records.len()];
    for (start, _) in groups {
        starts[start] = true;
    }
    Ok(Groups::from_starts(records, &starts))
}

/// The records in order of their quasi-identifiers.
fn in_order(included: &Included<'_>, context: &RunContext<'_>, stage: u32) -> Vec<u32> {
    let mut random = context.stream(stage, 0);
    let mut columns = included.quasi_columns();
    columns.shuffle(&mut random);
    columns.sort_by_cached_key(|column| occurring(column, &included.records));
    let mut records = included.records.clone();
    records.shuffle(&mut random);
    let rows = Rows::gather(&columns, &records);
    let mut order: Vec<u32> = (0..records.len() as u32).collect();
    order.par_sort_by(|&one, &other| rows.row(one).cmp(rows.row(other)));
    let order = order.into_iter();
    order.map(|row| records[row as usize]).collect()
}

fn occurring(column: &CodedColumn, records: &[u32]) -> usize {
    let codes = records
        .iter()
        .map(|&record| column.codes.at(record as usize));
    codes.collect::<FxHashSet<u32>>().len()
}

/// The tail joins the groups before it until they have K of all.
fn join_tail(groups: &mut Vec<(usize, usize)>, mut start: usize, records: &[u32], sizes: &Sizes) {
    let end = records.len();
    while let Some((before, _)) = groups.pop() {
        start = before;
        if end - start >= sizes.k_of(&records[start..]) {
            break;
        }
    }
    groups.push((start, end));
}

struct Runs<'a> {
    sizes: &'a Sizes,
    records: &'a [u32],
    rows: &'a Rows,
    /// The box around the group that grows.
    cover: Cover<'a>,
    /// The box around the records behind it.
    following: Cover<'a>,
}

impl Runs<'_> {
    fn k(&self, at: usize) -> usize {
        self.sizes.k(self.records[at]) as usize
    }

    /// End of the shortest run from `start` that has K of its members; its box
    /// is in `cover`. `None` if too few records are left.
    fn filled(&mut self, start: usize) -> Option<usize> {
        self.cover.start(self.rows.row(start as u32));
        let mut k = self.k(start);
        let mut end = start + 1;
        while end - start < k {
            if end == self.records.len() {
                return None;
            }
            self.cover.include(self.rows.row(end as u32));
            k = k.max(self.k(end));
            end += 1;
        }
        Some(end)
    }

    /// End of the run once all that lose no more here than behind it joined.
    fn grown(&mut self, start: usize, mut end: usize) -> usize {
        while end < self.records.len() {
            let size = (end - start) as f32;
            if self.k(end) > end - start + 1 {
                break;
            }
            let row = self.rows.row(end as u32);
            let added = self.cover.loss() + self.cover.growth(row) * (size + 1.0);
            if !self.loses_as_much_behind(end, added) {
                break;
            }
            self.cover.include(self.rows.row(end as u32));
            end += 1;
        }
        end
    }

    /// Whether a record of the group that would begin at `start` loses at
    /// least `loss`, or there is no such group. Boxes only grow, so that few
    /// records are looked at where the answer is yes.
    fn loses_as_much_behind(&mut self, start: usize, loss: f32) -> bool {
        self.following.start(self.rows.row(start as u32));
        let mut k = self.k(start);
        let mut end = start + 1;
        while self.following.loss() < loss {
            if end - start >= k {
                return false;
            }
            if end == self.records.len() {
                return true;
            }
            self.following.include(self.rows.row(end as u32));
            k = k.max(self.k(end));
            end += 1;
        }
        true
    }
}
