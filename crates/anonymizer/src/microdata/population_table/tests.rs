//! Population tables as people write them, and their canonical form.

use serde_json::json;

use super::*;

fn schema() -> Schema {
    let attribute =
        |name: &str, role: &str, kind: &str| json!({"name": name, "role": role, "type": kind});
    serde_json::from_value(json!({
    "name": "x", "subject_key": "id", "missing": "category",
    "format": {"delimiter": ";", "decimal": ","},
    "attributes": [
        {"name": "id", "role": "identifier"},
        attribute("age", "quasi_identifier", "integer"),
        attribute("sex", "semi_sensitive", "categorical"),
        attribute("height", "quasi_identifier", "decimal"),
        attribute("born", "quasi_identifier", "date"),
        attribute("illness", "sensitive", "categorical"),
    ]}))
    .expect("a schema")
}

fn read(text: &str) -> Result<PopulationTable, TableError> {
    PopulationTable::read(text.as_bytes(), &schema(), &ReadLimits::default(), 1_000)
}

/// Line, attribute and code of each error.
fn errors(text: &str) -> Vec<(u64, Option<String>, &'static str)> {
    match read(text) {
        Err(TableError::Cells { errors, .. }) => {
            let told = errors.into_iter();
            told.map(|one| (one.line, one.attribute, one.code.word()))
                .collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_table_has_one_text_whatever_form_it_came_in() {
    let one = read(
        "count;Town;sex;height;age\n2;here;\"f, \"\"x\"\"\";1,5;30\n1;there;;1,50;-4\n3;here;\"f, \"\"x\"\"\";1,5;+30\n0;here;m;2;30\n",
    )
    .expect("a table");
    let canonical = "age,sex,height,count\n-4,(missing),1.5,1\n30,\"f, \"\"x\"\"\",1.5,5\n";
    // Nobody is m: a line of nobody leaves nothing.
    assert_eq!(one.canonical(), canonical);
    assert_eq!((one.people(), one.counts()), (6, &[1, 5][..]));
    let other = read("age;sex;height\n30;\"f, \"\"x\"\"\";1,5\n-4;;1,5\n").expect("a table");
    assert_ne!(one.sha256(), other.sha256(), "other people");
    let again = "sex;height;age;count\n;1,5;-4;1\n\"f, \"\"x\"\"\";1,5;30;5\n";
    let again = read(again).expect("a table");
    assert_eq!(again.sha256(), one.sha256());
    assert_eq!(again, one);
}

#[test]
fn what_was_packed_comes_back_and_what_was_changed_does_not() {
    let text =
        "born;sex;height;count\n1970-01-01;\"é\";-0,25;3\n;;;4\n0001-01-01;\u{feff}m;1e300;5\n";
    let table = read(text).expect("a table");
    let packed = table.pack().expect("bytes");
    let attributes = table.attributes().to_vec();
    assert_eq!(
        PopulationTable::unpack(&packed, attributes.clone()),
        Ok(table.clone())
    );

    // Bytes of another order, another number or other attributes are damage.
    let canonical = table.canonical();
    let mut lines: Vec<&str> = canonical.lines().collect();
    lines.swap(1, 2);
    let swapped = lines.join("\n") + "\n";
    for changed in [
        swapped.as_str(),
        &canonical.replace(",3\n", ",03\n"),
        &canonical[..40],
        "",
    ] {
        assert_ne!(changed, canonical);
        let packed = zstd::encode_all(changed.as_bytes(), 1).expect("bytes");
        assert!(
            PopulationTable::unpack(&packed, attributes.clone()).is_err(),
            "{changed}"
        );
    }
    assert!(PopulationTable::unpack(&packed, attributes[..1].to_vec()).is_err());
    assert!(PopulationTable::unpack(b"no packed bytes", attributes).is_err());
}

#[test]
fn all_that_is_wrong_is_told_by_line_and_no_value_is() {
    let own = |name: &str| Some(name.to_owned());
    assert_eq!(
        errors("age;born;count\ncanary;1970-01-01;1\n1;canary;x\n1;1970-01-01;-2\n1\n\"1;2\n"),
        [
            (2, own("age"), "not_an_integer"),
            (3, own("born"), "not_a_date"),
            (3, own("count"), "not_an_integer"),
            (4, own("count"), "out_of_bounds"),
            (5, None, "wrong_cell_count"),
            (6, None, "malformed"),
        ]
    );
    assert_eq!(
        errors("age;sex;age\n1;f;2\n"),
        [(1, own("age"), "attribute_repeated")]
    );
    assert_eq!(
        errors("count;sex;count\n1;f;2\n"),
        [(1, own("count"), "attribute_repeated")]
    );
    assert_eq!(
        errors("sex\na\u{7}b\n"),
        [(2, own("sex"), "control_character")]
    );
    let most = i64::MAX;
    assert_eq!(
        errors(&format!("age;count\n1;{most}\n2;1\n")),
        [(3, own("count"), "out_of_bounds")]
    );
    // A sensitive value of people who are in no release is nobody's business.
    for text in ["", "illness;id\nflu;1\n", "count\n7\n"] {
        let error = read(text).expect_err(text);
        assert!(matches!(error, TableError::File(_)), "{text}: {error}");
    }
}

#[test]
fn combinations_beyond_the_limit_are_refused() {
    let lines: String = (0..6).map(|age| format!("{}\n", age % 5)).collect();
    let text = format!("age\n{lines}");
    let read =
        |most| PopulationTable::read(text.as_bytes(), &schema(), &ReadLimits::default(), most);
    assert_eq!(read(5).expect("five").counts(), [2, 1, 1, 1, 1]);
    let error = read(4).expect_err("one too many");
    assert_eq!(
        error.to_string(),
        "more than population_combinations_max, 4 combinations"
    );
}

#[test]
fn values_beyond_the_limit_are_refused_and_those_of_nobody_take_no_room() {
    let read =
        |text: &str| PopulationTable::read(text.as_bytes(), &schema(), &ReadLimits::default(), 4);
    let nobody: String = (0..50).map(|age| format!("{age};m;0\n")).collect();
    let table = read(&format!("age;sex;count\n{nobody}7;f;1\n8;f;2\n")).expect("a table");
    assert_eq!((table.counts(), table.columns()[1].len()), (&[1, 2][..], 1));
    // Four values of two combinations are no more than four, six of three are.
    read("age;height\n1;1\n2;2\n1;1\n").expect("a table");
    let error = read("age;height\n1;1\n2;2\n3;3\n").expect_err("values");
    assert_eq!(
        error.to_string(),
        "more than population_combinations_max, 4 distinct values"
    );
}

#[test]
fn a_table_of_nobody_is_refused() {
    for text in ["age;sex\n", "age;count\n1;0\n2;0\n", "age;count\n"] {
        let error = read(text).expect_err(text);
        assert!(error.to_string().contains("counts nobody"), "{error}");
    }
    // What is wrong with lines is told first.
    assert_eq!(
        errors("age;count\nx;0\n"),
        [(2, Some("age".to_owned()), "not_an_integer")]
    );
}

#[test]
fn a_table_is_stale_where_the_schema_lost_an_attribute_or_its_type() {
    let table = read("age;sex\n1;f\n").expect("a table");
    assert_eq!(table.unfit(&schema()), Vec::<String>::new());
    for (was, is, unfit) in [
        (r#""semi_sensitive""#, r#""insensitive""#, vec!["sex"]),
        (r#""semi_sensitive""#, r#""quasi_identifier""#, vec![]),
        (r#""integer""#, r#""decimal""#, vec!["age"]),
        (r#""age""#, r#""years""#, vec!["age"]),
    ] {
        let changed = json!(schema()).to_string().replace(was, is);
        let changed: Schema = serde_json::from_str(&changed).expect("a schema");
        assert_eq!(table.unfit(&changed), unfit, "{was} {is}");
    }
}

#[test]
fn people_beyond_a_top_are_counted_with_those_at_it_and_moved_dates_with_nobody() {
    let schema: Schema =
        serde_json::from_value(serde_json::json!({"name": "people", "subject_key": "id",
        "attributes": [{"name": "id", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer",
             "transform": {"top": 90, "bottom": 18}},
            {"name": "admission", "role": "quasi_identifier", "type": "date",
             "transform": {"shift_days": 30}},
            {"name": "stay", "role": "quasi_identifier", "type": "date",
             "transform": {"days_since": "admission", "top": 9}}]}))
        .unwrap();
    let text = "age,admission,stay,count\n1,2020-01-01,3,1\n18,2020-01-01,3,2\n90,x,10,4\n\
                95,,11,8\n(missing),,(missing),16\n";
    let read = PopulationTable::read(text.as_bytes(), &schema, &ReadLimits::default(), 100);
    let read = read.unwrap();
    let names: Vec<&str> = read
        .attributes()
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(names, ["age", "stay"]);
    assert!(read.unfit(&schema).is_empty() && read.unfit(&schema.transformed()).is_empty());
    let made = read.clone().transformed(&schema);
    let [age, stay] = [0, 1].map(|at| &made.columns()[at]);
    assert_eq!(age.values, Values::Integer(vec![18, 90]));
    assert_eq!(stay.values, Values::Integer(vec![3, 9]));
    let mut counted = std::collections::BTreeMap::new();
    for (row, count) in made.counts().iter().enumerate() {
        *counted
            .entry((age.codes[row], stay.codes[row]))
            .or_insert(0) += count;
    }
    let wanted = [((0, 0), 3), ((1, 1), 12), ((2, 2), 16)];
    assert_eq!(counted.into_iter().collect::<Vec<_>>(), wanted);
    assert_eq!(made.sha256(), read.sha256());
    assert_eq!(made.people(), 31);
}
