//! What must hold before anything is cut, and who is excluded so that it does.
//!
//! The whole table is the coarsest bucket there is. If the job's own floors do
//! not hold in it, with everyone included, they cannot be had by cutting it
//! either, and the run is refused. Then subjects are excluded who ask for more
//! than the whole table can give, the strictest first, equals in random order:
//! those whose K is more than all records, and those who meet a distribution
//! that their l or share does not accept. Each exclusion changes what the
//! others meet, so this is repeated until nobody is excluded; of each
//! distribution an eighth of those who refuse it are excluded at a time.

use rustc_hash::FxHashMap;

use crate::engine::context::RunContext;
use crate::engine::kernel::Included;
use crate::engine::kernel::feasibility::{OverBudget, exclude_until, tie_breakers, without};
use crate::engine::kernel::sliced_table::Slices;
use crate::microdata::AttributeIndex;
use crate::privacy::{Requirements, Share};

use super::conditional_counts::{
    ConditionalCounts, ConditionalIndex, beyond_t, too_narrow, wholes,
};
use super::conditions::floor;
use super::joint_table::JointTable;
use super::maximal_share::MaximalShare;
use super::stage;

/// Of those who refuse a distribution, one in so many is excluded at a time.
const EXCLUDED_PART: usize = 8;

/// Who is included and who is excluded.
#[derive(Clone, Debug, Default)]
pub(super) struct Prepared {
    /// Records that are published, ascending.
    pub records: Vec<u32>,
    /// Records whose terms cannot be met, in the order of their exclusion.
    pub unsatisfiable: Vec<u32>,
}

/// Why there is no release.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Refusal {
    /// Fewer records than k.
    TooFew { left: u64 },
    /// More subjects would be excluded than may be.
    Budget(OverBudget),
    /// A value is too frequent beside some combination.
    TooFrequent {
        attribute: AttributeIndex,
        maximal_share: MaximalShare,
    },
    /// The known values beside some combination span too little.
    TooNarrow {
        attribute: AttributeIndex,
        widest: f64,
    },
    /// The values beside some combination are too far from the whole's, by
    /// so many parts per billion.
    TooFar {
        attribute: AttributeIndex,
        parts: u64,
    },
}

/// A refusal, or the run was stopped.
pub(super) type Failure = crate::engine::error::Failure<Refusal>;

/// Excludes whom it must, or says which condition cannot hold.
pub(super) fn prepare(
    included: &Included<'_>,
    requirements: &Requirements,
    slices: &Slices,
    max_excluded: f64,
    context: &RunContext<'_>,
) -> Result<Prepared, Failure> {
    let of = included.records.len();
    let k = requirements.policy().k.get() as usize;
    let enough = |left: usize| {
        let too_few = Refusal::TooFew { left: left as u64 };
        if left < k {
            Err(Failure::Refused(too_few))
        } else {
            Ok(())
        }
    };
    enough(of)?;
    let joint = JointTable::under(included, requirements, slices);
    let mut exclusion = Exclusion::new(&joint, context);
    if let Some(refusal) = exclusion.shortfall() {
        return Err(Failure::Refused(refusal));
    }
    loop {
        context.check()?;
        let for_k = exclusion.meet_k();
        if !exclusion.meet_the_rest() && !for_k {
            break;
        }
    }
    let excluded = exclusion.excluded.len();
    OverBudget::check(excluded, of, max_excluded)
        .map_err(|over| Failure::Refused(Refusal::Budget(over)))?;
    enough(of - excluded)?;
    let mut rows = exclusion.rows;
    rows.sort_unstable();
    let record = |row: &u32| joint.records[*row as usize];
    Ok(Prepared {
        records: rows.iter().map(record).collect(),
        unsatisfiable: exclusion.excluded.iter().map(record).collect(),
    })
}

/// Who is included so far, and who was excluded.
struct Exclusion<'b, 'a> {
    joint: &'b JointTable<'a>,
    /// Included rows.
    rows: Vec<u32>,
    /// Excluded rows, in their order.
    excluded: Vec<u32>,
    /// Decides between equals.
    tie_breakers: Vec<u32>,
    conditional_counts: ConditionalCounts,
}

impl<'b, 'a> Exclusion<'b, 'a> {
    fn new(joint: &'b JointTable<'a>, context: &RunContext<'_>) -> Self {
        Self {
            joint,
            rows: (0..joint.rows() as u32).collect(),
            excluded: Vec::new(),
            tie_breakers: tie_breakers(joint.rows(), context.stream(stage::EXCLUSION, 0)),
            conditional_counts: ConditionalCounts::default(),
        }
    }

