//! The bytes of a Parquet file, by position.
//!
//! Whatever positions a file names, a read stays inside it, and no more is
//! read at once than the pages of one column may have.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use super::pages::COLUMN_BYTES_MAX;
use crate::microdata::error::TableError;

/// Bytes read ahead where a page header is read.
const HEADER_READ_BYTES: usize = 4096;

/// A file that several readers share.
pub(super) struct Source<F> {
    file: Arc<Mutex<F>>,
    length: u64,
}

impl<F> Clone for Source<F> {
    fn clone(&self) -> Self {
        Self {
            file: Arc::clone(&self.file),
            length: self.length,
        }
    }
}

impl<F: Read + Seek> Source<F> {
    /// The file from its beginning to its end.
    pub fn new(mut file: F) -> Result<Self, TableError> {
        let length = file.seek(SeekFrom::End(0)).map_err(read_error)?;
        Ok(Self {
            file: Arc::new(Mutex::new(file)),
            length,
        })
    }

    /// Bytes of the file.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The `length` bytes from `start` on; all of them must be there.
    pub fn bytes(&self, start: u64, length: usize) -> Result<Vec<u8>, TableError> {
        let end = start.checked_add(length as u64);
        if end.is_none_or(|end| end > self.length) {
            return Err(TableError::File("ends before its parts do"));
        }
        let mut bytes = vec![0; length];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(start)).map_err(read_error)?;
        file.read_exact(&mut bytes).map_err(read_error)?;
        Ok(bytes)
    }
}

fn read_error(error: io::Error) -> TableError {
    TableError::Read(error.kind().to_string())
}

impl<F: Read + Seek + Send> Length for Source<F> {
    fn len(&self) -> u64 {
        self.length
    }
}

impl<F: Read + Seek + Send> ChunkReader for Source<F> {
    type T = BufReader<Section<F>>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        let section = Section {
            file: Arc::clone(&self.file),
            at: start,
        };
        Ok(BufReader::with_capacity(HEADER_READ_BYTES, section))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        if length as u64 > COLUMN_BYTES_MAX {
            return Err(ParquetError::General("a page is too large".into()));
        }
        let bytes = self.bytes(start, length);
        let bytes = bytes.map_err(|_| ParquetError::EOF("a page is cut off".into()))?;
        Ok(bytes.into())
    }
}

/// The file from one position on.
pub(super) struct Section<F> {
    file: Arc<Mutex<F>>,
    at: u64,
}

impl<F: Read + Seek> Read for Section<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.at))?;
        let length = file.read(buffer)?;
        self.at += length as u64;
        Ok(length)
    }
}
