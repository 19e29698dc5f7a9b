//! Groups that show the same in the columns looked at.
//!
//! Parts are read twice: the first time a hash of each group's look is kept, the second
//! time the looks themselves, of those alone whose hash occurs more than once.

use std::hash::{Hash, Hasher};
use std::io;

use rustc_hash::{FxHashMap, FxHasher};

use crate::microdata::SubjectIndex;

use super::part::{PartGroup, PartNumber};
use super::room::Room;
use super::stored::StoredPart;

/// Rows that are read at once.
const BLOCK_ROWS: u32 = 1 << 16;

/// What several groups show alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alike {
    /// The groups, ascending; at least two.
    pub groups: Vec<PartGroup>,
    /// The subjects of their rows that show it: of all, where the rows of a group do not
    /// differ in the columns looked at.
    pub subjects: Vec<SubjectIndex>,
}

/// Looks that several groups have; `main` is the table with a row a subject, `looked_at`
/// are columns of it.
pub(super) fn alike(
    (room, main): (&Room, usize),
    parts: &[(PartNumber, &StoredPart)],
    looked_at: &[usize],
) -> io::Result<Vec<Alike>> {
    let readers: Vec<Reader<'_>> = parts
        .iter()
        .map(|&(number, part)| Reader {
            room,
            number,
            part,
            main,
            looked_at,
        })
        .collect();
    let mut hashes = Vec::new();
    for reader in &readers {
        let mut last = None;
        reader.each_row(&mut |group, look, _| {
            let seen = Some((group, hash(look)));
            if seen != last {
                hashes.push(hash(look));
                last = seen;
            }
        })?;
    }
    let hashes = repeated(hashes);
    let mut looks = Looks::default();
    for reader in &readers {
        reader.each_row(&mut |group, look, subject| {
            if hashes.binary_search(&hash(look)).is_ok() {
                looks.add(group, look, subject);
            }
        })?;
    }
    let mut found = looks.found;
    found.retain(|alike| alike.groups.len() > 1);
    Ok(found)
}

/// The same whatever the run.
fn hash(look: &[u32]) -> u64 {
    let mut hasher = FxHasher::default();
    look.hash(&mut hasher);
    hasher.finish()
}

/// Each that occurs more than once, ascending.
fn repeated(mut hashes: Vec<u64>) -> Vec<u64> {
    hashes.sort_unstable();
    let equal = hashes.chunk_by(|one, other| one == other);
    equal
        .filter(|equal| equal.len() > 1)
        .map(|equal| equal[0])
        .collect()
}

/// The looks found, in order of first appearance.
#[derive(Default)]
struct Looks {
    places: FxHashMap<Box<[u32]>, usize>,
    found: Vec<Alike>,
}

impl Looks {
    fn add(&mut self, group: PartGroup, look: &[u32], subject: SubjectIndex) {
        let place = match self.places.get(look) {
            Some(&place) => place,
            None => {
                self.places.insert(look.into(), self.found.len());
                self.found.push(Alike {
                    groups: Vec::new(),
                    subjects: Vec::new(),
                });
                self.found.len() - 1
            }
        };
        let alike = &mut self.found[place];
        if alike.groups.last() != Some(&group) {
            alike.groups.push(group);
        }
        alike.subjects.push(subject);
    }
}

/// Reads what the rows of a part show.
struct Reader<'a> {
    room: &'a Room,
    number: PartNumber,
    part: &'a StoredPart,
    main: usize,
    looked_at: &'a [usize],
}

impl Reader<'_> {
    /// Gives the group, the look and the subject of each row.
    fn each_row(&self, take: &mut dyn FnMut(PartGroup, &[u32], SubjectIndex)) -> io::Result<()> {
        let table = &self.part.tables[self.main];
        let sizes = self
            .part
            .sizes
            .small_numbers(self.room, 0..self.part.groups)?;
        let numbers = (1_u32..).zip(sizes);
        let mut groups =
            numbers.flat_map(|(group, size)| std::iter::repeat_n(group, size as usize));
        let width = self.looked_at.len();
        let (mut looks, mut bytes) = (Vec::new(), Vec::new());
        for first in (0..table.rows).step_by(BLOCK_ROWS as usize) {
            let rows = first..table.rows.min(first.saturating_add(BLOCK_ROWS));
            looks.resize(rows.len() * width, 0_u32);
            for (place, &column) in self.looked_at.iter().enumerate() {
                let put = |row: usize, number: u64| looks[row * width + place] = number as u32;
                table.columns[column].read(self.room, rows.clone(), &mut bytes, put)?;
            }
            let subjects = self.part.subjects;
            subjects.read(self.room, rows, &mut bytes, |row, subject| {
                let group = PartGroup {
                    part: self.number,
                    group: groups.next().unwrap_or(0),
                };
                let look = &looks[row * width..(row + 1) * width];
                take(group, look, SubjectIndex(subject as u32));
            })?;
        }
        Ok(())
    }
}
