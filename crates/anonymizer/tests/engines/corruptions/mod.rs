//! Releases that an engine which cheats, or a careless one, might make: valid
//! ones with one property broken, everything else made to fit. The verifier
//! must accept none.
//!
//! These were written by somebody who did not write the verifier's checks, and
//! so no corruption names the check that must catch it. A test tells every
//! corruption that was accepted, with the releases it was accepted on, and
//! then fails once.
//!
//! Three kinds: of order (rows or numbers, the content as it was), of content
//! (order as an engine would publish it), and of the manifest. Each must
//! really change what is published.
#![allow(clippy::too_many_lines, reason = "a list of corruptions is one table")]

mod absent;
mod added;
pub mod bases;
mod cells;
mod choices;
mod classical;
mod documents;
mod evidence;
mod fingerprints;
mod issue;
mod lists;
mod numbers;
mod orders;
mod owners;
mod promises;
mod randomized;
mod rings;
mod slices;

use std::collections::BTreeMap;

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;

use self::bases::Base;
use crate::case::Case;

/// Where corruptions take their choices from.
pub type Random = ChaCha12Rng;

/// Seeds with which each corruption is made.
const SEEDS: u64 = 3;

/// What a corruption did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Done {
    /// Nothing: this release has no place for it.
    Skip,
    /// Changed the order of rows, or numbers.
    Order,
    /// Changed what rows say.
    Content,
}

/// One way to break a release.
pub struct Corruption {
    pub name: &'static str,
    /// What it gives away, or which promise it breaks.
    pub breaks: &'static str,
    pub apply: fn(&mut Case, &mut Random) -> Done,
}

type Entry = (
    &'static str,
    &'static str,
    fn(&mut Case, &mut Random) -> Done,
);

/// A table of corruptions, written `name, what it breaks, function`.
pub fn table(entries: &[Entry]) -> Vec<Corruption> {
    let entry = |&(name, breaks, apply): &(_, _, _)| Corruption {
        name,
        breaks,
        apply,
    };
    entries.iter().map(entry).collect()
}

/// What became of the corruptions of one list.
#[derive(Default)]
pub struct Tally {
    /// Releases on which each corruption was made.
    applied: BTreeMap<&'static str, usize>,
    /// Releases on which each was accepted.
    accepted: BTreeMap<&'static str, Vec<String>>,
    breaks: BTreeMap<&'static str, &'static str>,
}

impl Tally {
    pub fn known(&mut self, name: &'static str, breaks: &'static str) {
        let before = self.breaks.insert(name, breaks);
        assert!(before.is_none(), "{name} is there twice");
    }

    pub fn made(&mut self, name: &'static str, on: String, is_accepted: bool) {
        *self.applied.entry(name).or_default() += 1;
        if is_accepted {
            let on_bases = self.accepted.entry(name).or_default();
            if on_bases.last() != Some(&on) {
                on_bases.push(on);
            }
        }
    }

    /// Tells what was accepted, and fails if anything was.
    pub fn tell(self) {
        let names = self.breaks.keys();
        let nowhere: Vec<&str> = names
            .filter(|name| !self.applied.contains_key(*name))
            .copied()
            .collect();
        for (name, breaks) in &self.breaks {
            match self.accepted.get(name) {
                Some(on) => println!("MISSED {name} [{}]: {breaks}", on.join(", ")),
                None => println!("caught {name}"),
            }
        }
        assert!(nowhere.is_empty(), "made nowhere: {nowhere:?}");
        let accepted: Vec<&str> = self.accepted.keys().copied().collect();
        let (missed, all) = (accepted.len(), self.breaks.len());
        assert_eq!(
            missed, 0,
            "{missed} of {all} corruptions were accepted: {accepted:?}"
        );
    }
}

/// Makes each corruption on each release that has a place for it.
fn all_are_refused(corruptions: Vec<Corruption>, bases: &[&Base]) {
    let mut tally = Tally::default();
    for corruption in corruptions {
        tally.known(corruption.name, corruption.breaks);
        for base in bases {
            for seed in 0..SEEDS {
                if let Some(is_accepted) = try_once(&corruption, base, seed) {
                    tally.made(corruption.name, base.name.to_owned(), is_accepted);
                }
            }
        }
    }
    tally.tell();
}

