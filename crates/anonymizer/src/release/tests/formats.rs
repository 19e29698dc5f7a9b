//! What each format says, cell by cell, and what it does not say.

use std::io::Cursor;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch, StringArray};
use arrow_ipc::reader::{FileReader as ArrowFileReader, StreamReader};
use arrow_select::concat::concat_batches;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::encode;
use super::round_trip::transcode;
use crate::microdata::AttributeType;
use crate::release::{
    Cell, Cells, Content, Format, Item, PublishedColumn, PublishedTable, Transcoder, WireFault,
};

fn column(
    name: &str,
    content: Content,
    kind: Option<AttributeType>,
    cells: Cells,
) -> PublishedColumn {
    PublishedColumn {
        name: name.into(),
        content,
        kind,
        cells,
    }
}

fn dictionary(codes: &[u32], cells: &[Cell]) -> Cells {
    Cells::Dictionary {
        codes: codes.to_vec().into(),
        cells: cells.to_vec(),
    }
}

fn label(text: &str) -> Cell {
    Cell::Label(text.into())
}

/// Three rows with every kind of column.
fn table() -> PublishedTable {
    let age = dictionary(
        &[1, 0, 2],
        &[Cell::Empty, Cell::Integer(20, 29), Cell::Masked],
    );
    let sex = dictionary(&[1, 2, 0], &[label("=1+1"), label("M"), label("unused")]);
    let day = dictionary(&[0, 1, 0], &[Cell::Date(0, 0), Cell::Date(0, 365)]);
    let visits = dictionary(&[0, 1, 0], &[Cell::Integer(-7, -7), Cell::Integer(9, 9)]);
    let items = [
        Cell::Items(vec![Item::Node("A".into()), Item::Node("b|2".into())]),
        Cell::Items(vec![Item::Node("c".into())]),
    ];
    PublishedTable {
        name: "table".into(),
        columns: vec![
            column("group", Content::Group, None, Cells::Numbers(vec![2, 1, 2])),
            column(
                "age",
                Content::Generalized,
                Some(AttributeType::Integer),
                age,
            ),
            column(
                "age_bucket",
                Content::Bucket,
                None,
                Cells::Numbers(vec![0, 3, 0]),
            ),
            column(
                "sex",
                Content::Generalized,
                Some(AttributeType::Categorical),
                sex,
            ),
            column("day", Content::Generalized, Some(AttributeType::Date), day),
            column(
                "visits",
                Content::Exact,
                Some(AttributeType::Integer),
                visits,
            ),
            column(
                "codes",
                Content::Fingerprint,
                None,
                dictionary(&[0, 1, 1], &items),
            ),
        ],
    }
}

const FIELDS: [&str; 10] = [
    "group",
    "age_min",
    "age_max",
    "age_masked",
    "age_bucket",
    "sex",
    "day_min",
    "day_max",
    "visits",
    "codes",
];

fn field_names(batch: &RecordBatch) -> Vec<String> {
    let fields = batch.schema_ref().fields().iter();
    fields.map(|field| field.name().clone()).collect()
}

fn integers(batch: &RecordBatch, name: &str) -> Vec<Option<i64>> {
    let column = batch.column_by_name(name).unwrap();
    column.as_primitive::<Int64Type>().iter().collect()
}

#[test]
fn csv_for_spreadsheets_runs_nothing() {
    let (description, pieces) = encode(&table(), 50);
    assert!(pieces.len() > 1);
    let text = transcode(&description, &pieces, Format::Csv);
    let expected = "group,age,age_bucket,sex,day,visits,codes\n\
        2,20..29,,M,1970-01-01,-7,A|b\\|2\n\
        1,,3,unused,1970-01-01..1971-01-01,9,c\n\
        2,*,,'=1+1,1970-01-01,-7,c\n";
    assert_eq!(String::from_utf8(text).unwrap(), expected);
}

