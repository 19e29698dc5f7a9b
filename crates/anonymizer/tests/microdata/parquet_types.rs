//! Which column of a Parquet file can be which attribute, and what its values
//! become.

use std::sync::Arc;

use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Date64Array, Decimal128Array,
    DictionaryArray, Float32Array, Float64Array, Int8Array, Int16Array, Int64Array, ListArray,
    RecordBatch, StringArray, StructArray, Time32MillisecondArray, TimestampMicrosecondArray,
    TimestampMillisecondArray, TimestampNanosecondArray, UInt8Array, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use vizard_anonymizer::microdata::CellErrorCode::{
    ColumnUnfit, NotADate, NotADecimal, NotAnInteger, NotUtf8,
};
use vizard_anonymizer::microdata::{CellErrorCode, HierarchySet, Schema, TableError};

use super::rows;
use super::same_digest::build_parquet;

/// Values of an attribute of this type, or the error of the first cell.
fn read(kind: &str, column: ArrayRef) -> Result<Vec<String>, (u64, CellErrorCode)> {
    let schema = format!(
        r#"{{"name": "t", "subject_key": "id", "missing": "drop", "attributes": [
            {{"name": "id", "role": "identifier"}},
            {{"name": "x", "role": "sensitive", "type": "{kind}"}}]}}"#
    );
    let schema: Schema = serde_json::from_str(&schema).expect("the schema is sound");
    let id: ArrayRef = Arc::new((0..column.len() as i64).collect::<Int64Array>());
    let columns = [("x", column), ("id", id)];
    let batch = RecordBatch::try_from_iter(columns).expect("columns fit");
    let properties = WriterProperties::builder().set_coerce_types(true).build();
    let writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties));
    let mut writer = writer.expect("it can be written");
    writer.write(&batch).expect("it can be written");
    let file = writer.into_inner().expect("it can be written");
    match build_parquet(&schema, &HierarchySet::new(), file) {
        Ok((table, _)) => Ok(rows(&table).into_iter().map(|row| row[1].clone()).collect()),
        Err(TableError::Cells { errors, .. }) => {
            assert_eq!(errors[0].attribute.as_deref(), Some("x"));
            Err((errors[0].line, errors[0].code))
        }
        Err(error) => panic!("{error}"),
    }
}

fn texts(values: &[&str]) -> Result<Vec<String>, (u64, CellErrorCode)> {
    Ok(values.iter().map(|&value| value.to_owned()).collect())
}

fn decimals(values: [i128; 2], precision: u8, scale: i8) -> ArrayRef {
    let array = Decimal128Array::from_iter_values(values);
    Arc::new(
        array
            .with_precision_and_scale(precision, scale)
            .expect("it fits"),
    )
}

#[test]
fn whole_numbers_of_every_width_are_integers() {
    let columns: [ArrayRef; 8] = [
        Arc::new(Int8Array::from(vec![7, 120])),
        Arc::new(Int16Array::from(vec![7, 120])),
        Arc::new(UInt8Array::from(vec![7, 120])),
        Arc::new(UInt64Array::from(vec![7, 120])),
        Arc::new(Float64Array::from(vec![7.0, 120.0])),
        Arc::new(StringArray::from(vec![" +7", "0120"])),
        decimals([7, 120], 38, 0),
        decimals([700, 12_000], 9, 2),
    ];
    for column in columns {
        let kind = column.data_type().clone();
        assert_eq!(read("integer", column), texts(&["7", "120"]), "{kind}");
    }
    let wide = UInt32Array::from(vec![u32::MAX, 1]);
    assert_eq!(read("integer", Arc::new(wide)), texts(&["4294967295", "1"]));
}

#[test]
fn what_is_no_whole_number_of_64_bits_is_named_by_its_record() {
    let columns: [ArrayRef; 3] = [
        Arc::new(UInt64Array::from(vec![1, u64::MAX])),
        Arc::new(Float64Array::from(vec![1.0, 1.5])),
        decimals([100, 101], 9, 2),
    ];
    for column in columns {
        assert_eq!(read("integer", column), Err((2, NotAnInteger)));
    }
}

