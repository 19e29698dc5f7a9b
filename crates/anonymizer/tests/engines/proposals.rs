//! What an inspection proposes of a made-up export can be used unchanged: the
//! file is read by its schema, and each purpose's job makes a release that the
//! verifier accepts.

use std::io::Cursor;
use std::sync::Arc;

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use vizard_anonymizer::catalog::{PURPOSES, job_for};
use vizard_anonymizer::inspect::{InspectError, InspectLimits, Inspection, inspect};
use vizard_anonymizer::microdata::value_text::date_text;
use vizard_anonymizer::microdata::{
    AttributeType, HierarchyFormat, HierarchySet, HierarchySource, ReadLimits, RecordFormat, Role,
    SubjectKeys, Table, TableBuilder, Target, read_records,
};

use super::case::Case;
use super::common::cases::property_cases;

/// How an export is written.
#[derive(Clone, Copy, Debug)]
struct Manner {
    delimiter: char,
    decimal: char,
    date: usize,
    missing: &'static str,
    /// Whether a person has several records.
    is_many: bool,
    /// Whether ages end in `90+`.
    is_open: bool,
    seed: u64,
}

fn manner() -> impl Strategy<Value = Manner> {
    (
        prop::sample::select(vec![
            (',', '.'),
            (';', ','),
            (';', '.'),
            ('\t', ','),
            ('|', '.'),
        ]),
        0_usize..4,
        prop::sample::select(vec!["", "NULL", "NA", "n/a"]),
        any::<bool>(),
        any::<bool>(),
        any::<u64>(),
    )
        .prop_map(
            |((delimiter, decimal), date, missing, is_many, is_open, seed)| Manner {
                delimiter,
                decimal,
                date,
                missing,
                is_many,
                is_open,
                seed,
            },
        )
}

const RECORDS: usize = 300;

impl Manner {
    fn day(&self, days: i32) -> String {
        let iso = date_text(days);
        let (year, month, day) = (&iso[..4], &iso[5..7], &iso[8..]);
        match self.date {
            0 => iso,
            1 => format!("{day}.{month}.{year}"),
            2 => format!("{month}/{day}/{year}"),
            _ => format!("{iso} 08:15:00"),
        }
    }

    fn file(&self) -> String {
        let mut random = ChaCha12Rng::seed_from_u64(self.seed);
        let names = [
            "patient_id",
            "last_name",
            "age",
            "sex",
            "zip_code",
            "admission_date",
            "icd_code",
            "cost",
        ];
        let mut text = names.join(&self.delimiter.to_string()) + "\n";
        let codes = [
            "I21.4", "I50.1", "J18.9", "K80.1", "N39.0", "E11.7", "S72.0", "G40.3",
        ];
        for at in 0..RECORDS {
            let person = if self.is_many { at / 2 } else { at };
            // What a person is does not change from record to record.
            let mut own = ChaCha12Rng::seed_from_u64(self.seed ^ person as u64);
            let age = own.random_range(18..96);
            let age = if self.is_open && age >= 90 {
                "90+".into()
            } else {
                age.to_string()
            };
            let sex = ["female", "male"][own.random_range(0..2)];
            let zip = format!("0{}", [1067, 1069, 4103, 4109][own.random_range(0..4)]);
            let day = self.day(20_000 + own.random_range(0..300));
            let code = match random.random_range(0..50) {
                0 => self.missing,
                _ => codes[random.random_range(0..codes.len())],
            };
            let cost = random.random_range(90_000..900_000);
            let cells = [
                format!("{:07}", person * 7919 + 13),
                format!("Surname{person}"),
                age,
                sex.into(),
                zip,
                day,
                code.into(),
                format!("{}{}{:02}", cost / 100, self.decimal, cost % 100),
            ];
            text += &cells.join(&self.delimiter.to_string());
            text.push('\n');
        }
        text
    }
}

pub fn inspected(text: &str) -> Result<Inspection, InspectError> {
    let limits = InspectLimits::default();
    inspect(Cursor::new(text.as_bytes()), ("export", false), &limits)
}

