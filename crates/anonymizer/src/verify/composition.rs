//! What several releases of the same people tell together.
//!
//! Each release shows a set of values that a person's may be: those of their
//! bucket, or of their look-alikes. Anyone who holds several releases intersects
//! the sets; and where a class has exactly the values of its members, a value
//! that all its copies' owners are known for is nobody else's, and a value that
//! only as many members may have as there are copies is theirs (propagation to
//! a fix-point). Both are *lower bounds* of what can be inferred: releases that
//! pass here may still disclose (design: series).

use rustc_hash::FxHashMap;

use crate::privacy::CancelFlag;
use crate::release::candidates::{AttributeCandidates, Candidates, NO_CLASS};

/// Rounds of propagation; each is linear, and most series need few.
const ROUNDS_MAX: u32 = 50;

/// What releases of the same people tell together; subjects are those of the
/// first release who are in another one as well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Composition {
    /// Subjects of the first release that another one has too.
    pub shared: u64,
    /// What is told of each sensitive attribute that another one shows too.
    pub attributes: Vec<AttributeComposition>,
}

/// What releases tell together of one sensitive attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeComposition {
    /// Name of the attribute.
    pub attribute: String,
    /// The largest l that one of the releases claims.
    pub l: u32,
    /// Shared subjects with fewer than l values left after intersection.
    pub below_l: u64,
    /// Those with one value left.
    pub one_left: u64,
    /// Those whose value is certain after propagation.
    pub certain: u64,
}

/// Measures a release beside others.
pub fn composition(first: &Candidates, others: &[&Candidates], cancel: &CancelFlag) -> Composition {
    let all: Vec<&Candidates> = std::iter::once(&first).chain(others).copied().collect();
    let (of_release, subjects) = numbered_subjects(&all);
    // The first release's subjects have the first numbers.
    let mut is_shared = vec![false; first.subjects.len()];
    for &id in of_release[1..].iter().flatten() {
        if let Some(shared) = is_shared.get_mut(id as usize) {
            *shared = true;
        }
    }
    let shared = is_shared.iter().filter(|&&shared| shared).count() as u64;
    let attributes = first.attributes.iter().filter_map(|attribute| {
        let shown: Vec<Observed> = std::iter::once(&first)
            .chain(others)
            .zip(&of_release)
            .filter_map(|(release, ids)| {
                let mut all = release.attributes.iter();
                let shows = all.find(|one| one.name == attribute.name)?;
                Some(Observed { shows, ids })
            })
            .collect();
        (shown.len() > 1).then(|| of_attribute(&shown, subjects, &is_shared, cancel))
    });
    Composition {
        shared,
        attributes: attributes.collect(),
    }
}

/// Numbers of the subjects of each release, the same for the same subject, and
/// how many there are. Those of the first release have the first numbers.
pub(super) fn numbered_subjects(releases: &[&Candidates]) -> (Vec<Vec<u32>>, usize) {
    let Some((first, others)) = releases.split_first() else {
        return (Vec::new(), 0);
    };
    // Subjects ascend: equal ones stand together.
    let (mut number, mut before) = (0_u32, None);
    let ids = first.subjects.iter().map(|subject| {
        number += u32::from(before.is_some_and(|before| before != subject));
        before = Some(subject);
        number
    });
    let mut of_release: Vec<Vec<u32>> = vec![ids.collect()];
    let mut number = of_release[0].last().map_or(0, |last| last + 1);
    // Of most releases nearly all subjects are the first one's: few need a table.
    let mut further: FxHashMap<&str, u32> = FxHashMap::default();
    for release in others {
        let mut near = 0;
        let ids = release.subjects.iter().map(|subject| {
            match first.subjects.search_from(near, subject) {
                Ok(found) => {
                    near = found;
                    of_release[0][found]
                }
                Err(next) => {
                    near = next;
                    *further.entry(subject).or_insert_with(|| {
                        number += 1;
                        number - 1
                    })
                }
            }
        });
        let ids = ids.collect();
        of_release.push(ids);
    }
    (of_release, number as usize)
}

