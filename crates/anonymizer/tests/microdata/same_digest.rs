//! The same table as CSV, NDJSON and Parquet, packed or not, is the same
//! content: one digest, one table.

use std::io::{Cursor, Read, Write};
use std::sync::Arc;

use flate2::write::GzEncoder;
use proptest::prelude::*;
use vizard_anonymizer::microdata::packing::{ContentCoding, Growth, Inflater};
use vizard_anonymizer::microdata::{
    HierarchySet, MissingCount, MissingPolicy, ReadLimits, ReadSummary, RecordFormat, Schema,
    SubjectKeys, Table, TableBuilder, TableError, Target, read_parquet_records,
};

use super::common::cases::property_cases;
use super::common::random_table::{hierarchies, manner, random_table};
use super::{build, rows};

/// Reads a Parquet file and builds its table.
pub fn build_parquet(
    schema: &Schema,
    hierarchies: &HierarchySet,
    file: Vec<u8>,
) -> Result<(Table, ReadSummary), TableError> {
    let mut builder = TableBuilder::new(Arc::new(schema.clone()), hierarchies)?;
    let mut sink = |chunk| builder.push(chunk);
    let target = Target {
        schema,
        hierarchies,
        limits: ReadLimits::default(),
    };
    let (mut keys, mut room) = (Vec::new(), Vec::new());
    let mut subjects = SubjectKeys::new(*b"a key of 16 byte", &mut keys);
    let file = Cursor::new(file);
    let summary = read_parquet_records(file, &target, &mut room, &mut subjects, &mut sink)?;
    Ok((builder.finish()?, summary))
}

/// The bytes packed, and unpacked again as an upload is while it is read.
fn through(coding: ContentCoding, bytes: Vec<u8>) -> impl Read {
    let packed = match coding {
        ContentCoding::Identity => bytes,
        ContentCoding::Gzip => {
            let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(&bytes).expect("memory takes it");
            encoder.finish().expect("memory takes it")
        }
        ContentCoding::Zstd => zstd::encode_all(bytes.as_slice(), 1).expect("memory takes it"),
    };
    let growth = Growth {
        ratio_max: 100,
        bytes_max: 1 << 30,
    };
    Inflater::new(Cursor::new(packed), coding, growth).expect("it can be unpacked")
}

/// The schema without an attribute: it is ignored, or nobody declared it.
fn without(schema: &Schema, name: &str, is_declared: bool) -> Schema {
    let mut document = serde_json::to_value(schema).expect("JSON");
    let attributes = document["attributes"].as_array_mut().expect("a list");
    if is_declared {
        let mut named = attributes.iter_mut();
        let found = named.find(|attribute| attribute["name"] == name);
        *found.expect("it is there") = serde_json::json!({"name": name, "role": "ignore"});
    } else {
        attributes.retain(|attribute| attribute["name"] != name);
        document["extra_columns"] = "ignore".into();
    }
    serde_json::from_value(document).expect("the schema is sound")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(property_cases(100).min(200)))]

    #[test]
    fn a_column_that_is_read_past_is_in_no_format_part_of_the_content(
        table in random_table(),
        manner in manner(),
        name in prop::sample::select(vec!["whole", "real", "day", "town", "illness"]),
        other in prop::sample::select(vec!["whole", "real", "day", "town", "illness"]),
    ) {
        let hierarchies = hierarchies();
        let mut first = None;
        for is_declared in [true, false] {
            let mut schema = without(&table.schema(), name, is_declared);
            if other != name {
                schema = without(&schema, other, true);
            }
            let read = |format, text: Vec<u8>| {
                build(&schema, &hierarchies, format, Cursor::new(text)).expect("sound").1
            };
            let (_, parquet) =
                build_parquet(&schema, &hierarchies, table.parquet(&manner)).expect("sound");
            for summary in [
                read(RecordFormat::Csv, table.csv(&manner)),
                read(RecordFormat::Ndjson, table.ndjson(&manner)),
                parquet,
            ] {
                let named = summary.attributes.iter().any(|count| count.attribute == name);
                prop_assert!(!named);
                let first = first.get_or_insert_with(|| summary.clone());
                prop_assert_eq!(&summary, first);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(property_cases(200).min(400)))]

    #[test]
    fn a_table_has_one_digest_in_three_formats_however_packed(
        table in random_table(),
        first in manner(),
        second in manner(),
        coding in prop::sample::select(vec![ContentCoding::Gzip, ContentCoding::Zstd]),
    ) {
        let (schema, hierarchies) = (table.schema(), hierarchies());
        let read = |format, coding, text: Vec<u8>| {
            let text = through(coding, text);
            build(&schema, &hierarchies, format, text).expect("the table is sound")
        };
        let (whole, summary) = read(RecordFormat::Csv, ContentCoding::Identity, table.csv(&first));
        prop_assert_eq!(summary.records + summary.dropped, table.records.len() as u64);
        let lacks = |count: &MissingCount| {
            let records = table.records.iter();
            records.filter(|record| record.lacks(&count.attribute)).count()
        };
        for count in &summary.attributes {
            prop_assert_eq!(count.missing, lacks(count) as u64, "{}", &count.attribute);
            let is_drop = schema.missing() == MissingPolicy::Drop;
            prop_assert_eq!(count.dropped, if is_drop { count.missing } else { 0 });
        }
        for (manner, coding) in [(&first, coding), (&second, ContentCoding::Identity)] {
            let mut file = Vec::new();
            let mut unpacked = through(coding, table.parquet(manner));
            unpacked.read_to_end(&mut file).expect("it can be unpacked");
            for (same, same_summary) in [
                read(RecordFormat::Csv, coding, table.csv(manner)),
                read(RecordFormat::Ndjson, coding, table.ndjson(manner)),
                build_parquet(&schema, &hierarchies, file).expect("the table is sound"),
            ] {
                prop_assert_eq!(&same_summary, &summary);
                prop_assert_eq!(rows(&same), rows(&whole));
            }
        }
    }
}
