//! Domains in their order, codes in their domain, subjects in their place.

use proptest::prelude::*;

use super::*;
use crate::microdata::index::Code;
use crate::microdata::{AttributeIndex, HierarchyFormat, RecordIndex};

fn schema(multiplicity: &str, attribute: &str) -> Arc<Schema> {
    let text = format!(
        r#"{{"name": "t", "subject_key": "id", "multiplicity": "{multiplicity}", "attributes": [
            {{"name": "id", "role": "identifier"}},
            {{"name": "phone", "role": "identifier", "type": "integer", "hierarchy": "absent"}},
            {{"name": "x", "role": "quasi_identifier", {attribute}}}]}}"#
    );
    Arc::new(serde_json::from_str(&text).unwrap())
}

fn hierarchies(content: &str, format: HierarchyFormat) -> HierarchySet {
    let source = HierarchySource::read(content.as_bytes(), format).unwrap();
    let unused = HierarchySource::read(b"a;*\n", HierarchyFormat::Csv).unwrap();
    HierarchySet::from([("h".into(), source), ("unused".into(), unused)])
}

fn chunk(subjects: &[&str], x: ChunkColumn) -> Chunk {
    Chunk {
        records: subjects.len(),
        columns: vec![
            ChunkColumn::Text(subjects.iter().copied().collect()),
            ChunkColumn::Text(subjects.iter().map(|_| "5").collect()),
            x,
        ],
    }
}

fn category(cells: &[&str]) -> ChunkColumn {
    let mut labels = TextDictionary::default();
    let codes = cells.iter().map(|cell| labels.intern(cell).0).collect();
    ChunkColumn::Category {
        labels: labels.into_texts(),
        codes,
    }
}

const SUBJECTS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// A table of `x` alone, one chunk a slice.
fn build(
    attribute: &str,
    hierarchies: &HierarchySet,
    chunks: Vec<ChunkColumn>,
) -> Result<Table, TableError> {
    let mut builder = TableBuilder::new(schema("one", attribute), hierarchies)?;
    let mut first = 0;
    for x in chunks {
        let next = first + x.len();
        builder.push(chunk(&SUBJECTS[first..next], x))?;
        first = next;
    }
    builder.finish()
}

fn x(table: &Table) -> &CodedColumn {
    table.coded(AttributeIndex(2)).unwrap()
}

fn texts(table: &Table) -> Vec<String> {
    let codes = (0..x(table).domain.len()).map(Code::from_usize);
    codes.map(|code| x(table).domain.text(code)).collect()
}

