//! A condition on some records, asked of positions among fewer of them.

use super::mondrian::PartCondition;

/// A condition for the rows of a set, which it numbers otherwise.
pub struct Among<'a, C> {
    /// The condition.
    pub condition: &'a C,
    /// What the condition calls each row of the set.
    pub position: &'a [u32],
}

impl<C: PartCondition> PartCondition for Among<'_, C> {
    type Buffers = (C::Buffers, Vec<u32>);

    fn buffers(&self) -> Self::Buffers {
        (self.condition.buffers(), Vec::new())
    }

    fn least(&self) -> usize {
        self.condition.least()
    }

    fn enough(&self) -> usize {
        self.condition.enough()
    }

    fn tells_rows_apart(&self) -> bool {
        self.condition.tells_rows_apart()
    }

    fn kind(&self, row: u32) -> Option<u32> {
        self.condition.kind(self.position[row as usize])
    }

    fn holds(&self, rows: &[u32], (buffers, known): &mut Self::Buffers) -> bool {
        if !self.tells_rows_apart() {
            return self.condition.holds(rows, buffers);
        }
        known.clear();
        known.extend(rows.iter().map(|&row| self.position[row as usize]));
        self.condition.holds(known, buffers)
    }
}
