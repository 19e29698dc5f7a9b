//! Published tables and their lineage, read back from bytes: any bytes are
//! refused, or are byte for byte what is written of what was read. A table can
//! be had in every format, and the verifier has a verdict on it. The first
//! byte chooses the table.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vizard_anonymizer::release::{
    CsvDecoder, Format, Lineage, PublishedTable, TableDescription, Transcoder, decode_parquet,
    encode_csv,
};
use vizard_fuzz::releases::{Published, table, tables};

fuzz_target!(init: vizard_fuzz::begin(), |bytes: &[u8]| {
    let Some((choice, content)) = bytes.split_first() else {
        return;
    };
    vizard_fuzz::plant(bytes);
    let at = usize::from(*choice) % (tables().count() + 1);
    match tables().nth(at) {
        Some((release, position, description)) => {
            if let Some(read) = read(description, content) {
                check(release, position, &read, content);
            }
        }
        None => {
            if let Ok(lineage) = Lineage::from_csv(content, table()) {
                assert_eq!(lineage.to_csv(table()), content);
            }
        }
    }
});

/// The table, whatever number of rows and digest the manifest tells.
fn read(description: &TableDescription, content: &[u8]) -> Option<PublishedTable> {
    let mut decoder = CsvDecoder::new(&description.columns);
    decoder.piece(content).ok()?;
    decoder.finish(&description.name).ok()
}

fn check(release: &Published, position: usize, read: &PublishedTable, content: &[u8]) {
    let mut written = Vec::new();
    let summary = encode_csv(read, usize::MAX, &mut |piece, _| {
        written.extend_from_slice(&piece)
    });
    assert_eq!(written, content);
    let own = TableDescription::of(read, &summary);
    for format in Format::ALL {
        let mut file = Vec::new();
        let mut transcoder = Transcoder::new(&own, format).expect("columns of a table");
        let moved = transcoder.rows(read, &mut file);
        let moved = moved.and_then(|()| transcoder.finish(&mut file));
        if let (Ok(()), Format::Parquet) = (moved, format) {
            assert_eq!(decode_parquet(&own, file).as_ref(), Ok(read));
        }
    }
    let mut published = release.tables.clone();
    published[position] = read.clone();
    let _ = release.verify(&release.manifest, &published);
}
