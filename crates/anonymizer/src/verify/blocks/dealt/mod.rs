//! `blocks_as_dealt`: which records stand together, dealt again from the seed.
//!
//! What a block holds does not say why it holds these records and no others.
//! An operator who chooses among the records of a value writes a message into
//! the blocks. So the verifier deals the records that are published into
//! blocks by code of its own, and compares who stands together; numbers and
//! order of blocks are other checks'.
//!
//! - `attributes`: the order of quasi-identifiers by φ² with the sensitive one.
//! - `initial`: blocks of like records (`aip` and `ng` publish these).
//! - `kept`: blocks of people whose sets of values a series keeps.
//! - `refine`: sub-blocks of distinct values (`arp`; `anatomy` makes them of
//!   everyone as one block).
//!
//! Groups and buckets of `arp` may be several blocks, joined by loss where a
//! subject's own k asks for more records than a block has. That is not done
//! again: each must be made of whole blocks, and a group of several must have
//! one with fewer records than a member asks for. Where somebody asks for more
//! l than others, blocks are also joined for them (they would look the same,
//! or match somebody else, and not hold together): there whole blocks are all
//! that is asked.

mod attributes;
mod initial;
mod kept;
mod people;
mod refine;
#[cfg(test)]
mod tests;

use crate::privacy::{BlockForm, ProtectedIndex};
use crate::release::{Content, PublishedColumn};

use self::initial::{Rules, partition};
use self::people::People;
use super::published;
use crate::verify::attack::Homes;
use crate::verify::evidence::Evidence;
use crate::verify::meaning::numbers;
use crate::verify::shape::{MICRODATA, QUASI, SLICED};
use crate::verify::verdict::{Check, Failures, Place};
use crate::verify::view::{NONE, records_of_first_rows};

/// What dealing again finds. Nothing where a row has no record, or a column of
/// numbers is missing: these are named by other checks, which then fail.
#[derive(Default)]
pub(super) struct Dealing {
    /// `blocks_as_dealt`.
    pub(super) check: Option<Check>,
    /// The block of like records that each row was dealt from.
    pub(super) homes: Homes,
}

impl Dealing {
    pub(super) fn again(evidence: &Evidence, form: BlockForm) -> Self {
        Self::of_attributes(evidence, form).unwrap_or_default()
    }

    fn of_attributes(evidence: &Evidence, form: BlockForm) -> Option<Self> {
        let name = match form {
            BlockForm::Distinct | BlockForm::Eligible => QUASI,
            BlockForm::Sliced => SLICED,
            BlockForm::Generalized | BlockForm::Randomized { .. } | BlockForm::Ring => MICRODATA,
        };
        if evidence.requirements.records() != evidence.table.records() {
            return None;
        }
        let table = evidence.published(name)?;
        let records = records_of_first_rows(evidence, name, table.rows());
        if records.contains(&NONE) {
            return None;
        }
        let mut columns = table.columns.iter().filter(|column| is_number(column));
        let mut failures = Failures::none();
        let mut homes = Homes::default();
        for index in published(evidence.requirements) {
            let numbers = numbers(columns.next()?)?;
            if numbers.len() != records.len() {
                return None;
            }
            let dealt = Dealt {
                evidence,
                form,
                index,
            };
            let (wrong, home) = dealt.compare(&records, numbers)?;
            failures = failures.and(wrong);
            homes.add(index, home);
        }
        let check = Check::structure("blocks_as_dealt", &failures);
        Some(Self {
            check: Some(check),
            homes,
        })
    }
}

fn is_number(column: &PublishedColumn) -> bool {
    let content = column.content;
    matches!(content, Content::Block | Content::Group | Content::Bucket)
}

/// One sensitive attribute of a release.
struct Dealt<'a> {
    evidence: &'a Evidence<'a>,
    form: BlockForm,
    index: ProtectedIndex,
}

