//! What every bucket must satisfy.
//!
//! - It has at least K of its members.
//! - Beside every combination of quasi-identifiers in a column that shows a
//!   sensitive attribute, no value has more than 1/l and the known values span
//!   the least spread, or the values are within t of the whole's.
//! - Every subject who *matches* the bucket, whose combination is there in
//!   every column, meets only distributions that their own l and share accept,
//!   whether or not the subject is in it. So whatever weight an adversary
//!   gives to each of a subject's matching buckets, the mean keeps the bound.
//!
//! Subjects who ask for no more than the job are covered by the second rule,
//! unless columns are joined: then everyone is looked at.

use rustc_hash::FxHashMap;

use crate::engine::kernel::groups::KOfRows;
use crate::engine::kernel::mondrian::PartCondition;
use crate::privacy::{Protection, Requirements, Share};

use super::closeness::Whole;
use super::conditional_counts::{ConditionalCounts, beyond_t, too_narrow, wholes};
use super::joint_table::JointTable;

/// What every bucket of some rows must satisfy.
#[derive(Debug)]
pub(super) struct Conditions<'a> {
    joint: &'a JointTable<'a>,
    k: KOfRows,
    least: usize,
    wholes: Vec<Option<Whole>>,
    demands: Demands,
}

/// Profiles whose subjects ask for more than every row's floor gives.
#[derive(Debug, Default)]
struct Demands {
    /// Parts of each, one a column.
    parts: Vec<u32>,
    /// What the strictest subject asks for, by sensitive attribute.
    asked: Vec<(u32, Share)>,
    /// By column: where those with each part begin in `of_part`.
    starts: Vec<Vec<u32>>,
    of_part: Vec<Vec<u32>>,
}

impl<'a> Conditions<'a> {
    pub fn new(joint: &'a JointTable<'a>, requirements: &Requirements) -> Self {
        let policy = requirements.policy();
        let floors = joint.sensitive.iter().map(|one| floor(one.protection));
        let l = floors.max().unwrap_or(1);
        let rows: Vec<u32> = (0..joint.rows() as u32).collect();
        Self {
            joint,
            k: KOfRows::new(requirements, &joint.records),
            least: l.max(policy.k.get()) as usize,
            wholes: wholes(joint, &rows),
            demands: Demands::of(joint),
        }
    }

    /// Whether every combination keeps the job's floors.
    fn floors_hold(&self, conditional_counts: &ConditionalCounts) -> bool {
        let mut all = self.joint.sensitive.iter().enumerate();
        all.all(|(at, sensitive)| {
            let l = floor(sensitive.protection);
            (0..sensitive.views.len()).all(|view| {
                conditional_counts.runs(at, view).all(|(run, values)| {
                    run.maximal_share.allows(l, Share::ALL)
                        && too_narrow(sensitive, values).is_none()
                        && beyond_t(sensitive.protection, self.wholes[at].as_ref(), values)
                            .is_none()
                })
            })
        })
    }
}

/// The job's l for an attribute.
pub(super) fn floor(protection: Protection) -> u32 {
    match protection {
        Protection::Diversity { l, .. } => l.get(),
        _ => 1,
    }
}

impl Demands {
    fn of(joint: &JointTable<'_>) -> Self {
        let columns = joint.columns.len();
        let sensitive = joint.sensitive.len();
        let joined = joint.sensitive.iter().any(|one| one.shared.is_some());
        let floors: Vec<u32> = joint
            .sensitive
            .iter()
            .map(|one| floor(one.protection))
            .collect();
        let mut demands = Self::default();
        let mut number_of: FxHashMap<u32, usize> = FxHashMap::default();
        for row in 0..joint.rows() as u32 {
            let asks_more = |at: usize| {
                let (l, share) = joint.asked(row, at);
                l > floors[at] || share < Share::ALL
            };
            if !joined && !(0..sensitive).any(asks_more) {
                continue;
            }
            let next = number_of.len();
            let profile = joint.profiles.of_row[row as usize];
            let number = *number_of.entry(profile).or_insert(next);
            if number == next {
                let parts = joint.columns.iter();
                let parts = parts.map(|column| column.of_row[row as usize]);
                demands.parts.extend(parts);
                demands
                    .asked
                    .extend((0..sensitive).map(|_| (1, Share::ALL)));
            }
            for at in 0..sensitive {
                let (l, share) = joint.asked(row, at);
                let asked = &mut demands.asked[number * sensitive + at];
                *asked = (asked.0.max(l), asked.1.min(share));
            }
        }
        for (at, column) in joint.columns.iter().enumerate() {
            demands.index(at, columns, column.number);
        }
        demands
    }

