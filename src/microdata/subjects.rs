//! Finds a subject's second record at constant memory, whatever the number of
//! records.
//!
//! Each key is kept as a keyed 128-bit hash with its line. Hashes are sorted
//! in runs of [`RUN_ENTRIES_MAX`] and spilled to room that the caller gives;
//! at the end the runs are merged, and equal neighbours are one subject. Two
//! of a hundred million keys collide with a probability below 2⁻⁷⁰; the hash
//! key is secret and drawn by the caller, so nobody can bring it about. *Ours.*

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

/// Both halves of the hash of a subject's key, and the line of its record.
type Entry = (u64, u64, u64);

/// The subjects seen so far.
pub struct SubjectKeys<'a> {
    key: [u8; 16],
    open: Vec<Entry>,
    run_entries_max: usize,
    /// Entries of each spilled run, in order of spilling.
    runs: Vec<u64>,
    spill: &'a mut (dyn Spill + Send),
}

impl<'a> SubjectKeys<'a> {
    /// No subject yet. `key` is random and secret; `spill` is empty.
    pub fn new(key: [u8; 16], spill: &'a mut (dyn Spill + Send)) -> Self {
        Self {
            key,
            open: Vec::new(),
            run_entries_max: RUN_ENTRIES_MAX,
            runs: Vec::new(),
            spill,
        }
    }

    /// Adds the subjects of a stored chunk, to which an upload is appended.
    pub fn add_chunk(&mut self, chunk: &Chunk, schema: &Schema) -> Result<(), TableError> {
        match chunk.columns.get(schema.subject_key().at()) {
            Some(ChunkColumn::Text(keys)) => keys
                .iter()
                .try_for_each(|subject| self.add(subject.as_bytes(), 0)),
            _ => Err(TableError::Chunk("no column of subject keys".into())),
        }
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

    /// Adds one subject; `line` is 0 for a record that is stored already.
    fn add(&mut self, subject: &[u8], line: u64) -> Result<(), TableError> {
        let [high, low] = self.hash(subject);
        self.open.push((high, low, line));
        if self.open.len() >= self.run_entries_max {
            self.spill_run()?;
        }
        Ok(())
    }

    /// Hands the line of every record of a subject that has one before to
    /// `repeated`, in no particular order, and forgets all subjects.
    pub(super) fn finish(&mut self, repeated: &mut dyn FnMut(u64)) -> Result<(), TableError> {
        let mut previous: Option<Entry> = None;
        let mut see = |entry: Entry| {
            // Equal hashes come in order of lines, so the first one is the
            // record to keep; those on line 0 are stored already.
            let is_repeated =
                previous.is_some_and(|before| (before.0, before.1) == (entry.0, entry.1));
            if is_repeated && entry.2 > 0 {
                repeated(entry.2);
            }
            previous = Some(entry);
        };
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

    /// SipHash twice, each over its own half of the secret key, which stands
    /// before the text: the standard library's hasher takes no key.
    fn hash(&self, subject: &[u8]) -> [u64; 2] {
        [&self.key[..8], &self.key[8..]].map(|half| {
            let mut hasher = DefaultHasher::new();
            hasher.write(half);
            hasher.write(subject);
            hasher.finish()
        })
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
