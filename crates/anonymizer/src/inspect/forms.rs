//! What the cells of a column are: numbers, days, codes or text.

use super::columns::Column;
use crate::microdata::{
    AttributeType, CellFormat, DateFormat, DatePattern, DecimalSign, DirectIdentifier, Thousands,
    identifying_form,
};

/// Words that programs write where there is no value, in lower case.
///
/// A list of its own: these are proposed, and a person reads the proposal. What
/// becomes missing unasked is in `normalize`.
const MISSING_WORDS: [&str; 13] = [
    "null", "na", "n/a", "#n/a", "nan", "none", "nil", "-", "--", ".", "?", "(null)", "missing",
];
/// Those of them that are no category anywhere.
pub(super) const SURE_WORDS: [&str; 9] = [
    "null", "n/a", "#n/a", "nan", "(null)", "nil", "--", ".", "?",
];
/// Distinct values of a column that are looked at for days.
const DAYS_LOOKED_AT: usize = 3_000;
/// Share of the cells that a form must have; the others are told.
const SHARE: f64 = 0.98;
const DAYS: [&str; 19] = [
    "YYYY-MM-DD",
    "DD.MM.YYYY",
    "D.M.YYYY",
    "DD.MM.YY",
    "D.M.YY",
    "DD/MM/YYYY",
    "MM/DD/YYYY",
    "D/M/YYYY",
    "M/D/YYYY",
    "DD/MM/YY",
    "MM/DD/YY",
    "YYYY/MM/DD",
    "DD-MM-YYYY",
    "MM-DD-YYYY",
    "DDMMMYYYY",
    "DD-MMM-YYYY",
    "DD-MMM-YY",
    "D MMM YYYY",
    "YYYYMMDD",
];
const TIMES: [&str; 10] = [
    "",
    " hh:mm",
    " hh:mm:ss",
    "Thh:mm",
    "Thh:mm:ss",
    "Thh:mm:ssZ",
    " hh:mm:ss.f",
    "Thh:mm:ss.fZ",
    " h:mm:ss AM",
    " h:mm AM",
];
/// Size up to which every whole number has 64 bits and is told from its
/// neighbours.
pub(super) const WHOLE_MAX: f64 = 9e18;
/// First year that two digits are proposed to mean.
pub(super) const TWO_DIGIT_YEARS_FROM: u16 = 1930;

/// What the cells of a column are.
#[derive(Debug, Default)]
pub(super) struct Cells {
    pub kind: Option<AttributeType>,
    /// How the cells are read.
    pub reading: CellFormat,
    /// What of that the schema must say of the attribute.
    pub format: CellFormat,
    /// Words that stand for a missing value here, as they are written.
    pub missing_words: Vec<String>,
    /// Cells with one of them, and empty ones.
    pub missing: u64,
    /// What shows it.
    pub reasons: Vec<String>,
    /// What can be read in two ways.
    pub questions: Vec<String>,
    pub identifier: Option<DirectIdentifier>,
    /// Whole numbers that keep their leading zeros: codes.
    pub has_leading_zeros: bool,
    /// Long texts of many words.
    pub is_free_text: bool,
    /// Least and greatest, of numbers.
    pub range: Option<(f64, f64)>,
    /// Days in another form that both days and months fit.
    pub is_ambiguous_day: bool,
}

pub(super) fn is_missing_word(text: &str, words: &[&str]) -> bool {
    let lower = text.to_lowercase();
    words.contains(&lower.as_str())
}

impl Cells {
    /// What reads the days of its cells.
    pub fn pattern(&self) -> Option<DatePattern> {
        let iso = DateFormat::new("YYYY-MM-DD");
        let form = self.reading.dates.first().unwrap_or(&iso);
        form.pattern(Some(TWO_DIGIT_YEARS_FROM))
    }
}

/// The sign of fractions that is likely, and whether other columns show it.
pub(super) type Prior = (Option<DecimalSign>, bool);

