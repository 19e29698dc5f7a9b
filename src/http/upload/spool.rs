//! Bodies and chunks beside the memory: unlinked temporary files, gone with the
//! process.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};

use vizard_anonymizer::microdata::TextSize;

use crate::store::NewChunk;

/// Bytes of a body that are passed on at a time.
const PIECE_BYTES: usize = 64 << 10;

/// Why a body did not get into a file.
pub enum BodyFault {
    /// The body was not read to its end.
    Body(io::Error),
    /// The file took no more.
    SpillFile(io::Error),
}

/// Passes a body on into a file of its own, to be read in any order.
pub fn spool_body(body: &mut impl Read) -> Result<File, BodyFault> {
    let mut file = tempfile::tempfile().map_err(BodyFault::SpillFile)?;
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match body.read(&mut piece) {
            Ok(0) => return Ok(file),
            Ok(length) => file
                .write_all(&piece[..length])
                .map_err(BodyFault::SpillFile)?,
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
    text: TextSize,
}

impl Spool {
    /// A spool without chunks.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            file: BufWriter::new(tempfile::tempfile()?),
            chunks: Vec::new(),
        })
    }

    /// Puts a chunk of so many records and so much text behind the others.
    pub fn push(&mut self, bytes: &[u8], records: u64, text: TextSize) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.chunks.push(ChunkSize {
            bytes: bytes.len(),
            records,
            text,
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
            text: size.text,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_come_back_as_they_were_put_in() {
        let text = |cells_bytes| TextSize {
            cells_bytes,
            labels_bytes: 3,
        };
        let mut spool = Spool::new().unwrap();
        spool.push(b"first", 5, text(4)).unwrap();
        spool.push(b"", 0, text(0)).unwrap();
        spool.push(&[7; 100_000], 9, text(7)).unwrap();
        let chunks: Vec<NewChunk> = spool.into_chunks().unwrap().map(Result::unwrap).collect();
        let sizes: Vec<_> = chunks
            .iter()
            .map(|chunk| (chunk.bytes.len(), chunk.records, chunk.text))
            .collect();
        assert_eq!(
            sizes,
            [(5, 5, text(4)), (0, 0, text(0)), (100_000, 9, text(7))]
        );
        assert_eq!(chunks[0].bytes, b"first");
    }
}
