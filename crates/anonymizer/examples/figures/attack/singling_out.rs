//! Singling out: does what a row shows isolate one person?
//!
//! A predicate is "the attribute is covered by this cell, and the value by
//! this one". It singles out if exactly one published person satisfies it.
//! Figures: the share of people for whom one of their quasi-identifier cells
//! and one of their values do, and for whom all cells of the row and a value
//! do. Where values stand in blocks or buckets, nobody sees which is whose: a
//! person counts with the share of their value in their class.

use std::collections::HashMap;

use vizard_anonymizer::microdata::{AttributeIndex, Domain};

use super::cells::covered;
use super::sight::{Person, Sight, Source};

/// Shares of people who are singled out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attained {
    pub one_cell: f64,
    pub all_cells: f64,
}

/// A published cell by its codes, and the people whom it covers.
struct Column {
    /// Position of each row's cell.
    cell_of_row: Vec<u32>,
    /// Which codes each cell covers.
    covers: Vec<Vec<bool>>,
    /// Positions of the people whom each cell covers.
    people: Vec<Vec<u32>>,
    /// The known codes of each person.
    known: Vec<Vec<u32>>,
}

impl Column {
    fn of(source: &Source, index: AttributeIndex, people: &[Person]) -> Option<Self> {
        let name = &source.table.schema().attribute(index).name;
        let attribute = source.joined.attribute(name)?;
        let domain: &Domain = source.domain(index)?;
        let subjects = source.subjects();
        let known = people.iter();
        let known = known.map(|person| source.codes(subjects[person.row], index));
        let known: Vec<Vec<u32>> = known.collect();
        let covers: Vec<Vec<bool>> = attribute
            .cells
            .iter()
            .map(|cell| {
                let mut covers = vec![false; domain.len()];
                for code in covered(cell, domain) {
                    covers[code as usize] = true;
                }
                covers
            })
            .collect();
        let of_cell = covers.iter().map(|covers| {
            let all = (0..).zip(&known);
            let inside = all.filter(|(_, codes)| is_inside(codes, covers));
            inside.map(|(at, _)| at).collect()
        });
        Some(Self {
            cell_of_row: attribute.codes.iter().collect(),
            people: of_cell.collect(),
            covers,
            known,
        })
    }
}

fn is_inside(codes: &[u32], covers: &[bool]) -> bool {
    codes.iter().any(|&code| covers[code as usize])
}

/// Carries out the attack on one attribute.
pub fn attack(source: &Source, sight: &Sight) -> Attained {
    let people = &sight.people;
    let columns = source.quasi().into_iter();
    let columns: Vec<Column> = columns
        .filter_map(|index| Column::of(source, index, people))
        .collect();
    let mut known: HashMap<(usize, u32, Vec<u32>), bool> = HashMap::new();
    let mut known_rows: HashMap<(Vec<u32>, Vec<u32>), bool> = HashMap::new();
    let (mut one_cell, mut all_cells) = (0.0, 0.0);
    for person in people {
        let (values, chance) = values(sight, person);
        let is_one = |value: &Vec<u32>, candidates: &[u32], fits: &dyn Fn(u32) -> bool| {
            let satisfy = candidates.iter().filter(|&&at| {
                let own = &people[at as usize].own;
                own.iter().any(|code| value.binary_search(code).is_ok()) && fits(at)
            });
            satisfy.take(2).count() == 1
        };
        let by_one = columns.iter().enumerate().any(|(at, column)| {
            let cell = column.cell_of_row[person.row];
            values.iter().any(|value| {
                let key = (at, cell, value.clone());
                *known
                    .entry(key)
                    .or_insert_with(|| is_one(value, &column.people[cell as usize], &|_| true))
            })
        });
        let cells = columns.iter().map(|column| column.cell_of_row[person.row]);
        let cells: Vec<u32> = cells.collect();
        let fits = |at: u32| {
            let mut all = columns.iter().zip(&cells);
            all.all(|(column, &cell)| {
                is_inside(&column.known[at as usize], &column.covers[cell as usize])
            })
        };
        let fewest = columns.iter().zip(&cells);
        let fewest = fewest.map(|(column, &cell)| &column.people[cell as usize]);
        let fewest = fewest.min_by_key(|people| people.len());
        let by_all = values.iter().any(|value| {
            let key = (cells.clone(), value.clone());
            *known_rows.entry(key).or_insert_with(|| {
                fewest.is_some_and(|candidates| is_one(value, candidates, &fits))
            })
        });
        one_cell += if by_one { chance } else { 0.0 };
        all_cells += if by_all { chance } else { 0.0 };
    }
    let all = people.len().max(1) as f64;
    Attained {
        one_cell: one_cell / all,
        all_cells: all_cells / all,
    }
}

/// The values that a row lets one name, and the chance that they are the
/// person's.
fn values(sight: &Sight, person: &Person) -> (Vec<Vec<u32>>, f64) {
    let shown = &sight.shown[person.row];
    if !shown.is_empty() {
        return (shown.clone(), 1.0);
    }
    let own = person.own.iter();
    let own: Vec<Vec<u32>> = own.map(|&code| vec![code]).collect();
    let class = sight.classes[person.class as usize].iter();
    let mut shares = class.filter(|(code, _)| person.own.binary_search(code).is_ok());
    (own, shares.next().map_or(0.0, |&(_, share)| share))
}