/// What the cells of a column are.
pub(super) fn cells_of(column: &Column, prior: Prior) -> Cells {
    if let Some(cells) = column.given.cells(column) {
        return cells;
    }
    let mut texts: Vec<(&str, u64)> = column.texts().collect();
    texts.sort_unstable();
    let mut cells = Cells {
        missing: column.empty,
        ..Cells::default()
    };
    let known: Vec<(&str, u64)> = texts
        .iter()
        .copied()
        .filter(|(text, _)| !is_missing_word(text, &MISSING_WORDS))
        .collect();
    if known.is_empty() {
        take_missing(&mut cells, &texts, &MISSING_WORDS);
        return cells;
    }
    let is_found = take_days(&mut cells, &known) || take_numbers(&mut cells, &known, prior);
    if is_found {
        // Between numbers and days such a word is no value.
        take_missing(&mut cells, &texts, &MISSING_WORDS);
        return cells;
    }
    cells.kind = Some(AttributeType::Categorical);
    take_missing(&mut cells, &texts, &SURE_WORDS);
    let distinct = known.iter().map(|(text, _)| *text);
    cells.identifier = identifying_form(distinct);
    let all: u64 = known.iter().map(|(_, count)| count).sum();
    let (values, _) = column.distinct();
    cells.is_free_text = column.longest > 40 && column.with_spaces > 0 && values * 20 > all;
    cells
}

fn take_missing(cells: &mut Cells, texts: &[(&str, u64)], words: &[&str]) {
    for &(text, count) in texts {
        if is_missing_word(text, words) {
            cells.missing_words.push(text.to_owned());
            cells.missing += count;
        }
    }
}

/// Cells of all that are in `fitting`.
fn share(known: &[(&str, u64)], fits: impl Fn(&str) -> bool) -> f64 {
    let all: u64 = known.iter().map(|(_, count)| count).sum();
    let fitting = known.iter().filter(|(text, _)| fits(text));
    fitting.map(|(_, count)| count).sum::<u64>() as f64 / all.max(1) as f64
}

/// Whether the cells are days; the form is noted.
fn take_days(cells: &mut Cells, known: &[(&str, u64)]) -> bool {
    let has_form = |text: &str| text.len() >= 6 && text.bytes().any(|byte| byte.is_ascii_digit());
    if share(known, has_form) < SHARE {
        return false;
    }
    let step = known.len().div_ceil(DAYS_LOOKED_AT).max(1);
    let looked_at: Vec<(&str, u64)> = known.iter().copied().step_by(step).collect();
    let mut fitting: Vec<(DateFormat, DatePattern, f64)> = Vec::new();
    for time in TIMES {
        for day in DAYS {
            let form = DateFormat::new(format!("{day}{time}"));
            let Some(pattern) = form.pattern(Some(TWO_DIGIT_YEARS_FROM)) else {
                continue;
            };
            let first = looked_at.first().map(|(text, _)| *text).unwrap_or_default();
            let last = looked_at.last().map(|(text, _)| *text).unwrap_or_default();
            // Most forms fit nothing at all.
            let middle = looked_at[looked_at.len() / 2].0;
            if [first, middle, last]
                .iter()
                .all(|text| pattern.day_of(text).is_none())
            {
                continue;
            }
            let is_plain = day == "YYYYMMDD";
            let fits = |text: &str| {
                let day = pattern.day_of(text);
                // Eight digits are a day only if they are a likely one.
                day.is_some_and(|day| !is_plain || (-36_524..=47_847).contains(&day))
            };
            let fitting_share = share(&looked_at, fits);
            if fitting_share >= if is_plain { 1.0 } else { SHARE } {
                fitting.push((form, pattern, fitting_share));
            }
        }
    }
    // The strictest of those that fit best: `DD` before `D`.
    let best = fitting
        .iter()
        .map(|(_, _, share)| *share)
        .fold(0.0, f64::max);
    fitting.retain(|(_, _, share)| *share >= best);
    let Some((form, pattern, _)) = fitting.first().cloned() else {
        return false;
    };
    let swapped = other_order(&form);
    let is_ambiguous = swapped.is_some_and(|other| fitting.iter().any(|(one, _, _)| *one == other));
    let others = count(known, |text| pattern.day_of(text).is_none());
    if others > 0 {
        cells.questions.push(format!(
            "{others} cells are no such days: mend them, or name them in missing_values"
        ));
    }
    cells.kind = Some(AttributeType::Date);
    cells.is_ambiguous_day = is_ambiguous;
    let text = form.to_string();
    cells.reasons.push(format!("days as {text}"));
    if text != "YYYY-MM-DD" {
        if text.contains("YY") && !text.contains("YYYY") {
            cells.format.two_digit_years_from = Some(TWO_DIGIT_YEARS_FROM);
            cells.questions.push(format!(
                "two digits for the year: read as {TWO_DIGIT_YEARS_FROM} to {}",
                TWO_DIGIT_YEARS_FROM + 99
            ));
        }
        cells.format.dates = vec![form];
    }
    cells.reading = cells.format.clone();
    if text.contains('h') {
        cells
            .reasons
            .push("the time behind the day is left out".into());
    }
    true
}

