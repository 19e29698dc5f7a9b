//! Stored chunks: any bytes are a chunk that keeps what chunks promise, and is
//! stored and read again as the same, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vizard_anonymizer::microdata::{ChunkColumn, decode_chunk, encode_chunk};
use vizard_fuzz::records::target;

fuzz_target!(init: vizard_fuzz::begin(), |bytes: &[u8]| {
    vizard_fuzz::plant(bytes);
    let Ok(chunk) = decode_chunk(bytes.to_vec(), target().schema) else {
        return;
    };
    for column in &chunk.columns {
        assert_eq!(column.len(), chunk.records);
        let column = match column {
            ChunkColumn::WithMissing { known, missing } => {
                assert!(!missing.is_empty());
                assert!(missing.windows(2).all(|pair| pair[0] < pair[1]));
                assert!(missing.iter().all(|&record| (record as usize) < chunk.records));
                &**known
            }
            column => column,
        };
        match column {
            ChunkColumn::Decimal(values) => {
                let is_sound = |value: &f64| value.is_finite() && value.to_bits() != 1 << 63;
                assert!(values.iter().all(is_sound));
            }
            ChunkColumn::Category { labels, codes } => {
                assert!(codes.iter().all(|&code| (code as usize) < labels.len()));
                let mut distinct: Vec<&str> = labels.iter().collect();
                distinct.sort_unstable();
                distinct.dedup();
                assert_eq!(distinct.len(), labels.len(), "each label once");
            }
            ChunkColumn::Text(_) | ChunkColumn::Integer(_) | ChunkColumn::Date(_) => {}
            ChunkColumn::WithMissing { .. } => panic!("known values inside known values"),
        }
    }
    // Writing leaves out labels that no record has, and nothing from then on.
    let turn = |chunk| {
        let bytes = encode_chunk(chunk).expect("what was read can be written");
        decode_chunk(bytes, target().schema).expect("what was written can be read")
    };
    let once = turn(&chunk);
    assert_eq!(once.records, chunk.records);
    assert_eq!(turn(&once), once);
});
