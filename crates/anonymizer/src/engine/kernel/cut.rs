//! Lower-median cuts and partition in place.
//!
//! The cut of a set of codes is its lower median m: codes ≤ m go left, the
//! others right (Mondrian, LeFevre et al. 2006; `[LGB]` Alg. 3, line 5). Where
//! m is the highest code nothing would go right, and the cut moves to the
//! highest code below it (*ours*: both parts of a split are non-empty).

/// A cut: rows with a code of at most `code` go left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Highest code of the left part.
    pub code: u32,
    /// Number of rows in the left part.
    pub left: usize,
}

/// Buffers that cuts reuse.
#[derive(Debug, Default)]
pub struct CutBuffers {
    counts: Vec<u32>,
    codes: Vec<u32>,
}

/// A span of codes up to this many times the number of rows is counted; a
/// wider one is cheaper to select from.
const SPAN_PER_ROW: usize = 4;

/// The lower median of some codes, and what lies around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Middle {
    /// The lower median.
    pub median: u32,
    /// Number of codes below it.
    pub below: usize,
    /// Number of codes up to it.
    pub upto: usize,
    /// The highest code below it, if there is one.
    pub lower: Option<u32>,
}

impl Middle {
    /// The lower-median cut of as many codes; `None` if all of them are equal.
    pub fn cut(self, size: usize) -> Option<Cut> {
        if self.upto < size {
            return Some(Cut {
                code: self.median,
                left: self.upto,
            });
        }
        // The median is the highest code: cut below it.
        self.lower.map(|code| Cut {
            code,
            left: self.below,
        })
    }
}

/// The lower-median cut of codes between `lowest` and `highest`, both of
/// which occur. `None` if all codes are equal.
pub fn lower_median_cut(
    codes: impl ExactSizeIterator<Item = u32>,
    lowest: u32,
    highest: u32,
    buffers: &mut CutBuffers,
) -> Option<Cut> {
    if lowest == highest {
        return None;
    }
    let size = codes.len();
    middle(codes, lowest, highest, buffers).cut(size)
}

/// The lower median of codes between `lowest` and `highest`, both of which
/// occur.
///
/// One counting pass where the span of codes is narrow, a selection otherwise.
pub fn middle(
    codes: impl ExactSizeIterator<Item = u32>,
    lowest: u32,
    highest: u32,
    buffers: &mut CutBuffers,
) -> Middle {
    let span = (highest - lowest) as usize + 1;
    if span <= SPAN_PER_ROW * codes.len() {
        middle_by_counting(codes, lowest, span, &mut buffers.counts)
    } else {
        middle_by_selection(codes, &mut buffers.codes)
    }
}

/// The lower median of `size` codes from `lowest` on, of which each occurs so often.
pub fn middle_of_counts<N: Copy + Into<u64>>(counts: &[N], lowest: u32, size: usize) -> Middle {
    let of = |at: usize| -> usize { counts[at].into() as usize };
    let median_rank = (size - 1) / 2;
    let (mut below, mut at) = (0, 0);
    while below + of(at) <= median_rank {
        below += of(at);
        at += 1;
    }
    let lower = (0..at).rev().find(|&at| of(at) > 0);
    Middle {
        median: lowest + at as u32,
        below,
        upto: below + of(at),
        lower: lower.map(|at| lowest + at as u32),
    }
}

fn middle_by_counting(
    codes: impl ExactSizeIterator<Item = u32>,
    lowest: u32,
    span: usize,
    counts: &mut Vec<u32>,
) -> Middle {
    let size = codes.len();
    counts.clear();
    counts.resize(span, 0);
    for code in codes {
        counts[(code - lowest) as usize] += 1;
    }
    middle_of_counts(counts, lowest, size)
}

fn middle_by_selection(codes: impl ExactSizeIterator<Item = u32>, buffer: &mut Vec<u32>) -> Middle {
    buffer.clear();
    buffer.extend(codes);
    let median_rank = (buffer.len() - 1) / 2;
    let (before, &mut median, behind) = buffer.select_nth_unstable(median_rank);
    let equal_behind = behind.iter().filter(|&&code| code == median).count();
    let lower = before.iter().copied().filter(|&code| code < median);
    Middle {
        median,
        below: lower.clone().count(),
        upto: before.len() + 1 + equal_behind,
        lower: lower.max(),
    }
}

/// Moves the rows for which `goes_left` holds to the front, in place.
/// Returns their number. The order inside the parts is not kept.
pub fn partition_in_place(rows: &mut [u32], mut goes_left: impl FnMut(u32) -> bool) -> usize {
    let mut left = 0;
    for at in 0..rows.len() {
        // Without a branch: which way a row goes cannot be predicted.
        let row = rows[at];
        rows.swap(at, left);
        left += usize::from(goes_left(row));
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(codes: &[u32]) -> Option<Cut> {
        let (lowest, highest) = (*codes.iter().min().unwrap(), *codes.iter().max().unwrap());
        lower_median_cut(
            codes.iter().copied(),
            lowest,
            highest,
            &mut CutBuffers::default(),
        )
    }

    #[test]
    fn the_lower_median_goes_left() {
        assert_eq!(cut(&[1, 2, 3, 4]), Some(Cut { code: 2, left: 2 }));
        assert_eq!(cut(&[5, 1, 3]), Some(Cut { code: 3, left: 2 }));
    }

    #[test]
    fn a_median_that_is_the_highest_code_is_cut_below() {
        assert_eq!(cut(&[1, 9, 9, 9]), Some(Cut { code: 1, left: 1 }));
        assert_eq!(cut(&[1, 2, 9, 9, 9]), Some(Cut { code: 2, left: 2 }));
    }

    #[test]
    fn equal_codes_cannot_be_cut() {
        assert_eq!(cut(&[7, 7, 7]), None);
    }

    #[test]
    fn a_wide_span_gives_the_same_cut_as_a_narrow_one() {
        for codes in [
            vec![0, 1_000_000, 3, 3, 2_000_000],
            vec![1, 1_000_000, 1_000_000, 1_000_000],
        ] {
            let mut ranks = codes.clone();
            ranks.sort_unstable();
            ranks.dedup();
            let narrow: Vec<u32> = codes
                .iter()
                .map(|code| ranks.binary_search(code).unwrap() as u32)
                .collect();
            let (wide, narrow) = (cut(&codes).unwrap(), cut(&narrow).unwrap());
            assert_eq!(ranks[narrow.code as usize], wide.code);
            assert_eq!(narrow.left, wide.left);
        }
    }

    #[test]
    fn partition_moves_the_chosen_rows_to_the_front() {
        let mut rows: Vec<u32> = (0..100).collect();
        let left = partition_in_place(&mut rows, |row| row % 3 == 0);
        assert_eq!(left, 34);
        assert!(rows[..left].iter().all(|row| row % 3 == 0));
        assert!(rows[left..].iter().all(|row| row % 3 != 0));
        rows.sort_unstable();
        assert_eq!(rows, (0..100).collect::<Vec<u32>>());
    }
}
