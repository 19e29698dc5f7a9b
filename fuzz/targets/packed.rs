//! Packed bodies: any bytes are unpacked or broken, and never become more than
//! they may; what is packed is unpacked as it was. The first byte chooses the
//! packing.
#![no_main]

use std::io::{Read, Write};

use libfuzzer_sys::fuzz_target;
use vizard_anonymizer::microdata::packing::{ContentCoding, Growth, InflateFault, Inflater};
use vizard_fuzz::records::Trickle;

const GROWTH: Growth = Growth {
    ratio_max: 100,
    bytes_max: 4 << 20,
};
/// Growth below this is never too much, whatever the ratio.
const BYTES_FREE: u64 = 1 << 20;

fuzz_target!(init: vizard_fuzz::begin(), |bytes: &[u8]| {
    let Some((choice, content)) = bytes.split_first() else {
        return;
    };
    vizard_fuzz::plant(bytes);
    let coding = match choice % 2 {
        0 => ContentCoding::Gzip,
        _ => ContentCoding::Zstd,
    };
    let (unpacked, fault) = unpack(content, coding);
    let allowed = BYTES_FREE.max(content.len() as u64 * GROWTH.ratio_max);
    assert!(unpacked.len() as u64 <= allowed.min(GROWTH.bytes_max));
    if fault.is_none() {
        let in_pieces = unpack(Trickle::new(content), coding);
        assert_eq!(in_pieces, (unpacked, None));
    }
    assert_eq!(unpack(&pack(content, coding)[..], coding), (content.to_vec(), None));
});

fn unpack(packed: impl Read, coding: ContentCoding) -> (Vec<u8>, Option<InflateFault>) {
    let mut inflater = Inflater::new(packed, coding, GROWTH).expect("memory is there");
    let fault = inflater.fault();
    let (mut unpacked, mut buffer) = (Vec::new(), vec![0; 16 << 10]);
    loop {
        match inflater.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => unpacked.extend_from_slice(&buffer[..length]),
            Err(_) => {
                assert!(fault.get().is_some(), "a failure has a fault");
                break;
            }
        }
    }
    (unpacked, fault.get().copied())
}

fn pack(content: &[u8], coding: ContentCoding) -> Vec<u8> {
    match coding {
        ContentCoding::Zstd => zstd::encode_all(content, 1).expect("memory takes it"),
        _ => {
            let level = flate2::Compression::fast();
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
            encoder.write_all(content).expect("memory takes it");
            encoder.finish().expect("memory takes it")
        }
    }
}
