//! The lock file that keeps a second server away from an SQLite file.
//!
//! Two servers on one file would not break the file, but each would believe
//! that its clock and its signals are the only ones. The lock is the operating
//! system's (`flock`): it goes away with the process, however that ends, so a
//! lock file left behind locks nothing.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::store::StoreError;

/// Holds the lock until it is dropped.
pub(super) struct FileLock {
    _file: File,
}

/// Makes the folder and the file (readable by their owner alone) and takes the
/// lock, if this is to be the one server of the file.
pub(super) fn prepare(path: &Path, exclusive: bool) -> Result<Option<FileLock>, StoreError> {
    prepare_files(path, exclusive).map_err(|error| match error {
        TryLockError::WouldBlock => StoreError::driver("another server has this store open"),
        TryLockError::Error(error) => {
            StoreError::driver(format!("opening the store's file: {}", error.kind()))
        }
    })
}

/// Whether the file is there. Where it is not, the nearest folder that is must
/// be one that files can be made in.
pub(super) fn exists(path: &Path) -> Result<bool, StoreError> {
    let told = |error: io::Error| {
        StoreError::driver(format!("opening the store's file: {}", error.kind()))
    };
    if path.try_exists().map_err(told)? {
        return Ok(true);
    }
    let whole = std::path::absolute(path).map_err(told)?;
    let folder = whole.ancestors().skip(1).find(|folder| folder.exists());
    let folder = folder.unwrap_or(Path::new("/"));
    match rustix::fs::access(folder, rustix::fs::Access::WRITE_OK) {
        Ok(()) if folder.is_dir() => Ok(false),
        Ok(()) => Err(told(io::ErrorKind::NotADirectory.into())),
        Err(error) => Err(told(error.into())),
    }
}

fn prepare_files(path: &Path, exclusive: bool) -> Result<Option<FileLock>, TryLockError> {
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        std::fs::create_dir_all(folder).map_err(TryLockError::Error)?;
    }
    let lock = if exclusive {
        let file = open_private(&lock_path(path)).map_err(TryLockError::Error)?;
        file.try_lock()?;
        Some(FileLock { _file: file })
    } else {
        None
    };
    open_private(path).map_err(TryLockError::Error)?;
    Ok(lock)
}

fn lock_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}

/// Opens a file for writing, making it readable and writable by its owner alone.
fn open_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
