//! Releases that cover their source and promise nothing.
//!
//! Measures and queries must be right for any release that fits together, not
//! only for those an engine makes: groups of any size, masked cells anywhere,
//! buckets that hold a value several times, records left out.

use std::collections::BTreeMap;

use rand::seq::SliceRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use serde_json::json;
use vizard_anonymizer::microdata::{AttributeIndex, Code, RecordIndex, Role, SubjectIndex, Table};
use vizard_anonymizer::privacy::{CancelFlag, InBucket, K, L, Model, Policy, Requirements, Spread};
use vizard_anonymizer::release::{
    Cell, Cells, Content, InputDescription, Lineage, MadeBy, Manifest, PublishedExactly,
    PublishedTable, TableLineage,
};
use vizard_anonymizer::utility::Evidence;

use super::cells::{column, covering, dictionary, exact};
use super::source::table;

/// A release beside its source.
pub struct Loose {
    pub table: Table,
    pub requirements: Requirements,
    pub manifest: Manifest,
    pub tables: Vec<PublishedTable>,
    pub lineage: Lineage,
}

impl Loose {
    /// Makes a release from a seed; `by_group` links buckets to groups.
    pub fn new(seed: u64, records: usize, by_group: bool) -> Self {
        Self::in_blocks(seed, records, by_group, 1)
    }

    /// The same in so many blocks: no group and no bucket has rows of two of them,
    /// and nobody has the height of somebody in another one.
    pub fn in_blocks(seed: u64, records: usize, by_group: bool, blocks: usize) -> Self {
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        let table = table(records, &mut rng);
        let protections = table.schema().protectable().into_iter().map(|attribute| {
            let l = L::new(rng.random_range(1..4)).expect("l is at least 1");
            (
                attribute,
                InBucket::Diversity {
                    l,
                    min_spread: Spread::Nothing,
                },
            )
        });
        let policy = Policy {
            model: Model::Bucketized {
                protections: protections.collect(),
            },
            k: K::NONE,
            apply_preferences: true,
        };
        let requirements = Requirements::new(&table, policy, &[]);
        let (tables, lineage) =
            Publisher::new(&table, blocks, &mut rng).publish(by_group, &mut rng);
        let records = tables[0].rows() as u64;
        Self {
            manifest: manifest(records),
            table,
            requirements,
            tables,
            lineage,
        }
    }

    pub fn evidence(&self) -> Evidence<'_> {
        Evidence {
            table: &self.table,
            requirements: &self.requirements,
            manifest: &self.manifest,
            tables: &self.tables,
            lineage: &self.lineage,
            population_table: None,
            cancel: CancelFlag::never(),
        }
    }

    /// Record of each published row.
    pub fn records(&self) -> Vec<RecordIndex> {
        let subjects = self.lineage.of("microdata").expect("rows have a lineage");
        subjects
            .iter()
            .map(|subject| RecordIndex(subject.0))
            .collect()
    }
}

pub fn manifest(records: u64) -> Manifest {
    Manifest {
        format: Manifest::FORMAT.into(),
        engine: "lgb".into(),
        parameters: json!({}),
        records,
        excluded: 0,
        suppressed: 0,
        normalized: Vec::new(),
        transformed: Vec::new(),
        guarantees: Vec::new(),
        adversary: String::new(),
        not_protected: Vec::new(),
        published_exactly: PublishedExactly::default(),
        accept_exact: Vec::new(),
        parts: None,
        kept: None,
        tables: Vec::new(),
        input: InputDescription {
            dataset: "made-up".into(),
            version: 1,
            series: None,
        },
        made_by: MadeBy {
            vizard: "0.1.0".into(),
        },
        unverified: false,
        reproducible_seed: false,
    }
}

/// Decides what becomes of every record.
struct Publisher<'a> {
    table: &'a Table,
    /// Published records in order of rows.
    records: Vec<RecordIndex>,
    /// Group of each row, from 0.
    groups: Vec<usize>,
    group_count: usize,
    blocks: usize,
}

