//! Whether several releases of the same people together tell no more than the
//! one that tells most.
//!
//! That candidate sets stay large is not enough: releases can make values
//! certain although every intersection keeps two (`composition` gives such
//! lower bounds). So a series is called safe only where it has one of three
//! shapes, each with a proof and a linear check (design: series):
//!
//! - **increments**: no subject is in two releases.
//! - **nested**: a *cell* is all subjects with the same history, that is, who
//!   are in the same class of each release, or absent from the same releases.
//!   Where what stands in every cell follows from the releases (it is a class
//!   of one of them, or a class without a class of another), they tell exactly
//!   a table of the cells, and a cell must be large and diverse by itself.
//! - **invariant**: the class of a subject shows the same values in every
//!   release, each equally often. Then renaming values inside such a set, for
//!   all subjects who have it, maps worlds onto worlds: every value of the set
//!   stays equally likely. Where a release shows changes, the class may show
//!   values that have none in common with those of before: each set is renamed for
//!   itself, and every value of it stays equally likely while it is shown.
//!
//! Where a release shows sensitive values in rows, the values of a row are
//! linked to each other: whatever tells people apart tells rows apart. There
//! cells are made from the groups and classes of all attributes, and no
//! attribute is invariant. Where all of them stand in buckets, the classes of
//! each attribute stand alone.
//!
//! Who is who: groups of rows that look alike must stay as large as each
//! release claims, for an adversary who knows the groups of all of them. Where
//! the rows of another release are known to be whose, what it shows of
//! sensitive values tells rows of a group apart as well.
//!
//! Attributes are the same where they have one name, and values where they
//! have one text. So all releases must show the same attributes: one that has
//! another name elsewhere could not be told from another attribute.
//!
//! The check is sound and not complete: what it refuses may be safe.

mod cells;
mod joined;
mod shapes;

use self::cells::{Cells, Classes, Counts, UNPROTECTED, sizes, summed};
use self::joined::follows;
use self::shapes::{against_invariant, against_nested};
use super::composition::{numbered_subjects, numbered_values};
use super::verdict::{Check, Section};
use crate::release::candidates::{AttributeCandidates, Candidates, Identity, NO_CLASS, ShownTerms};

/// A shape of a series that is safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// No subject is in two releases.
    Increments,
    /// Every history is a class of its own.
    Nested,
    /// Subjects keep the set of values that is shown of them, or, where changes are
    /// shown, get one that has none of these values.
    Invariant,
}

/// What the check says of one attribute, or of who is who.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// It has this shape.
    Holds(Shape),
    /// It has none: subjects who stand against each shape, in all releases.
    Fails {
        /// Subjects in cells that are too small, not diverse, or not known.
        nested: u64,
        /// Subjects whose set of values changed or is uneven; `None` where the
        /// attribute cannot be invariant.
        invariant: Option<u64>,
    },
}

impl Judged {
    /// Whether it has a shape.
    pub fn holds(self) -> bool {
        matches!(self, Self::Holds(_))
    }
}

/// What the check says of a release beside others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// Subjects of the release that another one has too.
    pub shared: u64,
    /// Releases that share subjects with it, or with one that does, and of
    /// which too little is known for the check, itself among them.
    pub unknown: usize,
    /// Who is who: whether the groups of rows stay as large as each claims.
    pub identity: Judged,
    /// Each sensitive attribute that one of them shows.
    pub attributes: Vec<(String, Judged)>,
}

impl Series {
    /// Whether the release adds nothing to what each one tells by itself.
    pub fn is_safe(&self) -> bool {
        let judged = self.attributes.iter().map(|(_, judged)| judged);
        self.unknown == 0 && judged.chain([&self.identity]).all(|judged| judged.holds())
    }
}

/// Checks a release beside the others that ever were public, oldest first.
///
/// Releases that follow from earlier ones tell nothing, and have to keep what they
/// claim among themselves alone: somebody may have these, and not what they follow
/// from.
///
/// Time and memory are linear in subjects × releases × attributes, but for
/// the square of the number of releases for each cell.
pub fn series(release: &Candidates, others: &[&Candidates]) -> Series {
    let (is_told, are_told) = told_before(release, others);
    let beside = others.iter().zip(are_told);
    let beside = beside.filter(|&(_, other_is_told)| other_is_told == is_told);
    let beside: Vec<&Candidates> = beside.map(|(other, _)| *other).collect();
    let mut found = by_claims(release, &beside);
    if is_told {
        // Everybody is in what it follows from.
        found.shared = release.subjects.len() as u64;
        let all = found.attributes.iter_mut().map(|(_, judged)| judged);
        for judged in all.chain([&mut found.identity]).filter(|one| one.holds()) {
            *judged = Judged::Holds(Shape::Nested);
        }
    }
    found
}

