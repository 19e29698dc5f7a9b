//! Buckets that span a least spread (*ours*, against similarity attacks): a
//! numeric range (dates in days), or a number of branches of the hierarchy's
//! root.
//!
//! Let n cells have N as the count of their most frequent value. There are at
//! least N buckets, and what N buckets cannot reach, more cannot either:
//! - numbers: each bucket needs two values far enough apart; pairing the i-th
//!   lowest with the i-th of the N highest makes the worst pair as wide as any
//!   pairing can, and it gets no better with more buckets. So the widest
//!   spread is min over i < N of `v[n−N+i] − v[i]`;
//! - branches: with bⱼ cells in branch j, N buckets meet Σ min(bⱼ, N) branches
//!   in all. That sum is concave in N, so the widest spread is ⌊Σ min(bⱼ, N)/N⌋.
//!
//! Both are reached by dealing the sorted cells round and round: values with
//! at most N cells meet every bucket at most once, and each bucket gets ⌊n/N⌋
//! ≥ L cells. So the condition is exact, and a set is dealt into the largest
//! number of buckets for which it holds. Dealing so pairs the same values again
//! and again; [`shaken`] exchanges cells at random as far as the spread allows.
//!
//! A missing number spans nothing: the cells above are those of numbers, and
//! missing ones join the buckets with the fewest, at most one each.

use std::ops::Range;

use rand_chacha::ChaCha12Rng;

use crate::microdata::{Code, CodedColumn, Domain};

use super::runs::Runs;
use super::shaken;

/// The widest spread that buckets of `l` values can have, with `counts` cells
/// per code; infinite without cells.
pub(super) fn widest(column: &CodedColumn, counts: &[u32], l: u32) -> f64 {
    let occurring = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    let counted: Vec<(u32, u32)> = occurring
        .map(|(code, &count)| (code as u32, count))
        .collect();
    let buckets = counted.iter().map(|&(_, count)| count).max();
    buckets.map_or(f64::INFINITY, |buckets| {
        widest_with(&column.domain, &counted, l, buckets)
    })
}

/// The same for the cells of some runs.
pub(super) fn widest_of_runs(
    column: &CodedColumn,
    (runs, set): (&Runs, Range<usize>),
    l: u32,
) -> f64 {
    let counted = counted(runs, set.clone());
    widest_with(&column.domain, &counted, l, runs.most(set))
}

fn counted(runs: &Runs, set: Range<usize>) -> Vec<(u32, u32)> {
    set.map(|run| (runs.codes[run], runs.count(run))).collect()
}

/// The widest spread of `buckets` buckets of at least `l` cells; 0 where the
/// cells are too few.
fn widest_with(domain: &Domain, counted: &[(u32, u32)], l: u32, buckets: u32) -> f64 {
    let counted = match counted.split_last() {
        Some((&(code, _), known)) if is_missing(domain, code) => known,
        _ => counted,
    };
    let size: u64 = counted.iter().map(|&(_, count)| u64::from(count)).sum();
    if u64::from(buckets) * u64::from(least_cells(domain, l)) > size {
        return 0.0;
    }
    if domain.is_numeric() {
        widest_range(domain, counted, buckets)
    } else {
        let cells = branches(domain, counted);
        let met: u64 = cells
            .iter()
            .map(|&(_, cells)| cells.min(u64::from(buckets)))
            .sum();
        (met / u64::from(buckets)) as f64
    }
}

/// Cells of the smallest bucket: a range needs two, a branch is met by one.
fn least_cells(domain: &Domain, l: u32) -> u32 {
    if domain.is_numeric() { l.max(2) } else { l }
}

/// Whether a code is that of a missing number.
fn is_missing(domain: &Domain, code: u32) -> bool {
    domain.is_missing_number(Code(code))
}

/// The runs of a set that are no missing number's, which stands last.
fn known(domain: &Domain, runs: &Runs, set: Range<usize>) -> Range<usize> {
    let last = set.end.checked_sub(1).filter(|_| !set.is_empty());
    match last.filter(|&last| is_missing(domain, runs.codes[last])) {
        Some(last) => set.start..last,
        None => set,
    }
}

/// min over i < buckets of `v[n − buckets + i] − v[i]`.
fn widest_range(domain: &Domain, counted: &[(u32, u32)], buckets: u32) -> f64 {
    let number = |at: usize| domain.number(Code(counted[at].0));
    let (mut high, mut unread) = (counted.len() - 1, buckets);
    while counted[high].1 < unread {
        unread -= counted[high].1;
        high -= 1;
    }
    // The highest run that belongs to the top only in part gives `unread`.
    let (mut low, mut of_low, mut of_high) = (0, counted[0].1, unread);
    let (mut narrowest, mut paired) = (f64::INFINITY, 0);
    while paired < buckets {
        narrowest = narrowest.min(number(high) - number(low));
        let step = of_low.min(of_high).min(buckets - paired);
        (paired, of_low, of_high) = (paired + step, of_low - step, of_high - step);
        if of_low == 0 && low + 1 < counted.len() {
            low += 1;
            of_low = counted[low].1;
        }
        if of_high == 0 && high + 1 < counted.len() {
            high += 1;
            of_high = counted[high].1;
        }
    }
    narrowest
}

