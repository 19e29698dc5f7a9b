//! Room in memory for the text of tables, packed as it is written.
//!
//! A row repeats the text of its class: a set of fifty long values stands in every
//! row of a class of fifty. So the text of a table may be many times as long as
//! what it was made from; packed it is not.

use std::io;

use vizard_anonymizer::microdata::Spill;

/// Packing costs less time than the text takes to make.
const LEVEL: i32 = 1;

/// Appended bytes, each run of them packed by itself.
#[derive(Default)]
pub struct PackedRoom {
    runs: Vec<Run>,
    end: u64,
}

/// Bytes that were appended at once.
struct Run {
    /// Where they begin, unpacked.
    begin: u64,
    /// How many they are, unpacked.
    length: usize,
    packed: Vec<u8>,
}

impl Spill for PackedRoom {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut packed = zstd::bulk::compress(bytes, LEVEL)?;
        packed.shrink_to_fit();
        self.runs.push(Run {
            begin: self.end,
            length: bytes.len(),
            packed,
        });
        self.end += bytes.len() as u64;
        Ok(())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let behind = self.runs.partition_point(|run| run.begin <= offset);
        let (mut at, mut rest) = (offset, buffer);
        for run in &self.runs[behind.saturating_sub(1)..] {
            if rest.is_empty() {
                break;
            }
            let text = zstd::bulk::decompress(&run.packed, run.length)?;
            let text = text.get((at - run.begin) as usize..).unwrap_or_default();
            let (read, left) = rest.split_at_mut(text.len().min(rest.len()));
            read.copy_from_slice(&text[..read.len()]);
            at += read.len() as u64;
            rest = left;
        }
        if rest.is_empty() {
            return Ok(());
        }
        Err(io::ErrorKind::UnexpectedEof.into())
    }

    fn clear(&mut self) -> io::Result<()> {
        *self = Self::default();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_range_reads_as_from_plain_memory() {
        let (mut packed, mut plain) = (PackedRoom::default(), Vec::new());
        for run in [b"abcd".as_slice(), b"", b"e", b"fffffffff", b"gh"] {
            packed.append(run).unwrap();
            plain.extend_from_slice(run);
        }
        for from in 0..=plain.len() {
            for to in from..=plain.len() {
                let (mut read, mut expected) = (vec![0; to - from], vec![0; to - from]);
                packed.read_at(from as u64, &mut read).unwrap();
                plain.read_at(from as u64, &mut expected).unwrap();
                assert_eq!(read, expected, "{from}..{to}");
            }
            let mut beyond = vec![0; plain.len() - from + 1];
            assert!(packed.read_at(from as u64, &mut beyond).is_err());
        }
        let beyond = packed.read_at(plain.len() as u64 + 1, &mut [0]);
        assert!(beyond.is_err());
        packed.clear().unwrap();
        packed.append(b"new").unwrap();
        let mut read = [0; 3];
        packed.read_at(0, &mut read).unwrap();
        assert_eq!(&read, b"new");
    }

    #[test]
    fn rows_that_repeat_take_little() {
        let mut room = PackedRoom::default();
        let row = format!("{{{}}}\n", vec!["a long value of a set"; 50].join("|"));
        room.append(row.repeat(900).as_bytes()).unwrap();
        let packed: usize = room.runs.iter().map(|run| run.packed.len()).sum();
        assert!(packed < row.len() * 20, "{packed}");
    }
}
