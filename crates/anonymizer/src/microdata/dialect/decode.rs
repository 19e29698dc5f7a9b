//! Bytes of other encodings as UTF-8, while they are read.

use std::io::Read;

use encoding_rs::{Decoder, DecoderResult};

use super::file_format::Encoding;

/// Bytes that are taken from the input at a time.
const INPUT_BYTES: usize = 64 << 10;
/// Stands for bytes that are no character: no UTF-8 has it, so that the cell
/// that holds it is refused.
const NO_CHARACTER: u8 = 0xFF;
/// Room in which the decoder surely gets on: more than one character takes.
const ROOM_BYTES_MIN: usize = 16;

/// An input as UTF-8; one that is UTF-8 goes through untouched.
pub(in crate::microdata) struct Decoded<R> {
    input: R,
    coded: Option<Box<Coded>>,
}

/// What was read and not yet handed on.
struct Coded {
    decoder: Decoder,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    has_ended: bool,
    is_done: bool,
    /// Text that found no room, last byte first.
    left: Vec<u8>,
}

impl<R: Read> Decoded<R> {
    /// The text of `input`.
    pub fn new(input: R, encoding: Encoding) -> Self {
        let decoder = match encoding {
            Encoding::Utf8 => None,
            Encoding::Windows1252 => Some(encoding_rs::WINDOWS_1252.new_decoder()),
            Encoding::Latin9 => Some(encoding_rs::ISO_8859_15.new_decoder()),
            // A mark says otherwise.
            Encoding::Utf16 => Some(encoding_rs::UTF_16LE.new_decoder()),
        };
        let coded = decoder.map(|decoder| {
            Box::new(Coded {
                decoder,
                buffer: vec![0; INPUT_BYTES],
                start: 0,
                end: 0,
                has_ended: false,
                is_done: false,
                left: Vec::new(),
            })
        });
        Self { input, coded }
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        match &mut self.coded {
            None => self.input.read(room),
            Some(coded) => coded.read(&mut self.input, room),
        }
    }
}

impl Coded {
    fn read(&mut self, input: &mut impl Read, room: &mut [u8]) -> std::io::Result<usize> {
        if room.is_empty() {
            return Ok(0);
        }
        if room.len() < ROOM_BYTES_MIN || !self.left.is_empty() {
            return self.read_little(input, room);
        }
        while !self.is_done {
            if self.start == self.end && !self.has_ended {
                self.start = 0;
                self.end = 0;
                self.end = input.read(&mut self.buffer)?;
                self.has_ended = self.end == 0;
            }
            let written = self.decode(room);
            if written > 0 {
                return Ok(written);
            }
        }
        Ok(0)
    }

    /// Decodes what is at hand; the bytes of text.
    fn decode(&mut self, room: &mut [u8]) -> usize {
        let bytes = &self.buffer[self.start..self.end];
        let (result, read, mut written) =
            self.decoder
                .decode_to_utf8_without_replacement(bytes, room, self.has_ended);
        self.start += read;
        match result {
            DecoderResult::InputEmpty => self.is_done = self.has_ended,
            DecoderResult::OutputFull => {}
            DecoderResult::Malformed(..) => match room.get_mut(written) {
                Some(byte) => {
                    *byte = NO_CHARACTER;
                    written += 1;
                }
                None => self.left.push(NO_CHARACTER),
            },
        }
        written
    }

    /// The same into room in which the decoder may not get on, and of what is
    /// left.
    fn read_little(&mut self, input: &mut impl Read, room: &mut [u8]) -> std::io::Result<usize> {
        if self.left.is_empty() {
            let mut wide = [0; ROOM_BYTES_MIN];
            let count = self.read(input, &mut wide)?;
            self.left.extend(wide[..count].iter().rev());
        }
        let mut count = 0;
        while let (Some(byte), Some(place)) = (self.left.last(), room.get_mut(count)) {
            *place = *byte;
            self.left.pop();
            count += 1;
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::microdata::csv::tests::Pieces;

    fn decoded(bytes: &[u8], encoding: Encoding, (piece, room): (usize, usize)) -> Vec<u8> {
        let mut input = Decoded::new(Pieces(bytes, piece), encoding);
        let mut text = Vec::new();
        let mut buffer = vec![0; room];
        loop {
            match input.read(&mut buffer).unwrap() {
                0 => return text,
                count => text.extend_from_slice(&buffer[..count]),
            }
        }
    }

    #[test]
    fn each_encoding_becomes_utf_8() {
        let all = (1000, 1000);
        let latin = b"\xe4\x80\xa4";
        assert_eq!(decoded(latin, Encoding::Windows1252, all), "ä€¤".as_bytes());
        assert_eq!(decoded(b"\xe4\xa4", Encoding::Latin9, all), "ä€".as_bytes());
        for mark in [&b"\xff\xfe"[..], b""] {
            let bytes = [mark, b"a\0\xac\x20"].concat();
            assert_eq!(decoded(&bytes, Encoding::Utf16, all), "a€".as_bytes());
        }
        assert_eq!(decoded(b"\xfe\xff\0a", Encoding::Utf16, all), b"a");
        assert_eq!(decoded(b"\xff\x80", Encoding::Utf8, all), b"\xff\x80");
    }

    #[test]
    fn what_is_no_character_becomes_what_no_text_holds() {
        // A half of a pair alone, and an odd byte at the end.
        let text = decoded(b"\x00\xd8a\0b", Encoding::Utf16, (3, 1000));
        assert_eq!(text, b"\xffa\xff");
        assert!(std::str::from_utf8(&text).is_err());
    }

    proptest! {
        #[test]
        fn pieces_and_room_make_no_difference(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            piece in 1_usize..9,
            room in 1_usize..40,
            which in 0_usize..4,
        ) {
            use Encoding::{Latin9, Utf8, Utf16, Windows1252};
            let encoding = [Utf8, Windows1252, Latin9, Utf16][which];
            prop_assert_eq!(
                decoded(&bytes, encoding, (piece, room)),
                decoded(&bytes, encoding, (1000, 1000))
            );
        }

        #[test]
        fn utf_16_is_read_as_it_was_written(text: String, piece in 1_usize..9) {
            let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            // What begins with a mark loses it.
            prop_assume!(!text.starts_with(['\u{feff}', '\u{fffe}']));
            prop_assert_eq!(decoded(&bytes, Encoding::Utf16, (piece, 17)), text.into_bytes());
        }
    }
}
