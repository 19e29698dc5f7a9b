//! The best that somebody can do who leaves out an asker: a valid release of
//! everyone else, made as if the asker had asked to be left out. Only the
//! check of who is absent can tell.

use super::bases;

/// Subjects who ask for something that can be met: an l, a k, an l of one
/// attribute, and (of `lgb`) that their sex be sensitive.
const ASKERS: [usize; 4] = [5, 8, 9, 10];

/// Engines whose subjects leave for reasons of buckets, fingerprints or
/// clusters: no rule says yet who of them could have stayed.
const OPEN: [&str; 4] = ["lgb", "slicing", "one_to_many", "rmr"];

#[test]
fn no_asker_is_left_out_whose_terms_can_be_met() {
    let (mut refused, mut accepted) = (0, Vec::new());
    for asker in ASKERS {
        for (before, without) in bases::all().iter().zip(bases::without(asker)) {
            let name = before.name;
            let is_open = OPEN.contains(&before.case.ordered.engine.as_str());
            let mut subjects = before.case.subjects().iter();
            let is_there = subjects.any(|subject| subject.0 as usize == asker);
            assert!(is_there || is_open, "{asker} can be in {name}");
            let verdict = without.case.verdict();
            let failed: Vec<_> = verdict.failed().map(|check| check.kind).collect();
            if verdict.holds() {
                accepted.push((name, asker))
            } else {
                assert_eq!(failed, ["exclusions_asked_for"], "{name} without {asker}")
            }
            assert!(is_open || !verdict.holds(), "{name} without {asker}");
            refused += usize::from(!verdict.holds());
        }
    }
    println!("{refused} refused, accepted: {accepted:?}");
}
