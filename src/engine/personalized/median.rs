//! Groups by splits at medians: Mondrian with K of the members of each part
//! as its condition.

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::kernel::Present;
use crate::engine::kernel::mondrian::{Condition, Mondrian, Partitioning, SplitChoice};

use super::asked::Asked;

/// Gathers the records present into groups; `stage` names the random stream.
pub(super) fn groups(
    present: &Present<'_>,
    asked: &Asked<'_>,
    (context, stage): (&RunContext<'_>, u32),
    step: (u32, u32),
) -> Result<Vec<Vec<u32>>, EngineError> {
    let ks = present.records.iter().map(|&record| asked.of(record).k);
    let ks: Vec<u32> = ks.collect();
    let condition = StrictestK {
        least: ks.iter().copied().min().unwrap_or(1) as usize,
        ks,
    };
    let columns = present.quasi_columns();
    let scales = present.quasi_scales();
    let mondrian = Mondrian {
        context,
        stage,
        step,
        columns: &columns,
        scales: &scales,
        choice: SplitChoice::Widest,
        partitioning: Partitioning::Strict,
    };
    let groups = mondrian.groups(&present.records, &condition)?;
    Ok(groups.iter().map(<[u32]>::to_vec).collect())
}

/// As many records as the strictest of them asks for.
struct StrictestK {
    /// K of each record present, in their order.
    ks: Vec<u32>,
    /// The least of them.
    least: usize,
}

impl Condition for StrictestK {
    type Buffers = ();

    fn buffers(&self) {}

    fn least(&self) -> usize {
        self.least
    }

    fn holds(&self, rows: &[u32], (): &mut ()) -> bool {
        let strictest = rows.iter().map(|&row| self.ks[row as usize]).max();
        strictest.is_none_or(|k| rows.len() >= k as usize)
    }
}