    /// Sorts profiles by their part in a column.
    fn index(&mut self, column: usize, columns: usize, parts: usize) {
        let mut starts = vec![0_u32; parts + 1];
        let part_of = |profile: &[u32]| profile[column] as usize;
        for profile in self.parts.chunks(columns.max(1)) {
            starts[part_of(profile) + 1] += 1;
        }
        for part in 0..parts {
            starts[part + 1] += starts[part];
        }
        let mut next = starts.clone();
        let mut of_part = vec![0; self.parts.len() / columns.max(1)];
        for (number, profile) in self.parts.chunks(columns.max(1)).enumerate() {
            let at = &mut next[part_of(profile)];
            of_part[*at as usize] = number as u32;
            *at += 1;
        }
        self.starts.push(starts);
        self.of_part.push(of_part);
    }

    fn with_part(&self, column: usize, part: u32) -> &[u32] {
        let starts = &self.starts[column];
        let (from, to) = (starts[part as usize], starts[part as usize + 1]);
        &self.of_part[column][from as usize..to as usize]
    }
}

/// What one task reuses from part to part.
pub(super) struct Buffers {
    conditional_counts: ConditionalCounts,
    /// By column and part: the last look at which a row had it.
    seen: Vec<Vec<u32>>,
    look: u32,
    /// Distinct parts of the rows, by column.
    distinct: Vec<Vec<u32>>,
}

impl Conditions<'_> {
    /// Whether everyone who matches the rows accepts what they meet.
    fn demands_hold(&self, rows: &[u32], buffers: &mut Buffers) -> bool {
        if self.demands.parts.is_empty() {
            return true;
        }
        let columns = &self.joint.columns;
        if buffers.look == u32::MAX {
            buffers.seen.iter_mut().for_each(|seen| seen.fill(0));
            buffers.look = 0;
        }
        buffers.look += 1;
        for (at, column) in columns.iter().enumerate() {
            let (seen, distinct) = (&mut buffers.seen[at], &mut buffers.distinct[at]);
            distinct.clear();
            for &row in rows {
                let part = column.of_row[row as usize];
                if std::mem::replace(&mut seen[part as usize], buffers.look) != buffers.look {
                    distinct.push(part);
                }
            }
        }
        // Through the column that leaves fewest profiles to look at.
        let profiles = |at: &usize| -> usize {
            let parts = buffers.distinct[*at].iter();
            parts
                .map(|&part| self.demands.with_part(*at, part).len())
                .sum()
        };
        let Some(through) = (0..columns.len()).min_by_key(profiles) else {
            return true;
        };
        let parts = std::mem::take(&mut buffers.distinct[through]);
        let holds = parts.iter().all(|&part| {
            let profiles = self.demands.with_part(through, part);
            profiles
                .iter()
                .all(|&profile| self.accepts(profile as usize, buffers))
        });
        buffers.distinct[through] = parts;
        holds
    }

    /// Whether the subjects of a profile, if they match, accept what they meet.
    fn accepts(&self, profile: usize, buffers: &mut Buffers) -> bool {
        let columns = self.joint.columns.len();
        let parts = &self.demands.parts[profile * columns..][..columns];
        let is_there = |(at, &part): (usize, &u32)| buffers.seen[at][part as usize] == buffers.look;
        if !parts.iter().enumerate().all(is_there) {
            return true;
        }
        let sensitive = self.joint.sensitive.len();
        let asked = &self.demands.asked[profile * sensitive..][..sensitive];
        buffers.conditional_counts.meets(
            self.joint,
            &|column| parts[column],
            &mut |conditional, maximal_share| {
                let (l, share) = asked[conditional.0];
                maximal_share.allows(l, share)
            },
        )
    }
}

impl PartCondition for Conditions<'_> {
    type Buffers = Buffers;

    fn buffers(&self) -> Buffers {
        let columns = self.joint.columns.iter();
        Buffers {
            conditional_counts: ConditionalCounts::default(),
            seen: columns.map(|column| vec![0; column.number]).collect(),
            look: 0,
            distinct: vec![Vec::new(); self.joint.columns.len()],
        }
    }

    fn least(&self) -> usize {
        self.least
    }

    fn holds(&self, rows: &[u32], buffers: &mut Buffers) -> bool {
        if rows.len() < self.k.of(rows) {
            return false;
        }
        buffers.conditional_counts.fill(self.joint, rows);
        self.floors_hold(&buffers.conditional_counts) && self.demands_hold(rows, buffers)
    }
}