/// The same form with day and month the other way round.
pub(super) fn other_order(form: &DateFormat) -> Option<DateFormat> {
    let text = form.to_string();
    let swapped = match text.get(..5)? {
        "DD/MM" => text.replacen("DD/MM", "MM/DD", 1),
        "MM/DD" => text.replacen("MM/DD", "DD/MM", 1),
        "DD-MM" if !text.starts_with("DD-MMM") => text.replacen("DD-MM", "MM-DD", 1),
        "MM-DD" => text.replacen("MM-DD", "DD-MM", 1),
        _ if text.starts_with("D/M") => text.replacen("D/M", "M/D", 1),
        _ if text.starts_with("M/D") => text.replacen("M/D", "D/M", 1),
        _ => return None,
    };
    Some(DateFormat::new(swapped))
}

/// How numbers may be written, the likeliest first: sign of the fraction, sign
/// between thousands.
const SIGNS: [Signs; 7] = [
    (DecimalSign::Point, None),
    (DecimalSign::Point, Some(Thousands::Comma)),
    (DecimalSign::Comma, None),
    (DecimalSign::Comma, Some(Thousands::Point)),
    (DecimalSign::Comma, Some(Thousands::Space)),
    (DecimalSign::Point, Some(Thousands::Space)),
    (DecimalSign::Point, Some(Thousands::Apostrophe)),
];

type Signs = (DecimalSign, Option<Thousands>);

fn number_format((decimal, thousands): Signs) -> CellFormat {
    CellFormat {
        decimal: Some(decimal),
        thousands,
        open_ended: true,
        ..CellFormat::default()
    }
}

/// The sign of the fraction that the numbers of a column show beyond doubt.
pub(super) fn shown_sign(column: &Column) -> Option<DecimalSign> {
    if !column.given.is_written() {
        return None;
    }
    let known: Vec<(&str, u64)> = column
        .texts()
        .filter(|(text, _)| !is_missing_word(text, &MISSING_WORDS))
        .collect();
    let has_sign = |text: &str| text.contains([',', '.']);
    if known.is_empty() || !known.iter().any(|(text, _)| has_sign(text)) {
        return None;
    }
    let fits = |sign: DecimalSign| {
        let signs = SIGNS.iter().filter(|(decimal, _)| *decimal == sign);
        let mut formats = signs.map(|&signs| number_format(signs));
        formats.any(|format| share(&known, |text| format.number_of(text).is_some()) >= SHARE)
    };
    match (fits(DecimalSign::Point), fits(DecimalSign::Comma)) {
        (true, false) => Some(DecimalSign::Point),
        (false, true) => Some(DecimalSign::Comma),
        _ => None,
    }
}

/// The signs by which most cells are numbers, if nearly all of them are; those
/// of `prior` first, and the first that fit best.
fn best_format(known: &[(&str, u64)], prior: Option<DecimalSign>) -> Option<CellFormat> {
    let mut signs = SIGNS;
    if let Some(prior) = prior {
        signs.sort_by_key(|(decimal, _)| *decimal != prior);
    }
    // A point and a comma part thousands too.
    let has_signs = Thousands::ALL
        .into_iter()
        .any(|sign| has_thousands(known, sign));
    let mut best: Option<(f64, CellFormat)> = None;
    for signs in signs {
        let format = number_format(signs);
        let fits = share(known, |text| format.number_of(text).is_some());
        if best.as_ref().is_none_or(|(of_best, _)| fits > *of_best) {
            best = Some((fits, format));
        }
        // Nothing fits better, or no sign makes a difference.
        if fits >= 1.0 || !has_signs {
            break;
        }
    }
    best.filter(|(fits, _)| *fits >= SHARE)
        .map(|(_, format)| format)
}

fn question_of_thousands(format: &CellFormat) -> String {
    let read = match format.thousands {
        None => "a small number with a fraction",
        Some(_) => "a thousand and more",
    };
    format!(
        "every number can be a thousand and more, or a small one with a fraction; read as {read}, and \
         no other column shows which it is: see decimal and thousands of the format"
    )
}

