//! Records as NDJSON: any bytes are records or a list of errors, the same however
//! they come in pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vizard_anonymizer::microdata::RecordFormat;
use vizard_fuzz::records::{Records, Trickle};

fuzz_target!(init: vizard_fuzz::begin(), |bytes: &[u8]| {
    vizard_fuzz::plant(bytes);
    let read = Records::of_text(bytes, RecordFormat::Ndjson);
    let in_pieces = Records::of_text(Trickle::new(bytes), RecordFormat::Ndjson);
    assert_eq!(in_pieces, read);
    if let Ok(records) = read {
        records.check();
    }
});
