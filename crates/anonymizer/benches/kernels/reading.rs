//! From text to coded columns.

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use vizard_anonymizer::microdata::{Chunk, decode_chunk, encode_chunk};

use crate::made::{RECORDS, SCHEMA, TEXT, built, read};

fn chunks() -> Vec<Chunk> {
    let mut chunks = Vec::new();
    read(&mut |chunk| chunks.push(chunk));
    chunks
}

/// CSV to typed chunks: cells parsed, limits and repeated subjects looked at.
#[divan::bench]
fn csv_to_chunks(bencher: Bencher) {
    let bytes = BytesCount::of_str(TEXT.as_str());
    bencher
        .counter(bytes)
        .bench(|| read(&mut |chunk| drop(divan::black_box(chunk))));
}

/// Dictionaries: values gathered, ordered, and every cell given its code.
#[divan::bench]
fn chunks_to_coded_columns(bencher: Bencher) {
    let bencher = bencher.counter(ItemsCount::new(RECORDS));
    bencher.with_inputs(chunks).bench_values(built);
}

/// Chunks as the store keeps them.
#[divan::bench]
fn chunks_encoded(bencher: Bencher) {
    let chunks = chunks();
    bencher.counter(ItemsCount::new(RECORDS)).bench(|| {
        for chunk in &chunks {
            divan::black_box(encode_chunk(chunk).expect("chunks can be kept"));
        }
    });
}

/// And read back by a worker.
#[divan::bench]
fn chunks_decoded(bencher: Bencher) {
    let encode = |chunk: &Chunk| encode_chunk(chunk).expect("chunks can be kept");
    let encoded = || chunks().iter().map(encode).collect::<Vec<_>>();
    let bencher = bencher.counter(ItemsCount::new(RECORDS));
    bencher.with_inputs(encoded).bench_values(|encoded| {
        for bytes in encoded {
            divan::black_box(decode_chunk(bytes, &SCHEMA).expect("it was just encoded"));
        }
    });
}
