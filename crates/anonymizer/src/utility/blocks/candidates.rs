//! The sensitive values that a release leaves possible for each record, with
//! their probabilities.
//!
//! Listed blocks: count / size of the record's block. Groups of exact values:
//! the same over the rows of the group. Randomized values: the one shown. A
//! ring: the rows of the group whose cells cover the record, evenly; of large
//! groups a sample of the rows, which stand in random order.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::microdata::{Domain, RecordIndex, Role};
use crate::privacy::{BlockForm, Model, ProtectedIndex};
use crate::release::{Cell, JoinedAttribute};

use crate::utility::coverage::{Coverage, value_codes};
use crate::utility::evidence::{JoinedEvidence, PreparedAttribute};
use crate::utility::leakage::{Leak, Leakage, sum_up};
use crate::utility::report::{Audience, Description};

/// What the leakage of blocks is.
pub const LEAKAGE: Description = Description {
    title: "Leakage",
    audience: Audience::Steward,
    definition: "Distribution over subjects of the probability of their own sensitive value, its share of the values that the release leaves possible for them, and how many subjects are within a tenth of their limit. Counts are rounded to tens.",
    source: "ARP (disclosure risk); limits are those of each subject's preference and the job",
};

/// What is left possible of one sensitive attribute.
pub(super) struct Candidates<'a> {
    /// Position among the protectable attributes.
    pub index: ProtectedIndex,
    /// The attribute beside its original column.
    pub attribute: PreparedAttribute<'a>,
    /// Pool of each row.
    pub pool_of: Vec<u32>,
    /// Codes with their probabilities, pool by pool.
    pub pools: Vec<Vec<(u32, f64)>>,
}

impl<'a> Candidates<'a> {
    /// Of every published sensitive attribute, in order of columns.
    pub fn all(prepared: &'a JoinedEvidence<'a>) -> Vec<Self> {
        let requirements = prepared.evidence.requirements;
        let Model::Blocks {
            form, sensitive, ..
        } = requirements.policy().model
        else {
            return Vec::new();
        };
        let attributes = prepared.attributes();
        let found = attributes.filter_map(|attribute| {
            let mut all = requirements.protected();
            let index = all.find(|&index| requirements.attribute(index) == attribute.index)?;
            sensitive.contains(index).then_some((index, attribute))
        });
        let candidates = found.map(|(index, attribute)| {
            let (pool_of, pools) = match (&attribute.published.buckets, form) {
                (Some(_), _) => of_buckets(prepared, attribute),
                (None, BlockForm::Randomized { .. }) => of_values(attribute),
                (None, BlockForm::Ring) => of_rings(prepared, attribute),
                (None, _) => of_groups(prepared, attribute),
            };
            Self {
                index,
                attribute,
                pool_of,
                pools,
            }
        });
        candidates.collect()
    }

    /// What is left possible for a row.
    pub fn of_row(&self, row: usize) -> &[(u32, f64)] {
        &self.pools[self.pool_of[row] as usize]
    }

    /// The probability of a row's own value.
    pub fn own(&self, row: usize, record: RecordIndex) -> f64 {
        let own = self.attribute.original.code(record).0;
        let values = self.of_row(row).iter();
        let own = values.filter(|&&(code, _)| code == own);
        own.map(|&(_, probability)| probability).sum()
    }
}

/// Rows of a ring's group that are looked at.
const RING_ROWS_MAX: usize = 512;

type Pools = (Vec<u32>, Vec<Vec<(u32, f64)>>);

/// Blocks that are listed; a row in none has a pool without values.
fn of_buckets(prepared: &JoinedEvidence<'_>, attribute: PreparedAttribute<'_>) -> Pools {
    let Some(buckets) = &attribute.published.buckets else {
        return (Vec::new(), Vec::new());
    };
    let codes = value_codes(attribute.domain(), buckets);
    let pool = |bucket: usize| {
        let size = f64::from(buckets.sizes()[bucket]);
        let run = buckets.coded_run(bucket);
        let run = run
            .filter_map(|(value, count)| Some((codes[value as usize]?, f64::from(count) / size)));
        run.collect()
    };
    let mut pools: Vec<Vec<(u32, f64)>> = (0..buckets.len()).map(pool).collect();
    let none = pools.len() as u32;
    pools.push(Vec::new());
    let rows = 0..prepared.joined.rows();
    let pool_of = rows.map(|row| buckets.pool_of(row).unwrap_or(none));
    (pool_of.collect(), pools)
}

