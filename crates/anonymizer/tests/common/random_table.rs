//! Random tables, and each of them written as CSV, NDJSON and Parquet.
//!
//! Whole numbers and decimals go to the ends of their types, days from year 1
//! to 9999, texts hold quotes, commas, several scripts, and white space with
//! line breaks at their ends, which is trimmed. How a table is written is
//! random too: order and quoting of CSV, numbers or texts in NDJSON, and in
//! Parquet the physical types, packing, pages, dictionaries and row groups.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, Date32Array, Decimal128Array, DictionaryArray, Float64Array, Int32Array,
    Int64Array, LargeStringArray, RecordBatch, StringArray, StringViewArray,
    TimestampMicrosecondArray, TimestampMillisecondArray,
};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterVersion};
use proptest::prelude::*;
use serde_json::Value;
use vizard_anonymizer::microdata::value_text::date_text;
use vizard_anonymizer::microdata::{HierarchyFormat, HierarchySet, HierarchySource, Schema};

/// One record; nothing where a cell is empty.
#[derive(Clone, Debug)]
pub struct Record {
    pub id: String,
    pub whole: Option<i64>,
    pub real: Option<f64>,
    pub day: Option<i32>,
    pub town: Option<String>,
    pub illness: Option<&'static str>,
}

impl Record {
    /// Whether it has no value of an attribute.
    pub fn lacks(&self, attribute: &str) -> bool {
        match attribute {
            "whole" => self.whole.is_none(),
            "real" => self.real.is_none(),
            "day" => self.day.is_none(),
            "town" => self.town.is_none(),
            "illness" => self.illness.is_none(),
            _ => false,
        }
    }
}

/// A table, and the missing-value policy that it fits.
#[derive(Clone, Debug)]
pub struct RandomTable {
    pub missing: &'static str,
    pub records: Vec<Record>,
}

/// Columns in schema order.
const NAMES: [&str; 6] = ["id", "whole", "real", "day", "town", "illness"];

/// How a table is written.
#[derive(Clone, Debug)]
pub struct Manner {
    order: Vec<usize>,
    /// A choice for each column: its type in Parquet, text or number in NDJSON.
    choices: Vec<u8>,
    crlf: bool,
    quoted: bool,
    packing: u8,
    is_version_2: bool,
    has_dictionary: bool,
    page_rows: usize,
    group_rows: usize,
}

pub fn manner() -> impl Strategy<Value = Manner> {
    let order = Just((0..NAMES.len()).collect::<Vec<_>>()).prop_shuffle();
    let flags = any::<(bool, bool, bool, bool)>();
    let sizes = (1..60_usize, 1..50_usize);
    let choices = prop::collection::vec(any::<u8>(), NAMES.len());
    (order, choices, flags, any::<u8>(), sizes).prop_map(
        |(order, choices, (crlf, quoted, is_version_2, has_dictionary), packing, sizes)| Manner {
            order,
            choices,
            crlf,
            quoted,
            packing,
            is_version_2,
            has_dictionary,
            page_rows: sizes.0,
            group_rows: sizes.1,
        },
    )
}

