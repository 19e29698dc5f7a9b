//! The outline of a table: the parts that are published by themselves.
//!
//! A table is cut top-down by its quasi-identifiers as strict Mondrian does it
//! (LeFevre et al. 2006): the attribute with the largest normalized range first,
//! at its lower median, ties by the stream of the set's place. A set with no more
//! records than the caller allows is a part; so is one that no cut can part.
//!
//! Nothing here sees a record. [`Outline`] asks for counts about the sets that are
//! still open, level after level, and decides by them alone; who answers holds the
//! records ([`CountSets`]): slices in memory ([`slices`]), or queries elsewhere. The same
//! counts give the same parts wherever they come from.
//!
//! Both sides of a cut must keep what the job and their members ask
//! ([`sides`]), so that each can be published by itself.

mod sides;
pub mod slices;
#[cfg(test)]
mod tests;

pub use sides::{Contents, SideRule};

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;

use super::cut::middle_of_counts;
use super::loss::Scale;
use super::mondrian::{Candidate, by_rank};
use super::split_position::SplitPosition;

/// Random stream of ties between attributes; that of `mondrian`, of whose tree the
/// outline is the top.
pub const STAGE: u32 = 4;

/// A set of records of the outline, by the order in which sets were made; 0 is the
/// whole table.
pub type SetNumber = u32;

/// A cut: records of `set` whose code in a column is at most `code` go left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetCut {
    /// The set that is cut.
    pub set: SetNumber,
    /// Position of the quasi-identifier.
    pub column: usize,
    /// Highest code of the left side.
    pub code: u32,
}

/// A cut that is made: the sets that its sides are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parted {
    /// The cut.
    pub cut: SetCut,
    /// The side with the lower codes.
    pub left: SetNumber,
    /// The other side.
    pub right: SetNumber,
}

/// Answers counts about open sets.
pub trait CountSets {
    /// How often each code of each quasi-identifier occurs in each of these sets:
    /// a histogram a column and set.
    ///
    /// # Errors
    /// Cancelled, or whatever keeps the counts from being had.
    fn histograms(&mut self, sets: &[SetNumber]) -> Result<Vec<Vec<Vec<u64>>>, EngineError>;

    /// What stands on both sides of each of these cuts.
    ///
    /// # Errors
    /// As of [`Self::histograms`].
    fn contents(&mut self, cuts: &[SetCut]) -> Result<Vec<[Contents; 2]>, EngineError>;

    /// Makes these cuts.
    ///
    /// # Errors
    /// As of [`Self::histograms`].
    fn cut(&mut self, cuts: &[Parted]) -> Result<(), EngineError>;
}

/// How large parts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Sets with more records are cut, if they can be.
    pub records_max: u64,
    /// No side of a cut has fewer records.
    pub records_min: u64,
}

/// Turns counts into cuts.
pub struct Outline<'a> {
    /// The run.
    pub context: &'a RunContext<'a>,
    /// Loss of intervals of each quasi-identifier.
    pub scales: &'a [Scale],
    /// What each side must keep.
    pub rule: &'a SideRule,
    /// How large parts are.
    pub sizes: Sizes,
}

/// A part: its set, its place in the tree of cuts, and how many records it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The set.
    pub set: SetNumber,
    /// Its place.
    pub place: SplitPosition,
    /// Records.
    pub records: u64,
}

/// A set that may still be cut.
struct Open {
    leaf: Leaf,
    /// The cuts that are still to be tried, the best first.
    cuts: std::vec::IntoIter<(SetCut, u64)>,
}

/// The tree of cuts, whose leaves are the parts.
#[derive(Clone, Debug)]
pub struct PartTree {
    sets: Vec<Cut>,
}

#[derive(Clone, Copy, Debug)]
struct Cut {
    leaf: Leaf,
    /// The set that it is a side of; of the whole table itself.
    above: SetNumber,
    sides: Option<[SetNumber; 2]>,
}

impl PartTree {
    /// The parts, by their places in the tree, lower codes first.
    pub fn parts(&self) -> Vec<Leaf> {
        let mut parts = Vec::new();
        let mut open = vec![0];
        while let Some(set) = open.pop() {
            let cut = &self.sets[set as usize];
            match cut.sides {
                Some([left, right]) => open.extend([right, left]),
                None => parts.push(cut.leaf),
            }
        }
        parts
    }

    /// The set that a set is a side of; none of the whole table.
    pub fn above(&self, set: SetNumber) -> Option<SetNumber> {
        (set > 0).then(|| self.sets[set as usize].above)
    }

    /// The smallest set that holds both.
    pub fn common(&self, one: SetNumber, other: SetNumber) -> SetNumber {
        let (mut one, mut other) = (one, other);
        // Sides have larger numbers than what they are sides of.
        while one != other {
            if one > other {
                one = self.sets[one as usize].above;
            } else {
                other = self.sets[other as usize].above;
            }
        }
        one
    }

    /// Takes the cuts of a set back: it is one part.
    pub fn join(&mut self, set: SetNumber) {
        self.sets[set as usize].sides = None;
    }
}

