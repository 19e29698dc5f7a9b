//! Answering a whole query: each figure for each combination of values.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use crate::microdata::AttributeType::{Decimal, Integer};
use crate::privacy::CancelFlag;
use crate::release::Cell;

use super::answer::{AnsweredCell, QueryAnswer};
use super::condition::Condition;
use super::count::{Count, Scratch};
use super::expression::{CELLS_MAX, GROUPS_MAX, InvalidQuery, List, MEASURES_MAX, Query};
use super::grouped::Grouped;
use super::index::{Conditions, QueryIndex, narrow};
use super::sum::Total;

/// Values of one attribute that are gone through for those that conditions
/// leave.
const VALUES_LISTED_MAX: usize = 200_000;

/// What a query asks for each combination.
struct Figures<'q> {
    count: bool,
    /// The numbers by position.
    measures: BTreeMap<usize, Asked<'q>>,
}

/// A number's name, with whether its sum and its average are asked for.
type Asked<'q> = (&'q str, bool, bool);

/// Attributes that are grouped by, each with its values.
type GroupedValues = Vec<(usize, Vec<Cell>)>;

impl Figures<'_> {
    /// A cell with its count, as far as that is asked for.
    fn counted(&self, count: Count) -> AnsweredCell {
        AnsweredCell {
            rows: count.rows,
            groups: count.groups_touched,
            count: self.count.then(|| count.answer()),
            ..AnsweredCell::default()
        }
    }
}

impl QueryIndex<'_> {
    /// Answers a query; `cancel` is heeded while it is computed.
    ///
    /// # Errors
    /// Where the query does not fit the release.
    pub fn answer(&self, query: &Query, cancel: &CancelFlag) -> Result<QueryAnswer, InvalidQuery> {
        let conditions = self.conditions(&query.predicates)?;
        let figures = self.figures(query)?;
        let grouped = self.grouped(query, &conditions)?;
        let is_empty = grouped.iter().any(|(_, values)| values.is_empty());
        let cells = match (is_empty, grouped.len()) {
            (true, _) => Some(Vec::new()),
            (false, 0) => None,
            (false, _) => self.cells_at_once(&figures, &conditions, (&grouped, cancel)),
        };
        Ok(QueryAnswer {
            cells: cells.unwrap_or_else(|| {
                self.cells_one_by_one(&figures, &conditions, (&grouped, cancel))
            }),
            group_by: query.group_by.clone(),
        })
    }

    /// The figures of all cells with a row, classes being gone through once;
    /// `None` where the release is laid out in a way that does not allow it.
    fn cells_at_once(
        &self,
        figures: &Figures<'_>,
        conditions: &Conditions,
        (grouped, cancel): (&GroupedValues, &CancelFlag),
    ) -> Option<Vec<AnsweredCell>> {
        let cells = Grouped::count(self, conditions, grouped, cancel)?;
        let measures: Vec<_> = figures.measures.iter().collect();
        let totals = measures.par_iter().map(|(at, _)| cells.total(**at, cancel));
        let totals = totals.collect::<Vec<_>>();
        let counted = cells.counts.iter().enumerate();
        let counted = counted.filter(|(_, count)| count.rows > 0);
        let answered = counted.map(|(number, count)| {
            let mut cell = figures.counted(*count);
            cell.values = values_of(number, grouped);
            for ((_, asked), totals) in measures.iter().zip(&totals) {
                add_total(&mut cell, asked, &totals[number]);
            }
            cell
        });
        Some(answered.collect())
    }

    /// The cells of an answer, each asked for itself, and whether the index would
    /// not have done so: what cells at once are held against.
    #[cfg(test)]
    pub(super) fn answer_one_by_one(
        &self,
        query: &Query,
    ) -> Result<(Vec<AnsweredCell>, bool), InvalidQuery> {
        let conditions = self.conditions(&query.predicates)?;
        let grouped = self.grouped(query, &conditions)?;
        if grouped.iter().any(|(_, values)| values.is_empty()) {
            return Ok((Vec::new(), true));
        }
        let (figures, cancel) = (self.figures(query)?, CancelFlag::never());
        let at_once = Grouped::count(self, &conditions, &grouped, cancel).is_some();
        let cells = self.cells_one_by_one(&figures, &conditions, (&grouped, cancel));
        Ok((cells, at_once))
    }

    /// The same, each cell for itself; without `group_by` also a cell without a
    /// row.
    fn cells_one_by_one(
        &self,
        figures: &Figures<'_>,
        conditions: &Conditions,
        (grouped, cancel): (&GroupedValues, &CancelFlag),
    ) -> Vec<AnsweredCell> {
        let mut scratch = Scratch::default();
        let mut cells = Vec::new();
        let mut chosen = vec![0; grouped.len()];
        loop {
            cancel.heed();
            let mut narrowed = conditions.clone();
            let mut values = Vec::with_capacity(grouped.len());
            for ((at, of), &value) in grouped.iter().zip(&chosen) {
                let only = Condition::only(&of[value], &self.domains[*at]);
                narrow(&mut narrowed, *at, only);
                values.push(exact_text(&of[value]));
            }
            let count = self.count(&narrowed, &mut scratch);
            if count.rows > 0 || grouped.is_empty() {
                let cell = self.cell(figures, &narrowed, (count, cancel));
                cells.push(AnsweredCell { values, ..cell });
            }
            if !next(&mut chosen, grouped) {
                return cells;
            }
        }
    }

    /// The figures of the records that satisfy these conditions.
    fn cell(
        &self,
        figures: &Figures<'_>,
        conditions: &Conditions,
        (count, cancel): (Count, &CancelFlag),
    ) -> AnsweredCell {
        let mut cell = figures.counted(count);
        for (&at, asked) in &figures.measures {
            cancel.heed();
            add_total(&mut cell, asked, &self.total(at, conditions));
        }
        cell
    }

    /// What is asked for; a number that is named twice counts once.
    fn figures<'q>(&self, query: &'q Query) -> Result<Figures<'q>, InvalidQuery> {
        let mut measures = BTreeMap::new();
        for (list, names) in [(List::Sum, &query.sum), (List::Avg, &query.avg)] {
            if names.len() > MEASURES_MAX {
                return Err(InvalidQuery::TooMany(list, MEASURES_MAX));
            }
            for (position, name) in names.iter().enumerate() {
                let place = list.at(position);
                let at = self.asked(name, place)?;
                if !matches!(self.domains[at].kind, Integer | Decimal) {
                    return Err(InvalidQuery::NotANumber(place));
                }
                let (_, sum, avg) = measures.entry(at).or_insert((&**name, false, false));
                *sum |= list == List::Sum;
                *avg |= list == List::Avg;
            }
        }
        if measures.is_empty() && !query.count {
            return Err(InvalidQuery::NothingAsked);
        }
        let count = query.count;
        Ok(Figures { count, measures })
    }

    /// The attributes that are grouped by, each with those of its values that
    /// the conditions admit.
    fn grouped(
        &self,
        query: &Query,
        conditions: &Conditions,
    ) -> Result<GroupedValues, InvalidQuery> {
        if query.group_by.len() > GROUPS_MAX {
            return Err(InvalidQuery::TooMany(List::GroupBy, GROUPS_MAX));
        }
        let (mut grouped, mut named, mut cells) = (Vec::new(), BTreeSet::new(), 1_usize);
        for (position, name) in query.group_by.iter().enumerate() {
            let place = List::GroupBy.at(position);
            let at = self.asked(name, place)?;
            if !named.insert(at) {
                return Err(InvalidQuery::Repeated(place));
            }
            let values = self.domains[at].values(VALUES_LISTED_MAX);
            let mut values = values.ok_or(InvalidQuery::Unlisted(place))?;
            if let Some((_, condition)) = conditions.iter().find(|(other, _)| *other == at) {
                values.retain(|value| condition.admits(value, &self.domains[at]));
            }
            cells = cells.saturating_mul(values.len());
            if cells > CELLS_MAX {
                return Err(InvalidQuery::TooManyCells);
            }
            grouped.push((at, values));
        }
        Ok(grouped)
    }
}

