//! Parts that others count and publish, who see bytes of numbers only: the release is
//! that of one process, and no text of the table is in the bytes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde::Serialize;
use serde::de::DeserializeOwned;
use vizard_anonymizer::catalog::elsewhere::{
    Board, BoardColumn, BoardElsewhere, BoardRows, CodeCount, PartAnswer, PartsElsewhere,
    SideCount, TableOrder,
};
use vizard_anonymizer::engine::Silent;
use vizard_anonymizer::engine::kernel::outline::{Parted, SetCut, SetNumber};
use vizard_anonymizer::microdata::TableColumn;
use vizard_anonymizer::privacy::CancelFlag;

use super::*;

/// All that left this process.
#[derive(Clone, Debug, Default)]
struct Wire(Arc<Mutex<Vec<u8>>>);

impl Wire {
    /// A value as it arrives.
    fn sent<T: Serialize + DeserializeOwned>(&self, value: &T) -> T {
        let bytes = serde_json::to_vec(value).expect("plain values");
        self.0.lock().expect("one thread").extend_from_slice(&bytes);
        serde_json::from_slice(&bytes).expect("what was written")
    }

    fn holds(&self, text: &str) -> bool {
        let bytes = self.0.lock().expect("one thread");
        let mut windows = bytes.windows(text.len());
        windows.any(|window| window == text.as_bytes())
    }
}

impl PartsElsewhere for Wire {
    fn take(
        &self,
        board: &Board<'_>,
        order: TableOrder,
        _cancel: &CancelFlag,
    ) -> Result<Box<dyn BoardElsewhere>, EngineError> {
        let mut columns: BTreeMap<BoardColumn, Vec<u32>> = BTreeMap::new();
        for from in (0..board.rows()).step_by(7) {
            let rows = board.some_rows(from..(from + 7).min(board.rows()));
            for (column, numbers) in self.sent(&rows).0 {
                columns.entry(column).or_default().extend(numbers);
            }
        }
        Ok(Box::new(There {
            wire: self.clone(),
            order: self.sent(&order),
            cuts: Vec::new(),
            set: vec![0; board.rows()],
            columns,
            cut_by: (0..board.quasi_identifiers())
                .map(|at| board.cut_by(at))
                .collect(),
            asked: board.asked().collect(),
            counts_some: board.counts_some(),
        }))
    }
}

struct There {
    wire: Wire,
    order: TableOrder,
    columns: BTreeMap<BoardColumn, Vec<u32>>,
    /// The smallest set of each row.
    set: Vec<SetNumber>,
    cuts: Vec<Parted>,
    cut_by: Vec<BoardColumn>,
    asked: Vec<BoardColumn>,
    counts_some: bool,
}

impl There {
    fn counted(&self) -> impl Iterator<Item = usize> + '_ {
        let is_counted =
            |row: &usize| !self.counts_some || self.columns[&BoardColumn::Counted][*row] == 1;
        (0..self.set.len()).filter(is_counted)
    }

    /// Whether a row is in a set.
    fn is_in(&self, row: usize, set: SetNumber) -> bool {
        let mut own = self.set[row];
        while own != set {
            let above = |parted: &&Parted| parted.left == own || parted.right == own;
            match self.cuts.iter().find(above) {
                Some(parted) => own = parted.cut.set,
                None => return false,
            }
        }
        true
    }
}

impl BoardElsewhere for There {
    fn histograms(&mut self, sets: &[SetNumber]) -> Result<Vec<CodeCount>, EngineError> {
        let there: &Self = self;
        let rows = there
            .counted()
            .filter(|&row| sets.contains(&there.set[row]));
        let counts = rows.flat_map(|row| {
            let columns = there.cut_by.iter().enumerate();
            columns.map(move |(quasi, column)| CodeCount {
                set: there.set[row],
                quasi,
                code: there.columns[column][row],
                count: 1,
            })
        });
        Ok(counts.collect())
    }

    fn sides(&mut self, cuts: &[SetCut]) -> Result<Vec<SideCount>, EngineError> {
        let mut counts = Vec::new();
        for row in self.counted() {
            let Some(cut) = cuts.iter().position(|cut| cut.set == self.set[row]) else {
                continue;
            };
            let SetCut { column, code, .. } = cuts[cut];
            let mut count = |value| {
                counts.push(SideCount {
                    cut,
                    is_left: self.columns[&self.cut_by[column]][row] <= code,
                    terms: self.columns[&BoardColumn::Lent][row],
                    value,
                    count: 1,
                });
            };
            count(None);
            for (at, column) in self.asked.iter().enumerate() {
                count(Some((at, self.columns[column][row])));
            }
        }
        Ok(counts)
    }