/// The table of a file, as the proposed schema reads it.
pub fn read(text: &str, inspection: &Inspection) -> Table {
    let schema = inspection.schema.as_ref().expect("a person is named");
    let mut hierarchies = HierarchySet::new();
    for (name, rule) in &inspection.hierarchies {
        let json = serde_json::to_vec(rule).expect("JSON");
        let source = HierarchySource::read(&json, HierarchyFormat::Json).expect("a tree");
        hierarchies.insert(name.clone(), source);
    }
    let target = Target {
        schema,
        hierarchies: &hierarchies,
        limits: ReadLimits::default(),
    };
    let mut room = Vec::new();
    let mut subjects = SubjectKeys::new(*b"a key of 16 byte", &mut room);
    let mut builder =
        TableBuilder::new(Arc::new(schema.clone()), &hierarchies).expect("hierarchies are there");
    let mut sink = |chunk| builder.push(chunk);
    let input = Cursor::new(text.as_bytes());
    read_records(input, RecordFormat::Csv, &target, &mut subjects, &mut sink)
        .expect("the proposed schema reads its file");
    builder.finish().expect("the table is sound")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(property_cases(24).min(100)))]

    #[test]
    fn every_proposal_can_be_used_unchanged(manner in manner()) {
        let text = manner.file();
        let inspection = inspected(&text).expect("a table");
        let said: Vec<(Role, Option<AttributeType>)> = inspection
            .attributes
            .iter()
            .map(|one| (one.role, one.kind))
            .collect();
        use AttributeType::{Categorical, Date, Decimal, Integer};
        use Role::{Identifier, QuasiIdentifier, Sensitive};
        prop_assert_eq!(said, vec![
            (Identifier, Some(Categorical)),
            (Identifier, Some(Categorical)),
            (QuasiIdentifier, Some(Integer)),
            (QuasiIdentifier, Some(Categorical)),
            (QuasiIdentifier, Some(Categorical)),
            (QuasiIdentifier, Some(Date)),
            (Sensitive, Some(Categorical)),
            (Sensitive, Some(Decimal)),
        ]);
        let table = read(&text, &inspection);
        prop_assert_eq!(table.records(), RECORDS);
        let people = if manner.is_many { RECORDS / 2 } else { RECORDS };
        prop_assert_eq!(table.subjects(), people);
        for purpose in &PURPOSES {
            let job = job_for(purpose, &inspection).expect("a job");
            let table = read(&text, &inspection);
            let case = Case::run(job.engine, table, &job.parameters, &[], manner.seed);
            let case = case.map_err(|error| TestCaseError::fail(format!("{}: {error}", purpose.name)))?;
            prop_assert!(case.verdict().holds(), "{}", purpose.name);
        }
    }
}

#[test]
fn days_that_can_be_read_in_two_ways_are_asked_about() {
    let file = |days: &[&str]| {
        let records = days.iter().enumerate();
        let records: String = records
            .map(|(at, day)| format!("{at},{day},{}\n", at % 3))
            .collect();
        format!("patient,visit_date,sex\n{records}")
    };
    let both = inspected(&file(&["03/04/2025", "05/06/2025", "11/12/2025"])).expect("a table");
    assert!(
        both.questions
            .iter()
            .any(|said| said.contains("MM/DD/YYYY")),
        "{:?}",
        both.questions
    );
    let sure = inspected(&file(&["03/04/2025", "05/16/2025", "11/12/2025"])).expect("a table");
    assert_eq!(sure.format.dates[0].to_string(), "MM/DD/YYYY");
    assert!(sure.questions.is_empty(), "{:?}", sure.questions);
}

#[test]
fn signs_of_numbers_are_read_as_other_columns_show_them() {
    let file = |cost: &str, dose: &str| {
        let records = (0..30).map(|at| format!("p{at};{cost}{};{dose}{}\n", at % 10, at % 7));
        format!("patient;cost;dose\n{}", records.collect::<String>())
    };
    let format = |text: &str| {
        let inspection = inspected(text).expect("a table");
        let schema = inspection.schema.expect("a schema");
        serde_json::to_value(schema).expect("JSON")
    };
    // 1.234 is a thousand and more where other columns have decimal commas.
    let german = format(&file("1.23", "0,5"));
    assert_eq!(german["format"]["decimal"], ",");
    assert_eq!(german["format"]["thousands"], ".");
    assert_eq!(german["attributes"][1]["type"], "integer");
    let english = format(&file("1.23", "0.5"));
    assert_eq!(english["format"].get("decimal"), None);
    assert_eq!(english["attributes"][1]["type"], "decimal");
}

#[test]
fn every_space_between_thousands_is_found() {
    for space in [" ", "\u{a0}", "\u{2009}", "\u{202f}"] {
        let records = (0..30).map(|at| format!("p{at};{}{space}2{:02}\n", at + 1, at % 7));
        let text = format!("patient;cost\n{}", records.collect::<String>());
        let inspection = inspected(&text).expect("a table");
        let cost = &inspection.attributes[1];
        assert_eq!(cost.kind, Some(AttributeType::Integer), "{space:?}");
        assert!(
            cost.reasons.iter().any(|why| why.contains("three digits")),
            "{space:?}: {:?}",
            cost.reasons
        );
    }
}

