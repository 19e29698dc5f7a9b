//! Text of tables in the folder for the release, unfinished until it is shown.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::Context;
use tempfile::NamedTempFile;

use super::exit::Exit;
use crate::catalog::TextRoom;
use crate::room::Room;

/// Permissions of a table that is shown, before the umask.
const MODE: u32 = 0o666;

/// The texts of a release that may yet fail verification.
///
/// Where CSV was asked for, each is a file under a passing name, which goes
/// unless it is shown; else it has no name.
pub struct WrittenTables<'o> {
    folder: &'o Path,
    is_csv: bool,
    unfinished: Vec<(String, NamedTempFile)>,
}

impl<'o> WrittenTables<'o> {
    /// No table yet.
    pub fn new(folder: &'o Path, is_csv: bool) -> Self {
        Self {
            folder,
            is_csv,
            unfinished: Vec::new(),
        }
    }

    /// Room for the text of the table `name`.
    pub fn room(&mut self, name: &str) -> io::Result<TextRoom> {
        // Not before there is something to write: a refused job leaves nothing.
        std::fs::create_dir_all(self.folder)?;
        if !self.is_csv {
            return Ok(Box::new(Room::of(tempfile::tempfile_in(self.folder)?)));
        }
        let file = tempfile::Builder::new()
            .prefix(&format!(".{name}.csv-"))
            .suffix(".unfinished")
            .permissions(std::fs::Permissions::from_mode(MODE))
            .tempfile_in(self.folder)?;
        let room = Room::of(file.as_file().try_clone()?);
        self.unfinished.push((format!("{name}.csv"), file));
        Ok(Box::new(room))
    }

    /// Gives every table its name.
    pub fn show(self) -> Result<(), Exit> {
        for (name, file) in self.unfinished {
            let shown = file.persist(self.folder.join(&name));
            shown.with_context(|| format!("{name} cannot be made"))?;
        }
        Ok(())
    }
}
