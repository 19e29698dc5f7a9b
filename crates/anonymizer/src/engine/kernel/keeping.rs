//! Who stays in the groups that public releases show, where a series keeps them
//! (design: series, *nested*).
//!
//! A class of subjects with one history is published again whole, or not at all,
//! or parted in two, of which each has at least k subjects and no value in more
//! than 1 in l: the releases together tell a table of such parts, and no more.
//! So where somebody leaves, asks to be left out or has other values now,
//! *companions* leave with them, drawn at random from the class.
//!
//! How many go must not depend on the values of those who leave, and every set of
//! companions must be as likely whatever these values are: else who goes tells
//! them. So a class is parted only where each part holds whoever goes: its most
//! frequent value is in no part more than 1 in l. What decides is public: the
//! values of the class, and how many leave it. Else the whole class leaves.
//!
//! Subjects who are new make groups among themselves, by the engine's own steps.
//! Where these have no answer they wait for the next release.

use std::collections::BTreeMap;

use rand::seq::SliceRandom;
use rand_chacha::ChaCha12Rng;
use rustc_hash::FxHashSet;

use crate::engine::context::RunContext;
use crate::engine::error::{EngineError, Infeasible};
use crate::microdata::RecordIndex;
use crate::privacy::{
    Changes, KeptClass, KeptGroups, KeptMember, ProtectedIndex, RecordTerms, Requirements,
};
use crate::release::candidates::is_l_alone;
use crate::release::{Cell, Content, Kept, Release, cell_text};

use super::acceptance::invalid;
use super::covers::Covers;
use super::included::Included;

/// Random stream of who leaves with others; one a class.
const STAGE: u32 = 40;

/// A group of subjects who stay.
#[derive(Clone, Debug)]
pub struct StayingGroup {
    /// Position among the kept classes.
    pub class: usize,
    /// Their records.
    pub records: Vec<u32>,
}

/// Who stays in public groups.
#[derive(Clone, Debug)]
pub struct Staying<'a> {
    /// What public releases show.
    pub kept: &'a KeptGroups,
    /// The groups that are published again.
    pub groups: Vec<StayingGroup>,
}

/// Takes those out whom a public release shows, and answers them; none where no
/// groups are kept, or none is there yet.
pub fn take_public<'a>(included: &mut Included<'a>) -> Option<(Included<'a>, &'a KeptGroups)> {
    let kept = included.requirements.kept_groups()?;
    if kept.classes.is_empty() {
        return None;
    }
    let is_public = |record: &u32| kept.class(*record).is_some();
    let all = std::mem::take(&mut included.records);
    let (public, new) = all.into_iter().partition(is_public);
    included.records = new;
    let public = Included {
        records: public,
        ..included.clone()
    };
    Some((public, kept))
}

impl<'a> Staying<'a> {
    /// Decides who stays; `holds` says whether records are a group that keeps
    /// what the job asks and what its members ask.
    ///
    /// # Errors
    /// A job that asks more of groups than the releases before; more companions
    /// than the job allows.
    pub fn of(
        public: &Included<'_>,
        kept: &'a KeptGroups,
        holds: &mut dyn FnMut(&[u32]) -> bool,
        context: &RunContext<'_>,
    ) -> Result<Self, EngineError> {
        let mut groups = Vec::new();
        for (class, members) in kept.classes.iter().enumerate() {
            context.check()?;
            if !members.is_whole {
                continue;
            }
            let mut parting = Parting {
                kept,
                class: members,
                requirements: public.requirements,
                random: context.stream(STAGE, class as u64),
            };
            let records = parting.records(holds)?;
            if !records.is_empty() {
                groups.push(StayingGroup { class, records });
            }
        }
        let mut staying = Self { kept, groups };
        staying.part_look_alikes(holds);
        let stay: usize = staying.groups.iter().map(|group| group.records.len()).sum();
        check_companions(kept, &public.records, stay)?;
        Ok(staying)
    }

    /// Takes groups out that look alike, until what is asked holds of all who do:
    /// without those who left it need not. Groups that lost somebody go first.
    fn part_look_alikes(&mut self, holds: &mut dyn FnMut(&[u32]) -> bool) {
        let mut of_look: BTreeMap<&[u32], Vec<usize>> = BTreeMap::new();
        for (at, group) in self.groups.iter().enumerate() {
            let look = self.kept.classes[group.class].cells.as_slice();
            of_look.entry(look).or_default().push(at);
        }
        let mut is_out = vec![false; self.groups.len()];
        for mut alike in of_look.into_values() {
            let lost = |at: usize| {
                let group = &self.groups[at];
                self.kept.classes[group.class].members.len() - group.records.len()
            };
            alike.sort_by_key(|&at| lost(at));
            while alike.len() > 1 {
                let all = alike.iter().flat_map(|&at| &self.groups[at].records);
                if holds(&all.copied().collect::<Vec<_>>()) {
                    break;
                }
                is_out[alike.pop().unwrap_or_default()] = true;
            }
        }
        let mut is_out = is_out.into_iter();
        self.groups.retain(|_| !is_out.next().unwrap_or(false));
    }

