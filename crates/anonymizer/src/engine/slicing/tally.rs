//! Values of a sensitive attribute beside each combination, for one set of
//! rows.

use super::maximal_share::MaximalShare;

/// A combination with its values: those at `from..to` of the tally.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub part: u32,
    from: u32,
    to: u32,
    pub maximal_share: MaximalShare,
}

/// Values beside each combination; reused from set to set.
#[derive(Debug, Default)]
pub(super) struct ValueRuns {
    keys: Vec<u64>,
    values: Vec<(u32, u32)>,
    runs: Vec<Run>,
}

impl ValueRuns {
    /// Counts the values of `rows` beside their parts.
    pub fn fill(&mut self, rows: &[u32], parts: &[u32], codes: &[u32]) {
        self.keys.clear();
        let key =
            |&row: &u32| u64::from(parts[row as usize]) << 32 | u64::from(codes[row as usize]);
        self.keys.extend(rows.iter().map(key));
        self.keys.sort_unstable();
        self.values.clear();
        self.runs.clear();
        for run in self.keys.chunk_by(|one, other| one >> 32 == other >> 32) {
            let from = self.values.len();
            for value in run.chunk_by(|one, other| one == other) {
                self.values.push((value[0] as u32, value.len() as u32));
            }
            let counts = self.values[from..].iter().map(|&(_, count)| count);
            self.runs.push(Run {
                part: (run[0] >> 32) as u32,
                from: from as u32,
                to: self.values.len() as u32,
                maximal_share: MaximalShare::of_counts(counts),
            });
        }
    }

    /// The combinations, ascending.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Values of a combination with their numbers, ascending.
    pub fn values(&self, run: &Run) -> &[(u32, u32)] {
        &self.values[run.from as usize..run.to as usize]
    }

    /// The combination `part`, if a row has it.
    pub fn find(&self, part: u32) -> Option<&Run> {
        let at = self.runs.binary_search_by_key(&part, |run| run.part).ok()?;
        Some(&self.runs[at])
    }

    /// How many rows with `part` have the value `code`.
    pub fn count(&self, part: u32, code: u32) -> u32 {
        let Some(run) = self.find(part) else {
            return 0;
        };
        let values = self.values(run);
        match values.binary_search_by_key(&code, |&(code, _)| code) {
            Ok(at) => values[at].1,
            Err(_) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_beside_each_combination() {
        let (parts, codes) = ([1, 0, 1, 1, 0], [7, 7, 2, 7, 3]);
        let mut tally = ValueRuns::default();
        tally.fill(&[0, 1, 2, 3], &parts, &codes);
        let found: Vec<_> = tally.runs().iter().map(|run| tally.values(run)).collect();
        assert_eq!(found, [&[(7, 1)][..], &[(2, 1), (7, 2)]]);
        assert_eq!(
            tally.find(1).unwrap().maximal_share,
            MaximalShare { most: 2, total: 3 }
        );
        assert_eq!(
            (tally.count(1, 7), tally.count(0, 3), tally.count(5, 1)),
            (2, 0, 0)
        );
    }
}