/// Whether the corrupted release is accepted; none where it has no place.
fn try_once(corruption: &Corruption, base: &Base, seed: u64) -> Option<bool> {
    let mut broken = base.case.clone();
    let done = (corruption.apply)(&mut broken, &mut Random::seed_from_u64(seed));
    match done {
        Done::Skip => return None,
        Done::Order => broken.seal(),
        Done::Content => {
            evidence::restore_order(&mut broken);
            broken.seal();
        }
    }
    let is_changed = match done {
        Done::Content if broken.lineage != base.case.lineage => true,
        // Names and types are in the manifest alone.
        _ => {
            evidence::text(&broken) != evidence::text(&base.case)
                || evidence::document(&broken) != evidence::document(&base.case)
        }
    };
    assert!(
        is_changed,
        "{} changes nothing of {}",
        corruption.name, base.name
    );
    Some(evidence::is_accepted(&broken))
}

/// Releases by the beginning of their names.
fn bases_of(names: &[&str]) -> Vec<&'static Base> {
    let wanted = |base: &&Base| names.iter().any(|name| base.name.starts_with(name));
    bases::all().iter().filter(wanted).collect()
}

const ALL: [&str; 1] = [""];

#[test]
fn the_releases_that_are_corrupted_below_are_valid() {
    for base in bases::all() {
        let verdict = base.case.verdict();
        let failed: Vec<_> = verdict.failed().collect();
        assert!(verdict.holds(), "{}: {failed:#?}", base.name);
        assert!(evidence::is_accepted(&base.case), "{}", base.name);
    }
}

#[test]
fn no_order_of_rows_encodes_the_source() {
    all_are_refused(orders::corruptions(), &bases_of(&ALL));
}

#[test]
fn no_number_of_a_group_block_or_bucket_encodes_the_source() {
    all_are_refused(numbers::corruptions(), &bases_of(&ALL));
}

#[test]
fn no_order_of_listed_values_or_links_encodes_the_source() {
    all_are_refused(lists::corruptions(), &bases_of(&ALL));
}

#[test]
fn no_cell_is_another_than_the_one_that_its_group_needs() {
    all_are_refused(cells::corruptions(), &bases_of(&ALL));
}

#[test]
fn no_record_is_lost_moved_doubled_or_changed() {
    all_are_refused(classical::corruptions(), &bases_of(&ALL));
}

#[test]
fn nothing_is_added_to_the_tables() {
    all_are_refused(added::corruptions(), &bases_of(&ALL));
}

#[test]
fn no_record_is_left_out_but_at_its_subjects_wish() {
    all_are_refused(choices::exclusions(), &bases_of(&ALL));
}

#[test]
fn no_choice_of_the_dealing_is_left_to_the_engine() {
    all_are_refused(choices::dealings(), &bases_of(&["arp", "aip", "anatomy"]));
}

#[test]
fn no_columns_of_a_sliced_release_stay_linked() {
    all_are_refused(
        slices::corruptions(),
        &bases_of(&["slicing", "arp slicing"]),
    );
}

#[test]
fn no_value_is_kept_or_drawn_at_will() {
    all_are_refused(randomized::corruptions(), &bases_of(&["arp randomization"]));
}

#[test]
fn no_ring_is_turned_at_will() {
    all_are_refused(rings::corruptions(), &bases_of(&["ng"]));
}

#[test]
fn no_fingerprint_is_written_otherwise() {
    all_are_refused(
        fingerprints::corruptions(),
        &bases_of(&["one_to_many", "rmr"]),
    );
}

#[test]
fn no_manifest_says_anything_else() {
    let mut tally = Tally::default();
    for entry in documents::corruptions() {
        tally.known(entry.name, entry.breaks);
        for base in bases::all() {
            let before = evidence::document(&base.case);
            let mut manifest = before.clone();
            if !(entry.apply)(&mut manifest, &base.case) {
                continue;
            }
            assert_ne!(
                before.to_string(),
                manifest.to_string(),
                "{} changes nothing of {}",
                entry.name,
                base.name
            );
            let is_accepted = evidence::is_accepted_with(&base.case, &manifest);
            tally.made(entry.name, base.name.to_owned(), is_accepted);
        }
    }
    tally.tell();
}
