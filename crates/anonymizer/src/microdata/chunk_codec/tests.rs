//! Chunks come back as they were written, and broken bytes as errors.

use proptest::prelude::*;

use super::*;

fn schema() -> Schema {
    let text = r#"{"name": "t", "subject_key": "id", "attributes": [
        {"name": "id", "role": "identifier"},
        {"name": "whole", "role": "sensitive", "type": "integer"},
        {"name": "broken", "role": "sensitive", "type": "decimal"},
        {"name": "day", "role": "sensitive", "type": "date"},
        {"name": "kind", "role": "sensitive", "type": "categorical"}]}"#;
    serde_json::from_str(text).unwrap()
}

fn chunk(cells: &[(String, i64, f64, i32, u8)]) -> Chunk {
    let mut labels: Vec<u8> = Vec::new();
    let codes = cells.iter().map(|cell| {
        let known = labels.iter().position(|label| *label == cell.4);
        known.unwrap_or_else(|| {
            labels.push(cell.4);
            labels.len() - 1
        }) as u32
    });
    let codes = codes.collect();
    let labels: Vec<String> = labels.iter().map(|label| format!("kind {label}")).collect();
    Chunk {
        records: cells.len(),
        columns: vec![
            ChunkColumn::Text(cells.iter().map(|cell| cell.0.as_str()).collect()),
            ChunkColumn::Integer(cells.iter().map(|cell| cell.1).collect()),
            ChunkColumn::Decimal(cells.iter().map(|cell| cell.2).collect()),
            ChunkColumn::Date(cells.iter().map(|cell| cell.3).collect()),
            ChunkColumn::Category {
                labels: labels.iter().map(String::as_str).collect(),
                codes,
            },
        ],
    }
}

fn some_cells(records: usize) -> Vec<(String, i64, f64, i32, u8)> {
    let cell = |at: usize| {
        let mixed = (at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let whole = mixed as i64;
        (
            format!("subject {mixed}"),
            whole,
            whole as f64,
            whole as i32 % 9999,
            mixed as u8,
        )
    };
    (0..records).map(cell).collect()
}

proptest! {
    #[test]
    fn a_chunk_comes_back_as_it_was_written(
        cells in prop::collection::vec(
            (".{0,9}", any::<i64>(), -1e300_f64..1e300, any::<i32>(), any::<u8>()),
            0..200,
        ),
    ) {
        let chunk = chunk(&cells);
        let bytes = encode_chunk(&chunk).unwrap();
        prop_assert_eq!(decode_chunk(bytes, &schema()).unwrap(), chunk);
    }

    #[test]
    fn a_chunk_with_missing_numbers_comes_back_as_it_was_written(
        records in 1_usize..200,
        gaps in prop::collection::btree_set(0_usize..200, 1..200),
    ) {
        let mut chunk = chunk(&some_cells(records));
        let missing: Vec<u32> = gaps.into_iter().filter(|&at| at < records).map(|at| at as u32).collect();
        let known = records - missing.len();
        if !missing.is_empty() {
            let columns = [
                ChunkColumn::Integer(vec![-7; known]),
                ChunkColumn::Decimal(vec![0.5; known]),
                ChunkColumn::Date(vec![11; known]),
            ];
            for (column, known) in chunk.columns[1..4].iter_mut().zip(columns) {
                *column = ChunkColumn::WithMissing { known: Box::new(known), missing: missing.clone() };
            }
        }
        let bytes = encode_chunk(&chunk).unwrap();
        prop_assert_eq!(decode_chunk(bytes, &schema()).unwrap(), chunk);
    }

    #[test]
    fn corrupt_bytes_are_an_error_or_a_sound_chunk(
        records in 0_usize..300,
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1_u8..), 1..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = encode_chunk(&chunk(&some_cells(records))).unwrap();
        for (at, mask) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= mask;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(chunk) = decode_chunk(bytes, &schema()) {
            check(&chunk);
        }
    }
}

/// What [`Chunk`] promises.
fn check(chunk: &Chunk) {
    assert_eq!(chunk.columns.len(), 5);
    for column in &chunk.columns {
        assert_eq!(column.len(), chunk.records);
        match column {
            ChunkColumn::Decimal(values) => assert!(values.iter().all(|value| value.is_finite())),
            ChunkColumn::Category { labels, codes } => {
                assert!(codes.iter().all(|&code| (code as usize) < labels.len()));
            }
            _ => {}
        }
    }
}