/// Adds what is asked of a number to a cell.
fn add_total(cell: &mut AnsweredCell, &(name, sum, avg): &Asked<'_>, total: &Total) {
    if sum {
        cell.sum.insert(name.into(), total.sum());
    }
    if avg {
        cell.avg.insert(name.into(), total.average());
    }
}

/// The values of the cell of this number; the last attribute's are next to each
/// other.
fn values_of(number: usize, grouped: &GroupedValues) -> Vec<String> {
    let mut left = number;
    let values = grouped.iter().rev().map(|(_, values)| {
        let value = &values[left % values.len()];
        left /= values.len();
        exact_text(value)
    });
    let mut values: Vec<String> = values.collect();
    values.reverse();
    values
}

/// Goes on to the next combination, the last attribute first; whether there is
/// one.
fn next(chosen: &mut [usize], grouped: &GroupedValues) -> bool {
    for (value, (_, values)) in chosen.iter_mut().zip(grouped).rev() {
        *value += 1;
        if *value < values.len() {
            return true;
        }
        *value = 0;
    }
    false
}

/// The text of an exact value.
fn exact_text(cell: &Cell) -> String {
    use crate::microdata::value_text::{date_text, decimal_text};
    match cell {
        Cell::Integer(value, _) => value.to_string(),
        Cell::Decimal(value, _) => decimal_text(*value),
        Cell::Date(day, _) => date_text(*day),
        Cell::Label(label) => label.clone(),
        _ => String::new(),
    }
}
