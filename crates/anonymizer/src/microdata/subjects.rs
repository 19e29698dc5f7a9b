//! Finds a subject's second record at constant memory, whatever the number of
//! records.
//!
//! Each key is kept as a keyed 128-bit hash with its line. Hashes are sorted
//! in runs of [`RUN_ENTRIES_MAX`] and spilled to room that the caller gives;
//! at the end the runs are merged, and equal neighbours are one subject. Two
//! of a hundred million keys collide with a probability below 2⁻⁷⁰; the hash
//! key is secret and drawn by the caller, so nobody can bring it about. *Ours.*
//!
//! The same merge finds which stored records an upsert replaces: a subject's
//! stored records come behind those that name it, so one pass marks them, at
//! one bit a stored record.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::{DefaultHasher, Hasher};
use std::io;

use rayon::prelude::*;

use super::chunk::{Chunk, ChunkColumn};
use super::error::TableError;
use super::schema::Schema;
use super::spill::Spill;

/// Subjects kept in memory before they are sorted and spilled.
pub const RUN_ENTRIES_MAX: usize = 1 << 19;
/// Bytes of one spilled entry: two halves of the hash and the line.
const ENTRY_BYTES: usize = 24;
/// Entries of one run that a merge holds at a time.
const PAGE_ENTRIES: usize = 2048;

/// Flag of the line of a record that the missing-value policy left out.
const LEFT_OUT: u64 = 1 << 62;
/// Flag of a stored record that an upsert may replace; the rest is its number.
const STORED: u64 = 1 << 63;

/// Both halves of the hash of a subject's key, and the line of its record.
type Entry = (u64, u64, u64);

/// The subjects seen so far.
pub struct SubjectKeys<'a> {
    hasher: KeyHasher,
    open: Vec<Entry>,
    run_entries_max: usize,
    /// Entries of each spilled run, in order of spilling.
    runs: Vec<u64>,
    spill: &'a mut (dyn Spill + Send),
    /// Which stored records are replaced, where that is asked.
    replaced: Option<Replaced>,
}

/// Hashes subject keys under a secret.
#[derive(Clone, Copy)]
pub(super) struct KeyHasher([u8; 16]);

impl KeyHasher {
    /// SipHash twice, each over its own half of the secret key, which stands
    /// before the text: the standard library's hasher takes no key.
    pub fn hash(&self, subject: &[u8]) -> [u64; 2] {
        [&self.0[..8], &self.0[8..]].map(|half| {
            let mut hasher = DefaultHasher::new();
            hasher.write(half);
            hasher.write(subject);
            hasher.finish()
        })
    }
}

/// How many subjects an upsert touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpsertCounts {
    /// Subjects that were not there.
    pub added: u64,
    /// Subjects whose records are now the upload's.
    pub replaced: u64,
    /// Subjects that the upload names and all of whose records in it were left
    /// out for missing values: they are there no more.
    pub removed: u64,
    /// Subjects that the upload does not name.
    pub kept: u64,
}

/// The stored records that an upsert replaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replaced {
    /// Stored records seen.
    stored: u64,
    /// One bit a stored record.
    marks: Vec<u64>,
    records: u64,
    subjects: UpsertCounts,
    current: Seen,
}

/// What was seen of one subject: its records in the upload, those left out
/// there, and stored ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    brought: bool,
    left_out: bool,
    stored: bool,
}

impl Replaced {
    /// Number of stored records that are replaced.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Number of stored records that stay.
    pub fn records_kept(&self) -> u64 {
        self.stored - self.records
    }

    /// How many subjects were touched.
    pub fn subjects(&self) -> UpsertCounts {
        self.subjects
    }

    /// Whether the stored record with this number, from 0, is replaced.
    pub fn holds(&self, record: u64) -> bool {
        let word = self.marks.get((record / 64) as usize);
        word.is_some_and(|word| word & (1 << (record % 64)) != 0)
    }