/// Whether each release follows from those before it: the release, and the others,
/// oldest first.
fn told_before(release: &Candidates, others: &[&Candidates]) -> (bool, Vec<bool>) {
    let all: Vec<&Candidates> = others.iter().copied().chain([release]).collect();
    let mut is_told = vec![false; all.len()];
    if all.iter().any(|one| one.joins_groups) {
        let (of_release, subjects) = numbered_subjects(&all);
        let mut earlier: Vec<Shown<'_>> = Vec::new();
        for (at, (candidates, subjects_of)) in all.iter().zip(&of_release).enumerate() {
            let one = Shown {
                candidates,
                subjects: subjects_of,
            };
            is_told[at] = one.candidates.joins_groups && follows(&one, &earlier, subjects);
            if !is_told[at] {
                earlier.push(one);
            }
        }
    }
    (is_told.pop().unwrap_or(false), is_told)
}

/// Checks a release beside others by what each of them claims.
fn by_claims(release: &Candidates, others: &[&Candidates]) -> Series {
    let all: Vec<&Candidates> = std::iter::once(release)
        .chain(others.iter().copied())
        .collect();
    let (of_release, subjects) = numbered_subjects(&all);
    let (shared, is_met) = met(&of_release, subjects);
    let mut met = Vec::new();
    for (at, candidates) in all.iter().enumerate().filter(|&(at, _)| is_met[at]) {
        met.push(Shown {
            candidates,
            subjects: &of_release[at],
        });
    }
    let alone = Judged::Holds(Shape::Increments);
    let mut names: Vec<&str> = Vec::new();
    for attribute in met.iter().flat_map(|shown| &shown.candidates.attributes) {
        if !names.contains(&attribute.name.as_str()) {
            names.push(&attribute.name);
        }
    }
    let all_of = |judged: &dyn Fn(&str) -> Judged| {
        let judged = names.iter().map(|&name| (name.to_owned(), judged(name)));
        judged.collect()
    };
    if met.len() == 1 {
        return Series {
            shared,
            unknown: 0,
            identity: alone,
            attributes: all_of(&|_| alone),
        };
    }
    let unknown = met.iter().filter(|shown| !shown.is_known()).count();
    if unknown > 0 {
        let fails = Judged::Fails {
            nested: shared,
            invariant: None,
        };
        return Series {
            shared,
            unknown,
            identity: fails,
            attributes: all_of(&|_| fails),
        };
    }
    let check = Beside { met, subjects };
    Series {
        shared,
        unknown,
        identity: check.identity(),
        attributes: all_of(&|name| check.attribute(name)),
    }
}

/// `series_safe`: a release of a series adds nothing to what the public ones tell.
pub fn series_safe(release: &Candidates, public: &[Candidates]) -> Check {
    let public: Vec<&Candidates> = public.iter().collect();
    let found = series(release, &public);
    let all = found.attributes.iter().map(|(_, judged)| judged);
    let fails = all.chain([&found.identity]).map(|judged| match judged {
        Judged::Holds(_) => 0,
        Judged::Fails { nested, invariant } => invariant.unwrap_or(*nested).min(*nested),
    });
    let fails = fails.max().unwrap_or(0);
    let check = Check::new(Section::Structure, "series_safe");
    check
        .claiming(0.0)
        .attaining(Some(fails as f64), None)
        .holding(found.is_safe())
        .with_figure("shared", found.shared as f64)
}