pub fn random_table() -> impl Strategy<Value = RandomTable> {
    let whole = prop_oneof![
        any::<i64>(),
        -99_i64..99,
        prop::sample::select(vec![i64::MIN, i64::MAX, 0, -1]),
    ];
    let extremes = vec![0.0, -0.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324];
    let real = prop_oneof![
        any::<f64>().prop_filter("finite", |real| real.is_finite()),
        (-999_i32..999).prop_map(|number| f64::from(number) / 10.0),
        prop::sample::select(extremes),
    ];
    let day = prop_oneof![-719_162..=2_932_896_i32, Just(-719_162), Just(2_932_896)];
    let town = "[ \t\r\n]{0,2}[a-c\"',;|\\\\éß漢😀]([a-c \"',;|\\\\é漢😀]{0,6}[a-c\"',;\\\\é漢😀])?[ \n\u{a0}]{0,2}";
    let illness = prop::sample::select(vec!["flu", "cough", "gout"]);
    let missing = prop::sample::select(vec!["reject", "drop", "category"]);
    let record = (whole, real, day, town, illness, any::<[u8; 5]>());
    (missing, prop::collection::vec(record, 0..60)).prop_map(|(missing, records)| {
        let record = |(at, (whole, real, day, town, illness, gaps))| {
            let gaps: [u8; 5] = gaps;
            let has = |column: usize| missing == "reject" || gaps[column] > 25;
            Record {
                id: format!("p\"{at},é"),
                whole: has(0).then_some(whole),
                real: has(1).then_some(real),
                day: has(2).then_some(day),
                town: has(3).then_some(town),
                illness: has(4).then_some(illness),
            }
        };
        let records = records.into_iter().enumerate();
        RandomTable {
            missing,
            records: records.map(record).collect(),
        }
    })
}

pub fn hierarchies() -> HierarchySet {
    let content = b"flu;chest;*\ncough;chest;*\ngout;*\n";
    let source = HierarchySource::read(content, HierarchyFormat::Csv).expect("a tree");
    HierarchySet::from([("illness".into(), source)])
}

impl RandomTable {
    /// The document of the schema.
    pub fn schema_document(&self) -> Value {
        serde_json::json!({
            "name": "random", "subject_key": "id", "missing": self.missing,
            "attributes": [
                {"name": "id", "role": "identifier"},
                {"name": "whole", "role": "quasi_identifier", "type": "integer"},
                {"name": "real", "role": "quasi_identifier", "type": "decimal"},
                {"name": "day", "role": "semi_sensitive", "type": "date"},
                {"name": "town", "role": "quasi_identifier", "type": "categorical"},
                {"name": "illness", "role": "sensitive", "type": "categorical", "hierarchy": "illness"},
            ],
        })
    }

    /// The schema.
    pub fn schema(&self) -> Schema {
        serde_json::from_value(self.schema_document()).expect("the schema is sound")
    }

    /// As CSV.
    pub fn csv(&self, manner: &Manner) -> Vec<u8> {
        let mut writer = csv::WriterBuilder::new();
        if manner.crlf {
            writer.terminator(csv::Terminator::CRLF);
        }
        if manner.quoted {
            writer.quote_style(csv::QuoteStyle::Always);
        }
        let mut writer = writer.from_writer(Vec::new());
        let order = &manner.order;
        let names = order.iter().map(|&column| NAMES[column]);
        writer.write_record(names).expect("memory takes it");
        for record in &self.records {
            let cells = order.iter().map(|&column| record.text(column, manner));
            let cells = cells.map(Option::unwrap_or_default);
            writer.write_record(cells).expect("memory takes it");
        }
        writer.into_inner().expect("memory takes it")
    }

    /// As NDJSON.
    pub fn ndjson(&self, manner: &Manner) -> Vec<u8> {
        let line_end = if manner.crlf { "\r\n" } else { "\n" };
        let mut text = String::new();
        for record in &self.records {
            let members = manner.order.iter().map(|&column| {
                let is_number = matches!(column, 1 | 2) && manner.choices[column].is_multiple_of(2);
                let value = match record.text(column, manner) {
                    None => "null".to_owned(),
                    // CSV may write a plus sign; JSON has none.
                    Some(text) if is_number => text.trim_start_matches('+').to_owned(),
                    Some(text) => Value::from(text).to_string(),
                };
                format!("{}: {value}", Value::from(NAMES[column]))
            });
            let members: Vec<String> = members.collect();
            text += &format!("{{{}}}{line_end}", members.join(", "));
        }
        text.into_bytes()
    }

