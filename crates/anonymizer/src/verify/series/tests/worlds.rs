//! Series against every world that fits: what is safe tells no more than it claims.

use proptest::prelude::*;
use rustc_hash::FxHashMap;

use super::*;

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
        let mut subjects: Vec<&str> = release.subjects.iter().collect();
        let at = subjects.partition_point(|other| *other < name.as_str());
        subjects.insert(at, &name);
        release.subjects = subjects.into_iter().collect();
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
            let shown = shown.get(&value).copied().unwrap_or_default();
            let count = counts[value as usize];
            // Counterfeits have what members have not.
            count == shown || !shows.is_whole && count < shown
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

/// The values of the people of a class; none where one is more frequent.
fn set_of(values: &[u32], members: &[u32]) -> Option<Vec<u32>> {
    let mut own: Vec<u32> = members.iter().map(|&one| values[one as usize]).collect();
    own.sort_unstable();
    let is_once = own.windows(2).all(|pair| pair[0] != pair[1]);
    (is_once && own.len() > 1).then_some(own)
}

/// A later release of people who keep the sets that `first` gave them: those
/// who are there, and those without a set who take one with their value;
/// each block shows its set, the values that nobody has are counterfeits.
fn kept(values: &[u32], sets: &[Option<Vec<u32>>], is_there: &[bool]) -> Candidates {
    let mut known: Vec<&Vec<u32>> = sets.iter().flatten().collect();
    known.sort_unstable();
    known.dedup();
    let mut blocks: Vec<(Vec<u32>, String)> = Vec::new();
    let mut taken = vec![false; values.len()];
    for set in known {
        let first = blocks.len();
        let letters: String = set
            .iter()
            .map(|&value| (b'a' + value as u8) as char)
            .collect();
        for &value in set {
            let mut at = first;
            for person in (0..values.len()).filter(|&person| values[person] == value) {
                let own = sets[person].as_ref().is_none_or(|own| own == set);
                if !own || !is_there[person] || std::mem::replace(&mut taken[person], true) {
                    continue;
                }
                if at == blocks.len() {
                    blocks.push((Vec::new(), letters.clone()));
                }
                blocks[at].0.push(person as u32);
                at += 1;
            }
        }
    }
    let listed: Vec<(&[u32], &str)> = blocks
        .iter()
        .map(|(members, letters)| (members.as_slice(), letters.as_str()))
        .collect();
    let mut release = release(&listed);
    release.attributes[0].is_whole = false;
    release
}

proptest! {
    /// Kept sets are safe whoever comes, leaves and returns: each value of a
    /// set is equally likely in all worlds that fit.
    #[test]
    fn kept_sets_tell_no_more_than_one_in_a_set(
        values in prop::collection::vec(0..VALUES, 7),
        classes in prop::collection::vec(prop::option::weighted(0.8, 0..3_u8), 7),
        are_there in prop::collection::vec(prop::collection::vec(any::<bool>(), 7), 1..3),
    ) {
        let mut sets = vec![None; values.len()];
        let mut listed = Vec::new();
        for class in 0..3 {
            let people = (0_u32..).zip(&classes).filter(|(_, own)| **own == Some(class));
            let members: Vec<u32> = people.map(|(person, _)| person).collect();
            if let Some(set) = set_of(&values, &members) {
                let letters: String =
                    members.iter().map(|&one| (b'a' + values[one as usize] as u8) as char).collect();
                members.iter().for_each(|&one| sets[one as usize] = Some(set.clone()));
                listed.push((members, letters));
            }
        }
        let listed: Vec<(&[u32], &str)> = listed
            .iter()
            .map(|(members, letters)| (members.as_slice(), letters.as_str()))
            .collect();
        let mut releases = vec![release(&listed)];
        for is_there in &are_there {
            let next = kept(&values, &sets, is_there);
            for (subject, &class) in next.subjects.iter().zip(&next.attributes[0].class_of) {
                let person: usize = subject[1..].parse().expect("a number");
                let shown = next.attributes[0].classes[class as usize].iter();
                sets[person] = Some(shown.map(|&(value, _)| value).collect());
            }
            releases.push(next);
        }
        let all: Vec<&Candidates> = releases.iter().collect();
        let found = series(all[0], &all[1..]);
        prop_assert!(found.is_safe(), "{found:?}");
        let smallest = sets.iter().flatten().map(Vec::len).min().unwrap_or(1) as u64;
        let shown: Vec<&Candidates> =
            all.into_iter().filter(|one| !one.subjects.is_empty()).collect();
        if !shown.is_empty() {
            let (most, worlds) = largest_share(&values, &shown);
            prop_assert!(most * smallest <= worlds, "{most} of {worlds} with {smallest}");
        }
    }
}

