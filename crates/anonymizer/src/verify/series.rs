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
//!   stays equally likely.
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

use rustc_hash::FxHashMap;

use super::composition::numbered_subjects;
use crate::release::candidates::{AttributeCandidates, Candidates, Identity, NO_CLASS};

/// Stands for a subject who is in a release that shows their value to everyone,
/// or has none: who flags a value now may have published it before.
const UNPROTECTED: u32 = NO_CLASS - 1;

/// A shape of a series that is safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// No subject is in two releases.
    Increments,
    /// Every history is a class of its own.
    Nested,
    /// Subjects keep the set of values that is shown of them.
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

/// Checks a release beside the others that ever were public, in any order.
///
/// Time and memory are linear in subjects × releases × attributes, but for
/// the square of the number of releases for each cell.
pub fn series(release: &Candidates, others: &[&Candidates]) -> Series {
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
    let check = Check { met, subjects };
    Series {
        shared,
        unknown,
        identity: check.identity(),
        attributes: all_of(&|name| check.attribute(name)),
    }
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

    /// Numbers of this release's subjects, spread over all of them.
    fn spread(&self, of_row: &[u32], subjects: usize) -> Vec<u32> {
        let mut spread = vec![NO_CLASS; subjects];
        for (&id, &class) in self.subjects.iter().zip(of_row) {
            spread[id as usize] = class;
        }
        spread
    }
}

/// Subjects with the same history.
struct Cells {
    /// Cell of each subject.
    of_subject: Vec<u32>,
    /// Subjects of each cell.
    sizes: Vec<u64>,
    /// A subject of each cell.
    member: Vec<usize>,
}

impl Cells {
    fn one(subjects: usize) -> Self {
        let of_subject = vec![0; subjects];
        Self::numbered(of_subject)
    }

    fn numbered(of_subject: Vec<u32>) -> Self {
        let (mut sizes, mut member) = (Vec::new(), Vec::new());
        for (subject, &cell) in of_subject.iter().enumerate() {
            if cell as usize == sizes.len() {
                sizes.push(0);
                member.push(subject);
            }
            sizes[cell as usize] += 1;
        }
        Self {
            of_subject,
            sizes,
            member,
        }
    }

    /// Parts cells by another number of each subject.
    fn parted(self, by: &[u32]) -> Self {
        let mut numbers: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let of_subject = self.of_subject.iter().zip(by).map(|(&cell, &by)| {
            let next = numbers.len() as u32;
            *numbers.entry((cell, by)).or_insert(next)
        });
        Self::numbered(of_subject.collect())
    }

    fn len(&self) -> usize {
        self.sizes.len()
    }
}

/// Values with their counts, ascending by value.
type Counts = Vec<(u32, u64)>;

/// One attribute in one release.
struct Classes<'a> {
    shows: &'a AttributeCandidates,
    /// Class of each subject of the series.
    class_of: Vec<u32>,
    /// Members of each class.
    sizes: Vec<u64>,
    /// What stands in each class, by the numbers of the series' values.
    counts: Vec<Counts>,
    has_own_terms: bool,
}

impl Classes<'_> {
    /// Whether a class has exactly the values of its members.
    fn is_whole(&self, class: usize) -> bool {
        let copies: u64 = self.counts[class].iter().map(|&(_, count)| count).sum();
        self.shows.is_whole && copies == self.sizes[class]
    }

    /// Class of a subject, where they have one.
    fn class(&self, subject: usize) -> Option<usize> {
        let class = self.class_of[subject];
        (class < UNPROTECTED).then_some(class as usize)
    }

    /// Whether the job's l is all that is claimed of a class.
    fn is_l_alone(&self) -> bool {
        self.shows.is_l_alone && !self.has_own_terms
    }
}

struct Check<'a> {
    met: Vec<Shown<'a>>,
    subjects: usize,
}

