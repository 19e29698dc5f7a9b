//! Parquet files that lie: each lie is an error that says which, before
//! anything is allocated by it, and none ends the program.

use proptest::prelude::*;
use vizard_anonymizer::microdata::{CellErrorCode, HierarchySet, ReadSummary, Schema, TableError};

use super::common::forged_parquet::{
    ForgedFile, ForgedPage, Wire, list_head, many_columns, structure, with_footer, with_schema,
};
use super::same_digest::build_parquet;

fn schema() -> Schema {
    let text = r#"{"name": "t", "subject_key": "id", "attributes": [
        {"name": "id", "role": "identifier"},
        {"name": "x", "role": "sensitive", "type": "integer"}]}"#;
    serde_json::from_str(text).expect("the schema is sound")
}

fn read(file: Vec<u8>) -> Result<ReadSummary, TableError> {
    build_parquet(&schema(), &HierarchySet::new(), file).map(|(_, summary)| summary)
}

/// Line, attribute and code of each error of a file with one thing changed.
fn errors(change: impl Fn(&mut ForgedFile)) -> Vec<(u64, Option<String>, CellErrorCode)> {
    match forged(change) {
        Err(TableError::Cells { errors, .. }) => errors
            .into_iter()
            .map(|error| (error.line, error.attribute, error.code))
            .collect(),
        other => panic!("{other:?}"),
    }
}

fn forged(change: impl Fn(&mut ForgedFile)) -> Result<ReadSummary, TableError> {
    let mut file = ForgedFile::sound();
    change(&mut file);
    read(file.bytes())
}

fn x(line: u64, code: CellErrorCode) -> Vec<(u64, Option<String>, CellErrorCode)> {
    vec![(line, Some("x".into()), code)]
}

#[test]
fn the_forger_writes_a_sound_file_where_it_is_told_the_truth() {
    assert_eq!(forged(|_| ()).expect("sound").records, 3);
    let empty = forged(|file| file.groups = 0);
    assert_eq!(empty.expect("sound").records, 0);
}

#[test]
fn a_file_that_is_none_is_said_to_be_none() {
    let sound = ForgedFile::sound().bytes();
    let cut = sound[..sound.len() - 1].to_vec();
    let encrypted = [&sound[..sound.len() - 1], b"E"].concat();
    for file in [
        Vec::new(),
        b"PAR1PAR1".to_vec(),
        b"id,x\na,1\n".to_vec(),
        cut,
        encrypted,
    ] {
        let error = read(file).expect_err("is no Parquet file");
        assert_eq!(error, TableError::File("is no Parquet file"));
    }
}

#[test]
fn positions_and_sizes_outside_the_file_are_refused_before_anything_is_read() {
    let changes: [fn(&mut ForgedFile); 10] = [
        |file| file.footer_bytes = Some(u32::MAX),
        |file| file.footer_bytes = Some(3),
        |file| file.columns[1].start = Some(-4),
        |file| file.columns[1].start = Some(i64::MAX),
        |file| file.columns[1].start = Some(0),
        |file| file.columns[1].length = Some(-1),
        |file| file.columns[1].length = Some(i64::MAX),
        |file| file.columns[1].values = -1,
        |file| file.rows = -1,
        // The same bytes again and again.
        |file| file.groups = 1_000,
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let error = forged(change).expect_err("is a lie");
        assert!(matches!(error, TableError::File(_)), "{at}: {error:?}");
    }
}

#[test]
fn terabytes_of_records_or_pages_are_more_than_an_upload_may_bring() {
    let changes: [fn(&mut ForgedFile); 3] = [
        |file| {
            file.rows = 1 << 40;
            file.columns
                .iter_mut()
                .for_each(|column| column.values = 1 << 40);
        },
        |file| file.columns[1].pages[0].unpacked = i64::from(i32::MAX),
        |file| {
            // Small pages of empty texts that become large, one after the other.
            let page = ForgedPage {
                unpacked: 8 << 20,
                ..ForgedPage::plain(2 << 20, zstd_of_zeros(8 << 20))
            };
            file.rows = 6 << 20;
            file.columns
                .iter_mut()
                .for_each(|column| column.values = 6 << 20);
            file.columns[0].codec = 6;
            file.columns[0].pages = vec![page; 3];
        },
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let error = forged(change).expect_err("is too much");
        assert!(matches!(error, TableError::Limit(_)), "{at}: {error:?}");
    }
    // One such page is what it says it is.
    let one = errors(|file| {
        file.rows = 2 << 20;
        file.columns
            .iter_mut()
            .for_each(|column| column.values = 2 << 20);
        file.columns[0].codec = 6;
        file.columns[0].pages[0] = ForgedPage {
            unpacked: 8 << 20,
            ..ForgedPage::plain(2 << 20, zstd_of_zeros(8 << 20))
        };
    });
    assert_eq!(one, x(1, CellErrorCode::Malformed));
}

