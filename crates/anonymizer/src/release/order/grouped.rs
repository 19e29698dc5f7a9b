//! Items by the number that they belong to.

use rayon::prelude::*;

/// Numbers whose items one task works on.
const NUMBERS_PER_TASK: usize = 256;

/// Items of each number, 0 included.
pub(super) struct Grouped<T> {
    starts: Vec<u32>,
    items: Vec<T>,
}

impl Grouped<u32> {
    /// The rows of each number, which is at most `largest`.
    pub fn of_rows(largest: usize, numbers: &[u64]) -> Self {
        if !numbers.is_sorted() {
            let rows = numbers.iter().zip(0_u32..);
            return Self::of(largest, rows.map(|(&number, row)| (number as usize, row)));
        }
        // Engines mostly write group by group.
        let mut starts = Vec::with_capacity(largest + 2);
        for (row, &number) in (0_u32..).zip(numbers) {
            while starts.len() <= number as usize {
                starts.push(row);
            }
        }
        starts.resize(largest + 2, numbers.len() as u32);
        Self {
            starts,
            items: (0..numbers.len() as u32).collect(),
        }
    }
}

impl<T: Copy + Default + Send + Sync> Grouped<T> {
    /// Groups items by their number, which is at most `largest`; those of one
    /// number keep their order.
    pub fn of(largest: usize, items: impl Iterator<Item = (usize, T)> + Clone) -> Self {
        let mut starts = vec![0_u32; largest + 2];
        let mut length = 0;
        for (number, _) in items.clone() {
            starts[number + 1] += 1;
            length += 1;
        }
        for number in 0..=largest {
            starts[number + 1] += starts[number];
        }
        let mut next = starts.clone();
        let mut grouped = vec![T::default(); length];
        for (number, item) in items {
            grouped[next[number] as usize] = item;
            next[number] += 1;
        }
        Self {
            starts,
            items: grouped,
        }
    }

    /// The items of a number.
    pub fn get(&self, number: u32) -> &[T] {
        let number = number as usize;
        &self.items[self.starts[number] as usize..self.starts[number + 1] as usize]
    }

    /// Items of all numbers.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Works on the items of each number by themselves.
    pub fn each_part(&mut self, work: impl Fn(&mut [T]) + Sync) {
        let numbers = self.starts.len() - 1;
        let mut rest = self.items.as_mut_slice();
        let mut tasks = Vec::with_capacity(numbers.div_ceil(NUMBERS_PER_TASK));
        for first in (0..numbers).step_by(NUMBERS_PER_TASK) {
            let last = (first + NUMBERS_PER_TASK).min(numbers);
            let starts = &self.starts[first..=last];
            let (own, after) = rest.split_at_mut((starts[last - first] - starts[0]) as usize);
            tasks.push((starts, own));
            rest = after;
        }
        tasks.into_par_iter().for_each(|(starts, mut items)| {
            for pair in starts.windows(2) {
                let (own, after) = items.split_at_mut((pair[1] - pair[0]) as usize);
                if own.len() > 1 {
                    work(own);
                }
                items = after;
            }
        });
    }
}
