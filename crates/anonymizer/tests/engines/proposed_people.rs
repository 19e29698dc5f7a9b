//! Who the people of a file are, as an inspection takes them: rows that name
//! nobody, and many records a person, whose sets of values bound l.

use vizard_anonymizer::catalog::{PURPOSES, job_for};

use super::case::Case;
use super::proposals::{inspected, read};

#[test]
fn l_of_many_records_is_the_largest_that_peoples_sets_of_values_allow() {
    // Of 300 people a third have one set of values, and nobody else has one of them.
    let people = (0..300_usize).map(|at| {
        let codes: Vec<usize> = match at % 3 {
            0 => vec![0, 1],
            _ => vec![2 + at % 7, 2 + at % 7],
        };
        let lines = codes.iter().map(|code| {
            let (age, code) = (
                at % 50 + 20,
                [
                    "I21", "J18", "K80", "N39", "E11", "S72", "G40", "C50", "M54",
                ][*code],
            );
            format!("m{at},{age},{code}\n")
        });
        lines.collect::<String>()
    });
    let text = format!("member_id,age,icd_code\n{}", people.collect::<String>());
    let inspection = inspected(&text).expect("a table");
    let public = job_for(&PURPOSES[0], &inspection).expect("a job");
    assert_eq!(
        (public.engine, &public.parameters["l"]),
        ("one_to_many", &serde_json::json!(3))
    );
    assert!(
        public
            .reasons
            .iter()
            .any(|why| why.contains("at most l = 3")),
        "{:?}",
        public.reasons
    );
    let run = |parameters: &serde_json::Value| {
        Case::run("one_to_many", read(&text, &inspection), parameters, &[], 3)
    };
    assert!(
        run(&public.parameters)
            .expect("a release")
            .verdict()
            .holds()
    );
    // No larger one is.
    let mut more = public.parameters;
    more["l"] = 4.into();
    assert!(run(&more).is_err());
}

#[test]
fn rows_that_nobody_is_named_in_are_people_by_their_numbers() {
    let rows = (0..120).map(|at| {
        format!(
            "{},{},{}\n",
            20 + at % 40,
            ["f", "m"][at % 2],
            ["I21", "J18", "K80", "N39", "E11"][at % 5]
        )
    });
    let text = format!("age,sex,icd_code\n{}", rows.collect::<String>());
    let inspection = inspected(&text).expect("a table");
    let schema = inspection.schema.as_ref().expect("a schema");
    assert!(schema.has_row_keys());
    let asked = &inspection.questions;
    assert!(
        asked
            .iter()
            .any(|said| said.contains("is each row one person?")),
        "{asked:?}"
    );
    let table = read(&text, &inspection);
    let keys: Vec<&str> = table.subject_keys().iter().collect();
    let numbers: Vec<String> = (1..=120).map(|number| number.to_string()).collect();
    assert_eq!(keys, numbers);
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
