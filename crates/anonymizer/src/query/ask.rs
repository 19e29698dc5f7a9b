//! Answering a whole query: each figure for each combination of values.

use std::collections::{BTreeMap, BTreeSet};

use crate::microdata::AttributeType::{Decimal, Integer};
use crate::privacy::CancelFlag;
use crate::release::Cell;

use super::answer::{AnsweredCell, QueryAnswer};
use super::condition::Condition;
use super::count::{Count, Scratch};
use super::expression::{CELLS_MAX, GROUPS_MAX, InvalidQuery, List, MEASURES_MAX, Query};
use super::index::{Conditions, QueryIndex, narrow};

/// Values of one attribute that are gone through for those that conditions
/// leave.
const VALUES_LISTED_MAX: usize = 200_000;

/// What a query asks for each combination.
struct Figures<'q> {
    count: bool,
    /// Names of the numbers by position, with whether their sum and their
    /// average are asked for.
    measures: BTreeMap<usize, (&'q str, bool, bool)>,
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
        let mut scratch = Scratch::default();
        let mut cells = Vec::new();
        let mut chosen = vec![0; grouped.len()];
        if grouped.iter().all(|(_, values)| !values.is_empty()) {
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
                    let cell = self.cell(&figures, &narrowed, (count, cancel));
                    cells.push(AnsweredCell { values, ..cell });
                }
                if !next(&mut chosen, &grouped) {
                    break;
                }
            }
        }
        Ok(QueryAnswer {
            group_by: query.group_by.clone(),
            cells,
        })
    }

    /// The figures of the records that satisfy these conditions.
    fn cell(
        &self,
        figures: &Figures<'_>,
        conditions: &Conditions,
        (count, cancel): (Count, &CancelFlag),
    ) -> AnsweredCell {
        let mut cell = AnsweredCell {
            rows: count.rows,
            groups: count.groups_touched,
            count: figures.count.then(|| count.answer()),
            ..AnsweredCell::default()
        };
        for (&at, &(name, sum, avg)) in &figures.measures {
            cancel.heed();
            let total = self.total(at, conditions);
            if sum {
                cell.sum.insert(name.into(), total.sum());
            }
            if avg {
                cell.avg.insert(name.into(), total.average());
            }
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
    ) -> Result<Vec<(usize, Vec<Cell>)>, InvalidQuery> {
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

/// Goes on to the next combination, the last attribute first; whether there is
/// one.
fn next(chosen: &mut [usize], grouped: &[(usize, Vec<Cell>)]) -> bool {
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
