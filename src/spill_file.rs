//! Room beside the memory: temporary files without a name, gone with the process.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::OnceLock;

use vizard_anonymizer::engine::Scratch;
use vizard_anonymizer::microdata::Spill;

/// Room for the subjects of an upload, for the cells of a row group, or for the
/// text of a table.
pub struct SpillFile {
    file: File,
    length: u64,
    /// The first failure: the user of the room may not know what kinds of
    /// failures there are.
    failure: OnceLock<io::Error>,
}

impl SpillFile {
    /// An empty room.
    pub fn new() -> io::Result<Self> {
        tempfile::tempfile().map(Self::of)
    }

    /// An empty file as room; its maker may hold it as well.
    pub fn of(file: File) -> Self {
        Self {
            file,
            length: 0,
            failure: OnceLock::new(),
        }
    }

    /// The first failure of the file, if there was one.
    pub fn failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    fn note(&self, result: io::Result<()>) -> io::Result<()> {
        result.map_err(|error| {
            let said = io::Error::from(error.kind());
            let _first = self.failure.set(error);
            said
        })
    }
}

/// Room in temporary files without a name: in a folder, or where temporary files are.
#[derive(Clone, Debug, Default)]
pub struct UnnamedFiles(Option<PathBuf>);

impl UnnamedFiles {
    /// Files on the disk of this folder, which is made if it is not there.
    pub fn beside(folder: PathBuf) -> Self {
        Self(Some(folder))
    }
}

impl Scratch for UnnamedFiles {
    fn room(&self) -> io::Result<Box<dyn Spill + Send + Sync>> {
        let file = match &self.0 {
            None => tempfile::tempfile()?,
            Some(folder) => {
                std::fs::create_dir_all(folder)?;
                tempfile::tempfile_in(folder)?
            }
        };
        Ok(Box::new(SpillFile::of(file)))
    }
}

impl Spill for SpillFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = self.file.write_all_at(bytes, self.length);
        self.note(written)?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let read = self.file.read_exact_at(buffer, offset);
        self.note(read)
    }

    fn clear(&mut self) -> io::Result<()> {
        let cut = self.file.set_len(0);
        self.length = 0;
        self.note(cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_reads_what_was_appended() {
        let mut room = SpillFile::new().unwrap();
        room.append(b"abc").unwrap();
        room.append(b"def").unwrap();
        let mut buffer = [0; 4];
        room.read_at(1, &mut buffer).unwrap();
        assert_eq!(&buffer, b"bcde");
        assert!(room.read_at(4, &mut buffer).is_err());
    }

    #[test]
    fn a_disk_that_is_full_is_told_and_remembered() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut room = SpillFile::of(full);
        let kind = io::ErrorKind::StorageFull;
        assert_eq!(room.append(b"abc").unwrap_err().kind(), kind);
        assert_eq!(room.failure().map(|error| error.kind()), Some(kind));
        assert!(room.failure().is_none());
    }
}
