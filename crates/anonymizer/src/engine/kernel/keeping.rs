//! Who stays in the groups that public releases show, where a series keeps them
//! (design: series, *nested*).
//!
//! A class of subjects with one history is published again whole, or not at all,
//! or parted in two, of which each has at least k subjects and no value in more
//! than 1 in l: the releases together tell a table of such parts, and no more.
//! So where somebody leaves, asks to be left out or has other values now,
//! *companions* leave with them, drawn at random from the class among all sets
//! of them that will do; where none will, the whole class leaves.
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
use crate::privacy::{KeptClass, KeptGroups, KeptMember, RecordTerms, Requirements};
use crate::release::{Cell, Content, Kept, Release};

use super::acceptance::invalid;
use super::covers::Covers;
use super::eligibility::is_eligible;
use super::included::Included;

/// Random stream of who leaves with others; one a class.
const STAGE: u32 = 40;
/// Sets of companions of one size that are tried.
const TRIES: usize = 32;

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
    let history = included.requirements.history()?;
    let kept = history.groups.as_ref()?;
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
        let (all, left) = (public.records.len() as u64, public.records.len() - stay);
        if kept.max_companions.allows(left as u64, all) {
            return Ok(staying);
        }
        let condition = format!(
            "{left} of {all} subjects who were public would be left out with those who left or \
             changed; wait until more changes come together, or begin a new series with those who \
             are in none (increments)"
        );
        // Rounded up: what is named must be enough.
        let share = (left as f64 / all as f64 * 1000.0).ceil() / 1000.0;
        let parameter = "series.max_companions";
        Err(Infeasible::at_least(parameter, Some(share.min(1.0)), condition).into())
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
                let mut text = String::new();
                covers.cells[cell].text(&mut text);
                look.push(text);
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

    /// The cells of a quasi-identifier, by its position among them; none for a
    /// text that is no cell, which no release has.
    pub fn cells(&self, included: &Included<'_>, quasi: usize) -> Vec<Cell> {
        let kind = Some(included.quasi[quasi].1.domain.kind());
        let texts = self.kept.cells[quasi].iter();
        texts
            .map(|text| Cell::parse(text, Content::Generalized, kind).unwrap_or(Cell::Masked))
            .collect()
    }
}

/// What a release says of those whose groups it keeps, where it keeps any;
/// everyone who is not published counts as left out.
pub fn noted(mut release: Release, included: &Included<'_>) -> Release {
    let (table, requirements) = (included.table, included.requirements);
    let history = requirements.history();
    let Some(kept) = history.and_then(|history| history.groups.as_ref()) else {
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
        let (mut stay, mut leave): (Vec<&KeptMember>, Vec<&KeptMember>) =
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
        if !self.class.is_divisible {
            return Ok(Vec::new());
        }
        let least = (self.kept.k as usize).saturating_sub(leave.len());
        let most = stay.len().saturating_sub(self.kept.k.max(1) as usize);
        let gone = leave.len();
        let (mut companions, mut step) = (least, 0);
        while companions <= most {
            for _ in 0..TRIES {
                stay.shuffle(&mut self.random);
                leave.truncate(gone);
                leave.extend_from_slice(&stay[..companions]);
                let rest = &stay[companions..];
                if self.is_sound(&leave) && self.is_sound(rest) && holds(&records(rest)) {
                    return Ok(records(rest));
                }
                if companions == 0 {
                    break;
                }
            }
            // Large classes: every number at first, then fewer.
            step += 1;
            companions += (step / TRIES).max(1);
        }
        Ok(Vec::new())
    }

    /// Whether a part of the class tells no more than its releases claim.
    fn is_sound(&self, members: &[&KeptMember]) -> bool {
        let size = members.len() as u64;
        let is_diverse = |(at, &l): (usize, &u32)| {
            let mut values: Vec<u32> = members.iter().map(|member| member.values[at]).collect();
            values.sort_unstable();
            let runs = values.chunk_by(|one, other| one == other);
            let most = runs.map(<[u32]>::len).max().unwrap_or(0);
            let own = members.iter().map(|member| member.l[at]).max();
            is_eligible(most as u64, size, own.unwrap_or(1).max(l))
        };
        let own = members.iter().map(|member| member.k).max();
        let k = own.unwrap_or(1).max(self.kept.k);
        size >= u64::from(k) && self.kept.l.iter().enumerate().all(is_diverse)
    }
}

/// The records of members, ascending.
fn records(members: &[&KeptMember]) -> Vec<u32> {
    let mut records: Vec<u32> = members.iter().filter_map(|member| member.record).collect();
    records.sort_unstable();
    records
}