    /// As Parquet.
    pub fn parquet(&self, manner: &Manner) -> Vec<u8> {
        let columns = manner
            .order
            .iter()
            .map(|&column| (NAMES[column], self.array(column, manner), true));
        let batch = RecordBatch::try_from_iter_with_nullable(columns).expect("columns fit");
        let packing = match manner.packing % 3 {
            0 => Compression::UNCOMPRESSED,
            1 => Compression::SNAPPY,
            _ => Compression::ZSTD(ZstdLevel::default()),
        };
        let version = if manner.is_version_2 && manner.has_dictionary {
            WriterVersion::PARQUET_2_0
        } else {
            // Without a dictionary the second version packs texts as deltas,
            // which are not read.
            WriterVersion::PARQUET_1_0
        };
        let properties = WriterProperties::builder()
            .set_compression(packing)
            .set_writer_version(version)
            .set_dictionary_enabled(manner.has_dictionary)
            .set_data_page_row_count_limit(manner.page_rows)
            .set_write_batch_size(manner.page_rows)
            .set_max_row_group_row_count(Some(manner.group_rows))
            .build();
        let writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties));
        let mut writer = writer.expect("the schema is flat");
        writer.write(&batch).expect("memory takes it");
        writer.into_inner().expect("memory takes it")
    }

    fn array(&self, column: usize, manner: &Manner) -> ArrayRef {
        let choice = manner.choices[column];
        let records = || self.records.iter();
        let days = || records().map(|record| record.day.map(i64::from));
        match (column, choice % 4) {
            (1, 0) if records().all(|record| record.is_narrow()) => {
                let values = records().map(|record| record.whole.map(|whole| whole as i32));
                Arc::new(values.collect::<Int32Array>())
            }
            (1, 1) => {
                let values =
                    records().map(|record| record.whole.map(|whole| i128::from(whole) * 100));
                let array = values.collect::<Decimal128Array>();
                Arc::new(array.with_precision_and_scale(38, 2).expect("it fits"))
            }
            (1, 2 | 0) => Arc::new(records().map(|record| record.whole).collect::<Int64Array>()),
            (2, 0..=2) => Arc::new(
                records()
                    .map(|record| record.real)
                    .collect::<Float64Array>(),
            ),
            (3, 0) => Arc::new(records().map(|record| record.day).collect::<Date32Array>()),
            (3, 1) => {
                let values = days().map(|day| day.map(|day| day * 86_400_000));
                Arc::new(values.collect::<TimestampMillisecondArray>())
            }
            (3, 2) => {
                let values = days().map(|day| day.map(|day| day * 86_400_000_000));
                let array = values.collect::<TimestampMicrosecondArray>();
                Arc::new(array.with_timezone("UTC"))
            }
            (_, kind) => {
                let texts = records().map(|record| record.text(column, manner));
                let texts: Vec<Option<String>> = texts.collect();
                let texts = || texts.iter().map(Option::as_deref);
                match kind {
                    0 => Arc::new(texts().collect::<LargeStringArray>()),
                    1 => Arc::new(texts().collect::<DictionaryArray<Int32Type>>()),
                    2 => Arc::new(texts().collect::<StringViewArray>()),
                    _ => Arc::new(texts().collect::<StringArray>()) as Arc<dyn Array>,
                }
            }
        }
    }
}

impl Record {
    fn is_narrow(&self) -> bool {
        self.whole.is_none_or(|whole| i32::try_from(whole).is_ok())
    }

    /// The text of a cell, in one of the ways of writing its value.
    fn text(&self, column: usize, manner: &Manner) -> Option<String> {
        let choice = manner.choices[column];
        match column {
            0 => Some(self.id.clone()),
            1 => self.whole.map(|whole| match (choice, whole) {
                (200.., 0..) => format!("+{whole}"),
                _ => whole.to_string(),
            }),
            2 => self.real.map(|real| match choice {
                0..100 => format!("{real:?}"),
                100..200 => format!("{real:e}"),
                _ => format!("{real}"),
            }),
            3 => self.day.map(date_text),
            4 => self.town.clone(),
            _ => self.illness.map(str::to_owned),
        }
    }
}
