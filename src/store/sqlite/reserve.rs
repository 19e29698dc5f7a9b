//! Room held back on the disk, so that an erasure is possible when it is full.
//!
//! An erasure writes before it frees: pages that are overwritten go through
//! the write-ahead log. A file beside the store holds room for that. It is
//! removed when an erasure begins to write, and made again afterwards.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, fallocate};

/// Room beside a store's file.
#[derive(Clone)]
pub(super) struct Reserve {
    path: PathBuf,
    bytes: u64,
}

impl Reserve {
    /// Room of `bytes` beside the file at `path`; none is held yet.
    pub(super) fn beside(path: &Path, bytes: u64) -> Self {
        let mut name = path.as_os_str().to_owned();
        name.push("-reserve");
        Self {
            path: PathBuf::from(name),
            bytes,
        }
    }

    /// Holds the room, if it is not held already.
    pub(super) fn hold(&self) -> io::Result<()> {
        if self.bytes == 0 || self.held() == self.bytes {
            return Ok(());
        }
        let held = self.make();
        if held.is_err() {
            // Half of it helps nobody.
            self.give()?;
        }
        held
    }

    /// Gives the room to the next writer.
    pub(super) fn give(&self) -> io::Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn held(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |file| file.len())
    }

    fn make(&self) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let file: File = options.open(&self.path)?;
        fallocate(&file, FallocateFlags::empty(), 0, self.bytes)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_held_given_and_held_again() {
        let folder = tempfile::tempdir().unwrap();
        let reserve = Reserve::beside(&folder.path().join("vizard.db"), 1 << 16);
        let file = folder.path().join("vizard.db-reserve");
        for _ in 0..2 {
            reserve.hold().unwrap();
            reserve.hold().unwrap();
            assert_eq!(std::fs::metadata(&file).unwrap().len(), 1 << 16);
            reserve.give().unwrap();
            reserve.give().unwrap();
            assert!(!file.exists());
        }
    }

    #[test]
    fn no_room_is_held_where_none_is_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let reserve = Reserve::beside(&folder.path().join("vizard.db"), 0);
        reserve.hold().unwrap();
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }
}
