//! Pieces of a table as they are stored: zstd frames, one behind the other.
//!
//! A piece is cut between rows and checked as a whole; its frames are cut
//! anywhere, and small, so that a reader holds no more than one of them
//! unpacked: it stays in the processor's cache, and the first one can be sent
//! while the next is unpacked. Frames of any size are read, as pieces of
//! earlier releases are one frame each.

use std::io;

use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::{CParameter, find_frame_compressed_size, get_frame_content_size};

/// Bytes of text in a frame.
const FRAME_BYTES: usize = 1 << 20;
/// Largest frame that is unpacked. A piece is longer than its limit where one
/// row is.
const FRAME_BYTES_MAX: u64 = 64 << 20;

/// Level of zstd that makes frames of this size as small as a lower one makes
/// a whole piece, and of fewer repetitions: they are unpacked in half the time.
const LEVEL: i32 = 6;
/// Least length of a repetition. On rows of codes and numbers longer ones, of
/// which there are fewer, come out smaller and are unpacked faster.
const REPETITION_MIN: u32 = 7;

/// Packs a piece of a table.
///
/// # Errors
/// Memory that zstd does not get.
pub fn pack(piece: &[u8]) -> io::Result<Vec<u8>> {
    let mut compressor = Compressor::new(LEVEL)?;
    compressor.set_parameter(CParameter::MinMatch(REPETITION_MIN))?;
    let mut packed = Vec::new();
    for text in piece.chunks(FRAME_BYTES) {
        packed.extend(compressor.compress(text)?);
    }
    Ok(packed)
}

/// A packed piece, of which frames are taken from the front.
pub struct Packed {
    bytes: Vec<u8>,
    taken: usize,
}

impl Packed {
    /// A piece as it is stored.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, taken: 0 }
    }

    /// The same piece, fetched again, without what was taken of it before.
    #[must_use]
    pub fn without(self, taken: usize) -> Self {
        let bytes = self.bytes;
        Self { bytes, taken }
    }

    /// Bytes that were taken.
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// Whether nothing is left to be taken.
    pub fn is_used_up(&self) -> bool {
        self.taken >= self.bytes.len()
    }

    /// Takes what was not taken yet, still packed.
    pub fn take(&mut self) -> Vec<u8> {
        let rest = self.bytes.split_off(self.taken.min(self.bytes.len()));
        self.taken += rest.len();
        rest
    }

    /// The next frame, and the bytes of its text; `None` behind the last one.
    fn frame(&self) -> io::Result<Option<(&[u8], usize)>> {
        let rest = self.bytes.get(self.taken..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(None);
        }
        let packed = find_frame_compressed_size(rest).ok();
        let text = get_frame_content_size(rest).ok().flatten();
        match (packed, text) {
            (Some(packed), Some(text)) if text <= FRAME_BYTES_MAX => {
                Ok(Some((&rest[..packed], text as usize)))
            }
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a stored piece is damaged",
            )),
        }
    }
}

/// Unpacks frames, one after the other, in the same memory of zstd's.
#[derive(Default)]
pub struct Unpacker(Decompressor<'static>);

impl Unpacker {
    /// Takes the next frame of a piece and answers its text; `None` once the
    /// piece is used up.
    ///
    /// # Errors
    /// Bytes that [`pack`] did not write.
    pub fn frame(&mut self, piece: &mut Packed) -> io::Result<Option<Vec<u8>>> {
        let Some((frame, bytes)) = piece.frame()? else {
            return Ok(None);
        };
        let mut text = Vec::with_capacity(bytes);
        self.0.decompress_to_buffer(frame, &mut text)?;
        piece.taken += frame.len();
        Ok(Some(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows that repeat, but not exactly.
    fn text(bytes: usize) -> Vec<u8> {
        let rows = (0_u64..).flat_map(|row| {
            let mixed = row.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
            format!("{row},[20-39],{},{mixed}\n", mixed % 7).into_bytes()
        });
        rows.take(bytes).collect()
    }

    /// The texts of the frames of a piece.
    fn frames(stored: Vec<u8>) -> io::Result<Vec<Vec<u8>>> {
        let (mut unpacker, mut piece) = (Unpacker::default(), Packed::new(stored));
        let mut frames = Vec::new();
        while let Some(text) = unpacker.frame(&mut piece)? {
            frames.push(text);
        }
        Ok(frames)
    }

    #[test]
    fn a_piece_comes_back_in_frames_of_bounded_size() {
        for bytes in [0, 1, FRAME_BYTES, FRAME_BYTES + 1, 3 * FRAME_BYTES - 1] {
            let text = text(bytes);
            let frames = frames(pack(&text).expect("packed")).expect("unpacked");
            assert_eq!(frames.len(), bytes.div_ceil(FRAME_BYTES));
            assert!(frames.iter().all(|frame| frame.len() <= FRAME_BYTES));
            assert_eq!(frames.concat(), text);
        }
    }

    #[test]
    fn frames_are_one_packed_body_for_whoever_asks_for_zstd() {
        let text = text(2 * FRAME_BYTES);
        let packed = pack(&text).expect("packed");
        assert!(packed.len() < text.len() / 2);
        assert_eq!(zstd::decode_all(packed.as_slice()).expect("zstd"), text);
    }

    #[test]
    fn a_piece_of_an_earlier_release_is_one_frame() {
        let text = text(3 * FRAME_BYTES);
        let stored = zstd::bulk::compress(&text, 3).expect("packed");
        assert_eq!(frames(stored).expect("unpacked"), [text]);
    }

    #[test]
    fn what_is_left_of_a_piece_begins_at_a_frame() {
        let text = text(2 * FRAME_BYTES);
        let mut piece = Packed::new(pack(&text).expect("packed"));
        let first = Unpacker::default().frame(&mut piece).expect("unpacked");
        let rest = zstd::decode_all(piece.take().as_slice()).expect("zstd");
        assert_eq!([first.expect("a frame"), rest].concat(), text);
        assert!(piece.take().is_empty());
    }

    #[test]
    fn damage_is_an_error_and_never_a_shorter_text() {
        let text = text(2 * FRAME_BYTES);
        let packed = pack(&text).expect("packed");
        for cut in [1, packed.len() / 3, packed.len() - 1] {
            assert!(frames(packed[..cut].to_vec()).is_err(), "cut at {cut}");
        }
        let longer = [packed.as_slice(), b"more"].concat();
        assert!(frames(longer).is_err());
        let unsized_frame = zstd::encode_all(text.as_slice(), 1).expect("packed");
        assert!(frames(unsized_frame).is_err());
    }
}
