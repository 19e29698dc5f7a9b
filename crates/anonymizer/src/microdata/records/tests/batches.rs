//! What is read does not depend on where batches of records end.

use super::*;

fn in_a_pool(test: impl FnOnce() + Send) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
    pool.expect("a pool").install(test);
}

#[test]
fn what_is_read_does_not_depend_on_threads() {
    in_a_pool(what_is_read_does_not_depend_on_where_batches_end);
    in_a_pool(behind_one_value_too_many_nothing_is_read);
    in_a_pool(behind_an_error_no_chunk_is_handed_on);
    in_a_pool(repair::errors_are_listed_up_to_ten_of_a_kind_and_counted_by_kind);
    in_a_pool(lines_are_counted_as_an_editor_counts_them);
    in_a_pool(a_second_record_of_a_subject_is_named_by_its_line);
    in_a_pool(limits_hold_at_their_bound_and_not_above);
    in_a_pool(an_error_of_the_sink_ends_the_reading);
    in_a_pool(missing::a_dropped_record_leaves_no_trace);
}

/// A batch ends behind 4,096 records, a chunk behind sixteen batches.
#[test]
fn what_is_read_does_not_depend_on_where_batches_end() {
    let schema = schema_with(r#""missing": "drop","#, "integer", None);
    let hierarchies = HierarchySet::new();
    for records in [4095_u64, 4096, 4097, 8192, 65_535, 65_536, 65_537] {
        let mut text = String::from("id,x\n");
        for at in 0..records {
            // Some cells are rewritten, some records left out.
            let zeros = if at % 1000 == 7 { "00" } else { "" };
            text.push_str(&format!("p{at},{zeros}{at}\n"));
            if at % 5000 == 0 {
                text.push_str(&format!("q{at},\n"));
            }
        }
        let target = Target {
            schema: &schema,
            hierarchies: &hierarchies,
            limits: ReadLimits::default(),
        };
        let mut room = Vec::new();
        let mut subjects = SubjectKeys::new([3; 16], &mut room);
        let mut sizes = Vec::new();
        let mut sink = |chunk: Chunk| {
            sizes.push(chunk.records);
            Ok(())
        };
        let format = RecordFormat::Csv;
        let summary =
            read_records(text.as_bytes(), format, &target, &mut subjects, &mut sink).unwrap();
        assert_eq!(
            (summary.records, summary.dropped),
            (records, records.div_ceil(5000))
        );
        assert_eq!(sizes.iter().sum::<usize>() as u64, records);
        assert!(sizes.iter().all(|&size| size <= 65_536), "{sizes:?}");
        assert_eq!(
            summary.sha256,
            digest_of(&schema, records),
            "{records} records"
        );
    }
}

/// The digest by its definition, of records `p0,0`, `p1,1` and so on.
fn digest_of(schema: &Schema, records: u64) -> [u8; 32] {
    use sha2::Digest;
    let mut content = b"vizard records 1\n".to_vec();
    let names = schema.attributes().iter();
    let names = names.map(|attribute| attribute.name.clone()).collect();
    let rows = (0..records).map(|at| vec![format!("p{at}"), at.to_string()]);
    for row in std::iter::once::<Vec<String>>(names).chain(rows) {
        content.push(0xFF);
        for text in row {
            content.push(text.len() as u8);
            content.extend_from_slice(text.as_bytes());
        }
    }
    sha2::Sha256::digest(&content).into()
}

#[test]
fn behind_one_value_too_many_nothing_is_read() {
    let limits = ReadLimits {
        distinct_values_max: 5000,
        ..ReadLimits::default()
    };
    let schema = schema("categorical");
    let mut text = String::from("id,x\n");
    for at in 0..12_000 {
        text.push_str(&format!("p{},v{at}\n", at % 11_000));
        if at % 2000 == 0 {
            text.push_str("a,b,c\n");
        }
    }
    let result = read_limited(&schema, limits, RecordFormat::Csv, text.as_bytes());
    // Three rows of another width stand before the value, nothing counts behind.
    let width = |line| (line, None, WrongCellCount);
    assert_eq!(
        listed(result),
        [width(3), width(2004), width(4005), x(5005, TooManyValues)]
    );
}