    /// The job's floor that does not hold, the one that is missed by most.
    fn shortfall(&mut self) -> Option<Refusal> {
        self.conditional_counts.fill(self.joint, &self.rows);
        let mut frequent: Option<(AttributeIndex, MaximalShare)> = None;
        let mut far: Option<(AttributeIndex, u64)> = None;
        let mut narrow: Option<(AttributeIndex, f64)> = None;
        let wholes = wholes(self.joint, &self.rows);
        let joint = self.joint;
        let mut take = |at: usize, maximal_share: &MaximalShare| {
            let sensitive = &joint.sensitive[at];
            let holds = maximal_share.allows(floor(sensitive.protection), Share::ALL);
            let is_worse = |worst: &(AttributeIndex, MaximalShare)| {
                maximal_share.most * worst.1.total > worst.1.most * maximal_share.total
            };
            if !holds && frequent.as_ref().is_none_or(is_worse) {
                frequent = Some((sensitive.attribute, *maximal_share));
            }
            true
        };
        for (at, sensitive) in joint.sensitive.iter().enumerate() {
            for view in 0..sensitive.views.len() {
                for (run, values) in self.conditional_counts.runs(at, view) {
                    take(at, &run.maximal_share);
                    let span = too_narrow(sensitive, values);
                    if span.is_some_and(|span| narrow.is_none_or(|(_, least)| span < least)) {
                        narrow = span.map(|span| (sensitive.attribute, span));
                    }
                    let beyond = beyond_t(sensitive.protection, wholes[at].as_ref(), values);
                    let parts = beyond.map(|distance| {
                        let whole = u128::from(Share::WHOLE_PARTS);
                        (distance.numerator * whole).div_ceil(distance.denominator) as u64
                    });
                    if parts > far.map(|(_, parts)| parts) {
                        far = parts.map(|parts| (sensitive.attribute, parts));
                    }
                }
            }
        }
        if joint.sensitive.iter().any(|one| one.shared.is_some()) {
            for &row in &self.rows {
                let part = |column: usize| joint.columns[column].of_row[row as usize];
                self.conditional_counts
                    .meets(joint, &part, &mut |conditional, maximal_share| {
                        take(conditional.0, maximal_share)
                    });
            }
        }
        let frequent = frequent.map(|(attribute, maximal_share)| Refusal::TooFrequent {
            attribute,
            maximal_share,
        });
        let narrow = narrow.map(|(attribute, widest)| Refusal::TooNarrow { attribute, widest });
        let frequent = frequent.or(narrow);
        frequent.or(far.map(|(attribute, parts)| Refusal::TooFar { attribute, parts }))
    }

    /// Excludes those who ask for more records than there are.
    fn meet_k(&mut self) -> bool {
        let k = |row: u32| self.joint.terms[row as usize].k as usize;
        if self.rows.iter().all(|&row| k(row) <= self.rows.len()) {
            return false;
        }
        let mut order = self.rows.clone();
        order.sort_unstable_by_key(|&row| self.tie_breakers[row as usize]);
        let excluded = exclude_until(order, k, |row, left| k(row) <= left);
        self.exclude(&excluded);
        true
    }

    /// Excludes an eighth of those who refuse a distribution, the strictest
    /// first.
    fn meet_the_rest(&mut self) -> bool {
        self.conditional_counts.fill(self.joint, &self.rows);
        let wholes = wholes(self.joint, &self.rows);
        let joint = self.joint;
        let mut refused: FxHashMap<ConditionalIndex, usize> = FxHashMap::default();
        let mut groups: Vec<Vec<(u64, u32, u32)>> = Vec::new();
        let mut far: Vec<ConditionalIndex> = Vec::new();
        for (at, sensitive) in joint.sensitive.iter().enumerate() {
            for view in 0..sensitive.views.len() {
                for (run, values) in self.conditional_counts.runs(at, view) {
                    let beyond = beyond_t(sensitive.protection, wholes[at].as_ref(), values);
                    if beyond.is_some() || too_narrow(sensitive, values).is_some() {
                        far.push((at, view as u8, run.part, 0));
                    }
                }
            }
        }
        far.sort_unstable();
        for &row in &self.rows {
            let part = |column: usize| joint.columns[column].of_row[row as usize];
            let mut reason = None;
            self.conditional_counts
                .meets(joint, &part, &mut |conditional, maximal_share| {
                    let (l, share) = joint.asked(row, conditional.0);
                    let is_near = far.binary_search(&conditional).is_err();
                    let accepts = is_near && maximal_share.allows(l, share);
                    if !accepts {
                        reason = Some(conditional);
                    }
                    accepts
                });
            if let Some(conditional) = reason {
                let (l, share) = joint.asked(row, conditional.0);
                let strictness =
                    u64::from(l).max(Share::WHOLE_PARTS / u64::from(share.parts()).max(1));
                let next = groups.len();
                let group = *refused.entry(conditional).or_insert(next);
                if group == next {
                    groups.push(Vec::new());
                }
                groups[group].push((strictness, self.tie_breakers[row as usize], row));
            }
        }
        let mut excluded = Vec::new();
        for group in &mut groups {
            group
                .sort_unstable_by_key(|&(strictness, tie, _)| (std::cmp::Reverse(strictness), tie));
            let number = group.len().div_ceil(EXCLUDED_PART);
            excluded.extend(group[..number].iter().map(|&(.., row)| row));
        }
        self.exclude(&excluded);
        !excluded.is_empty()
    }

    fn exclude(&mut self, rows: &[u32]) {
        self.excluded.extend_from_slice(rows);
        without(&mut self.rows, rows);
    }
}

impl<'a> JointTable<'a> {
    /// All included records under other requirements than their own.
    fn under(included: &Included<'a>, requirements: &'a Requirements, slices: &Slices) -> Self {
        let included = Included {
            requirements,
            ..included.clone()
        };
        Self::gather(&included, &included.records, slices)
    }
}
