//! The groups that earlier releases show of the subjects of a table, where a job
//! keeps them.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::candidates::{Candidates, Identity, ShownColumn};
use super::cell::Cell;
use super::history::{Unkept, codes_by_class, record_of_subjects, spelled};
use super::table::Content;
use crate::microdata::{
    Attribute, AttributeIndex, Code, CodedColumn, Domain, Role, RowClasses, Table, Values,
};
use crate::privacy::{History, KeptClass, KeptGroups, KeptMember, NO_KEPT_CLASS, Share};

/// Stands for a release that does not show a subject.
const ABSENT: u32 = u32::MAX;

/// The groups that public releases, oldest first, show of the subjects of
/// `table`. Its domains must have all values that these releases show
/// ([`also_shown`](super::also_shown)).
///
/// # Errors
/// A release that shows the subjects otherwise than in groups, or of which the
/// rows are not known: it was not made for a series that keeps groups.
pub fn kept_groups(
    table: &Table,
    public: &[Candidates],
    (max_companions, joins): (Share, bool),
) -> Result<Arc<History>, Unkept> {
    let records = record_of_subjects(table);
    let is_met = |release: &&Candidates| {
        let mut subjects = release.subjects.iter();
        !release.rows.is_empty() || subjects.any(|one| records.contains_key(one))
    };
    // One that joins groups follows from those before.
    let (joining, public): (Vec<&Candidates>, Vec<&Candidates>) =
        public.iter().partition(|release| release.joins_groups);
    let met = public.into_iter().filter(is_met).map(Shown::of);
    let shown: Vec<Shown<'_>> = met.collect::<Result<_, _>>()?;
    let series = Series::of(table, &records, &shown);
    let mut groups = series.groups((max_companions, joins))?;
    if joins {
        // Who has such releases alone would see by another one which of the groups
        // they were joined from are theirs.
        let joined = joining.iter();
        let joined: FxHashSet<&str> = joined.flat_map(|one| one.subjects.iter()).collect();
        for (class, subjects) in groups.classes.iter_mut().zip(&series.members) {
            let mut keys = subjects.iter().filter_map(|&subject| series.key(subject));
            class.is_whole &= !keys.any(|key| joined.contains(key));
        }
    }
    Ok(Arc::new(History {
        groups: Some(groups),
        attributes: Vec::new(),
        max_counterfeits: Share::ALL,
    }))
}

/// A release whose groups are kept.
struct Shown<'a> {
    candidates: &'a Candidates,
    group_of: &'a [u32],
    k: u32,
    /// Rows of each group, those of people who were erased among them.
    sizes: Vec<u64>,
}

impl<'a> Shown<'a> {
    fn of(candidates: &'a Candidates) -> Result<Self, Unkept> {
        let refused = || Unkept {
            attribute: "series.mode".to_owned(),
            reason: "a public release of these subjects was not made for a series that keeps groups",
        };
        let Identity::Groups { k, group_of } = &candidates.identity else {
            return Err(refused());
        };
        if candidates.rows.is_empty() || !candidates.is_complete {
            return Err(refused());
        }
        let mut sizes = Vec::new();
        for &group in group_of {
            let group = group as usize;
            sizes.resize(sizes.len().max(group + 1), 0);
            sizes[group] += 1;
        }
        if let Some(attribute) = candidates.attributes.first() {
            for (size, class) in sizes.iter_mut().zip(&attribute.classes) {
                *size = class.iter().map(|&(_, count)| u64::from(count)).sum();
            }
        }
        Ok(Self {
            candidates,
            group_of,
            k: *k,
            sizes,
        })
    }

    fn column(&self, name: &str) -> Option<&'a ShownColumn> {
        self.candidates
            .rows
            .iter()
            .find(|column| column.name == name)
    }

    fn is_divisible(&self) -> bool {
        let mut attributes = self.candidates.attributes.iter();
        !self.candidates.has_unknown_terms() && attributes.all(|one| one.is_l_alone)
    }
}

/// All subjects of all releases, and what the table has of them.
struct Series<'a> {
    table: &'a Table,
    shown: &'a [Shown<'a>],
    /// Record of each subject.
    record_of: Vec<Option<u32>>,
    /// Row of each subject in each release, [`ABSENT`] for none.
    row_of: Vec<Vec<u32>>,
    /// Subjects with the same history.
    members: Vec<Vec<usize>>,
}

