//! A packed stream, unpacked while it is read.
//!
//! gzip and zstd, at constant memory, and never to more than so many times
//! what was taken of the packed stream: a bomb is refused while it grows.

use std::io::{self, BufReader, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use flate2::read::MultiGzDecoder;

/// How bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentCoding {
    /// Not at all.
    Identity,
    /// RFC 1952.
    Gzip,
    /// RFC 8878, with a window of at most 8 MiB (RFC 9659).
    Zstd,
}

impl ContentCoding {
    /// Name in headers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// Largest window of a zstd frame, as a power of two: 8 MiB (RFC 9659).
const ZSTD_WINDOW_LOG_MAX: u32 = 23;
/// Growth below this many bytes is never too much: small bodies pack well.
const BYTES_FREE: u64 = 1 << 20;

/// How much a body may grow.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// Times its packed size.
    pub ratio_max: u64,
    /// Bytes, unpacked.
    pub bytes_max: u64,
}

/// Why a body was not unpacked to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InflateFault {
    /// It grows to more than so many times its size.
    Ratio(u64),
    /// It grows to more than so many bytes.
    Bytes(u64),
    /// It is not what its header says.
    Broken(ContentCoding),
}

/// A body that is unpacked while it is read. Reading fails at the first
/// fault, which [`Inflater::fault`] then names.
pub struct Inflater<R: Read> {
    unpacked: Unpacked<R>,
    coding: ContentCoding,
    growth: Growth,
    taken: Arc<AtomicU64>,
    given: u64,
    fault: Arc<OnceLock<InflateFault>>,
}

enum Unpacked<R: Read> {
    Identity(Counted<R>),
    Gzip(Box<MultiGzDecoder<Counted<R>>>),
    Zstd(zstd::stream::read::Decoder<'static, BufReader<Counted<R>>>),
}

impl<R: Read> Inflater<R> {
    /// Unpacks `body`.
    pub fn new(body: R, coding: ContentCoding, growth: Growth) -> io::Result<Self> {
        let taken = Arc::new(AtomicU64::new(0));
        let counted = Counted {
            body,
            taken: Arc::clone(&taken),
        };
        let unpacked = match coding {
            ContentCoding::Identity => Unpacked::Identity(counted),
            ContentCoding::Gzip => Unpacked::Gzip(Box::new(MultiGzDecoder::new(counted))),
            ContentCoding::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::new(counted)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                Unpacked::Zstd(decoder)
            }
        };
        Ok(Self {
            unpacked,
            coding,
            growth,
            taken,
            given: 0,
            fault: Arc::default(),
        })
    }

    /// What to ask, once the body was read, whether it was whole.
    pub fn fault(&self) -> Arc<OnceLock<InflateFault>> {
        Arc::clone(&self.fault)
    }

    fn fail(&self, fault: InflateFault) -> io::Error {
        // The first fault is the one that is told.
        let _ = self.fault.set(fault);
        io::ErrorKind::InvalidData.into()
    }
}

impl<R: Read> Read for Inflater<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match &mut self.unpacked {
            Unpacked::Identity(body) => return body.read(buffer),
            Unpacked::Gzip(decoder) => decoder.read(buffer),
            Unpacked::Zstd(decoder) => decoder.read(buffer),
        };
        let length = read.map_err(|_| self.fail(InflateFault::Broken(self.coding)))?;
        self.given += length as u64;
        if self.given > self.growth.bytes_max {
            return Err(self.fail(InflateFault::Bytes(self.growth.bytes_max)));
        }
        let taken = self.taken.load(Ordering::Relaxed);
        let allowed = taken.saturating_mul(self.growth.ratio_max).max(BYTES_FREE);
        if self.given > allowed {
            return Err(self.fail(InflateFault::Ratio(self.growth.ratio_max)));
        }
        Ok(length)
    }
}

/// Counts what is taken from a body.
struct Counted<R> {
    body: R,
    taken: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.body.read(buffer)?;
        self.taken.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const GROWTH: Growth = Growth {
        ratio_max: 100,
        bytes_max: 8 << 20,
    };

    fn packed(coding: ContentCoding, text: &[u8]) -> Vec<u8> {
        match coding {
            ContentCoding::Identity => text.to_vec(),
            ContentCoding::Gzip => {
                let mut encoder =
                    flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
                encoder.write_all(text).unwrap();
                encoder.finish().unwrap()
            }
            ContentCoding::Zstd => zstd::encode_all(text, 3).unwrap(),
        }
    }

    fn unpack(
        bytes: &[u8],
        coding: ContentCoding,
        growth: Growth,
    ) -> Result<Vec<u8>, InflateFault> {
        let mut inflater = Inflater::new(bytes, coding, growth).unwrap();
        let fault = inflater.fault();
        let mut text = Vec::new();
        match inflater.read_to_end(&mut text) {
            Ok(_) => {
                assert_eq!(fault.get(), None);
                Ok(text)
            }
            Err(_) => Err(*fault.get().expect("a failure has a fault")),
        }
    }

    /// Frames of zstd 0.7 and older are no zstd of RFC 8878. A library that is built
    /// to read them gave another text where the body came in pieces.
    #[test]
    fn frames_of_before_the_standard_are_broken() {
        let old = b"\x27\xb5\x2f\xfd\x01\0\0\0\0\0";
        let coding = ContentCoding::Zstd;
        let broken = Err(InflateFault::Broken(coding));
        assert_eq!(unpack(old, coding, GROWTH), broken);
    }

    #[test]
    fn what_was_packed_comes_back_also_in_several_members() {
        let text: Vec<u8> = (0..300_000_u32)
            .flat_map(|n| n.wrapping_mul(n).to_le_bytes())
            .collect();
        for coding in [
            ContentCoding::Identity,
            ContentCoding::Gzip,
            ContentCoding::Zstd,
        ] {
            let mut bytes = packed(coding, &text);
            assert_eq!(unpack(&bytes, coding, GROWTH), Ok(text.clone()));
            bytes.extend(packed(coding, b"more"));
            assert_eq!(
                unpack(&bytes, coding, GROWTH).unwrap().len(),
                text.len() + 4
            );
        }
    }

    #[test]
    fn a_bomb_is_refused_before_it_has_grown() {
        let text = vec![b'x'; 64 << 20];
        for coding in [ContentCoding::Gzip, ContentCoding::Zstd] {
            let bytes = packed(coding, &text);
            assert!(bytes.len() * 100 < text.len());
            assert_eq!(
                unpack(&bytes, coding, GROWTH),
                Err(InflateFault::Ratio(100))
            );
            let patient = Growth {
                ratio_max: u64::MAX,
                ..GROWTH
            };
            assert_eq!(
                unpack(&bytes, coding, patient),
                Err(InflateFault::Bytes(8 << 20))
            );
        }
    }

    #[test]
    fn a_body_that_is_cut_off_or_something_else_is_broken() {
        for coding in [ContentCoding::Gzip, ContentCoding::Zstd] {
            let bytes = packed(coding, b"a,b\n1,2\n");
            let broken = Err(InflateFault::Broken(coding));
            assert_eq!(unpack(&bytes[..bytes.len() - 3], coding, GROWTH), broken);
            assert_eq!(unpack(b"a,b\n1,2\n", coding, GROWTH), broken);
        }
    }
}