    fn cut(&mut self, cuts: &[Parted]) -> Result<(), EngineError> {
        self.cuts.extend(cuts);
        for (row, set) in self.set.iter_mut().enumerate() {
            if let Some(parted) = cuts.iter().find(|parted| parted.cut.set == *set) {
                let code = self.columns[&self.cut_by[parted.cut.column]][row];
                let is_left = code <= parted.cut.code;
                *set = if is_left { parted.left } else { parted.right };
            }
        }
        Ok(())
    }

    fn publish(
        &mut self,
        sets: &[(SetNumber, u64)],
        done: &mut dyn FnMut(usize),
    ) -> Result<Vec<PartAnswer>, EngineError> {
        let open = Engine::open(self.order.clone())?;
        let answers = (1..).zip(sets).map(|(number, &(set, place))| {
            let columns = self.columns.iter().map(|(&column, numbers)| {
                let own = (0..numbers.len()).filter(|&row| self.is_in(row, set));
                (column, own.map(|row| numbers[row]).collect())
            });
            let rows = self.wire.sent(&BoardRows(columns.collect()));
            let watched = (&Silent as &_, CancelFlag::never());
            let answer = open.publish(place, &rows, watched)?;
            done(number);
            Ok(self.wire.sent(&answer))
        });
        answers.collect()
    }
}

/// The labels and names of a table that are long enough not to be there by chance.
fn texts(table: &Table) -> Vec<String> {
    let names = table.schema().attributes().iter();
    let mut texts: Vec<String> = names.map(|attribute| attribute.name.clone()).collect();
    for column in table.columns() {
        if let TableColumn::Coded(column) = column {
            let nodes = column.domain.hierarchy().into_iter();
            texts.extend(
                nodes
                    .flat_map(|tree| tree.nodes())
                    .map(|node| node.label.clone()),
            );
            if !column.domain.is_numeric() {
                let codes = (0..column.domain.len() as u32).map(vizard_anonymizer::microdata::Code);
                texts.extend(codes.map(|code| column.domain.text(code)));
            }
        }
    }
    texts.extend(table.subject_keys().iter().map(str::to_owned));
    // Numbers and short texts are there by chance, one of them as a word of ours.
    let is_telling = |text: &String| text.len() > 5 && text.chars().any(char::is_alphabetic);
    texts.retain(|text| is_telling(text) && text != "(missing)");
    texts
}

fn same_as_in_one_process(of: impl Fn(&Plan) -> Scenario) {
    let [released, in_parts] = [(); 2].map(|()| Count::new(0_u32));
    for_plans(plans(), 200, |plan| {
        let scenario = of(&plan);
        let wire = Wire::default();
        let table = scenario.table();
        let texts = texts(&table);
        let parsed = Engine::parse(scenario.engine, &scenario.parameters, table.schema());
        let (here, there) = match parsed {
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
            Ok(engine) => {
                let engine = engine.with_parts(PartsRule::Given(plan.parts));
                let there = engine.clone().with_parts_elsewhere(Arc::new(wire.clone()));
                let publish = |engine: &Engine| {
                    let policy = engine.policy(table.schema())?;
                    let requirements = Requirements::new(&table, policy, &scenario.preferences);
                    Case::by(engine, (table.clone(), requirements), plan.seed)
                };
                (publish(&engine), publish(&there))
            }
        };
        if let Ok(case) = &here {
            released.set(released.get() + 1);
            let number = case.manifest.parts.map_or(1, |parts| parts.number);
            in_parts.set(in_parts.get() + u32::from(number > 1));
        }
        let made = |case: Case| (case.tables, case.lineage, case.manifest, case.excluded);
        prop_assert_eq!(here.map(made), there.map(made));
        for text in texts {
            prop_assert!(!wire.holds(&text), "`{text}` left the process");
        }
        Ok(())
    });
    let [released, in_parts] = [released, in_parts].map(Count::into_inner);
    println!("{released} released, {in_parts} of them in several parts");
    assert!(released > 0, "nothing was released");
}

#[test]
fn mondrian_elsewhere_gives_the_same_bytes() {
    same_as_in_one_process(mondrian_of);
}

#[test]
fn lgb_elsewhere_gives_the_same_bytes() {
    same_as_in_one_process(lgb_of);
}

#[test]
fn personalized_elsewhere_gives_the_same_bytes() {
    same_as_in_one_process(personalized_of);
}

#[test]
fn persons_elsewhere_give_the_same_bytes() {
    for engine in ["one_to_many", "rmr"] {
        same_as_in_one_process(|plan| persons_of(plan, engine));
    }
}
