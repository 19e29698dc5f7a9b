//! Groups to begin with that all have their share of each kind (*ours*).
//!
//! Closeness and diversity refuse small groups of near records, because near
//! records have like values. Here the values come first: of each kind every
//! group is owed as many rows as every other, give or take one. As many groups
//! are made as keep the condition with that. Many rows are parted in two, time
//! and again, by the attribute that saves most: each part gets of each kind
//! what its groups are owed, the lower rows here and the higher ones there.
//! From the rows of a part groups are gathered one after the other. (Buckets
//! before groups as in [Cao 2011]; the cuts as in Mondrian.)

use std::ops::Range;

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::kernel::{BoxLayout, Cover, PartCondition, Rows};

/// Kinds of rows beyond which no group could have its share of them.
const KINDS_MAX: usize = 4096;
/// Sizes of groups that are tried grow by one in so many.
const GROWTH: usize = 16;
/// Groups are larger than they must be by one in so many.
const ROOM: usize = 3;
/// Rows among which groups are gathered at most.
const GATHERED_ROWS: usize = 16_384;

/// What quotas are made for.
pub(super) struct Quotas<'a, C> {
    pub context: &'a RunContext<'a>,
    /// Codes of all rows.
    pub codes: &'a Rows,
    /// The same rows in the space.
    pub rows: &'a Rows,
    pub space: &'a BoxLayout,
    pub condition: &'a C,
    /// Rows that may be read for each row while groups are gathered.
    pub readings: usize,
}

/// How many rows of each kind groups are owed.
struct Owed {
    groups: usize,
    /// Rows of each kind.
    rows: Vec<usize>,
}

impl Owed {
    /// Rows of a kind that the first groups are owed together. Kinds are
    /// rounded at different groups, so that groups are of about one size.
    fn before(&self, kind: usize, group: usize) -> usize {
        // The golden ratio spreads any number of kinds evenly.
        let phase = (kind as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let phase = (phase * self.groups as u64) >> 32;
        (group * self.rows[kind] + phase as usize) / self.groups
    }

    fn of(&self, kind: usize, groups: &Range<usize>) -> usize {
        self.before(kind, groups.end) - self.before(kind, groups.start)
    }
}

impl<C: PartCondition> Quotas<'_, C> {
    /// Groups of all of `rows`, each of which holds; `None` where rows have no
    /// kinds, or no number of groups keeps the condition.
    pub fn find(&self, rows: &[u32]) -> Result<Option<Vec<Vec<u32>>>, EngineError> {
        let Some(kinds) = self.kinds(rows) else {
            return Ok(None);
        };
        let Some(owed) = self.owed(&kinds, rows.len())? else {
            return Ok(None);
        };
        let groups = 0..owed.groups;
        self.part(kinds, &owed, groups).map(Some)
    }

    /// The rows of each kind, if there are at least two.
    fn kinds(&self, rows: &[u32]) -> Option<Vec<Vec<u32>>> {
        let kinds = rows
            .iter()
            .map(|&row| Some((self.condition.kind(row)?, row)));
        let mut kinds: Vec<(u32, u32)> = kinds.collect::<Option<_>>()?;
        kinds.sort_unstable();
        let runs = kinds.chunk_by(|one, other| one.0 == other.0);
        let kinds: Vec<Vec<u32>> = runs
            .map(|run| run.iter().map(|&(_, row)| row).collect())
            .collect();
        (2..=KINDS_MAX).contains(&kinds.len()).then_some(kinds)
    }

    /// Nearly as many groups as can hold: those that only just do can hardly
    /// be changed any more.
    fn owed(&self, kinds: &[Vec<u32>], rows: usize) -> Result<Option<Owed>, EngineError> {
        let mut size = self.condition.least().max(2);
        while 2 * size <= rows {
            self.context.check()?;
            let owed = |size: usize| Owed {
                groups: rows / size,
                rows: kinds.iter().map(Vec::len).collect(),
            };
            let roomy = owed(size + size / ROOM);
            if roomy.groups < 2 {
                return Ok(None);
            }
            if self.all_hold(kinds, &owed(size)) && self.all_hold(kinds, &roomy) {
                return Ok(Some(roomy));
            }
            size += size.div_ceil(GROWTH);
        }
        Ok(None)
    }

    /// Whether groups hold that have what they are owed. Which rows of a kind
    /// they have does not matter to that, so any are asked about.
    fn all_hold(&self, kinds: &[Vec<u32>], owed: &Owed) -> bool {
        let mut buffers = self.condition.buffers();
        let mut group = Vec::new();
        (0..owed.groups).all(|at| {
            group.clear();
            for (kind, rows) in kinds.iter().enumerate() {
                group.extend(&rows[owed.before(kind, at)..owed.before(kind, at + 1)]);
            }
            group.len() >= self.condition.least() && self.condition.holds(&group, &mut buffers)
        })
    }

