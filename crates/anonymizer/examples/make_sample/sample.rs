//! The sample's files as text: records, preferences, hierarchies, job.
//!
//! All arithmetic is on integers. Logarithms and the like may differ in the
//! last bit between machines, and one such bit would change a record.

#[path = "diagnoses.rs"]
mod diagnoses;
#[path = "draw.rs"]
mod draw;
#[path = "places.rs"]
mod places;
#[path = "professions.rs"]
mod professions;
#[path = "terms.rs"]
mod terms;

use std::fmt::Write;

use diagnoses::{DIAGNOSES, Diagnosis};
use draw::Draw;

/// Number of admissions, one a patient.
pub const RECORDS: usize = 4_000;

/// Any number would do; this one is kept so that the files stay the same.
const SEED: u64 = 2026;

/// The job that the demo runs.
const SPEC: &str = include_str!("spec.json");

/// Name below `sample/` and content of every file.
pub fn files() -> Vec<(String, String)> {
    let mut draw = Draw::new(SEED);
    let mut records = String::from(
        "patient,age,sex,district,profession,admitted,length_of_stay,insurance,cost,diagnosis\n",
    );
    let mut subjects = Vec::with_capacity(RECORDS);
    for index in 0..RECORDS {
        let subject = format!("P{:05}", 10_000 + index);
        let line = record(&mut draw);
        // Unwrap safety: writing to a String cannot fail.
        writeln!(records, "{subject},{line}").expect("a String takes it");
        subjects.push(subject);
    }
    vec![
        ("records.csv".to_owned(), records),
        (
            "preferences.csv".to_owned(),
            terms::preferences(&mut draw, &subjects),
        ),
        (
            "hierarchies/diagnosis.csv".to_owned(),
            diagnoses::hierarchy(),
        ),
        ("hierarchies/district.csv".to_owned(), places::hierarchy()),
        (
            "hierarchies/profession.csv".to_owned(),
            professions::hierarchy(),
        ),
        ("spec.json".to_owned(), SPEC.to_owned()),
    ]
}

/// One admission, without the patient's number.
///
/// The diagnosis comes first: age, sex, stay and cost follow from it, and the
/// profession follows from the age.
fn record(draw: &mut Draw) -> String {
    let diagnosis = &DIAGNOSES[draw.weighted(DIAGNOSES.iter().map(|each| each.weight))];
    let age = draw.bell(diagnosis.age, diagnosis.age_spread).clamp(0, 97);
    let sex = if draw.percent(diagnosis.women_percent) {
        "F"
    } else {
        "M"
    };
    let days = stay(draw, diagnosis, age);
    let cost = cost(draw, diagnosis, days);
    let district = places::district(draw);
    let profession = professions::of_age(draw, age);
    let admitted = admission_day(draw);
    let insurance = places::insurer(draw, profession);
    format!(
        "{age},{sex},{district},{profession},{admitted},{days},{insurance},{cost},{}",
        diagnosis.name
    )
}

/// Days in hospital: skewed to the right, longer for the old.
fn stay(draw: &mut Draw, diagnosis: &Diagnosis, age: i64) -> i64 {
    let typical = diagnosis.days * (80 + age) / 130;
    let share = draw.between(30, 130)
        + if draw.percent(12) {
            draw.between(20, 200)
        } else {
            0
        };
    (typical * share / 100).clamp(1, 60)
}

/// Euros, to ten: a fixed part and one for each day.
fn cost(draw: &mut Draw, diagnosis: &Diagnosis, days: i64) -> i64 {
    let daily = diagnosis.daily_cost * draw.between(70, 135) / 100;
    let fixed = draw.between(350, 1_900);
    (fixed + daily * days) / 10 * 10
}

/// A day of the third quarter of 2026; fewer people are admitted at weekends.
fn admission_day(draw: &mut Draw) -> String {
    // 1 July 2026 is a Wednesday, the third day of its week.
    let weight = |day: i64| if (day + 2) % 7 >= 5 { 5 } else { 10 };
    let day = draw.weighted((0..92).map(weight)) as i64;
    match day {
        0..31 => format!("2026-07-{:02}", day + 1),
        31..62 => format!("2026-08-{:02}", day - 30),
        _ => format!("2026-09-{:02}", day - 61),
    }
}
