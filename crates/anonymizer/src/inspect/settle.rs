//! What columns share: one dialect, and words for missing values.

use std::collections::{BTreeMap, BTreeSet};

use super::columns::Column;
use super::dialect::Found;
use super::draft::Draft;
use super::forms::{Prior, SURE_WORDS, is_missing_word, other_order, shown_sign};
use crate::microdata::value_text::date_days;
use crate::microdata::{AttributeType, DateFormat, DecimalSign, FileFormat};

/// Days that programs write where none is known.
const NO_DAYS: [&str; 2] = ["9999-12-31", "1900-01-01"];
/// Share of a day that stands for none, at most.
const NO_DAY_SHARE: f64 = 0.3;

/// The sign of fractions that most columns show; where none does, the one that
/// goes with the delimiter.
pub(super) fn prior_sign(columns: &[Column], delimiter: u8) -> Prior {
    let shown: Vec<DecimalSign> = columns.iter().filter_map(shown_sign).collect();
    let commas = shown
        .iter()
        .filter(|sign| **sign == DecimalSign::Comma)
        .count();
    match (commas, shown.len() - commas) {
        (0, 0) => ((delimiter == b';').then_some(DecimalSign::Comma), false),
        (commas, points) if commas > points => (Some(DecimalSign::Comma), true),
        _ => (Some(DecimalSign::Point), true),
    }
}

