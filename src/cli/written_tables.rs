//! Tables of a release on their way into its folder.
//!
//! A release that fails verification is never visible: text stands in files
//! without a name, which are gone with the process however it ends. A table
//! that is shown gets its name in one step, whole.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;

use anyhow::Context;
use rustix::fs::{AtFlags, CWD, linkat};

use super::exit::Exit;
use crate::catalog::{EncodedTable, TextRoom};
use crate::release::Format;
use crate::room::Room;

/// Bytes of a converted table that are written at a time.
const BUFFER_BYTES: usize = 1 << 20;

/// The texts of the tables of a release, in its folder.
pub struct WrittenTables<'o> {
    folder: &'o Path,
    texts: Vec<(String, File)>,
}

impl<'o> WrittenTables<'o> {
    /// No table yet; the folder may not be there.
    pub fn new(folder: &'o Path) -> Self {
        Self {
            folder,
            texts: Vec::new(),
        }
    }

    /// Room for the text of the table `name`.
    pub fn room(&mut self, name: &str) -> io::Result<TextRoom> {
        // Not before there is something to write: a refused job leaves nothing.
        std::fs::create_dir_all(self.folder)?;
        let file = tempfile::tempfile_in(self.folder)?;
        let room = Room::of(file.try_clone()?);
        self.texts.push((name.into(), file));
        Ok(Box::new(room))
    }

    /// Shows the tables as CSV.
    pub fn show(self) -> Result<(), Exit> {
        for (name, text) in self.texts {
            let name = format!("{name}.csv");
            show(&text, self.folder, &name).with_context(|| format!("{name} cannot be made"))?;
        }
        Ok(())
    }

    /// Shows the tables in another format instead.
    pub fn show_converted(self, tables: &[EncodedTable], format: Format) -> Result<(), Exit> {
        for table in tables {
            let name = format!("{}.{}", table.description.name, format.as_str());
            let convert = || -> io::Result<()> {
                let file = tempfile::tempfile_in(self.folder)?;
                let mut out = BufWriter::with_capacity(BUFFER_BYTES, file);
                table.transcode(format, &mut out)?;
                out.flush()?;
                show(out.get_ref(), self.folder, &name)
            };
            convert().with_context(|| format!("{name} cannot be made"))?;
        }
        Ok(())
    }
}

/// Gives a file of this folder that has no name a name, also where another
/// file has it.
fn show(file: &File, folder: &Path, name: &str) -> io::Result<()> {
    let passing = tempfile::Builder::new()
        .prefix(&format!(".{name}-"))
        .suffix(".unfinished")
        .make_in(folder, |path| {
            link(file, path).or_else(|_| copy(file, path))
        })?;
    passing.persist(folder.join(name))?;
    Ok(())
}

fn link(file: &File, path: &Path) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let open = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, open, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

/// For file systems that give no name to a file that had none.
fn copy(mut file: &File, path: &Path) -> io::Result<()> {
    file.rewind()?;
    io::copy(&mut file, &mut File::create_new(path)?)?;
    Ok(())
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
        let mut tables = WrittenTables::new(folder.path());
        let mut room = tables.room("microdata").unwrap();
        room.append(b"group\n").unwrap();
        assert!(names(folder.path()).is_empty());
        drop((tables, room));
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn what_is_shown_is_whole_and_takes_the_place_of_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let shown = folder.path().join("microdata.csv");
        std::fs::write(&shown, "of another day").unwrap();
        let mut tables = WrittenTables::new(folder.path());
        let mut room = tables.room("microdata").unwrap();
        room.append(b"group\n").unwrap();
        room.append(b"1\n").unwrap();
        assert_eq!(std::fs::read(&shown).unwrap(), b"of another day");
        assert!(tables.show().is_ok());
        assert_eq!(std::fs::read(&shown).unwrap(), b"group\n1\n");
        assert_eq!(names(folder.path()), ["microdata.csv"]);
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
