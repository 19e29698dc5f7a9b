//! Releases in parts are those that are made at once.

mod parts;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::alike::Alike;
use super::ordered::OrderedParts;
use super::part::{Blocks, PartGroup, PartNumber, Rooms};
use super::room::Room;
use crate::microdata::{Spill, SubjectIndex};
use crate::privacy::Seed;
use crate::release::lineage::Lineage;
use crate::release::order::order;
use crate::release::table::{Cells, Content, PublishedColumn, PublishedTable};
use parts::{Form, Part, forms, is_looked_at, looks, parts, union};

fn seed() -> Seed {
    Seed::of_number(11)
}

fn in_memory() -> io::Result<Box<dyn Spill + Send + Sync>> {
    Ok(Box::new(Vec::new()))
}

fn blocks() -> impl Strategy<Value = Blocks> {
    let sizes = (1..9_usize, 1..40_usize, 1..30_usize);
    sizes.prop_map(|(chunk_rows, merged_rows, joined_rows)| Blocks {
        chunk_rows,
        merged_rows,
        joined_rows,
    })
}

type Release = (Vec<PublishedTable>, Lineage);

fn releases(form: Form, parts: &[Part]) -> Vec<Release> {
    let mut first = 0;
    let made = parts.iter().map(|part| {
        let release = part.release(form, first);
        first += part.rows();
        release
    });
    made.collect()
}

/// How a release of parts is written.
#[derive(Clone, Copy, Debug)]
struct Way {
    blocks: Blocks,
    /// Groups that look alike are one.
    joins: bool,
    /// The last part is added first.
    backwards: bool,
    /// Another part comes first and goes again.
    removes: bool,
}

fn ways() -> impl Strategy<Value = Way> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (blocks(), flags).prop_map(|(blocks, (joins, backwards, removes))| Way {
        blocks,
        joins,
        backwards,
        removes,
    })
}

fn added(
    releases: &[Release],
    way: Way,
    rooms: &mut Rooms<'_>,
) -> io::Result<(OrderedParts, Vec<PartNumber>)> {
    let mut parts = OrderedParts::in_blocks(&seed(), way.blocks);
    if way.removes {
        let (tables, lineage) = releases[0].clone();
        let part = parts.add(tables, lineage, rooms)?;
        parts.remove(part)?;
    }
    let mut in_order = vec![PartNumber(0); releases.len()];
    let mut all: Vec<usize> = (0..releases.len()).collect();
    if way.backwards {
        all.reverse();
    }
    for at in all {
        let (tables, lineage) = releases[at].clone();
        in_order[at] = parts.add(tables, lineage, rooms)?;
    }
    Ok((parts, in_order))
}

/// What is written, put together.
fn written(releases: &[Release], way: Way, rooms: &mut Rooms<'_>) -> io::Result<Release> {
    let (parts, in_order) = added(releases, way, rooms)?;
    let joined = if way.joins {
        parts.alike(&is_looked_at)?
    } else {
        Vec::new()
    };
    let mut chunks: Vec<Vec<PublishedTable>> = Vec::new();
    let mut lineage = releases[0].1.clone();
    lineage.tables[0].subjects.clear();
    parts.write(&in_order, &joined, rooms, &mut |chunk, subjects| {
        assert_eq!(
            chunk.canonical(),
            chunk,
            "no cell is there that no row shows"
        );
        if lineage.tables[0].table == chunk.name {
            assert_eq!(subjects.len(), chunk.rows());
        } else {
            assert!(subjects.is_empty());
        }
        lineage.tables[0].subjects.extend(subjects);
        match chunks.last_mut() {
            Some(of_table) if of_table[0].name == chunk.name => of_table.push(chunk),
            _ => chunks.push(vec![chunk]),
        }
        Ok(())
    })?;
    for of_table in &chunks {
        let all = of_table.iter().map(PublishedTable::rows);
        let whole_chunks = all.take(of_table.len() - 1);
        assert!(
            whole_chunks
                .into_iter()
                .all(|rows| rows == way.blocks.chunk_rows)
        );
        let last = of_table.last().map_or(0, PublishedTable::rows);
        assert!(last <= way.blocks.chunk_rows && (last > 0 || of_table.len() == 1));
    }
    let tables = chunks.iter();
    let tables = tables.map(|chunks| PublishedTable::join(&chunks[0].name, chunks));
    Ok((tables.collect(), lineage))
}

