//! Room beside the memory, which the pure layers are given by their callers.

use std::io;

/// Room beside the memory, such as an unlinked temporary file.
pub trait Spill {
    /// Appends bytes behind those written before.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Fills `buffer` with what was written from byte `offset` on.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// Forgets what was written; what is written next stands at byte 0.
    fn clear(&mut self) -> io::Result<()>;
}

/// Room in memory, for a command that holds the whole table anyway.
impl Spill for Vec<u8> {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.extend_from_slice(bytes);
        Ok(())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::UnexpectedEof)?;
        let bytes = start
            .checked_add(buffer.len())
            .and_then(|end| self.get(start..end))
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        Self::clear(self);
        Ok(())
    }
}