/// How many subjects of the first release another one has; which releases
/// share subjects with it, or with one that does.
fn met(of_release: &[Vec<u32>], subjects: usize) -> (u64, Vec<bool>) {
    // The number of a release stands for all that it shares subjects with.
    let mut root: Vec<usize> = (0..of_release.len()).collect();
    fn find(root: &mut [usize], mut at: usize) -> usize {
        while root[at] != at {
            root[at] = root[root[at]];
            at = root[at];
        }
        at
    }
    let mut first_seen = vec![usize::MAX; subjects];
    let mut is_shared = vec![false; of_release[0].len()];
    for (at, ids) in of_release.iter().enumerate() {
        for &id in ids {
            let first = &mut first_seen[id as usize];
            if *first == usize::MAX {
                *first = at;
            } else if *first != at {
                // The first release's subjects have the first numbers.
                if let Some(shared) = is_shared.get_mut(id as usize) {
                    *shared = true;
                }
                let (one, other) = (find(&mut root, *first), find(&mut root, at));
                root[one.max(other)] = one.min(other);
            }
        }
    }
    let shared = is_shared.iter().filter(|&&shared| shared).count() as u64;
    let is_met = (0..of_release.len()).map(|at| find(&mut root, at) == 0);
    (shared, is_met.collect())
}

/// A release as the check sees it.
struct Shown<'a> {
    candidates: &'a Candidates,
    /// Number of each of its subjects.
    subjects: &'a [u32],
}

impl Shown<'_> {
    /// Whether enough is known of it: every sensitive attribute, who is who,
    /// and one row a subject.
    fn is_known(&self) -> bool {
        let mut subjects = self.subjects.to_vec();
        subjects.sort_unstable();
        let is_once = subjects.windows(2).all(|pair| pair[0] != pair[1]);
        let rows = self.subjects.len();
        let attributes = &self.candidates.attributes;
        is_once
            && self.candidates.is_complete
            && attributes.iter().all(|one| one.class_of.len() == rows)
            && match &self.candidates.identity {
                Identity::Unknown => false,
                Identity::Exact => true,
                Identity::Groups { group_of, .. } => group_of.len() == rows,
            }
    }

    fn attribute(&self, name: &str) -> Option<&AttributeCandidates> {
        let mut all = self.candidates.attributes.iter();
        all.find(|attribute| attribute.name == name)
    }

    fn is_grouped(&self) -> bool {
        matches!(self.candidates.identity, Identity::Groups { .. })
    }

    /// The largest number that the terms of a cell's subjects have here; empty
    /// where nobody has any.
    fn strictest(&self, cells: &Cells, of: impl Fn(&ShownTerms) -> u32) -> Vec<u32> {
        if self.candidates.terms.is_empty() {
            return Vec::new();
        }
        let mut strictest = vec![0; cells.len()];
        for (at, &id) in self.subjects.iter().enumerate() {
            let cell = &mut strictest[cells.of_subject[id as usize] as usize];
            *cell = self.candidates.terms(at).map_or(0, &of).max(*cell);
        }
        strictest
    }

    /// Numbers of this release's subjects, spread over all of them.
    fn spread(&self, of_row: &[u32], subjects: usize) -> Vec<u32> {
        let mut spread = vec![NO_CLASS; subjects];
        for (&id, &class) in self.subjects.iter().zip(of_row) {
            spread[id as usize] = class;
        }
        spread
    }
}

struct Beside<'a> {
    met: Vec<Shown<'a>>,
    subjects: usize,
}

