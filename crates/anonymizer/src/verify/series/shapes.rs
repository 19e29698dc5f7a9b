//! The subjects who stand against a shape.

use rustc_hash::FxHashMap;

use super::cells::{Cells, Classes, Counts, UNPROTECTED, summed, without};
use crate::privacy::are_apart;
use crate::release::candidates::NO_CLASS;

/// Subjects in cells that do not fit the nested shape.
pub fn against_nested(of_releases: &[Classes<'_>], (cells, own_l): (&Cells, &[u64])) -> u64 {
    let nested = Nested::new(of_releases, (cells, own_l));
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
    /// The largest l that is claimed of everyone.
    l: u64,
    /// The largest l that is claimed of somebody of each cell.
    own_l: &'a [u64],
}

impl<'a> Nested<'a> {
    fn new(of_releases: &'a [Classes<'a>], (cells, own_l): (&'a Cells, &'a [u64])) -> Self {
        let of_class = of_releases.iter().map(|one| {
            let mut of_class = vec![Vec::new(); one.sizes.len()];
            for (cell, &member) in (0..).zip(&cells.member) {
                if let Some(class) = one.class(member) {
                    of_class[class].push(cell);
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
            own_l,
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
        let l = self.l.max(self.own_l[cell]);
        let is_diverse = content.iter().all(|&(_, count)| count * l <= size);
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

/// Subjects whose set of values changed, or is not shown equally often. Where
/// releases show changes, a set may change to one that has none of its values.
pub fn against_invariant(of_releases: &[Classes<'_>], subjects: usize, show_changes: bool) -> u64 {
    let mut numbers: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
    let (mut sets, mut of_class) = (Vec::new(), Vec::new());
    for one in of_releases {
        let classes = (0..one.counts.len()).map(|class| {
            let counts = &one.counts[class];
            let set: Vec<u32> = counts.iter().map(|&(value, _)| value).collect();
            let next = sets.len() as u32;
            let number = *numbers.entry(set).or_insert_with_key(|set| {
                sets.push(set.clone());
                next
            });
            (number, one.is_even(class))
        });
        of_class.push(classes.collect::<Vec<(u32, bool)>>());
    }
    let mut shown_of = vec![NO_CLASS; subjects];
    // Other sets of a subject than the first.
    let mut others: FxHashMap<usize, Vec<u32>> = FxHashMap::default();
    let mut fails = vec![false; subjects];
    for (one, of_class) in of_releases.iter().zip(&of_class) {
        for (subject, &class) in one.class_of.iter().enumerate() {
            let (set, is_even) = match class {
                NO_CLASS => continue,
                UNPROTECTED => (UNPROTECTED, true),
                class => of_class[class as usize],
            };
            fails[subject] |= !is_even;
            let first = shown_of[subject];
            if first == NO_CLASS {
                shown_of[subject] = set;
            } else if first != set {
                let others = others.entry(subject).or_default();
                let mut all = others.iter().copied().chain([first]);
                fails[subject] |=
                    !show_changes || !all.all(|other| are_sets_apart(&sets, (other, set)));
                others.push(set);
            }
        }
    }
    fails.iter().filter(|&&fails| fails).count() as u64
}

/// Whether two sets, by their numbers, have no value in common, or are one.
fn are_sets_apart(sets: &[Vec<u32>], (one, other): (u32, u32)) -> bool {
    let set = |number: u32| sets.get(number as usize);
    match (set(one), set(other)) {
        (Some(one), Some(other)) => are_apart(one, other),
        // Of somebody whose value everyone is shown, no set is another one.
        _ => one == other,
    }
}
