//! The journal of tombstones: a file outside the database.
//!
//! One line of JSON a tombstone, appended and brought to the disk before the
//! transaction that it belongs to commits. Order and repetition mean nothing,
//! so journals of several servers can simply be put one behind the other. The
//! lines hold ids and times, nothing of a person.
//!
//! A line that was cut short, because the process died or the disk was full,
//! belongs to a transaction that did not commit: it is cut off before the next
//! one is written. Any other line that cannot be read refuses the start: it
//! might be an erasure.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::durable::sync_folder_of;
use super::error::{DriverError, SQLITE_FULL};
use super::{Buried, StoreError, Tombstone};

/// A line of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    what: String,
    id: Uuid,
    at: DateTime<Utc>,
}

/// The journal of one process; others may append to the same file.
pub(super) struct Journal(Mutex<State>);

struct State {
    file: File,
    written: BTreeSet<Tombstone>,
}

impl Journal {
    /// Opens the file, making it if need be, and reads its tombstones.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(failed)?;
        // The file's name must survive as well.
        sync_folder_of(path).map_err(failed)?;
        let text = locked(&mut file, |file| {
            cut_torn_line(file)?;
            file.seek(SeekFrom::Start(0))?;
            let mut text = String::new();
            file.read_to_string(&mut text)?;
            Ok(text)
        })?;
        let written = read(&text)?;
        Ok(Self(Mutex::new(State { file, written })))
    }

    /// The tombstones that were in the file when it was opened, and those
    /// appended since.
    pub(super) fn tombstones(&self) -> BTreeSet<Tombstone> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.written.clone()
    }

    /// Appends a tombstone, unless it is there, and waits until it is on the disk.
    pub(super) fn append(&self, tombstone: &Tombstone) -> Result<(), StoreError> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.written.contains(tombstone) {
            return Ok(());
        }
        let line = Line {
            what: tombstone.what.word().to_owned(),
            id: tombstone.what.id(),
            at: tombstone.at,
        };
        let mut line = serde_json::to_string(&line)
            .map_err(|_| StoreError::driver("a tombstone has no JSON text"))?;
        line.push('\n');
        locked(&mut state.file, |file| {
            cut_torn_line(file)?;
            file.write_all(line.as_bytes())?;
            file.sync_all()
        })?;
        state.written.insert(*tombstone);
        Ok(())
    }
}

/// Does something while no other process appends.
fn locked<T>(
    file: &mut File,
    work: impl FnOnce(&mut File) -> io::Result<T>,
) -> Result<T, StoreError> {
    file.lock().map_err(failed)?;
    let done = work(file);
    let unlocked = file.unlock();
    let done = done.map_err(failed)?;
    unlocked.map_err(failed)?;
    Ok(done)
}

/// Cuts off what stands behind the last line's end.
fn cut_torn_line(file: &mut File) -> io::Result<()> {
    let length = file.seek(SeekFrom::End(0))?;
    let mut whole = length;
    let mut byte = [0];
    while whole > 0 {
        file.seek(SeekFrom::Start(whole - 1))?;
        file.read_exact(&mut byte)?;
        if byte == *b"\n" {
            break;
        }
        whole -= 1;
    }
    if whole < length {
        file.set_len(whole)
    } else {
        Ok(())
    }
}

fn read(text: &str) -> Result<BTreeSet<Tombstone>, StoreError> {
    let mut tombstones = BTreeSet::new();
    for (number, line) in (1..).zip(text.lines()) {
        let tombstone = serde_json::from_str::<Line>(line).ok().and_then(|line| {
            let what = Buried::of(&line.what, line.id)?;
            Some(Tombstone { what, at: line.at })
        });
        let tombstone = tombstone.ok_or_else(|| {
            StoreError::driver(format!(
                "line {number} of the tombstone journal cannot be read"
            ))
        })?;
        tombstones.insert(tombstone);
    }
    Ok(tombstones)
}

/// A full disk is told as one, so that the answer is the same as of a full store.
fn failed(error: io::Error) -> StoreError {
    let full = error.kind() == io::ErrorKind::StorageFull;
    StoreError::Driver(DriverError {
        code: full.then(|| SQLITE_FULL.to_owned()),
        message: format!("the tombstone journal: {}", error.kind()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{DatasetId, ReleaseId};

    fn tombstone(number: u128, at_s: i64) -> Tombstone {
        Tombstone {
            what: Buried::Dataset(DatasetId::from(Uuid::from_u128(number))),
            at: DateTime::from_timestamp(at_s, 123_456_000).expect("in range"),
        }
    }

    #[test]
    fn what_was_appended_is_there_after_opening_again_and_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tombstones");
        let release = Tombstone {
            what: Buried::Release(ReleaseId::from(Uuid::from_u128(7))),
            ..tombstone(1, 5)
        };
        let all = [tombstone(1, 5), tombstone(1, 6), tombstone(2, 5), release];
        let journal = Journal::open(&path).expect("it opens");
        for tombstone in all.iter().chain(&all) {
            journal.append(tombstone).expect("it is written");
        }
        let again = Journal::open(&path).expect("it opens");
        assert_eq!(again.tombstones(), BTreeSet::from(all));
        let text = std::fs::read_to_string(&path).expect("a text");
        assert_eq!(text.lines().count(), 4);
    }

    #[test]
    fn a_torn_line_is_cut_off_and_the_lines_around_it_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tombstones");
        let journal = Journal::open(&path).expect("it opens");
        journal.append(&tombstone(1, 5)).expect("it is written");
        let whole = std::fs::read_to_string(&path).expect("a text");
        std::fs::write(&path, format!("{whole}{}", &whole[..20])).expect("torn");
        // A process that is running and one that starts both mend it.
        journal.append(&tombstone(2, 5)).expect("it is written");
        let both = BTreeSet::from([tombstone(1, 5), tombstone(2, 5)]);
        assert_eq!(Journal::open(&path).expect("it opens").tombstones(), both);
        let whole = std::fs::read_to_string(&path).expect("a text");
        std::fs::write(&path, format!("{whole}{{")).expect("torn");
        assert_eq!(Journal::open(&path).expect("it opens").tombstones(), both);
    }

    #[test]
    fn a_line_that_cannot_be_read_refuses_the_start() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tombstones");
        let journal = Journal::open(&path).expect("it opens");
        journal.append(&tombstone(1, 5)).expect("it is written");
        let whole = std::fs::read_to_string(&path).expect("a text");
        for broken in [
            "nonsense\n".to_owned(),
            whole.replace("dataset_erased", "eaten"),
        ] {
            std::fs::write(&path, format!("{whole}{broken}{whole}")).expect("broken");
            let refused = Journal::open(&path).err().expect("refused").to_string();
            assert!(refused.contains("line 2"), "{refused}");
        }
    }
}
