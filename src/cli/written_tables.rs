//! Tables of a release on their way into its folder.
//!
//! A release that fails verification is never visible: text stands in files
//! without a name, which are gone with the process however it ends.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use rustix::fs::{AtFlags, CWD, linkat};
use vizard_anonymizer::catalog::{EncodedTable, TextRoom};
use vizard_anonymizer::release::Format;

use super::exit::Exit;
use super::new_folder::parent_of;
use crate::spill_file::SpillFile;

/// Bytes of a converted table that are written at a time.
const BUFFER_BYTES: usize = 1 << 20;

/// The texts of the tables of a release, on the disk of its folder.
pub struct WrittenTables {
    place: PathBuf,
    texts: Vec<(String, File)>,
}

impl WrittenTables {
    /// No table yet, of a release that will be in the folder `out`.
    pub fn new(out: &Path) -> Self {
        Self {
            place: parent_of(out),
            texts: Vec::new(),
        }
    }

    /// Room for the text of the table `name`.
    pub fn room(&mut self, name: &str) -> io::Result<TextRoom> {
        // Not before there is something to write: a refused job leaves nothing.
        std::fs::create_dir_all(&self.place)?;
        let file = tempfile::tempfile_in(&self.place)?;
        let room = SpillFile::of(file.try_clone()?);
        self.texts.push((name.into(), file));
        Ok(Box::new(room))
    }

    /// Shows the tables as CSV in a folder without any.
    pub fn show(self, folder: &Path) -> Result<(), Exit> {
        for (name, text) in self.texts {
            let name = format!("{name}.csv");
            show(&text, folder, &name).with_context(|| format!("{name} cannot be made"))?;
        }
        Ok(())
    }

    /// Shows the tables in another format instead.
    pub fn show_converted(
        self,
        folder: &Path,
        (tables, format): (&[EncodedTable], Format),
    ) -> Result<(), Exit> {
        for table in tables {
            let name = format!("{}.{}", table.description.name, format.extension());
            let convert = || -> io::Result<()> {
                let file = File::create_new(folder.join(&name))?;
                let mut out = BufWriter::with_capacity(BUFFER_BYTES, file);
                table.transcode(format, &mut out)?;
                out.flush()?;
                out.get_ref().sync_all()
            };
            convert().with_context(|| format!("{name} cannot be made"))?;
        }
        Ok(())
    }
}

/// Gives a file that has no name one, after its bytes are on the disk.
fn show(file: &File, folder: &Path, name: &str) -> io::Result<()> {
    file.sync_all()?;
    let path = folder.join(name);
    link(file, &path).or_else(|_| copy(file, &path))
}

fn link(file: &File, path: &Path) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let open = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, open, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

/// For file systems that give no name to a file that had none.
fn copy(mut file: &File, path: &Path) -> io::Result<()> {
    file.rewind()?;
    let mut copied = File::create_new(path)?;
    io::copy(&mut file, &mut copied)?;
    copied.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<std::ffi::OsString> {
        let files = std::fs::read_dir(folder).unwrap();
        files.map(|file| file.unwrap().file_name()).collect()
    }

    #[test]
    fn what_is_not_shown_has_no_name_at_any_time() {
        let folder = tempfile::tempdir().unwrap();
        let mut tables = WrittenTables::new(&folder.path().join("out"));
        let mut room = tables.room("microdata").unwrap();
        room.append(b"group\n").unwrap();
        assert!(names(folder.path()).is_empty());
        drop((tables, room));
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn what_is_shown_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let shown = folder.path().join("shown");
        std::fs::create_dir(&shown).unwrap();
        let mut tables = WrittenTables::new(&folder.path().join("out"));
        let mut room = tables.room("microdata").unwrap();
        room.append(b"group\n").unwrap();
        room.append(b"1\n").unwrap();
        assert!(tables.show(&shown).is_ok());
        let text = std::fs::read(shown.join("microdata.csv")).unwrap();
        assert_eq!(text, b"group\n1\n");
        assert_eq!(names(&shown), ["microdata.csv"]);
    }

    #[test]
    fn a_copy_is_made_where_no_name_can_be_given() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = tempfile::tempfile_in(folder.path()).unwrap();
        file.write_all(b"group\n").unwrap();
        let path = folder.path().join("copied");
        copy(&file, &path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"group\n");
        assert!(copy(&file, &path).is_err(), "it is there already");
        assert!(link(&file, &path).is_err(), "it is there already");
    }
}