impl Check<'_> {
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
            for (cell, &member) in cells.member.iter().enumerate() {
                let group = group_of[member];
                if group == NO_CLASS || sizes[group as usize] == cells.sizes[cell] {
                    continue;
                }
                let too_few = cells.sizes[cell] < u64::from(*k);
                is_small[cell] |= too_few || shown.candidates.has_own_terms;
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
        if of_releases.len() < self.met.len() {
            // Another release may tell whose value it is, or call it otherwise.
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
        let nested = against_nested(&of_releases, &cells);
        if nested == 0 {
            return Judged::Holds(Shape::Nested);
        }
        let invariant = (!stand_in_rows).then(|| against_invariant(&of_releases, self.subjects));
        match invariant {
            Some(0) => Judged::Holds(Shape::Invariant),
            invariant => Judged::Fails { nested, invariant },
        }
    }

    /// The attribute in each release that shows it.
    fn classes(&self, name: &str) -> Vec<Classes<'_>> {
        let mut numbers: FxHashMap<&str, u32> = FxHashMap::default();
        let mut found = Vec::new();
        for shown in &self.met {
            let Some(shows) = shown.attribute(name) else {
                continue;
            };
            let values: Vec<u32> = shows
                .values
                .iter()
                .map(|value| {
                    let next = numbers.len() as u32;
                    *numbers.entry(value.as_str()).or_insert(next)
                })
                .collect();
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
                has_own_terms: shown.candidates.has_own_terms,
            });
        }
        found
    }
}

/// Subjects of each class.
fn sizes(class_of: &[u32]) -> Vec<u64> {
    let mut sizes = Vec::new();
    for &class in class_of.iter().filter(|&&class| class < UNPROTECTED) {
        if class as usize >= sizes.len() {
            sizes.resize(class as usize + 1, 0);
        }
        sizes[class as usize] += 1;
    }
    sizes
}

/// Each value once, ascending.
fn summed(mut counts: Counts) -> Counts {
    counts.sort_unstable();
    counts.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        if is_same {
            kept.1 += next.1;
        }
        is_same
    });
    counts
}

/// What is left of a class without another one; `None` where that one has
/// what it has not.
fn without(whole: &Counts, part: &Counts) -> Option<Counts> {
    let mut left = whole.clone();
    for &(value, count) in part {
        let at = left
            .binary_search_by_key(&value, |&(value, _)| value)
            .ok()?;
        left[at].1 = left[at].1.checked_sub(count)?;
    }
    left.retain(|&(_, count)| count > 0);
    Some(left)
}

/// Subjects in cells that do not fit the nested shape.
fn against_nested(of_releases: &[Classes<'_>], cells: &Cells) -> u64 {
    let nested = Nested::new(of_releases, cells);
    let mut fails: Vec<bool> = (0..cells.len())
        .map(|cell| !nested.is_sound(cell))
        .collect();
    nested.note_changed(&mut fails);
    let failing = cells.sizes.iter().zip(&fails);
    failing
        .filter(|(_, fails)| **fails)
        .map(|(size, _)| size)
        .sum()
}

struct Nested<'a> {
    of_releases: &'a [Classes<'a>],
    cells: &'a Cells,
    /// Cells of each class of each release.
    of_class: Vec<Vec<Vec<u32>>>,
    /// What stands in each cell, where it is known.
    contents: Vec<Option<Counts>>,
    /// The largest l that is claimed.
    l: u64,
}

