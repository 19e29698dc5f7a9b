//! Room beside the memory: unlinked temporary files, gone with the process.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;

use crate::microdata::Spill;
use crate::store::NewChunk;

/// Bytes of a body that are passed on at a time.
const PIECE_BYTES: usize = 64 << 10;

/// Room for the subjects of an upload, or for the cells of a row group.
pub struct Room {
    file: File,
    length: u64,
    /// The first failure: whoever is given the room may not know what kinds
    /// of failures there are.
    failure: Option<io::Error>,
}

impl Room {
    /// An empty room.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            file: tempfile::tempfile()?,
            length: 0,
            failure: None,
        })
    }

    /// The first failure of the file, if there was one.
    pub fn failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    fn note(&mut self, result: io::Result<()>) -> io::Result<()> {
        result.map_err(|error| {
            let said = io::Error::from(error.kind());
            self.failure.get_or_insert(error);
            said
        })
    }
}

impl Spill for Room {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = self.file.write_all_at(bytes, self.length);
        self.note(written)?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let read = self.file.read_exact_at(buffer, offset);
        self.note(read)
    }

    fn clear(&mut self) -> io::Result<()> {
        let cut = self.file.set_len(0);
        self.length = 0;
        self.note(cut)
    }
}

/// Why a body did not get into a file.
pub enum BodyFault {
    /// The body was not read to its end.
    Body(io::Error),
    /// The file took no more.
    Room(io::Error),
}

/// Passes a body on into a file of its own, to be read in any order.
pub fn spool_body(body: &mut impl Read) -> Result<File, BodyFault> {
    let mut file = tempfile::tempfile().map_err(BodyFault::Room)?;
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match body.read(&mut piece) {
            Ok(0) => return Ok(file),
            Ok(length) => file.write_all(&piece[..length]).map_err(BodyFault::Room)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(BodyFault::Body(error)),
        }
    }
}

/// Chunks on their way into the store.
pub struct Spool {
    file: BufWriter<File>,
    chunks: Vec<ChunkSize>,
}

#[derive(Clone, Copy)]
struct ChunkSize {
    bytes: usize,
    records: u64,
}

impl Spool {
    /// A spool without chunks.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            file: BufWriter::new(tempfile::tempfile()?),
            chunks: Vec::new(),
        })
    }

    /// Puts a chunk behind the others.
    pub fn push(&mut self, bytes: &[u8], records: u64) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.chunks.push(ChunkSize {
            bytes: bytes.len(),
            records,
        });
        Ok(())
    }

    /// The chunks, to be drawn one at a time.
    pub fn into_chunks(self) -> io::Result<SpooledChunks> {
        let mut file = self
            .file
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(0))?;
        Ok(SpooledChunks {
            file,
            chunks: self.chunks.into_iter(),
        })
    }
}

/// The chunks of a whole upload, read back one at a time.
pub struct SpooledChunks {
    file: File,
    chunks: std::vec::IntoIter<ChunkSize>,
}

impl Iterator for SpooledChunks {
    type Item = io::Result<NewChunk>;

    fn next(&mut self) -> Option<io::Result<NewChunk>> {
        let size = self.chunks.next()?;
        let mut bytes = vec![0; size.bytes];
        let read = self.file.read_exact(&mut bytes);
        Some(read.map(|()| NewChunk {
            bytes,
            records: size.records,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_come_back_as_they_were_put_in() {
        let mut spool = Spool::new().unwrap();
        spool.push(b"first", 5).unwrap();
        spool.push(b"", 0).unwrap();
        spool.push(&[7; 100_000], 9).unwrap();
        let chunks: Vec<NewChunk> = spool.into_chunks().unwrap().map(Result::unwrap).collect();
        let sizes: Vec<_> = chunks
            .iter()
            .map(|chunk| (chunk.bytes.len(), chunk.records))
            .collect();
        assert_eq!(sizes, [(5, 5), (0, 0), (100_000, 9)]);
        assert_eq!(chunks[0].bytes, b"first");
    }

    #[test]
    fn a_room_reads_what_was_appended() {
        let mut room = Room::new().unwrap();
        room.append(b"abc").unwrap();
        room.append(b"def").unwrap();
        let mut buffer = [0; 4];
        room.read_at(1, &mut buffer).unwrap();
        assert_eq!(&buffer, b"bcde");
        assert!(room.read_at(4, &mut buffer).is_err());
    }
}
