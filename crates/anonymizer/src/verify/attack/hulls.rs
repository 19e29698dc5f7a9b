//! What tight cells give away (Cohen 2022; Cohen & Nissim 2020).
//!
//! The cells of a group are as narrow as its members allow, and everyone knows
//! it: somebody of the group has the least value of each interval, somebody the
//! largest, somebody each value of a set; of a node with two children that
//! occur, somebody is under each.
//!
//! - Downcoding: the share of generalized cells of which a finer cell is certain
//!   by that, without saying whose it is. Beside it how many values somebody
//!   gets right who takes the ends and else the most frequent value of the
//!   cell, and by the most frequent value alone: what statistics tell.
//! - Singling out: of groups, the share in which a predicate holds for exactly
//!   one person: to lie in the cells of the group, and to have the rarest end of
//!   one of them. Beside it the chance of that for somebody who does not know
//!   that cells are tight, s · p · (1 − p)^(s − 1) of s members, p the share of
//!   the end among values of the cell. And the same of the cells with the
//!   rarest value that stands once in the rows of the group.
//!
//! Nothing bounds the figures. Of at most [`GROUPS_MAX`] groups, drawn by the
//! verifier's own number.

use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::microdata::{
    Code, Codes, Domain, Multiplicity, Role, SubjectIndex, SubjectRecords, refine_by_code,
};
use crate::privacy::{BlockForm, Model, Seed};
use crate::release::Content;
use crate::verify::evidence::Evidence;
use crate::verify::meaning::{Meaning, MeaningColumn, numbers};
use crate::verify::verdict::{Check, Section};
use crate::verify::view::NONE;

/// Groups for which a predicate is tried.
const GROUPS_MAX: usize = 500;
/// Seed and stream of the draw.
const SEED: u64 = 20;
const STAGE: u32 = 3;

/// Both attacks; none where no quasi-identifier is generalized, or rows are not
/// whole.
pub fn tight_hulls(evidence: &Evidence) -> Vec<Check> {
    let is_whole = match evidence.requirements.policy().model {
        Model::Sliced { .. } => false,
        Model::Blocks { form, .. } => form == BlockForm::Generalized,
        _ => true,
    };
    let rows = if is_whole { Rows::of(evidence) } else { None };
    let Some(rows) = rows else {
        return Vec::new();
    };
    if rows.classes.is_empty() {
        return Vec::new();
    }
    evidence.cancel.heed();
    let mut checks = vec![rows.downcoding()];
    checks.extend(rows.singling_out());
    checks
}

/// One published column beside its source.
struct Column<'a> {
    domain: &'a Domain,
    cells: MeaningColumn<'a>,
    source: &'a Codes,
    /// People with each code.
    people: Vec<u64>,
}

/// The rows of the first table.
struct Rows<'a> {
    /// Record of each row.
    records: Vec<u32>,
    /// Whether a row is about each record.
    is_published: Vec<bool>,
    /// Rows that show the same quasi-identifiers, of the groups that are looked at.
    classes: Vec<Vec<u32>>,
    quasi: Vec<Column<'a>>,
    /// Other columns with exact values.
    exact: Vec<Column<'a>>,
}

/// Somebody of the group has this value of this column.
struct End {
    column: usize,
    code: u32,
    /// Its share among the people with a value of the cell.
    share: f64,
}

