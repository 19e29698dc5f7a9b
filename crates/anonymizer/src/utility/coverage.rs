//! Which codes of the original domain a published cell covers, and how the
//! chance of a row spreads over them.
//!
//! Spread is uniform over the covered values of the dataset's domain (with a
//! hierarchy: over the leaves, whether or not they occur). A cell in a bucket
//! spreads as its bucket's values do.

use std::ops::Range;

use crate::microdata::{Code, Domain, Values};
use crate::release::{Buckets, Cell, Link};

/// Codes that a cell covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Codes from .0 up to but without .1.
    Run(u32, u32),
    /// These codes.
    Codes(Vec<u32>),
    /// Codes from .0 up to but without .1, and .2, the missing value's.
    RunAnd(u32, u32, u32),
}

impl Coverage {
    /// What `cell` covers; `None` for an empty cell. A cell that covers
    /// nothing of the domain is an empty run.
    pub fn of(domain: &Domain, cell: &Cell) -> Option<Self> {
        let size = domain.len() as u32;
        Some(match cell {
            Cell::Empty => return None,
            Cell::Masked => Self::Run(0, size),
            Cell::Label(_) if domain.is_numeric() && cell.is_missing() => {
                Self::single(domain.missing_number())
            }
            Cell::Label(label) => match domain.hierarchy() {
                Some(tree) => match tree.find(label).map(|index| tree.node(index)) {
                    Some(node) => Self::Run(node.first_leaf.0, node.last_leaf().0 + 1),
                    None => Self::Run(0, 0),
                },
                None => Self::single(domain.code_of_label(label)),
            },
            // A fingerprint speaks of many values and covers no single one.
            Cell::Items(_) => Self::Run(0, 0),
            Cell::Set(members) => Self::Codes(
                members
                    .iter()
                    .filter_map(|label| domain.code_of_label(label))
                    .map(|code| code.0)
                    .collect(),
            ),
            Cell::Integer(..) | Cell::Decimal(..) | Cell::Date(..) => run(domain.values(), cell),
            Cell::OrMissing(interval) => {
                match (run(domain.values(), interval), domain.missing_number()) {
                    (Self::Run(from, to), Some(Code(missing))) => Self::RunAnd(from, to, missing),
                    (known, _) => known,
                }
            }
        })
    }

    fn single(code: Option<Code>) -> Self {
        code.map_or(Self::Run(0, 0), |code| Self::Run(code.0, code.0 + 1))
    }

    /// Number of codes covered.
    pub fn len(&self) -> usize {
        match self {
            Self::Run(from, to) => (to - from) as usize,
            Self::Codes(codes) => codes.len(),
            Self::RunAnd(from, to, _) => (to - from) as usize + 1,
        }
    }

    /// The codes covered, ascending, in runs: a number's cell may cover a
    /// hundred thousand values.
    pub fn runs(&self) -> impl Iterator<Item = Range<u32>> {
        let (run, codes) = match self {
            Self::Run(from, to) => (Some(*from..*to), &[][..]),
            Self::Codes(codes) => (None, &codes[..]),
            Self::RunAnd(from, to, missing) => (Some(*from..*to), std::slice::from_ref(missing)),
        };
        let codes = codes.iter().map(|&code| code..code + 1);
        run.into_iter().chain(codes)
    }

    /// Whether a code is covered.
    pub fn contains(&self, code: u32) -> bool {
        match self {
            Self::Run(from, to) => *from <= code && code < *to,
            Self::Codes(codes) => codes.contains(&code),
            Self::RunAnd(from, to, missing) => (*from <= code && code < *to) || code == *missing,
        }
    }

    /// The one code that an exact value covers.
    pub fn exact(&self) -> Option<u32> {
        match self {
            Self::Run(from, to) if to - from == 1 => Some(*from),
            Self::Codes(codes) if codes.len() == 1 => Some(codes[0]),
            _ => None,
        }
    }
}

/// The run of values between both ends of a numeric cell.
fn run(values: &Values, cell: &Cell) -> Coverage {
    fn between<T: PartialOrd>(values: &[T], lo: &T, hi: &T) -> Coverage {
        let from = values.partition_point(|value| value < lo) as u32;
        let to = values.partition_point(|value| value <= hi) as u32;
        Coverage::Run(from, to.max(from))
    }
    match (values, cell) {
        (Values::Integer(values), Cell::Integer(lo, hi)) => between(values, lo, hi),
        (Values::Decimal(values), Cell::Decimal(lo, hi)) => between(values, lo, hi),
        (Values::Date(values), Cell::Date(lo, hi)) => between(values, lo, hi),
        _ => Coverage::Run(0, 0),
    }
}

/// Shares of a pool's cells by code: the bucket's own with a bucket per row,
/// the mixture of the group's buckets otherwise. Sums to 1.
pub fn pool_shares(buckets: &Buckets<'_>, codes: &[Option<u32>], pool: usize) -> Vec<(u32, f64)> {
    let mut shares = Vec::new();
    let mut add = |bucket: usize, weight: f64| {
        let size = f64::from(buckets.sizes()[bucket]);
        for (value, count) in buckets.coded_run(bucket) {
            if let Some(code) = codes[value as usize] {
                shares.push((code, weight * f64::from(count) / size));
            }
        }
    };
    match buckets.link() {
        Link::Row(_) => add(pool, 1.0),
        Link::Group {
            starts,
            buckets: of_group,
            counts,
            ..
        } => {
            let run = starts[pool] as usize..starts[pool + 1] as usize;
            let total: f64 = counts[run.clone()].iter().map(|&n| f64::from(n)).sum();
            for at in run {
                add(of_group[at] as usize, f64::from(counts[at]) / total);
            }
        }
    }
    shares
}

/// The code of each value of the buckets' dictionary, where it is one of the
/// domain's.
pub fn value_codes(domain: &Domain, buckets: &Buckets<'_>) -> Vec<Option<u32>> {
    let cells = buckets.cells().iter();
    cells
        .map(|cell| Coverage::of(domain, cell)?.exact())
        .collect()
}
