//! Groups by splits at medians: Mondrian with K of the members of each part
//! as its condition.

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::kernel::groups::KOfRows;
use crate::engine::kernel::{Groups, Included, Mondrian, Partitioning, SplitChoice};

/// Gathers the included records into groups; `k` numbers them in their order,
/// `stage` names the random stream.
pub(super) fn groups(
    included: &Included<'_>,
    k: &KOfRows,
    (context, stage): (&RunContext<'_>, u32),
    step: (u32, u32),
) -> Result<Groups, EngineError> {
    let columns = included.quasi_columns();
    let scales = included.quasi_scales();
    let mondrian = Mondrian {
        context,
        stage,
        step,
        columns: &columns,
        scales: &scales,
        choice: SplitChoice::Widest,
        partitioning: Partitioning::Strict,
        uncut: 0,
    };
    mondrian.groups(&included.records, k)
}
