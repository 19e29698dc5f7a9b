//! Cells at once beside cells one by one, on releases that are made up: every
//! kind of cell and link beside every other.

use std::sync::Arc;

use proptest::prelude::*;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use serde_json::{Value, json};

use crate::microdata::AttributeType::{self, Categorical, Date, Integer};
use crate::microdata::{Hierarchy, HierarchyFormat, HierarchySource};
use crate::privacy::CancelFlag;
use crate::query::index::{Hierarchies, QueryIndex};
use crate::query::{AnsweredCell, InvalidQuery, Query};
use crate::release::{Cell, Cells, Content, PublishedColumn, PublishedTable};

type Rng = ChaCha12Rng;

/// How an attribute is published.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Exactly,
    Generalized,
    /// In buckets that rows name, or that groups do, or generalized.
    InBuckets,
    InBucketsOfGroups,
}

const WAYS: [Way; 4] = [
    Way::Exactly,
    Way::Generalized,
    Way::InBuckets,
    Way::InBucketsOfGroups,
];

fn tree() -> Arc<Hierarchy> {
    let text = "a;left;all\nb;left;all\nc;left;all\nd;right;all\ne;right;all\n";
    match HierarchySource::read(text.as_bytes(), HierarchyFormat::Csv) {
        Ok(HierarchySource::Tree(tree)) => tree,
        other => panic!("{other:?}"),
    }
}

/// A value of an attribute; of categories a leaf of the tree.
fn exact(kind: AttributeType, rng: &mut Rng) -> Cell {
    match kind {
        Integer => {
            let value = rng.random_range(-2..4);
            Cell::Integer(value, value)
        }
        Date => {
            let day = rng.random_range(100..104);
            Cell::Date(day, day)
        }
        _ => Cell::Label(["a", "b", "c", "d", "e"].choose(rng).unwrap().to_string()),
    }
}

/// What a group shows of an attribute.
fn generalized(kind: AttributeType, has_tree: bool, rng: &mut Rng) -> Cell {
    if rng.random_bool(0.1) {
        return Cell::Masked;
    }
    if rng.random_bool(0.4) {
        return exact(kind, rng);
    }
    let (one, other) = (exact(kind, rng), exact(kind, rng));
    match (one, other) {
        (Cell::Integer(one, _), Cell::Integer(other, _)) => {
            let interval = Cell::Integer(one.min(other), one.max(other));
            match rng.random_range(0..5) {
                0 => Cell::OrMissing(Box::new(interval)),
                1 => Cell::missing(),
                _ => interval,
            }
        }
        (Cell::Date(one, _), Cell::Date(other, _)) => Cell::Date(one.min(other), one.max(other)),
        (Cell::Label(one), Cell::Label(other)) if one != other && rng.random_bool(0.5) => {
            let mut members = vec![one, other];
            members.sort();
            Cell::Set(members)
        }
        _ if has_tree => Cell::Label(["left", "right", "all"].choose(rng).unwrap().to_string()),
        (one, _) => one,
    }
}

fn dictionary(rows: Vec<Cell>) -> Cells {
    let mut cells: Vec<Cell> = Vec::new();
    let codes = rows.into_iter().map(|cell| {
        let known = cells.iter().position(|known| *known == cell);
        known.unwrap_or_else(|| {
            cells.push(cell);
            cells.len() - 1
        }) as u32
    });
    Cells::Dictionary {
        codes: codes.collect(),
        cells,
    }
}

/// Rows of the table of buckets: attribute, bucket, value, count.
type BucketRows = Vec<(String, u64, Cell, u64)>;

/// A release while it is made up.
struct Made {
    rng: Rng,
    /// The group of each row, from 1.
    groups: Vec<u64>,
    columns: Vec<PublishedColumn>,
    buckets: BucketRows,
    /// Group, attribute, bucket, count.
    links: Vec<(u64, String, u64, u64)>,
}

impl Made {
    fn new(mut rng: Rng) -> Self {
        let groups: Vec<u64> = (1..=rng.random_range(1..7))
            .flat_map(|group| vec![group; rng.random_range(1..5)])
            .collect();
        let columns = vec![PublishedColumn::of_numbers(
            Content::Group,
            groups.iter().copied(),
        )];
        Self {
            rng,
            groups,
            columns,
            buckets: Vec::new(),
            links: Vec::new(),
        }
    }