    fn see(&mut self, is_same_subject: bool, line: u64) {
        if !is_same_subject {
            self.close_subject();
        }
        if line & STORED == 0 {
            match line & LEFT_OUT {
                0 => self.current.brought = true,
                _ => self.current.left_out = true,
            }
            return;
        }
        self.current.stored = true;
        if self.current.brought || self.current.left_out {
            let record = line & !STORED;
            self.marks[(record / 64) as usize] |= 1 << (record % 64);
            self.records += 1;
        }
    }

    fn close_subject(&mut self) {
        let seen = std::mem::take(&mut self.current);
        let count = match (seen.brought, seen.left_out, seen.stored) {
            (true, _, true) => &mut self.subjects.replaced,
            (true, _, false) => &mut self.subjects.added,
            (false, true, true) => &mut self.subjects.removed,
            (false, false, true) => &mut self.subjects.kept,
            (false, _, false) => return,
        };
        *count += 1;
    }
}

impl<'a> SubjectKeys<'a> {
    /// No subject yet. `key` is random and secret; `spill` is empty.
    pub fn new(key: [u8; 16], spill: &'a mut (dyn Spill + Send)) -> Self {
        Self {
            hasher: KeyHasher(key),
            open: Vec::new(),
            run_entries_max: RUN_ENTRIES_MAX,
            runs: Vec::new(),
            spill,
            replaced: None,
        }
    }

    /// Those of an upsert: which of the stored records are replaced is told by
    /// [`replaced`](Self::replaced).
    #[must_use]
    pub fn of_upsert(mut self) -> Self {
        self.replaced = Some(Replaced::default());
        self
    }

    /// Whether they are those of an upsert.
    pub(super) fn is_upsert(&self) -> bool {
        self.replaced.is_some()
    }

    /// The stored records that are replaced, once the upload was read to its
    /// end; `None` where it is no upsert.
    pub fn replaced(self) -> Option<Replaced> {
        self.replaced
    }

    /// Adds the subjects of the next stored chunk, to which an upload is added.
    pub fn add_chunk(&mut self, chunk: &Chunk, schema: &Schema) -> Result<(), TableError> {
        let Some(ChunkColumn::Text(keys)) = chunk.columns.get(schema.subject_key().at()) else {
            return Err(TableError::Chunk("no column of subject keys".into()));
        };
        for subject in keys.iter() {
            let line = match &mut self.replaced {
                None => 0,
                Some(replaced) => {
                    replaced.stored += 1;
                    STORED | (replaced.stored - 1)
                }
            };
            self.add(subject.as_bytes(), line)?;
        }
        Ok(())
    }

