//! The made-up patients' own privacy terms.
//!
//! About one in five says something. The counts are chosen so that the demo
//! shows every kind of term, a pattern too rare to stand alone included.

use std::fmt::Write;

use super::draw::Draw;

/// Patients of a thousand who want no part in any release.
const EXCLUDED_PER_MILLE: i64 = 3;

/// Patients of a thousand who give other terms.
const OTHERS_PER_MILLE: i64 = 200;

/// What people want treated as sensitive, and how often of those who say something.
const FLAGS: &[(&str, i64)] = &[
    ("", 180),
    ("age", 280),
    ("sex", 160),
    ("insurance", 220),
    ("age|insurance", 100),
    ("age|sex", 56),
    ("age|sex|insurance", 4),
];

/// The bulk form of every subject's terms.
pub fn preferences(draw: &mut Draw, subjects: &[String]) -> String {
    let mut text = String::from("subject,sensitive,max_leakage,max_reidentification,exclude\n");
    for subject in subjects {
        let terms = if draw.per_mille(EXCLUDED_PER_MILLE) {
            ",,,true".to_owned()
        } else if draw.per_mille(OTHERS_PER_MILLE) {
            own_terms(draw)
        } else {
            continue;
        };
        // Unwrap safety: writing to a String cannot fail.
        writeln!(text, "{subject},{terms}").expect("a String takes it");
    }
    text
}

fn own_terms(draw: &mut Draw) -> String {
    let flags = FLAGS[draw.weighted(FLAGS.iter().map(|(_, weight)| *weight))].0;
    // Who flags nothing came to name a number.
    let numbers = if flags.is_empty() { 100 } else { 25 };
    let (mut leakage, mut reidentification) = ("", "");
    if draw.percent(numbers) {
        match draw.between(0, 9) {
            0..4 => leakage = "0.125",
            4..7 => leakage = "0.1",
            7..9 => reidentification = "0.1",
            _ => (leakage, reidentification) = ("0.125", "0.1"),
        }
    }
    format!("{flags},{leakage},{reidentification},")
}