#[test]
fn ndjson_has_strings_for_cells_numbers_for_counts_and_null_for_nothing() {
    let (description, pieces) = encode(&table(), 50);
    let text = transcode(&description, &pieces, Format::Ndjson);
    let first = "{\"group\":2,\"age\":\"20..29\",\"age_bucket\":null,\"sex\":\"M\",\
        \"day\":\"1970-01-01\",\"visits\":\"-7\",\"codes\":\"A|b\\\\|2\"}\n";
    assert!(String::from_utf8(text).unwrap().starts_with(first));
}

#[test]
fn arrow_streams_hold_typed_columns() {
    let (description, pieces) = encode(&table(), 50);
    let stream = transcode(&description, &pieces, Format::Arrow);
    let reader = StreamReader::try_new(Cursor::new(stream), None).unwrap();
    let schema = reader.schema();
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    assert!(batches.len() > 1, "one batch a piece");
    let batch = concat_batches(&schema, &batches).unwrap();
    assert_eq!(field_names(&batch), FIELDS);
    assert_eq!(integers(&batch, "group"), [Some(2), Some(1), Some(2)]);
    assert_eq!(integers(&batch, "age_min"), [Some(20), None, None]);
    assert_eq!(integers(&batch, "age_max"), [Some(29), None, None]);
    assert_eq!(integers(&batch, "age_bucket"), [None, Some(3), None]);
    assert_eq!(integers(&batch, "visits"), [Some(-7), Some(9), Some(-7)]);
    let masked = batch.column_by_name("age_masked").unwrap().as_boolean();
    assert_eq!(
        masked.iter().collect::<Vec<_>>(),
        [Some(false), Some(false), Some(true)]
    );
    let days = batch.column_by_name("day_max").unwrap();
    assert_eq!(days.as_primitive::<Date32Type>().values(), &[0, 365, 0]);
    let sex = batch.column_by_name("sex").unwrap();
    let sex = sex
        .as_dictionary::<Int32Type>()
        .downcast_dict::<StringArray>()
        .unwrap();
    let sex: Vec<_> = sex.into_iter().flatten().collect();
    assert_eq!(sex, ["M", "unused", "=1+1"]);
    let codes = batch
        .column_by_name("codes")
        .unwrap()
        .as_list::<i32>()
        .value(0);
    let codes: Vec<_> = codes.as_string::<i32>().iter().flatten().collect();
    assert_eq!(codes, ["A", "b|2"]);
}

#[test]
fn arrow_files_say_what_streams_say_with_plain_texts_and_a_footer() {
    let (description, pieces) = encode(&table(), 50);
    let stream = transcode(&description, &pieces, Format::Arrow);
    let streamed: Vec<RecordBatch> = StreamReader::try_new(Cursor::new(stream), None)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let file = transcode(&description, &pieces, Format::ArrowFile);
    assert!(file.starts_with(b"ARROW1\0\0") && file.ends_with(b"ARROW1"));
    let mut reader = ArrowFileReader::try_new(Cursor::new(file), None).unwrap();
    assert_eq!(reader.num_batches(), streamed.len());
    // Any batch first: the footer knows where it is.
    for (at, streamed) in streamed.iter().enumerate().rev() {
        reader.set_index(at).unwrap();
        let batch = reader.next().unwrap().unwrap();
        assert_eq!(field_names(&batch), FIELDS);
        assert_eq!(integers(&batch, "age_min"), integers(streamed, "age_min"));
        let texts = batch.column_by_name("sex").unwrap().as_string::<i32>();
        let sex = streamed
            .column_by_name("sex")
            .unwrap()
            .as_dictionary::<Int32Type>();
        let sex = sex.downcast_dict::<StringArray>().unwrap();
        assert!(texts.iter().eq(sex.into_iter()));
        assert_eq!(
            batch.column_by_name("codes").unwrap(),
            streamed.column_by_name("codes").unwrap()
        );
    }
}

