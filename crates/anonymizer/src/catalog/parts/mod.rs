//! A table published in parts: one meaning for every engine.
//!
//! The outline cuts the table by its quasi-identifiers ([`outline`](
//! crate::engine::kernel::outline)), the engine runs on each part by itself, and the
//! release is the union. Whatever is of the whole table is decided for the whole:
//! who accompanies whom, the distributions that groups are held against, the
//! frequencies by which leaks are reckoned, and where values are published beside
//! groups also who is left out.
//!
//! A part that cannot be published by itself, or only without somebody whose terms
//! everyone together can meet, is joined with its sibling. So are parts with rows
//! that look alike, where together these would not keep what a member asks. At the
//! worst the table is one part, as without any. And so is a part with a bucket whose
//! values are not close to those of all buckets together.
//!
//! Who counts and publishes is one of two: this process ([`here`]), or others that
//! see numbers only ([`elsewhere`]). The bytes are the same.

mod closeness;
pub mod elsewhere;
mod gathered;
mod here;
mod made;
mod union;

use serde_json::Value;

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::kernel::acceptance::invalid;
use crate::engine::kernel::outline::slices::{Counted, Slices};
use crate::engine::kernel::outline::{Outline, SideRule, Sizes};
use crate::microdata::Table;
use crate::privacy::{Model, Parts, Policy, Requirements};
use crate::release::MadeInParts;

use super::runs::Runs;
use elsewhere::{PartsElsewhere, There};
use gathered::Gathered;
use here::{Here, Parting, Place};
use made::{Columns, MadeParts};
pub(super) use union::Union;
use union::{Together, together};

/// An engine that publishes tables in parts.
#[derive(Clone, Copy)]
pub(super) struct InParts<'a> {
    pub engine: &'a dyn Runs,
    pub name: &'a str,
    pub parameters: &'a Value,
    pub parts: Parts,
    /// Who counts and publishes them, where that is not this process.
    pub elsewhere: Option<&'a dyn PartsElsewhere>,
}

/// Publishes a table in parts; the release stands in room beside the memory. None where
/// it can be published as a whole at the most: the engine says why it cannot.
pub(super) fn run(
    by: InParts<'_>,
    (table, requirements): (&Table, &Requirements),
    context: &RunContext<'_>,
) -> Result<Option<Union>, EngineError> {
    let gathered = Gathered::of(table, requirements, context)?;
    let max_excluded = by.parameters["max_excluded"].as_f64().unwrap_or(0.0);
    if gathered.leaves_out_more_than(max_excluded) {
        return Ok(None);
    }
    let lent = gathered.lent();
    let whole = gathered.whole();
    let rule = SideRule::new(table, &lent, &whole);
    let counted = Counted::of(table, &lent, rule).among(&gathered.units);
    let columns = Columns::of(table);
    let parting = Parting {
        engine: by.engine,
        described: (by.name, by.parameters),
        gathered: &gathered,
        lent: &lent,
        counted: &counted,
        whole: &whole,
        context,
    };
    let mut place: Box<dyn Place + '_> = match by.elsewhere {
        None => Box::new(Here {
            parting: &parting,
            slices: Slices::of(gathered.units.clone(), &columns.quasi, &counted),
        }),
        Some(elsewhere) => Box::new(There::of(elsewhere, &parting, &columns)?),
    };
    in_parts(by, &parting, &columns, &mut *place)
}

/// Cuts the table, publishes its parts, and joins parts until they can be published
/// together.
fn in_parts(
    by: InParts<'_>,
    parting: &Parting<'_>,
    columns: &Columns<'_>,
    place: &mut dyn Place,
) -> Result<Option<Union>, EngineError> {
    let (gathered, counted) = (parting.gathered, parting.counted);
    let outline = Outline {
        context: parting.context,
        scales: &columns.scales,
        rule: &counted.rule,
        sizes: sizes(by.engine, by.parts),
    };
    let mut tree = outline.parts(gathered.units.len() as u64, place)?;
    let context = parting.context;
    let mut made = MadeParts::new(&context.seed, context.scratch);
    loop {
        let leaves = tree.parts();
        let join = match place.publish(&leaves, &mut made)? {
            Some(failed) => match tree.above(failed) {
                Some(above) => above,
                None => return Ok(None),
            },
            None => match together(gathered, counted, (&made, &leaves))? {
                Together::Joined(joined) => {
                    let changes = !by.engine.outline_is_own_tree() || counted.rule.asks_of_values();
                    let made_in_parts = changes.then_some(MadeInParts {
                        sizes: by.parts,
                        number: leaves.len() as u64,
                    });
                    let made = (made, leaves.as_slice());
                    return Ok(Some(Union::of(gathered, made, joined, made_in_parts)));
                }
                Together::Apart(one, other) => tree.common(one, other),
                Together::Beyond(part) => match tree.above(part) {
                    Some(above) => above,
                    None => return Ok(None),
                },
            },
        };
        made.retain(|set| tree.common(set, join) != join)?;
        tree.join(join);
    }
}

/// How large parts are: those of an engine whose own tree the outline is the top of
/// may be of any size.
fn sizes(engine: &dyn Runs, parts: Parts) -> Sizes {
    Sizes {
        records_max: parts.records_max(),
        records_min: if engine.outline_is_own_tree() {
            1
        } else {
            parts.records_min()
        },
    }
}

/// Refuses what cannot be kept part by part; `keeps_history` where a series keeps
/// groups or sets.
pub(super) fn check(policy: &Policy, keeps_history: bool) -> Result<(), EngineError> {
    let refused = |reason: &str| Err(invalid("parts", reason));
    if keeps_history {
        return refused(
            "go with no series that keeps groups or sets, which are of the whole table: take the \
             mode `increments`, or null",
        );
    }
    match &policy.model {
        Model::Blocks { .. } => refused(
            "are not of engines that publish blocks, which are dealt over the whole table: take \
             null",
        ),
        Model::Sliced { .. } => {
            refused("are not of `slicing`, whose columns are found over the whole table: take null")
        }
        _ => Ok(()),
    }
}