fn ordered(release: Release) -> Release {
    let (mut tables, mut lineage) = release;
    order(&mut tables, &mut lineage, &seed());
    (
        tables.iter().map(PublishedTable::canonical).collect(),
        lineage,
    )
}

proptest! {
    #[test]
    fn a_release_of_parts_is_the_union_in_order(
        form in forms(), parts in parts(), way in ways(),
    ) {
        let releases = releases(form, &parts);
        let wanted = ordered(union(&releases, way.joins));
        let written = written(&releases, way, &mut in_memory).unwrap();
        prop_assert_eq!(written, wanted);
    }

    /// Also where rows of one group differ in what is looked at.
    #[test]
    fn groups_that_look_alike_are_found_with_their_subjects(
        form in forms(), parts in parts(), way in ways(), looked_at in 0..3_u8,
    ) {
        let releases = releases(form, &parts);
        let is_looked_at = |column: &PublishedColumn| match looked_at {
            0 => is_looked_at(column),
            1 => true,
            _ => column.name == "shift",
        };
        let mut wanted: BTreeMap<String, Alike> = BTreeMap::new();
        let (parts, in_order) = added(&releases, way, &mut in_memory).unwrap();
        let mut all: Vec<(PartNumber, &Release)> = in_order.into_iter().zip(&releases).collect();
        all.sort_by_key(|&(part, _)| part);
        for (part, release) in all {
            let (mut tables, mut lineage) = release.clone();
            order(&mut tables, &mut lineage, &seed());
            let rows = looks(&tables[0], &is_looked_at);
            for ((look, group), &subject) in rows.into_iter().zip(&lineage.tables[0].subjects) {
                let alike = wanted.entry(look).or_insert_with(|| Alike {
                    groups: Vec::new(),
                    subjects: Vec::new(),
                });
                alike.groups.push(PartGroup { part, group: group as u32 });
                alike.groups.dedup();
                alike.subjects.push(subject);
            }
        }
        let mut wanted: Vec<Alike> = wanted.into_values().collect();
        wanted.retain(|alike| alike.groups.len() > 1);
        let mut found = parts.alike(&is_looked_at).unwrap();
        for alike in [&mut wanted, &mut found] {
            alike.sort_by_key(|alike| (alike.groups[0], alike.subjects[0].0));
        }
        prop_assert_eq!(found, wanted);
    }

    #[test]
    fn lists_are_those_of_the_parts(form in forms(), parts in parts(), way in ways()) {
        let releases = releases(form, &parts);
        let (parts, in_order) = added(&releases, way, &mut in_memory).unwrap();
        for (at, table) in releases[0].0.iter().enumerate() {
            let mut lists = BTreeMap::new();
            let took = parts.list(&table.name, &mut |part, list| {
                lists.insert(part, list);
            });
            prop_assert!(took.is_ok());
            if at == 0 {
                prop_assert!(lists.is_empty(), "its rows are of subjects");
                continue;
            }
            prop_assert_eq!(lists.len(), releases.len());
            for (part, release) in in_order.iter().zip(&releases) {
                let wanted = &ordered(release.clone()).0[at];
                prop_assert_eq!(&lists[part], wanted);
            }
        }
    }
}

/// A part of one group after the other, with this many rows each; rows show the
/// position given for theirs.
fn groups_of(sizes: &[u64], first: u32, shown: impl Fn(u64) -> u64) -> Release {
    let numbers = |name: &str, content, numbers: Vec<u64>| PublishedColumn {
        name: name.into(),
        content,
        kind: None,
        cells: Cells::Numbers(numbers),
    };
    let groups = (1..).zip(sizes);
    let groups = groups.flat_map(|(group, &size)| std::iter::repeat_n(group, size as usize));
    let positions = sizes.iter().flat_map(|&size| 0..size);
    let shown: Vec<u64> = positions.map(shown).collect();
    let subjects = (first..first + shown.len() as u32).map(SubjectIndex);
    let lineage = Lineage::of_table("microdata", subjects);
    let table = PublishedTable {
        name: "microdata".into(),
        columns: vec![
            numbers("group", Content::Group, groups.collect()),
            numbers("x", Content::Exact, shown),
        ],
    };
    (vec![table], lineage)
}

