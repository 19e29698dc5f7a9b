//! Whether those who ask are hidden among their companions wherever one looks
//! (*ours*).
//!
//! Companions are drawn from everyone alike, so where people ask more often
//! than elsewhere (the old, those of one town) there are too few for them. The
//! range of every quasi-identifier is cut in bands, and the share of askers
//! among askers and companions is looked at in each band. What chance explains
//! passes: three standard deviations of a draw of as many people.

use crate::microdata::CodedColumn;
use crate::privacy::Share;

/// Bands of one quasi-identifier, at most.
const BANDS: usize = 8;
/// Standard deviations that chance may add, squared.
const CHANCE: u128 = 9;

/// Askers and companions by band.
pub(super) struct Bands<'a> {
    columns: Vec<&'a CodedColumn>,
    /// Askers and companions of each band, column by column.
    counts: Vec<[(u64, u64); BANDS]>,
}

impl<'a> Bands<'a> {
    /// Bands of these columns, with nobody in them.
    pub fn new(columns: Vec<&'a CodedColumn>) -> Self {
        Self {
            counts: vec![Default::default(); columns.len()],
            columns,
        }
    }

    /// Counts a record in, as an asker or as a companion.
    pub fn count(&mut self, record: u32, asks: bool) {
        for (column, counts) in self.columns.iter().zip(&mut self.counts) {
            let code = column.codes.at(record as usize) as usize;
            let (askers, companions) = &mut counts[code * BANDS / column.domain.len().max(1)];
            if asks { *askers += 1 } else { *companions += 1 }
        }
    }

    /// Whether the share of askers is kept in every band, but for chance.
    pub fn are_hidden(&self, share: Share) -> bool {
        let mut all = self.counts.iter().flatten();
        all.all(|&(askers, companions)| is_hidden(askers, askers + companions, share))
    }
}

/// With the share p: (askers − p · all)² ≤ 9 · all · p · (1 − p), or fewer.
fn is_hidden(askers: u64, all: u64, share: Share) -> bool {
    let [askers, all] = [askers, all].map(u128::from);
    let (parts, whole) = (u128::from(share.parts()), u128::from(Share::WHOLE_PARTS));
    let excess = (askers * whole).saturating_sub(all * parts);
    excess * excess <= CHANCE * all * parts * (whole - parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_with_too_many_who_ask_is_seen_beyond_chance() {
        let quarter = Share::QUARTER;
        // Of 1,200 a quarter is 300, a standard deviation 15.
        assert!(is_hidden(345, 1_200, quarter) && !is_hidden(346, 1_200, quarter));
        assert!(is_hidden(0, 0, quarter) && is_hidden(1_200, 1_200, Share::ALL));
        assert!(
            is_hidden(3, 3, quarter) && !is_hidden(30, 30, quarter),
            "few are chance"
        );
    }
}