/// The dialect that most columns share; what differs stays with the column.
pub(super) fn file_format(
    found: &Found,
    drafts: &mut [Draft<'_>],
    questions: &mut Vec<String>,
) -> FileFormat {
    let mut format = found.format.clone();
    let numbers = drafts
        .iter()
        .filter(|draft| draft.cells.kind == Some(AttributeType::Decimal));
    let signs: Vec<_> = numbers.map(|draft| draft.cells.format.decimal).collect();
    let commas = signs
        .iter()
        .filter(|sign| **sign == Some(DecimalSign::Comma))
        .count();
    if commas * 2 > signs.len() {
        format.decimal = Some(DecimalSign::Comma);
    }
    let of_file = format.decimal.unwrap_or_default();
    let with_signs = drafts
        .iter()
        .filter(|draft| draft.cells.format.decimal == Some(of_file));
    format.thousands = with_signs
        .filter_map(|draft| draft.cells.format.thousands)
        .next();
    settle_days(drafts, questions);
    let mut forms: BTreeMap<String, usize> = BTreeMap::new();
    for draft in drafts.iter() {
        for form in &draft.cells.format.dates {
            *forms.entry(form.to_string()).or_default() += 1;
        }
    }
    let usual = forms.iter().max_by_key(|(_, count)| **count);
    format.dates = usual
        .map(|(form, _)| DateFormat::new(form.as_str()))
        .into_iter()
        .collect();
    let has_iso = drafts.iter().any(|draft| {
        draft.cells.kind == Some(AttributeType::Date) && draft.cells.format.dates.is_empty()
    });
    if has_iso {
        // The canonical form is nobody's own to say.
        format.dates.clear();
    }
    for draft in drafts.iter_mut() {
        let own = &mut draft.cells.format;
        if !format.dates.is_empty() && own.dates == format.dates {
            own.dates.clear();
            if own.two_digit_years_from.is_some() {
                format.two_digit_years_from = own.two_digit_years_from.take();
            }
        }
        match own.decimal {
            Some(sign)
                if sign == of_file
                    && (own.thousands.is_none() || own.thousands == format.thousands) =>
            {
                own.decimal = None;
                own.thousands = None;
            }
            Some(_) => {}
            None => own.thousands = None,
        }
        questions.extend(
            std::mem::take(&mut draft.cells.questions)
                .into_iter()
                .map(|question| format!("{}: {question}", draft.name)),
        );
    }
    format
}

/// Days that can be read in two ways are read as the other columns are.
fn settle_days(drafts: &mut [Draft<'_>], questions: &mut Vec<String>) {
    let day_of = |form: &DateFormat| form.to_string().chars().take(2).collect::<String>();
    let mut sure: BTreeMap<String, usize> = BTreeMap::new();
    for draft in drafts.iter().filter(|draft| !draft.cells.is_ambiguous_day) {
        for form in &draft.cells.format.dates {
            *sure.entry(day_of(form)).or_default() += 1;
        }
    }
    let votes = |wanted: &DateFormat| sure.get(&day_of(wanted)).copied().unwrap_or_default();
    for draft in drafts
        .iter_mut()
        .filter(|draft| draft.cells.is_ambiguous_day)
    {
        let Some(form) = draft.cells.format.dates.first().cloned() else {
            continue;
        };
        let Some(other) = other_order(&form) else {
            continue;
        };
        let (taken, refused) = if votes(&other) > votes(&form) {
            (other, form)
        } else {
            (form, other)
        };
        let by = if votes(&taken) > votes(&refused) {
            "as other columns are written"
        } else {
            "nothing shows which it is"
        };
        questions.push(format!(
            "{}: every day can be {taken} or {refused}; read as {taken} ({by})",
            draft.name
        ));
        draft
            .reasons
            .retain(|reason| !reason.starts_with("days as "));
        draft.reasons.push(format!("days as {taken}"));
        draft.cells.format.dates = vec![taken];
        draft.cells.reading = draft.cells.format.clone();
    }
}

/// Words for missing values: those that stand between numbers and days hold for
/// every column.
pub(super) fn take_missing_words(drafts: &mut [Draft<'_>], questions: &mut Vec<String>) {
    let words: BTreeSet<String> = words_of(drafts);
    for draft in drafts.iter_mut() {
        let is_text = draft.cells.kind == Some(AttributeType::Categorical);
        for word in &words {
            let known = draft.cells.missing_words.contains(word);
            if let Some(count) = draft.column.count_of(word).filter(|_| is_text && !known) {
                draft.cells.missing_words.push(word.clone());
                draft.cells.missing += count;
                if word.eq_ignore_ascii_case("na") {
                    questions.push(format!(
                        "{}: {word} in {count} cells is read as a missing value, as in other \
                         columns; if it is a value, take it out of missing_values",
                        draft.name
                    ));
                }
            }
        }
        let own = draft.cells.missing_words.iter();
        let own: Vec<String> = own.filter(|word| !is_of_file(word)).cloned().collect();
        draft.missing_values.extend(own);
        if draft.cells.kind == Some(AttributeType::Date) {
            take_no_days(draft);
        }
    }
}

pub(super) fn words_of(drafts: &[Draft<'_>]) -> BTreeSet<String> {
    let words = drafts
        .iter()
        .flat_map(|draft| draft.cells.missing_words.iter());
    words.filter(|word| is_of_file(word)).cloned().collect()
}

/// Whether a word stands for a missing value in whatever column: `-` may be a
/// blood group, and `none` an answer.
fn is_of_file(word: &str) -> bool {
    is_missing_word(word, &SURE_WORDS) || word.eq_ignore_ascii_case("na")
}

/// Days that stand for none, where a few have them.
fn take_no_days(draft: &mut Draft<'_>) {
    let Some(pattern) = draft.cells.pattern() else {
        return;
    };
    let all: u64 = draft.column.values.iter().map(|(_, count)| count).sum();
    for word in NO_DAYS {
        let day = date_days(word);
        let same = draft.column.values.iter();
        let count: u64 = same
            .filter(|(text, _)| day.is_some() && pattern.day_of(text) == day)
            .map(|(_, count)| count)
            .sum();
        if count > 0 && (count as f64) < NO_DAY_SHARE * all as f64 {
            draft.missing_values.push(word.into());
            draft.cells.missing += count;
            draft
                .reasons
                .push(format!("{word} in {count} cells stands for no day"));
        }
    }
}
