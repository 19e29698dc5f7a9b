//! Text and Parquet files of tables that say the same in other bytes, or more
//! beside it.

use std::path::Path;

use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};

use super::{Corruption, SOMEBODY, all_are_refused, edit, raw};

#[test]
fn no_text_of_a_table_is_written_otherwise() {
    let corruptions: [Corruption; 12] = [
        (
            "lines of a table that end in another way",
            "One bit for each line.",
            |folder| {
                edit(folder, "quasi.csv", |text| text.replace('\n', "\r\n"));
            },
        ),
        (
            "one line of a table that ends in another way",
            "Which one it is is a message.",
            |folder| {
                edit(folder, "quasi.csv", |text| text.replacen("\n", "\r\n", 2));
            },
        ),
        ("a cell in quotes", "One bit for each cell.", |folder| {
            edit(folder, "quasi.csv", |text| {
                text.replacen("Oslo", "\"Oslo\"", 1)
            });
        }),
        (
            "a cell with a space behind it",
            "One bit for each cell.",
            |folder| {
                edit(folder, "quasi.csv", |text| {
                    text.replacen("Oslo", "Oslo ", 1)
                });
            },
        ),
        (
            "a cell of a number with a zero before it",
            "One bit for each cell.",
            |folder| {
                edit(folder, "quasi.csv", |text| text.replacen(",2", ",02", 1));
            },
        ),
        (
            "a mark of byte order before a table",
            "One bit.",
            |folder| {
                edit(folder, "quasi.csv", |text| format!("\u{feff}{text}"));
            },
        ),
        (
            "an empty line behind a table",
            "One bit for each line.",
            |folder| {
                edit(folder, "sensitive.csv", |text| text + "\n");
            },
        ),
        ("no end of the last line of a table", "One bit.", |folder| {
            edit(folder, "sensitive.csv", |text| text.trim_end().into());
        }),
        ("a remark in a table", "Somebody is named.", |folder| {
            edit(folder, "sensitive.csv", |text| {
                format!("{text}# {SOMEBODY}\n")
            });
        }),
        (
            "a cell more in one line of a table",
            "Somebody is named.",
            |folder| {
                edit(folder, "quasi.csv", |text| {
                    text.replacen("Oslo\n", &format!("Oslo,{SOMEBODY}\n"), 1)
                });
            },
        ),
        (
            "bytes behind the end of a table",
            "Somebody is named.",
            |folder| {
                edit(folder, "quasi.csv", |text| format!("{text}\0{SOMEBODY}"));
            },
        ),
        (
            "two lines of a table exchanged",
            "One bit for each pair.",
            |folder| {
                edit(folder, "quasi.csv", |text| {
                    let mut lines: Vec<&str> = text.lines().collect();
                    let at = (1..lines.len() - 1)
                        .find(|&at| lines[at] != lines[at + 1])
                        .unwrap();
                    lines.swap(at, at + 1);
                    lines.join("\n") + "\n"
                });
            },
        ),
    ];
    all_are_refused("csv", &corruptions);
}

type Properties = fn(WriterPropertiesBuilder) -> WriterPropertiesBuilder;

/// Writes a Parquet file anew, the same rows with other properties.
fn rewrite(folder: &Path, properties: Properties) {
    let path = folder.join("quasi.parquet");
    let file = std::fs::File::open(&path).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let schema = reader.schema().clone();
    let batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
    let properties = properties(WriterProperties::builder()).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), schema, Some(properties)).unwrap();
    for batch in batches {
        writer.write(&batch).unwrap();
    }
    std::fs::write(path, writer.into_inner().unwrap()).unwrap();
}

/// Puts bytes between the pages and the table of contents, which names places
/// from the beginning and is found from the end.
fn insert(folder: &Path) {
    let path = folder.join("quasi.parquet");
    let mut bytes = std::fs::read(&path).unwrap();
    let end = bytes.len() - 8;
    let length = u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap());
    let at = end - length as usize;
    bytes.splice(at..at, SOMEBODY.bytes());
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn no_parquet_file_holds_anything_else() {
    let corruptions: [Corruption; 10] = [
        (
            "a key among the file's own keys",
            "Somebody is named.",
            |folder| {
                rewrite(folder, |properties| {
                    let named = KeyValue::new("note".to_owned(), SOMEBODY.to_owned());
                    properties.set_key_value_metadata(Some(vec![named]))
                });
            },
        ),
        (
            "a message as the writer's name",
            "Somebody is named.",
            |folder| {
                rewrite(folder, |properties| {
                    properties.set_created_by(SOMEBODY.into())
                });
            },
        ),
        (
            "rows in groups of a telling size",
            "Where rows are cut is a message.",
            |folder| {
                rewrite(folder, |properties| {
                    properties.set_max_row_group_row_count(Some(17))
                });
            },
        ),
        (
            "pages in another compression",
            "One bit for each column.",
            |folder| {
                rewrite(folder, |properties| {
                    properties.set_compression(Compression::UNCOMPRESSED)
                });
            },
        ),
        (
            "pages without dictionaries",
            "One bit for each column.",
            |folder| {
                rewrite(folder, |properties| {
                    properties.set_dictionary_enabled(false)
                });
            },
        ),
        (
            "pages of a telling size",
            "Where values are cut is a message.",
            |folder| {
                rewrite(folder, |properties| {
                    properties
                        .set_data_page_row_count_limit(13)
                        .set_write_batch_size(13)
                });
            },
        ),
        (
            "bytes between pages and contents",
            "Bytes that nothing points to.",
            insert,
        ),
        (
            "bytes behind a Parquet file",
            "Bytes that no reader wants.",
            |folder| {
                let path = folder.join("quasi.parquet");
                let mut bytes = std::fs::read(&path).unwrap();
                bytes.extend(SOMEBODY.bytes());
                std::fs::write(path, bytes).unwrap();
            },
        ),
        (
            "a second table as CSV",
            "Whoever prefers the format reads another table.",
            |folder| {
                std::fs::write(folder.join("sensitive.csv~"), raw(folder)).unwrap();
            },
        ),
        (
            "raw records as a table that is described as another format",
            "Readers differ in which they take.",
            |folder| {
                std::fs::write(folder.join("quasi.ndjson"), raw(folder)).unwrap();
            },
        ),
    ];
    all_are_refused("parquet", &corruptions);
}
