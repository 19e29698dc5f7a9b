//! Stage 1: subsets of records with one pattern, and masking of rare ones.
//!
//! A record's pattern is the set of its attributes that are flagged; records
//! with one pattern form a subset (`[LGB]` Def. 7). The paper does not say
//! what happens to a subset with fewer than K records. *Ours*: the smallest
//! such subset S takes records from the subset P whose pattern differs on the
//! fewest attributes: just enough to reach K where P keeps its own K,
//! otherwise all. Every attribute on which the two differ is masked for every
//! record of the result, and its flagged cells leave the buckets. An unflagged
//! value must never enter a bucket: the adversary knows it and would strike it
//! off. Borrowed records are those that add least loss on the common
//! quasi-identifiers, never chosen by a sensitive value.
//!
//! A subset's state says for each protectable attribute whether it is open,
//! flagged or masked. Each merge looks at all subsets: O(p²) for p patterns.

use std::ops::Range;

use rand::seq::SliceRandom;
use rand_chacha::ChaCha12Rng;
use rustc_hash::FxHashMap;

use crate::engine::error::EngineError;
use crate::engine::kernel::{BoxLayout, Cover};
use crate::privacy::{ProtectedIndex, ProtectedSet};

use super::frame::{Frame, stage};

/// Records whose attributes are open, flagged and masked alike.
#[derive(Clone, Debug)]
pub(super) struct Subset {
    /// Its records' positions in [`Division::records`].
    pub range: Range<usize>,
    /// Attributes whose cells go to buckets.
    pub flagged: ProtectedSet,
    /// Attributes that are published as `*`.
    pub masked: ProtectedSet,
}

/// All published records, subset by subset.
#[derive(Clone, Debug, Default)]
pub(super) struct Division {
    pub records: Vec<u32>,
    pub subsets: Vec<Subset>,
}

impl Division {
    /// Records of a subset.
    pub fn records_of(&self, subset: &Subset) -> &[u32] {
        &self.records[subset.range.clone()]
    }

    /// Records whose cell of an attribute goes to a bucket.
    pub fn flagged_records(&self, index: ProtectedIndex) -> impl Iterator<Item = u32> {
        let subsets = self.subsets.iter();
        subsets
            .filter(move |subset| subset.flagged.contains(index))
            .flat_map(|subset| self.records_of(subset).iter().copied())
    }
}

/// A subset that may still change.
struct Draft {
    flagged: ProtectedSet,
    masked: ProtectedSet,
    records: Vec<u32>,
    k: usize,
}

impl Draft {
    fn new(frame: &Frame<'_>, state: (ProtectedSet, ProtectedSet), records: Vec<u32>) -> Self {
        let ks = records.iter().map(|&record| frame.terms(record).k);
        Self {
            flagged: state.0,
            masked: state.1,
            k: ks.max().unwrap_or(1) as usize,
            records,
        }
    }

    fn outline(&self) -> Outline {
        Outline {
            flagged: self.flagged,
            masked: self.masked,
            size: self.records.len() as u32,
            is_short: self.records.len() < self.k,
        }
    }

    /// Flagged and masked attributes of a subset made of both: whatever is
    /// masked in one or differs between them is masked.
    fn merged_state(&self, other: &Self) -> (ProtectedSet, ProtectedSet) {
        let differing = self.flagged.symmetric_difference(other.flagged);
        let masked = ProtectedSet(self.masked.0 | other.masked.0 | differing.0);
        let flagged = ProtectedSet(self.flagged.0 & other.flagged.0 & !masked.0);
        (flagged, masked)
    }
}

/// What the search for a partner reads of a draft; small, because it reads
/// all of them for every merge.
#[derive(Clone, Copy)]
struct Outline {
    flagged: ProtectedSet,
    masked: ProtectedSet,
    size: u32,
    is_short: bool,
}

impl Outline {
    /// Number of attributes whose state differs.
    fn distance(&self, other: &Self) -> u32 {
        let flagged = self.flagged.symmetric_difference(other.flagged);
        let masked = self.masked.symmetric_difference(other.masked);
        ProtectedSet(flagged.0 | masked.0).len()
    }
}

