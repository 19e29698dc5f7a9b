//! Numbers in intervals.

use super::*;

#[test]
fn whole_numbers_lie_in_aligned_intervals() {
    let ages = lines(r#"{"rule":"intervals","from":0,"to":119,"widths":[5,10,20]}"#);
    assert_eq!(ages.len(), 120);
    assert_eq!(ages[0], "0;[0..5);[0..10);[0..20);*");
    assert_eq!(ages[119], "119;[115..120);[110..120);[100..120);*");
    assert_eq!(
        lines(r#"{"rule":"intervals","from":-6,"to":-4,"widths":[5,10]}"#),
        [
            "-6;[-10..-5);[-10..0);*",
            "-5;[-5..0);[-10..0);*",
            "-4;[-5..0);[-10..0);*"
        ]
    );
    assert_eq!(
        lines(r#"{"rule":"intervals","from":17,"to":18,"origin":18,"widths":[5,5,10]}"#),
        [
            "17;[13..18);[13..18);[8..18);*",
            "18;[18..23);[18..23);[18..28);*"
        ]
    );
}

#[test]
fn intervals_reach_past_the_bounds_of_64_bits() {
    assert_eq!(
        lines(
            r#"{"rule":"intervals","from":9223372036854775806,"to":9223372036854775807,"widths":[8]}"#
        )[1],
        "9223372036854775807;[9223372036854775800..9223372036854775808);*"
    );
    assert_eq!(
        lines(
            r#"{"rule":"intervals","values":[-9223372036854775808],"origin":9223372036854775807,"widths":[9223372036854775807]}"#
        ),
        ["-9223372036854775808;[-18446744073709551614..-9223372036854775807);*"]
    );
    let whole =
        r#"{"rule":"intervals","from":-9223372036854775808,"to":9223372036854775807,"widths":[5]}"#;
    assert_eq!(
        rule(whole).leaf_lines(usize::MAX - 1),
        Err(RuleError::TooManyNodes)
    );
    let wide = r#"{"rule":"intervals","from":0,"to":1000000000000000000,"widths":[5]}"#;
    assert_eq!(
        rule(wide).leaf_lines(NODES_MAX),
        Err(RuleError::TooManyNodes)
    );
}

#[test]
fn decimals_lie_in_intervals_with_short_bounds() {
    assert_eq!(
        lines(r#"{"rule":"intervals","values":[0.3,-0.0,0.30,0.1,-0.05,0],"widths":[0.1,0.3]}"#),
        [
            "-0.05;[-0.1..0);[-0.3..0);*",
            "0;[0..0.1);[0..0.3);*",
            "0.1;[0.1..0.2);[0..0.3);*",
            "0.3;[0.3..0.4);[0.3..0.6);*",
        ]
    );
    assert_eq!(
        lines(r#"{"rule":"intervals","values":[0.30000000000000004,5e-324,1e20],"widths":[0.1]}"#)
            [1],
        "0.30000000000000004;[0.3..0.4);*"
    );
    assert_eq!(
        lines(r#"{"rule":"intervals","values":[0.3,1],"origin":-1000000.1,"widths":[0.2]}"#),
        ["0.3;[0.3..0.5);*", "1;[0.9..1.1);*"]
    );
    // Beside a decimal, whole numbers are written as decimals are.
    assert_eq!(
        lines(r#"{"rule":"intervals","values":[9007199254740993,0.5],"widths":[1]}"#)[1],
        "9007199254740992;[9007199254740992..9007199254740993);*"
    );
    assert!(
        refusal(r#"{"rule":"intervals","values":[1e300],"widths":[1]}"#)
            .contains("too many digits")
    );
}

#[test]
fn cuts_part_numbers_and_leave_both_ends_open() {
    let ages = lines(r#"{"rule":"intervals","from":0,"to":99,"cuts":[[18,30,45,60,75],[45,75]]}"#);
    assert_eq!(ages[17], "17;<18;<45;*");
    assert_eq!(ages[18], "18;[18..30);<45;*");
    assert_eq!(ages[60], "60;[60..75);[45..75);*");
    assert_eq!(ages[75], "75;>=75;>=75;*");
    assert_eq!(
        lines(
            r#"{"rule":"intervals","values":[1e300,-1e300,-1.25,-1.2500001],"cuts":[[-1.25,0.5]]}"#
        )
        .iter()
        .map(|line| line.split_once(';').unwrap().1)
        .collect::<Vec<_>>(),
        ["<-1.25;*", "<-1.25;*", "[-1.25..0.5);*", ">=0.5;*"]
    );
}

#[test]
fn intervals_that_could_not_be_laid_are_refused() {
    for (fields, said) in [
        (r#""from":0,"to":9"#, "either `widths` or `cuts`"),
        (
            r#""from":0,"to":9,"widths":[5],"cuts":[[5]]"#,
            "either `widths` or `cuts`",
        ),
        (
            r#""from":0,"widths":[5]"#,
            "either `from` and `to`, or `values`",
        ),
        (r#""widths":[5]"#, "either `from` and `to`, or `values`"),
        (
            r#""from":0,"to":9,"values":[1],"widths":[5]"#,
            "either `from` and `to`",
        ),
        (r#""from":1,"to":0,"widths":[5]"#, "`from` is greater"),
        (r#""from":0,"to":9,"widths":[]"#, "`widths` is empty"),
        (r#""from":0,"to":9,"widths":[0]"#, "not above 0"),
        (r#""from":0,"to":9,"widths":[-5]"#, "not above 0"),
        (r#""from":0,"to":9,"widths":[5,12]"#, "no multiple"),
        (r#""from":0,"to":9,"widths":[10,5]"#, "no multiple"),
        (r#""from":0,"to":9,"widths":[1e40]"#, "more than 36 digits"),
        (
            r#""from":0,"to":9,"widths":[1,1e-300]"#,
            "more than 36 digits",
        ),
        (r#""from":0,"to":9,"cuts":[]"#, "`cuts` is empty"),
        (r#""from":0,"to":9,"cuts":[[]]"#, "without a cut"),
        (r#""from":0,"to":9,"cuts":[[5,5]]"#, "do not ascend"),
        (r#""from":0,"to":9,"cuts":[[5,4]]"#, "do not ascend"),
        (
            r#""from":0,"to":9,"cuts":[[5],[4]]"#,
            "the level before it lacks",
        ),
        (r#""from":0,"to":9,"cuts":[[5]],"origin":1"#, "`origin`"),
        (r#""values":[],"widths":[5]"#, "`values` is empty"),
    ] {
        let sentence = refusal(&format!(r#"{{"rule":"intervals",{fields}}}"#));
        assert!(sentence.contains(said), "{fields}: {sentence}");
    }
    let nan = HierarchyRule::Intervals {
        from: None,
        to: None,
        values: Some(vec![RuleNumber::Decimal(f64::NAN)]),
        origin: None,
        widths: Some(vec![RuleNumber::Integer(1)]),
        cuts: None,
    };
    assert!(nan.leaf_lines(9).is_err());
    let many = vec!["1"; 33].join(",");
    let many = format!(r#"{{"rule":"intervals","from":0,"to":9,"widths":[{many}]}}"#);
    assert!(refusal(&many).contains("more than 32 levels"));
}