impl<'a> Rows<'a> {
    fn of(evidence: &Evidence<'a>) -> Option<Self> {
        let (table, published) = (evidence.table, evidence.tables.first()?);
        let subjects = evidence.lineage.of(&published.name)?;
        // Of broken tables other checks speak.
        let mut columns = published.columns.iter();
        if !columns.all(|column| column.cells.len() == subjects.len()) {
            return None;
        }
        let is_known = |subject: &SubjectIndex| subject.at() < table.subjects();
        if !subjects.iter().all(is_known) {
            return None;
        }
        let records: Vec<u32> = if table.schema().multiplicity() == Multiplicity::One {
            subjects.iter().map(|subject| subject.0).collect()
        } else {
            let of = SubjectRecords::of(table);
            let first = subjects
                .iter()
                .map(|&subject| of.of_subject(subject).first());
            first.map(|record| Some(record?.0)).collect::<Option<_>>()?
        };
        let group = published.columns.iter();
        let mut group = group.filter(|column| column.content == Content::Group);
        let group = numbers(group.next()?)?;
        let (mut quasi, mut exact) = (Vec::new(), Vec::new());
        for column in &published.columns {
            let Some(index) = table.schema().find(&column.name) else {
                continue;
            };
            let source = table.coded(index)?;
            let Some(cells) = MeaningColumn::of(column, &source.domain) else {
                continue;
            };
            let is_quasi = table.schema().attribute(index).role == Role::QuasiIdentifier;
            let to = match column.content {
                _ if is_quasi => &mut quasi,
                Content::Exact => &mut exact,
                _ => continue,
            };
            let mut people = vec![0; source.domain.len()];
            for &record in &records {
                people[source.codes.at(record as usize) as usize] += 1;
            }
            to.push(Column {
                domain: &source.domain,
                cells,
                source: &source.codes,
                people,
            });
        }
        let columns: Vec<&MeaningColumn> = quasi.iter().map(|column| &column.cells).collect();
        let mut is_published = vec![false; table.records()];
        for &record in &records {
            is_published[record as usize] = true;
        }
        Some(Self {
            classes: drawn(group, &columns),
            records,
            is_published,
            quasi,
            exact,
        })
    }

    fn source(&self, column: &Column, row: u32) -> u32 {
        column.source.at(self.records[row as usize] as usize)
    }

    fn downcoding(&self) -> Check {
        let [cells, certain, right, statistics] = self
            .classes
            .par_iter()
            .map(|rows| self.downcoded(rows))
            .reduce(
                || [0; 4],
                |one, other| std::array::from_fn(|at| one[at] + other[at]),
            );
        let share = |some: u64| some as f64 / cells.max(1) as f64;
        Check::new(Section::Attack, "downcoding")
            .attaining(Some(share(certain)), None)
            .with_figure("right_values", share(right))
            .with_figure("statistics", share(statistics))
            .with_figure("groups", self.classes.len() as f64)
            .noting("share of generalized cells of which a finer one is certain")
    }

    /// Of one class: generalized cells, those of which a finer one is certain,
    /// values that are right with the ends, and by statistics.
    fn downcoded(&self, rows: &[u32]) -> [u64; 4] {
        let mut found = [0; 4];
        let Some(&first) = rows.first() else {
            return found;
        };
        let size = rows.len() as u64;
        for column in &self.quasi {
            let meaning = column.cells.meaning(first as usize);
            let codes = column.covered(meaning);
            if meaning.single().is_some() || codes.is_empty() {
                continue;
            }
            let holders = |code: u32| {
                let own = rows.iter().map(|&row| self.source(column, row));
                own.filter(|&own| own == code).count() as u64
            };
            let ends: Vec<u32> = column.ends(meaning);
            let mut ends_held = ends.iter().filter(|&&code| holders(code) > 0).count() as u64;
            let most = codes
                .iter()
                .max_by_key(|&&code| column.people[code as usize]);
            let most = most.copied().unwrap_or(0);
            let by_statistics = holders(most);
            let is_end = u64::from(ends.contains(&most) && by_statistics > 0);
            let beyond = (size - ends_held.min(size)).min(by_statistics - is_end);
            let right = (ends_held + beyond).min(size);
            if ends.is_empty() {
                ends_held = column.children(meaning);
            }
            let certain = ends_held.min(size);
            found = std::array::from_fn(|at| found[at] + [size, certain, right, by_statistics][at]);
        }
        found
    }