/// The code of the exact value that each cell shows.
fn shown(domain: &Domain, published: &JoinedAttribute<'_>) -> Vec<Option<u32>> {
    let code = |cell: &Cell| match Coverage::of(domain, cell)? {
        Coverage::Run(from, to) if to == from + 1 => Some(from),
        _ => None,
    };
    published.cells.iter().map(code).collect()
}

/// The values shown, each certain.
fn of_values(attribute: PreparedAttribute<'_>) -> Pools {
    let shown = shown(attribute.domain(), attribute.published).into_iter();
    let pools = shown.map(|code| code.map(|code| (code, 1.0)).into_iter().collect());
    (attribute.published.codes.iter().collect(), pools.collect())
}

/// Rows that look the same share their values.
fn of_groups(prepared: &JoinedEvidence<'_>, attribute: PreparedAttribute<'_>) -> Pools {
    let classes = &prepared.signatures;
    let shown = shown(attribute.domain(), attribute.published);
    let mut counts = vec![BTreeMap::new(); classes.len()];
    for (row, &class) in classes.class_of().iter().enumerate() {
        if let Some(code) = shown[attribute.published.codes.at(row) as usize] {
            *counts[class as usize].entry(code).or_insert(0.0) += 1.0;
        }
    }
    let sizes = classes.sizes().iter();
    let pools = counts.into_iter().zip(sizes).map(|(counts, &size)| {
        let shares = counts.into_iter();
        shares
            .map(|(code, count): (u32, f64)| (code, count / f64::from(size)))
            .collect()
    });
    (classes.class_of().to_vec(), pools.collect())
}

/// Each row's record: the rows of its group whose cells cover it.
fn of_rings(prepared: &JoinedEvidence<'_>, attribute: PreparedAttribute<'_>) -> Pools {
    let shown = shown(attribute.domain(), attribute.published);
    let quasi: Vec<(PreparedAttribute<'_>, Vec<Coverage>)> = prepared
        .attributes()
        .filter(|attribute| attribute.role == Role::QuasiIdentifier)
        .map(|attribute| {
            let cells = attribute.published.cells.iter();
            let cells = cells
                .map(|cell| Coverage::of(attribute.domain(), cell).unwrap_or(Coverage::Run(0, 0)));
            (attribute, cells.collect())
        })
        .collect();
    let covers = |row: usize, record: RecordIndex| {
        quasi.iter().all(|(attribute, cells)| {
            let code = attribute.original.code(record).0;
            cells[attribute.published.codes.at(row) as usize].contains(code)
        })
    };
    let mut groups: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
    let numbers = super::classes::groups(prepared);
    for (row, &group) in numbers.iter().enumerate() {
        groups.entry(group).or_default().push(row);
    }
    let rows: Vec<(&RecordIndex, &u64)> = prepared.records.iter().zip(numbers).collect();
    let pools = rows.into_par_iter().map(|(&record, group)| {
        let rows = groups[group].iter().take(RING_ROWS_MAX);
        let rows = rows.filter(|&&row| covers(row, record));
        let codes: Vec<u32> = rows
            .filter_map(|&row| shown[attribute.published.codes.at(row) as usize])
            .collect();
        let mut counts = BTreeMap::new();
        codes
            .iter()
            .for_each(|&code| *counts.entry(code).or_insert(0.0) += 1.0);
        let all = codes.len().max(1) as f64;
        let shares = counts.into_iter();
        shares
            .map(|(code, count): (u32, f64)| (code, count / all))
            .collect()
    });
    let pools: Vec<Vec<(u32, f64)>> = pools.collect();
    ((0..pools.len() as u32).collect(), pools)
}

/// Distribution of the probability of each subject's own value.
pub(super) fn leakage(prepared: &JoinedEvidence<'_>, candidates: &[Candidates<'_>]) -> Leakage {
    let requirements = prepared.evidence.requirements;
    let mut worst: Vec<Leak> = vec![(-1.0, 0.0); prepared.joined.rows()];
    let mut attributes = BTreeMap::new();
    for candidate in candidates {
        let records = prepared.records.iter().enumerate();
        let leaks = records.map(|(row, &record)| {
            let own = candidate.own(row, record);
            let l = requirements.of(record).l[candidate.index.at()];
            (own, own * f64::from(l))
        });
        let leaks: Vec<Leak> = leaks.collect();
        for (worst, leak) in worst.iter_mut().zip(&leaks) {
            *worst = (worst.0.max(leak.0), worst.1.max(leak.1));
        }
        let name = candidate.attribute.published.name.to_owned();
        attributes.insert(name, sum_up(&leaks));
    }
    Leakage {
        subjects: sum_up(&worst),
        attributes,
    }
}
