//! What must hold before anything is cut, and who is left out so that it
//! does.
//!
//! The whole table is the coarsest bucket there is. If the job's own floors do
//! not hold in it, with everyone present, they cannot be had by cutting it
//! either, and the run is refused. Then subjects leave who ask for more than
//! the whole table can give, strictest first, equals in random order: those
//! whose K is more than all records, and those who meet a distribution that
//! their l or share does not accept. Who leaves changes what the others meet,
//! so this is repeated until nobody leaves; of each distribution an eighth of
//! those who refuse it leave at a time.

use rand::seq::SliceRandom;
use rustc_hash::FxHashMap;

use crate::engine::context::RunContext;
use crate::engine::kernel::Present;
use crate::engine::kernel::eligibility::is_within;
use crate::engine::kernel::sliced_table::Slices;
use crate::microdata::AttributeIndex;
use crate::privacy::{Requirements, Share};

use super::board::Board;
use super::conditions::floor;
use super::peak::Peak;
use super::sight::{Meeting, Sight, beyond_t, too_narrow, wholes};
use super::stage;

/// Of those who refuse a distribution, one in so many leaves at a time.
const SHARE_LEAVING: usize = 8;

/// Who stays and who leaves.
#[derive(Clone, Debug, Default)]
pub(super) struct Prepared {
    /// Records that are published, ascending.
    pub records: Vec<u32>,
    /// Records whose terms cannot be met, in the order in which they left.
    pub unsatisfiable: Vec<u32>,
}

/// Why there is no release.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Refusal {
    /// Fewer records than k.
    TooFew { left: u64 },
    /// More subjects would have to leave than may.
    Budget { needed: u64, of: u64 },
    /// A value is too frequent beside some combination.
    TooFrequent {
        attribute: AttributeIndex,
        peak: Peak,
    },
    /// The known values beside some combination span too little.
    TooNarrow {
        attribute: AttributeIndex,
        widest: f64,
    },
    /// The values beside some combination are too far from the whole's, by
    /// so many parts per billion.
    TooFar {
        attribute: AttributeIndex,
        parts: u64,
    },
}

/// A refusal, or the run was stopped.
pub(super) type Failure = crate::engine::error::Failure<Refusal>;

/// Leaves out whom it must, or says which condition cannot hold.
pub(super) fn prepare(
    present: &Present<'_>,
    requirements: &Requirements,
    slices: &Slices,
    max_excluded: f64,
    context: &RunContext<'_>,
) -> Result<Prepared, Failure> {
    let of = present.records.len() as u64;
    let k = u64::from(requirements.policy().k.get());
    if of < k {
        return Err(Failure::Refused(Refusal::TooFew { left: of }));
    }
    let board = Board::under(present, requirements, slices);
    let mut leaving = Leaving::new(&board, context);
    if let Some(refusal) = leaving.shortfall() {
        return Err(Failure::Refused(refusal));
    }
    loop {
        context.check()?;
        let for_k = leaving.meet_k();
        if !leaving.meet_the_rest() && !for_k {
            break;
        }
    }
    let needed = leaving.left.len() as u64;
    if !is_within(needed, of, max_excluded) {
        return Err(Failure::Refused(Refusal::Budget { needed, of }));
    }
    if of - needed < k {
        let left = of - needed;
        return Err(Failure::Refused(Refusal::TooFew { left }));
    }
    let mut rows = leaving.rows;
    rows.sort_unstable();
    let record = |row: &u32| board.records[*row as usize];
    Ok(Prepared {
        records: rows.iter().map(record).collect(),
        unsatisfiable: leaving.left.iter().map(record).collect(),
    })
}

/// Who is left, and who left.
struct Leaving<'b, 'a> {
    board: &'b Board<'a>,
    /// Rows that stay so far.
    rows: Vec<u32>,
    /// Rows that left, in their order.
    left: Vec<u32>,
    /// Decides between equals.
    lots: Vec<u32>,
    sight: Sight,
}

impl<'b, 'a> Leaving<'b, 'a> {
    fn new(board: &'b Board<'a>, context: &RunContext<'_>) -> Self {
        let rows: Vec<u32> = (0..board.rows() as u32).collect();
        let mut lots = rows.clone();
        lots.shuffle(&mut context.stream(stage::EXCLUSION, 0));
        Self {
            board,
            rows,
            left: Vec::new(),
            lots,
            sight: Sight::default(),
        }
    }

