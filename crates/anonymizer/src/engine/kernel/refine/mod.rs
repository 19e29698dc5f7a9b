//! Refinement of groups by local search (*ours*; engines.md, *refinement*).
//!
//! A partition made top-down is far from the best one. The search begins with
//! the best of three: the caller's, one of nearly equal records ([`seeds`]),
//! and one whose groups have their share of each kind of records ([`quotas`]). Then changes are proposed: a row moves to a group near it, two
//! rows swap, a group is split, dissolved, or opened around a row. A change is
//! made if the loss of the groups concerned does not grow, or, while the
//! temperature is above zero, by little, and if all of them still hold. The
//! temperature falls to zero; the best of start and end is kept.
//!
//! Regions of a few thousand records are searched side by side, each with a
//! random stream of its own; where they lie changes from round to round. The
//! number of proposals, not the clock, decides when it ends, so the result
//! depends on the seed alone. Groups are only ever compared by their
//! quasi-identifiers; what the condition says of sensitive values it says as
//! it does for the partition that the search began with.
//!
//! | file | what is in it |
//! |---|---|
//! | [`levels`], [`unassigned`], [`seeds`] | groups of nearly equal records to begin with |
//! | [`quotas`] | groups with their share of each kind to begin with |
//! | [`budget`] | how far each effort goes |
//! | [`region`] | groups of one region and what changes of them cost |
//! | [`moves`], [`new_group`] | the changes |
//! | [`measure`], [`near`] | losses within a region, which rows are near |

mod budget;
mod levels;
mod measure;
mod moves;
mod near;
mod new_group;
mod quotas;
mod region;
mod seeds;
#[cfg(test)]
mod tests;
mod unassigned;

use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::microdata::CodedColumn;

use super::effort::Effort;
use super::{
    Among, BoxLayout, Cover, Groups, Mondrian, PartCondition, Partitioning, Rows, Scale,
    SplitChoice,
};

use budget::Budget;
use quotas::Quotas;
use region::{Conditions, Region};
use seeds::Seeds;

/// One proposal in so many opens a group.
const OPENINGS: u32 = 32;
/// Records of a region; a group larger than that is left as it is.
const REGION_RECORDS: usize = 3072;
/// Attributes, and words for the values of those without hierarchy, of the
/// widest region that is searched.
const CELLS_MAX: usize = 128;
const WORDS_MAX: usize = 256;
/// Records among which seeds are looked for together.
const SEED_RECORDS: usize = 65_536;

/// Rows left by the seeds times their groups, beyond which no places are
/// looked for: then the seeds are no good start.
const PLACES_MAX: usize = 1 << 24;
/// Groups that a row left by the seeds is offered to.
const PLACES_TRIED: usize = 64;

/// Records of which a search among values is made, at least. Of fewer there are so
/// few ways to group them that what was found tells which others values forbid:
/// of six people values of one in five releases, some for certain, where cuts tell
/// none.
const KINDS_LEAST: usize = 64;
/// A few regions are searched first only of more than so many times as many.
const REGIONS_MANY: usize = 8;
/// Share of their loss that the first regions must lose, or the others are left
/// as they are.
const WORTHWHILE: f64 = 0.02;
/// Groups whose losses one thread adds up, at least.
const GROUPS_MIN: usize = 256;

/// Of the readings of seeds one in so many may be spent on quotas.
const GATHERING_SHARE: usize = 4;
/// Share of their loss that quotas are counted with when starts are compared.
const QUOTAS_HEAD_START: f64 = 0.9;

/// Groups about to be refined.
pub struct Refinement<'a> {
    /// The run.
    pub context: &'a RunContext<'a>,
    /// Random stream of this stage of the run.
    pub stage: u32,
    /// Number of the step, and of all steps, for progress.
    pub step: (u32, u32),
    /// Columns whose loss counts.
    pub columns: &'a [&'a CodedColumn],
    /// Loss of intervals of each of them.
    pub scales: &'a [Scale],
    /// How long.
    pub effort: Effort,
}