    /// Which groups of new subjects look like one of these, where members ask for
    /// different things of values: what holds of each need not hold of both, and
    /// an adversary cannot tell them apart.
    pub fn look_alike(&self, included: &Included<'_>, groups: &[Vec<u32>]) -> Vec<usize> {
        let staying = self.groups.iter().flat_map(|group| &group.records);
        let asked = |&record: &u32| included.requirements.of(RecordIndex(record));
        let mut asked = staying.chain(&included.records).map(asked);
        let first: Option<&RecordTerms> = asked.next();
        let differs = |own: &RecordTerms| {
            first.is_some_and(|one| one.l != own.l || one.max_share != own.max_share)
        };
        if self.groups.is_empty() || !asked.any(differs) {
            return Vec::new();
        }
        let mut looks: Vec<Vec<String>> = vec![Vec::new(); groups.len()];
        for (_, column) in &included.quasi {
            let mut covers = Covers::new(&column.domain);
            for (look, records) in looks.iter_mut().zip(groups) {
                let cell = covers.cover(column, records) as usize;
                look.push(cell_text(&covers.cells[cell]));
            }
        }
        let shown = self.groups.iter().map(|group| {
            let cells = self.kept.classes[group.class].cells.iter();
            let texts = cells.zip(&self.kept.cells);
            texts
                .map(|(&cell, texts)| texts[cell as usize].as_str())
                .collect()
        });
        let shown: FxHashSet<Vec<&str>> = shown.collect();
        let is_shown = |look: &Vec<String>| {
            let look: Vec<&str> = look.iter().map(String::as_str).collect();
            shown.contains(&look)
        };
        let all = looks.iter().enumerate();
        all.filter(|(_, look)| is_shown(look))
            .map(|(at, _)| at)
            .collect()
    }

    /// The cells of a quasi-identifier, by its position among them. Their texts
    /// are those of cells: [`kept_groups`](crate::release::kept_groups) read them.
    pub fn cells(&self, included: &Included<'_>, quasi: usize) -> Vec<Cell> {
        let kind = Some(included.quasi[quasi].1.domain.kind());
        let texts = self.kept.cells[quasi].iter();
        texts
            .map(|text| Cell::parse(text, Content::Generalized, kind).unwrap_or(Cell::Masked))
            .collect()
    }
}

/// Checks that no more subjects of the last release are left out than the job
/// allows, where `stay` of those of these records stay.
pub fn check_companions(
    kept: &KeptGroups,
    records: &[u32],
    stay: usize,
) -> Result<(), EngineError> {
    // Who left an earlier release is not counted again.
    let in_whole = |record: &&u32| kept.is_in_whole(**record);
    let all = records.iter().filter(in_whole).count();
    let left = all - stay;
    if kept.max_companions.allows(left as u64, all as u64) {
        return Ok(());
    }
    let condition = format!(
        "{left} of {all} subjects who were in the last release would be left out with those \
         who left or changed; wait until more changes come together, or begin a new series with \
         those who are in none (increments)"
    );
    // Rounded up: what is named must be enough.
    let share = (left as f64 / all as f64 * 1000.0).ceil() / 1000.0;
    let parameter = "series.max_companions";
    Err(Infeasible::at_least(parameter, Some(share.min(1.0)), condition).into())
}

/// What a release says of those whose groups it keeps, where it keeps any;
/// everyone who is not published counts as left out.
pub fn noted(mut release: Release, included: &Included<'_>) -> Release {
    let (table, requirements) = (included.table, included.requirements);
    let Some(kept) = requirements.kept_groups() else {
        return release;
    };
    let mut is_published = vec![false; table.subjects()];
    for subject in release.lineage.tables.iter().flat_map(|one| &one.subjects) {
        is_published[subject.at()] = true;
    }
    let (mut waiting, mut companions, mut absent) = (0, 0, 0);
    for record in (0..table.records()).map(RecordIndex::from_usize) {
        if is_published[table.subject_of(record).at()] {
            continue;
        }
        absent += 1;
        match kept.class(record.0) {
            _ if requirements.of(record).exclude => {}
            Some(_) => companions += 1,
            None if kept.classes.is_empty() => {}
            None => waiting += 1,
        }
    }
    release.excluded = absent;
    release.kept = Some(Kept {
        waiting,
        companions,
        changes: Changes::Hidden,
        joins_groups: kept.joins,
        attributes: Vec::new(),
    });
    release
}