/// Groups of many more rows than stand in memory, whose last rows decide alone.
#[test]
fn long_groups_are_compared_to_their_ends() {
    let way = Way {
        blocks: Blocks {
            chunk_rows: 7,
            merged_rows: 6,
            joined_rows: 5,
        },
        joins: false,
        backwards: false,
        removes: false,
    };
    for (one, other) in [(100, 100), (100, 101), (101, 100)] {
        for last in [0, 1, 2] {
            let parts = [
                groups_of(&[one, 3], 0, |at| at + u64::from(at == 99)),
                groups_of(&[other, 1], 1000, |at| at + if at == 99 { last } else { 0 }),
            ];
            let moved = |(mut tables, lineage): Release| {
                if let Cells::Numbers(groups) = &mut tables[0].columns[0].cells {
                    groups.iter_mut().for_each(|group| *group += 2);
                }
                (tables, lineage)
            };
            let [first, second] = parts.clone();
            let (second_tables, second_lineage) = moved(second);
            let mut lineage = first.1;
            let subjects = &second_lineage.tables[0].subjects;
            lineage.tables[0].subjects.extend(subjects);
            let both = [first.0[0].clone(), second_tables[0].clone()];
            let union = (vec![PublishedTable::join("microdata", &both)], lineage);
            assert_eq!(
                written(&parts, way, &mut in_memory).unwrap(),
                ordered(union)
            );
        }
    }
}

/// Whatever a caller joins: groups that show the same are ranked by their first
/// subjects, of whatever part.
#[test]
fn joined_groups_that_show_the_same_are_ranked_by_the_draw() {
    for first in 0..20 {
        let parts = [0, 50].map(|more| groups_of(&[2, 2, 2], first + more, |at| at));
        let way = Way {
            blocks: Blocks::USUAL,
            joins: false,
            backwards: false,
            removes: false,
        };
        let (held, in_order) = added(&parts, way, &mut in_memory).unwrap();
        let joined = (1..4).rev().map(|group| Alike {
            groups: in_order
                .iter()
                .map(|&part| PartGroup { part, group })
                .collect(),
            subjects: Vec::new(),
        });
        let joined: Vec<Alike> = joined.collect();
        // Numbers of a part are those of its own order.
        let [one, other] = parts.map(ordered);
        let both = [one.0[0].clone(), other.0[0].clone()];
        let mut lineage = one.1;
        lineage.tables[0]
            .subjects
            .extend(&other.1.tables[0].subjects);
        let wanted = ordered((vec![PublishedTable::join("microdata", &both)], lineage));
        let mut found = Vec::new();
        held.write(
            &in_order,
            &joined,
            &mut in_memory,
            &mut |chunk, subjects| {
                found.push((vec![chunk], subjects.to_vec()));
                Ok(())
            },
        )
        .unwrap();
        assert_eq!(found, [(wanted.0, wanted.1.tables[0].subjects.clone())]);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut parts = OrderedParts::new(&seed());
    let refused = |result: io::Result<PartNumber>| {
        assert_eq!(
            result.err().map(|error| error.kind()),
            Some(io::ErrorKind::InvalidInput)
        );
    };
    let (tables, lineage) = groups_of(&[2, 2], 0, |at| at);
    refused(parts.add(tables.clone(), Lineage::default(), &mut in_memory));
    let part = parts
        .add(tables.clone(), lineage.clone(), &mut in_memory)
        .unwrap();
    let mut other = tables.clone();
    other[0].columns[1].name = "y".into();
    refused(parts.add(other, lineage.clone(), &mut in_memory));
    let mut without = tables;
    without[0].columns[0].cells = Cells::Numbers(vec![1, 0, 1, 1]);
    refused(parts.add(without, lineage, &mut in_memory));
    let (tables, lineage) = groups_of(&[2], 10, |at| at);
    let second = parts.add(tables, lineage, &mut in_memory).unwrap();
    let write = |order: &[PartNumber], joined: &[Alike]| {
        let mut parts = OrderedParts::new(&seed());
        for first in [0, 10] {
            let (tables, lineage) = groups_of(&[2], first, |at| at);
            parts.add(tables, lineage, &mut in_memory).unwrap();
        }
        let written = parts.write(order, joined, &mut in_memory, &mut |_, _| Ok(()));
        written.err().map(|error| error.kind())
    };
    let alike = |groups: &[(PartNumber, u32)]| {
        let groups = groups
            .iter()
            .map(|&(part, group)| PartGroup { part, group });
        Alike {
            groups: groups.collect(),
            subjects: Vec::new(),
        }
    };
    let bad = Some(io::ErrorKind::InvalidInput);
    assert_eq!(
        write(&[part, second], &[alike(&[(part, 1), (second, 1)])]),
        None
    );
    assert_eq!(write(&[part], &[]), bad);
    assert_eq!(write(&[part, part, second], &[]), bad);
    assert_eq!(write(&[part, second, PartNumber(2)], &[]), bad);
    for group in [0, 2] {
        assert_eq!(
            write(&[part, second], &[alike(&[(part, group), (second, 1)])]),
            bad
        );
    }
    let twice = [alike(&[(part, 1), (second, 1)]), alike(&[(part, 1)])];
    assert_eq!(write(&[part, second], &twice), bad);
    let gone = OrderedParts::new(&seed());
    let mut tables = 0;
    let nothing = gone.write(&[], &[], &mut in_memory, &mut |_, _| {
        tables += 1;
        Ok(())
    });
    assert!(nothing.is_ok() && tables == 0);
}

/// Does so much, and then fails forever.
struct Failing {
    room: Vec<u8>,
    left: Arc<AtomicU64>,
}

fn use_up(left: &AtomicU64) -> io::Result<()> {
    let used = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
        left.checked_sub(1)
    });
    used.map(|_| ())
        .map_err(|_| io::ErrorKind::StorageFull.into())
}

