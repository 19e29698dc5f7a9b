//! From a release in memory to bytes, a verdict and a report.

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use vizard_anonymizer::privacy::{CancelFlag, Seed};
use vizard_anonymizer::query::{self, Workload};
use vizard_anonymizer::release::{Format, PIECE_BYTES_MAX, encode_csv};
use vizard_anonymizer::utility;
use vizard_anonymizer::verify::{self, verify};

use crate::made::{RECORDS, RUN, SEED, TABLE};

/// Random queries of a report, unless a job says otherwise.
const QUERIES: u32 = 1_000;

fn bytes() -> BytesCount {
    let pieces = RUN.produced.tables.iter().flat_map(|table| &table.pieces);
    let lengths = pieces.map(|piece| piece.bytes.end - piece.bytes.start);
    BytesCount::new(lengths.sum::<u64>())
}

/// Tables as canonical CSV, cut into pieces, with their digests.
#[divan::bench]
fn tables_to_csv(bencher: Bencher) {
    bencher.counter(bytes()).bench(|| {
        for table in &RUN.published {
            encode_csv(table, PIECE_BYTES_MAX, &mut |piece, _| {
                divan::black_box(piece);
            });
        }
    });
}

/// And read back, canonical or refused.
#[divan::bench]
fn tables_from_csv(bencher: Bencher) {
    bencher.counter(bytes()).bench(|| {
        for table in &RUN.produced.tables {
            divan::black_box(table.read_back().expect("it was just written"));
        }
    });
}

/// The forms that a download converts to.
#[divan::bench(args = [Format::Ndjson, Format::Parquet])]
fn tables_transcoded(bencher: Bencher, format: &Format) {
    bencher.counter(bytes()).bench(|| {
        for table in &RUN.produced.tables {
            let mut out = Vec::new();
            table
                .transcode(*format, &mut out)
                .expect("a Vec takes any bytes");
            divan::black_box(out);
        }
    });
}

/// Every check of the verifier.
#[divan::bench]
fn release_verified(bencher: Bencher) {
    let manifest = &RUN.produced.manifest;
    let evidence = verify::Evidence {
        table: &TABLE,
        requirements: &RUN.requirements,
        ordered: verify::Ordered {
            engine: &manifest.engine,
            parameters: &manifest.parameters,
            input: &manifest.input,
            suppressed: 0,
            reproducible_seed: true,
            accept_exact: &[],
            parts: None,
        },
        manifest,
        tables: &RUN.published,
        lineage: &RUN.produced.lineage,
        seed: &Seed::of_number(SEED),
        dataset_secret: &Seed::of_number(SEED),
        at_once: verify::AtOnce::default(),
        cancel: CancelFlag::never(),
    };
    assert!(verify(&evidence).holds(), "the release is sound");
    let bencher = bencher.counter(ItemsCount::new(RECORDS));
    bencher.bench(|| verify(&evidence));
}

/// Every measure of the report but the query error.
#[divan::bench]
fn release_measured(bencher: Bencher) {
    let evidence = utility::Evidence {
        table: &TABLE,
        requirements: &RUN.requirements,
        manifest: &RUN.produced.manifest,
        tables: &RUN.published,
        lineage: &RUN.produced.lineage,
        population_table: None,
        cancel: CancelFlag::never(),
    };
    let bencher = bencher.counter(ItemsCount::new(RECORDS));
    bencher.bench(|| utility::measure(&evidence).expect("tables and originals fit"));
}

/// The query error of the report.
#[divan::bench]
fn queries_answered(bencher: Bencher) {
    let (tables, lineage) = (&RUN.published, &RUN.produced.lineage);
    let workload = Workload::standard(QUERIES);
    bencher.counter(ItemsCount::new(QUERIES)).bench(|| {
        query::error::measure(&TABLE, tables, lineage, workload).expect("tables and originals fit")
    });
}