/// Cells of each branch of the root that occurs, in domain order, with the
/// position of the branch's first run.
fn branches(domain: &Domain, counted: &[(u32, u32)]) -> Vec<(usize, u64)> {
    let mut cells: Vec<(usize, u64)> = Vec::new();
    let mut last = None;
    for (at, &(code, count)) in counted.iter().enumerate() {
        let branch = domain
            .hierarchy()
            .map(|hierarchy| hierarchy.branch_of(Code(code)));
        if last != Some(branch) {
            cells.push((at, 0));
            last = Some(branch);
        }
        if let Some((_, total)) = cells.last_mut() {
            *total += u64::from(count);
        }
    }
    cells
}

/// Deals the cells of a set into as many buckets as `(l, wanted)` allow, at
/// least `l` cells and `wanted` spread each. The set allows both. `heads` as
/// in [`assign_by_invariance`](super::assignment::assign_by_invariance).
pub(super) fn deal(
    column: &CodedColumn,
    (runs, set): (&Runs, Range<usize>),
    (l, wanted): (u32, f64),
    (heads, random): (&mut [u32], &mut ChaCha12Rng),
) {
    let counted = counted(runs, set.clone());
    let cells = runs.cells(set.clone());
    // Spread falls as buckets grow in number: search the largest that has it.
    let mut fits = runs.most(set.clone());
    let known = known(&column.domain, runs, set.clone());
    let mut fails = runs.cells(known.clone()).len() as u32 / least_cells(&column.domain, l) + 1;
    while fails - fits > 1 {
        let buckets = fits + (fails - fits) / 2;
        if widest_with(&column.domain, &counted, l, buckets) >= wanted {
            fits = buckets;
        } else {
            fails = buckets;
        }
    }
    let buckets = fits as usize;
    let mut bucket_of = if column.domain.is_numeric() {
        let mut bucket_of = deal_by_range(runs, known, buckets);
        deal_missing(&mut bucket_of, cells.len(), buckets);
        bucket_of
    } else {
        deal_by_branch(
            &branches(&column.domain, &counted),
            (runs, set.clone()),
            buckets,
        )
    };
    shaken::shake(
        &column.domain,
        (runs, set),
        wanted,
        (&mut bucket_of, random),
    );
    let mut head_of = vec![u32::MAX; buckets];
    for (at, &bucket) in bucket_of.iter().enumerate() {
        let head = &mut head_of[bucket as usize];
        *head = (*head).min((cells.start + at) as u32);
    }
    for (head, &bucket) in heads.iter_mut().zip(&bucket_of) {
        *head = head_of[bucket as usize];
    }
}

/// Bucket of each cell: branches that fill every bucket first, then the
/// others, round and round.
fn deal_by_branch(
    branches: &[(usize, u64)],
    (runs, set): (&Runs, Range<usize>),
    buckets: usize,
) -> Vec<u32> {
    let base = runs.starts[set.start];
    let mut order: Vec<&(usize, u64)> = branches.iter().collect();
    order.sort_by_key(|(_, cells)| *cells < buckets as u64);
    let mut bucket_of = vec![0; runs.cells(set.clone()).len()];
    let mut turn = 0;
    for &(first_run, cells) in order {
        let start = (runs.starts[set.start + first_run] - base) as usize;
        for bucket in &mut bucket_of[start..start + cells as usize] {
            *bucket = (turn % buckets) as u32;
            turn += 1;
        }
    }
    bucket_of
}

/// Adds the buckets of missing cells up to `size` cells: those with the fewest
/// cells first. There are no more of them than buckets.
fn deal_missing(bucket_of: &mut Vec<u32>, size: usize, buckets: usize) {
    let mut sizes = vec![0_u32; buckets];
    bucket_of
        .iter()
        .for_each(|&bucket| sizes[bucket as usize] += 1);
    let mut order: Vec<u32> = (0..buckets as u32).collect();
    order.sort_by_key(|&bucket| sizes[bucket as usize]);
    let missing = size - bucket_of.len();
    bucket_of.extend(&order[..missing]);
}

/// Bucket of each cell: the i-th lowest and the i-th of the highest cells
/// share a bucket, the others are dealt round and round between them. The
/// cells that are left over by the last round are taken from the middle and
/// go to buckets that lack their value.
fn deal_by_range(runs: &Runs, set: Range<usize>, buckets: usize) -> Vec<u32> {
    let base = runs.starts[set.start];
    let size = runs.cells(set.clone()).len();
    let over = size % buckets;
    let extras = buckets..buckets + over;
    let mut bucket_of = vec![0; size];
    let mut turn = 0;
    for (at, bucket) in bucket_of.iter_mut().enumerate() {
        if !extras.contains(&at) {
            *bucket = (turn % buckets) as u32;
            turn += 1;
        }
    }
    // Which run last claimed a bucket.
    let mut claimed = vec![usize::MAX; buckets];
    let mut free = 0;
    for run in set {
        let cells = (runs.starts[run] - base) as usize..(runs.starts[run + 1] - base) as usize;
        let over = cells.start.max(extras.start)..cells.end.min(extras.end);
        if over.is_empty() {
            continue;
        }
        for at in cells.filter(|at| !extras.contains(at)) {
            claimed[bucket_of[at] as usize] = run;
        }
        for at in over {
            // At most as many buckets hold the value as it has cells, and
            // there are at least as many buckets, so one is free.
            while claimed[free] == run {
                free = (free + 1) % buckets;
            }
            bucket_of[at] = free as u32;
            claimed[free] = run;
        }
    }
    bucket_of
}
