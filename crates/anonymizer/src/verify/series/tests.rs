//! Counterexamples.

mod worlds;

use super::*;
use crate::microdata::Transform;
use crate::release::Transformed;
use crate::release::candidates::NO_CLASS;
use crate::verify::composition::made::{grouped, release};

type Classes<'a> = &'a [(&'a [u32], &'a str)];

fn of_two(one: Classes<'_>, other: Classes<'_>) -> Series {
    series(&release(other), &[&release(one)])
}

fn of_groups(k: u32, one: Classes<'_>, other: Classes<'_>) -> Series {
    series(&grouped(k, other), &[&grouped(k, one)])
}

fn shape(series: &Series) -> Option<Shape> {
    match series.attributes[0].1 {
        Judged::Holds(shape) => Some(shape),
        Judged::Fails { .. } => None,
    }
}

#[test]
fn releases_of_other_people_and_the_same_release_again_are_safe() {
    let one: Classes<'_> = &[(&[0, 1], "ab"), (&[2, 3], "cd")];
    let found = of_two(one, &[(&[4, 5], "ab")]);
    assert_eq!((found.shared, shape(&found)), (0, Some(Shape::Increments)));
    assert!(found.is_safe());
    for found in [of_two(one, one), of_groups(2, one, one)] {
        assert_eq!((found.shared, shape(&found)), (4, Some(Shape::Nested)));
        assert!(found.is_safe());
    }
}

#[test]
fn two_candidates_for_everyone_are_not_enough() {
    // In all worlds that fit both, 2 has a and 5 has d.
    let one: Classes<'_> = &[(&[0, 2, 3], "abc"), (&[1, 4, 5], "bcd")];
    let other: Classes<'_> = &[(&[1, 2, 4], "abc"), (&[0, 3, 5], "bcd")];
    assert!(!of_two(one, other).is_safe());
    assert!(!of_groups(2, one, other).is_safe());
    // 0 and 5 are certain although nobody's intersection has one value.
    let one: Classes<'_> = &[(&[0, 1, 4, 7], "caca"), (&[2, 3, 5, 6], "acba")];
    let other: Classes<'_> = &[(&[1, 4, 5, 7], "acba"), (&[0, 2, 3, 6], "caca")];
    assert!(!of_two(one, other).is_safe());
    assert!(!of_groups(2, one, other).is_safe());
}

#[test]
fn one_person_who_leaves_a_group_that_grows_is_refused() {
    let one: Classes<'_> = &[(&[0, 1], "ab"), (&[2, 3], "cd")];
    let found = of_groups(2, one, &[(&[1, 2, 3], "bcd")]);
    assert_eq!(
        found.attributes[0].1,
        Judged::Fails {
            nested: 2,
            invariant: None
        }
    );
    assert!(!found.identity.holds());
}

#[test]
fn companions_leave_with_whoever_leaves_a_group() {
    let one: Classes<'_> = &[(&[0, 1, 2, 3], "abcd")];
    let stay: Classes<'_> = &[(&[2, 3], "cd")];
    let found = of_groups(2, one, stay);
    assert_eq!(shape(&found), Some(Shape::Nested));
    assert!(found.is_safe());
    // The two who left may not have the same value, nor be fewer than k.
    assert!(!of_groups(2, &[(&[0, 1, 2, 3], "aacd")], stay).is_safe());
    assert!(!of_groups(3, one, stay).is_safe());
    // Who stayed has another value than before.
    assert!(!of_groups(2, one, &[(&[2, 3], "ce")]).is_safe());
}

#[test]
fn part_of_a_class_keeps_only_what_can_be_seen_of_it() {
    let one = grouped(2, &[(&[0, 1, 2, 3], "abcd")]);
    let other = grouped(2, &[(&[2, 3], "cd")]);
    let mut close = one.clone();
    close.attributes[0].is_l_alone = false;
    assert!(!series(&other, &[&close]).is_safe());
    let mut own = one.clone();
    own.has_own_terms = true;
    assert!(!series(&other, &[&own]).is_safe());
    // A whole class keeps what it kept.
    assert!(series(&own, &[&own]).is_safe());
    assert!(series(&close, &[&close]).is_safe());
}

