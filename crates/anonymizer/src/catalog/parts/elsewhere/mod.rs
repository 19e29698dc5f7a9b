//! Parts that are counted and published by other processes, which see numbers only.
//!
//! Who runs an engine may hand it somebody who does that ([`PartsElsewhere`]). They
//! are given the table as columns of numbers ([`Board`]) and one order ([`TableOrder`])
//! that holds everything else; both are plain values of integers and of words of this
//! program. No label, name of an attribute or key of a subject is among them: ranks
//! stand in their place ([`words`]). What a part gives comes back in the same numbers
//! ([`PartAnswer`]), and becomes a release here, byte for byte the one that the part
//! would have given in this process.
//!
//! Still, the numbers are personal data: codes of quasi-identifiers, numbers and days
//! as they are, and the secret that draws come from.

mod answer;
mod board;
mod order;
mod words;
mod written;

use std::fmt;

use crate::engine::error::EngineError;
use crate::engine::kernel::outline::slices::Slices;
use crate::engine::kernel::outline::{Contents, CountSets, Leaf, Parted, SetCut, SetNumber};
use crate::microdata::CodedColumn;
use crate::privacy::CancelFlag;

pub use answer::{PartAnswer, PartRelease};
pub use board::{Board, BoardColumn, BoardRows, NoBoardColumn};
pub use order::{OpenOrder, TableOrder};
pub use words::Words;

use super::here::{Parting, Place};
use super::made::{Columns, Made, MadeParts};
use words::Texts;

/// Somebody who counts and publishes the parts of tables in place of this process.
pub trait PartsElsewhere: fmt::Debug + Send + Sync {
    /// Takes a table over, for as long as what it gives lives.
    ///
    /// # Errors
    /// Cancelled, or [`EngineError::Elsewhere`].
    fn take(
        &self,
        board: &Board<'_>,
        order: TableOrder,
        cancel: &CancelFlag,
    ) -> Result<Box<dyn BoardElsewhere>, EngineError>;
}

/// A table that somebody took over. Set 0 is all of its records.
pub trait BoardElsewhere {
    /// How often each code of each quasi-identifier occurs in each of these sets.
    ///
    /// # Errors
    /// As of [`PartsElsewhere::take`]; so all that follow.
    fn histograms(&mut self, sets: &[SetNumber]) -> Result<Vec<CodeCount>, EngineError>;

    /// What stands on both sides of each of these cuts.
    ///
    /// # Errors
    /// As of [`PartsElsewhere::take`].
    fn sides(&mut self, cuts: &[SetCut]) -> Result<Vec<SideCount>, EngineError>;

    /// Makes these cuts.
    ///
    /// # Errors
    /// As of [`PartsElsewhere::take`].
    fn cut(&mut self, cuts: &[Parted]) -> Result<(), EngineError>;

    /// Publishes the sets, each with its place in the outline; `done` is told how many
    /// are. One answer for each, in their order. A set that was cut is asked for where
    /// its sides are one part again.
    ///
    /// # Errors
    /// As of [`PartsElsewhere::take`].
    fn publish(
        &mut self,
        sets: &[(SetNumber, u64)],
        done: &mut dyn FnMut(usize),
    ) -> Result<Vec<PartAnswer>, EngineError>;
}

/// How often a code occurs in a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeCount {
    /// The set.
    pub set: SetNumber,
    /// Position of the quasi-identifier.
    pub quasi: usize,
    /// The code.
    pub code: u32,
    /// Counted records.
    pub count: u64,
}

/// What stands on one side of a cut: so many counted records with these terms
/// ([`BoardColumn::Lent`]), or with these terms and a code of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SideCount {
    /// Position of the cut among those that were asked about.
    pub cut: usize,
    /// Whether it is the side with the lower codes.
    pub is_left: bool,
    /// Position of the terms.
    pub terms: u32,
    /// Position among the attributes that are asked about ([`Board::asked`]), and a
    /// code; nothing: all records with the terms.
    pub value: Option<(usize, u32)>,
    /// Counted records.
    pub count: u64,
}

/// A table in parts that somebody else counts and publishes.
pub(super) struct There<'a> {
    parting: &'a Parting<'a>,
    columns: &'a Columns<'a>,
    board: Box<dyn BoardElsewhere>,
    texts: Texts,
    cuts: Vec<Parted>,
}

impl<'a> There<'a> {
    pub fn of(
        by: &dyn PartsElsewhere,
        parting: &'a Parting<'a>,
        columns: &'a Columns<'a>,
    ) -> Result<Self, EngineError> {
        let gathered = parting.gathered;
        let of_table = (gathered.table, &gathered.requirements);
        let texts = order::texts(of_table.0, of_table.1);
        let of_whole = (parting.whole, parting.context);
        let order = TableOrder::of(parting.described, of_table, of_whole, &texts);
        let quasi = (columns.quasi.as_slice(), columns.quasi_at.clone());
        let asked = parting.counted.rule.attributes().collect();
        let secret = &parting.context.dataset_secret;
        let board = Board::of(gathered, parting.lent, quasi, (asked, secret));
        Ok(Self {
            parting,
            columns,
            board: by.take(&board, order, &parting.context.cancel)?,
            texts,
            cuts: Vec::new(),
        })
    }