#[test]
fn words_that_may_be_values_stand_for_nothing_in_their_column_alone() {
    let records = (0..40).map(|at| {
        let dose = if at % 9 == 0 {
            "-".into()
        } else {
            (at * 13 % 7).to_string()
        };
        let cost = if at % 11 == 0 {
            "NA".into()
        } else {
            (at * 17).to_string()
        };
        format!("p{at}, {dose} ,{cost},{}\n", ["+", "-"][at % 2])
    });
    let text = format!(
        " patient ,hours, cost,rhesus\n{}",
        records.collect::<String>()
    );
    let inspection = inspected(&text).expect("a table");
    assert_eq!(inspection.format.missing_values, ["NA"]);
    let table = read(&text, &inspection);
    let schema = serde_json::to_value(table.schema().as_ref()).expect("JSON");
    assert_eq!(
        schema["attributes"][1]["missing_values"],
        serde_json::json!(["-"])
    );
    assert_eq!(schema["attributes"][3].get("missing_values"), None);
    assert_eq!(inspection.attributes[3].missing, 0);
}

#[test]
fn numbers_of_nobody_knows_what_name_the_record_and_never_go_out() {
    let records = (0..60).map(|at| format!("{},{},{}\n", 7000 + at * 13, at % 40 + 20, at % 2));
    let text = format!("x1,age,sex\n{}", records.collect::<String>());
    let inspection = inspected(&text).expect("a table");
    assert_eq!(inspection.attributes[0].role, Role::Identifier);
    let table = read(&text, &inspection);
    assert_eq!(
        table.schema().attribute(table.schema().subject_key()).name,
        "x1"
    );
}

#[test]
fn what_changes_from_record_to_record_is_no_quasi_identifier_of_a_person() {
    let mut random = ChaCha12Rng::seed_from_u64(5);
    let records = (0..900).map(|at| {
        let (person, code) = (at / 3, random.random_range(0..9));
        let age = person % 50 + 20;
        format!(
            "m{person},{age},2025-0{}-1{},E1{code}\n",
            at % 9 + 1,
            at % 10
        )
    });
    let text = format!(
        "member_id,age,visit_date,icd_code\n{}",
        records.collect::<String>()
    );
    let inspection = inspected(&text).expect("a table");
    let roles: Vec<Role> = inspection.attributes.iter().map(|one| one.role).collect();
    assert_eq!(
        roles,
        [
            Role::Identifier,
            Role::QuasiIdentifier,
            Role::Ignore,
            Role::Sensitive
        ]
    );
    for purpose in &PURPOSES {
        let job = job_for(purpose, &inspection).expect("a job");
        let case = Case::run(
            job.engine,
            read(&text, &inspection),
            &job.parameters,
            &[],
            3,
        );
        assert!(case.expect("a release").verdict().holds());
    }
}

/// The roles of columns, each with one hundred cells.
fn roles_of(columns: &[(&str, &dyn Fn(usize) -> String)]) -> Vec<Role> {
    let mut text = String::from("patient_id");
    columns
        .iter()
        .for_each(|(name, _)| text = format!("{text};{name}"));
    for at in 0..100 {
        text += &format!("\nP{at}");
        columns
            .iter()
            .for_each(|(_, cell)| text = format!("{text};{}", cell(at)));
    }
    let inspection = inspected(&(text + "\n")).expect("a table");
    let own = inspection.attributes.iter().skip(1);
    own.map(|one| one.role).collect()
}

#[test]
fn nothing_that_names_a_person_is_proposed_for_publication() {
    let number = |at: usize| (1_000_000 + at * 7919).to_string();
    let some = |at: usize| (4_000 + at % 60).to_string();
    let text = |at: usize| match at % 5 {
        0 | 1 => format!("Patient {at} complains of pain in the left knee since a week"),
        _ => "o.B.".into(),
    };
    let name = |at: usize| ["Meier", "Huber", "Schmidt"][at % 3].to_owned();
    let degrees = |at: usize| format!("47,{:05}", at * 731);
    let found = roles_of(&[
        ("birth_name", &name),
        ("verlauf", &text),
        ("Konto", &number),
        ("policy_number", &number),
        ("stay_id", &some),
        ("insurance_id", &some),
        ("treatment_id", &number),
        ("rx_number", &number),
        ("Fallnummer", &some),
        ("lat", &degrees),
    ]);
    assert_eq!(found, [Role::Identifier; 10]);
}

