//! How far a search goes.

use crate::engine::kernel::Effort;

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
}

impl Effort {
    /// How far it goes; nowhere with none.
    pub(super) fn budget(self) -> Option<Budget> {
        match self {
            Self::None => None,
            Self::Fast => Some(Budget {
                proposals: 20,
                rounds: 1,
                temperature: 0.05,
                readings: 6_000,
            }),
            Self::Best => Some(Budget {
                proposals: 200,
                rounds: 3,
                temperature: 0.15,
                readings: 20_000,
            }),
        }
    }
}

impl Budget {
    /// Where it matters which values a group has, fewer changes are allowed:
    /// more are proposed, in more regions.
    pub fn among_kinds(self) -> Self {
        Self {
            proposals: self.proposals.max(30),
            rounds: self.rounds + 4,
            ..self
        }
    }
}
