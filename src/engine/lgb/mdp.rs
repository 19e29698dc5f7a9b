//! Stage 3 by multi-dimensional partition (`[LGB]` Alg. 3, after Mondrian).
//!
//! Of a set's attributes take the one with the largest normalized range and
//! split at its lower median; accept if both parts have at least as many
//! records as their own K, else try the attribute with the next largest range.
//! No attribute left: the set is a group.

use rand::RngExt;

use crate::engine::context::RunContext;
use crate::engine::kernel::cut::{CutBuffers, lower_median_cut, partition_in_place};
use crate::engine::kernel::groups::KOfRows;
use crate::engine::kernel::{Place, Rows, Scale, Splitter};

use super::frame::stage;

/// Splits the rows of one subset.
pub(super) struct Partition<'a> {
    pub context: &'a RunContext<'a>,
    /// Codes of the subset's open attributes.
    pub rows: Rows,
    /// Scale of each of them.
    pub scales: Vec<Scale>,
    pub k: KOfRows,
}

/// Buffers that one task reuses from set to set.
pub(super) struct PartitionBuffers {
    lowest: Vec<u32>,
    highest: Vec<u32>,
    /// Attributes by normalized range.
    order: Vec<(f32, u32, u32)>,
    cut: CutBuffers,
}

impl Partition<'_> {
    /// Attributes of the set with more than one value, widest first, ties in
    /// random order. Fills the extremes.
    fn widest_first(&self, rows: &[u32], place: Place, buffers: &mut PartitionBuffers) {
        let (lowest, highest) = (&mut buffers.lowest, &mut buffers.highest);
        self.rows.extremes(rows.iter().copied(), lowest, highest);
        buffers.order.clear();
        for (column, scale) in self.scales.iter().enumerate() {
            if lowest[column] < highest[column] {
                let range = scale.interval(lowest[column], highest[column]);
                buffers.order.push((range, 0, column as u32));
            }
        }
        let order = &mut buffers.order;
        order.sort_unstable_by(|one, other| other.0.total_cmp(&one.0).then(one.2.cmp(&other.2)));
        if order.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            let mut random = place.stream(self.context, stage::GROUPS);
            for entry in order.iter_mut() {
                entry.1 = random.random();
            }
            order.sort_unstable_by(|one, other| {
                let by_range = other.0.total_cmp(&one.0);
                by_range.then((one.1, one.2).cmp(&(other.1, other.2)))
            });
        }
    }

    /// Whether both sides of a cut would have their K.
    fn keeps_k(&self, rows: &[u32], column: usize, code: u32, left: usize) -> bool {
        match &self.k {
            KOfRows::Same(k) => left.min(rows.len() - left) >= *k as usize,
            KOfRows::Each(each) => {
                let (mut of_left, mut of_right) = (0, 0);
                for &row in rows {
                    let k = each[row as usize];
                    if self.rows.cell(row, column) <= code {
                        of_left = k.max(of_left);
                    } else {
                        of_right = k.max(of_right);
                    }
                }
                left >= of_left as usize && rows.len() - left >= of_right as usize
            }
        }
    }
}

impl Splitter for Partition<'_> {
    type Buffers = PartitionBuffers;

    fn buffers(&self) -> PartitionBuffers {
        PartitionBuffers {
            lowest: vec![0; self.rows.width()],
            highest: vec![0; self.rows.width()],
            order: Vec::with_capacity(self.rows.width()),
            cut: CutBuffers::default(),
        }
    }

    fn split(
        &self,
        rows: &mut [u32],
        place: Place,
        buffers: &mut PartitionBuffers,
    ) -> Option<usize> {
        if let KOfRows::Same(k) = self.k
            && rows.len() < 2 * k as usize
        {
            return None;
        }
        self.widest_first(rows, place, buffers);
        for at in 0..buffers.order.len() {
            let column = buffers.order[at].2 as usize;
            let codes = rows.iter().map(|&row| self.rows.cell(row, column));
            let (lowest, highest) = (buffers.lowest[column], buffers.highest[column]);
            let Some(cut) = lower_median_cut(codes, lowest, highest, &mut buffers.cut) else {
                continue;
            };
            if self.keeps_k(rows, column, cut.code, cut.left) {
                let left = partition_in_place(rows, |row| self.rows.cell(row, column) <= cut.code);
                debug_assert_eq!(left, cut.left);
                return Some(left);
            }
        }
        None
    }
}