impl Dealt<'_> {
    /// Rows that stand in another block than the seed deals them to, and the
    /// block of like records of each row; none if the attribute has no codes.
    fn compare(&self, records: &[u32], numbers: &[u64]) -> Option<(Failures, Vec<u32>)> {
        let mut rows: Vec<u32> = (0..records.len() as u32).collect();
        rows.sort_unstable_by_key(|&row| records[row as usize]);
        let sorted = rows.iter().map(|&row| records[row as usize]).collect();
        let people = People::of(self.evidence, self.form, self.index, sorted)?;
        let number_of = rows.iter().map(|&row| numbers[row as usize]);
        let number_of: Vec<u64> = number_of.collect();
        let mut home = vec![0; records.len()];
        let history = self.evidence.requirements.history();
        let blocks = match history.map(|history| history.of(self.index)) {
            Some(sets) if !sets.sets.is_empty() => {
                let is_by_likeness = self.evidence.ordered.engine != "anatomy";
                let mut make = |rest: &[u32]| {
                    let own: Vec<u32> = rest.iter().map(|&at| rows[at as usize]).collect();
                    home.fill(0);
                    self.deal(&people.only(rest), &own, &mut home)
                };
                let (kept, of_rest) = kept::deal(&people, (sets, is_by_likeness), &mut make);
                for (&row, set) in rows.iter().zip(&kept.set_of) {
                    // Behind the blocks of like people, which are fewer.
                    if let Some(set) = set {
                        home[row as usize] = people.len() as u32 + set;
                    }
                }
                kept.blocks.into_iter().chain(of_rest).collect()
            }
            _ => self.deal_new(&people, &rows, (records, &number_of, &mut home)),
        };
        let wrong = match self.form {
            BlockForm::Generalized | BlockForm::Sliced => joined(&people, &blocks, &number_of),
            _ => differing(&blocks, &number_of),
        };
        let mut wrong: Vec<u32> = wrong.iter().map(|&person| rows[person as usize]).collect();
        wrong.sort_unstable();
        let attribute = self.evidence.requirements.attribute(self.index);
        let schema = self.evidence.table.schema();
        let mut failures = Failures::none();
        for row in wrong {
            let place = Place::Row(u64::from(row) + 1);
            failures.add_at(&schema.attribute(attribute).name, place);
        }
        Some((failures, home))
    }

    /// The blocks of people, whose rows are given. Those of groups that a series
    /// keeps stand as they are published (`kept_groups`, `series_safe`).
    fn deal_new(
        &self,
        people: &People,
        rows: &[u32],
        (records, number_of, home): (&[u32], &[u64], &mut [u32]),
    ) -> Vec<Vec<u32>> {
        let Some(groups) = self.evidence.requirements.kept_groups() else {
            return self.deal(people, rows, home);
        };
        let all = 0..people.len() as u32;
        let (kept, new): (Vec<u32>, Vec<u32>) = all.partition(|&person| {
            let record = records[rows[person as usize] as usize];
            groups.class(record).is_some()
        });
        let own = |at: &u32| rows[*at as usize];
        // Behind the blocks of like people, which are fewer. Who stands in a public
        // group was dealt before.
        let class_of = |row: u32| groups.class(records[row as usize]).unwrap_or(0);
        for row in kept.iter().map(own) {
            home[row as usize] = (people.len() + class_of(row)) as u32;
        }
        let of_new: Vec<u32> = new.iter().map(own).collect();
        let dealt = if new.is_empty() {
            Vec::new()
        } else {
            self.deal(&people.only(&new), &of_new, home)
        };
        let dealt = dealt.into_iter();
        let of_all = |block: Vec<u32>| block.into_iter().map(|at| new[at as usize]).collect();
        let dealt = dealt.map(of_all);
        let numbers: Vec<u64> = kept.iter().map(|&at| number_of[at as usize]).collect();
        let public = by_number(&numbers).into_iter();
        let of_all = |block: Vec<u32>| block.into_iter().map(|at| kept[at as usize]).collect();
        dealt.chain(public.map(of_all)).collect()
    }

    /// The blocks of people, whose rows are given, as in a first release.
    fn deal(&self, people: &People, rows: &[u32], home: &mut [u32]) -> Vec<Vec<u32>> {
        let initial = self.initial(people);
        for (at, block) in (0..).zip(&initial) {
            let rows = block.iter().map(|&person| rows[person as usize]);
            rows.for_each(|row| home[row as usize] = at);
        }
        match self.form {
            BlockForm::Eligible | BlockForm::Ring => initial,
            _ => refine::deal(people, &initial),
        }
    }

    fn rules(&self) -> Rules<'_> {
        Rules {
            form: self.form,
            // Parameters are the job's, as the engine's were.
            is_paper: self.evidence.ordered.parameters["partitioning"] == "paper",
            secret: self.evidence.dataset_secret,
            attribute: self.index.at() as u64,
        }
    }

    /// The blocks of like records.
    fn initial(&self, people: &People) -> Vec<Vec<u32>> {
        let everyone: Vec<u32> = (0..people.len() as u32).collect();
        match self.evidence.ordered.engine {
            "anatomy" => vec![everyone],
            _ => partition(people, self.rules(), everyone),
        }
    }
}

/// The first person of each person's set.
fn firsts(sets: &[Vec<u32>], people: usize) -> Vec<u32> {
    let mut firsts = vec![NONE; people];
    for set in sets {
        let first = set.iter().copied().min().unwrap_or(NONE);
        set.iter()
            .for_each(|&person| firsts[person as usize] = first);
    }
    firsts
}

/// People by their number.
fn by_number(number_of: &[u64]) -> Vec<Vec<u32>> {
    let mut people: Vec<u32> = (0..number_of.len() as u32).collect();
    people.sort_by_key(|&person| number_of[person as usize]);
    let number = |person: u32| number_of[person as usize];
    let sets = people.chunk_by(|&one, &other| number(one) == number(other));
    sets.map(<[u32]>::to_vec).collect()
}

/// People whose set begins with somebody else than their block does. There are
/// none just if the sets are the blocks.
fn differing(blocks: &[Vec<u32>], number_of: &[u64]) -> Vec<u32> {
    let dealt = firsts(blocks, number_of.len());
    let published = firsts(&by_number(number_of), number_of.len());
    let people = 0..number_of.len() as u32;
    let differs = |&person: &u32| dealt[person as usize] != published[person as usize];
    people.filter(differs).collect()
}

/// People who are not in the set of their block's first, and the first ones of
/// sets that join blocks of which each has as many records as is asked for,
/// unless blocks may be joined for somebody's l.
fn joined(people: &People, blocks: &[Vec<u32>], number_of: &[u64]) -> Vec<u32> {
    let mut wrong = Vec::new();
    let mut is_small = vec![false; people.len()];
    for block in blocks {
        let Some(&first) = block.iter().min() else {
            continue;
        };
        let number = |person: u32| number_of[person as usize];
        let strays = block.iter().copied();
        wrong.extend(strays.filter(|&person| number(person) != number(first)));
        let small = block.len() < people.k_of(block);
        block
            .iter()
            .for_each(|&person| is_small[person as usize] = small);
    }
    if people.l.iter().any(|&l| l != people.l[0]) {
        return wrong;
    }
    let dealt = firsts(blocks, people.len());
    for set in by_number(number_of) {
        let block = |person: &u32| dealt[*person as usize];
        let is_one = set.iter().all(|person| block(person) == block(&set[0]));
        if !is_one && !set.iter().any(|&person| is_small[person as usize]) {
            wrong.extend(set.first());
        }
    }
    wrong
}
