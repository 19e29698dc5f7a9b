//! How far a search goes.

use crate::engine::kernel::Effort;

use super::SEED_RECORDS;

/// Temperature that a search among values does not fall below, in losses of one
/// cell. Of 3,000 people of Adult (k = l = 5) whose group came again in runs on
/// tables that fit it, a cold search told values of 11 in 1,007, by up to 0.28
/// beyond chance (800 runs); this one of 3 in 544, by up to 0.04 (600 runs). It
/// loses 2.5 % more.
const LEAST_TEMPERATURE: f32 = 0.1;

/// How far each effort goes.
pub(super) struct Budget {
    /// Proposals a record.
    pub proposals: u64,
    /// Times that regions are drawn anew.
    pub rounds: u64,
    /// Temperature at the start, in losses of one cell.
    pub temperature: f32,
    /// It falls no lower.
    pub least_temperature: f32,
    /// Records read by seeds, for each record.
    pub readings: usize,
    /// Regions that are searched before the others, which are left as they are
    /// if it does not pay; 0 where all are searched.
    pub regions_tried: usize,
}

impl Effort {
    /// Sets of so many of `records` need no cut: the search does better with
    /// them. 0 without a search, and where few enough records are searched
    /// together that cuts of all of them are worth a comparison.
    pub fn uncut(self, records: usize) -> usize {
        match self {
            Self::Fast | Self::Best if records > SEED_RECORDS => SEED_RECORDS,
            _ => 0,
        }
    }

    /// How far it goes; nowhere with none.
    pub(super) fn budget(self) -> Option<Budget> {
        match self {
            Self::None => None,
            Self::Fast => Some(Budget {
                proposals: 20,
                rounds: 1,
                temperature: 0.05,
                least_temperature: 0.0,
                readings: 6_000,
                regions_tried: 16,
            }),
            Self::Best => Some(Budget {
                proposals: 200,
                rounds: 3,
                temperature: 0.15,
                least_temperature: 0.0,
                readings: 20_000,
                regions_tried: 0,
            }),
        }
    }
}

impl Budget {
    /// Where it matters which values a group has, fewer changes are allowed:
    /// more are proposed, in more regions. And the search ends warm: were the last
    /// change made that pays, one that was not made would tell that values forbid
    /// it, and whose they are.
    pub fn among_kinds(self) -> Self {
        Self {
            temperature: self.temperature.max(LEAST_TEMPERATURE),
            least_temperature: LEAST_TEMPERATURE,
            proposals: self.proposals.max(30),
            rounds: self.rounds + 4,
            regions_tried: 0,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_search_of_many_records_leaves_sets_uncut() {
        let uncut =
            |effort: Effort| [SEED_RECORDS, SEED_RECORDS + 1].map(|size| effort.uncut(size));
        assert_eq!(uncut(Effort::None), [0, 0]);
        assert_eq!(uncut(Effort::Fast), [0, SEED_RECORDS]);
        assert_eq!(uncut(Effort::Best), [0, SEED_RECORDS]);
    }
}