#[test]
fn decimals_keep_the_digits_that_were_meant() {
    let narrow = Float32Array::from(vec![0.1, -2.5e10]);
    assert_eq!(
        read("decimal", Arc::new(narrow)),
        texts(&["0.1", "-25000000000"])
    );
    assert_eq!(
        read("decimal", decimals([-1_250, 5], 30, 3)),
        texts(&["-1.25", "0.005"])
    );
    for wrong in [f64::NAN, f64::INFINITY] {
        let column = Float64Array::from(vec![0.5, wrong]);
        assert_eq!(read("decimal", Arc::new(column)), Err((2, NotADecimal)));
    }
}

#[test]
fn days_are_dates_and_timestamps_that_fall_on_midnight() {
    const DAY: i64 = 86_400_000;
    let columns: [ArrayRef; 6] = [
        Arc::new(Date32Array::from(vec![-1, 19_782])),
        Arc::new(Date64Array::from(vec![-DAY, 19_782 * DAY])),
        Arc::new(TimestampMillisecondArray::from(vec![-DAY, 19_782 * DAY])),
        Arc::new(TimestampMicrosecondArray::from(vec![
            -DAY * 1000,
            19_782 * DAY * 1000,
        ])),
        Arc::new(TimestampNanosecondArray::from(vec![
            -DAY * 1_000_000,
            19_782 * DAY * 1_000_000,
        ])),
        Arc::new(StringArray::from(vec!["1969-12-31", "2024-02-29"])),
    ];
    for column in columns {
        let kind = column.data_type().clone();
        assert_eq!(
            read("date", column),
            texts(&["1969-12-31", "2024-02-29"]),
            "{kind}"
        );
    }
    let noon = TimestampMillisecondArray::from(vec![0, DAY / 2]);
    assert_eq!(read("date", Arc::new(noon)), Err((2, NotADate)));
    let far = Date32Array::from(vec![0, i32::MAX]);
    assert_eq!(read("date", Arc::new(far)), Err((2, NotADate)));
}

#[test]
fn categories_are_texts_and_whole_numbers() {
    let dictionary: DictionaryArray<Int32Type> = ["a", "b", "a"].into_iter().collect();
    assert_eq!(
        read("categorical", Arc::new(dictionary)),
        texts(&["a", "b", "a"])
    );
    let numbers = Int64Array::from(vec![1, -2]);
    assert_eq!(read("categorical", Arc::new(numbers)), texts(&["1", "-2"]));
    // Old writers do not say that bytes are text; not all are.
    let bytes = BinaryArray::from(vec!["é".as_bytes(), b"\xFF"]);
    assert_eq!(read("categorical", Arc::new(bytes)), Err((2, NotUtf8)));
}

#[test]
fn a_column_that_cannot_be_the_attribute_is_unfit() {
    let truth = || Arc::new(BooleanArray::from(vec![true])) as ArrayRef;
    let day = || Arc::new(Date32Array::from(vec![1])) as ArrayRef;
    let real = || Arc::new(Float64Array::from(vec![1.0])) as ArrayRef;
    let list = ListArray::from_iter_primitive::<Int64Type, _, _>([Some([Some(1)])]);
    let field = Arc::new(Field::new("part", DataType::Int64, false));
    let part: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let group = StructArray::from(vec![(field, part)]);
    let columns: [(&str, ArrayRef); 9] = [
        ("categorical", truth()),
        ("integer", truth()),
        ("categorical", real()),
        ("date", real()),
        ("integer", day()),
        ("categorical", day()),
        ("integer", Arc::new(Time32MillisecondArray::from(vec![1]))),
        ("integer", Arc::new(list)),
        ("integer", Arc::new(group)),
    ];
    for (kind, column) in columns {
        let given = column.data_type().clone();
        assert_eq!(
            read(kind, column),
            Err((0, ColumnUnfit)),
            "{given} as {kind}"
        );
    }
}
