//! Bytes packed piece by piece.

use std::io::{self, Write};

use flate2::write::GzEncoder;

use super::ContentCoding;

/// Level that packs tables well without making a fast client wait.
const ZSTD_LEVEL: i32 = 3;

/// Packs a stream of pieces; what is ready is handed out after each.
pub enum Deflater {
    /// As they are.
    Identity,
    /// One gzip member.
    Gzip(GzEncoder<Vec<u8>>),
    /// zstd frames, one behind the other: between them nothing is kept.
    Zstd {
        /// Whether there is a frame: a body of none would be no zstd.
        is_begun: bool,
    },
}

impl Deflater {
    /// Packs in one way.
    pub fn new(coding: ContentCoding) -> io::Result<Self> {
        Ok(match coding {
            ContentCoding::Identity => Self::Identity,
            ContentCoding::Gzip => {
                Self::Gzip(GzEncoder::new(Vec::new(), flate2::Compression::default()))
            }
            ContentCoding::Zstd => Self::Zstd { is_begun: false },
        })
    }

    /// Takes a piece; what is ready by now.
    pub fn piece(&mut self, piece: Vec<u8>) -> io::Result<Vec<u8>> {
        match self {
            Self::Identity => Ok(piece),
            Self::Gzip(encoder) => {
                encoder.write_all(&piece)?;
                Ok(std::mem::take(encoder.get_mut()))
            }
            Self::Zstd { .. } if piece.is_empty() => Ok(piece),
            Self::Zstd { is_begun } => {
                *is_begun = true;
                zstd::bulk::compress(&piece, ZSTD_LEVEL)
            }
        }
    }

    /// The rest.
    pub fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            Self::Zstd { is_begun: false } => zstd::bulk::compress(&[], ZSTD_LEVEL),
            Self::Identity | Self::Zstd { .. } => Ok(Vec::new()),
            Self::Gzip(encoder) => encoder.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::http::coding::{Growth, Inflater};

    #[test]
    fn pieces_are_one_body_however_they_are_packed() {
        let growth = Growth {
            ratio_max: u64::MAX,
            bytes_max: u64::MAX,
        };
        for coding in [
            ContentCoding::Identity,
            ContentCoding::Gzip,
            ContentCoding::Zstd,
        ] {
            let mut deflater = Deflater::new(coding).unwrap();
            let mut bytes = Vec::new();
            for piece in ["one ", "", "two ", "three"] {
                bytes.extend(deflater.piece(piece.into()).unwrap());
            }
            bytes.extend(deflater.finish().unwrap());
            let mut text = String::new();
            let mut inflater = Inflater::new(bytes.as_slice(), coding, growth).unwrap();
            inflater.read_to_string(&mut text).unwrap();
            assert_eq!(text, "one two three");
        }
    }
}