    /// Publishes a part here, so that what refuses it is said in words.
    fn publish_here(&self, leaf: Leaf) -> Result<Made, EngineError> {
        let parting = self.parting;
        let units = parting.gathered.units.clone();
        let mut slices = Slices::of(units, &self.columns.quasi, parting.counted);
        slices.cut(&self.cuts)?;
        parting.publish_one(leaf, slices.records(leaf.set), parting.context.progress)
    }

    fn read(&self, leaf: Leaf, answer: PartAnswer) -> Result<Made, EngineError> {
        match answer {
            PartAnswer::Made(release) => Ok(Made {
                set: leaf.set,
                release: release.read(&self.texts)?,
            }),
            PartAnswer::Infeasible | PartAnswer::Refused => self.publish_here(leaf),
        }
    }
}

/// A count that is of nothing which was asked about.
fn beside() -> EngineError {
    EngineError::Elsewhere("counts are not about the table".into())
}

impl CountSets for There<'_> {
    fn histograms(&mut self, sets: &[SetNumber]) -> Result<Vec<Vec<Vec<u64>>>, EngineError> {
        let quasi: &[&CodedColumn] = &self.columns.quasi;
        let empty = quasi.iter().map(|column| vec![0; column.domain.len()]);
        let mut histograms = vec![empty.collect::<Vec<Vec<u64>>>(); sets.len()];
        for count in self.board.histograms(sets)? {
            // Sets are asked about in the order in which they were made.
            let set = sets.binary_search(&count.set).map_err(|_| beside())?;
            let of_column = histograms[set].get_mut(count.quasi).ok_or_else(beside)?;
            let of_code = of_column.get_mut(count.code as usize).ok_or_else(beside)?;
            *of_code += count.count;
        }
        Ok(histograms)
    }

    fn contents(&mut self, cuts: &[SetCut]) -> Result<Vec<[Contents; 2]>, EngineError> {
        let rule = &self.parting.counted.rule;
        let terms = self.parting.lent.distinct_terms().len() as u32;
        let mut contents: Vec<[Contents; 2]> = cuts
            .iter()
            .map(|_| [rule.nothing(), rule.nothing()])
            .collect();
        for side in self.board.sides(cuts)? {
            let sides = contents.get_mut(side.cut).ok_or_else(beside)?;
            let contents = &mut sides[usize::from(!side.is_left)];
            if side.terms >= terms {
                return Err(beside());
            }
            match side.value {
                None => rule.add_records(contents, side.terms, side.count),
                Some((attribute, code)) => {
                    let counts = contents.values.get(attribute);
                    counts
                        .and_then(|counts| counts.get(code as usize))
                        .ok_or_else(beside)?;
                    let value = (code, side.count);
                    rule.add_values(contents, (side.terms, attribute), value);
                }
            }
        }
        Ok(contents)
    }

    fn cut(&mut self, cuts: &[Parted]) -> Result<(), EngineError> {
        self.cuts.extend(cuts);
        self.board.cut(cuts)
    }
}

impl Place for There<'_> {
    /// All parts are published at once, also those behind one that cannot be.
    fn publish(
        &mut self,
        leaves: &[Leaf],
        made: &mut MadeParts<'_>,
    ) -> Result<Option<SetNumber>, EngineError> {
        let missing = leaves.iter().filter(|leaf| !made.has(leaf.set));
        let missing: Vec<Leaf> = missing.copied().collect();
        if missing.is_empty() {
            return Ok(None);
        }
        // Of nobody there are no rows anywhere.
        if let [nobody] = *missing
            && nobody.records == 0
        {
            return match self.publish_here(nobody) {
                Ok(part) => {
                    made.insert(part)?;
                    Ok(None)
                }
                Err(EngineError::Infeasible(_)) => Ok(Some(nobody.set)),
                Err(error) => Err(error),
            };
        }
        let places: Vec<(SetNumber, u64)> = missing
            .iter()
            .map(|leaf| (leaf.set, leaf.place.number()))
            .collect();
        let before = leaves.len() - missing.len();
        let progress = self.parting.context.progress;
        let mut done = |parts: usize| {
            let share = (before + parts) as f64 / leaves.len() as f64;
            progress.report(1, 1, "publishing parts", share);
        };
        let answers = self.board.publish(&places, &mut done)?;
        if answers.len() != missing.len() {
            return Err(beside());
        }
        let mut failed = None;
        for (leaf, answer) in missing.into_iter().zip(answers) {
            match answer {
                // In one process nobody has come so far.
                PartAnswer::Refused if failed.is_some() => {}
                PartAnswer::Infeasible => failed = failed.or(Some(leaf.set)),
                answer => match self.read(leaf, answer) {
                    Ok(part) if self.parting.is_taken(leaf, &part) => {
                        made.insert(part)?;
                    }
                    Ok(_) | Err(EngineError::Infeasible(_)) => failed = failed.or(Some(leaf.set)),
                    Err(error) => return Err(error),
                },
            }
        }
        Ok(failed)
    }
}
