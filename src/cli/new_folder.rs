//! A folder that is made whole: at every moment the name stands for all of what
//! was there, or for all of what is new.
//!
//! The new folder is filled beside the old one and written through to the disk.
//! Then both change places in one step, and the old one is removed. A process
//! that is killed before leaves nothing but the unfinished folder, whose name
//! begins with a dot and says so.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use serde_json::Value;
use tempfile::TempDir;

use super::exit::Exit;
use super::release_folder::{MANIFEST, REPORT, VERIFICATION};
use super::release_hierarchies::{self, FOLDER, LIST};
use crate::failpoint;

/// A folder on its way to its name.
pub struct NewFolder {
    folder: TempDir,
    out: PathBuf,
}

impl NewFolder {
    /// An empty folder beside `out`.
    pub fn beside(out: &Path) -> io::Result<Self> {
        let out = std::fs::canonicalize(out).unwrap_or_else(|_| out.to_owned());
        let parent = parent_of(&out);
        std::fs::create_dir_all(&parent)?;
        let name = out.file_name().and_then(OsStr::to_str).unwrap_or("release");
        let folder = tempfile::Builder::new()
            .prefix(&format!(".{name}-"))
            .suffix(".unfinished")
            .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777))
            .tempdir_in(&parent)?;
        Ok(Self { folder, out })
    }

    /// Where the files go.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file through to the disk.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut file = File::create_new(self.path().join(name))?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    /// Writes files into a folder of their own inside.
    pub fn write_inside(&self, name: &str, files: &[(String, String)]) -> io::Result<()> {
        let folder = self.path().join(name);
        std::fs::create_dir(&folder)?;
        for (file, text) in files {
            self.write(&format!("{name}/{file}"), text.as_bytes())?;
        }
        File::open(folder)?.sync_all()
    }

    /// Takes the place of what has the name.
    pub fn finish(self) -> io::Result<()> {
        File::open(self.path())?.sync_all()?;
        failpoint::reached("release-before-its-name");
        let (new, out) = (self.path(), &self.out);
        let placed = match renameat_with(CWD, new, CWD, out, RenameFlags::NOREPLACE) {
            Err(Errno::EXIST) => exchange(new, out),
            // A file system without the flag.
            Err(Errno::INVAL | Errno::NOSYS) if !out.exists() => std::fs::rename(new, out),
            Err(Errno::INVAL | Errno::NOSYS) => exchange(new, out),
            named => named.map_err(io::Error::from),
        };
        placed.map_err(|error| match error.kind() {
            ErrorKind::ResourceBusy | ErrorKind::CrossesDevices => {
                let what = "a mount point cannot be replaced as a whole: name a folder inside it";
                io::Error::new(error.kind(), what)
            }
            _ => error,
        })?;
        failpoint::reached("release-has-its-name");
        File::open(parent_of(out))?.sync_all()
        // What is in the unfinished folder now goes with it: the release before.
    }
}

/// Lets two folders change places; where the file system cannot, the old one
/// steps aside first.
fn exchange(new: &Path, out: &Path) -> io::Result<()> {
    match renameat_with(CWD, new, CWD, out, RenameFlags::EXCHANGE) {
        Err(Errno::INVAL | Errno::NOSYS) => {}
        exchanged => return Ok(exchanged?),
    }
    let mut aside = new.as_os_str().to_owned();
    aside.push(".before");
    std::fs::rename(out, &aside)?;
    std::fs::rename(new, out)?;
    std::fs::rename(&aside, new)
}

/// The folder that a path is in.
pub fn parent_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.into(),
        _ => ".".into(),
    }
}

/// Refuses a place for a release that holds anything else: it would be gone.
pub fn check_place(out: &Path) -> Result<(), Exit> {
    let refused = |what: &str| {
        let text = format!("--out {}: {what}; name another folder", out.display());
        Err(Exit::Usage(text))
    };
    let entries = match std::fs::read_dir(out) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            return refused("is no folder");
        }
        Err(error) => return Err(error.into()),
    };
    if std::fs::canonicalize(out).ok() == std::env::current_dir().ok() {
        return refused("is the folder that this runs in");
    }
    let mut known = BTreeSet::from([MANIFEST, REPORT, VERIFICATION, LIST].map(String::from));
    let manifest = std::fs::read(out.join(MANIFEST)).unwrap_or_default();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap_or_default();
    for table in manifest["tables"].as_array().into_iter().flatten() {
        let name = table["name"].as_str().unwrap_or_default();
        known.extend(["csv", "parquet"].map(|format| format!("{name}.{format}")));
    }
    let listed = release_hierarchies::list(out).ok().flatten();
    known.extend(listed.iter().flat_map(release_hierarchies::paths));
    let inner = out.join(FOLDER);
    let mut names = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        if name != FOLDER || !inner.is_dir() {
            names.push(name);
        }
    }
    for entry in std::fs::read_dir(&inner).into_iter().flatten() {
        let name = Path::new(FOLDER).join(entry?.file_name());
        names.push(name.into_os_string());
    }
    for name in names {
        let is_known = name.to_str().is_some_and(|name| known.contains(name));
        if !is_known {
            let what = format!("holds `{}`, which is of no release", name.to_string_lossy());
            return refused(&what);
        }
    }
    Ok(())
}
