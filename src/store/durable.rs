//! What makes a file's name survive as its content does.

use std::fs::File;
use std::io;
use std::path::Path;

/// Brings the folder that a file's name stands in to the disk.
pub(super) fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}