type Numbered = BTreeMap<(usize, usize), u64>;

impl<'a> Publisher<'a> {
    fn new(table: &'a Table, blocks: usize, rng: &mut impl Rng) -> Self {
        let mut records: Vec<RecordIndex> = (0..table.records())
            .filter(|_| rng.random_bool(0.95))
            .map(RecordIndex::from_usize)
            .collect();
        records.shuffle(rng);
        let group_count = rng.random_range(1..=records.len() / 4 + 1);
        // No number of a group is beyond the number of rows.
        let blocks = blocks.clamp(1, records.len().max(1));
        let heights = table.schema().find("height");
        let heights = heights.and_then(|index| table.coded(index));
        let heights = heights.expect("heights are published");
        let groups = records.iter().map(|&record| {
            let group = rng.random_range(0..group_count);
            group - group % blocks + heights.code(record).at() % blocks
        });
        Self {
            groups: groups.collect(),
            table,
            records,
            group_count: group_count.next_multiple_of(blocks),
            blocks,
        }
    }

    fn publish(&self, by_group: bool, rng: &mut impl Rng) -> (Vec<PublishedTable>, Lineage) {
        let group_numbers = self.groups.iter().map(|&group| group as u64 + 1).collect();
        let mut microdata = vec![column(
            "group",
            Content::Group,
            None,
            Cells::Numbers(group_numbers),
        )];
        let mut lists = Lists::default();
        for index in self.table.schema().publishable() {
            let attribute = self.table.schema().attribute(index);
            let name = attribute.name.as_str();
            let states: Vec<State> = (0..self.group_count)
                .map(|_| match State::draw(attribute.role, rng) {
                    // Blocks that showed the same would be one.
                    State::Masked if self.blocks > 1 && name == "height" => State::General,
                    state => state,
                })
                .collect();
            let cells = (0..self.records.len()).map(|row| self.cell(index, row, &states));
            let content = match attribute.role {
                Role::Insensitive => Content::Exact,
                _ => Content::Generalized,
            };
            microdata.push(column(name, content, attribute.kind, dictionary(cells)));
            if attribute.is_protectable() {
                let buckets = self.bucketize(index, &states, &mut lists, rng);
                if !by_group {
                    let name = format!("{name}_bucket");
                    microdata.push(column(
                        &name,
                        Content::Bucket,
                        None,
                        Cells::Numbers(buckets),
                    ));
                } else {
                    let mut counts = Numbered::new();
                    for (row, &bucket) in buckets
                        .iter()
                        .enumerate()
                        .filter(|(_, bucket)| **bucket > 0)
                    {
                        *counts
                            .entry((self.groups[row], bucket as usize))
                            .or_default() += 1;
                    }
                    lists.link(name, &counts);
                }
            }
        }
        let mut tables = vec![PublishedTable {
            name: "microdata".into(),
            columns: microdata,
        }];
        tables.extend(lists.tables(by_group));
        let lineage = TableLineage {
            table: "microdata".into(),
            subjects: self
                .records
                .iter()
                .map(|record| SubjectIndex(record.0))
                .collect(),
        };
        (
            tables,
            Lineage {
                tables: vec![lineage],
            },
        )
    }

    /// The cell of a row: what covers its group's values.
    fn cell(&self, index: AttributeIndex, row: usize, states: &[State]) -> Cell {
        let column = self.table.coded(index).expect("it is published");
        match states[self.groups[row]] {
            State::Masked => Cell::Masked,
            State::Bucket => Cell::Empty,
            State::Exact => exact(&column.domain, column.code(self.records[row])),
            State::General => {
                let members = self.groups.iter().enumerate();
                let codes: Vec<u32> = members
                    .filter(|(_, group)| **group == self.groups[row])
                    .map(|(row, _)| column.code(self.records[row]).0)
                    .collect();
                covering(&column.domain, codes)
            }
        }
    }

