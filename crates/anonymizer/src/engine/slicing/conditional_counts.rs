//! What a set of rows, published as one bucket, shows of each sensitive value.
//!
//! For a subject whose combination of quasi-identifiers is y in the column
//! that shows the sensitive attribute, it is the distribution of its values
//! beside y. Where two columns Y and Z show it, a reader may take either
//! alone, or join them on it: each gives a distribution, and none of them may
//! have too high a maximal share (README, *What is sufficient*).

use rustc_hash::FxHashMap;

use crate::engine::kernel::known::known_ends;
use crate::microdata::Code;
use crate::privacy::Protection;

use super::closeness::{Distance, Whole};
use super::joint_table::{JointTable, Sensitive};
use super::maximal_share::{Joined, MaximalShare, of_join};
use super::tally::{Run, ValueRuns};

/// A distribution that a subject meets: of a sensitive attribute, by which
/// column (or 2, by their join), beside which combinations.
pub(super) type ConditionalIndex = (usize, u8, u32, u32);

/// By the join.
pub(super) const BY_JOIN: u8 = 2;

/// What a set of rows shows; reused from set to set.
#[derive(Debug, Default)]
pub(super) struct ConditionalCounts {
    /// By sensitive attribute: a tally for each column that shows it, then
    /// one for the quasi-identifiers that two columns share.
    tallies: Vec<Vec<ValueRuns>>,
    joins: FxHashMap<(usize, u32, u32), Option<[MaximalShare; 2]>>,
    values: Vec<Joined>,
}

impl ConditionalCounts {
    /// Looks at `rows`, published as one bucket.
    pub fn fill(&mut self, joint: &JointTable<'_>, rows: &[u32]) {
        self.joins.clear();
        self.tallies.resize_with(joint.sensitive.len(), Vec::new);
        for (sensitive, tallies) in joint.sensitive.iter().zip(&mut self.tallies) {
            let views = sensitive.views.iter();
            let views = views.map(|&column| &joint.columns[column].of_row);
            let shared = sensitive.shared.iter().map(|shared| &shared.parts.of_row);
            tallies.resize_with(views.len() + shared.len(), ValueRuns::default);
            for (tally, parts) in tallies.iter_mut().zip(views.chain(shared)) {
                tally.fill(rows, parts, &sensitive.codes);
            }
        }
    }

    /// Combinations of one column that shows a sensitive attribute, with the
    /// values beside each.
    pub fn runs(
        &self,
        sensitive: usize,
        view: usize,
    ) -> impl Iterator<Item = (&Run, &[(u32, u32)])> {
        let tally = &self.tallies[sensitive][view];
        tally.runs().iter().map(|run| (run, tally.values(run)))
    }

    /// Hands the peaks that a subject with these parts (one a column) meets
    /// to `accepts`, until one is refused. A subject that cannot be behind any
    /// row meets none.
    pub fn meets(
        &mut self,
        joint: &JointTable<'_>,
        part_of_column: &dyn Fn(usize) -> u32,
        accepts: &mut dyn FnMut(ConditionalIndex, &MaximalShare) -> bool,
    ) -> bool {
        (0..joint.sensitive.len()).all(|at| self.meets_one(joint, at, part_of_column, accepts))
    }

    fn meets_one(
        &mut self,
        joint: &JointTable<'_>,
        at: usize,
        part_of_column: &dyn Fn(usize) -> u32,
        accepts: &mut dyn FnMut(ConditionalIndex, &MaximalShare) -> bool,
    ) -> bool {
        let views = &joint.sensitive[at].views;
        let joint = match views[..] {
            [one, other] => {
                let (left, right) = (part_of_column(one), part_of_column(other));
                let Some(peaks) = self.join(joint, at, left, right) else {
                    return true;
                };
                let conditional = (at, BY_JOIN, left, right);
                peaks
                    .iter()
                    .all(|maximal_share| accepts(conditional, maximal_share))
            }
            _ => true,
        };
        joint
            && views.iter().enumerate().all(|(view, &column)| {
                let part = part_of_column(column);
                let run = self.tallies[at][view].find(part);
                run.is_none_or(|run| accepts((at, view as u8, part, 0), &run.maximal_share))
            })
    }

    /// The peaks of joining two combinations.
    fn join(
        &mut self,
        joint: &JointTable<'_>,
        at: usize,
        left: u32,
        right: u32,
    ) -> Option<[MaximalShare; 2]> {
        if let Some(&known) = self.joins.get(&(at, left, right)) {
            return known;
        }
        let [one, other, both] = &self.tallies[at][..] else {
            return None;
        };
        let shared = joint.sensitive[at].shared.as_ref();
        let shared = shared.map_or(0, |shared| shared.of_part[left as usize]);
        self.values.clear();
        if let (Some(left), Some(right)) = (one.find(left), other.find(right)) {
            let mut others = other.values(right).iter().peekable();
            for &(code, count) in one.values(left) {
                while others.next_if(|(other, _)| *other < code).is_some() {}
                if let Some(&(_, matched)) = others.next_if(|(other, _)| *other == code) {
                    self.values.push(Joined {
                        left: count,
                        right: matched,
                        shared: both.count(shared, code).max(1),
                    });
                }
            }
        }
        let peaks = of_join(&self.values);
        self.joins.insert((at, left, right), peaks);
        peaks
    }
}

/// The values of all rows, by sensitive attribute, where t-closeness is asked for.
pub(super) fn wholes(joint: &JointTable<'_>, rows: &[u32]) -> Vec<Option<Whole>> {
    let wholes = joint.sensitive.iter().map(|sensitive| {
        let codes = rows.iter().map(|&row| sensitive.codes[row as usize]);
        match sensitive.protection {
            Protection::Closeness { .. } => Some(Whole::of(sensitive.column, codes)),
            _ => None,
        }
    });
    wholes.collect()
}

/// What the known values beside a combination span, where that is less than
/// the least spread; `values` ascend.
pub(super) fn too_narrow(sensitive: &Sensitive<'_>, values: &[(u32, u32)]) -> Option<f64> {
    let wanted = sensitive.protection.min_spread()?;
    let domain = &sensitive.column.domain;
    let codes = values.iter().map(|&(code, _)| code);
    let (low, high) = known_ends(codes, domain.missing().map(|code| code.0))?;
    let span = domain.number(Code(high)) - domain.number(Code(low));
    (span < wanted).then_some(span)
}

/// The combination farthest from the whole, where it is beyond t.
pub(super) fn beyond_t(
    protection: Protection,
    whole: Option<&Whole>,
    values: &[(u32, u32)],
) -> Option<Distance> {
    let (Protection::Closeness { t, .. }, Some(whole)) = (protection, whole) else {
        return None;
    };
    let distance = whole.distance(values);
    (!t.allows(distance.numerator, distance.denominator)).then_some(distance)
}
