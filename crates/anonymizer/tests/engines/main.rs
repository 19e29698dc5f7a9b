//! Tests of engines and verifier through the catalog, one module a kind:
//! paper examples, properties, differential, negative, golden.

#[path = "../common/mod.rs"]
mod common;

mod arp;
mod asked;
mod attacks;
mod cancelled;
mod case;
mod corruptions;
mod differential;
mod diverse;
mod exact;
mod exclusions;
mod golden;
mod handmade;
mod ignored;
mod inspected_forms;
mod lgb;
mod made;
mod manifests;
mod measures;
mod minimality;
mod missing;
mod mondrian;
mod naive;
mod needless;
mod negative;
mod one_to_many;
mod paper_examples;
mod parts;
mod personalized;
mod portions;
mod preamble;
mod preferences_attack;
mod proposals;
mod proposed_people;
mod random_runs;
mod reported;
mod scenario;
mod series;
mod slicing;
mod tables;

#[test]
fn the_number_of_property_cases_follows_the_environment() {
    use common::cases::cases_from;
    assert_eq!(cases_from(None, 64), 64);
    assert_eq!(cases_from(Some(""), 64), 64);
    assert_eq!(cases_from(Some("2000"), 64), 2_000);
}

#[test]
#[should_panic(expected = "is not a number")]
fn a_wrong_number_of_property_cases_is_refused() {
    common::cases::cases_from(Some("many"), 64);
}
