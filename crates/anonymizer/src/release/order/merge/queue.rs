//! A merge of many runs, each of which is in order.

use std::cmp::Ordering;
use std::io;

/// Items in order, one at a time.
pub(super) trait Run {
    /// Goes on to the next item, at first to the first; false where there is none.
    fn advance(&mut self) -> io::Result<bool>;

    /// Compares the items at which two runs are.
    fn compare(&self, other: &Self) -> io::Result<Ordering>;
}

/// Gives the items of all runs in order, with the position of the run that is at the
/// item; of those that compare as equal the first run's first.
pub(super) fn merge<R: Run>(
    runs: &mut [R],
    take: &mut dyn FnMut(usize, &mut R) -> io::Result<()>,
) -> io::Result<()> {
    // A heap: no run is before the one at half its place.
    let mut heap = Vec::with_capacity(runs.len());
    for (at, run) in runs.iter_mut().enumerate() {
        if run.advance()? {
            heap.push(at);
        }
    }
    for place in (0..heap.len() / 2).rev() {
        sift(runs, &mut heap, place)?;
    }
    while let Some(&first) = heap.first() {
        take(first, &mut runs[first])?;
        if !runs[first].advance()? {
            heap.swap_remove(0);
        }
        sift(runs, &mut heap, 0)?;
    }
    Ok(())
}

/// Moves the run at a place of the heap down to where it belongs.
fn sift<R: Run>(runs: &[R], heap: &mut [usize], mut place: usize) -> io::Result<()> {
    loop {
        let mut least = place;
        for below in [2 * place + 1, 2 * place + 2] {
            if let Some(&run) = heap.get(below) {
                let other = heap[least];
                let order = runs[run].compare(&runs[other])?;
                if order.then(run.cmp(&other)).is_lt() {
                    least = below;
                }
            }
        }
        if least == place {
            return Ok(());
        }
        heap.swap(least, place);
        place = least;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Numbers(Vec<u32>, Option<u32>);

    impl Run for Numbers {
        fn advance(&mut self) -> io::Result<bool> {
            self.1 = self.0.pop();
            Ok(self.1.is_some())
        }

        fn compare(&self, other: &Self) -> io::Result<Ordering> {
            Ok(self.1.cmp(&other.1))
        }
    }

    #[test]
    fn runs_merge_to_one_order_and_the_first_run_is_first_of_equals() {
        let all: Vec<Vec<u32>> = vec![vec![1, 4, 4, 9], vec![], vec![0, 4], vec![2, 2, 3, 10, 11]];
        let runs = all.iter().map(|all| all.iter().rev().copied().collect());
        let mut runs: Vec<Numbers> = runs.map(|numbers| Numbers(numbers, None)).collect();
        let mut merged = Vec::new();
        let taken = merge(&mut runs, &mut |at, run| {
            merged.push((run.1.unwrap_or(u32::MAX), at));
            Ok(())
        });
        assert!(taken.is_ok());
        let all = (0..).zip(&all);
        let mut wanted: Vec<(u32, usize)> = all
            .flat_map(|(at, numbers)| numbers.iter().map(move |&number| (number, at)))
            .collect();
        wanted.sort_unstable();
        assert_eq!(merged, wanted);
    }
}