#[test]
fn the_person_is_named_before_the_visit_and_a_visit_alone_is_asked_about() {
    let visits = (0..120).map(|at| format!("F{at},{},{}\n", 500 + at / 6, at / 6 % 40 + 20));
    let text = format!("Fall_Nr,Pat_Nr,age\n{}", visits.collect::<String>());
    let schema = inspected(&text).expect("a table").schema.expect("a schema");
    assert_eq!(schema.attribute(schema.subject_key()).name, "Pat_Nr");
    let types = (0..60).map(|at| format!("{},p{at},{}\n", at % 3, at % 40 + 20));
    let text = format!("client_type,patient_id,age\n{}", types.collect::<String>());
    let schema = inspected(&text).expect("a table").schema.expect("a schema");
    assert_eq!(schema.attribute(schema.subject_key()).name, "patient_id");
    let cases = (0..60).map(|at| format!("F{at},{}\n", at % 40 + 20));
    let inspection = inspected(&format!("case_no,age\n{}", cases.collect::<String>()));
    let asked = inspection.expect("a table").questions;
    assert!(
        asked.iter().any(|said| said.contains("if people repeat")),
        "{asked:?}"
    );
}

#[test]
fn a_first_line_that_is_somebodys_record_is_no_header() {
    let people = (0..30).map(|at| {
        format!(
            "Anna Huber{at},{},{}\n",
            ["Bonn", "Trier"][at % 2],
            ["Grippe", "Gicht"][at / 2 % 2]
        )
    });
    let error = inspected(&people.collect::<String>())
        .expect_err("no header")
        .to_string();
    assert!(error.contains("seems to be a record"), "{error}");
    assert!(!error.contains("Huber"));
}

#[test]
fn numbers_that_can_be_a_thousand_times_as_large_are_asked_about() {
    let file = |cells: &[&str]| {
        let records = cells.iter().enumerate();
        let records = records.map(|(at, cell)| format!("p{at};{cell}\n"));
        format!("patient;betrag\n{}", records.collect::<String>())
    };
    let both = inspected(&file(&["1.234", "2.500", "7.125"])).expect("a table");
    assert!(
        both.questions
            .iter()
            .any(|said| said.contains("a thousand")),
        "{:?}",
        both.questions
    );
    // A zero before the sign is no group of thousands.
    let small = inspected(&file(&["0,125", "1,250", "12,848"])).expect("a table");
    let schema = serde_json::to_value(small.schema.expect("a schema")).expect("JSON");
    assert_eq!(schema["format"]["decimal"], ",");
    assert_eq!(schema["format"].get("thousands"), None);
    let codes = inspected("patient,icd9_code\na,250.10\nb,001.9\nc,250.1\n").expect("a table");
    assert_eq!(codes.attributes[1].kind, Some(AttributeType::Categorical));
}

#[test]
fn files_that_are_no_table_are_told_what_they_are() {
    for (text, said) in [
        ("", "empty"),
        (" \n\n", "empty"),
        ("%PDF-1.7", "PDF"),
        ("{\n \"a\": 1\n}\n", "no line that is one object"),
        ("{\"resourceType\": \"Patient\"}\n", "mapping `fhir`"),
        ("PAR1 and no more", "the whole of it"),
        ("a,b\n", "no record"),
        ("1,2,3\n4,5,6\n", "first line seems to be a record"),
        ("a,a\n1,2\n", "twice"),
        ("\"id\", \"age\" ,x\n1,2,3\n", "wrong place"),
        ("a\u{1}\u{2},b\n1,2\n", "no text"),
    ] {
        let error = inspected(text).expect_err(text).to_string();
        assert!(error.contains(said), "{text:?}: {error}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_inspected_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        lines in "(patient|a|b)[,;\t](age|c)[,;](x|d)\n([0-9a,;.\"'\n/+<-]{0,40}\n){0,12}",
    ) {
        let limits = InspectLimits { cells_max: 40, values_max: 30, unique_max: 20, ..Default::default() };
        let _ = inspect(Cursor::new(&bytes), ("x", false), &limits);
        let found = inspect(Cursor::new(lines.as_bytes()), ("x", true), &limits);
        if let Ok(found) = found {
            prop_assert!(found.attributes.len() <= 64);
        }
    }
}