/// Divides `records` into subsets of at least K records each. There are at
/// least K records in all.
pub(super) fn divide(frame: &Frame<'_>, records: &[u32]) -> Result<Division, EngineError> {
    let mut random = frame.context.stream(stage::PATTERNS, 0);
    let mut drafts = by_pattern(frame, records);
    // Among equals the first one is taken, so their order is made random.
    drafts.shuffle(&mut random);
    let mut outlines: Vec<Outline> = drafts.iter().map(Draft::outline).collect();
    while drafts.len() > 1 {
        frame.context.check()?;
        let short = outlines
            .iter()
            .enumerate()
            .filter(|(_, draft)| draft.is_short);
        let Some((at, _)) = short.min_by_key(|(_, draft)| draft.size) else {
            break;
        };
        let (draft, outline) = (drafts.swap_remove(at), outlines.swap_remove(at));
        let others = outlines.iter().enumerate();
        let nearest = others.min_by_key(|(_, other)| {
            let largest_first = u32::MAX - other.size;
            (outline.distance(other), largest_first)
        });
        let Some((at, _)) = nearest else { break };
        let partner = drafts.swap_remove(at);
        outlines.swap_remove(at);
        for merged in merge(frame, draft, partner, &mut random) {
            outlines.push(merged.outline());
            drafts.push(merged);
        }
    }
    Ok(gather(drafts))
}

fn by_pattern(frame: &Frame<'_>, records: &[u32]) -> Vec<Draft> {
    let mut position: FxHashMap<ProtectedSet, usize> = FxHashMap::default();
    let mut members: Vec<(ProtectedSet, Vec<u32>)> = Vec::new();
    let terms = frame.requirements.distinct_terms().iter();
    let of_terms: Vec<usize> = terms
        .map(|terms| {
            *position.entry(terms.flags).or_insert_with(|| {
                members.push((terms.flags, Vec::new()));
                members.len() - 1
            })
        })
        .collect();
    let terms_of_record = frame.requirements.terms_of_record();
    let mut sizes = vec![0; members.len()];
    for (&pattern, size) in of_terms
        .iter()
        .zip(terms_of_record.histogram(of_terms.len()))
    {
        sizes[pattern] += size as usize;
    }
    for ((_, members), size) in members.iter_mut().zip(sizes) {
        members.reserve_exact(size.min(records.len()));
    }
    for &record in records {
        let terms = terms_of_record.at(record as usize) as usize;
        members[of_terms[terms]].1.push(record);
    }
    members.retain(|(_, records)| !records.is_empty());
    let drafts = members.into_iter();
    drafts
        .map(|(flagged, records)| Draft::new(frame, (flagged, ProtectedSet::default()), records))
        .collect()
}

/// Fills up a short subset from its partner: the result, and what is left of
/// the partner, if anything.
fn merge(frame: &Frame<'_>, short: Draft, partner: Draft, random: &mut ChaCha12Rng) -> Vec<Draft> {
    let state = short.merged_state(&partner);
    let missing = short.k - short.records.len();
    // A record that asks for more than the short subset would raise its K.
    let (mut lendable, kept): (Vec<u32>, Vec<u32>) = partner
        .records
        .iter()
        .partition(|&&record| frame.terms(record).k as usize <= short.k);
    let keeps_its_own = partner.records.len() >= missing + partner.k;
    let mut records = short.records;
    if lendable.len() < missing || !keeps_its_own {
        records.extend(partner.records);
        return vec![Draft::new(frame, state, records)];
    }
    lendable.shuffle(random);
    nearest_first(frame, state, &records, &mut lendable, missing);
    records.extend(&lendable[..missing]);
    let mut rest = kept;
    rest.extend(&lendable[missing..]);
    vec![
        Draft::new(frame, state, records),
        Draft::new(frame, (partner.flagged, partner.masked), rest),
    ]
}

/// Moves the `wanted` records that add least loss to the box of `records` to
/// the front of `candidates`; ties keep the order of `candidates`.
fn nearest_first(
    frame: &Frame<'_>,
    state: (ProtectedSet, ProtectedSet),
    records: &[u32],
    candidates: &mut Vec<u32>,
    wanted: usize,
) {
    let open = frame.open_attributes(state.0, state.1);
    let space = BoxLayout::new(&frame.scales_of(&open));
    let columns = frame.columns_of(&open);
    let inside = space.gather(&columns, records);
    let mut cover = Cover::new(&space);
    cover.start(inside.row(0));
    for row in 1..records.len() as u32 {
        cover.include(inside.row(row));
    }
    let outside = space.gather(&columns, candidates);
    let mut ranked: Vec<(f32, u32)> = (0..candidates.len() as u32)
        .map(|row| (cover.growth(outside.row(row)), row))
        .collect();
    if wanted < ranked.len() {
        ranked.select_nth_unstable_by(wanted, |one, other| {
            one.0.total_cmp(&other.0).then(one.1.cmp(&other.1))
        });
    }
    *candidates = ranked
        .iter()
        .map(|&(_, row)| candidates[row as usize])
        .collect();
}

fn gather(drafts: Vec<Draft>) -> Division {
    let mut division = Division::default();
    for draft in drafts {
        let start = division.records.len();
        division.records.extend(draft.records);
        division.subsets.push(Subset {
            range: start..division.records.len(),
            flagged: draft.flagged,
            masked: draft.masked,
        });
    }
    division
}
