//! Published tables as Parquet: any bytes are a canonical table of as many rows
//! as the manifest tells, or an error. The first byte chooses the table.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vizard_anonymizer::release::decode_parquet;
use vizard_fuzz::releases::tables;

fuzz_target!(init: vizard_fuzz::begin(), |bytes: &[u8]| {
    let Some((choice, content)) = bytes.split_first() else {
        return;
    };
    vizard_fuzz::plant(bytes);
    let at = usize::from(*choice) % tables().count();
    let (_, _, description) = tables().nth(at).expect("there are as many");
    let mut description = description.clone();
    description.rows = 3;
    if let Ok(table) = decode_parquet(&description, content.to_vec()) {
        assert_eq!(table.rows(), 3);
        assert_eq!(table.canonical(), table);
    }
});
