//! What a published cell says: the set of source values that it covers.
//!
//! Resolved once a distinct cell, against the ordered domain of the
//! attribute in the original table: intervals and hierarchy nodes are runs of
//! codes, sets are lists of codes. A cell that says something the domain does
//! not know (a label that is no node, an interval whose ends are no values of
//! the attribute, a number in a column of categories, NaN) is *unknown* and
//! covers nothing.
//!
//! That interval ends must be values of the attribute is more than coverage
//! asks for, and on purpose: ends that were free numbers could carry anything.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

use crate::microdata::{Code, Codes, Domain, Hierarchy, Values, of_width};
use crate::release::{Cell, Cells, Item, PublishedColumn};

/// The label of a root that says nothing; it is published as a mask.
pub(super) const ANY: &str = "*";

/// What one distinct cell of a column covers.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Meaning {
    /// Nothing: the value is in a bucket.
    Empty,
    /// Any value.
    Masked,
    /// The codes from `first` to `last`, both included.
    Span { first: u32, last: u32 },
    /// These codes, ascending; at least two.
    Values(Vec<u32>),
    /// Numbers or days from `first` to `last`, or the missing value, whose code
    /// is the third.
    SpanOrMissing { first: u32, last: u32, missing: u32 },
    /// Something that the attribute's domain does not know.
    Unknown,
}

impl Meaning {
    /// What `cell` says about an attribute with this domain.
    pub(super) fn of(cell: &Cell, domain: &Domain) -> Self {
        match (cell, domain.values()) {
            (Cell::Empty, _) => Self::Empty,
            (Cell::Masked, _) => Self::Masked,
            (Cell::Integer(lo, hi), Values::Integer(values)) => span(
                find(values, |value| value.cmp(lo)),
                find(values, |value| value.cmp(hi)),
            ),
            (Cell::Date(lo, hi), Values::Date(values)) => span(
                find(values, |value| value.cmp(lo)),
                find(values, |value| value.cmp(hi)),
            ),
            (Cell::Decimal(lo, hi), Values::Decimal(values)) => {
                span(find_number(values, *lo), find_number(values, *hi))
            }
            (Cell::Label(label), _) => match domain.hierarchy() {
                Some(hierarchy) => node_span(hierarchy, label),
                None => span(code(domain, label), code(domain, label)),
            },
            (Cell::Set(labels), Values::Category(_)) => set(labels, domain),
            (Cell::OrMissing(interval), _) => or_missing(interval, domain),
            _ => Self::Unknown,
        }
    }

    /// Whether a source value lies under the cell.
    pub(super) fn covers(&self, code: u32) -> bool {
        match self {
            Self::Masked => true,
            Self::Span { first, last } => *first <= code && code <= *last,
            Self::Values(codes) => codes.binary_search(&code).is_ok(),
            Self::SpanOrMissing {
                first,
                last,
                missing,
            } => (*first <= code && code <= *last) || code == *missing,
            Self::Empty | Self::Unknown => false,
        }
    }

    /// The single code that the cell covers, where it is one.
    pub(super) fn single(&self) -> Option<u32> {
        match self {
            Self::Span { first, last } if first == last => Some(*first),
            _ => None,
        }
    }
}

fn code(domain: &Domain, label: &str) -> Option<u32> {
    domain.code_of_label(label).map(|code| code.0)
}

fn find<V>(values: &[V], order: impl FnMut(&V) -> Ordering) -> Option<u32> {
    values.binary_search_by(order).ok().map(|at| at as u32)
}

fn find_number(values: &[f64], number: f64) -> Option<u32> {
    if number.is_nan() {
        return None;
    }
    // partial_cmp, not total_cmp: 0 and -0 are one value. Domains hold no NaN.
    find(values, |value| {
        value.partial_cmp(&number).unwrap_or(Ordering::Less)
    })
}

fn span(first: Option<u32>, last: Option<u32>) -> Meaning {
    match (first, last) {
        (Some(first), Some(last)) if first <= last => Meaning::Span { first, last },
        _ => Meaning::Unknown,
    }
}

/// An interval of numbers, or the missing value; both must be known.
fn or_missing(interval: &Cell, domain: &Domain) -> Meaning {
    match (Meaning::of(interval, domain), domain.missing_number()) {
        (Meaning::Span { first, last }, Some(Code(missing))) if interval.interval().is_some() => {
            Meaning::SpanOrMissing {
                first,
                last,
                missing,
            }
        }
        _ => Meaning::Unknown,
    }
}

fn node_span(hierarchy: &Hierarchy, label: &str) -> Meaning {
    let Some(index) = hierarchy.find(label) else {
        return Meaning::Unknown;
    };
    let node = hierarchy.node(index);
    // Of nodes over the same leaves only the lowest is published.
    if hierarchy.common_ancestor(node.first_leaf, node.last_leaf()) != index {
        return Meaning::Unknown;
    }
    let Code(first) = node.first_leaf;
    let Code(last) = node.last_leaf();
    Meaning::Span { first, last }
}