impl Outline<'_> {
    /// The tree of the parts of a table with this many records.
    ///
    /// Asks for histograms once a level, and for contents once for each cut that
    /// is tried, all sets of a level at a time.
    ///
    /// # Errors
    /// What `counts` says.
    pub fn parts(&self, records: u64, counts: &mut dyn CountSets) -> Result<PartTree, EngineError> {
        let whole = Leaf {
            set: 0,
            place: SplitPosition::root(0),
            records,
        };
        let mut tree = PartTree {
            sets: vec![Cut {
                leaf: whole,
                above: 0,
                sides: None,
            }],
        };
        let mut level = vec![whole];
        while !level.is_empty() {
            level.retain(|leaf| leaf.records > self.sizes.records_max);
            let made = self.cut_level(&level, tree.sets.len() as SetNumber, counts)?;
            level.clear();
            for (set, sides) in made {
                tree.sets[set as usize].sides = Some(sides.map(|side| side.set));
                tree.sets.extend(sides.map(|leaf| Cut {
                    leaf,
                    above: set,
                    sides: None,
                }));
                level.extend(sides);
            }
        }
        Ok(tree)
    }

    /// Cuts the sets of a level that can be cut; sets that are made are numbered
    /// from `next` on.
    fn cut_level(
        &self,
        level: &[Leaf],
        mut next: SetNumber,
        counts: &mut dyn CountSets,
    ) -> Result<Vec<(SetNumber, [Leaf; 2])>, EngineError> {
        self.context.check()?;
        let sets: Vec<SetNumber> = level.iter().map(|leaf| leaf.set).collect();
        let histograms = if sets.is_empty() {
            Vec::new()
        } else {
            counts.histograms(&sets)?
        };
        let open = level.iter().zip(histograms);
        let mut open: Vec<Open> = open
            .map(|(&leaf, histograms)| Open {
                leaf,
                cuts: self.cuts(leaf, &histograms).into_iter(),
            })
            .collect();
        let mut made = Vec::new();
        while !open.is_empty() {
            self.context.check()?;
            let mut tried = Vec::new();
            open.retain_mut(|open| match open.cuts.next() {
                Some(cut) => {
                    tried.push(cut);
                    true
                }
                None => false,
            });
            let cuts: Vec<SetCut> = tried.iter().map(|(cut, _)| *cut).collect();
            let holds = self.hold(&cuts, counts)?;
            let mut kept = tried.into_iter().zip(holds);
            open.retain(|open| {
                // Unwrap safety: a cut was tried of each set that is open.
                let ((cut, left), holds) = kept.next().unwrap();
                if holds {
                    made.push((open.leaf, cut, left));
                }
                !holds
            });
        }
        made.sort_unstable_by_key(|(leaf, ..)| leaf.set);
        let parted = made.into_iter().map(|(leaf, cut, records)| {
            let left = Leaf {
                set: next,
                place: leaf.place.left(),
                records,
            };
            let right = Leaf {
                set: next + 1,
                place: leaf.place.right(),
                records: leaf.records - records,
            };
            next += 2;
            (cut, [left, right])
        });
        let parted: Vec<(SetCut, [Leaf; 2])> = parted.collect();
        let cuts = parted.iter().map(|&(cut, [left, right])| Parted {
            cut,
            left: left.set,
            right: right.set,
        });
        counts.cut(&cuts.collect::<Vec<Parted>>())?;
        let sides = parted.into_iter().map(|(cut, sides)| (cut.set, sides));
        Ok(sides.collect())
    }

    /// The cuts of a set whose sides are large enough, the best first, each with
    /// the records of its left side.
    fn cuts(&self, leaf: Leaf, histograms: &[Vec<u64>]) -> Vec<(SetCut, u64)> {
        let mut candidates = Vec::new();
        for (column, (counts, scale)) in histograms.iter().zip(self.scales).enumerate() {
            let low = counts.iter().position(|&count| count > 0);
            let high = counts.iter().rposition(|&count| count > 0);
            if let (Some(low), Some(high)) = (low, high)
                && low < high
            {
                let range = scale.interval(low as u32, high as u32);
                candidates.push(Candidate::at_median(column as u32, range));
            }
        }
        by_rank(&mut candidates, leaf.place, (self.context, STAGE));
        let least = self.sizes.records_min.max(self.rule.least()).max(1);
        let cuts = candidates.iter().filter_map(|candidate| {
            let column = candidate.column as usize;
            let records = leaf.records as usize;
            let cut = middle_of_counts(&histograms[column], 0, records).cut(records)?;
            let left = cut.left as u64;
            let set_cut = SetCut {
                set: leaf.set,
                column,
                code: cut.code,
            };
            (left.min(leaf.records - left) >= least).then_some((set_cut, left))
        });
        cuts.collect()
    }

    /// Whether both sides of each cut keep what is asked.
    fn hold(&self, cuts: &[SetCut], counts: &mut dyn CountSets) -> Result<Vec<bool>, EngineError> {
        if cuts.is_empty() || self.rule.asks_for_size_alone() {
            return Ok(vec![true; cuts.len()]);
        }
        let contents = counts.contents(cuts)?;
        let hold = contents.iter();
        let hold = hold.map(|sides| sides.iter().all(|side| self.rule.holds(side)));
        Ok(hold.collect())
    }
}