impl Refinement<'_> {
    /// Groups of the same records with no more loss.
    ///
    /// `groups` are of `records` and hold under the condition, whose rows are
    /// positions in `records`; so do the answer's. Time O(n · proposals ·
    /// size of a group). Fails only if cancelled.
    pub fn refine<C: PartCondition>(
        &self,
        records: &[u32],
        groups: Groups,
        condition: &C,
    ) -> Result<Groups, EngineError> {
        let Some(budget) = self.effort.budget() else {
            return Ok(groups);
        };
        if self.columns.is_empty() || records.is_empty() {
            return Ok(groups);
        }
        let budget = match condition.kind(0) {
            Some(_) if records.len() < KINDS_LEAST => return Ok(groups),
            Some(_) => budget.among_kinds(),
            None => budget,
        };
        let space = BoxLayout::new(self.scales);
        let search = Search {
            refinement: self,
            records,
            codes: Rows::gather(self.columns, records),
            rows: space.gather(self.columns, records),
            space,
            condition,
            budget,
        };
        let begun = search.begin(positions(records, &groups))?;
        let mut refined = search.go_on(begun.clone())?;
        // While it is hot the search goes uphill, and few proposals may not
        // bring it down again.
        if search.loss(&refined) > search.loss(&begun) {
            refined = begun;
        }
        let mut starts = vec![false; records.len()];
        let mut next = 0;
        for group in &refined {
            starts[next] = true;
            next += group.len();
        }
        Ok(Groups::of_rows(refined.concat(), &starts, records))
    }
}

/// Groups of positions instead of records.
fn positions(records: &[u32], groups: &Groups) -> Vec<Vec<u32>> {
    let last = records.iter().max().map_or(0, |&last| last as usize + 1);
    let mut positions = vec![0; last];
    for (position, &record) in (0..).zip(records) {
        positions[record as usize] = position;
    }
    let position = |&record: &u32| positions[record as usize];
    let groups = groups.iter();
    groups
        .map(|group| group.iter().map(position).collect())
        .collect()
}

/// A search as it goes on.
struct Search<'a, C> {
    refinement: &'a Refinement<'a>,
    records: &'a [u32],
    codes: Rows,
    /// The same rows in the space.
    rows: Rows,
    space: BoxLayout,
    condition: &'a C,
    budget: Budget,
}