impl Beside<'_> {
    /// Whether sensitive values stand in the rows of a release.
    fn stand_in_rows(&self) -> bool {
        let mut all = self
            .met
            .iter()
            .flat_map(|shown| &shown.candidates.attributes);
        all.any(|attribute| attribute.stands_in_rows)
    }

    /// Cells by the groups of each release, and, where asked for, by what each
    /// shows of sensitive values.
    fn parted(&self, by_classes: bool) -> Cells {
        let mut cells = Cells::one(self.subjects);
        for shown in &self.met {
            let candidates = shown.candidates;
            if let Identity::Groups { group_of, .. } = &candidates.identity {
                cells = cells.parted(&shown.spread(group_of, self.subjects));
            }
            for attribute in candidates.attributes.iter().filter(|_| by_classes) {
                cells = cells.parted(&shown.spread(&attribute.class_of, self.subjects));
            }
            let present = vec![0; shown.subjects.len()];
            cells = cells.parted(&shown.spread(&present, self.subjects));
        }
        cells
    }

    /// Whether the subjects of each cell are as many as look alike by the
    /// claim of every release that has them.
    fn identity(&self) -> Judged {
        let grouped = self.met.iter().filter(|shown| shown.is_grouped()).count();
        let is_mixed = grouped > 0 && grouped < self.met.len();
        let cells = self.parted(is_mixed);
        let mut is_small = vec![false; cells.len()];
        for shown in &self.met {
            let Identity::Groups { k, group_of } = &shown.candidates.identity else {
                continue;
            };
            let group_of = shown.spread(group_of, self.subjects);
            let sizes = sizes(&group_of);
            let own_k = shown.strictest(&cells, |terms| terms.k);
            for (cell, &member) in cells.member.iter().enumerate() {
                let group = group_of[member];
                if group == NO_CLASS || sizes[group as usize] == cells.sizes[cell] {
                    continue;
                }
                let k = own_k.get(cell).copied().unwrap_or(0).max(*k);
                let too_few = cells.sizes[cell] < u64::from(k);
                is_small[cell] |= too_few || shown.candidates.has_unknown_terms();
            }
        }
        let small = cells.sizes.iter().zip(&is_small);
        match small
            .filter(|(_, small)| **small)
            .map(|(size, _)| size)
            .sum()
        {
            0 => Judged::Holds(Shape::Nested),
            nested => Judged::Fails {
                nested,
                invariant: None,
            },
        }
    }

    fn attribute(&self, name: &str) -> Judged {
        let of_releases = self.classes(name);
        let transforms = self.met.iter().map(|one| one.candidates.transform_of(name));
        let transforms: Vec<_> = transforms.collect();
        let is_changed_alike = transforms.windows(2).all(|pair| pair[0] == pair[1]);
        if of_releases.len() < self.met.len() || !is_changed_alike {
            // Another release may tell whose value it is, or call it otherwise:
            // values that were changed by other rules have no names in common.
            return Judged::Fails {
                nested: self.subjects as u64,
                invariant: None,
            };
        }
        let stand_in_rows = self.stand_in_rows();
        let cells = if stand_in_rows {
            self.parted(true)
        } else {
            let all = of_releases.iter();
            all.fold(Cells::one(self.subjects), |cells, one| {
                cells.parted(&one.class_of)
            })
        };
        let nested = against_nested(&of_releases, (&cells, &self.own_l(name, &cells)));
        if nested == 0 {
            return Judged::Holds(Shape::Nested);
        }
        let invariant = (!stand_in_rows).then(|| {
            // Values that have other names would look like another set.
            let mut all = self.met.iter();
            let show_changes = all.any(|shown| shown.candidates.shows_changes);
            against_invariant(&of_releases, self.subjects, show_changes)
        });
        match invariant {
            Some(0) => Judged::Holds(Shape::Invariant),
            invariant => Judged::Fails { nested, invariant },
        }
    }

    /// The largest l of the attribute that a release promises to somebody of each
    /// cell by their own terms.
    fn own_l(&self, name: &str, cells: &Cells) -> Vec<u64> {
        let mut strictest = vec![1; cells.len()];
        for shown in &self.met {
            let mut all = shown.candidates.attributes.iter();
            let Some(at) = all.position(|attribute| attribute.name == name) else {
                continue;
            };
            let own = shown.strictest(cells, |terms| terms.l.get(at).copied().unwrap_or(1));
            for (strictest, own) in strictest.iter_mut().zip(own) {
                *strictest = u64::from(own).max(*strictest);
            }
        }
        strictest
    }

    /// The attribute in each release that shows it.
    fn classes(&self, name: &str) -> Vec<Classes<'_>> {
        let shown = self.met.iter();
        let shown = shown.filter_map(|shown| Some((shown, shown.attribute(name)?)));
        let shown: Vec<(&Shown<'_>, &AttributeCandidates)> = shown.collect();
        let values = numbered_values(shown.iter().map(|&(_, shows)| shows));
        let mut found = Vec::new();
        for ((shown, shows), values) in shown.into_iter().zip(values) {
            let counts = shows.classes.iter().map(|class| {
                let counts = class
                    .iter()
                    .map(|&(value, count)| (values[value as usize], u64::from(count)));
                summed(counts.collect())
            });
            let counts: Vec<Counts> = counts.collect();
            let of_row = shows.class_of.iter().map(|&class| class.min(UNPROTECTED));
            let of_row: Vec<u32> = of_row.collect();
            let class_of = shown.spread(&of_row, self.subjects);
            let mut sizes = sizes(&class_of);
            sizes.resize(counts.len().max(sizes.len()), 0);
            found.push(Classes {
                shows,
                class_of,
                sizes,
                counts,
                has_unknown_terms: shown.candidates.has_unknown_terms(),
            });
        }
        found
    }
}

#[cfg(test)]
mod tests;