#[test]
fn a_table_without_rows_is_a_whole_file_in_every_format() {
    let mut table = table();
    for column in &mut table.columns {
        column.cells = match column.cells {
            Cells::Numbers(_) => Cells::Numbers(Vec::new()),
            Cells::Dictionary { .. } => dictionary(&[], &[]),
        };
    }
    let (description, pieces) = encode(&table, 50);
    let stream = transcode(&description, &pieces, Format::Arrow);
    let reader = StreamReader::try_new(Cursor::new(stream), None).unwrap();
    assert_eq!(
        reader.map(|batch| batch.unwrap().num_rows()).sum::<usize>(),
        0
    );
    let file = transcode(&description, &pieces, Format::ArrowFile);
    let reader = ArrowFileReader::try_new(Cursor::new(file), None).unwrap();
    assert_eq!(
        reader.map(|batch| batch.unwrap().num_rows()).sum::<usize>(),
        0
    );
    let file = transcode(&description, &pieces, Format::Parquet);
    assert_eq!(
        crate::release::decode_parquet(&description, file),
        Ok(table)
    );
    assert_eq!(transcode(&description, &pieces, Format::Ndjson), b"");
    let csv = transcode(&description, &pieces, Format::Csv);
    assert_eq!(csv, pieces.concat());
}

#[test]
fn parquet_says_nothing_about_its_source() {
    let table = table();
    let (description, pieces) = encode(&table, 50);
    let file = transcode(&description, &pieces, Format::Parquet);
    let reader = SerializedFileReader::new(bytes::Bytes::from(file.clone())).unwrap();
    let metadata = reader.metadata();
    assert_eq!(metadata.file_metadata().created_by(), Some("vizard"));
    for group in metadata.row_groups() {
        for chunk in group.columns() {
            assert!(chunk.statistics().is_none());
            assert!(chunk.column_index_offset().is_none());
            assert!(chunk.bloom_filter_offset().is_none());
        }
    }
    // Another order of an engine's dictionaries, and cells that no row has.
    let mut other = table.clone();
    let sex = [
        label("patient 17"),
        label("unused"),
        label("M"),
        label("=1+1"),
    ];
    other.columns[3].cells = dictionary(&[2, 1, 3], &sex);
    for format in [Format::Parquet, Format::Arrow] {
        let mut files = [&table, &other].map(|table| {
            let mut transcoder = Transcoder::new(&description, format).unwrap();
            let mut out = Vec::new();
            transcoder.rows(table, &mut out).unwrap();
            transcoder.finish(&mut out).unwrap();
            out
        });
        assert!(files[0] == files[1], "{format:?}");
        assert!(!files[0].is_empty());
        files[0].clear();
    }
}

#[test]
fn a_transcoder_can_move_to_another_thread() {
    fn moves<T: Send>() {}
    moves::<Transcoder>();
}

#[test]
fn tables_that_are_not_the_one_described_are_refused() {
    let (description, _) = encode(&table(), 50);
    let mut renamed = table();
    renamed.columns[3].name = "gender".into();
    let mut masked = table();
    masked.columns[5].cells = dictionary(&[0, 0, 0], &[Cell::Masked]);
    let mut interval = table();
    interval.columns[5].cells = dictionary(&[0, 0, 0], &[Cell::Integer(1, 2)]);
    let mut mixed = table();
    mixed.columns[1].cells = dictionary(&[0, 0, 0], &[label("young")]);
    let cases = [
        (renamed, WireFault::ColumnsDiffer),
        (masked, WireFault::CellUnfit),
        (interval, WireFault::CellUnfit),
        (mixed, WireFault::CellUnfit),
    ];
    for (table, fault) in cases {
        let mut transcoder = Transcoder::new(&description, Format::Parquet).unwrap();
        let error = transcoder.rows(&table, &mut Vec::new()).unwrap_err();
        assert_eq!(error.fault, fault);
    }
}