    /// Adds the subjects of records that were left out; only an upsert asks.
    pub(super) fn add_left_out<'c>(
        &mut self,
        keys: impl Iterator<Item = &'c [u8]>,
    ) -> Result<(), TableError> {
        if !self.is_upsert() {
            return Ok(());
        }
        let mut keys = keys.filter(|key| !key.is_empty());
        keys.try_for_each(|key| self.add(key, LEFT_OUT))
    }

    /// Adds the subjects of records that stand on `lines`; a record without a
    /// key has none.
    pub(super) fn add_records<'c>(
        &mut self,
        keys: impl Iterator<Item = &'c [u8]>,
        lines: &[u64],
    ) -> Result<(), TableError> {
        let mut keyed = keys.zip(lines).filter(|(key, _)| !key.is_empty());
        keyed.try_for_each(|(key, &line)| self.add(key, line))
    }

    /// Adds one subject; `line` is 0 for a record that is stored already, and
    /// has a flag where that is of an upsert, or where the record was left out.
    fn add(&mut self, subject: &[u8], line: u64) -> Result<(), TableError> {
        let [high, low] = self.hasher.hash(subject);
        self.open.push((high, low, line));
        if self.open.len() >= self.run_entries_max {
            self.spill_run()?;
        }
        Ok(())
    }

    /// Hands the line of every record of a subject that has one before to
    /// `repeated`, in no particular order, and forgets all subjects.
    pub(super) fn finish(&mut self, repeated: &mut dyn FnMut(u64)) -> Result<(), TableError> {
        let mut replaced = self.replaced.take();
        if let Some(replaced) = &mut replaced {
            replaced.marks = vec![0; replaced.stored.div_ceil(64) as usize];
        }
        let mut previous: Option<Entry> = None;
        self.in_order(&mut |entry| {
            // Equal hashes come in order of lines, so the first one is the
            // record to keep; those on line 0 are stored already.
            let is_repeated =
                previous.is_some_and(|before| (before.0, before.1) == (entry.0, entry.1));
            if is_repeated && (1..LEFT_OUT).contains(&entry.2) {
                repeated(entry.2);
            }
            if let Some(replaced) = &mut replaced {
                replaced.see(is_repeated, entry.2);
            }
            previous = Some(entry);
        })?;
        if let Some(replaced) = &mut replaced {
            replaced.close_subject();
        }
        self.replaced = replaced;
        Ok(())
    }

    /// Hands all entries to `see`, equal subjects together and in order of
    /// lines, and forgets them.
    fn in_order(&mut self, see: &mut dyn FnMut(Entry)) -> Result<(), TableError> {
        if self.runs.is_empty() {
            self.open.par_sort_unstable();
            self.open.drain(..).for_each(see);
            return Ok(());
        }
        if !self.open.is_empty() {
            self.spill_run()?;
        }
        self.open = Vec::new();
        let mut runs = self.open_runs();
        let mut heads = BinaryHeap::with_capacity(runs.len());
        for (at, run) in runs.iter_mut().enumerate() {
            heads.extend(run.next(self.spill)?.map(|entry| Reverse((entry, at))));
        }
        while let Some(Reverse((entry, at))) = heads.pop() {
            see(entry);
            heads.extend(runs[at].next(self.spill)?.map(|next| Reverse((next, at))));
        }
        self.runs.clear();
        Ok(())
    }

    /// What its keys are hashed with.
    pub(super) fn hasher(&self) -> KeyHasher {
        self.hasher
    }

    fn spill_run(&mut self) -> Result<(), TableError> {
        self.open.par_sort_unstable();
        let mut page = Vec::with_capacity(PAGE_ENTRIES * ENTRY_BYTES);
        for entries in self.open.chunks(PAGE_ENTRIES) {
            page.clear();
            for &(high, low, line) in entries {
                for word in [high, low, line] {
                    page.extend_from_slice(&word.to_le_bytes());
                }
            }
            self.spill.append(&page).map_err(spill_error)?;
        }
        self.runs.push(self.open.len() as u64);
        self.open.clear();
        Ok(())
    }

    fn open_runs(&self) -> Vec<Run> {
        let mut offset = 0;
        let runs = self.runs.iter().map(|&entries| {
            let run = Run {
                offset,
                left: entries,
                page: Vec::new(),
            };
            offset += entries * ENTRY_BYTES as u64;
            run
        });
        runs.collect()
    }
}

/// What is left of one spilled run.
struct Run {
    offset: u64,
    left: u64,
    /// Entries read ahead, the next one last.
    page: Vec<Entry>,
}

impl Run {
    fn next(&mut self, spill: &dyn Spill) -> Result<Option<Entry>, TableError> {
        if self.page.is_empty() && self.left > 0 {
            let entries = self.left.min(PAGE_ENTRIES as u64);
            let mut bytes = vec![0; entries as usize * ENTRY_BYTES];
            spill
                .read_at(self.offset, &mut bytes)
                .map_err(spill_error)?;
            self.offset += bytes.len() as u64;
            self.left -= entries;
            self.page.extend(bytes.chunks_exact(ENTRY_BYTES).map(entry));
            self.page.reverse();
        }
        Ok(self.page.pop())
    }
}

fn entry(bytes: &[u8]) -> Entry {
    let word = |at: usize| {
        let mut word = [0; 8];
        word.copy_from_slice(&bytes[at * 8..at * 8 + 8]);
        u64::from_le_bytes(word)
    };
    (word(0), word(1), word(2))
}