/// One class that is published again or parted.
struct Parting<'a> {
    kept: &'a KeptGroups,
    class: &'a KeptClass,
    requirements: &'a Requirements,
    random: ChaCha12Rng,
}

impl Parting<'_> {
    /// The records that stay; none where the class leaves.
    fn records(&mut self, holds: &mut dyn FnMut(&[u32]) -> bool) -> Result<Vec<u32>, EngineError> {
        let all = self.class.members.iter();
        let (mut stay, leave): (Vec<&KeptMember>, Vec<&KeptMember>) =
            all.partition(|member| self.kept.can_stay(member, self.requirements));
        if leave.is_empty() {
            let all = records(&stay);
            let asks = stay.iter().filter_map(|member| member.record);
            let mut asks = asks.map(|record| self.requirements.of(RecordIndex(record)));
            return match holds(&all) {
                true => Ok(all),
                // Somebody asks for more now: the class leaves with them.
                false if asks.any(|terms| terms.personal) => Ok(Vec::new()),
                false => Err(invalid(
                    "series.mode",
                    "the job asks more of groups than the public releases did: keep their k, l and \
                     whatever else they promise, or take the mode increments (a value that is \
                     missing for the first time asks for an l more)",
                )),
            };
        }
        // Of parts nothing is known but k and l.
        let mut all = self.requirements.protected();
        let is_l_alone = all.all(|index| is_l_alone(self.requirements.protection(index)));
        if !self.class.is_divisible || !is_l_alone {
            return Ok(Vec::new());
        }
        let Some(companions) = self.companions(leave.len()) else {
            return Ok(Vec::new());
        };
        stay.shuffle(&mut self.random);
        let rest = records(&stay[companions.min(stay.len())..]);
        Ok(if holds(&rest) { rest } else { Vec::new() })
    }

    /// How many go with `leaving` members, so that both parts hold whoever goes;
    /// none where the whole class leaves.
    fn companions(&self, leaving: usize) -> Option<usize> {
        let members = &self.class.members;
        let asked = members.iter().filter_map(|member| member.record);
        let asked = asked.map(|record| self.requirements.of(RecordIndex(record)));
        let asked: Vec<&RecordTerms> = asked.collect();
        let promised = members.iter().map(|member| member.k);
        let k = promised.chain(asked.iter().map(|terms| terms.k)).max();
        let mut least = u64::from(k.unwrap_or(1).max(self.kept.k));
        for (at, &l) in self.kept.l.iter().enumerate() {
            let mut values: Vec<u32> = members.iter().map(|member| member.values[at]).collect();
            values.sort_unstable();
            let runs = values.chunk_by(|one, other| one == other);
            let most = runs.map(<[u32]>::len).max().unwrap_or(0) as u64;
            let promised = members.iter().map(|member| member.l[at]);
            let index = ProtectedIndex(at as u8);
            let asked = asked.iter().map(|terms| terms.l_of_values(index));
            let l = promised.chain(asked).max().unwrap_or(1).max(l);
            least = least.max(most * u64::from(l));
        }
        parted(members.len(), leaving, least)
    }
}

/// How many of `all` go with `leaving`, so that those who go are at least `least`
/// and so are those who stay.
fn parted(all: usize, leaving: usize, least: u64) -> Option<usize> {
    let least = usize::try_from(least).ok()?;
    let companions = least.saturating_sub(leaving);
    let stay = all.checked_sub(leaving + companions)?;
    (stay >= least).then_some(companions)
}

/// The records of members, ascending.
fn records(members: &[&KeptMember]) -> Vec<u32> {
    let mut records: Vec<u32> = members.iter().filter_map(|member| member.record).collect();
    records.sort_unstable();
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_parted_where_both_parts_hold_whoever_goes() {
        // k = 2, the most frequent value once, l = 2.
        assert_eq!(parted(4, 1, 2), Some(1));
        assert_eq!(parted(4, 2, 2), Some(0));
        assert_eq!(parted(4, 3, 2), None, "one would stay");
        assert_eq!(parted(3, 1, 2), None, "one would stay");
        // A value twice and l = 2: 1 in 2 of two people could be it, or both.
        assert_eq!(parted(5, 1, 4), None);
        assert_eq!(parted(8, 1, 4), Some(3));
        assert_eq!(parted(8, 4, 4), Some(0));
        assert_eq!(parted(8, 5, 4), None);
        assert_eq!(parted(2, 3, 1), None);
    }
}