impl<C: PartCondition> Search<'_, C> {
    /// The best start.
    fn begin(&self, groups: Vec<Vec<u32>>) -> Result<Vec<Vec<u32>>, EngineError> {
        let columns = self.refinement.columns.iter();
        let attributes = self.refinement.scales.iter().zip(columns).enumerate();
        let levels: Vec<Vec<levels::Level>> = attributes
            .map(|(at, (scale, column))| levels::levels(at, scale, column.domain.len()))
            .collect();
        let seeds = Seeds {
            context: self.refinement.context,
            codes: &self.codes,
            rows: &self.rows,
            space: &self.space,
            levels: &levels,
            condition: self.condition,
            readings: self.budget.readings,
        };
        let quotas = Quotas {
            context: self.refinement.context,
            codes: &self.codes,
            rows: &self.rows,
            space: &self.space,
            condition: self.condition,
            readings: self.budget.readings / GATHERING_SHARE,
        };
        let parts = self.parts(&groups, 0, SEED_RECORDS);
        let found: Vec<_> = parts
            .par_iter()
            .map(|part| {
                let mut rows = part.concat();
                rows.sort_unstable();
                let (mut found, left) = seeds.find(&rows)?;
                // Seeds that few rows are in are no good start.
                let are_few = 2 * left.len() > rows.len();
                let is_whole = !are_few && self.place_left(left, &mut found)?;
                let seeded = is_whole.then_some(found);
                let even = quotas.find(&rows)?;
                // What the search takes off quotas it cannot take off seeds.
                let head_starts = [(seeded, 1.0), (even, QUOTAS_HEAD_START)];
                let starts = head_starts.into_iter().filter_map(|(start, share)| {
                    let start = start?;
                    Some((self.loss(&start) * share, start))
                });
                let mut starts: Vec<_> = starts.collect();
                if starts.is_empty() {
                    let cut = self.cut(&rows)?;
                    starts.extend(cut.map(|groups| (self.loss(&groups), groups)));
                }
                let own = (self.loss(part), part.clone());
                let best = starts
                    .into_iter()
                    .chain([own])
                    .min_by(|one, other| one.0.total_cmp(&other.0));
                Ok(best.map(|(_, start)| start).unwrap_or_default())
            })
            .collect::<Result<_, EngineError>>()?;
        Ok(found.concat())
    }

    /// Finds groups for the rows that the seeds left: their own where they are
    /// many, by cuts, or else those that grow least by them. Whether all found
    /// one.
    fn place_left(&self, left: Vec<u32>, groups: &mut Vec<Vec<u32>>) -> Result<bool, EngineError> {
        if let Some(found) = self.cut(&left)? {
            groups.extend(found);
            return Ok(true);
        }
        Ok(self.place(left, groups))
    }

    /// Rows parted by the cuts that save most, if all of them together hold.
    fn cut(&self, rows: &[u32]) -> Result<Option<Vec<Vec<u32>>>, EngineError> {
        let mut buffers = self.condition.buffers();
        if rows.len() < self.condition.least() || !self.condition.holds(rows, &mut buffers) {
            return Ok(None);
        }
        let refinement = self.refinement;
        let mondrian = Mondrian {
            context: refinement.context,
            stage: refinement.stage,
            step: refinement.step,
            columns: refinement.columns,
            scales: refinement.scales,
            choice: SplitChoice::Gain,
            partitioning: Partitioning::Strict,
            uncut: 0,
        };
        let among = Among {
            condition: self.condition,
            position: rows,
        };
        let record = |&row: &u32| self.records[row as usize];
        let records: Vec<u32> = rows.iter().map(record).collect();
        let found = mondrian.groups(&records, &among)?;
        let mut groups = positions(&records, &found);
        for row in groups.iter_mut().flatten() {
            *row = rows[*row as usize];
        }
        Ok(Some(groups))
    }

    /// Gives rows that are in no group to the groups that grow least by them
    /// and still hold; whether all found one.
    fn place(&self, left: Vec<u32>, groups: &mut [Vec<u32>]) -> bool {
        let mut buffers = self.condition.buffers();
        if left.len() * groups.len() > PLACES_MAX {
            return false;
        }
        let mut covers: Vec<Cover<'_>> = groups.iter().map(|group| self.cover(group)).collect();
        for row in left {
            let cells = self.rows.row(row);
            let growths = covers.iter().zip(&*groups);
            let mut growths: Vec<f32> = growths
                .map(|(cover, group)| cover.growth(cells) * (group.len() + 1) as f32 + cover.loss())
                .collect();
            let place = (0..PLACES_TRIED).find_map(|_| {
                let places = growths.iter().enumerate();
                let (at, _) = places.min_by(|one, other| one.1.total_cmp(other.1))?;
                growths[at] = f32::INFINITY;
                groups[at].push(row);
                let holds = self.condition.holds(&groups[at], &mut buffers);
                if !holds {
                    groups[at].pop();
                }
                holds.then_some(at)
            });
            match place {
                Some(at) => covers[at].include(cells),
                None => return false,
            }
        }
        true
    }

    fn cover(&self, group: &[u32]) -> Cover<'_> {
        let mut cover = Cover::new(&self.space);
        cover.enclose(&self.rows, group);
        cover
    }

    fn loss(&self, groups: &[Vec<u32>]) -> f64 {
        let loss = |cover: &mut Cover<'_>, group: &Vec<u32>| {
            cover.enclose(&self.rows, group);
            f64::from(cover.loss()) * group.len() as f64
        };
        let losses = groups.par_iter().with_min_len(GROUPS_MIN);
        let losses = losses.map_init(|| Cover::new(&self.space), loss);
        // Added up in order, whatever the number of threads.
        losses.collect::<Vec<f64>>().iter().sum()
    }

    /// Regions of the groups: neighbours in a lexicographic order of the
    /// attributes that the round draws.
    fn parts(&self, groups: &[Vec<u32>], round: u64, records: usize) -> Vec<Vec<Vec<u32>>> {
        let mut random = self
            .refinement
            .context
            .stream(self.refinement.stage, round << 32);
        let mut attributes: Vec<usize> = (0..self.codes.width()).collect();
        attributes.shuffle(&mut random);
        let mut order: Vec<usize> = (0..groups.len()).collect();
        let cells = |at: usize| {
            let row = self.codes.row(groups[at][groups[at].len() / 2]);
            attributes.iter().map(|&attribute| row[attribute])
        };
        order.sort_by(|&one, &other| cells(one).cmp(cells(other)).then(one.cmp(&other)));
        let mut parts: Vec<Vec<Vec<u32>>> = Vec::new();
        let mut size = records;
        for at in order {
            if size + groups[at].len() > records {
                parts.push(Vec::new());
                size = 0;
            }
            size += groups[at].len();
            if let Some(part) = parts.last_mut() {
                part.push(groups[at].clone());
            }
        }
        parts
    }

    /// All rounds.
    fn go_on(&self, mut groups: Vec<Vec<u32>>) -> Result<Vec<Vec<u32>>, EngineError> {
        let rounds = self.budget.rounds;
        for round in 0..rounds {
            let mut parts = self.parts(&groups, round + 1, REGION_RECORDS);
            let falling = |round: u64| {
                let linear = self.budget.temperature * (1.0 - round as f32 / rounds as f32);
                linear.max(self.budget.least_temperature)
            };
            let temperatures = (falling(round), falling(round + 1));
            let tried = self.budget.regions_tried;
            let step = if tried > 0 && parts.len() > REGIONS_MANY * tried {
                parts.len() / tried
            } else {
                1
            };
            let search = |parts: &mut [Vec<Vec<u32>>], is_due: &(dyn Fn(usize) -> bool + Sync)| {
                let parts = parts.par_iter_mut().enumerate();
                let due = parts.filter(|(at, _)| is_due(*at));
                due.try_for_each(|(at, part)| {
                    let found = std::mem::take(part);
                    *part = self.search_part(found, (round + 1, at as u64), temperatures)?;
                    Ok::<(), EngineError>(())
                })
            };
            let loss_of_tried = |parts: &[Vec<Vec<u32>>]| -> f64 {
                let tried = parts.iter().step_by(step);
                tried.map(|part| self.loss(part)).sum()
            };
            let before = loss_of_tried(&parts);
            search(&mut parts, &|at| at % step == 0)?;
            if step > 1 && loss_of_tried(&parts) < before * (1.0 - WORTHWHILE) {
                search(&mut parts, &|at| at % step != 0)?;
            }
            groups = parts.concat();
            let (step, steps) = self.refinement.step;
            let fraction = (round + 1) as f64 / rounds as f64;
            let progress = self.refinement.context.progress;
            progress.report(step, steps, "refine", fraction);
        }
        Ok(groups)
    }

    fn search_part(
        &self,
        part: Vec<Vec<u32>>,
        (round, at): (u64, u64),
        temperatures: (f32, f32),
    ) -> Result<Vec<Vec<u32>>, EngineError> {
        self.refinement.context.check()?;
        let rows: usize = part.iter().map(Vec::len).sum();
        if part.len() < 2 && rows < 2 * self.condition.least() || rows > REGION_RECORDS {
            return Ok(part);
        }
        let words = measure::words(&self.codes, self.refinement.scales, &part.concat());
        let place = (round << 32) + at + 1;
        match (self.codes.width(), words) {
            (..=16, 0) => Ok(self.anneal::<16, 0>(part, place, temperatures)),
            (..=16, ..=4) => Ok(self.anneal::<16, 4>(part, place, temperatures)),
            (..=CELLS_MAX, ..=WORDS_MAX) => {
                Ok(self.anneal::<CELLS_MAX, WORDS_MAX>(part, place, temperatures))
            }
            _ => Ok(part),
        }
    }

    fn anneal<const CELLS: usize, const WORDS: usize>(
        &self,
        part: Vec<Vec<u32>>,
        place: u64,
        temperatures: (f32, f32),
    ) -> Vec<Vec<u32>> {
        let mut random = self.refinement.context.stream(self.refinement.stage, place);
        let rows: usize = part.iter().map(Vec::len).sum();
        let proposals = self.budget.proposals * rows as u64 / self.budget.rounds;
        let frame = (&self.codes, self.refinement.scales);
        let mut buffers = self.condition.buffers();
        let holds = Box::new(|rows: &[u32]| self.condition.holds(rows, &mut buffers));
        let kinds = part.iter().flatten();
        let kinds = kinds.map(|&row| self.condition.kind(row));
        let condition = Conditions {
            least: self.condition.least(),
            may_be: holds,
            kinds: kinds.collect::<Option<_>>().unwrap_or_default(),
        };
        let mut region: Region<'_, CELLS, WORDS> =
            Region::new(frame, &part, condition, &mut random);
        region.anneal(proposals, temperatures, &mut random);
        region.into_groups()
    }
}
