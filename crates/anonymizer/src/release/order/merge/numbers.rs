//! The numbers that groups do not have: those of buckets, in the whole release.
//!
//! A bucket is of one part. It is ranked by its values, then by the numbers of the
//! groups that its rows are in, or that lists link it to, then by the draw for its first
//! subject. The buckets of each part are sorted by that, and those of all parts merged.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::io;
use std::ops::Range;

use crate::microdata::SubjectIndex;
use crate::release::order::grouped::Grouped;
use crate::release::order::spaces::ListColumn;
use crate::release::order::tie_draw;
use crate::release::table::{Cells, Content};

use super::part::Rooms;
use super::queue::{Run, merge};
use super::room::{Room, WordRange, WordReader, WordWriter};
use super::whole::Whole;

/// The numbers of the whole release, by those of parts.
pub(super) struct Numbers {
    /// For each space and part the number of each, from its number 1 on.
    of_parts: Vec<Vec<Vec<u32>>>,
    /// The largest number of each space.
    largest: Vec<u64>,
}

impl Numbers {
    /// Ranks the numbers of all spaces; `groups` are those of the first, which has so
    /// many.
    pub fn of(
        whole: &Whole,
        (groups, last): (Vec<Vec<u32>>, u64),
        rooms: &mut Rooms<'_>,
    ) -> io::Result<Self> {
        let mut numbers = Self {
            of_parts: vec![groups],
            largest: vec![last],
        };
        for space in 1..whole.spaces.spaces.len() {
            let mut room = Room::of(rooms()?);
            let mut runs = Vec::with_capacity(whole.parts.len());
            let mut of_parts = Vec::with_capacity(whole.parts.len());
            for part in 0..whole.parts.len() {
                let buckets = Buckets::read((whole, &numbers), part, space)?;
                of_parts.push(vec![0; buckets.largest]);
                runs.push(buckets.write(&mut room)?);
            }
            let at_once = whole.blocks.rows_of_run(runs.len());
            let runs = runs.into_iter().map(|run| BucketRun {
                whole,
                space,
                words: WordReader::new(&room, run, at_once),
                bucket: Header::default(),
                draw: OnceCell::new(),
            });
            let mut last = 0;
            merge(&mut runs.collect::<Vec<_>>(), &mut |part, run| {
                last += 1;
                of_parts[part][run.bucket.number as usize - 1] = last;
                Ok(())
            })?;
            numbers.of_parts.push(of_parts);
            numbers.largest.push(last.into());
        }
        Ok(numbers)
    }

    /// The number in the whole release of one of a part, by position; 0 stays.
    #[inline]
    pub fn of_part(&self, (space, part): (usize, u32), number: u64) -> u64 {
        match number.checked_sub(1) {
            None => 0,
            Some(at) => {
                let known = self.of_parts[space][part as usize].get(at as usize);
                known.copied().unwrap_or(0).into()
            }
        }
    }

    /// The largest number of a space.
    pub fn largest(&self, space: usize) -> u64 {
        self.largest[space]
    }
}

/// The buckets of one space and part.
struct Buckets<'a> {
    whole: &'a Whole,
    space: usize,
    largest: usize,
    /// Ranks of values with counts, ascending.
    values: Grouped<u64>,
    /// Groups with counts, ascending.
    links: Grouped<u64>,
    /// The first subject whose row names the bucket, none where rows name none.
    first: Vec<Option<SubjectIndex>>,
}

/// What belongs to which number.
type Entries = Vec<(u32, u64)>;