impl<'a> Nested<'a> {
    fn new(of_releases: &'a [Classes<'a>], cells: &'a Cells) -> Self {
        let of_class = of_releases.iter().map(|one| {
            let mut of_class = vec![Vec::new(); one.sizes.len()];
            for (cell, &member) in (0..).zip(&cells.member) {
                if let Some(of_class) = of_class.get_mut(one.class_of[member] as usize) {
                    of_class.push(cell);
                }
            }
            of_class
        });
        let l = of_releases.iter().map(|one| u64::from(one.shows.l)).max();
        let mut nested = Self {
            of_releases,
            cells,
            of_class: of_class.collect(),
            contents: Vec::new(),
            l: l.unwrap_or(2),
        };
        nested.contents = (0..cells.len()).map(|cell| nested.content(cell)).collect();
        nested
    }

    /// The class of a cell in each release that shows its subjects, and whether
    /// it is the whole class.
    fn classes(&self, cell: usize) -> impl Iterator<Item = (usize, usize, bool)> + '_ {
        let (member, size) = (self.cells.member[cell], self.cells.sizes[cell]);
        let all = self.of_releases.iter().enumerate();
        all.filter_map(move |(at, one)| {
            let class = one.class(member)?;
            Some((at, class, one.sizes[class] == size))
        })
    }

    /// What stands in a cell: that of a class, or of a class without another.
    fn content(&self, cell: usize) -> Option<Counts> {
        let whole = self.classes(cell).find(|&(_, _, is_whole)| is_whole);
        if let Some((at, class, _)) = whole {
            return Some(self.of_releases[at].counts[class].clone());
        }
        let known = |(at, class)| {
            let one: &Classes<'_> = &self.of_releases[at];
            one.is_whole(class).then(|| &one.counts[class])
        };
        self.classes(cell).find_map(|(at, class, _)| {
            let rest = self.rest(cell, (at, class))?;
            without(known((at, class))?, known(rest)?)
        })
    }

    /// The class of a release that is everything else in this class of a cell.
    fn rest(&self, cell: usize, (at, class): (usize, usize)) -> Option<(usize, usize)> {
        let others = || {
            let all = self.of_class[at][class].iter().map(|&other| other as usize);
            all.filter(|&other| other != cell)
        };
        let wanted = self.of_releases[at].sizes[class] - self.cells.sizes[cell];
        let first = self.cells.member[others().next()?];
        let mut releases = self.of_releases.iter().enumerate();
        releases.find_map(|(other, one)| {
            let rest = one.class(first)?;
            let mut parts = others().map(|part| one.class(self.cells.member[part]));
            let is_rest = one.sizes[rest] == wanted && parts.all(|class| class == Some(rest));
            is_rest.then_some((other, rest))
        })
    }

    /// Whether a cell tells no more than its releases claim.
    fn is_sound(&self, cell: usize) -> bool {
        let member = self.cells.member[cell];
        let mut all = self.of_releases.iter();
        let is_unprotected = all.any(|one| one.class_of[member] == UNPROTECTED);
        if is_unprotected && self.classes(cell).next().is_some() {
            return false;
        }
        let Some(content) = &self.contents[cell] else {
            // Somebody of whom no release shows this attribute.
            return self.classes(cell).next().is_none();
        };
        if self.classes(cell).all(|(_, _, is_whole)| is_whole) {
            return true;
        }
        let size = self.cells.sizes[cell];
        let is_diverse = content.iter().all(|&(_, count)| count * self.l <= size);
        // Of part of a class what else is claimed of the class is not known.
        let mut parts = self.classes(cell).filter(|&(_, _, is_whole)| !is_whole);
        is_diverse && parts.all(|(at, _, _)| self.of_releases[at].is_l_alone())
    }

    /// Notes the cells of classes that do not have what their cells have: a
    /// value changed, or a class has more values than members.
    fn note_changed(&self, fails: &mut [bool]) {
        for (one, of_class) in self.of_releases.iter().zip(&self.of_class) {
            for (class, cells) in of_class.iter().enumerate() {
                let contents = cells
                    .iter()
                    .map(|&cell| self.contents[cell as usize].as_ref());
                let Some(contents) = contents.collect::<Option<Vec<_>>>() else {
                    continue;
                };
                let told = summed(contents.into_iter().flatten().copied().collect());
                let is_same = match cells.as_slice() {
                    [] => true,
                    // A whole class may have values of people who left.
                    [_] => told == one.counts[class],
                    _ => one.is_whole(class) && told == one.counts[class],
                };
                if !is_same {
                    cells.iter().for_each(|&cell| fails[cell as usize] = true);
                }
            }
        }
    }
}