#[test]
fn part_of_a_class_keeps_what_its_members_ask_for() {
    let one = grouped(2, &[(&[0, 1, 2, 3, 4, 5], "abcdef")]);
    let asking = |k: u32, l: u32, who: usize| {
        let mut own = one.clone();
        own.has_own_terms = true;
        let terms = |k, l| ShownTerms { k, l: vec![l] };
        own.terms = vec![terms(2, 1), terms(k, l)];
        own.terms_of = (0..6).map(|at| u32::from(at == who)).collect();
        own
    };
    // 0 and 1 leave; 2, 3, 4 and 5 stay.
    let other = grouped(2, &[(&[2, 3, 4, 5], "cdef")]);
    assert!(series(&other, &[&asking(2, 1, 0)]).is_safe());
    assert!(!series(&other, &[&asking(3, 1, 0)]).is_safe());
    assert!(!series(&other, &[&asking(2, 3, 0)]).is_safe());
    assert!(series(&other, &[&asking(4, 4, 2)]).is_safe());
    assert!(!series(&other, &[&asking(5, 1, 2)]).is_safe());
    assert!(!series(&other, &[&asking(2, 5, 2)]).is_safe());
}

#[test]
fn groups_that_cross_tell_people_apart() {
    let (one, other) = (
        grouped(4, &[(&[0, 1, 2, 3], "abcd"), (&[4, 5, 6, 7], "abcd")]),
        grouped(4, &[(&[0, 1, 4, 5], "abcd"), (&[2, 3, 6, 7], "abcd")]),
    );
    let found = series(&one, &[&other]);
    let fails = Judged::Fails {
        nested: 8,
        invariant: None,
    };
    assert_eq!(found.identity, fails);
}

#[test]
fn buckets_beside_groups_tell_people_apart() {
    let buckets = release(&[(&[0, 1], "ab"), (&[2, 3], "cd")]);
    let crossing = grouped(2, &[(&[0, 2], "ac"), (&[1, 3], "bd")]);
    assert!(!series(&buckets, &[&crossing]).is_safe());
    // Inside a group the buckets tell which rows are whose.
    let around = grouped(4, &[(&[0, 1, 2, 3], "abcd")]);
    let found = series(&buckets, &[&around]);
    assert!(!found.identity.holds() && !found.is_safe());
}

#[test]
fn sets_of_values_that_are_kept_are_safe() {
    let one: Classes<'_> = &[(&[0, 1], "ab"), (&[2, 3], "ab")];
    let other: Classes<'_> = &[(&[0, 3], "ab"), (&[2, 4], "ab")];
    let found = of_two(one, other);
    assert_eq!(shape(&found), Some(Shape::Invariant));
    assert!(found.is_safe());
    // In rows values are linked to those of other attributes.
    assert!(!of_groups(2, one, other).is_safe());
    // Buckets are invariant, but the groups of rows tell people apart.
    let in_buckets = |classes| {
        let mut release = grouped(2, classes);
        release.attributes[0].stands_in_rows = false;
        release
    };
    let found = series(&in_buckets(other), &[&in_buckets(one)]);
    assert_eq!(shape(&found), Some(Shape::Invariant));
    assert!(!found.identity.holds());
    // a twice, b once.
    let uneven: Classes<'_> = &[(&[0, 3], "ab"), (&[1, 2, 4], "aab")];
    assert!(!of_two(one, uneven).is_safe());
}

#[test]
fn a_subject_who_comes_back_has_the_same_set() {
    let one = release(&[(&[0, 1], "ab")]);
    let absent = release(&[(&[1, 2], "ab")]);
    let again = |classes: Classes<'_>| series(&release(classes), &[&one, &absent]);
    assert!(again(&[(&[0, 2], "ab")]).is_safe());
    assert!(!again(&[(&[0, 3], "ac")]).is_safe());
    // Another spelling of the same values would look like this.
    assert!(!again(&[(&[0, 3], "cd")]).is_safe());
}

#[test]
fn where_changes_are_shown_a_set_may_have_no_value_of_another_one() {
    let one = release(&[(&[0, 1], "ab")]);
    let shows = |classes: Classes<'_>| Candidates {
        shows_changes: true,
        ..release(classes)
    };
    let beside = |classes: Classes<'_>| series(&shows(classes), &[&one]);
    let found = beside(&[(&[0, 3], "cd")]);
    assert_eq!(shape(&found), Some(Shape::Invariant));
    assert!(found.is_safe());
    assert!(!beside(&[(&[0, 3], "ac")]).is_safe());
    assert!(!beside(&[(&[0, 3], "ccd")]).is_safe());
    // Back to the first set, or to one that overlaps with it.
    let later = shows(&[(&[0, 3], "cd"), (&[1, 2], "ab")]);
    let after = |classes: Classes<'_>| series(&shows(classes), &[&one, &later]);
    assert!(after(&[(&[0, 1], "ab")]).is_safe());
    assert!(!after(&[(&[0, 4], "be")]).is_safe());
}