#[test]
fn the_largest_chunk_is_stored_within_its_bound() {
    let cells = some_cells(CHUNK_RECORDS_MAX);
    let chunk = chunk(&cells);
    let bytes = encode_chunk(&chunk).unwrap();
    assert!(bytes.len() <= CHUNK_STORED_BYTES_MAX);
    assert!(decode_chunk(bytes, &schema()).unwrap() == chunk);
    // Text that cannot be compressed, as much as a chunk may hold.
    let texts: Vec<String> = (0..6_u64 << 15)
        .map(|at| {
            format!(
                "{:032x}",
                u128::from(at).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835)
            )
        })
        .collect();
    let column = ChunkColumn::Text(
        texts[..CHUNK_RECORDS_MAX]
            .iter()
            .map(String::as_str)
            .collect(),
    );
    let wide = Chunk {
        records: CHUNK_RECORDS_MAX,
        columns: vec![column.clone(), column.clone(), column],
    };
    assert!(encode_chunk(&wide).is_ok());
}

#[test]
fn many_distinct_labels_stay_one_dictionary() {
    let texts: Vec<String> = (0..CHUNK_RECORDS_MAX)
        .map(|at| format!("a rather long label {at}"))
        .collect();
    let text = r#"{"name": "t", "subject_key": "id", "attributes": [
        {"name": "id", "role": "identifier"},
        {"name": "kind", "role": "sensitive", "type": "categorical"}]}"#;
    let schema: Schema = serde_json::from_str(text).unwrap();
    let labels: TextColumn = texts.iter().map(String::as_str).collect();
    let chunk = Chunk {
        records: CHUNK_RECORDS_MAX,
        columns: vec![
            ChunkColumn::Text(labels.clone()),
            ChunkColumn::Category {
                labels,
                codes: (0..CHUNK_RECORDS_MAX as u32).collect(),
            },
        ],
    };
    let bytes = encode_chunk(&chunk).unwrap();
    assert!(decode_chunk(bytes, &schema).unwrap() == chunk);
}

#[test]
fn a_chunk_of_another_schema_is_refused() {
    let bytes = encode_chunk(&chunk(&some_cells(3))).unwrap();
    let other = r#"{"name": "t", "subject_key": "id", "attributes": [
        {"name": "id", "role": "identifier"},
        {"name": "whole", "role": "sensitive", "type": "date"},
        {"name": "broken", "role": "sensitive", "type": "decimal"},
        {"name": "day", "role": "sensitive", "type": "date"},
        {"name": "kind", "role": "sensitive", "type": "categorical"}]}"#;
    for text in [
        other,
        &other.replace(
            r#"{"name": "day", "role": "sensitive", "type": "date"},"#,
            "",
        ),
    ] {
        let schema: Schema = serde_json::from_str(text).unwrap();
        let result = decode_chunk(bytes.clone(), &schema);
        assert!(matches!(result, Err(TableError::Chunk(_))));
    }
}

#[test]
fn a_code_without_a_label_cannot_be_written() {
    let mut chunk = chunk(&some_cells(3));
    let Some(ChunkColumn::Category { codes, .. }) = chunk.columns.last_mut() else {
        panic!("the last column is a category")
    };
    codes[1] = 99;
    assert!(matches!(encode_chunk(&chunk), Err(TableError::Chunk(_))));
}

#[test]
fn a_negative_zero_is_not_read() {
    let mut chunk = chunk(&some_cells(2));
    chunk.columns[2] = ChunkColumn::Decimal(vec![0.0, -0.0]);
    let read = decode_chunk(encode_chunk(&chunk).unwrap(), &schema());
    assert!(matches!(read, Err(TableError::Chunk(_))), "{read:?}");
}

#[test]
fn a_label_that_is_stored_twice_is_not_read() {
    let mut chunk = chunk(&some_cells(2));
    chunk.columns[4] = ChunkColumn::Category {
        labels: ["red", "rod"].into_iter().collect(),
        codes: vec![0, 1],
    };
    let columns = (0..).zip(&chunk.columns);
    let columns = columns.map(|(at, column)| (column_name(at), array(column).unwrap()));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    // Not packed, so that one label can be made the other: writing joins equal ones.
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    let mut bytes = writer.into_inner().unwrap();
    assert_eq!(decode_chunk(bytes.clone(), &schema()), Ok(chunk));
    for at in 0..bytes.len() - 2 {
        if &bytes[at..at + 3] == b"rod" {
            bytes[at + 1] = b'e';
        }
    }
    let read = decode_chunk(bytes, &schema());
    assert_eq!(read, Err(broken("has a label twice")));
}
