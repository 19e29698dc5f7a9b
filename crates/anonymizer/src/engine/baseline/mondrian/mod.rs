//! `mondrian`: generalization by multi-dimensional partition.
//!
//! Groups of at least K records share generalized quasi-identifiers; sensitive
//! values are published as they are, and of the values of every group l-
//! diversity (distinct, entropy or recursive) and t-closeness may be asked.
//! README.md beside this file has the paper, the promise and the algorithm as
//! built.
//!
//! | step | file | result |
//! |---|---|---|
//! | before | kernel `keeping` | who stays in public groups, where a series keeps them |
//! | instead | `joining` | a release that joins public groups to larger ones |
//! | before | kernel `feasibility`, `diagnosis` | who is excluded, or why nothing can be published |
//! | 1 | kernel `companions` | who is treated as if they asked for something |
//! | 1 | `conditions`, `pools` | what every group must satisfy, who is partitioned together |
//! | 2 | kernel `mondrian` | groups |
//! | 3 | `equivalence` | groups that look alike joined, each member's own terms kept |
//! | 4 | kernel `microdata_table` | the table and its lineage |

mod conditions;
mod describe;
mod diagnosis;
mod equivalence;
mod joining;
mod params;
mod pools;

pub use params::{AttributeParams, DiversityKind, Params};

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::kernel::feasibility::exclude_unmet;
use crate::engine::kernel::{
    Among, Included, Mondrian, PartCondition, Refinement, Scale, Staying, companions, keeping,
    microdata_table,
};
use crate::microdata::{CodedColumn, RecordIndex, Table};
use crate::privacy::Requirements;
use crate::release::Release;

use conditions::Conditions;
use pools::pools;

/// Random streams, one number a stage.
mod stage {
    /// Ties between attributes and records of a split; one stream a pool. The
    /// outline of a table that is published in parts draws by the first: it is the
    /// top of this tree.
    pub const PARTITION: u32 = crate::engine::kernel::outline::STAGE;
    /// Search for groups with less loss; one stream a pool.
    pub const REFINE: u32 = 8;
}

/// Number of steps that progress counts.
const STEPS: u32 = 4;

/// Publishes a table by Mondrian.
///
/// `requirements` join the policy of [`Params::policy`] with preferences.
/// Table: `microdata`. Runs in rayon's current pool; the result does not
/// depend on the number of threads.
///
/// Errors: `InvalidParameter` for semi-sensitive attributes, many records a
/// subject or parameters that do not fit; `Infeasible` with the strongest
/// parameter that would hold; `Cancelled`.
pub fn run(
    table: &Table,
    requirements: &Requirements,
    params: &Params,
    context: &RunContext<'_>,
) -> Result<Release, EngineError> {
    params.policy(table.schema())?;
    if let Some(kept) = requirements.kept_groups().filter(|kept| kept.joins) {
        return joining::run((table, requirements, kept), params, context);
    }
    let report = |step, label| context.progress.report(step, STEPS, label, 0.0);
    report(1, "gather");
    let mut included = Included::gather(table, requirements)?;
    let staying = staying(&mut included, context)?;
    let excluded = exclude_unmet(&mut included, context);
    if let Some(refusal) = diagnosis::infeasible(&included, excluded.len(), params.max_excluded) {
        if staying
            .as_ref()
            .is_none_or(|staying| staying.groups.is_empty())
        {
            return Err(refusal.into());
        }
        // Those who are new wait for others.
        included.records.clear();
    }
    report(2, "partition");
    let mut groups = if included.records.is_empty() {
        Vec::new()
    } else {
        new_groups(&included, params, context)?
    };
    if let Some(staying) = &staying {
        // Those wait who could be taken for members of a public group.
        for at in staying.look_alike(&included, &groups).into_iter().rev() {
            groups.remove(at);
        }
    }
    report(4, "publish");
    let groups: Vec<&[u32]> = groups.iter().map(Vec::as_slice).collect();
    let staying = staying.as_ref();
    let (published, lineage) = microdata_table::of_groups_beside(&included, &groups, staying);
    context.check()?;
    let subject = |&record: &u32| table.subject_of(RecordIndex(record));
    let unsatisfiable = excluded.iter().map(subject).collect();
    let release = Release::new(vec![published], lineage, included.opted_out, unsatisfiable);
    Ok(keeping::noted(release, &included))
}

/// Who stays in the groups of public releases, where a series keeps them; the
/// others are left.
fn staying<'a>(
    included: &mut Included<'a>,
    context: &RunContext<'_>,
) -> Result<Option<Staying<'a>>, EngineError> {
    let Some((public, kept)) = keeping::take_public(included) else {
        return Ok(None);
    };
    let conditions = Conditions::new(&public, None);
    let position = public.positions();
    let mut counts = conditions.buffers();
    let mut holds = |records: &[u32]| {
        let rows = records.iter().map(|&record| position[record as usize]);
        conditions.holds(&rows.collect::<Vec<_>>(), &mut counts)
    };
    Staying::of(&public, kept, &mut holds, context).map(Some)
}

/// Groups of records, by the steps of the engine.
fn new_groups(
    included: &Included<'_>,
    params: &Params,
    context: &RunContext<'_>,
) -> Result<Vec<Vec<u32>>, EngineError> {
    let lent = companions(included, params.askers_share_max, &context.dataset_secret);
    let lent = included.requirements.lent(&lent);
    let included = Included {
        requirements: &lent,
        ..included.clone()
    };
    let conditions = Conditions::new(&included, context.part);
    let frame = Frame {
        context,
        params,
        columns: &included.quasi_columns(),
        scales: &included.quasi_scales(),
    };
    let mut groups = Vec::new();
    match pools(&included, &conditions, context) {
        None => frame.group(0, &included.records, &conditions, &mut groups)?,
        Some(pools) => {
            let position = included.positions();
            for (at, records) in (0..).zip(pools) {
                let of_records = records.iter().map(|&record| position[record as usize]);
                let of_records: Vec<u32> = of_records.collect();
                let among = Among {
                    condition: &conditions,
                    position: &of_records,
                };
                frame.group(at, &records, &among, &mut groups)?;
            }
        }
    }
    Ok(equivalence::joined(&included, &conditions, groups))
}

/// What all pools are grouped by.
struct Frame<'a> {
    context: &'a RunContext<'a>,
    params: &'a Params,
    columns: &'a [&'a CodedColumn],
    scales: &'a [Scale],
}

impl Frame<'_> {
    /// Partitions the records of a pool and refines their groups; rows of the
    /// condition are positions in `records`.
    fn group<C: PartCondition>(
        &self,
        pool: u32,
        records: &[u32],
        condition: &C,
        groups: &mut Vec<Vec<u32>>,
    ) -> Result<(), EngineError> {
        let mondrian = Mondrian {
            context: self.context,
            stage: stage::PARTITION + pool,
            step: (2, STEPS),
            columns: self.columns,
            scales: self.scales,
            choice: self.params.split,
            partitioning: self.params.partitioning,
            uncut: self.params.effort.uncut(records.len()),
        };
        let found = mondrian.groups(records, condition)?;
        let refinement = Refinement {
            context: self.context,
            stage: stage::REFINE + pool,
            step: (3, STEPS),
            columns: self.columns,
            scales: self.scales,
            effort: self.params.effort,
        };
        let refined = refinement.refine(records, found, condition)?;
        groups.extend(refined.iter().map(<[u32]>::to_vec));
        Ok(())
    }
}