/// Zeros, packed by a frame of repeated blocks (RFC 8878), made by hand: the
/// library that packs belongs to the server.
fn zstd_of_zeros(length: u32) -> Vec<u8> {
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0xA0];
    frame.extend_from_slice(&length.to_le_bytes());
    let blocks = length >> 17;
    for block in 1..=blocks {
        let head = (1_u32 << 17) << 3 | 1 << 1 | u32::from(block == blocks);
        frame.extend_from_slice(&head.to_le_bytes()[..3]);
        frame.push(0);
    }
    frame
}

#[test]
fn a_dictionary_of_empty_texts_may_not_take_what_its_column_may_not() {
    // A million texts of no bytes: few bytes in the file, many in memory.
    let dictionary = |texts: u32| {
        move |file: &mut ForgedFile| {
            let data = zstd_of_zeros(4 * texts);
            let page = ForgedPage {
                kind: 2,
                unpacked: i64::from(4 * texts),
                ..ForgedPage::plain(i64::from(texts), data)
            };
            file.columns[0].codec = 6;
            file.columns[0].pages.insert(0, page);
        }
    };
    let error = forged(dictionary(1 << 20)).expect_err("is too much");
    let TableError::Limit(said) = error else {
        panic!("{error:?}");
    };
    assert!(said.contains("40 MiB"), "{said}");
    let less = forged(dictionary(1 << 19)).expect_err("its other page is not packed");
    assert!(!matches!(less, TableError::Limit(_)), "{less:?}");
}

#[test]
fn pages_that_contradict_the_footer_name_their_column() {
    use CellErrorCode::{ColumnUnfit, Malformed};
    type Change = fn(&mut ForgedFile);
    let changes: [(Change, CellErrorCode); 10] = [
        (
            |file| file.columns[1].pages[0].packed = i64::from(i32::MAX),
            Malformed,
        ),
        (|file| file.columns[1].pages[0].packed = -1, Malformed),
        (|file| file.columns[1].pages[0].values = 2, Malformed),
        (
            |file| file.columns[1].pages[0].values = i64::from(i32::MAX),
            Malformed,
        ),
        (|file| file.columns[1].pages[0].kind = 9, Malformed),
        // A dictionary that there is not, and one of more entries than bytes.
        (|file| file.columns[1].pages[0].encoding = 8, Malformed),
        (
            |file| {
                let page = &mut file.columns[1].pages[0];
                (page.kind, page.values) = (2, i64::from(i32::MAX));
            },
            Malformed,
        ),
        (
            |file| {
                file.columns[1].pages[0].data.truncate(20);
                file.columns[1].pages[0].packed = 20;
            },
            Malformed,
        ),
        // Lengths of texts as deltas, and an encoding that there is not.
        (|file| file.columns[1].pages[0].encoding = 6, ColumnUnfit),
        (|file| file.columns[1].pages[0].encoding = 77, ColumnUnfit),
    ];
    for (at, (change, code)) in changes.into_iter().enumerate() {
        assert_eq!(errors(change), x(1, code), "{at}");
    }
}

#[test]
fn columns_that_cannot_be_the_attribute_are_named() {
    use CellErrorCode::{AttributeMissing, AttributeRepeated, AttributeUnknown, ColumnUnfit};
    // Repeated; truth values; bytes of no fixed meaning.
    assert_eq!(
        errors(|file| file.columns[1].repetition = 2),
        x(0, ColumnUnfit)
    );
    assert_eq!(
        errors(|file| file.columns[1].physical = 0),
        x(0, ColumnUnfit)
    );
    let errors_of_names = errors(|file| {
        file.columns[0].name = "x".into();
        file.columns.push(file.columns[0].clone());
        file.columns[2].name = "y".into();
    });
    let id = (0, Some("id".into()), AttributeMissing);
    let unknown = (0, Some("y".into()), AttributeUnknown);
    let repeated = x(0, AttributeRepeated).remove(0);
    assert_eq!(errors_of_names, [repeated, unknown, id]);
}

