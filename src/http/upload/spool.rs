//! Room beside the memory: unlinked temporary files, gone with the process.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;

use crate::microdata::Spill;
use crate::store::NewChunk;

/// Room for the subjects of an upload.
pub struct Room {
    file: File,
    length: u64,
}

impl Room {
    /// An empty room.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            file: tempfile::tempfile()?,
            length: 0,
        })
    }
}

impl Spill for Room {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, self.length)?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset)
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
