//! Counting: expected number of records, with certain bounds.
//!
//! The estimate is Σ over rows of the product of the shares. For the bounds,
//! let a row be *certain* if every cell satisfies whatever it hides, and
//! *possible* if every cell may. All rows give certain ≤ answer ≤ possible. A
//! bucketized attribute gives more: of the n rows of a pool exactly m hold a
//! satisfying value, so with c rows certain and p possible on the *other*
//! attributes, between max(0, c + m − n) and min(p, m) of them count. Every
//! bucketized attribute of the query is tried, and the best bounds kept
//! (*ours*; docs/DEVIATIONS.md, queries).

use std::ops::Range;

use super::block::{BLOCK_CLASSES, Block, RowBounds};
use super::condition::Judgement;
use super::filter::Decided;
use super::index::{Conditions, QueryIndex};
use super::pairs::Pair;
use super::table::JudgementTable;
use super::tally::{PoolTally, Tally};

pub use super::tally::Count;
use crate::microdata::Codes;

/// Memory that one query leaves to the next.
#[derive(Debug, Default)]
pub struct Scratch {
    tables: Vec<JudgementTable>,
    /// Shares of the looks of each pair of conditions.
    weights: [Vec<f64>; PAIRS_MAX],
    pools: Vec<PoolTally>,
    block: Block,
}

/// Pairs of conditions of a query.
const PAIRS_MAX: usize = 2;

/// How classes look to some conditions.
struct Look<'s> {
    /// Per class: the number of its look.
    of_class: &'s Codes,
    /// Per look: the product of the shares.
    weights: &'s [f64],
    /// The pair that looks are numbered by, if they are.
    pair: Option<&'s Pair>,
}

/// A class while its rows are visited.
struct Visit<'a> {
    /// Conditions that rows of the class answer one by one.
    deferred: &'a [usize],
    /// Product of the shares of the others.
    share: f64,
    /// Whether all others are certain.
    certain: bool,
}