#[test]
fn a_column_that_is_read_past_is_flat_too() {
    let mut document = serde_json::to_value(schema()).expect("JSON");
    document["extra_columns"] = "ignore".into();
    let schema: Schema = serde_json::from_value(document).expect("the schema is sound");
    let read = |file: Vec<u8>| build_parquet(&schema, &HierarchySet::new(), file);
    let mut file = ForgedFile::sound();
    file.columns.push(file.columns[1].clone());
    file.columns[2].name = "more".into();
    let (_, summary) = read(file.bytes()).expect("it is sound");
    assert_eq!(
        Some(summary.sha256),
        forged(|_| ()).ok().map(|plain| plain.sha256)
    );
    // Truth values, and no type that is read: nobody looks.
    file.columns[2].physical = 0;
    assert!(read(file.bytes()).is_ok());
    file.columns[2].repetition = 2;
    let Err(TableError::Cells { errors, .. }) = read(file.bytes()) else {
        panic!("it is repeated")
    };
    let named: Vec<_> = errors
        .iter()
        .map(|error| (error.attribute.as_deref(), error.code))
        .collect();
    assert_eq!(named, [(Some("more"), CellErrorCode::ColumnUnfit)]);
    for are_nested in [false, true] {
        let file = with_schema(Wire::Structs(many_columns(100_000, are_nested)));
        assert!(matches!(read(file), Err(TableError::Cells { .. })));
    }
}

#[test]
fn a_column_without_a_type_is_broken_also_where_there_is_no_record() {
    let root = structure(vec![(4, Wire::Text("schema".into())), (5, Wire::Int(2))]);
    let id = structure(vec![
        (1, Wire::Int(6)),
        (3, Wire::Int(0)),
        (4, Wire::Text("id".into())),
    ]);
    // The format's library takes it for a group of no columns.
    let x = structure(vec![(3, Wire::Int(0)), (4, Wire::Text("x".into()))]);
    let file = with_schema(Wire::Structs(vec![root, id, x]));
    assert_eq!(
        read(file).expect_err("is broken"),
        TableError::File("has a footer that cannot be read")
    );
}

#[test]
fn a_million_columns_or_levels_are_refused_by_their_number() {
    for are_nested in [false, true] {
        let file = with_schema(Wire::Structs(many_columns(100_000, are_nested)));
        let error = read(file).expect_err("is too much");
        let TableError::Cells { errors, .. } = error else {
            panic!("{error:?}")
        };
        assert_eq!(errors[0].code, CellErrorCode::WrongCellCount);
        // Few enough to be counted, but nested.
        let file = with_schema(Wire::Structs(many_columns(50, are_nested)));
        assert!(matches!(read(file), Err(TableError::Cells { .. })));
    }
    // A list of two billion columns in a footer of ten bytes.
    let lists = [
        (2, list_head(i32::MAX as u64, 12)),
        (4, list_head(i32::MAX as u64, 12)),
        (5, list_head(i32::MAX as u64, 12)),
    ];
    for (field, head) in lists {
        let mut footer = structure(vec![(1, Wire::Int(1))]);
        footer.pop();
        footer.push(((field - 1) as u8) << 4 | 9);
        footer.extend(head);
        let file = with_footer(b"PAR1".to_vec(), &footer, None);
        assert!(read(file).is_err(), "field {field}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn whatever_bytes_are_changed_the_file_is_read_or_refused(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        is_cut: bool,
    ) {
        let mut file = ForgedFile::sound().bytes();
        for (at, byte) in changes {
            let length = file.len();
            file[at.index(length)] = byte;
            if is_cut {
                file.drain(at.index(length)..(at.index(length) + 3).min(length));
            }
            if file.is_empty() {
                break;
            }
        }
        let _ = read(file);
    }
}