/// Rows of buckets: what they name, and the value; and sets beside nodes.
fn with_values(names: &[&str], values: &[Cell]) -> PublishedTable {
    let codes: Vec<u32> = (0..values.len() as u32).collect();
    let names: Vec<Cell> = names.iter().map(|name| label(name)).collect();
    let sets = [
        Cell::Set(vec!["a".into(), "b|c".into()]),
        label("*"),
        Cell::Masked,
        Cell::Empty,
    ];
    let sets: Vec<Cell> = (0..values.len()).map(|row| sets[row % 4].clone()).collect();
    let category = Some(AttributeType::Categorical);
    let columns = vec![
        column(
            "attribute",
            Content::Attribute,
            None,
            dictionary(&codes, &names),
        ),
        column("value", Content::Value, None, dictionary(&codes, values)),
        column(
            "ward",
            Content::Generalized,
            category,
            dictionary(&codes, &sets),
        ),
    ];
    PublishedTable {
        name: "buckets".into(),
        columns,
    }
    .canonical()
}

fn streamed(table: &PublishedTable) -> RecordBatch {
    let (description, pieces) = encode(table, 1 << 20);
    let file = transcode(&description, &pieces, Format::Parquet);
    let read = crate::release::decode_parquet(&description, file);
    assert_eq!(read.as_ref(), Ok(table), "Parquet reads back");
    let stream = transcode(&description, &pieces, Format::Arrow);
    let mut reader = StreamReader::try_new(Cursor::new(stream), None).unwrap();
    reader.next().unwrap().unwrap()
}

#[test]
fn values_of_one_type_are_of_that_type_and_sets_are_lists() {
    let values = [
        Cell::Integer(-7, -7),
        Cell::missing(),
        Cell::Integer(9, 9),
        Cell::Integer(10, 10),
    ];
    let batch = streamed(&with_values(&["age", "age", "age", "age"], &values));
    let expected = ["attribute", "value", "value_missing", "ward", "ward_masked"];
    assert_eq!(field_names(&batch), expected);
    assert_eq!(
        integers(&batch, "value"),
        [Some(-7), None, Some(9), Some(10)]
    );
    let missing = batch.column_by_name("value_missing").unwrap().as_boolean();
    assert_eq!(missing.iter().flatten().filter(|flag| *flag).count(), 1);
    let wards = batch.column_by_name("ward").unwrap().as_list::<i32>();
    let members = |row: usize| -> Vec<String> {
        let members = wards.value(row);
        let members = members.as_string::<i32>().iter().flatten();
        members.map(str::to_owned).collect()
    };
    assert_eq!(
        (members(0), members(1)),
        (vec!["a".into(), "b|c".into()], vec!["*".to_owned()])
    );
    let nulls: Vec<bool> = (0..4).map(|row| wards.is_null(row)).collect();
    assert_eq!(nulls, [false, false, true, true]);
    let masked = batch.column_by_name("ward_masked").unwrap().as_boolean();
    let masked: Vec<_> = masked.iter().flatten().collect();
    assert_eq!(masked, [false, false, true, false]);
}

#[test]
fn values_of_several_types_have_a_field_for_each() {
    let values = [
        Cell::Integer(5, 5),
        Cell::Date(0, 0),
        label("flu"),
        Cell::missing(),
        Cell::missing(),
    ];
    let batch = streamed(&with_values(
        &["age", "day", "illness", "illness", "age"],
        &values,
    ));
    let fields = [
        "attribute",
        "value_integer",
        "value_date",
        "value_categorical",
        "value_missing",
        "ward",
        "ward_masked",
    ];
    assert_eq!(field_names(&batch), fields);
    let integers = integers(&batch, "value_integer");
    assert_eq!(integers, [Some(5), None, None, None, None]);
    let texts = batch.column_by_name("value_categorical").unwrap();
    let texts = texts.as_dictionary::<Int32Type>();
    let texts = texts.downcast_dict::<StringArray>().unwrap();
    let texts: Vec<_> = texts.into_iter().collect();
    assert_eq!(texts, [None, None, Some("flu"), Some("(missing)"), None]);
    let missing = batch.column_by_name("value_missing").unwrap().as_boolean();
    let missing: Vec<_> = missing.iter().flatten().collect();
    assert_eq!(missing, [false, false, false, false, true]);
}