impl<'a> Series<'a> {
    fn of(table: &'a Table, records: &FxHashMap<&str, u32>, shown: &'a [Shown<'a>]) -> Self {
        let mut numbers: FxHashMap<&str, u32> = FxHashMap::default();
        let mut record_of = Vec::new();
        for subject in shown.iter().flat_map(|one| one.candidates.subjects.iter()) {
            let next = record_of.len() as u32;
            numbers.entry(subject).or_insert_with(|| {
                record_of.push(records.get(subject).copied());
                next
            });
        }
        let row_of = shown.iter().map(|one| {
            let mut row_of = vec![ABSENT; record_of.len()];
            for (row, subject) in (0..).zip(one.candidates.subjects.iter()) {
                row_of[numbers[subject] as usize] = row;
            }
            row_of
        });
        let row_of: Vec<Vec<u32>> = row_of.collect();
        let mut classes = RowClasses::whole(record_of.len());
        for (one, rows) in shown.iter().zip(&row_of) {
            classes.refine(|subject| one.group_of.get(rows[subject] as usize));
        }
        Self {
            table,
            shown,
            record_of,
            row_of,
            members: classes.members(),
        }
    }

    fn column(&self, index: AttributeIndex) -> Result<(&'a Attribute, &'a CodedColumn), Unkept> {
        let attribute = self.table.schema().attribute(index);
        let column = self.table.coded(index);
        let column = column.ok_or_else(|| Unkept::of(attribute, "has no values"))?;
        Ok((attribute, column))
    }

    fn key(&self, subject: usize) -> Option<&'a str> {
        let (one, row) = self.last(subject)?;
        let subjects = &one.candidates.subjects;
        (row < subjects.len()).then(|| subjects.get(row))
    }

    /// The last release that shows a subject, and their row there.
    fn last(&self, subject: usize) -> Option<(&'a Shown<'a>, usize)> {
        let mut all = self.shown.iter().zip(&self.row_of).rev();
        all.find_map(|(one, rows)| {
            let row = rows[subject];
            (row != ABSENT).then_some((one, row as usize))
        })
    }

    fn groups(&self, (max_companions, joins): (Share, bool)) -> Result<KeptGroups, Unkept> {
        let schema = self.table.schema();
        let quasi = schema.select(|attribute| attribute.role == Role::QuasiIdentifier);
        let mut kept = KeptGroups {
            class_of: vec![NO_KEPT_CLASS; self.table.records()],
            is_same: vec![true; self.table.records()],
            classes: self.classes()?,
            joins,
            cells: Vec::new(),
            k: self.shown.iter().map(|one| one.k).max().unwrap_or(1),
            l: self.l(),
            max_companions,
        };
        for (number, class) in (0..).zip(&kept.classes) {
            for record in class.members.iter().filter_map(|member| member.record) {
                kept.class_of[record as usize] = number;
            }
        }
        for index in quasi {
            self.show(index, &mut kept)?;
        }
        let protectable = schema.protectable();
        for class in &kept.classes {
            for member in &class.members {
                let Some(record) = member.record else {
                    continue;
                };
                let codes = protectable.iter().map(|&index| self.table.coded(index));
                let mut codes = codes.zip(&member.values);
                let is_same = codes.all(|(column, &shown)| {
                    column.is_some_and(|column| column.codes.at(record as usize) == shown)
                });
                kept.is_same[record as usize] &= is_same;
            }
        }
        Ok(kept)
    }

    /// The largest l that is claimed of each protectable attribute.
    fn l(&self) -> Vec<u32> {
        let schema = self.table.schema();
        let of_one = |index: AttributeIndex| {
            let all = self.shown.iter().flat_map(|one| &one.candidates.attributes);
            let own = all.filter(|one| one.name == schema.attribute(index).name);
            own.map(|one| one.l).max().unwrap_or(2).max(2)
        };
        schema.protectable().into_iter().map(of_one).collect()
    }