#[test]
fn a_value_that_was_shown_tells_of_those_who_share_a_bucket_later() {
    let mut shown = release(&[(&[0, 1], "ab"), (&[2, 3], "ab")]);
    shown.attributes[0].class_of[0] = NO_CLASS;
    shown.attributes[0].class_of[1] = NO_CLASS;
    assert!(series(&shown, &[&shown]).is_safe());
    let later = release(&[(&[0, 4], "ab"), (&[2, 3], "ab")]);
    let found = series(&later, &[&shown]);
    assert_eq!(
        found.attributes[0].1,
        Judged::Fails {
            nested: 2,
            invariant: Some(1)
        }
    );
}

#[test]
fn what_is_not_known_is_not_safe() {
    let one = release(&[(&[0, 1], "ab"), (&[2, 3], "cd")]);
    let incomplete = Candidates {
        is_complete: false,
        ..one.clone()
    };
    let sliced = Candidates {
        identity: Identity::Unknown,
        ..one.clone()
    };
    let twice = release(&[(&[0, 1], "ab"), (&[0, 3], "cd")]);
    let otherwise = Candidates {
        attributes: Vec::new(),
        ..one.clone()
    };
    // Values under another transform have no names in common with these.
    let moved = Candidates {
        transformed: vec![Transformed {
            attribute: "ill".into(),
            transform: Transform {
                shift_days: Some(30),
                ..Transform::default()
            },
        }],
        ..one.clone()
    };
    assert!(series(&moved, &[&moved]).is_safe());
    let changing = Candidates {
        shows_changes: true,
        ..moved.clone()
    };
    for other in [incomplete, sliced, twice, otherwise, moved, changing] {
        assert!(!series(&one, &[&other]).is_safe());
        assert!(!series(&other, &[&one]).is_safe());
    }
    // Of people whom it does not share nothing has to be known.
    let far = Candidates {
        identity: Identity::Unknown,
        ..release(&[(&[8, 9], "ab")])
    };
    assert!(series(&one, &[&far]).is_safe());
}

#[test]
fn a_release_between_two_others_joins_them() {
    let (one, other) = (release(&[(&[0, 1], "ab")]), release(&[(&[1, 2], "bc")]));
    let last = release(&[(&[2, 3], "cd")]);
    assert!(series(&last, &[&one]).is_safe());
    assert!(!series(&last, &[&one, &other]).is_safe());
}

#[test]
fn a_release_that_joins_whole_groups_of_earlier_ones_tells_nothing() {
    let fine = grouped(2, &[(&[0, 1], "ab"), (&[2, 3], "cd"), (&[4, 5], "ef")]);
    let joining = |classes: Classes<'_>| Candidates {
        joins_groups: true,
        ..grouped(4, classes)
    };
    let coarse = joining(&[(&[0, 1, 2, 3], "abcd")]);
    let found = series(&coarse, &[&fine]);
    assert!(found.is_safe());
    assert_eq!(found.shared, 4);
    // Other readers may have two such releases, and no finer one.
    let again = joining(&[(&[2, 3, 4, 5], "cdef")]);
    assert!(!series(&again, &[&fine, &coarse]).is_safe());
    assert!(series(&coarse, &[&fine, &coarse]).is_safe());
    // Its claim is nothing that a later release of the series has to keep.
    let later = grouped(2, &[(&[0, 1], "ab"), (&[2, 3], "cd"), (&[6, 7], "ab")]);
    assert!(series(&later, &[&fine, &coarse]).is_safe());
    // Made before the finer groups are public, it has one.
    assert!(!series(&fine, &[&coarse]).is_safe());
    let claims = grouped(4, &[(&[0, 1, 2, 3], "abcd")]);
    assert!(!series(&claims, &[&fine]).is_safe());
    for classes in [
        // Part of a group, other values, somebody whom no release shows.
        &[(&[0, 1, 2, 4][..], "abce")][..],
        &[(&[0, 1, 2, 3][..], "abce")][..],
        &[(&[0, 1, 8, 9][..], "abgh")][..],
    ] {
        assert!(
            !series(&joining(classes), &[&fine]).is_safe(),
            "{classes:?}"
        );
    }
}