/// Subjects whose set of values changed, or is not shown equally often.
fn against_invariant(of_releases: &[Classes<'_>], subjects: usize) -> u64 {
    let mut numbers: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
    let mut set_of = vec![NO_CLASS; subjects];
    let mut fails = vec![false; subjects];
    for one in of_releases {
        let of_class: Vec<(u32, bool)> = (0..one.counts.len())
            .map(|class| {
                let counts = &one.counts[class];
                let is_even =
                    one.is_whole(class) && counts.windows(2).all(|pair| pair[0].1 == pair[1].1);
                let set = counts.iter().map(|&(value, _)| value).collect();
                let next = numbers.len() as u32;
                (*numbers.entry(set).or_insert(next), is_even)
            })
            .collect();
        for (subject, &class) in one.class_of.iter().enumerate() {
            let (set, is_even) = match class {
                NO_CLASS => continue,
                UNPROTECTED => (UNPROTECTED, true),
                class => of_class[class as usize],
            };
            let before = std::mem::replace(&mut set_of[subject], set);
            let is_kept = before == NO_CLASS || before == set;
            fails[subject] |= !is_even || !is_kept;
        }
    }
    fails.iter().filter(|&&fails| fails).count() as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::composition::made::{grouped, release};
    use super::*;

    type Classes<'a> = &'a [(&'a [u32], &'a str)];

    fn of_two(one: Classes<'_>, other: Classes<'_>) -> Series {
        series(&release(other), &[&release(one)])
    }

    fn of_groups(k: u32, one: Classes<'_>, other: Classes<'_>) -> Series {
        series(&grouped(k, other), &[&grouped(k, one)])
    }

    fn shape(series: &Series) -> Option<Shape> {
        match series.attributes[0].1 {
            Judged::Holds(shape) => Some(shape),
            Judged::Fails { .. } => None,
        }
    }

    #[test]
    fn releases_of_other_people_and_the_same_release_again_are_safe() {
        let one: Classes<'_> = &[(&[0, 1], "ab"), (&[2, 3], "cd")];
        let found = of_two(one, &[(&[4, 5], "ab")]);
        assert_eq!((found.shared, shape(&found)), (0, Some(Shape::Increments)));
        assert!(found.is_safe());
        for found in [of_two(one, one), of_groups(2, one, one)] {
            assert_eq!((found.shared, shape(&found)), (4, Some(Shape::Nested)));
            assert!(found.is_safe());
        }
    }

    #[test]
    fn two_candidates_for_everyone_are_not_enough() {
        // In all worlds that fit both, 2 has a and 5 has d.
        let one: Classes<'_> = &[(&[0, 2, 3], "abc"), (&[1, 4, 5], "bcd")];
        let other: Classes<'_> = &[(&[1, 2, 4], "abc"), (&[0, 3, 5], "bcd")];
        assert!(!of_two(one, other).is_safe());
        assert!(!of_groups(2, one, other).is_safe());
        // 0 and 5 are certain although nobody's intersection has one value.
        let one: Classes<'_> = &[(&[0, 1, 4, 7], "caca"), (&[2, 3, 5, 6], "acba")];
        let other: Classes<'_> = &[(&[1, 4, 5, 7], "acba"), (&[0, 2, 3, 6], "caca")];
        assert!(!of_two(one, other).is_safe());
        assert!(!of_groups(2, one, other).is_safe());
    }

    #[test]
    fn one_person_who_leaves_a_group_that_grows_is_refused() {
        let one: Classes<'_> = &[(&[0, 1], "ab"), (&[2, 3], "cd")];
        let found = of_groups(2, one, &[(&[1, 2, 3], "bcd")]);
        assert_eq!(
            found.attributes[0].1,
            Judged::Fails {
                nested: 2,
                invariant: None
            }
        );
        assert!(!found.identity.holds());
    }

    #[test]
    fn companions_leave_with_whoever_leaves_a_group() {
        let one: Classes<'_> = &[(&[0, 1, 2, 3], "abcd")];
        let stay: Classes<'_> = &[(&[2, 3], "cd")];
        let found = of_groups(2, one, stay);
        assert_eq!(shape(&found), Some(Shape::Nested));
        assert!(found.is_safe());
        // The two who left may not have the same value, nor be fewer than k.
        assert!(!of_groups(2, &[(&[0, 1, 2, 3], "aacd")], stay).is_safe());
        assert!(!of_groups(3, one, stay).is_safe());
        // Who stayed has another value than before.
        assert!(!of_groups(2, one, &[(&[2, 3], "ce")]).is_safe());
    }

    #[test]
    fn part_of_a_class_keeps_only_what_can_be_seen_of_it() {
        let one = grouped(2, &[(&[0, 1, 2, 3], "abcd")]);
        let other = grouped(2, &[(&[2, 3], "cd")]);
        let mut close = one.clone();
        close.attributes[0].is_l_alone = false;
        assert!(!series(&other, &[&close]).is_safe());
        let mut own = one.clone();
        own.has_own_terms = true;
        assert!(!series(&other, &[&own]).is_safe());
        // A whole class keeps what it kept.
        assert!(series(&own, &[&own]).is_safe());
        assert!(series(&close, &[&close]).is_safe());
    }

    #[test]
    fn groups_that_cross_tell_people_apart() {
        let (one, other) = (
            grouped(4, &[(&[0, 1, 2, 3], "abcd"), (&[4, 5, 6, 7], "abcd")]),
            grouped(4, &[(&[0, 1, 4, 5], "abcd"), (&[2, 3, 6, 7], "abcd")]),
        );
        let found = series(&one, &[&other]);
        let fails = Judged::Fails {
            nested: 8,
            invariant: None,
        };
        assert_eq!(found.identity, fails);
    }

    #[test]
    fn buckets_beside_groups_tell_people_apart() {
        let buckets = release(&[(&[0, 1], "ab"), (&[2, 3], "cd")]);
        let crossing = grouped(2, &[(&[0, 2], "ac"), (&[1, 3], "bd")]);
        assert!(!series(&buckets, &[&crossing]).is_safe());
        // Inside a group the buckets tell which rows are whose.
        let around = grouped(4, &[(&[0, 1, 2, 3], "abcd")]);
        let found = series(&buckets, &[&around]);
        assert!(!found.identity.holds() && !found.is_safe());
    }

    #[test]
    fn sets_of_values_that_are_kept_are_safe() {
        let one: Classes<'_> = &[(&[0, 1], "ab"), (&[2, 3], "ab")];
        let other: Classes<'_> = &[(&[0, 3], "ab"), (&[2, 4], "ab")];
        let found = of_two(one, other);
        assert_eq!(shape(&found), Some(Shape::Invariant));
        assert!(found.is_safe());
        // In rows values are linked to those of other attributes.
        assert!(!of_groups(2, one, other).is_safe());
        // Buckets are invariant, but the groups of rows tell people apart.
        let in_buckets = |classes| {
            let mut release = grouped(2, classes);
            release.attributes[0].stands_in_rows = false;
            release
        };
        let found = series(&in_buckets(other), &[&in_buckets(one)]);
        assert_eq!(shape(&found), Some(Shape::Invariant));
        assert!(!found.identity.holds());
        // a twice, b once.
        let uneven: Classes<'_> = &[(&[0, 3], "ab"), (&[1, 2, 4], "aab")];
        assert!(!of_two(one, uneven).is_safe());
    }

    #[test]
    fn a_subject_who_comes_back_has_the_same_set() {
        let one = release(&[(&[0, 1], "ab")]);
        let absent = release(&[(&[1, 2], "ab")]);
        let again = |classes: Classes<'_>| series(&release(classes), &[&one, &absent]);
        assert!(again(&[(&[0, 2], "ab")]).is_safe());
        assert!(!again(&[(&[0, 3], "ac")]).is_safe());
        // Another spelling of the same values would look like this.
        assert!(!again(&[(&[0, 3], "cd")]).is_safe());
    }

    #[test]
    fn a_value_that_was_shown_tells_of_those_who_share_a_bucket_later() {
        let mut shown = release(&[(&[0, 1], "ab"), (&[2, 3], "ab")]);
        shown.attributes[0].class_of[0] = NO_CLASS;
        shown.attributes[0].class_of[1] = NO_CLASS;
        assert!(series(&shown, &[&shown]).is_safe());
        let later = release(&[(&[0, 4], "ab"), (&[2, 3], "ab")]);
        let found = series(&later, &[&shown]);
        assert_eq!(
            found.attributes[0].1,
            Judged::Fails {
                nested: 2,
                invariant: Some(1)
            }
        );
    }

    #[test]
    fn what_is_not_known_is_not_safe() {
        let one = release(&[(&[0, 1], "ab"), (&[2, 3], "cd")]);
        let incomplete = Candidates {
            is_complete: false,
            ..one.clone()
        };
        let sliced = Candidates {
            identity: Identity::Unknown,
            ..one.clone()
        };
        let twice = release(&[(&[0, 1], "ab"), (&[0, 3], "cd")]);
        let otherwise = Candidates {
            attributes: Vec::new(),
            ..one.clone()
        };
        for other in [incomplete, sliced, twice, otherwise] {
            assert!(!series(&one, &[&other]).is_safe());
            assert!(!series(&other, &[&one]).is_safe());
        }
        // Of people whom it does not share nothing has to be known.
        let far = Candidates {
            identity: Identity::Unknown,
            ..release(&[(&[8, 9], "ab")])
        };
        assert!(series(&one, &[&far]).is_safe());
    }

    #[test]
    fn a_release_between_two_others_joins_them() {
        let (one, other) = (release(&[(&[0, 1], "ab")]), release(&[(&[1, 2], "bc")]));
        let last = release(&[(&[2, 3], "cd")]);
        assert!(series(&last, &[&one]).is_safe());
        assert!(!series(&last, &[&one, &other]).is_safe());
    }

    const VALUES: u32 = 4;

    /// How people are in a release: their class, whether its rows are
    /// generalized, and whose value it shows.
    type Way = (Vec<Option<u8>>, bool, Vec<bool>);

    /// Such a release, without classes in which a value is more frequent than 1
    /// in 2.
    fn made(values: &[u32], (class_of, is_grouped, is_shown): &Way) -> Candidates {
        let mut classes: Vec<(Vec<u32>, String)> = Vec::new();
        let is_shown = |person: u32| !is_grouped && is_shown[person as usize];
        for class in 0..4 {
            let people = (0_u32..).zip(class_of);
            let members = people.filter(|&(person, own)| *own == Some(class) && !is_shown(person));
            let members: Vec<u32> = members.map(|(person, _)| person).collect();
            let of = |value| {
                members
                    .iter()
                    .filter(|&&one| values[one as usize] == value)
                    .count()
            };
            if !members.is_empty() && (0..VALUES).all(|value| of(value) * 2 <= members.len()) {
                let letters = members
                    .iter()
                    .map(|&one| (b'a' + values[one as usize] as u8) as char);
                classes.push((members.clone(), letters.collect()));
            }
        }
        let listed: Vec<(&[u32], &str)> = classes
            .iter()
            .map(|(members, letters)| (members.as_slice(), letters.as_str()))
            .collect();
        if *is_grouped {
            return grouped(2, &listed);
        }
        let mut release = release(&listed);
        for person in (0..values.len() as u32).filter(|&person| is_shown(person)) {
            let name = format!("p{person:02}");
            let at = release.subjects.partition_point(|other| *other < name);
            release.subjects.insert(at, name);
            release.attributes[0].class_of.insert(at, NO_CLASS);
        }
        release
    }

    /// Whether a world, a value for each person, fits a release of the true one.
    fn fits(world: &[u32], release: &Candidates, values: &[u32]) -> bool {
        let shows = &release.attributes[0];
        let mut counts = vec![[0_u32; VALUES as usize]; shows.classes.len()];
        for (subject, &class) in release.subjects.iter().zip(&shows.class_of) {
            let person: usize = subject[1..].parse().expect("a number");
            match counts.get_mut(class as usize) {
                Some(counts) => counts[world[person] as usize] += 1,
                None if world[person] != values[person] => return false,
                None => {}
            }
        }
        let classes = shows.classes.iter().zip(counts);
        let mut same = classes.map(|(shown, counts)| {
            let shown: FxHashMap<u32, u32> = shown.iter().copied().collect();
            (0..VALUES).all(|value| {
                counts[value as usize] == shown.get(&value).copied().unwrap_or_default()
            })
        });
        same.all(|same| same)
    }

    /// The largest share of the worlds in which a person whose value no release
    /// shows has the same value.
    fn largest_share(values: &[u32], releases: &[&Candidates]) -> (u64, u64) {
        let mut counts = vec![[0_u64; VALUES as usize]; values.len()];
        let mut worlds = 0;
        let mut world = vec![0; values.len()];
        loop {
            if releases.iter().all(|release| fits(&world, release, values)) {
                worlds += 1;
                for (counts, &value) in counts.iter_mut().zip(&world) {
                    counts[value as usize] += 1;
                }
            }
            let Some(at) = world.iter().position(|&value| value + 1 < VALUES) else {
                break;
            };
            world[..at].fill(0);
            world[at] += 1;
        }
        for release in releases {
            let people = release.subjects.iter().zip(&release.attributes[0].class_of);
            for (subject, _) in people.filter(|(_, class)| **class == NO_CLASS) {
                let person: usize = subject[1..].parse().expect("a number");
                counts[person] = [0; VALUES as usize];
            }
        }
        let most = counts.iter().flatten().max().copied();
        (most.unwrap_or_default(), worlds)
    }

    fn class_of(people: usize) -> impl Strategy<Value = Vec<Option<u8>>> {
        prop::collection::vec(prop::option::weighted(0.9, 0..3_u8), people)
    }

    /// A second way to put the same people into classes: by itself, or the
    /// first one with some who leave, change places, or whose classes merge.
    fn next(first: Vec<Option<u8>>) -> impl Strategy<Value = (Vec<Option<u8>>, Vec<Option<u8>>)> {
        let people = first.len();
        let merged = first.iter().map(|class| class.map(|class| class / 2));
        let merged: Vec<Option<u8>> = merged.collect();
        let (left, swapped) = (first.clone(), first.clone());
        let second = prop_oneof![
            class_of(people),
            Just(first.clone()),
            Just(merged),
            prop::collection::vec(any::<bool>(), people).prop_map(move |leaves| {
                let all = left.iter().zip(leaves);
                all.map(|(class, leaves)| class.filter(|_| !leaves))
                    .collect()
            }),
            (0..people, 0..people).prop_map(move |(one, other)| {
                let mut swapped = swapped.clone();
                swapped.swap(one, other);
                swapped
            }),
        ];
        (Just(first), second)
    }

    proptest! {
        /// Where the check passes no value is more likely than each release
        /// allows, over all worlds that fit all of them.
        #[test]
        fn a_safe_series_tells_no_more_than_its_releases(
            values in prop::collection::vec(0..VALUES, 6),
            (first, second) in class_of(6).prop_flat_map(next),
            third in prop::option::of(class_of(6)),
            are_grouped in any::<[bool; 3]>(),
            are_shown in prop::collection::vec(
                prop::collection::vec(prop::bool::weighted(0.05), 6), 3),
        ) {
            let ways = [Some(first), Some(second), third].into_iter();
            let ways = ways.zip(are_grouped).zip(are_shown);
            let releases: Vec<Candidates> = ways
                .filter_map(|((way, is_grouped), is_shown)| {
                    Some(made(&values, &(way?, is_grouped, is_shown)))
                })
                .collect();
            let others: Vec<&Candidates> = releases[1..].iter().collect();
            let found = series(&releases[0], &others);
            if found.is_safe() && found.shared > 0 {
                let all: Vec<&Candidates> = releases.iter().collect();
                let (most, worlds) = largest_share(&values, &all);
                prop_assert!(most * 2 <= worlds, "{most} of {worlds}: {found:?}");
            }
        }
    }
}
