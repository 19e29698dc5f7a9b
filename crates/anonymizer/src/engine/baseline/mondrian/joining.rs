//! Groups of public releases, joined to larger ones (*ours*; design: series,
//! *derive_from*).
//!
//! Somebody who holds the releases of a series that keeps groups knows what
//! stands in each group. A release whose groups are whole public groups joined
//! follows from these: it tells them nothing. To everyone else it is a release
//! with groups as large and diverse as its job asks.
//!
//! A group stays out as a whole where a member is not there any more, is not as
//! they were shown, asks for what everyone together does not give, or is in such a
//! release already: two of them tell more than each, to somebody who has no others.
//!
//! Public groups are cut as records are by [`Mondrian`](crate::engine::kernel::Mondrian):
//! in the order of the middles of their cells, where half of the records are on
//! either side, by the attribute with the widest normalized range first, if both
//! sides hold. Groups that look alike become one; where that does not hold it is
//! joined with the next one.

use std::collections::BTreeMap;

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::kernel::acceptance::invalid;
use crate::engine::kernel::feasibility::exclude_unmet;
use crate::engine::kernel::{
    Covers, Included, PartCondition, Scale, companions, keeping, microdata_table,
};
use crate::microdata::{CodedColumn, Table};
use crate::privacy::{KeptGroups, Requirements};
use crate::release::Release;

use super::conditions::{Conditions, Counts};
use super::{Params, STEPS, diagnosis, equivalence};

/// Publishes joined groups.
///
/// Errors: as of `mondrian`; `InvalidParameter` where no group is public that
/// could be joined; more left out than the job allows.
pub(super) fn run(
    (table, requirements, kept): (&Table, &Requirements, &KeptGroups),
    params: &Params,
    context: &RunContext<'_>,
) -> Result<Release, EngineError> {
    let report = |step, label| context.progress.report(step, STEPS, label, 0.0);
    report(1, "gather");
    let mut included = Included::gather(table, requirements)?;
    let stays = staying(&mut included, kept, context)?;
    if let Some(refusal) = diagnosis::infeasible(&included, 0, params.max_excluded) {
        return Err(refusal.into());
    }
    report(2, "join");
    let lent = companions(&included, params.askers_share_max, &context.dataset_secret);
    let lent = requirements.lent(&lent);
    let with_companions = Included {
        requirements: &lent,
        ..included.clone()
    };
    let conditions = Conditions::new(&with_companions, None);
    let mut joining = Joining::of(&with_companions, (kept, &stays), &conditions);
    let mut groups = Vec::new();
    let mut all: Vec<usize> = (0..joining.public.len()).collect();
    joining.part(&mut all, context, &mut groups)?;
    joining.join_look_alikes(&mut groups);
    report(4, "publish");
    let groups: Vec<Vec<u32>> = groups.iter().map(|own| joining.records(own)).collect();
    let groups: Vec<&[u32]> = groups.iter().map(Vec::as_slice).collect();
    let (published, lineage) = microdata_table::of_groups_beside(&included, &groups, None);
    context.check()?;
    let release = Release::new(vec![published], lineage, included.opted_out, Vec::new());
    Ok(keeping::noted(release, &included))
}

/// Which classes stay; `included` are their members.
fn staying(
    included: &mut Included<'_>,
    kept: &KeptGroups,
    context: &RunContext<'_>,
) -> Result<Vec<bool>, EngineError> {
    let requirements = included.requirements;
    let can_stay = kept.classes.iter().map(|class| {
        let mut members = class.members.iter();
        class.is_whole && members.all(|member| kept.can_stay(member, requirements))
    });
    let mut stays: Vec<bool> = can_stay.collect();
    let everyone = included.records.clone();
    loop {
        let is_in = |record: &&u32| kept.class(**record).is_some_and(|class| stays[class]);
        included.records = everyone.iter().filter(is_in).copied().collect();
        if included.records.is_empty() {
            return Err(invalid(
                "series.join_groups",
                "no group of a nested series is public whose subjects are all there, as they were \
                 shown, and in no joined group yet: publish one first",
            ));
        }
        let excluded = exclude_unmet(included, context);
        for class in excluded.iter().filter_map(|&record| kept.class(record)) {
            stays[class] = false;
        }
        if excluded.is_empty() {
            keeping::check_companions(kept, &everyone, included.records.len())?;
            return Ok(stays);
        }
    }
}

/// A public group that is joined with others.
struct Public {
    /// Positions among the records included.
    rows: Vec<u32>,
    /// Lowest and highest code of each quasi-identifier.
    ends: Vec<(u32, u32)>,
}