#[test]
fn categories_without_a_hierarchy_stand_in_byte_order() {
    let chunks = vec![category(&["b", "é", "b"]), category(&["Z", "a", "b"])];
    let table = build(r#""type": "categorical""#, &HierarchySet::new(), chunks).unwrap();
    assert_eq!(texts(&table), ["Z", "a", "b", "é"]);
    assert_eq!(x(&table).codes, [2, 3, 2, 0, 1, 2]);
    assert_eq!(x(&table).domain.code_of_label("a"), Some(Code(1)));
}

#[test]
fn categories_with_a_hierarchy_have_a_code_for_every_leaf() {
    let set = hierarchies("z;A;*\ny;B;*\nx;A;*\n", HierarchyFormat::Csv);
    let attribute = r#""type": "categorical", "hierarchy": "h""#;
    let table = build(
        attribute,
        &set,
        vec![category(&["x"]), category(&["z", "x"])],
    )
    .unwrap();
    assert_eq!(texts(&table), ["z", "x", "y"]);
    assert_eq!(x(&table).codes, [1, 0, 1]);
    let table = build(
        attribute,
        &set,
        vec![category(&["x", "(missing)"]), category(&["y"])],
    )
    .unwrap();
    assert_eq!(texts(&table), ["z", "x", "y", "(missing)"]);
    assert_eq!(x(&table).codes, [1, 3, 2]);
    assert_eq!(x(&table).domain.hierarchy().unwrap().leaf_count(), 4);
    let foreign = build(attribute, &set, vec![category(&["A"])]);
    assert!(matches!(foreign, Err(TableError::Chunk(_))));
}

#[test]
fn numbers_and_days_are_ranked_by_value() {
    let none = HierarchySet::new();
    let chunks = vec![
        ChunkColumn::Integer(vec![5, i64::MIN]),
        ChunkColumn::Integer(vec![i64::MAX, 5, -1]),
    ];
    let table = build(r#""type": "integer""#, &none, chunks).unwrap();
    assert_eq!(x(&table).codes, [2, 0, 3, 2, 1]);
    let chunks = vec![ChunkColumn::Decimal(vec![0.5, -0.25, 0.0, 1e300, -1e300])];
    let table = build(r#""type": "decimal""#, &none, chunks).unwrap();
    assert_eq!(x(&table).codes, [3, 1, 2, 4, 0]);
    let chunks = vec![ChunkColumn::Date(vec![0, -1, 0])];
    let table = build(r#""type": "date""#, &none, chunks).unwrap();
    assert_eq!(texts(&table), ["1969-12-31", "1970-01-01"]);
}

#[test]
fn intervals_are_laid_over_the_values_of_the_table() {
    let json = r#"{"intervals": {"origin": 0, "width": 5, "fanouts": [2]}}"#;
    let set = hierarchies(json, HierarchyFormat::Json);
    let chunks = vec![ChunkColumn::Integer(vec![12, 3, 7, 3])];
    let table = build(r#""type": "integer", "hierarchy": "h""#, &set, chunks).unwrap();
    let tree = x(&table).domain.hierarchy().unwrap();
    assert_eq!(tree.leaf_labels().collect::<Vec<_>>(), ["3", "7", "12"]);
    assert_eq!(
        tree.node(tree.common_ancestor(Code(0), Code(1))).label,
        "[0..10)"
    );
    let empty = build(r#""type": "integer", "hierarchy": "h""#, &set, Vec::new()).unwrap();
    assert!(empty.records() == 0 && x(&empty).domain.hierarchy().is_none());
    let refused = build(r#""type": "date", "hierarchy": "h""#, &set, Vec::new());
    assert!(matches!(refused, Err(TableError::Hierarchy(_))));
}

#[test]
fn a_hierarchy_that_the_schema_names_must_be_there() {
    let refused = build(
        r#""type": "date", "hierarchy": "g""#,
        &HierarchySet::new(),
        Vec::new(),
    );
    assert!(matches!(refused, Err(TableError::HierarchyUnknown(name)) if name == "g"));
}

#[test]
fn subjects_are_numbered_in_order_of_first_appearance() {
    let mut builder =
        TableBuilder::new(schema("many", r#""type": "date""#), &HierarchySet::new()).unwrap();
    for subjects in [["b", "b", "a"], ["c", "a", "b"]] {
        builder
            .push(chunk(&subjects, ChunkColumn::Date(vec![1, 2, 3])))
            .unwrap();
    }
    let table = builder.finish().unwrap();
    assert_eq!((table.records(), table.subjects()), (6, 3));
    assert_eq!(
        table.subject_keys().iter().collect::<Vec<_>>(),
        ["b", "a", "c"]
    );
    let subjects: Vec<u32> = (0..6)
        .map(|at| table.subject_of(RecordIndex(at)).0)
        .collect();
    assert_eq!(subjects, [0, 0, 1, 2, 1, 0]);
    assert!(matches!(&table.columns()[0], TableColumn::Identifier(texts) if texts.is_empty()));
    assert!(matches!(&table.columns()[1], TableColumn::Identifier(texts) if texts.len() == 6));
}

#[test]
fn chunks_that_do_not_fit_are_refused() {
    let attribute = r#""type": "categorical""#;
    let refuse = |chunk: Chunk| {
        let mut builder =
            TableBuilder::new(schema("one", attribute), &HierarchySet::new()).unwrap();
        let result = builder.push(chunk);
        assert!(matches!(result, Err(TableError::Chunk(_))), "{result:?}");
    };
    refuse(chunk(&["a"], ChunkColumn::Integer(vec![1])));
    refuse(chunk(&["a"], category(&["x", "y"])));
    refuse(Chunk::default());
    let broken = ChunkColumn::Category {
        labels: TextColumn::new(),
        codes: vec![0],
    };
    refuse(chunk(&["a"], broken));
    let mut keys = chunk(&["a"], category(&["x"]));
    keys.columns[0] = ChunkColumn::Integer(vec![1]);
    refuse(keys);
}

proptest! {
    #[test]
    fn where_chunks_are_cut_does_not_matter(
        cells in prop::collection::vec(("[a-c]{0,2}", -3_i64..3), 0..60),
        cuts in prop::collection::vec(1_usize..9, 60),
    ) {
        for attribute in [r#""type": "categorical""#, r#""type": "integer""#] {
            let column = |part: &[(String, i64)]| {
                if attribute.contains("integer") {
                    ChunkColumn::Integer(part.iter().map(|cell| cell.1).collect())
                } else {
                    let texts: Vec<_> = part.iter().map(|cell| cell.0.as_str()).collect();
                    category(&texts)
                }
            };
            let build = |parts: Vec<&[(String, i64)]>| {
                let schema = schema("many", attribute);
                let mut builder = TableBuilder::new(schema, &HierarchySet::new()).unwrap();
                for part in parts {
                    let subjects: Vec<&str> = part.iter().map(|cell| cell.0.as_str()).collect();
                    builder.push(chunk(&subjects, column(part))).unwrap();
                }
                builder.finish().unwrap()
            };
            let whole = build(vec![&cells]);
            let (mut rest, mut parts) = (&cells[..], Vec::new());
            for &cut in &cuts {
                let (part, behind) = rest.split_at(cut.min(rest.len()));
                parts.push(part);
                rest = behind;
            }
            parts.push(rest);
            let cut = build(parts);
            prop_assert_eq!(&x(&whole).codes, &x(&cut).codes);
            prop_assert_eq!(x(&whole).domain.values(), x(&cut).domain.values());
            prop_assert_eq!(whole.subject_keys(), cut.subject_keys());
        }
    }
}

/// A table of the sensitive category `x`.
fn sensitive(more: &str, set: &HierarchySet, cells: &[&str]) -> Result<Table, TableError> {
    let text = format!(
        r#"{{"name": "t", "subject_key": "id", "attributes": [
            {{"name": "id", "role": "identifier"}},
            {{"name": "phone", "role": "identifier"}},
            {{"name": "x", "role": "sensitive", "type": "categorical" {more}}}]}}"#
    );
    let schema = serde_json::from_str(&text).unwrap();
    let mut builder = TableBuilder::new(Arc::new(schema), set)?;
    builder.push(chunk(&SUBJECTS[..cells.len()], category(cells)))?;
    builder.finish()
}

#[test]
fn spellings_of_a_sensitive_value_are_one_value_and_missing_words_none() {
    let cells = ["N390", "NULL", "n39.0", "N390", "flu", "NA"];
    let table = sensitive("", &HierarchySet::new(), &cells).unwrap();
    assert_eq!(texts(&table), ["(missing)", "N390", "flu"]);
    assert_eq!(x(&table).codes, [1, 0, 1, 1, 2, 0]);
    assert_eq!(x(&table).domain.missing(), Some(Code(0)));
    let [merged] = table.merged() else {
        panic!("one attribute");
    };
    assert_eq!((merged.spellings, merged.records), (3, 3));
}

#[test]
fn an_empty_list_leaves_every_spelling_as_it_is() {
    let cells = ["N390", "NULL", "n39.0", "N390", "flu", "NA"];
    let table = sensitive(r#", "normalize": []"#, &HierarchySet::new(), &cells).unwrap();
    assert_eq!(texts(&table), ["N390", "NA", "NULL", "flu", "n39.0"]);
    assert!(table.merged().is_empty());
}

#[test]
fn with_a_hierarchy_the_most_frequent_spelling_is_a_leaf_of_it() {
    let set = hierarchies("N39.0;N;*\nN390;N;*\nNA;*\nflu;*\n", HierarchyFormat::Csv);
    let cells = ["N390", "NA", "N39.0", "N390", "flu"];
    let table = sensitive(r#", "hierarchy": "h""#, &set, &cells).unwrap();
    assert_eq!(texts(&table), ["N39.0", "N390", "NA", "flu", "(missing)"]);
    assert_eq!(x(&table).codes, [1, 4, 1, 1, 3]);
}

#[test]
fn values_that_no_record_has_can_be_in_the_domain_as_well() {
    let with = |attribute: &str, column: ChunkColumn, more: &[&str]| {
        let mut builder =
            TableBuilder::new(schema("one", attribute), &HierarchySet::new()).unwrap();
        builder.push(chunk(&SUBJECTS[..3], column)).unwrap();
        let more = more.iter().copied();
        builder
            .also(AttributeIndex(2), more)
            .map(|()| builder.finish().unwrap())
    };
    let kind = r#""type": "categorical""#;
    let table = with(kind, category(&["b", "d", "b"]), &["c", "b", "(missing)"]).unwrap();
    assert_eq!(texts(&table), ["(missing)", "b", "c", "d"]);
    assert_eq!(x(&table).codes, [1, 3, 1]);
    let numbers = || ChunkColumn::Integer(vec![7, 5, 7]);
    let table = with(r#""type": "integer""#, numbers(), &["6", "5", "(missing)"]).unwrap();
    assert_eq!(texts(&table), ["5", "6", "7", "(missing)"]);
    assert_eq!(x(&table).codes, [2, 0, 2]);
    assert!(with(r#""type": "integer""#, numbers(), &["six"]).is_err());
}