    /// None where nothing can be tried.
    fn singling_out(&self) -> Option<Check> {
        let by_ends = self.singled_out(|rows| {
            let end = self.rarest_end(rows)?;
            Some((&self.quasi[end.column], end))
        });
        let by_values = self.singled_out(|rows| {
            let value = self.rarest_value(rows)?;
            Some((&self.exact[value.column], value))
        });
        let mut check = Check::new(Section::Attack, "singling_out");
        if let Some((share, by_chance, groups)) = by_ends {
            check = check
                .attaining(Some(share), None)
                .with_figure("by_chance", by_chance)
                .with_figure("groups", groups)
                .noting(
                    "share of groups in which the cells and the rarest end of one of them are \
                     those of exactly one person",
                );
        }
        if let Some((share, by_chance, _)) = by_values {
            check = check
                .with_figure("with_value", share)
                .with_figure("with_value_by_chance", by_chance);
            if by_ends.is_none() {
                check = check.attaining(Some(share), None).noting(
                    "share of groups in which the cells and a value that stands once in their rows \
                     are those of exactly one person",
                );
            }
        }
        check.attained.is_some().then_some(check)
    }

    /// Share of the classes with a predicate in which it is that of one person,
    /// what chance says of it, and how many they are.
    fn singled_out<'s>(
        &'s self,
        predicate: impl Fn(&[u32]) -> Option<(&'s Column<'a>, End)> + Sync,
    ) -> Option<(f64, f64, f64)> {
        let tried: Vec<Option<(bool, f64)>> = self
            .classes
            .par_iter()
            .map(|rows| {
                let (column, end) = predicate(rows)?;
                let size = rows.len() as u32;
                let by_chance = f64::from(size) * end.share * powi(1.0 - end.share, size - 1);
                Some((self.holders(rows, column, end.code) == 1, by_chance))
            })
            .collect();
        let tried: Vec<(bool, f64)> = tried.into_iter().flatten().collect();
        let groups = tried.len() as f64;
        let isolated = tried.iter().filter(|(isolated, _)| *isolated).count() as f64;
        let by_chance: f64 = tried.iter().map(|(_, chance)| chance).sum();
        (!tried.is_empty()).then(|| (isolated / groups, by_chance / groups, groups))
    }

    /// The end of a cell that the fewest people of the cell have.
    fn rarest_end(&self, rows: &[u32]) -> Option<End> {
        let &row = rows.first()?;
        let ends = self.quasi.iter().enumerate().flat_map(|(at, column)| {
            let meaning = column.cells.meaning(row as usize);
            let all: u64 = column
                .covered(meaning)
                .iter()
                .map(|&code| column.people[code as usize])
                .sum();
            let ends = column.ends(meaning).into_iter();
            ends.map(move |code| End {
                column: at,
                code,
                share: column.people[code as usize] as f64 / all.max(1) as f64,
            })
        });
        ends.min_by(|one, other| one.share.total_cmp(&other.share))
    }

    /// The rarest value that stands once in the rows of a class.
    fn rarest_value(&self, rows: &[u32]) -> Option<End> {
        let all = self.records.len().max(1) as f64;
        let values = self.exact.iter().enumerate().filter_map(|(at, column)| {
            let mut codes: Vec<u32> = rows
                .iter()
                .filter_map(|&row| column.cells.meaning(row as usize).single())
                .collect();
            codes.sort_unstable();
            let alone = codes.chunk_by(|one, other| one == other);
            let alone = alone.filter(|same| same.len() == 1).map(|same| same[0]);
            let code = alone.min_by_key(|&code| column.people[code as usize])?;
            Some(End {
                column: at,
                code,
                share: column.people[code as usize] as f64 / all,
            })
        });
        values.min_by(|one, other| one.share.total_cmp(&other.share))
    }

    /// People in the cells of a class with a value of a column; counting ends
    /// at two.
    fn holders(&self, rows: &[u32], of: &Column, code: u32) -> usize {
        let Some(&row) = rows.first() else {
            return 0;
        };
        let cells = self.quasi.iter();
        let cells: Vec<(&Column, &Meaning)> = cells
            .map(|column| (column, column.cells.meaning(row as usize)))
            .collect();
        let all = self.is_published.iter().enumerate();
        let all = all.filter(|&(record, &is_published)| {
            let own = |column: &Column| column.source.at(record);
            let mut cells = cells.iter();
            is_published
                && own(of) == code
                && cells.all(|(column, meaning)| meaning.covers(own(column)))
        });
        all.take(2).count()
    }
}

