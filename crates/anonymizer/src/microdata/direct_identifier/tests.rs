//! Numbers that the issuers themselves print as examples, and values that
//! must not be taken for one of them.

use serde_json::json;

use super::*;
use crate::microdata::{
    HierarchySet, ReadLimits, RecordFormat, Schema, SubjectKeys, TableBuilder, Target, read_records,
};

/// A table of one attribute with these values.
fn table(role: &str, kind: &str, values: impl Iterator<Item = String>) -> Table {
    let schema: Schema = serde_json::from_value(json!({
        "name": "made", "subject_key": "id",
        "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "x", "role": role, "type": kind}]
    }))
    .expect("a schema");
    let mut text = "id,x\n".to_owned();
    for (at, value) in values.enumerate() {
        text.push_str(&format!("{at},{value}\n"));
    }
    let (schema, hierarchies) = (std::sync::Arc::new(schema), HierarchySet::new());
    let mut builder =
        TableBuilder::new(std::sync::Arc::clone(&schema), &hierarchies).expect("no hierarchy");
    let target = Target {
        schema: &schema,
        hierarchies: &hierarchies,
        limits: ReadLimits::default(),
    };
    let mut spill = Vec::new();
    let mut subjects = SubjectKeys::new([1; 16], &mut spill);
    let sink = &mut |chunk| builder.push(chunk);
    read_records(
        text.as_bytes(),
        RecordFormat::Csv,
        &target,
        &mut subjects,
        sink,
    )
    .expect("read");
    builder.finish().expect("a table")
}

fn found(role: &str, kind: &str, values: impl Iterator<Item = String>) -> Option<DirectIdentifier> {
    let table = table(role, kind, values);
    direct_identifier(&table, AttributeIndex::from_usize(1))
}

#[test]
fn examples_of_each_form_are_recognized() {
    assert!(is_mail("a.b+c@mail.example.org"));
    assert!(is_telephone("+49 30 901820") && is_telephone("(030) 901-820"));
    assert!(is_telephone("202-555-0143") && is_telephone("0044 20 7946 0958"));
    assert!(is_iban("GB82 WEST 1234 5698 7654 32") && is_iban("DE89370400440532013000"));
    assert!(is_dni("12345678Z") && is_dni("X1234567L"));
    assert!(is_codice_fiscale("RSSMRA85T10A562S"));
    assert!(is_ssn("078-05-1120"));
    assert!(is_hetu("131052-308T"));
    assert!(is_nhs("943 476 5919"));
    assert!(is_tax_id("86095742719"));
    assert!(is_nir("1 85 05 78 006 084 91".replace(' ', "").as_str()));
    assert!(is_nuss("281234567840"));
    assert!(is_bsn("111222333"));
    assert!(is_personnummer("811218-9876") && is_personnummer("19811218-9876"));
    assert!(is_pesel("44051401359"));
    assert!(is_rijksregister(
        "85.07.30-033 28".replace(' ', "").as_str()
    ));
    assert!(is_ahv("756.9217.0769.85"));
    assert!(is_cpf("111.444.777-35"));
    assert!(is_resident_id("11010519491231002X"));
    assert!(is_payment_card("4111 1111 1111 1111"));
}

#[test]
fn one_wrong_digit_is_no_id() {
    assert!(!is_iban("GB82 WEST 1234 5698 7654 33"));
    assert!(!is_dni("12345678A"));
    assert!(!is_codice_fiscale("RSSMRA85T10A562T"));
    assert!(!is_nhs("943 476 5918"));
    assert!(!is_tax_id("86095742718"));
    assert!(!is_bsn("111222334"));
    assert!(!is_personnummer("811218-9875"));
    assert!(!is_pesel("44051401358"));
    assert!(!is_ahv("756.9217.0769.84"));
    assert!(!is_resident_id("110105194912310021"));
    assert!(!is_payment_card("4111 1111 1111 1112"));
    assert!(!is_resident_id("é1010519491231002X"));
}

#[test]
fn dates_ranges_codes_and_measures_are_no_telephone_numbers() {
    for text in [
        "2024-05-31",
        "31/05/2024",
        "31.05.24",
        "1000-1999",
        "N39.0",
        "13.5",
        "12345678",
        "0123456",
        "120/80",
        "-5.25",
    ] {
        assert!(!is_telephone(text), "{text}");
    }
}

/// Valid NHS numbers, one after another.
fn nhs_numbers() -> impl Iterator<Item = String> {
    let nine = 100_000_000_u64..;
    let ten = nine.flat_map(|first| (0..10).map(move |last| (first * 10 + last).to_string()));
    ten.filter(|text| is_nhs(text))
}

#[test]
fn a_number_with_check_digits_is_found_as_text_and_as_integer_in_every_role() {
    for role in [
        "quasi_identifier",
        "semi_sensitive",
        "sensitive",
        "insensitive",
    ] {
        for kind in ["categorical", "integer"] {
            let is = found(role, kind, nhs_numbers().take(40));
            assert_eq!(is, Some(DirectIdentifier::NationalId), "{role} {kind}");
        }
    }
    let table = table("identifier", "categorical", nhs_numbers().take(40));
    assert_eq!(
        direct_identifier(&table, AttributeIndex::from_usize(1)),
        None
    );
}

#[test]
fn plain_numbers_are_not_taken_for_ids_by_chance() {
    // One in eleven of these has a right check digit.
    let plain = (0..5_000_u64).map(|at| (1_000_000_000 + at * 7).to_string());
    assert_eq!(found("quasi_identifier", "integer", plain), None);
    // All are right, but they are too few to tell.
    let few = nhs_numbers().take(CHECKED_LEAST - 1);
    assert_eq!(found("quasi_identifier", "integer", few), None);
    // 94 in 100 are right.
    let mixed = nhs_numbers()
        .take(940)
        .chain((0..60).map(|at| at.to_string()));
    assert_eq!(found("quasi_identifier", "integer", mixed), None);
    let mostly = nhs_numbers()
        .take(950)
        .chain((0..50).map(|at| at.to_string()));
    let is = found("quasi_identifier", "integer", mostly);
    assert_eq!(is, Some(DirectIdentifier::NationalId));
}

#[test]
fn text_that_nearly_every_record_has_for_itself_is_found() {
    let names = |own: usize| {
        (0..200).map(move |at| {
            if at < own {
                format!("name {at}")
            } else {
                "name 0".to_owned()
            }
        })
    };
    let is = |own| found("insensitive", "categorical", names(own));
    assert_eq!(is(180), Some(DirectIdentifier::OwnText));
    assert_eq!(is(179), None);
    // As many numbers are no text: measures differ from record to record.
    let measures = (0..200).map(|at| at.to_string());
    assert_eq!(found("insensitive", "integer", measures), None);
}