    fn classes(&self) -> Result<Vec<KeptClass>, Unkept> {
        let protectable = self.table.schema().protectable();
        let values = protectable.iter().map(|&index| self.values(index));
        let values: Vec<Vec<u32>> = values.collect::<Result<_, _>>()?;
        let classes = self.members.iter().map(|subjects| {
            let member = |&subject: &usize| {
                let (k, l) = self.promised(subject, &protectable);
                KeptMember {
                    record: self.record_of[subject],
                    values: values.iter().map(|codes| codes[subject]).collect(),
                    k,
                    l,
                }
            };
            let size = subjects.len() as u64;
            let in_group = |(one, row): (&Shown<'_>, usize)| one.sizes[one.group_of[row] as usize];
            let first = subjects.first().copied();
            let last = first.and_then(|subject| self.last(subject));
            let showing = self.shown.iter().zip(&self.row_of);
            let mut showing =
                showing.filter(|(_, rows)| first.is_some_and(|at| rows[at] != ABSENT));
            KeptClass {
                cells: Vec::new(),
                is_whole: last.is_some_and(|last| in_group(last) == size),
                is_divisible: showing.all(|(one, _)| one.is_divisible()),
                members: subjects.iter().map(member).collect(),
            }
        });
        Ok(classes.collect())
    }

    /// The largest k and l that a release promised to a subject by their own terms.
    fn promised(&self, subject: usize, protectable: &[AttributeIndex]) -> (u32, Vec<u32>) {
        let (mut k, mut l) = (1, vec![1; protectable.len()]);
        for (one, rows) in self.shown.iter().zip(&self.row_of) {
            let Some(terms) = one.candidates.terms(rows[subject] as usize) else {
                continue;
            };
            k = terms.k.max(k);
            for (l, &index) in l.iter_mut().zip(protectable) {
                let mut all = one.candidates.attributes.iter();
                let name = &self.table.schema().attribute(index).name;
                let own = all.position(|attribute| attribute.name == *name);
                let own = own.and_then(|at| terms.l.get(at).copied());
                *l = own.unwrap_or(1).max(*l);
            }
        }
        (k, l)
    }

    /// The code that was shown last of each subject.
    fn values(&self, index: AttributeIndex) -> Result<Vec<u32>, Unkept> {
        let (attribute, column) = self.column(index)?;
        let unkept = |reason| Unkept::of(attribute, reason);
        let codes = codes_by_class(attribute, column);
        let by_release = self.shown.iter().map(|one| {
            let shown = one.column(&attribute.name)?;
            let code = |text: &String| codes.get(&spelled(text, attribute)).copied();
            let known: Vec<Option<u32>> = shown.cells.iter().map(code).collect();
            Some((shown, known))
        });
        let by_release: Vec<_> = by_release.collect();
        let last = (0..self.record_of.len()).map(|subject| {
            let mut all = by_release.iter().zip(&self.row_of).rev();
            let found = all.find(|(_, rows)| rows[subject] != ABSENT);
            let (shown, rows) = found.ok_or_else(|| unkept("is shown of nobody"))?;
            let (shown, known) = shown
                .as_ref()
                .ok_or_else(|| unkept("a public release of these subjects does not show it"))?;
            let cell = shown.cell_of[rows[subject] as usize];
            known[cell as usize].ok_or_else(|| {
                unkept("a value of a public release is no leaf of the hierarchy any more")
            })
        });
        last.collect()
    }

    /// Notes the cell of a quasi-identifier of each class, and which records are
    /// not in it any more.
    fn show(&self, index: AttributeIndex, kept: &mut KeptGroups) -> Result<(), Unkept> {
        let (attribute, column) = self.column(index)?;
        let unkept = |reason| Unkept::of(attribute, reason);
        let (mut texts, mut numbers): (Vec<String>, FxHashMap<&str, u32>) = Default::default();
        let mut cells: Vec<Cell> = Vec::new();
        for (class, subjects) in kept.classes.iter_mut().zip(&self.members) {
            let last = subjects.first().and_then(|&subject| self.last(subject));
            let (one, row) = last.ok_or_else(|| unkept("is shown of nobody"))?;
            let shown = one.column(&attribute.name);
            let shown = shown
                .ok_or_else(|| unkept("a public release of these subjects does not show it"))?;
            let text = shown.cells[shown.cell_of[row] as usize].as_str();
            let number = match numbers.get(text) {
                Some(&number) => number,
                None => {
                    let kind = Some(column.domain.kind());
                    let cell = Cell::parse(text, Content::Generalized, kind);
                    cells.push(
                        cell.map_err(|_| unkept("has another type than in a public release"))?,
                    );
                    texts.push(text.to_owned());
                    numbers.insert(text, texts.len() as u32 - 1);
                    texts.len() as u32 - 1
                }
            };
            class.cells.push(number);
            for record in class.members.iter().filter_map(|member| member.record) {
                let code = column.codes.at(record as usize);
                let cell = &cells[number as usize];
                kept.is_same[record as usize] &= covers(cell, &column.domain, Code(code));
            }
        }
        kept.cells.push(texts);
        Ok(())
    }
}

/// Whether a cell covers the value of a code.
fn covers(cell: &Cell, domain: &Domain, code: Code) -> bool {
    let is_missing = domain.is_missing_number(code);
    match (cell, domain.values()) {
        (Cell::Masked, _) => true,
        (Cell::OrMissing(interval), _) => is_missing || covers(interval, domain, code),
        (Cell::Label(_), Values::Integer(_) | Values::Decimal(_) | Values::Date(_)) => {
            is_missing && cell.is_missing()
        }
        _ if is_missing => false,
        (Cell::Integer(low, high), Values::Integer(values)) => {
            (*low..=*high).contains(&values[code.at()])
        }
        (Cell::Decimal(low, high), Values::Decimal(values)) => {
            (*low..=*high).contains(&values[code.at()])
        }
        (Cell::Date(low, high), Values::Date(values)) => {
            (*low..=*high).contains(&values[code.at()])
        }
        (Cell::Label(label), Values::Category(values)) => match domain.hierarchy() {
            Some(tree) => tree.find(label).is_some_and(|node| {
                let node = tree.node(node);
                (node.first_leaf..=node.last_leaf()).contains(&code)
            }),
            None => values[code.at()] == *label,
        },
        (Cell::Set(labels), Values::Category(values)) => labels.contains(&values[code.at()]),
        _ => false,
    }
}
