//! Records as Parquet: any bytes are records, a list of errors, or no file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vizard_fuzz::records::Records;

fuzz_target!(init: vizard_fuzz::begin(), |bytes: &[u8]| {
    vizard_fuzz::plant(bytes);
    if let Ok(records) = Records::of_parquet(bytes) {
        records.check();
    }
});