    /// Rows of each kind parted into these groups.
    fn part(
        &self,
        kinds: Vec<Vec<u32>>,
        owed: &Owed,
        groups: Range<usize>,
    ) -> Result<Vec<Vec<u32>>, EngineError> {
        self.context.check()?;
        if groups.len() == 1 {
            return Ok(vec![kinds.concat()]);
        }
        let rows: usize = kinds.iter().map(Vec::len).sum();
        // Each row of a group was the nearest of all of its kind.
        let readings: usize = kinds.iter().map(|rows| rows.len() * rows.len() / 2).sum();
        if rows <= GATHERED_ROWS && readings <= rows * self.readings {
            return self.gather(kinds, owed, groups);
        }
        let middle = groups.start + groups.len() / 2;
        let lower = groups.start..middle;
        let sizes: Vec<usize> = (0..kinds.len()).map(|kind| owed.of(kind, &lower)).collect();
        let cuts = (0..self.codes.width()).map(|attribute| {
            let halves = self.cut(&kinds, &sizes, attribute);
            (self.loss(&halves.0) + self.loss(&halves.1), halves)
        });
        let cheapest = cuts.min_by(|one, other| one.0.total_cmp(&other.0));
        let Some((_, (one, other))) = cheapest else {
            return Ok(vec![kinds.concat()]);
        };
        let upper = middle..groups.end;
        let (one, other) = rayon::join(
            || self.part(one, owed, lower.clone()),
            || self.part(other, owed, upper),
        );
        let mut all = one?;
        all.extend(other?);
        Ok(all)
    }

    /// These groups one after the other, each around the row of its rarest kind
    /// that is nearest to where the one before began: of each kind, rare ones
    /// first, the rows by which it grows least. The search then takes rows from
    /// the middle of their groups; docs/DEVIATIONS.md has the figures.
    fn gather(
        &self,
        mut kinds: Vec<Vec<u32>>,
        owed: &Owed,
        groups: Range<usize>,
    ) -> Result<Vec<Vec<u32>>, EngineError> {
        let mut found = Vec::with_capacity(groups.len());
        let mut last: Option<u32> = None;
        for group in groups {
            self.context.check()?;
            let wanted = |kind: usize| owed.of(kind, &(group..group + 1));
            let mut order: Vec<usize> = (0..kinds.len()).filter(|&kind| wanted(kind) > 0).collect();
            order.sort_by_key(|&kind| (kinds[kind].len(), kind));
            let rarest = order.first().map_or(&[][..], |&kind| &kinds[kind]);
            let first = match last {
                None => rarest.first().copied(),
                Some(last) => least(rarest, |row| {
                    self.space.pair(self.rows.row(last), self.rows.row(row))
                }),
            };
            let Some(first) = first else { continue };
            last = Some(first);
            let mut cover = Cover::new(self.space);
            cover.start(self.rows.row(first));
            let mut rows = Vec::new();
            for kind in order {
                for _ in 0..wanted(kind) {
                    let left = &mut kinds[kind];
                    let near = least(left, |row| {
                        if row == first {
                            f32::NEG_INFINITY
                        } else {
                            cover.growth(self.rows.row(row))
                        }
                    });
                    let Some(row) = near else { continue };
                    left.retain(|&other| other != row);
                    cover.include(self.rows.row(row));
                    rows.push(row);
                }
            }
            found.push(rows);
        }
        Ok(found)
    }

    /// Of each kind the lowest rows of an attribute, as many as asked for, and
    /// the others.
    fn cut(&self, kinds: &[Vec<u32>], sizes: &[usize], attribute: usize) -> Halves {
        let halves = kinds.iter().zip(sizes).map(|(rows, &size)| {
            let mut rows = rows.clone();
            if size > 0 && size < rows.len() {
                rows.select_nth_unstable_by_key(size, |&row| {
                    (self.codes.cell(row, attribute), row)
                });
            }
            let upper = rows.split_off(size);
            (rows, upper)
        });
        halves.unzip()
    }

    fn loss(&self, kinds: &[Vec<u32>]) -> f64 {
        let mut rows = kinds.iter().flatten();
        let Some(&first) = rows.next() else {
            return 0.0;
        };
        let mut cover = Cover::new(self.space);
        cover.start(self.rows.row(first));
        let mut count = 1;
        for &row in rows {
            cover.include(self.rows.row(row));
            count += 1;
        }
        f64::from(cover.loss()) * f64::from(count)
    }
}

/// The row that costs least; the first of several.
fn least(rows: &[u32], cost: impl Fn(u32) -> f32) -> Option<u32> {
    let costs = rows.iter().map(|&row| (cost(row), row));
    let least = costs.min_by(|one, other| one.0.total_cmp(&other.0));
    least.map(|(_, row)| row)
}

/// Rows of each kind on either side of a cut.
type Halves = (Vec<Vec<u32>>, Vec<Vec<u32>>);