/// The largest share of pairs of worlds, in which only these people changed, to a
/// value that was not shown of them, in which a person has the same value in one
/// of the two.
fn largest_share_of_pairs(
    [before, after]: [&Candidates; 2],
    [old, new]: [&[u32]; 2],
    changed: &[usize],
) -> (u64, u64) {
    let people = old.len();
    let mut counts = vec![[0_u64; VALUES as usize]; 2 * people];
    let mut pairs = 0;
    let was_shown = |person: usize, value: u32| {
        let shown = &before.attributes[0];
        let name = format!("p{person:02}");
        let at = before.subjects.iter().position(|subject| *subject == name);
        let class = at.map(|at| &shown.classes[shown.class_of[at] as usize]);
        class.is_some_and(|class| class.iter().any(|&(one, _)| one == value))
    };
    // One value of everyone before, and one of those who changed after.
    let mut both = vec![0; people + changed.len()];
    loop {
        let first = &both[..people];
        let mut second = first.to_vec();
        for (&person, &value) in changed.iter().zip(&both[people..]) {
            second[person] = value;
        }
        let is_change = changed
            .iter()
            .all(|&person| !was_shown(person, second[person]));
        if is_change && fits(first, before, old) && fits(&second, after, new) {
            pairs += 1;
            for (counts, &value) in counts.iter_mut().zip(first.iter().chain(&second)) {
                counts[value as usize] += 1;
            }
        }
        let Some(at) = both.iter().position(|&value| value + 1 < VALUES) else {
            break;
        };
        both[..at].fill(0);
        both[at] += 1;
    }
    (counts.iter().flatten().max().copied().unwrap_or(0), pairs)
}

proptest! {
    /// Where a changed value is shown in a set that has none of those of before,
    /// no value is more likely than one in a set, before or after, also for
    /// somebody who knows that nobody else changed.
    #[test]
    fn sets_that_change_tell_no_more_than_one_in_a_set(
        old in prop::collection::vec(0..VALUES, 6),
        classes in prop::collection::vec(0..3_u8, 6),
        changes in prop::collection::vec((0..6_usize, 0..VALUES), 1..3),
    ) {
        let mut sets = vec![None; old.len()];
        let mut listed = Vec::new();
        for class in 0..3 {
            let people = (0_u32..).zip(&classes).filter(|(_, own)| **own == class);
            let members: Vec<u32> = people.map(|(person, _)| person).collect();
            if let Some(set) = set_of(&old, &members) {
                members.iter().for_each(|&one| sets[one as usize] = Some(set.clone()));
                let letters = set.iter().map(|&value| (b'a' + value as u8) as char);
                listed.push((members, letters.collect::<String>()));
            }
        }
        let listed: Vec<(&[u32], &str)> =
            listed.iter().map(|(members, letters)| (members.as_slice(), letters.as_str())).collect();
        let before = release(&listed);
        let (mut new, mut changed) = (old.clone(), Vec::new());
        for &(person, value) in &changes {
            let is_in = |set: &Vec<u32>| set.contains(&value);
            if sets[person].as_ref().is_some_and(|set| !is_in(set)) {
                new[person] = value;
                sets[person] = None;
                changed.push(person);
            }
        }
        // Nobody else takes a place.
        let is_there: Vec<bool> = (0..old.len())
            .map(|person| sets[person].is_some() || changed.contains(&person))
            .collect();
        let after = Candidates { shows_changes: true, ..kept(&new, &sets, &is_there) };
        // Of who is not shown any more nobody knows that they changed.
        changed.retain(|&person| after.subjects.find_sorted(&format!("p{person:02}")).is_some());
        if !changed.is_empty() && series(&after, &[&before]).is_safe() {
            let sizes = after.attributes[0].classes.iter().chain(&before.attributes[0].classes);
            let smallest = sizes.map(Vec::len).min().unwrap_or(1) as u64;
            let (most, pairs) =
                largest_share_of_pairs([&before, &after], [&old, &new], &changed);
            // People whom neither release shows have any value equally often.
            prop_assert!(most * smallest.min(VALUES.into()) <= pairs, "{most} of {pairs}");
        }
    }
}
