//! What becomes of empty cells under each missing-value policy.

use super::*;
use crate::microdata::AttributeIndex;

#[test]
fn missing_values_follow_the_policy() {
    let text = "id,x\na,flu\nb,  \nc,gout\n";
    let strict = schema_with("", "categorical", Some("illness"));
    assert_eq!(errors(&strict, text.as_bytes()), [x(3, Missing)]);

    let dropping = schema_with(r#""missing": "drop","#, "categorical", Some("illness"));
    let (table, summary) = read(&dropping, text.as_bytes()).unwrap();
    assert_eq!((summary.records, summary.dropped), (2, 1));
    assert_eq!(table.subject_keys().iter().collect::<Vec<_>>(), ["a", "c"]);

    let keeping = schema_with(r#""missing": "category","#, "categorical", Some("illness"));
    let (cells, domain) = values(&keeping, text);
    assert_eq!(cells, ["flu", "(missing)", "gout"]);
    assert_eq!(domain, ["cough", "flu", "gout", "(missing)"]);
    let (_, domain) = values(&keeping, "id,x\na,flu\n");
    assert_eq!(domain, ["cough", "flu", "gout"]);
    let free = schema_with(r#""missing": "category","#, "categorical", None);
    let (_, domain) = values(&free, "id,x\na,b\nb,\nc,!\n");
    assert_eq!(domain, ["!", "(missing)", "b"]);
}

#[test]
pub(super) fn a_dropped_record_leaves_no_trace() {
    let dropping = schema_with(r#""missing": "drop","#, "categorical", None);
    // Neither its subject nor its value nor its faults count.
    let (table, summary) = read(&dropping, b"id,x\na,1\na,\n,2\nb,1\n").unwrap();
    assert_eq!((summary.records, summary.dropped), (2, 2));
    assert_eq!(table.coded(AttributeIndex(1)).unwrap().domain.len(), 1);
    let (_, without) = read(&dropping, b"id,x\na,1\nb,1\n").unwrap();
    assert_eq!(summary.sha256, without.sha256);
}

#[test]
fn missing_values_are_counted_by_attribute() {
    let counted = |policy: &str, text: &str| {
        let options = format!(r#""missing": "{policy}","#);
        let schema = schema_with(&options, "integer", None);
        let (_, summary) = read(&schema, text.as_bytes()).unwrap();
        let counts = summary.attributes.iter();
        let counts: Vec<_> = counts.map(|count| (count.missing, count.dropped)).collect();
        (counts, summary.loses_many())
    };
    // One that lacks both counts for both.
    let both = "id,x\na,1\nb,\n,2\n, \n";
    assert_eq!(counted("drop", both), (vec![(2, 2), (2, 2)], true));
    let kept = "id,x\na,1\nb,\nc,(missing)\n";
    assert_eq!(counted("category", kept), (vec![(0, 0), (2, 0)], false));
    assert_eq!(counted("drop", "id,x\n"), (vec![(0, 0); 2], false));
    // One of twenty may be left out, one of nineteen not.
    let whole: String = (0..18).map(|at| format!("p{at},1\n")).collect();
    let nineteen = format!("id,x\nq,\n{whole}");
    assert!(counted("drop", &nineteen).1);
    assert!(!counted("drop", &format!("{nineteen}r,1\n")).1);
}

#[test]
fn words_of_an_attribute_stand_for_missing_values() {
    let words = |policy: &str| {
        let text = format!(
            r#"{{"name": "t", "subject_key": "id", "missing": "{policy}", "attributes": [
                {{"name": "id", "role": "identifier"}},
                {{"name": "x", "role": "sensitive", "type": "date",
                  "missing_values": ["NULL", "9999-12-31"]}},
                {{"name": "y", "role": "sensitive", "type": "categorical"}}]}}"#
        );
        serde_json::from_str::<Schema>(&text).unwrap()
    };
    let text = b"id,x,y\nNULL,2024-02-29,a\nb, NULL ,NULL\nc,9999-12-31,\n";
    let (table, summary) = read(&words("category"), text).unwrap();
    assert_eq!(table.subject_keys().get(0), "NULL");
    let counts = summary.attributes.iter().map(|count| count.missing);
    assert_eq!(counts.collect::<Vec<_>>(), [0, 2, 1]);
    assert!(summary.questions.is_empty());
    // The same content as with empty cells.
    let empty = b"id,x,y\nNULL,2024-02-29,a\nb,,NULL\nc,,\n";
    let (_, written) = read(&words("category"), empty).unwrap();
    assert_eq!(summary.sha256, written.sha256);
    let lines = b"{\"id\": \"b\", \"x\": \"9999-12-31\", \"y\": \"NULL\"}\n";
    let format = RecordFormat::Ndjson;
    let read = |text: &[u8]| {
        read_limited(&words("drop"), ReadLimits::default(), format, text).map(|read| read.1)
    };
    assert_eq!(read(lines).unwrap().dropped, 1);

    let (_, dropping) = super::read(&words("drop"), text).unwrap();
    assert_eq!((dropping.records, dropping.dropped), (1, 2));
    let counts = dropping.attributes.iter().map(|count| count.dropped);
    assert_eq!(counts.collect::<Vec<_>>(), [0, 2, 1]);
    let found = errors(&words("reject"), text);
    let lines: Vec<_> = found.iter().map(|error| (error.0, error.2)).collect();
    assert_eq!(lines, [(3, Missing), (4, Missing), (4, Missing)]);
}

#[test]
fn values_that_are_probably_not_what_they_seem_are_counted_unless_they_are_meant() {
    let asked = |kind: &str, meant: &str, cells: &str| {
        let text = format!(
            r#"{{"name": "t", "subject_key": "id", "attributes": [
                {{"name": "id", "role": "identifier"}},
                {{"name": "x", "role": "sensitive", "type": "{kind}", "meant": [{meant}]}}]}}"#
        );
        let schema: Schema = serde_json::from_str(&text).unwrap();
        let lines: String = (0..)
            .zip(cells.split(' '))
            .map(|(at, cell)| format!("{at},{cell}\n"))
            .collect();
        let (_, summary) = read(&schema, format!("id,x\n{lines}").as_bytes()).unwrap();
        let questions = summary.questions.into_iter();
        let questions = questions.map(|one| (one.doubt.word(), one.count));
        questions.collect::<Vec<_>>()
    };
    let days = "9999-12-31 1900-01-01 1899-12-31 9999-12-31 1900-01-02 9999-12-30";
    let both = [("day_9999_12_31", 2), ("day_1900_01_01", 1)];
    assert_eq!(asked("date", "", days), both);
    assert_eq!(asked("date", r#""day_9999_12_31""#, days), both[1..]);
    let numbers = "00123 0 -0 -07 +7 7 10 +0 00";
    assert_eq!(asked("integer", "", numbers), [("leading_zeros", 3)]);
    assert_eq!(asked("integer", r#""leading_zeros""#, numbers), []);
    assert_eq!(asked("categorical", "", days), []);
    assert_eq!(asked("decimal", "", "007 0.5"), []);
    // More of them than a batch holds.
    let many = vec!["01"; 10_000].join(" ");
    assert_eq!(asked("integer", "", &many), [("leading_zeros", 10_000)]);
}

#[test]
fn a_missing_number_or_date_is_a_value_of_its_own() {
    for (kind, value) in [
        ("integer", "7"),
        ("decimal", "-0.5"),
        ("date", "2024-02-29"),
    ] {
        let text = format!("id,x\na,\nb,{value}\nc,(missing)\nd,{value}\n");
        let keeping = schema_with(r#""missing": "category","#, kind, None);
        let (cells, domain) = values(&keeping, &text);
        assert_eq!(cells, ["(missing)", value, "(missing)", value]);
        assert_eq!(domain, [value, "(missing)"]);
        let (table, summary) = read(&keeping, text.as_bytes()).unwrap();
        let domain = &table.coded(AttributeIndex(1)).unwrap().domain;
        assert_eq!(domain.missing(), Some(Code(1)));
        // An empty cell and the written label are one value.
        let (_, written) =
            read(&keeping, text.replace("a,\n", "a,(missing)\n").as_bytes()).unwrap();
        assert_eq!(summary.sha256, written.sha256);

        let (_, domain) = values(&keeping, "id,x\na,\n");
        assert_eq!(domain, ["(missing)"]);
        let (table, _) = read(&keeping, format!("id,x\na,{value}\n").as_bytes()).unwrap();
        assert_eq!(
            table.coded(AttributeIndex(1)).unwrap().domain.missing(),
            None
        );

        let strict = schema_with("", kind, None);
        let listed = errors(&strict, b"id,x\na,\n");
        assert_eq!(listed, [x(2, Missing)]);
        assert_eq!(errors(&strict, b"id,x\na,(missing)\n").len(), 1);
    }
    let keeping = schema_with(r#""missing": "category","#, "categorical", None);
    assert_eq!(errors(&keeping, b"id,x\n,1\n"), [id(2, Missing)]);
}

#[test]
fn a_missing_number_is_the_last_leaf_of_its_hierarchy() {
    for name in ["steps", "tens"] {
        let keeping = schema_with(r#""missing": "category","#, "decimal", Some(name));
        let (table, _) = read(&keeping, b"id,x\na,3.0\nb,\nc,1\n").unwrap();
        let domain = &table.coded(AttributeIndex(1)).unwrap().domain;
        let tree = domain.hierarchy().unwrap();
        assert_eq!(tree.leaf("(missing)"), domain.missing());
        assert_eq!((domain.len(), tree.leaf_count()), (3, 3));
        let table = read(&keeping, b"id,x\na,\n").unwrap().0;
        assert!(
            table
                .coded(AttributeIndex(1))
                .unwrap()
                .domain
                .hierarchy()
                .is_none()
        );
    }
}