    fn attribute(&mut self, name: &str, kind: AttributeType, has_tree: bool) {
        let way = *WAYS.choose(&mut self.rng).unwrap();
        let groups = self.groups[self.groups.len() - 1];
        let of_group: Vec<Cell> = (0..groups)
            .map(|_| match way {
                Way::InBuckets | Way::InBucketsOfGroups if self.rng.random_bool(0.6) => Cell::Empty,
                _ => generalized(kind, has_tree, &mut self.rng),
            })
            .collect();
        let is_odd = self.rng.random_bool(0.2);
        let rows: Vec<Cell> = (self.groups.clone().into_iter())
            .map(|group| match way {
                Way::Exactly if is_odd && self.rng.random_bool(0.2) => Cell::Masked,
                Way::Exactly => exact(kind, &mut self.rng),
                _ => of_group[group as usize - 1].clone(),
            })
            .collect();
        let hidden: Vec<bool> = rows.iter().map(|cell| *cell == Cell::Empty).collect();
        let content = match way {
            Way::Exactly => Content::Exact,
            _ => Content::Generalized,
        };
        self.columns.push(PublishedColumn {
            name: name.into(),
            content,
            kind: Some(kind),
            cells: dictionary(rows),
        });
        if hidden.contains(&true) {
            self.bucketize(name, kind, way, &hidden);
        }
    }

    /// Puts rows whose cell is empty into two buckets or three.
    fn bucketize(&mut self, name: &str, kind: AttributeType, way: Way, hidden: &[bool]) {
        let mut used: Vec<u64> = Vec::new();
        let mut bucket_of = Vec::new();
        for &hidden in hidden {
            let wanted: u64 = self.rng.random_range(0..3);
            bucket_of.push(if hidden {
                let known = used.iter().position(|&known| known == wanted);
                known.unwrap_or_else(|| {
                    used.push(wanted);
                    used.len() - 1
                }) as u64
                    + 1
            } else {
                0
            });
        }
        for &bucket in bucket_of.iter().filter(|&&bucket| bucket > 0) {
            let value = exact(kind, &mut self.rng);
            let mut rows = self.buckets.iter_mut();
            let known = rows.find(|row| (&*row.0, row.1, &row.2) == (name, bucket, &value));
            match known {
                Some(row) => row.3 += 1,
                None => self.buckets.push((name.into(), bucket, value, 1)),
            }
        }
        if way == Way::InBuckets {
            let column = PublishedColumn::of_numbers(Content::Bucket, bucket_of.into_iter());
            self.columns.push(column.named_after(name, "_bucket"));
            return;
        }
        for (&group, &bucket) in self.groups.iter().zip(&bucket_of) {
            let mut links = self.links.iter_mut();
            let known = links.find(|link| (link.0, &*link.1, link.2) == (group, name, bucket));
            match known {
                _ if bucket == 0 => {}
                Some(link) => link.3 += 1,
                None => self.links.push((group, name.into(), bucket, 1)),
            }
        }
    }

    fn tables(self) -> Vec<PublishedTable> {
        let numbers =
            |content, numbers: Vec<u64>| PublishedColumn::of_numbers(content, numbers.into_iter());
        let labels =
            |content, labels: Vec<Cell>| PublishedColumn::of_content(content, dictionary(labels));
        let (buckets, links) = (self.buckets, self.links);
        let name = |name: &String| Cell::Label(name.clone());
        let columns_of_buckets = vec![
            labels(
                Content::Attribute,
                buckets.iter().map(|row| name(&row.0)).collect(),
            ),
            numbers(Content::Bucket, buckets.iter().map(|row| row.1).collect()),
            labels(
                Content::Value,
                buckets.iter().map(|row| row.2.clone()).collect(),
            ),
            numbers(Content::Count, buckets.iter().map(|row| row.3).collect()),
        ];
        let columns_of_links = vec![
            numbers(Content::Group, links.iter().map(|link| link.0).collect()),
            labels(
                Content::Attribute,
                links.iter().map(|link| name(&link.1)).collect(),
            ),
            numbers(Content::Bucket, links.iter().map(|link| link.2).collect()),
            numbers(Content::Count, links.iter().map(|link| link.3).collect()),
        ];
        let table = |name: &str, columns| PublishedTable {
            name: name.into(),
            columns,
        };
        vec![
            table("microdata", self.columns),
            table("buckets", columns_of_buckets),
            table("group_buckets", columns_of_links),
        ]
    }
}

