//! The set that a record is in, by cuts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use vizard_anonymizer::catalog::elsewhere::BoardColumn;
use vizard_anonymizer::engine::kernel::outline::SetNumber;

/// A set is cut by a column: records with at most this code are in `left`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutBy {
    /// The set.
    pub set: SetNumber,
    /// The column.
    pub column: BoardColumn,
    /// Highest code of the left side.
    pub code: u32,
    /// The side with the lower codes.
    pub left: SetNumber,
    /// The other side.
    pub right: SetNumber,
}

/// Cuts, ready to be asked about each record.
#[derive(Debug, Default)]
pub struct Cuts<'a> {
    of_set: BTreeMap<SetNumber, (CutBy, &'a [u32])>,
}

impl<'a> Cuts<'a> {
    /// The cuts with the codes of their columns; none where a column is not there.
    pub fn of(cuts: &[CutBy], codes: impl Fn(BoardColumn) -> Option<&'a [u32]>) -> Option<Self> {
        let of_set = cuts
            .iter()
            .map(|cut| Some((cut.set, (*cut, codes(cut.column)?))));
        Some(Self {
            of_set: of_set.collect::<Option<_>>()?,
        })
    }

    /// The side of one cut of a set; none where it is not cut.
    pub fn side(&self, set: SetNumber, row: usize) -> Option<SetNumber> {
        let (cut, codes) = self.of_set.get(&set)?;
        let is_left = codes[row] <= cut.code;
        Some(if is_left { cut.left } else { cut.right })
    }

    /// The set of a row that is not cut any further.
    pub fn set(&self, row: usize) -> SetNumber {
        let mut set = 0;
        while let Some(side) = self.side(set, row) {
            set = side;
        }
        set
    }
}

/// Whether sides have larger numbers than what they are sides of, so that following
/// cuts comes to an end.
pub fn come_to_an_end(cuts: &[CutBy]) -> bool {
    cuts.iter()
        .all(|cut| cut.left > cut.set && cut.right > cut.set)
}
