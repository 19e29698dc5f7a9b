//! Classes by how they look in two attributes at once.
//!
//! Many classes look the same in any two attributes. For many queries each pair
//! of attributes is numbered once: a query on one or two of them then asks
//! each look once, not each class, and one on more looks up half as often.

use std::collections::hash_map::Entry;
use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::block::RowBounds;
use super::columns::IndexedColumn;
use super::table::JudgementTable;
use crate::microdata::Codes;

/// A release of more attributes has too many pairs to be kept.
const ATTRIBUTES_MAX: usize = 16;
/// Classes for each look of a pair, at least: else it is no shorter than the
/// classes themselves.
const CLASSES_PER_LOOK: usize = 3;
/// Numbers of looks are kept in a table of their own while it is no larger than
/// so many times the classes; else they are looked up.
const SPACE_PER_CLASS: usize = 8;

/// The pairs of a release's attributes, an attribute with itself among them;
/// each is numbered when it is first asked for.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    attributes: usize,
    /// `None` where classes differ too much.
    pairs: Vec<OnceLock<Option<Pair>>>,
}

/// What classes look like in two attributes.
#[derive(Debug)]
pub(super) struct Pair {
    /// Per class: the number of its look.
    pub(super) of_class: Codes,
    /// Per look: the positions of its two cells.
    cells: Vec<(u32, u32)>,
    /// Per look: rows of the classes that have it.
    rows: Vec<f64>,
    /// Per look: classes that have it.
    classes: Vec<f64>,
}

impl Pairs {
    /// Room for the pairs of as many attributes; none if there are too many, or
    /// fewer queries than pairs.
    pub(super) fn of(attributes: usize, queries: u32) -> Self {
        let pairs = attributes * attributes;
        let kept = attributes <= ATTRIBUTES_MAX && pairs <= queries as usize;
        Self {
            attributes,
            pairs: (0..if kept { pairs } else { 0 })
                .map(|_| OnceLock::new())
                .collect(),
        }
    }

    /// Whether any are.
    pub(super) fn are_kept(&self) -> bool {
        !self.pairs.is_empty()
    }

    /// The pair of two attributes in order, of classes with these sizes; `None`
    /// where it is not kept.
    pub(super) fn get(
        &self,
        (one, other): (usize, usize),
        columns: &[IndexedColumn],
        sizes: &[f64],
    ) -> Option<&Pair> {
        debug_assert!(one <= other, "a pair would be numbered twice");
        let pair = self.pairs.get(one * self.attributes + other)?;
        let number = || Pair::of(&columns[one].of_class, &columns[other].of_class, sizes);
        pair.get_or_init(number).as_ref()
    }
}

impl Pair {
    fn of(one: &Codes, other: &Codes, sizes: &[f64]) -> Option<Self> {
        let width = |codes: &Codes| codes.iter().max().map_or(0, |code| code as usize + 1);
        let columns = width(other);
        let mut numbers = Numbers::of(width(one) * columns, sizes.len());
        let looks_max = sizes.len() / CLASSES_PER_LOOK;
        let mut cells = Vec::new();
        let (mut rows, mut classes) = (Vec::new(), Vec::new());
        let mut of_class = Codes::default();
        for ((one, other), &size) in one.iter().zip(other.iter()).zip(sizes) {
            let next = cells.len() as u32;
            let number = numbers.number(u64::from(one) * columns as u64 + u64::from(other), next);
            if number == next {
                if cells.len() == looks_max {
                    return None;
                }
                cells.push((one, other));
                rows.push(0.0);
                classes.push(0.0);
            }
            rows[number as usize] += size;
            classes[number as usize] += 1.0;
            of_class.push(number);
        }
        Some(Self {
            of_class,
            cells,
            rows,
            classes,
        })
    }

    /// The share of each look, into `weights`: the product of those of its two
    /// cells, or that of the first alone.
    pub(super) fn weigh(
        &self,
        one: &JudgementTable,
        other: Option<&JudgementTable>,
        weights: &mut Vec<f64>,
    ) {
        weights.clear();
        let shares = self.cells.iter().map(|&(at, _)| one.weights[at as usize]);
        weights.extend(shares);
        if let Some(other) = other {
            for (weight, &(_, at)) in weights.iter_mut().zip(&self.cells) {
                *weight *= other.weights[at as usize];
            }
        }
    }

    /// Counts all classes by the share of their look; no row may have a say of
    /// its own.
    pub(super) fn sum(&self, weights: &[f64], tally: &mut RowBounds) {
        let (mut certain, mut possible, mut touched) = (0.0, 0.0, 0.0);
        for ((&share, &rows), &classes) in weights.iter().zip(&self.rows).zip(&self.classes) {
            tally.estimate += share * rows;
            if share > 0.0 {
                possible += rows;
                touched += classes;
            }
            if share == 1.0 {
                certain += rows;
            }
        }
        // Whole numbers of rows, far below what a float holds exactly.
        tally.certain += certain as u64;
        tally.possible += possible as u64;
        tally.groups_touched += touched as u64;
    }
}