impl QueryIndex<'_> {
    /// Counts the records that satisfy all conditions.
    pub(super) fn count(&self, conditions: &Conditions, scratch: &mut Scratch) -> Count {
        self.tally(conditions, scratch).count()
    }

    /// What the count is made from; of portions of a release it adds up.
    pub(super) fn tally(&self, conditions: &Conditions, scratch: &mut Scratch) -> Tally {
        if let Some(sliced) = &self.sliced {
            return Tally::of_sliced(sliced.count(self, conditions));
        }
        scratch.prepare(self, conditions);
        let Scratch {
            tables,
            weights,
            pools,
            block,
        } = scratch;
        let tables = &tables[..conditions.len()];
        let mut tally = RowBounds::default();
        let looks = self.looks(conditions, tables, weights);
        let varies = |&position: &usize| !self.of_row(conditions, position).is_empty();
        let varying: Vec<usize> = (0..conditions.len()).filter(varies).collect();
        if varying.is_empty()
            && let [
                Look {
                    pair: Some(pair),
                    weights,
                    ..
                },
            ] = looks.as_slice()
        {
            pair.sum(weights, &mut tally);
            return Tally::of(tally, tables, &pools[..conditions.len()]);
        }
        let decided = varying.iter().map(|&position| {
            let exact = self.columns[conditions[position].0].exact.as_ref()?;
            tables[position].admitted(exact)
        });
        let decided: Option<Vec<Decided<'_>>> = decided.collect();
        let classes = self.starts.len() - 1;
        for first in (0..classes).step_by(BLOCK_CLASSES) {
            let classes = first..classes.min(first + BLOCK_CLASSES);
            let factors = looks.iter().map(|look| (look.of_class, look.weights));
            block.judge(classes.clone(), factors);
            let starts = &self.starts[first..=classes.end];
            match decided.as_deref() {
                Some([]) => block.sum(&self.sizes[classes], &mut tally),
                Some(decided) => block.sum_decided(starts, decided, &mut tally),
                None => {
                    let frame = (conditions, tables, varying.as_slice());
                    self.visit(block.shares(), classes, frame, (&mut *pools, &mut tally));
                }
            }
        }
        Tally::of(tally, tables, &pools[..conditions.len()])
    }

    /// How classes look to the conditions: by two of their attributes at once
    /// where pairs are kept, else by one each. Attributes of which rows alone
    /// have a say are left out.
    fn looks<'s>(
        &'s self,
        conditions: &Conditions,
        tables: &'s [JudgementTable],
        weights: &'s mut [Vec<f64>; PAIRS_MAX],
    ) -> Vec<Look<'s>> {
        let mut said: Vec<(usize, &JudgementTable)> = conditions
            .iter()
            .zip(tables)
            .map(|((at, _), table)| (*at, table))
            .filter(|&(at, _)| !self.columns[at].is_of_rows_alone)
            .collect();
        said.sort_unstable_by_key(|&(at, _)| at);
        let alone = said.len() == 1;
        let mut looks = Vec::with_capacity(said.len());
        let mut weights = weights.iter_mut();
        for two in said.chunks(2) {
            let (one, other) = (two[0], two[two.len() - 1]);
            // An attribute with itself is shorter, but looked up no faster.
            let pair = (two.len() == 2 || alone)
                .then(|| self.pairs.get((one.0, other.0), &self.columns, &self.sizes))
                .flatten();
            if let Some((pair, weights)) = pair.zip(weights.next()) {
                pair.weigh(one.1, (two.len() == 2).then_some(other.1), weights);
                looks.push(Look {
                    of_class: &pair.of_class,
                    weights,
                    pair: Some(pair),
                });
            } else {
                looks.extend(two.iter().map(|&(at, table)| Look {
                    of_class: &self.columns[at].of_class,
                    weights: &table.weights,
                    pair: None,
                }));
            }
        }
        looks
    }

    /// Rows' states for a condition; empty where no row has one of its own.
    fn of_row(&self, conditions: &Conditions, position: usize) -> &[u32] {
        &self.columns[conditions[position].0].of_row
    }

    /// Counts classes of a block one by one, and their rows where conditions
    /// `varying` have to be asked row by row.
    fn visit(
        &self,
        shares: &[f64],
        classes: Range<usize>,
        (conditions, tables, varying): (&Conditions, &[JudgementTable], &[usize]),
        (pools, tally): (&mut [PoolTally], &mut RowBounds),
    ) {
        let mut deferred = Vec::with_capacity(varying.len());
        for (class, &share) in classes.zip(shares) {
            if share == 0.0 {
                continue;
            }
            let by_row = |&position: &usize| self.columns[conditions[position].0].is_by_row(class);
            deferred.clear();
            deferred.extend(varying.iter().copied().filter(by_row));
            let visit = Visit {
                deferred: &deferred,
                share,
                certain: share == 1.0,
            };
            let run = self.starts[class] as usize..self.starts[class + 1] as usize;
            match deferred.as_slice() {
                [] => visit.class(run.len() as u64, tally),
                _ => {
                    let state = |row: usize, position: usize| {
                        self.of_row(conditions, position)[row] as usize
                    };
                    visit.rows(run, state, (tables, &mut *pools), tally);
                }
            }
        }
    }
}

impl Scratch {
    fn prepare(&mut self, index: &QueryIndex<'_>, conditions: &Conditions) {
        let wanted = conditions.len().max(self.tables.len());
        self.tables.resize_with(wanted, JudgementTable::default);
        self.pools.resize_with(wanted, PoolTally::default);
        for (position, (at, condition)) in conditions.iter().enumerate() {
            let table = &mut self.tables[position];
            let attribute = &index.attributes[*at];
            table.fill(condition, attribute, &index.domains[*at]);
            let tally = &mut self.pools[position];
            tally.others.clear();
            tally.others.resize(table.pools.len(), (0, 0));
            (tally.certain, tally.possible) = (0, 0);
        }
    }
}