impl Column<'_> {
    /// The codes that a cell covers and somebody has.
    fn covered(&self, meaning: &Meaning) -> Vec<u32> {
        let all = (0_u32..).zip(&self.people);
        let there = all.filter(|&(code, &people)| people > 0 && meaning.covers(code));
        there.map(|(code, _)| code).collect()
    }

    /// The values that somebody of the group must have.
    fn ends(&self, meaning: &Meaning) -> Vec<u32> {
        match *meaning {
            Meaning::Values(ref codes) => codes.clone(),
            _ if self.domain.hierarchy().is_some() => Vec::new(),
            Meaning::Span { first, last } if first < last => vec![first, last],
            Meaning::SpanOrMissing {
                first,
                last,
                missing,
            } if first < last => vec![first, last, missing],
            Meaning::SpanOrMissing { first, missing, .. } => vec![first, missing],
            _ => Vec::new(),
        }
    }

    /// Children of a node that somebody of the group must be under: both, where
    /// two occur.
    fn children(&self, meaning: &Meaning) -> u64 {
        let (Some(tree), Meaning::Span { first, last }) = (self.domain.hierarchy(), meaning) else {
            return 0;
        };
        let node = tree.common_ancestor(Code(*first), Code(*last));
        let occupied = |first: u32, last: u32| {
            let mut codes = first..=last;
            codes.any(|code| self.people[code as usize] > 0)
        };
        let children = tree.node(node).children.iter().filter(|&&child| {
            let child = tree.node(child);
            occupied(child.first_leaf.0, child.last_leaf().0)
        });
        match children.take(3).count() {
            2 => 2,
            _ => 0,
        }
    }
}

/// The rows of the groups that are looked at: of those with a generalized cell, groups
/// that show the same as one. A few numbers a group are kept, none a row.
fn drawn(group: &[u64], columns: &[&MeaningColumn]) -> Vec<Vec<u32>> {
    // Numbers beyond all rows are named elsewhere.
    let known = |number: u64| usize::try_from(number).ok().filter(|&at| at <= group.len());
    let mut of_group = vec![
        NONE;
        group
            .iter()
            .filter_map(|&one| known(one))
            .max()
            .unwrap_or(0)
            + 1
    ];
    let mut leaders: Vec<u32> = Vec::new();
    for (row, &number) in (0..).zip(group) {
        let Some(at) = known(number) else { continue };
        if of_group[at] == NONE {
            of_group[at] = leaders.len() as u32;
            leaders.push(row);
        }
    }
    let mut looks = vec![0_u32; leaders.len()];
    for column in columns {
        refine_by_code(&mut looks, |at| column.category(leaders[at] as usize));
    }
    let number = looks.iter().max().map_or(0, |&last| last as usize + 1);
    let mut is_generalized = vec![false; number];
    for (&look, &leader) in looks.iter().zip(&leaders) {
        let mut cells = columns.iter().map(|column| column.meaning(leader as usize));
        is_generalized[look as usize] = cells.any(|meaning| meaning.single().is_none());
    }
    let mut drawn: Vec<u32> = (0..number as u32).collect();
    drawn.retain(|&look| is_generalized[look as usize]);
    drawn.shuffle(&mut Seed::of_number(SEED).stream(STAGE, 0));
    drawn.truncate(GROUPS_MAX);
    let mut place = vec![NONE; number];
    for (at, &look) in (0..).zip(&drawn) {
        place[look as usize] = at;
    }
    let mut rows = vec![Vec::new(); drawn.len()];
    for (row, &number) in (0..).zip(group) {
        let Some(at) = known(number) else { continue };
        let look = looks[of_group[at] as usize];
        if let Some(rows) = rows.get_mut(place[look as usize] as usize) {
            rows.push(row);
        }
    }
    rows
}

/// A power by multiplication alone, which is the same on every machine.
fn powi(base: f64, exponent: u32) -> f64 {
    (0..exponent).fold(1.0, |product, _| product * base)
}

#[cfg(test)]
mod tests;