impl Spill for Failing {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        use_up(&self.left)?;
        Spill::append(&mut self.room, bytes)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        use_up(&self.left)?;
        self.room.read_at(offset, buffer)
    }

    fn clear(&mut self) -> io::Result<()> {
        use_up(&self.left)?;
        Spill::clear(&mut self.room)
    }
}

/// Whatever of the many things that are done with room fails, it is no release.
#[test]
fn a_room_that_fails_gives_its_error_wherever_it_does() {
    let mut runner = TestRunner::deterministic();
    let made = (parts(), parts(), parts())
        .new_tree(&mut runner)
        .unwrap()
        .current();
    for (form, parts) in [
        (Form::LinkedGroups, made.0),
        (Form::LinkedRows, made.1),
        (Form::Persons, made.2),
    ] {
        let releases = releases(form, &parts);
        let way = Way {
            blocks: Blocks {
                chunk_rows: 50,
                merged_rows: 30,
                joined_rows: 10,
            },
            joins: true,
            backwards: false,
            removes: true,
        };
        let wanted = ordered(union(&releases, true));
        let mut failed = 0;
        loop {
            let left = Arc::new(AtomicU64::new(failed));
            let written = written(&releases, way, &mut || {
                use_up(&left)?;
                Ok(Box::new(Failing {
                    room: Vec::new(),
                    left: left.clone(),
                }))
            });
            match written {
                Ok(written) => {
                    assert_eq!(written, wanted);
                    break;
                }
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::StorageFull),
            }
            failed += 1;
        }
        assert!(failed > 50, "room was used {failed} times");
    }
}

/// Nobody knows what stands in room after an append that failed: nothing goes behind it.
#[test]
fn room_that_failed_takes_nothing_more() {
    let left = Arc::new(AtomicU64::new(0));
    let mut room = Room::of(Box::new(Failing {
        room: Vec::new(),
        left: left.clone(),
    }));
    assert!(room.append(b"a").is_err());
    left.store(9, Ordering::SeqCst);
    assert!(room.append(b"b").is_err());
    assert!(room.clear().is_ok() && room.append(b"c").is_ok());
    assert_eq!(room.end(), 1);
}
