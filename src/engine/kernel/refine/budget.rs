//! How far a search goes.

use crate::engine::kernel::Effort;

use super::SEED_RECORDS;

/// Records that are searched in full; of more, `fast` searches as much together.
const FULL_RECORDS: u64 = 1 << 18;
/// Proposals of `fast` for each record, and for each of very many.
const PROPOSALS: u64 = 20;
const PROPOSALS_MIN: u64 = 4;

/// How far each effort goes.
pub(super) struct Budget {
    /// Proposals a record.
    pub proposals: u64,
    /// Times that regions are drawn anew.
    pub rounds: u64,
    /// Temperature at the start, in losses of one cell.
    pub temperature: f32,
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

    /// How far it goes with so many records; nowhere with none.
    pub(super) fn budget(self, records: usize) -> Option<Budget> {
        let full = PROPOSALS * FULL_RECORDS;
        match self {
            Self::None => None,
            Self::Fast => Some(Budget {
                proposals: (full / (records as u64).max(1)).clamp(PROPOSALS_MIN, PROPOSALS),
                rounds: 1,
                temperature: 0.05,
                readings: 6_000,
                regions_tried: 16,
            }),
            Self::Best => Some(Budget {
                proposals: 200,
                rounds: 3,
                temperature: 0.15,
                readings: 20_000,
                regions_tried: 0,
            }),
        }
    }
}

impl Budget {
    /// Lexicographic orders in which near rows are looked for: where they are
    /// asked for less often they are worth less.
    pub fn orders(&self) -> usize {
        match self.proposals {
            ..PROPOSALS => 3,
            _ => 6,
        }
    }

    /// Where it matters which values a group has, fewer changes are allowed:
    /// more are proposed, in more regions.
    pub fn among_kinds(self) -> Self {
        Self {
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
    fn fast_proposes_as_much_for_many_records_as_for_a_quarter_of_a_million() {
        let proposals = |effort: Effort, records: usize| {
            let budget = effort.budget(records).expect("there is a search");
            budget.proposals
        };
        let fast = [0, 30_000, 1 << 18, 1 << 19, 1 << 20, 1 << 30];
        let found = fast.map(|records| proposals(Effort::Fast, records));
        assert_eq!(found, [20, 20, 20, 10, 5, 4]);
        let orders = |records: usize| Effort::Fast.budget(records).map(|budget| budget.orders());
        assert_eq!([1 << 18, 1 << 19].map(orders), [Some(6), Some(3)]);
        assert_eq!(proposals(Effort::Best, 1 << 30), proposals(Effort::Best, 1));
    }

    #[test]
    fn only_a_search_of_many_records_leaves_sets_uncut() {
        let uncut =
            |effort: Effort| [SEED_RECORDS, SEED_RECORDS + 1].map(|size| effort.uncut(size));
        assert_eq!(uncut(Effort::None), [0, 0]);
        assert_eq!(uncut(Effort::Fast), [0, SEED_RECORDS]);
        assert_eq!(uncut(Effort::Best), [0, SEED_RECORDS]);
    }
}