/// Whether all numbers can be read with the other sign of fractions too.
fn can_be_thousand_times(known: &[(&str, u64)], format: &CellFormat) -> bool {
    if !known.iter().any(|(text, _)| text.contains([',', '.'])) {
        return false;
    }
    let others = SIGNS
        .iter()
        .filter(|(decimal, _)| Some(*decimal) != format.decimal);
    let mut others = others.map(|&signs| number_format(signs));
    others.any(|other| {
        known
            .iter()
            .all(|(text, _)| other.number_of(text).is_some())
    })
}

/// Whether a cell holds a sign that may part groups of three digits.
fn has_thousands(known: &[(&str, u64)], sign: Thousands) -> bool {
    let signs = sign.signs();
    let has_sign = |text: &str| signs.iter().any(|sign| text.contains(sign));
    known.iter().any(|(text, _)| has_sign(text))
}

/// Whether a number begins with a zero and another digit, as codes do.
fn has_leading_zero(text: &str) -> bool {
    let digits = text.trim_start_matches(['-', '+']).as_bytes();
    matches!(digits, [b'0', second, ..] if second.is_ascii_digit())
}

/// Cells for which something holds.
pub(super) fn count(known: &[(&str, u64)], holds: impl Fn(&str) -> bool) -> u64 {
    let cells = known.iter().filter(|(text, _)| holds(text));
    cells.map(|(_, count)| count).sum()
}

/// The least and the greatest.
pub(super) fn range_of(numbers: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    numbers.fold(None, |range, number| match range {
        None => Some((number, number)),
        Some((least, most)) => Some((f64::min(least, number), f64::max(most, number))),
    })
}

/// Whether the cells are numbers; their signs are noted. Where two ways of
/// reading fit, `prior` is what other columns show.
fn take_numbers(cells: &mut Cells, known: &[(&str, u64)], (prior, is_shown): Prior) -> bool {
    let Some(mut format) = best_format(known, prior) else {
        return false;
    };
    if !is_shown && can_be_thousand_times(known, &format) {
        cells.questions.push(question_of_thousands(&format));
    }
    cells.has_leading_zeros = known.iter().any(|(text, _)| has_leading_zero(text));
    let fraction = match format.decimal {
        Some(DecimalSign::Comma) => ',',
        _ => '.',
    };
    let is_whole = count(known, |text| text.contains([fraction, 'e', 'E'])) == 0;
    let open = count(known, |text| {
        text.ends_with('+') || text.starts_with(['<', '>', '≤', '≥'])
    });
    let others = count(known, |text| format.number_of(text).is_none());
    let numbers = known.iter().filter_map(|(text, _)| format.number_of(text));
    cells.range = range_of(numbers);
    let are_codes = cells.has_leading_zeros && open == 0;
    if is_whole || are_codes {
        cells.identifier = identifying_form(known.iter().map(|(text, _)| *text));
    }
    if is_whole {
        // A column without a fraction shows no sign of it.
        format.decimal = format.thousands.and(format.decimal);
    }
    if are_codes {
        cells.kind = Some(AttributeType::Categorical);
        let why = "digits with leading zeros: codes, which a number would lose";
        cells.reasons.push(why.into());
        return true;
    }
    let is_wide = cells
        .range
        .is_some_and(|(least, most)| least.min(-most) < -WHOLE_MAX);
    if is_whole && is_wide {
        cells.kind = Some(AttributeType::Categorical);
        let why = "whole numbers of more than 64 bits: texts";
        cells.reasons.push(why.into());
        return true;
    }
    cells.kind = Some(if is_whole {
        AttributeType::Integer
    } else {
        AttributeType::Decimal
    });
    if open > 0 {
        let why = format!("open-ended numbers in {open} cells stand for their bounds");
        cells.reasons.push(why);
    }
    format.open_ended = open > 0;
    if others > 0 {
        cells.questions.push(format!(
            "{others} cells are no numbers: mend them, or name them in missing_values"
        ));
    }
    if format.decimal == Some(DecimalSign::Comma) && !is_whole {
        cells.reasons.push("decimal commas".into());
    }
    if format
        .thousands
        .is_some_and(|sign| has_thousands(known, sign))
    {
        cells
            .reasons
            .push("signs between groups of three digits".into());
    }
    cells.reading = format.clone();
    cells.format = format;
    true
}