fn set(labels: &[String], domain: &Domain) -> Meaning {
    let codes: Option<Vec<u32>> = labels.iter().map(|label| code(domain, label)).collect();
    let Some(mut codes) = codes else {
        return Meaning::Unknown;
    };
    codes.sort_unstable();
    codes.dedup();
    // One value is written as a label; a repeated member is no set.
    if codes.len() == labels.len() && codes.len() >= 2 {
        Meaning::Values(codes)
    } else {
        Meaning::Unknown
    }
}

/// The least cell that covers `codes` of numbers or days with this missing
/// value; the codes are at least one.
pub(super) fn least_of_numbers(codes: impl Iterator<Item = u32>, missing: u32) -> Meaning {
    let (mut ends, mut is_missing) = (None, false);
    for code in codes {
        match ends {
            _ if code == missing => is_missing = true,
            None => ends = Some((code, code)),
            Some((first, last)) => ends = Some((code.min(first), code.max(last))),
        }
    }
    match (ends, is_missing) {
        (Some((first, last)), true) => Meaning::SpanOrMissing {
            first,
            last,
            missing,
        },
        (Some((first, last)), false) => Meaning::Span { first, last },
        (None, _) => Meaning::Span {
            first: missing,
            last: missing,
        },
    }
}

/// A published attribute column, each distinct cell resolved.
#[derive(Debug)]
pub(super) struct MeaningColumn<'a> {
    /// Position in `meanings` of each row's cell.
    pub(super) codes: &'a Codes,
    /// What each entry of the dictionary says.
    pub(super) meanings: Vec<Meaning>,
    /// Category of each entry of the dictionary: equal cells share one, as
    /// they look the same to a reader.
    pub(super) categories: Vec<u32>,
}

impl<'a> MeaningColumn<'a> {
    /// The column, or `None` if it is no dictionary or points beyond it.
    pub(super) fn of(column: &'a PublishedColumn, domain: &Domain) -> Option<Self> {
        let (codes, cells) = dictionary(column)?;
        Some(Self {
            codes,
            categories: categories(cells),
            meanings: cells.iter().map(|cell| Meaning::of(cell, domain)).collect(),
        })
    }

    /// What a row's cell says.
    #[inline]
    pub(super) fn meaning(&self, row: usize) -> &Meaning {
        &self.meanings[self.codes.at(row) as usize]
    }

    /// Category of a row's cell.
    #[inline]
    pub(super) fn category(&self, row: usize) -> u32 {
        self.categories[self.codes.at(row) as usize]
    }
}

/// Category of each entry of a dictionary; equal cells share one.
pub(super) fn categories(cells: &[Cell]) -> Vec<u32> {
    let mut seen = FxHashMap::default();
    let categories = cells.iter().map(|cell| {
        let next = seen.len() as u32;
        *seen.entry(CellKey::of(cell)).or_insert(next)
    });
    categories.collect()
}

/// The parts of a dictionary column whose codes stay within the dictionary.
pub(super) fn dictionary(column: &PublishedColumn) -> Option<(&Codes, &[Cell])> {
    match &column.cells {
        Cells::Dictionary { codes, cells } => {
            let last = of_width!(codes, codes => codes.iter().max().map(|&code| code as usize));
            let within = last.is_none_or(|last| last < cells.len());
            within.then_some((codes, cells.as_slice()))
        }
        Cells::Numbers(_) => None,
    }
}

/// The numbers of a number column.
pub(super) fn numbers(column: &PublishedColumn) -> Option<&[u64]> {
    match &column.cells {
        Cells::Numbers(numbers) => Some(numbers),
        Cells::Dictionary { .. } => None,
    }
}

/// A cell as a key: equal exactly where the texts are.
#[derive(PartialEq, Eq, Hash)]
enum CellKey<'a> {
    Empty,
    Masked,
    Integer(i64, i64),
    Decimal(u64, u64),
    Date(i32, i32),
    Label(&'a str),
    Set(&'a [String]),
    Items(&'a [Item]),
    OrMissing(Box<CellKey<'a>>),
}

impl<'a> CellKey<'a> {
    fn of(cell: &'a Cell) -> Self {
        // Adding 0 turns -0 into 0, which is written the same.
        let bits = |number: f64| (number + 0.0).to_bits();
        match cell {
            Cell::Empty => Self::Empty,
            Cell::Masked => Self::Masked,
            Cell::Integer(lo, hi) => Self::Integer(*lo, *hi),
            Cell::Decimal(lo, hi) => Self::Decimal(bits(*lo), bits(*hi)),
            Cell::Date(lo, hi) => Self::Date(*lo, *hi),
            Cell::Label(label) => Self::Label(label),
            Cell::Set(labels) => Self::Set(labels),
            Cell::Items(items) => Self::Items(items),
            Cell::OrMissing(interval) => Self::OrMissing(Box::new(Self::of(interval))),
        }
    }
}