const NUMBERS: [&str; 2] = ["n", "m"];
const DAYS: [&str; 1] = ["d"];
const CATEGORIES: [&str; 3] = ["t", "u", "s"];

fn release(seed: u64) -> Vec<PublishedTable> {
    let mut made = Made::new(Rng::seed_from_u64(seed));
    NUMBERS
        .iter()
        .for_each(|name| made.attribute(name, Integer, false));
    DAYS.iter()
        .for_each(|name| made.attribute(name, Date, false));
    for name in CATEGORIES {
        made.attribute(name, Categorical, name != "s");
    }
    made.tables()
}

/// A question of a count and of the numbers, grouped by up to three attributes.
fn question(rng: &mut Rng) -> Value {
    let names: Vec<&str> = [&NUMBERS[..], &DAYS[..], &CATEGORIES[..]].concat();
    let how_many = rng.random_range(1..4);
    let group_by: Vec<&str> = names.sample(rng, how_many).copied().collect();
    let conditions = (0..rng.random_range(0..4)).map(|_| {
        let name = *names.choose(rng).unwrap();
        if NUMBERS.contains(&name) {
            let lo = rng.random_range(-2..3);
            return json!({"attribute": name, "op": "between", "lo": lo, "hi": lo + 2});
        }
        if DAYS.contains(&name) {
            let day = ["1970-04-12", "1970-04-13"].choose(rng).unwrap();
            return json!({"attribute": name, "op": "!=", "value": day});
        }
        let value = ["a", "b", "d"].choose(rng).unwrap();
        let op = ["=", "!="].choose(rng).unwrap();
        json!({"attribute": name, "op": op, "value": value})
    });
    json!({"count": true, "sum": ["n"], "avg": ["n", "m"], "group_by": group_by,
        "where": conditions.collect::<Vec<_>>()})
}

/// Both answers, or why there is none; whether cells were answered at once.
fn both(
    index: &QueryIndex<'_>,
    question: &Value,
) -> Result<(Cellular, Cellular, bool), InvalidQuery> {
    let query: Query = serde_json::from_value(question.clone()).unwrap();
    let at_once = index.answer(&query, CancelFlag::never())?.cells;
    let (one_by_one, is_at_once) = index.answer_one_by_one(&query)?;
    Ok((at_once, one_by_one, is_at_once))
}

type Cellular = Vec<AnsweredCell>;

fn hierarchies() -> Hierarchies {
    let tree = tree();
    CATEGORIES[..2]
        .iter()
        .map(|name| ((*name).to_owned(), Arc::clone(&tree)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn cells_at_once_are_those_one_by_one_to_the_last_bit(seed: u64) {
        let tables = release(seed);
        let index = QueryIndex::new(&tables, &hierarchies()).unwrap();
        let mut rng = Rng::seed_from_u64(!seed);
        for _ in 0..8 {
            let question = question(&mut rng);
            if let Ok((at_once, one_by_one, _)) = both(&index, &question) {
                prop_assert_eq!(at_once, one_by_one, "{}", question);
            }
        }
    }
}

#[test]
fn made_up_releases_are_answered_at_once_in_every_way() {
    let (mut at_once, mut asked, mut in_cells) = (0, 0, 0);
    for seed in 0..200 {
        let tables = release(seed);
        let index = QueryIndex::new(&tables, &hierarchies()).unwrap();
        let mut rng = Rng::seed_from_u64(seed);
        if let Ok((cells, _, is_at_once)) = both(&index, &question(&mut rng)) {
            asked += 1;
            at_once += u32::from(is_at_once);
            in_cells += cells.len();
        }
    }
    assert!(asked > 100 && in_cells > 10 * asked, "{asked} {in_cells}");
    assert!(
        u64::from(at_once) * 10 > 8 * asked as u64,
        "{at_once} of {asked}"
    );
}