struct Joining<'a> {
    included: &'a Included<'a>,
    conditions: &'a Conditions,
    counts: Counts,
    columns: Vec<&'a CodedColumn>,
    scales: Vec<Scale>,
    public: Vec<Public>,
}

impl<'a> Joining<'a> {
    fn of(
        included: &'a Included<'a>,
        (kept, stays): (&KeptGroups, &[bool]),
        conditions: &'a Conditions,
    ) -> Self {
        let position = included.positions();
        let columns = included.quasi_columns();
        let staying = kept.classes.iter().zip(stays).filter(|(_, stays)| **stays);
        let public = staying.map(|(class, _)| {
            let records = class.members.iter().filter_map(|member| member.record);
            let records: Vec<u32> = records.collect();
            Public {
                ends: equivalence::ends(&columns, &records),
                rows: records
                    .iter()
                    .map(|&record| position[record as usize])
                    .collect(),
            }
        });
        Self {
            included,
            conditions,
            counts: conditions.buffers(),
            scales: included.quasi_scales(),
            public: public.collect(),
            columns,
        }
    }

    /// Parts public groups as long as both sides hold.
    fn part(
        &mut self,
        some: &mut [usize],
        context: &RunContext<'_>,
        groups: &mut Vec<Vec<usize>>,
    ) -> Result<(), EngineError> {
        context.check()?;
        let ranges = (0..self.columns.len()).map(|column| {
            let ends = some.iter().map(|&at| self.public[at].ends[column]);
            let low = ends.clone().map(|(low, _)| low).min().unwrap_or(0);
            let high = ends.map(|(_, high)| high).max().unwrap_or(0);
            (self.scales[column].interval(low, high), column)
        });
        let mut ranges: Vec<(f32, usize)> = ranges.filter(|&(range, _)| range > 0.0).collect();
        ranges.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        for (_, column) in ranges {
            let middle = |at: usize| {
                let (low, high) = self.public[at].ends[column];
                u64::from(low) + u64::from(high)
            };
            some.sort_by_key(|&at| (middle(at), at));
            let cut = self.middle(some);
            let (left, right) = some.split_at(cut);
            let parts = [left.to_vec(), right.to_vec()];
            if parts.iter().all(|part| self.holds(part)) {
                let [mut left, mut right] = parts;
                self.part(&mut left, context, groups)?;
                return self.part(&mut right, context, groups);
            }
        }
        groups.push(some.to_vec());
        Ok(())
    }

    /// How many of them have half of the records.
    fn middle(&self, some: &[usize]) -> usize {
        let rows = |at: usize| self.public[at].rows.len();
        let half = some.iter().map(|&at| rows(at)).sum::<usize>() / 2;
        let mut before = 0;
        let below = some.iter().take_while(|&&at| {
            before += rows(at);
            before <= half
        });
        below.count()
    }

    fn holds(&mut self, some: &[usize]) -> bool {
        let rows = some
            .iter()
            .flat_map(|&at| self.public[at].rows.iter().copied());
        let rows: Vec<u32> = rows.collect();
        !rows.is_empty() && self.conditions.holds(&rows, &mut self.counts)
    }

    /// The records of public groups, ascending.
    fn records(&self, some: &[usize]) -> Vec<u32> {
        let rows = some.iter().flat_map(|&at| &self.public[at].rows);
        let records = rows.map(|&row| self.included.records[row as usize]);
        let mut records: Vec<u32> = records.collect();
        records.sort_unstable();
        records
    }

    /// Makes one group of those with the same cells, until each holds.
    fn join_look_alikes(&mut self, groups: &mut Vec<Vec<usize>>) {
        loop {
            let mut of_look: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
            let mut covers: Vec<Covers<'_>> = self
                .columns
                .iter()
                .map(|column| Covers::new(&column.domain))
                .collect();
            let mut joined: Vec<Vec<usize>> = Vec::new();
            for group in groups.iter() {
                let records = self.records(group);
                let cells = covers.iter_mut().zip(&self.columns);
                let look = cells
                    .map(|(covers, column)| covers.cover(column, &records))
                    .collect();
                let at = *of_look.entry(look).or_insert(joined.len());
                if at == joined.len() {
                    joined.push(Vec::new());
                }
                joined[at].extend(group);
            }
            let failing = joined.iter().position(|group| !self.holds(group));
            if let Some(at) = failing.filter(|_| joined.len() > 1) {
                // Those that are near in the order of cuts.
                let next = joined.remove(if at + 1 < joined.len() {
                    at + 1
                } else {
                    at - 1
                });
                let at = at.min(joined.len() - 1);
                joined[at].extend(next);
            } else if joined.len() == groups.len() {
                return;
            }
            *groups = joined;
        }
    }
}