/// Numbers of looks in order of first appearance.
enum Numbers {
    /// One more than the number at each look's place; 0 for none.
    Table(Vec<u32>),
    Map(FxHashMap<u64, u32>),
}

impl Numbers {
    fn of(space: usize, classes: usize) -> Self {
        if space <= SPACE_PER_CLASS * classes {
            Self::Table(vec![0; space])
        } else {
            Self::Map(FxHashMap::default())
        }
    }

    /// The number of the look at `place`: `next` if it is new.
    #[inline]
    fn number(&mut self, place: u64, next: u32) -> u32 {
        match self {
            Self::Table(numbers) => {
                let number = &mut numbers[place as usize];
                if *number == 0 {
                    *number = next + 1;
                }
                *number - 1
            }
            Self::Map(numbers) => match numbers.entry(place) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => *new.insert(next),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::microdata::AttributeType;
    use crate::query::count::{Count, Scratch};
    use crate::query::index::{Hierarchies, QueryIndex};
    use crate::query::{Predicate, Query};
    use crate::release::{Cell, Cells, Content, PublishedColumn, PublishedTable};

    /// How an attribute is published.
    const EXACTLY: u8 = 0;
    /// Its widest cells are empty: their rows answer for themselves.
    const IN_PART: u8 = 1;

    /// Two rows of each look; `looks` are low ends and widths by attribute.
    fn table(looks: &[Vec<(i64, i64)>], ways: &[u8]) -> PublishedTable {
        let looks: Vec<_> = looks.iter().flat_map(|look| [look, look]).collect();
        let column = |name: String, content, kind, cells| PublishedColumn {
            name,
            content,
            kind,
            cells,
        };
        let groups = Cells::Numbers((0..looks.len() as u64).map(|row| row / 2 + 1).collect());
        let mut columns = vec![column("group".into(), Content::Group, None, groups)];
        for (at, &way) in ways.iter().enumerate() {
            let cell = |row: &&Vec<(i64, i64)>| match (row[at], way) {
                ((low, _), EXACTLY) => Cell::Integer(low, low),
                ((_, 3), IN_PART) => Cell::Empty,
                ((low, width), _) => Cell::Integer(low, low + width),
            };
            let cells = Cells::Dictionary {
                codes: (0..looks.len() as u32).collect(),
                cells: looks.iter().map(cell).collect(),
            };
            let content = if way == EXACTLY {
                Content::Exact
            } else {
                Content::Generalized
            };
            let kind = Some(AttributeType::Integer);
            columns.push(column(format!("a{at}"), content, kind, cells));
        }
        PublishedTable {
            name: "microdata".into(),
            columns,
        }
        .canonical()
    }

    fn predicates(asked: &[(usize, i64, i64)]) -> Vec<Predicate> {
        let predicate = |&(at, low, width): &(usize, i64, i64)| serde_json::json!({"attribute": format!("a{at}"), "op": "between", "lo": low, "hi": low + width});
        let asked: Vec<_> = asked.iter().map(predicate).collect();
        let query = serde_json::json!({"count": true, "where": asked});
        serde_json::from_value::<Query>(query).unwrap().predicates
    }

    proptest! {
        #[test]
        fn many_queries_are_answered_as_one_is(
            looks in prop::collection::vec(prop::collection::vec((0..2_i64, 0..4_i64), 7), 1..150),
            ways in prop::collection::vec(0..8_u8, 7),
            asked in prop::collection::vec(
                prop::collection::vec((0..7_usize, 0..3_i64, 0..3_i64), 0..7), 1..12),
        ) {
            let tables = [table(&looks, &ways)];
            let plain = QueryIndex::new(&tables, &Hierarchies::new()).unwrap();
            let paired = QueryIndex::new(&tables, &Hierarchies::new()).unwrap().for_queries(1_000);
            let (mut one, mut other) = (Scratch::default(), Scratch::default());
            for asked in &asked {
                let conditions = plain.conditions(&predicates(asked)).unwrap();
                let wanted = plain.count(&conditions, &mut one);
                let found = paired.count(&conditions, &mut other);
                let near = (found.estimate - wanted.estimate).abs() < 1e-9;
                prop_assert!(near, "{} {}", found.estimate, wanted.estimate);
                prop_assert_eq!(Count { estimate: wanted.estimate, ..found }, wanted);
            }
        }
    }

    #[test]
    fn looks_are_found_with_and_without_a_table_of_their_numbers() {
        use super::{Numbers, SPACE_PER_CLASS};
        for space in [SPACE_PER_CLASS * 4, SPACE_PER_CLASS * 4 + 1] {
            let mut numbers = Numbers::of(space, 4);
            let is_table = matches!(numbers, Numbers::Table(_));
            assert_eq!(is_table, space == SPACE_PER_CLASS * 4);
            let places = [7, 0, 7, 9, 0];
            let mut next = 0;
            let found = places.map(|place| {
                let number = numbers.number(place, next);
                next += u32::from(number == next);
                number
            });
            assert_eq!(found, [0, 1, 0, 2, 1]);
        }
    }
}
