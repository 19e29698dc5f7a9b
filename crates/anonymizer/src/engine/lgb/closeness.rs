//! t-closeness (Li et al. 2007) for one attribute: buckets whose distribution
//! is within t of that of the attribute's flagged cells.
//!
//! Distance is the earth mover's: for numbers and dates the ordered distance,
//! (1/(D−1)) · Σᵢ |Pᵢ − Qᵢ| over the D values of the domain with cumulative
//! shares P and Q; for categories the equal distance, ½ · Σᵥ |pᵥ − qᵥ|.
//!
//! The sorted cells are dealt round and round into B buckets. Each bucket then
//! holds each value, and each prefix of the domain, in proportion up to one
//! cell: what largest remainders give, with exact totals. The size m/B is the
//! smallest from K on for which every bucket is within t, holds two values and
//! no value above the strictest share that a member allows. One bucket of all
//! cells always is, so the search ends; in a part of a table, which is measured
//! against the whole, it may not be. Everything is compared in integers.

use crate::engine::error::{EngineError, Infeasible};
use crate::engine::kernel::closeness::Reference;
use crate::privacy::{ProtectedIndex, Protection, Share, T};

use super::frame::Frame;
use super::runs::Runs;

/// Deals all cells of an attribute; the head of each cell's bucket.
///
/// # Errors
/// Infeasible in a part of a table whose values are farther than t from those of the
/// whole, or have one value alone.
pub(super) fn deal(
    frame: &Frame<'_>,
    index: ProtectedIndex,
    runs: &Runs,
) -> Result<Vec<u32>, EngineError> {
    let size = runs.records.len();
    let Protection::Closeness { t, .. } = frame.requirements.protection(index) else {
        return Ok(Vec::new());
    };
    if size == 0 {
        return Ok(Vec::new());
    }
    let target = Target::new(frame, (index, t), runs);
    let k = runs.records.iter().map(|&record| frame.terms(record).k);
    let least = k.max().unwrap_or(1).min(size as u32) as usize;
    let mut buckets = size / least;
    while buckets > 1 && !target.holds_for_all(buckets) {
        frame.context.check()?;
        // The next larger size: sizes that give as many buckets are the same deal.
        let size_now = size / buckets;
        buckets = (size / (size_now + 1)).min(buckets - 1);
    }
    // Of a whole table one bucket always is good.
    if buckets == 1 && frame.context.part.is_some() && !target.holds_for_all(1) {
        let condition = "the values of a part are too far from those of the whole table";
        let infeasible = Infeasible::at_least("t_closeness", None, condition.to_owned());
        let infeasible = infeasible.of(frame.name(index));
        return Err(EngineError::Infeasible(Box::new(infeasible)));
    }
    // The first cell of each bucket is its head.
    Ok((0..size).map(|cell| (cell % buckets) as u32).collect())
}

/// What every bucket is measured against.
struct Target<'a> {
    runs: &'a Runs,
    reference: Reference,
    t: T,
    share: Share,
}

impl<'a> Target<'a> {
    /// All cells of the attribute; of a part, those of the whole table.
    fn new(frame: &Frame<'_>, (index, t): (ProtectedIndex, T), runs: &'a Runs) -> Self {
        let domain = &frame.protected_column(index).domain;
        let counts = match frame.context.part {
            Some(part) => part.whole.protected(index).to_vec(),
            None => {
                let mut counts = vec![0_u64; domain.len()];
                for (run, &code) in runs.codes.iter().enumerate() {
                    counts[code as usize] = runs.count(run).into();
                }
                counts
            }
        };
        let terms = runs.records.iter().map(|&record| frame.terms(record));
        let share = terms.map(|terms| terms.max_share[index.at()]).min();
        Self {
            runs,
            reference: Reference::of_counts(domain, counts),
            t,
            share: share.unwrap_or(Share::ALL),
        }
    }

    fn holds_for_all(&self, buckets: usize) -> bool {
        (0..buckets).all(|bucket| self.holds_for(bucket, buckets))
    }

    /// Whether bucket `bucket` of `buckets` is good. Its cells are those at
    /// positions `bucket`, `bucket + buckets`, ….
    fn holds_for(&self, bucket: usize, buckets: usize) -> bool {
        let mut contents: Vec<(u32, u64)> = Vec::new();
        let mut run = 0;
        for cell in (bucket..self.runs.records.len()).step_by(buckets) {
            let ends = &self.runs.starts[run + 1..];
            run += ends.partition_point(|&end| end as usize <= cell);
            let code = self.runs.codes[run];
            match contents.last_mut() {
                Some((last, count)) if *last == code => *count += 1,
                _ => contents.push((code, 1)),
            }
        }
        let size: u64 = contents.iter().map(|(_, count)| count).sum();
        let most = contents.iter().map(|&(_, count)| count).max().unwrap_or(0);
        contents.len() > 1
            && self.share.allows(most, size)
            && self.reference.is_within(self.t, &contents, size)
    }
}