/// Numbers of the values of each release, the same for the same text.
pub(super) fn numbered_values<'a>(
    shown: impl Iterator<Item = &'a AttributeCandidates>,
) -> Vec<Vec<u32>> {
    let mut known: FxHashMap<&str, u32> = FxHashMap::default();
    let of_release = shown.map(|shows| {
        let values = shows.values.iter().map(|value| {
            let next = known.len() as u32;
            *known.entry(value.as_str()).or_insert(next)
        });
        values.collect()
    });
    of_release.collect()
}

/// What one release shows of the attribute.
struct Observed<'a> {
    shows: &'a AttributeCandidates,
    /// Number of each of its subjects.
    ids: &'a [u32],
}

fn of_attribute(
    shown: &[Observed<'_>],
    subjects: usize,
    is_shared: &[bool],
    cancel: &CancelFlag,
) -> AttributeComposition {
    let mut left = Left::of(shown, subjects, cancel);
    let l = shown.iter().map(|one| one.shows.l).max().unwrap_or(2);
    let count = |left: &Left, wanted: &dyn Fn(usize) -> bool| {
        let shared = is_shared.iter().enumerate().filter(|(_, shared)| **shared);
        let sets = shared.filter_map(|(id, _)| left.sets[id].as_ref());
        sets.filter(|set| wanted(set.len())).count() as u64
    };
    let below_l = count(&left, &|size| size < l as usize);
    let one_left = count(&left, &|size| size == 1);
    left.propagate(shown, cancel);
    AttributeComposition {
        attribute: shown[0].shows.name.clone(),
        l,
        below_l,
        one_left,
        certain: count(&left, &|size| size == 1),
    }
}

/// The values that each subject's may still be.
struct Left {
    /// Ascending; none for who is in no release that shows the attribute, or
    /// whose value changed, so that no value is in all sets.
    sets: Vec<Option<Vec<u32>>>,
    /// Number of each release's values.
    values: Vec<Vec<u32>>,
}

impl Left {
    fn of(shown: &[Observed<'_>], subjects: usize, cancel: &CancelFlag) -> Self {
        let values = numbered_values(shown.iter().map(|one| one.shows));
        let mut sets: Vec<Option<Vec<u32>>> = vec![None; subjects];
        let mut changed = vec![false; subjects];
        for (one, values) in shown.iter().zip(&values) {
            cancel.heed();
            let classes: Vec<Vec<u32>> = one
                .shows
                .classes
                .iter()
                .map(|class| {
                    let mut set: Vec<u32> = class
                        .iter()
                        .map(|&(value, _)| values[value as usize])
                        .collect();
                    set.sort_unstable();
                    set.dedup();
                    set
                })
                .collect();
            for (&id, &class) in one.ids.iter().zip(&one.shows.class_of) {
                let Some(class) = classes.get(class as usize).filter(|_| class != NO_CLASS) else {
                    continue;
                };
                match &mut sets[id as usize] {
                    Some(set) => set.retain(|value| class.binary_search(value).is_ok()),
                    none => *none = Some(class.clone()),
                }
                changed[id as usize] |= sets[id as usize].as_ref().is_some_and(Vec::is_empty);
            }
        }
        for (set, _) in sets
            .iter_mut()
            .zip(&changed)
            .filter(|(_, changed)| **changed)
        {
            *set = None;
        }
        Self { sets, values }
    }

    /// Takes away values that must be somebody else's, until none is left to
    /// take.
    fn propagate(&mut self, shown: &[Observed<'_>], cancel: &CancelFlag) {
        let whole: Vec<(usize, Vec<Vec<u32>>)> = shown
            .iter()
            .enumerate()
            .filter(|(_, one)| one.shows.is_whole)
            .map(|(at, one)| (at, members(one)))
            .collect();
        let values = std::mem::take(&mut self.values);
        for _ in 0..ROUNDS_MAX {
            let mut moved = false;
            for (at, members) in &whole {
                cancel.heed();
                let classes = shown[*at].shows.classes.iter().zip(members);
                for (class, members) in classes {
                    moved |= self.settle(class, &values[*at], members);
                }
            }
            if !moved {
                break;
            }
        }
    }

    /// Looks at one class; answers whether a set became smaller.
    fn settle(&mut self, class: &[(u32, u32)], numbers: &[u32], members: &[u32]) -> bool {
        let copies: u64 = class.iter().map(|&(_, count)| u64::from(count)).sum();
        // Where somebody's set is not known, whose copies are left is not either.
        let all_known = members.iter().all(|&id| self.sets[id as usize].is_some());
        if copies != members.len() as u64 || !all_known {
            return false;
        }
        let mut moved = false;
        for &(value, count) in class {
            let value = numbers[value as usize];
            let (mut may, mut certain) = (0_u32, 0_u32);
            for &id in members {
                let set = self.sets[id as usize].as_deref().unwrap_or_default();
                let has = set.binary_search(&value).is_ok();
                may += u32::from(has);
                certain += u32::from(has && set.len() == 1);
            }
            if certain == count && may > count {
                moved |= self.narrow(members, |set| {
                    if set.len() > 1 {
                        set.retain(|one| *one != value);
                    }
                });
            } else if may == count && certain < count {
                moved |= self.narrow(members, |set| {
                    if set.binary_search(&value).is_ok() {
                        *set = vec![value];
                    }
                });
            }
        }
        moved
    }

    fn narrow(&mut self, members: &[u32], narrow: impl Fn(&mut Vec<u32>)) -> bool {
        let mut moved = false;
        for &id in members {
            if let Some(set) = &mut self.sets[id as usize] {
                let before = set.len();
                narrow(set);
                moved |= set.len() < before;
            }
        }
        moved
    }
}

/// Subjects of each class.
fn members(one: &Observed<'_>) -> Vec<Vec<u32>> {
    let mut members = vec![Vec::new(); one.shows.classes.len()];
    for (&id, &class) in one.ids.iter().zip(&one.shows.class_of) {
        if let Some(class) = members
            .get_mut(class as usize)
            .filter(|_| class != NO_CLASS)
        {
            class.push(id);
        }
    }
    members
}

/// Releases of made-up people for tests.
#[cfg(test)]
pub(super) mod made {
    use crate::release::candidates::{AttributeCandidates, Candidates, Identity};

    /// A release of people 0.. whose values are letters, with exact
    /// quasi-identifiers; classes are given by the members' numbers and the
    /// text of their values.
    pub fn release(classes: &[(&[u32], &str)]) -> Candidates {
        let mut subjects: Vec<(u32, u32)> = Vec::new();
        let letters: Vec<String> = ('a'..='h').map(String::from).collect();
        let mut listed = Vec::new();
        for (at, (members, values)) in (0_u32..).zip(classes) {
            subjects.extend(members.iter().map(|&member| (member, at)));
            let count = |letter: char| values.chars().filter(|&one| one == letter).count() as u32;
            let counts = (0_u32..)
                .zip('a'..='h')
                .map(|(value, letter)| (value, count(letter)));
            listed.push(counts.filter(|&(_, count)| count > 0).collect());
        }
        subjects.sort_unstable();
        Candidates {
            subjects: subjects
                .iter()
                .map(|(one, _)| format!("p{one:02}"))
                .collect(),
            attributes: vec![AttributeCandidates {
                name: "ill".into(),
                l: 2,
                stands_in_rows: false,
                is_l_alone: true,
                is_whole: true,
                is_counted: true,
                values: letters,
                classes: listed,
                class_of: subjects.iter().map(|&(_, class)| class).collect(),
            }],
            identity: Identity::Exact,
            is_complete: true,
            has_own_terms: false,
            shows_changes: false,
            joins_groups: false,
            terms: Vec::new(),
            terms_of: Vec::new(),
            transformed: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// The same, of which the classes are groups of at least k rows, in which
    /// the values stand.
    pub fn grouped(k: u32, classes: &[(&[u32], &str)]) -> Candidates {
        let mut release = release(classes);
        release.attributes[0].stands_in_rows = true;
        let group_of = release.attributes[0].class_of.clone();
        Candidates {
            identity: Identity::Groups { k, group_of },
            ..release
        }
    }
}

#[cfg(test)]
mod tests {
    use super::made::release;
    use super::*;

    fn figures(first: &Candidates, others: &[&Candidates]) -> (u64, u64, u64, u64) {
        let found = composition(first, others, CancelFlag::never());
        let ill = &found.attributes[0];
        (found.shared, ill.below_l, ill.one_left, ill.certain)
    }

    #[test]
    fn releases_of_other_people_share_nobody() {
        let one = release(&[(&[0, 1], "ab"), (&[2, 3], "cd")]);
        let other = release(&[(&[4, 5], "ab")]);
        assert_eq!(figures(&one, &[&other]), (0, 0, 0, 0));
    }

    #[test]
    fn the_same_release_again_tells_nothing_new() {
        let one = release(&[(&[0, 1], "ab"), (&[2, 3], "cd")]);
        assert_eq!(figures(&one, &[&one.clone()]), (4, 0, 0, 0));
    }

    #[test]
    fn other_buckets_of_the_same_people_leave_one_value() {
        let one = release(&[(&[0, 1], "ab"), (&[2, 3], "cd")]);
        let other = release(&[(&[0, 2], "ac"), (&[1, 3], "bd")]);
        assert_eq!(figures(&one, &[&other]), (4, 4, 4, 4));
    }

    #[test]
    fn what_others_are_known_for_is_nobody_elses() {
        // Intersection leaves {b} to 0 and 1 {a, b}; as 0 has the one b of the
        // first bucket, 1 has a.
        let one = release(&[(&[0, 1], "ab"), (&[2, 3], "cd")]);
        let other = release(&[(&[0, 2], "bc"), (&[1, 3], "abd")]);
        let (_, _, one_left, certain) = figures(&one, &[&other]);
        assert!(one_left < certain, "{one_left} {certain}");
        assert_eq!(certain, 4);
    }

    #[test]
    fn groups_of_which_two_pairs_changed_make_two_people_certain() {
        // caaccbaa in {0,1,4,7} {2,3,5,6}, then {1,4,5,7} {0,2,3,6}: 0 and 5
        // are certain although nobody's intersection has one value.
        let values: Vec<char> = "caaccbaa".chars().collect();
        let of =
            |members: &[u32]| -> String { members.iter().map(|&at| values[at as usize]).collect() };
        let groups = |parts: &[&[u32]]| -> Candidates {
            let texts: Vec<String> = parts.iter().map(|part| of(part)).collect();
            let classes: Vec<(&[u32], &str)> = parts
                .iter()
                .zip(&texts)
                .map(|(part, text)| (*part, text.as_str()))
                .collect();
            release(&classes)
        };
        let one = groups(&[&[0, 1, 4, 7], &[2, 3, 5, 6]]);
        let other = groups(&[&[1, 4, 5, 7], &[0, 2, 3, 6]]);
        let (_, _, _, certain) = figures(&one, &[&other]);
        assert!(certain >= 1, "{certain}");
    }

    #[test]
    fn a_value_that_changed_proves_nothing() {
        let one = release(&[(&[0, 1], "ab")]);
        let other = release(&[(&[0, 1], "cd")]);
        assert_eq!(figures(&one, &[&other]), (2, 0, 0, 0));
    }

    #[test]
    fn candidates_read_back_as_they_were_kept() {
        let one = release(&[(&[0, 1], "ab"), (&[2, 3], "cd")]);
        let kept = one.to_bytes().expect("memory");
        assert_eq!(Candidates::from_bytes(&kept).expect("kept"), one);
        assert!(Candidates::from_bytes(b"x").is_err());
    }
}