impl<'a> Buckets<'a> {
    fn read(
        (whole, numbers): (&'a Whole, &Numbers),
        part: usize,
        space: usize,
    ) -> io::Result<Self> {
        let (mut values, mut links) = (Entries::new(), Entries::new());
        for list in &whole.spaces.lists {
            read_list(
                (whole, numbers),
                (part, space),
                list,
                (&mut values, &mut links),
            )?;
        }
        let mut first = Vec::new();
        if let Some(column) = whole.spaces.spaces[space].column {
            links.clear();
            let stored = &whole.parts[part];
            let rows = 0..stored.tables[whole.main].rows;
            let column = stored.tables[whole.main].columns[column];
            let named = column.small_numbers(&whole.room, rows.clone())?;
            let sizes = stored.sizes.small_numbers(&whole.room, 0..stored.groups)?;
            let groups = (1_u64..).zip(sizes).flat_map(|(group, size)| {
                let group = numbers.of_part((0, part as u32), group);
                std::iter::repeat_n(group << u32::BITS, size as usize)
            });
            links.extend(named.iter().copied().zip(groups));
            let largest = named.iter().copied().max().unwrap_or(0);
            first.resize(largest as usize + 1, None);
            let subjects = stored.subjects.small_numbers(&whole.room, rows)?;
            for (&number, subject) in named.iter().zip(subjects) {
                let known: &mut Option<SubjectIndex> = &mut first[number as usize];
                if known.is_none_or(|known| subject < known.0) {
                    *known = Some(SubjectIndex(subject));
                }
            }
        }
        let all = values.iter().chain(&links);
        let largest = all.map(|&(number, _)| number).max().unwrap_or(0) as usize;
        first.resize(largest + 1, None);
        Ok(Self {
            whole,
            space,
            largest,
            values: grouped(largest, &values),
            links: grouped(largest, &links),
            first,
        })
    }

    fn compare(&self, one: u32, other: u32) -> Ordering {
        let values = self.values.get(one).cmp(self.values.get(other));
        values.then_with(|| self.links.get(one).cmp(self.links.get(other)))
    }

    /// Puts the buckets into room in order.
    fn write(self, room: &mut Room) -> io::Result<WordRange> {
        let is_used = |&number: &u32| {
            !self.values.get(number).is_empty() || !self.links.get(number).is_empty()
        };
        let mut order: Vec<u32> = (1..=self.largest as u32).filter(is_used).collect();
        order.sort_unstable_by(|&one, &other| self.compare(one, other));
        for alike in order.chunk_by_mut(|&one, &other| self.compare(one, other).is_eq()) {
            if alike.len() > 1 {
                alike.sort_by_cached_key(|&number| {
                    let first = self.first[number as usize];
                    first.map(|subject| tie_draw(&self.whole.seed, self.space, subject))
                });
            }
        }
        let mut writer = WordWriter::new(room);
        for number in order {
            let (values, links) = (self.values.get(number), self.links.get(number));
            let bucket = Header {
                number,
                values: values.len(),
                links: links.len(),
                first: self.first[number as usize],
            };
            let header = bucket.words().into_iter();
            let contents = values.iter().chain(links).copied();
            writer.put(header.chain(contents))?;
        }
        writer.finish()
    }
}

/// Reads what a list says of the numbers of a space.
fn read_list(
    (whole, numbers): (&Whole, &Numbers),
    (part, space): (usize, usize),
    list: &ListColumn,
    (values, links): (&mut Entries, &mut Entries),
) -> io::Result<()> {
    let columns = &whole.tables[list.table].columns;
    let with = |content: Content| columns.iter().position(|column| column.content == content);
    let is_of_numbers = |&at: &usize| matches!(columns[at].cells, Cells::Numbers(_));
    let Some(counts) = with(Content::Count).filter(is_of_numbers) else {
        return Ok(());
    };
    let stored = &whole.parts[part];
    let read = |column: usize| whole.values_of_list(stored, (list.table, column));
    let counts = read(counts)?;
    let named = read(list.column)?;
    let attributes = match with(Content::Attribute) {
        Some(column) => read(column)?,
        None => vec![0; named.len()],
    };
    let gather = |items: Vec<u64>, entries: &mut Entries| {
        let rows = items.iter().zip(&counts).zip(named.iter().zip(&attributes));
        let rows = rows.filter(|&(_, (_, &attribute))| list.space(attribute as u32) == space);
        entries.extend(
            rows.map(|((item, count), (&number, _))| (number as u32, item << u32::BITS | count)),
        );
    };
    if let Some(column) = with(Content::Value) {
        gather(read(column)?, values);
    }
    if let Some(column) = with(Content::Group).filter(is_of_numbers) {
        let groups = read(column)?.into_iter();
        let groups = groups.map(|group| numbers.of_part((0, part as u32), group));
        gather(groups.collect(), links);
    }
    Ok(())
}

fn grouped(largest: usize, entries: &[(u32, u64)]) -> Grouped<u64> {
    let entries = entries
        .iter()
        .map(|&(number, entry)| (number as usize, entry));
    let mut grouped = Grouped::of(largest, entries);
    grouped.each_part(|entries| entries.sort_unstable());
    grouped
}

/// What stands before the values and links of a bucket in room.
#[derive(Clone, Copy, Default)]
struct Header {
    number: u32,
    values: usize,
    links: usize,
    first: Option<SubjectIndex>,
}

impl Header {
    const WORDS: usize = 4;

    fn words(self) -> [u64; Self::WORDS] {
        let first = self.first.map_or(0, |subject| u64::from(subject.0) + 1);
        [
            self.number.into(),
            self.values as u64,
            self.links as u64,
            first,
        ]
    }

    fn read(words: &[u64]) -> Self {
        let first = words[3].checked_sub(1);
        Self {
            number: words[0] as u32,
            values: words[1] as usize,
            links: words[2] as usize,
            first: first.map(|subject| SubjectIndex(subject as u32)),
        }
    }

    /// Where the values stand, and the links behind them.
    fn contents(self) -> (Range<usize>, Range<usize>) {
        let links = Self::WORDS + self.values;
        (Self::WORDS..links, links..links + self.links)
    }
}

/// The buckets of a part in order.
struct BucketRun<'a> {
    whole: &'a Whole,
    space: usize,
    words: WordReader<'a>,
    bucket: Header,
    draw: OnceCell<Option<u64>>,
}

impl BucketRun<'_> {
    fn draw(&self) -> Option<u64> {
        let draw = |subject| tie_draw(&self.whole.seed, self.space, subject);
        *self.draw.get_or_init(|| self.bucket.first.map(draw))
    }

    fn values(&self) -> &[u64] {
        self.words.get(self.bucket.contents().0)
    }

    fn links(&self) -> &[u64] {
        self.words.get(self.bucket.contents().1)
    }
}

impl Run for BucketRun<'_> {
    fn advance(&mut self) -> io::Result<bool> {
        self.draw.take();
        if self.bucket.number > 0 {
            self.words.skip(self.bucket.contents().1.end);
        }
        if !self.words.has(Header::WORDS)? {
            return Ok(false);
        }
        self.bucket = Header::read(self.words.get(0..Header::WORDS));
        self.words.has(self.bucket.contents().1.end)
    }

    fn compare(&self, other: &Self) -> io::Result<Ordering> {
        let values = self.values().cmp(other.values());
        let contents = values.then_with(|| self.links().cmp(other.links()));
        Ok(contents.then_with(|| self.draw().cmp(&other.draw())))
    }
}
