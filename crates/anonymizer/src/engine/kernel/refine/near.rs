//! Which rows of a region are near each other.
//!
//! Rows are put in lexicographic order several times, each time with the
//! attributes in another random order; rows a few places apart are compared,
//! and each keeps those with whom it loses least.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha12Rng;

use super::measure::Measure;

/// Lexicographic orders that are tried.
const ORDERS: usize = 6;
/// Places to one side in which rows are compared.
const PLACES: usize = 6;
/// Near rows that each row keeps.
pub(super) const KEPT: usize = 16;

/// Near rows of each row, nearest first.
pub(super) struct Near {
    bounds: Vec<u32>,
    rows: Vec<u16>,
}

/// The nearest rows found so far, nearest first.
#[derive(Clone, Copy, Default)]
struct Nearest {
    losses: [f32; KEPT],
    rows: [u16; KEPT],
    count: usize,
}

impl Nearest {
    fn offer(&mut self, loss: f32, row: u16) {
        let is_nearer = |at: usize| (loss, row) < (self.losses[at], self.rows[at]);
        if self.count == KEPT && !is_nearer(KEPT - 1) || self.rows[..self.count].contains(&row) {
            return;
        }
        let mut at = self.count.min(KEPT - 1);
        self.count = (self.count + 1).min(KEPT);
        while at > 0 && (loss, row) < (self.losses[at - 1], self.rows[at - 1]) {
            self.losses[at] = self.losses[at - 1];
            self.rows[at] = self.rows[at - 1];
            at -= 1;
        }
        self.losses[at] = loss;
        self.rows[at] = row;
    }
}

impl Near {
    /// Compares the `count` rows of a region with `columns` attributes.
    pub fn find<const CELLS: usize, const WORDS: usize>(
        measure: &Measure<CELLS, WORDS>,
        count: usize,
        columns: usize,
        random: &mut ChaCha12Rng,
    ) -> Self {
        let mut nearest = vec![Nearest::default(); count];
        let mut order: Vec<u16> = (0..count).map(|row| row as u16).collect();
        let mut attributes: Vec<usize> = (0..columns).collect();
        for _ in 0..ORDERS {
            attributes.shuffle(random);
            // Equal rows should not always meet the same others.
            order.shuffle(random);
            order.sort_by(|&one, &other| measure.compare(one, other, &attributes));
            for (at, &one) in order.iter().enumerate() {
                for &other in order.iter().skip(at + 1).take(PLACES) {
                    let loss = measure.pair(u32::from(one), u32::from(other));
                    nearest[one as usize].offer(loss, other);
                    nearest[other as usize].offer(loss, one);
                }
            }
        }
        let mut near = Self {
            bounds: vec![0],
            rows: Vec::with_capacity(count * KEPT),
        };
        for row in nearest {
            near.rows.extend(&row.rows[..row.count]);
            near.bounds.push(near.rows.len() as u32);
        }
        near
    }

    /// Rows near a row, nearest first.
    pub fn of(&self, row: u32) -> &[u16] {
        let bounds = [self.bounds[row as usize], self.bounds[row as usize + 1]];
        &self.rows[bounds[0] as usize..bounds[1] as usize]
    }

    /// One row near a row; `None` where it is alone.
    pub fn any(&self, row: u32, random: &mut ChaCha12Rng) -> Option<u32> {
        let near = self.of(row);
        (!near.is_empty()).then(|| u32::from(near[random.random_range(0..near.len())]))
    }
}