fn spill_error(error: io::Error) -> TableError {
    TableError::Read(format!("room for subject keys: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeated(subjects: &[(String, u64)], run_entries_max: usize) -> Vec<u64> {
        let mut room = Vec::new();
        let mut keys = SubjectKeys::new([7; 16], &mut room);
        keys.run_entries_max = run_entries_max;
        for (subject, line) in subjects {
            keys.add(subject.as_bytes(), *line).unwrap();
        }
        let mut lines = Vec::new();
        keys.finish(&mut |line| lines.push(line)).unwrap();
        lines.sort_unstable();
        lines
    }

    #[test]
    fn second_records_are_found_across_spilled_runs() {
        let mut subjects: Vec<(String, u64)> = (0..10_000_u64)
            .map(|at| (format!("p{}", at % 9000), at + 2))
            .collect();
        subjects.insert(0, ("p5".into(), 0));
        let expected: Vec<u64> = std::iter::once(7).chain(9002..=10_001).collect();
        for run_entries_max in [1_000_000, 5000, 37] {
            assert_eq!(repeated(&subjects, run_entries_max), expected);
        }
    }

    #[test]
    fn a_stored_subject_is_never_the_second_one() {
        let subjects = [("a".into(), 0), ("a".into(), 0), ("b".into(), 2)];
        assert!(repeated(&subjects, 2).is_empty());
    }

    #[test]
    fn an_upsert_marks_the_stored_records_of_the_subjects_it_names_across_runs() {
        for run_entries_max in [1_000_000, 100, 3] {
            let mut room = Vec::new();
            let mut keys = SubjectKeys::new([7; 16], &mut room).of_upsert();
            keys.run_entries_max = run_entries_max;
            // Two stored records each of p0 to p99, one behind the other.
            let stored = ChunkColumn::Text((0..200).map(|at| format!("p{}", at / 2)).fold(
                crate::microdata::text::TextColumn::new(),
                |mut column, key| {
                    column.push(&key);
                    column
                },
            ));
            let chunk = Chunk {
                records: 200,
                columns: vec![stored],
            };
            let schema = serde_json::json!({"name": "n", "subject_key": "p", "multiplicity": "many",
                "attributes": [{"name": "p", "role": "identifier"}]});
            let schema: Schema = serde_json::from_value(schema).unwrap();
            keys.add_chunk(&chunk, &schema).unwrap();
            // p10 to p19 and one that is new come; p20, p10 and another new one are left out.
            for line in 0..11_u64 {
                let key = if line == 10 {
                    "q1".into()
                } else {
                    format!("p{}", line + 10)
                };
                keys.add(key.as_bytes(), line + 2).unwrap();
                keys.add(key.as_bytes(), line + 50).unwrap();
            }
            let left_out = [b"p20".as_slice(), b"p10", b"q2", b""];
            keys.add_left_out(left_out.into_iter()).unwrap();
            keys.finish(&mut |line| assert!(line >= 50)).unwrap();
            let replaced = keys.replaced().unwrap();
            let counts = UpsertCounts {
                added: 1,
                replaced: 10,
                removed: 1,
                kept: 89,
            };
            assert_eq!(replaced.subjects(), counts);
            assert_eq!((replaced.records(), replaced.records_kept()), (22, 178));
            let marked: Vec<u64> = (0..300).filter(|&at| replaced.holds(at)).collect();
            assert_eq!(marked, (20..42).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn room_that_lost_its_bytes_is_an_error() {
        struct Forgetful;
        impl Spill for Forgetful {
            fn append(&mut self, _bytes: &[u8]) -> io::Result<()> {
                Ok(())
            }
            fn read_at(&self, _offset: u64, _buffer: &mut [u8]) -> io::Result<()> {
                Err(io::ErrorKind::UnexpectedEof.into())
            }

            fn clear(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut room = Forgetful;
        let mut keys = SubjectKeys::new([0; 16], &mut room);
        keys.run_entries_max = 1;
        keys.add(b"a", 2).unwrap();
        assert!(matches!(keys.finish(&mut |_| ()), Err(TableError::Read(_))));
    }
}