    /// The job's floor that does not hold, the one that is missed by most.
    fn shortfall(&mut self) -> Option<Refusal> {
        self.sight.fill(self.board, &self.rows);
        let mut frequent: Option<(AttributeIndex, Peak)> = None;
        let mut far: Option<(AttributeIndex, u64)> = None;
        let mut narrow: Option<(AttributeIndex, f64)> = None;
        let wholes = wholes(self.board, &self.rows);
        let board = self.board;
        let mut take = |at: usize, peak: &Peak| {
            let sensitive = &board.sensitive[at];
            let holds = peak.allows(floor(sensitive.protection), Share::ALL);
            let is_worse = |worst: &(AttributeIndex, Peak)| {
                peak.most * worst.1.total > worst.1.most * peak.total
            };
            if !holds && frequent.as_ref().is_none_or(is_worse) {
                frequent = Some((sensitive.attribute, *peak));
            }
            true
        };
        for (at, sensitive) in board.sensitive.iter().enumerate() {
            for view in 0..sensitive.views.len() {
                for (run, values) in self.sight.runs(at, view) {
                    take(at, &run.peak);
                    let span = too_narrow(sensitive, values);
                    if span.is_some_and(|span| narrow.is_none_or(|(_, least)| span < least)) {
                        narrow = span.map(|span| (sensitive.attribute, span));
                    }
                    let beyond = beyond_t(sensitive.protection, wholes[at].as_ref(), values);
                    let parts = beyond.map(|distance| {
                        let whole = u128::from(Share::WHOLE_PARTS);
                        (distance.numerator * whole).div_ceil(distance.denominator) as u64
                    });
                    if parts > far.map(|(_, parts)| parts) {
                        far = parts.map(|parts| (sensitive.attribute, parts));
                    }
                }
            }
        }
        if board.sensitive.iter().any(|one| one.shared.is_some()) {
            for &row in &self.rows {
                let part = |column: usize| board.columns[column].of_row[row as usize];
                self.sight
                    .meets(board, &part, &mut |meeting, peak| take(meeting.0, peak));
            }
        }
        let frequent = frequent.map(|(attribute, peak)| Refusal::TooFrequent { attribute, peak });
        let narrow = narrow.map(|(attribute, widest)| Refusal::TooNarrow { attribute, widest });
        let frequent = frequent.or(narrow);
        frequent.or(far.map(|(attribute, parts)| Refusal::TooFar { attribute, parts }))
    }

    /// Whoever asks for more records than there are leaves, strictest first.
    fn meet_k(&mut self) -> bool {
        let k = |row: &u32| self.board.terms[*row as usize].k as usize;
        if self.rows.iter().all(|row| k(row) <= self.rows.len()) {
            return false;
        }
        let mut order = self.rows.clone();
        order.sort_unstable_by_key(|row| (std::cmp::Reverse(k(row)), self.lots[*row as usize]));
        let mut remaining = order.len();
        let mut leaving = Vec::new();
        for row in order {
            if k(&row) <= remaining {
                break;
            }
            leaving.push(row);
            remaining -= 1;
        }
        self.leave(&leaving);
        true
    }

    /// An eighth of those who refuse a distribution leave, strictest first.
    fn meet_the_rest(&mut self) -> bool {
        self.sight.fill(self.board, &self.rows);
        let wholes = wholes(self.board, &self.rows);
        let board = self.board;
        let mut refused: FxHashMap<Meeting, usize> = FxHashMap::default();
        let mut groups: Vec<Vec<(u64, u32, u32)>> = Vec::new();
        let mut far: Vec<Meeting> = Vec::new();
        for (at, sensitive) in board.sensitive.iter().enumerate() {
            for view in 0..sensitive.views.len() {
                for (run, values) in self.sight.runs(at, view) {
                    let beyond = beyond_t(sensitive.protection, wholes[at].as_ref(), values);
                    if beyond.is_some() || too_narrow(sensitive, values).is_some() {
                        far.push((at, view as u8, run.part, 0));
                    }
                }
            }
        }
        far.sort_unstable();
        for &row in &self.rows {
            let part = |column: usize| board.columns[column].of_row[row as usize];
            let mut reason = None;
            self.sight.meets(board, &part, &mut |meeting, peak| {
                let (l, share) = board.asked(row, meeting.0);
                let is_near = far.binary_search(&meeting).is_err();
                let accepts = is_near && peak.allows(l, share);
                if !accepts {
                    reason = Some(meeting);
                }
                accepts
            });
            if let Some(meeting) = reason {
                let (l, share) = board.asked(row, meeting.0);
                let strictness =
                    u64::from(l).max(Share::WHOLE_PARTS / u64::from(share.parts()).max(1));
                let next = groups.len();
                let group = *refused.entry(meeting).or_insert(next);
                if group == next {
                    groups.push(Vec::new());
                }
                groups[group].push((strictness, self.lots[row as usize], row));
            }
        }
        let mut leaving = Vec::new();
        for group in &mut groups {
            group
                .sort_unstable_by_key(|&(strictness, lot, _)| (std::cmp::Reverse(strictness), lot));
            let number = group.len().div_ceil(SHARE_LEAVING);
            leaving.extend(group[..number].iter().map(|&(.., row)| row));
        }
        self.leave(&leaving);
        !leaving.is_empty()
    }

    fn leave(&mut self, rows: &[u32]) {
        self.left.extend_from_slice(rows);
        let mut gone = rows.to_vec();
        gone.sort_unstable();
        self.rows.retain(|row| gone.binary_search(row).is_err());
    }
}

impl<'a> Board<'a> {
    /// All present records under other requirements than their own.
    fn under(present: &Present<'a>, requirements: &'a Requirements, slices: &Slices) -> Self {
        let present = Present {
            requirements,
            ..present.clone()
        };
        Self::gather(&present, &present.records, slices)
    }
}
