//! The example of the LGB paper (Li, He & Sun 2020, Figures 1 and 2).
//!
//! *A reconstruction*: the printed table was not at hand. Kept from the
//! paper's text are its shape (ten records; the semi-sensitive attributes age
//! and sex, which some subjects flag, the quasi-identifiers education and
//! zipcode, the sensitive salary), its setting (2-anonymity, buckets of two
//! and three values), and what the figure is there to show: flagged values
//! leave the groups for buckets, unflagged ones are generalized and stay out
//! of buckets. The values are made up.

use serde_json::{Value, json};
use vizard_anonymizer::engine::RunContext;
use vizard_anonymizer::engine::lgb::{Params, run};
use vizard_anonymizer::microdata::{Preference, Table};
use vizard_anonymizer::privacy::Requirements;
use vizard_anonymizer::release::Release;

use super::naive::release::{bucket_values, check, column};
use super::tables::{preferences, table};

const RECORDS: &str = "\
name,age,sex,education,zipcode,salary
Ann,21,female,bachelor,0540,8000
Bob,24,male,bachelor,0541,3000
Cleo,30,female,master,0543,6500
Dan,32,male,master,0547,5000
Eve,38,female,doctor,0550,9500
Finn,39,male,doctor,0552,4500
Gina,45,female,high-school,0561,4000
Hugo,47,male,high-school,0564,5500
Ida,52,female,master,0571,7000
Jack,58,male,master,0575,12000
";

const EDUCATION: &str = "\
high-school;secondary;*
bachelor;undergraduate;university;*
master;graduate;university;*
doctor;graduate;university;*
";

fn people() -> Table {
    let schema = json!({
        "name": "figure-1", "subject_key": "name",
        "attributes": [
            {"name": "name", "role": "identifier"},
            {"name": "age", "role": "semi_sensitive", "type": "integer"},
            {"name": "sex", "role": "semi_sensitive", "type": "categorical"},
            {"name": "education", "role": "quasi_identifier", "type": "categorical", "hierarchy": "education"},
            {"name": "zipcode", "role": "quasi_identifier", "type": "integer"},
            {"name": "salary", "role": "sensitive", "type": "integer"}
        ]
    });
    table(schema, &[("education", EDUCATION)], RECORDS)
}

/// Two pairs keep age for themselves, two pairs sex; Ida and Jack nothing.
fn flags() -> Vec<Preference> {
    preferences(json!([
        {"subject": "Ann", "sensitive": ["age"]}, {"subject": "Bob", "sensitive": ["age"]},
        {"subject": "Cleo", "sensitive": ["sex"]}, {"subject": "Dan", "sensitive": ["sex"]},
        {"subject": "Eve", "sensitive": ["sex"]}, {"subject": "Finn", "sensitive": ["sex"]},
        {"subject": "Gina", "sensitive": ["age"]}, {"subject": "Hugo", "sensitive": ["age"]}
    ]))
}

fn publish(parameters: Value) -> (Table, Requirements, Release) {
    let table = people();
    let params: Params = serde_json::from_value(parameters).expect("the shape is right");
    let policy = params.policy(table.schema()).expect("the parameters fit");
    let requirements = Requirements::new(&table, policy, &flags());
    let release = run(&table, &requirements, &params, &RunContext::silent(11));
    let release = release.expect("the example can be published");
    (table, requirements, release)
}

#[test]
fn figure_2_hides_flagged_values_in_buckets_and_generalizes_the_others() {
    for generalization in ["mdp", "ncp"] {
        let (table, requirements, release) = publish(json!({
            "k": 2, "l": 3, "generalization": generalization,
            "attributes": {"age": {"l": 2}, "sex": {"l": 2}}
        }));
        check(&table, &requirements, &release);
        assert_eq!(release.excluded, 0);
        let microdata = &release.tables[0];
        assert!(column(microdata, "salary").iter().all(String::is_empty));
        let hidden = |name: &str| {
            let cells = column(microdata, name);
            cells.iter().filter(|cell| cell.is_empty()).count()
        };
        assert_eq!((hidden("age"), hidden("sex")), (4, 4));
        // Ten records in three patterns of 4, 4 and 2: all groups are pairs,
        // or larger where a split would leave someone alone.
        let groups: std::collections::BTreeSet<String> =
            column(microdata, "group").into_iter().collect();
        assert!((3..=5).contains(&groups.len()), "{} groups", groups.len());
    }
}

#[test]
fn ages_are_split_at_their_median_before_buckets_are_made() {
    let (_, _, release) = publish(json!({
        "k": 2, "l": 3, "attributes": {"age": {"l": 2}, "sex": {"l": 2}}
    }));
    let mut ages: Vec<Vec<String>> = bucket_values(&release, "age").into_values().collect();
    ages.iter_mut().for_each(|values| values.sort());
    ages.sort();
    // Flagged are 21, 24, 45 and 47; the lower median is 24.
    assert_eq!(ages, [["21..21", "24..24"], ["45..45", "47..47"]]);
}

#[test]
fn salaries_are_split_where_both_halves_hold_three() {
    let (_, _, release) = publish(json!({
        "k": 2, "l": 3, "attributes": {"age": {"l": 2}, "sex": {"l": 2}}
    }));
    let mut sizes: Vec<usize> = bucket_values(&release, "salary")
        .values()
        .map(Vec::len)
        .collect();
    sizes.sort_unstable();
    // Ten distinct salaries: five and five, and three of five cannot be split.
    assert_eq!(sizes, [5, 5]);
}

#[test]
fn a_bucket_of_both_sexes_stays_whole() {
    let (_, _, release) = publish(json!({
        "k": 2, "l": 3, "attributes": {"age": {"l": 2}, "sex": {"l": 2}}
    }));
    for values in bucket_values(&release, "sex").into_values() {
        let mut values = values;
        values.sort();
        assert_eq!(values, ["female", "male"]);
    }
}