impl Visit<'_> {
    /// Counts `rows` rows about which nothing is open but what the class says.
    fn class(&self, rows: u64, tally: &mut RowBounds) {
        tally.estimate += self.share * rows as f64;
        tally.certain += rows * u64::from(self.certain);
        tally.possible += rows;
        tally.groups_touched += u64::from(rows > 0);
    }

    /// Visits the rows of a class one by one.
    fn rows(
        &self,
        run: Range<usize>,
        states: impl Fn(usize, usize) -> usize,
        (tables, pools): (&[JudgementTable], &mut [PoolTally]),
        tally: &mut RowBounds,
    ) {
        let before = tally.possible;
        'rows: for row in run {
            let mut share = self.share;
            // How many conditions are not certain for this row.
            let mut open = u32::from(!self.certain);
            for &position in self.deferred {
                let judgement: Judgement = tables[position].judgements[states(row, position)];
                if !judgement.possible {
                    continue 'rows;
                }
                share *= judgement.share;
                open += u32::from(!judgement.certain);
            }
            tally.estimate += share;
            tally.certain += u64::from(open == 0);
            tally.possible += 1;
            for &position in self.deferred {
                let (table, state) = (&tables[position], states(row, position));
                if state >= table.cells {
                    let own = u32::from(!table.judgements[state].certain);
                    let others = &mut pools[position].others[state - table.cells];
                    others.0 += u32::from(open == own);
                    others.1 += 1;
                    pools[position].certain += u64::from(open == 0);
                    pools[position].possible += 1;
                }
            }
        }
        tally.groups_touched += u64::from(tally.possible > before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::microdata::AttributeType;
    use crate::privacy::CancelFlag;
    use crate::query::AnsweredCell;
    use crate::query::expression::Query;
    use crate::query::index::Hierarchies;
    use crate::release::{Cell, Cells, Content, PublishedColumn, PublishedTable};

    /// The one cell of a query without `group_by`.
    fn only(index: &QueryIndex<'_>, query: &Query) -> AnsweredCell {
        let answer = index.answer(query, CancelFlag::never()).unwrap();
        answer.cells.into_iter().next().unwrap()
    }

    fn bounds_of(cell: &AnsweredCell) -> (Option<f64>, Option<f64>) {
        let count = cell.count.unwrap();
        (count.lower, count.upper)
    }

    /// Rows of one group: as many attributes, each anywhere up to a billion.
    fn wide(attributes: usize, rows: usize) -> PublishedTable {
        let column = |name: String, content, kind, cells| PublishedColumn {
            name,
            content,
            kind,
            cells,
        };
        let group = column(
            "group".into(),
            Content::Group,
            None,
            Cells::Numbers(vec![1; rows]),
        );
        let attributes = (0..attributes).map(|at| {
            let cells = Cells::Dictionary {
                codes: vec![0; rows].into(),
                cells: vec![Cell::Integer(0, 999_999_999)],
            };
            let kind = Some(AttributeType::Integer);
            column(format!("a{at}"), Content::Generalized, kind, cells)
        });
        PublishedTable {
            name: "microdata".into(),
            columns: std::iter::once(group).chain(attributes).collect(),
        }
    }

    #[test]
    fn a_cell_of_an_exact_column_that_leaves_a_condition_open_stays_open() {
        let cells = vec![Cell::Integer(9, 9), Cell::Masked, Cell::Integer(3, 3)];
        let cells = Cells::Dictionary {
            codes: vec![0, 1, 2, 0].into(),
            cells,
        };
        let mut table = wide(1, 4);
        table.columns[1] = PublishedColumn {
            content: Content::Exact,
            cells,
            ..table.columns[1].clone()
        };
        let tables = [table];
        let index = QueryIndex::new(&tables, &Hierarchies::new()).unwrap();
        let query = serde_json::json!({"count": true,
            "where": [{"attribute": "a0", "op": ">", "value": 5}]});
        let query: Query = serde_json::from_value(query).unwrap();
        assert_eq!(bounds_of(&only(&index, &query)), (Some(2.0), Some(3.0)));
    }

    #[test]
    fn what_is_very_unlikely_stays_possible_however_many_conditions_there_are() {
        let tables = [wide(64, 10)];
        let index = QueryIndex::new(&tables, &Hierarchies::new()).unwrap();
        // The product of 64 shares of a billionth has no floating-point number.
        for conditions in [1, 15, 16, 40, 64] {
            let predicates: Vec<_> = (0..conditions)
                .map(|at| serde_json::json!({"attribute": format!("a{at}"), "op": "=", "value": 7}))
                .collect();
            let query = serde_json::json!({"count": true, "where": predicates});
            let query: Query = serde_json::from_value(query).unwrap();
            let cell = only(&index, &query);
            let bounds = bounds_of(&cell);
            assert_eq!(bounds, (Some(0.0), Some(10.0)), "{conditions}");
            assert_eq!((cell.rows, cell.groups), (10, 1));
        }
    }
}