    /// Puts the bucketized cells into buckets of random sizes; returns the
    /// bucket of each row, 0 for none.
    fn bucketize(
        &self,
        index: AttributeIndex,
        states: &[State],
        lists: &mut Lists,
        rng: &mut impl Rng,
    ) -> Vec<u64> {
        let column = self.table.coded(index).expect("it is published");
        let name = &self.table.schema().attribute(index).name;
        let mut rows: Vec<usize> = (0..self.records.len())
            .filter(|&row| matches!(states[self.groups[row]], State::Bucket))
            .collect();
        rows.shuffle(rng);
        let block = |row: usize| self.groups[row] % self.blocks;
        rows.sort_by_key(|&row| block(row));
        let mut buckets = vec![0_u64; self.records.len()];
        let mut bucket = 0;
        while !rows.is_empty() {
            bucket += 1;
            let size = rng.random_range(1..=rows.len().min(5));
            let last = block(rows[rows.len() - 1]);
            let alike = rows.iter().rev().take_while(|&&row| block(row) == last);
            let size = alike.take(size).count();
            let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
            for row in rows.split_off(rows.len() - size) {
                buckets[row] = bucket;
                *counts.entry(column.code(self.records[row]).0).or_default() += 1;
            }
            for (code, count) in counts {
                lists.values.push((
                    name.clone(),
                    bucket,
                    exact(&column.domain, Code(code)),
                    count,
                ));
            }
        }
        buckets
    }
}

/// What becomes of an attribute in a group.
#[derive(Clone, Copy)]
enum State {
    Exact,
    General,
    Masked,
    Bucket,
}

impl State {
    fn draw(role: Role, rng: &mut impl Rng) -> Self {
        match (role, rng.random_range(0..10)) {
            (Role::Insensitive, _) => Self::Exact,
            (Role::Sensitive, 0) | (_, 0 | 1) => Self::Masked,
            (Role::Sensitive, _) | (Role::SemiSensitive, 2..=5) => Self::Bucket,
            _ => Self::General,
        }
    }
}

/// The lists beside the rows.
#[derive(Default)]
struct Lists {
    values: Vec<(String, u64, Cell, u64)>,
    links: Vec<(String, u64, u64, u64)>,
}

impl Lists {
    fn link(&mut self, name: &str, counts: &Numbered) {
        for (&(group, bucket), &count) in counts {
            self.links
                .push((name.into(), group as u64 + 1, bucket as u64, count));
        }
    }

    fn tables(&self, by_group: bool) -> Vec<PublishedTable> {
        let label = |name: &String| Cell::Label(name.clone());
        let numbers = |of: Vec<u64>| Cells::Numbers(of);
        let values = &self.values;
        let buckets = PublishedTable {
            name: "buckets".into(),
            columns: vec![
                column(
                    "attribute",
                    Content::Attribute,
                    None,
                    dictionary(values.iter().map(|row| label(&row.0))),
                ),
                column(
                    "bucket",
                    Content::Bucket,
                    None,
                    numbers(values.iter().map(|row| row.1).collect()),
                ),
                column(
                    "value",
                    Content::Value,
                    None,
                    dictionary(values.iter().map(|row| row.2.clone())),
                ),
                column(
                    "count",
                    Content::Count,
                    None,
                    numbers(values.iter().map(|row| row.3).collect()),
                ),
            ],
        };
        let links = &self.links;
        let group_buckets = PublishedTable {
            name: "group_buckets".into(),
            columns: vec![
                column(
                    "group",
                    Content::Group,
                    None,
                    numbers(links.iter().map(|row| row.1).collect()),
                ),
                column(
                    "attribute",
                    Content::Attribute,
                    None,
                    dictionary(links.iter().map(|row| label(&row.0))),
                ),
                column(
                    "bucket",
                    Content::Bucket,
                    None,
                    numbers(links.iter().map(|row| row.2).collect()),
                ),
                column(
                    "count",
                    Content::Count,
                    None,
                    numbers(links.iter().map(|row| row.3).collect()),
                ),
            ],
        };
        if by_group {
            vec![buckets, group_buckets]
        } else {
            vec![buckets]
        }
    }
}
