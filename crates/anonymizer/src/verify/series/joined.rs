//! Releases that follow from earlier ones.
//!
//! Where every group of a release is made of whole groups of earlier releases, and
//! shows the values that these show, whoever has these could have made it: it
//! tells them nothing, and its own claims are not theirs to keep. So the check of a
//! series passes over it; such releases have to keep what they claim among
//! themselves, for those who have no others.

use rustc_hash::FxHashMap;

use super::Shown;
use super::cells::sizes;
use crate::release::candidates::{AttributeCandidates, Identity};

/// A group: its release, by position, and its number.
type Group = (usize, u32);

/// Whether a release follows from earlier ones, given oldest first.
pub(super) fn follows(release: &Shown<'_>, earlier: &[Shown<'_>], subjects: usize) -> bool {
    let Identity::Groups { group_of, .. } = &release.candidates.identity else {
        return false;
    };
    if !release.is_known() || group_of.is_empty() {
        return false;
    }
    let Some(joined) = joined((release, group_of), earlier, subjects) else {
        return false;
    };
    let attributes = &release.candidates.attributes;
    let mut all = attributes.iter();
    let are_same = all.all(|one| shows_the_same((release, one), earlier, &joined));
    are_same && !attributes.is_empty()
}

/// The groups that each group of the release is made of, by its number; none where
/// it is not made of whole groups.
fn joined(
    (release, group_of): (&Shown<'_>, &[u32]),
    earlier: &[Shown<'_>],
    subjects: usize,
) -> Option<Vec<Vec<Group>>> {
    // The last release that shows a subject, and their group there.
    let mut last: Vec<Option<Group>> = vec![None; subjects];
    let mut group_sizes = Vec::new();
    for (at, one) in earlier.iter().enumerate() {
        let groups: &[u32] = match &one.candidates.identity {
            Identity::Groups { group_of, .. } if one.is_known() => group_of,
            _ => &[],
        };
        for (&id, &group) in one.subjects.iter().zip(groups) {
            last[id as usize] = Some((at, group));
        }
        group_sizes.push(sizes(groups));
    }
    let mut home: FxHashMap<Group, (u32, u64)> = FxHashMap::default();
    let mut joined = vec![Vec::new(); sizes(group_of).len()];
    for (&id, &group) in release.subjects.iter().zip(group_of) {
        let own = last[id as usize]?;
        let (first, members) = home.entry(own).or_insert_with(|| {
            joined[group as usize].push(own);
            (group, 0)
        });
        if *first != group {
            return None;
        }
        *members += 1;
    }
    let mut groups = joined.iter().flatten();
    let is_whole = |&(at, group): &Group| {
        let there = home.get(&(at, group)).map(|&(_, members)| members);
        there == group_sizes[at].get(group as usize).copied()
    };
    groups.all(is_whole).then_some(joined)
}

/// Whether each group shows the values of the groups that it is made of.
fn shows_the_same(
    (release, attribute): (&Shown<'_>, &AttributeCandidates),
    earlier: &[Shown<'_>],
    joined: &[Vec<Group>],
) -> bool {
    let before = earlier.iter().map(|one| {
        let own = one.attribute(&attribute.name);
        own.map(|own| values_of(one, own)).unwrap_or_default()
    });
    let before: Vec<FxHashMap<u32, Vec<&str>>> = before.collect();
    let now = values_of(release, attribute);
    (0..).zip(joined).all(|(group, parts)| {
        let mut told: Vec<&str> = Vec::new();
        for &(at, part) in parts {
            match before[at].get(&part) {
                Some(values) => told.extend(values),
                None => return false,
            }
        }
        told.sort_unstable();
        let mut shown = now.get(&group).cloned().unwrap_or_default();
        shown.sort_unstable();
        told == shown
    })
}

/// The values of each group of a release, each as often as it is shown; nothing
/// where others than its members may have them.
fn values_of<'a>(
    release: &Shown<'_>,
    attribute: &'a AttributeCandidates,
) -> FxHashMap<u32, Vec<&'a str>> {
    let groups: &[u32] = match &release.candidates.identity {
        Identity::Groups { group_of, .. } if attribute.stands_in_rows && attribute.is_whole => {
            group_of
        }
        _ => &[],
    };
    // Classes of values have numbers of their own.
    let class_of = groups
        .iter()
        .copied()
        .zip(attribute.class_of.iter().copied());
    let class_of: FxHashMap<u32, u32> = class_of.collect();
    let values = class_of.into_iter().filter_map(|(group, class)| {
        let class = attribute.classes.get(class as usize)?.iter();
        let values = class.map(|&(value, count)| {
            let text = attribute.values.get(value as usize);
            std::iter::repeat_n(text.map_or("", String::as_str), count as usize)
        });
        Some((group, values.flatten().collect()))
    });
    values.collect()
}
