//! Values that name a person whatever their attribute is called: addresses,
//! telephone and account numbers, national ids, and text that nearly every
//! record has for itself.
//!
//! A form without a check digit is recognized by its marks (`@`, `+`, hyphens)
//! and has to fit most values. Plain digits are recognized by their check
//! digits alone: chance fulfils one in ten or one in eleven of them, so that
//! nearly all of many values have to fit.
//!
//! The forms: RFC 5321 (mail), ITU-T E.164 (telephone), ISO 13616 (IBAN),
//! ISO/IEC 7812 (payment cards), and the published rules of the national ids.

use super::attribute::{AttributeType, Role};
use super::codes::Codes;
use super::domain::Domain;
use super::index::{AttributeIndex, Code};
use super::table::Table;
use super::value_text::MISSING_LABEL;

/// Distinct values of an attribute that are looked at, evenly spaced.
const LOOKED_AT_MAX: usize = 4_096;
/// Distinct values that a form recognized by its marks has to fit.
const MARKED_LEAST: usize = 10;
/// Distinct values that a form recognized by its check digit has to fit.
const CHECKED_LEAST: usize = 30;
/// Distinct texts from which on "nearly every record has its own" is said.
const OWN_TEXT_LEAST: usize = 100;

/// What values look like that name a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DirectIdentifier {
    /// Addresses of electronic mail.
    Mail,
    /// Telephone numbers.
    Telephone,
    /// International bank account numbers.
    Iban,
    /// National ids.
    NationalId,
    /// Numbers of payment cards.
    PaymentCard,
    /// Text of which nearly every record has its own.
    OwnText,
}

impl DirectIdentifier {
    /// What the values look like, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Mail => "addresses of electronic mail",
            Self::Telephone => "telephone numbers",
            Self::Iban => "bank account numbers (IBAN)",
            Self::NationalId => "national ids with their check digits",
            Self::PaymentCard => "numbers of payment cards",
            Self::OwnText => "text of which nearly every record has its own",
        }
    }
}

/// What the values of an attribute look like, if they name people; always
/// `None` for an attribute that is an identifier.
pub fn direct_identifier(table: &Table, attribute: AttributeIndex) -> Option<DirectIdentifier> {
    let described = table.schema().attribute(attribute);
    if described.role == Role::Identifier {
        return None;
    }
    let coded = table.coded(attribute)?;
    let values = occurring(&coded.domain, &coded.codes);
    let form = of_values(&coded.domain, &values);
    let is_text = described.kind == Some(AttributeType::Categorical);
    form.or_else(|| {
        let is_own = is_text
            && coded.domain.hierarchy().is_none()
            && values.len() >= OWN_TEXT_LEAST
            && values.len() * 10 >= table.records() * 9;
        is_own.then_some(DirectIdentifier::OwnText)
    })
}

/// The codes that occur, ascending, the missing value left out.
fn occurring(domain: &Domain, codes: &Codes) -> Vec<Code> {
    let mut occurs = vec![false; domain.len()];
    for row in 0..codes.len() {
        occurs[codes.at(row) as usize] = true;
    }
    let missing = domain.code_of_label(MISSING_LABEL);
    let all = (0..domain.len()).map(Code::from_usize);
    all.filter(|&code| occurs[code.at()] && Some(code) != missing)
        .collect()
}

fn of_values(domain: &Domain, values: &[Code]) -> Option<DirectIdentifier> {
    let step = values.len().div_ceil(LOOKED_AT_MAX).max(1);
    let looked_at = values.iter().step_by(step);
    let looked_at: Vec<String> = looked_at
        .map(|&code| domain.text(code).trim().to_owned())
        .collect();
    identifying_form(looked_at.iter().map(String::as_str))
}

/// What distinct trimmed texts look like, if their form shows that they name
/// people.
pub fn identifying_form<'t>(
    texts: impl Iterator<Item = &'t str> + Clone,
) -> Option<DirectIdentifier> {
    let all = texts.clone().count();
    let fit = |form: &Form| {
        let fitting = texts.clone().filter(|text| (form.fits)(text)).count();
        if form.is_marked {
            fitting >= MARKED_LEAST && fitting * 2 > all
        } else {
            fitting >= CHECKED_LEAST && fitting * 100 >= all * 95
        }
    };
    FORMS.iter().find(|form| fit(form)).map(|form| form.is)
}

struct Form {
    is: DirectIdentifier,
    /// Recognized by its marks, not by a check digit alone.
    is_marked: bool,
    fits: fn(&str) -> bool,
}

const fn marked(is: DirectIdentifier, fits: fn(&str) -> bool) -> Form {
    Form {
        is,
        is_marked: true,
        fits,
    }
}

const fn checked(is: DirectIdentifier, fits: fn(&str) -> bool) -> Form {
    Form {
        is,
        is_marked: false,
        fits,
    }
}

const FORMS: [Form; 20] = [
    marked(DirectIdentifier::Mail, is_mail),
    marked(DirectIdentifier::Iban, is_iban),
    marked(DirectIdentifier::NationalId, is_dni),
    marked(DirectIdentifier::NationalId, is_codice_fiscale),
    marked(DirectIdentifier::NationalId, is_ssn),
    marked(DirectIdentifier::NationalId, is_hetu),
    marked(DirectIdentifier::Telephone, is_telephone),
    checked(DirectIdentifier::NationalId, is_nhs),
    checked(DirectIdentifier::NationalId, is_tax_id),
    checked(DirectIdentifier::NationalId, is_nir),
    checked(DirectIdentifier::NationalId, is_nuss),
    checked(DirectIdentifier::NationalId, is_bsn),
    checked(DirectIdentifier::NationalId, is_personnummer),
    checked(DirectIdentifier::NationalId, is_pesel),
    checked(DirectIdentifier::NationalId, is_rijksregister),
    checked(DirectIdentifier::NationalId, is_fodselsnummer),
    checked(DirectIdentifier::NationalId, is_ahv),
    checked(DirectIdentifier::NationalId, is_cpf),
    checked(DirectIdentifier::NationalId, is_resident_id),
    checked(DirectIdentifier::PaymentCard, is_payment_card),
];

/// The digits of a text that has nothing else but marks that group them.
fn digits(text: &str) -> Option<Vec<u32>> {
    let kept = text.chars().filter(|one| !matches!(one, ' ' | '-' | '.'));
    kept.map(|one| one.to_digit(10)).collect()
}

/// The digits, where there are as many as wanted.
fn exactly(text: &str, wanted: usize) -> Option<Vec<u32>> {
    digits(text).filter(|digits| digits.len() == wanted)
}

fn number(digits: &[u32]) -> u64 {
    let digits = digits.iter();
    digits.fold(0, |number, &digit| number * 10 + u64::from(digit))
}

fn weighted(digits: &[u32], weights: &[u32]) -> u32 {
    let pairs = digits.iter().zip(weights);
    pairs.map(|(digit, weight)| digit * weight).sum()
}

fn luhn(digits: &[u32]) -> bool {
    let from_the_end = digits.iter().rev().enumerate();
    let sum: u32 = from_the_end
        .map(|(at, &digit)| match (at % 2, digit * 2) {
            (0, _) => digit,
            (_, double) => double / 10 + double % 10,
        })
        .sum();
    sum.is_multiple_of(10)
}

fn is_mail(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else {
        return false;
    };
    let plain = |part: &str| !part.is_empty() && !part.contains([' ', '@']);
    let dotted = domain.rsplit_once('.');
    plain(local)
        && plain(domain)
        && dotted.is_some_and(|(name, top)| !name.is_empty() && top.len() > 1)
}

/// With a `+`, or with a leading 0, or in the form (ddd) ddd-dddd, in groups.
fn is_telephone(text: &str) -> bool {
    let digits: Vec<char> = text.chars().filter(char::is_ascii_digit).collect();
    let marks =
        |one: char| one.is_ascii_digit() || matches!(one, '+' | ' ' | '-' | '/' | '(' | ')' | '.');
    if !(7..=15).contains(&digits.len()) || !text.chars().all(marks) || is_date(text) {
        return false;
    }
    let groups: Vec<usize> = text
        .split(|one: char| !one.is_ascii_digit())
        .map(str::len)
        .filter(|&length| length > 0)
        .collect();
    let is_grouped = groups.len() > 1;
    text.starts_with('+')
        || (is_grouped && (text.starts_with("(0") || text.starts_with('0')))
        || groups == [3, 3, 4]
}

/// Three groups of digits that are day, month and year in some order.
fn is_date(text: &str) -> bool {
    let parts: Vec<usize> = text.split(['-', '/', '.']).map(str::len).collect();
    matches!(parts[..], [4, 1 | 2, 1 | 2] | [1 | 2, 1 | 2, 2 | 4])
}

fn is_iban(text: &str) -> bool {
    let text: Vec<char> = text.chars().filter(|&one| one != ' ').collect();
    let has_form = (15..=34).contains(&text.len())
        && text[..2].iter().all(char::is_ascii_uppercase)
        && text[2..4].iter().all(char::is_ascii_digit);
    if !has_form {
        return false;
    }
    let moved = text[4..].iter().chain(&text[..4]);
    let rest = moved
        .map(|one| one.to_digit(36))
        .try_fold(0, |rest, value| {
            let value = value?;
            Some((rest * if value > 9 { 100 } else { 10 } + value) % 97)
        });
    rest == Some(1)
}

/// Spain: eight digits, for foreigners with X, Y or Z first, and a letter.
fn is_dni(text: &str) -> bool {
    let Some((last, letter)) = text.char_indices().next_back() else {
        return false;
    };
    let mut number = text[..last].trim_end_matches('-').to_owned();
    for (first, digit) in [('X', "0"), ('Y', "1"), ('Z', "2")] {
        if let Some(rest) = number.strip_prefix(first) {
            number = format!("{digit}{rest}");
        }
    }
    let is_number = number.len() == 8 && number.bytes().all(|one| one.is_ascii_digit());
    let rest = number.parse::<usize>().map(|number| number % 23);
    is_number && rest.is_ok_and(|rest| "TRWAGMYFPDXBNJZSQVHLCKE".chars().nth(rest) == Some(letter))
}

/// Italy: sixteen letters and digits, the last a letter of check.
fn is_codice_fiscale(text: &str) -> bool {
    /// What a letter or digit counts at an odd place.
    const ODD: [u32; 26] = [
        1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24,
        23,
    ];
    let text = text.to_ascii_uppercase();
    let values: Option<Vec<u32>> = text.chars().map(|one| one.to_digit(36)).collect();
    let Some(values) = values.filter(|values| values.len() == 16 && text.is_ascii()) else {
        return false;
    };
    // A digit counts as the letter at its place in the alphabet.
    let place = |value: u32| if value > 9 { value - 10 } else { value };
    let sum: u32 = values[..15]
        .iter()
        .enumerate()
        .map(|(at, &value)| match at % 2 {
            0 => ODD[place(value) as usize],
            _ => place(value),
        })
        .sum();
    values[..6].iter().all(|&value| value > 9) && values[15] == sum % 26 + 10
}

/// United States: ddd-dd-dddd.
fn is_ssn(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let are_digits = parts
        .iter()
        .all(|part| part.bytes().all(|one| one.is_ascii_digit()));
    lengths == [3, 2, 4]
        && are_digits
        && !matches!(parts[0], "000" | "666")
        && !parts[0].starts_with('9')
}

/// Finland: ddmmyy, a mark of the century, three digits, a sign of check.
fn is_hetu(text: &str) -> bool {
    let signs: Vec<char> = text.chars().collect();
    if signs.len() != 11
        || !text.is_ascii()
        || !matches!(signs[6], '-' | '+' | 'A'..='F' | 'U'..='Y')
    {
        return false;
    }
    let number: String = signs[..6].iter().chain(&signs[7..10]).collect();
    let rest = number.parse::<usize>().map(|number| number % 31);
    rest.is_ok_and(|rest| "0123456789ABCDEFHJKLMNPRSTUVWXY".chars().nth(rest) == Some(signs[10]))
}

/// United Kingdom: the NHS number, ten digits modulo 11.
fn is_nhs(text: &str) -> bool {
    exactly(text, 10).is_some_and(|digits| {
        let sum = weighted(&digits[..9], &[10, 9, 8, 7, 6, 5, 4, 3, 2]);
        (11 - sum % 11) % 11 == digits[9]
    })
}

/// Germany: the tax id, eleven digits, ISO/IEC 7064 MOD 11,10.
fn is_tax_id(text: &str) -> bool {
    exactly(text, 11).is_some_and(|digits| {
        let product = digits[..10].iter().fold(10, |product, digit| {
            let sum = (digit + product) % 10;
            (if sum == 0 { 10 } else { sum }) * 2 % 11
        });
        digits[0] != 0 && (11 - product) % 10 == digits[10]
    })
}

/// France: the number of the register, thirteen digits and a key of two.
fn is_nir(text: &str) -> bool {
    let text = text.replace("2A", "19").replace("2B", "18");
    exactly(&text, 15).is_some_and(|digits| {
        matches!(digits[0], 1..=4 | 7 | 8)
            && 97 - number(&digits[..13]) % 97 == number(&digits[13..])
    })
}

/// Spain: the number of social security, ten digits and two of check.
fn is_nuss(text: &str) -> bool {
    let text = text.replace('/', "");
    exactly(&text, 12).is_some_and(|digits| number(&digits[..10]) % 97 == number(&digits[10..]))
}

/// The Netherlands: nine digits by the test of eleven.
fn is_bsn(text: &str) -> bool {
    exactly(text, 9).is_some_and(|digits| {
        let sum = weighted(&digits[..8], &[9, 8, 7, 6, 5, 4, 3, 2]);
        number(&digits) > 0 && sum % 11 == digits[8]
    })
}

/// Sweden: a birthday, three digits and one of check.
fn is_personnummer(text: &str) -> bool {
    let digits = digits(&text.replace('+', "-"));
    digits.is_some_and(|digits| match digits.len() {
        10 | 12 => {
            let last = &digits[digits.len() - 10..];
            let (month, day) = (number(&last[2..4]), number(&last[4..6]) % 60);
            (1..=12).contains(&month) && (1..=31).contains(&day) && luhn(last)
        }
        _ => false,
    })
}

/// Poland: eleven digits, modulo 10.
fn is_pesel(text: &str) -> bool {
    exactly(text, 11).is_some_and(|digits| {
        let sum = weighted(&digits[..10], &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3]);
        (10 - sum % 10) % 10 == digits[10]
    })
}

/// Belgium: eleven digits, modulo 97; with a 2 before those born since 2000.
fn is_rijksregister(text: &str) -> bool {
    exactly(text, 11).is_some_and(|digits| {
        let (serial, check) = (number(&digits[..9]), number(&digits[9..]));
        97 - serial % 97 == check || 97 - (2_000_000_000 + serial) % 97 == check
    })
}

/// Norway: eleven digits, two of them of check.
fn is_fodselsnummer(text: &str) -> bool {
    exactly(text, 11).is_some_and(|digits| {
        let first = weighted(&digits[..9], &[3, 7, 6, 1, 8, 9, 4, 5, 2]);
        let second = weighted(&digits[..10], &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2]);
        (11 - first % 11) % 11 == digits[9] && (11 - second % 11) % 11 == digits[10]
    })
}

/// Switzerland: 756 and ten digits, the last of check as in EAN-13.
fn is_ahv(text: &str) -> bool {
    exactly(text, 13).is_some_and(|digits| {
        let sum = weighted(&digits[..12], &[1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3]);
        digits[..3] == [7, 5, 6] && (10 - sum % 10) % 10 == digits[12]
    })
}

/// Brazil: eleven digits, two of them of check.
fn is_cpf(text: &str) -> bool {
    exactly(text, 11).is_some_and(|digits| {
        let check = |sum: u32| if sum % 11 < 2 { 0 } else { 11 - sum % 11 };
        let first = weighted(&digits[..9], &[10, 9, 8, 7, 6, 5, 4, 3, 2]);
        let second = weighted(&digits[..10], &[11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
        check(first) == digits[9] && check(second) == digits[10]
    })
}

/// China: seventeen digits and a sign of check, ISO/IEC 7064 MOD 11-2.
fn is_resident_id(text: &str) -> bool {
    let Some((body, check)) = text.split_at_checked(17) else {
        return false;
    };
    exactly(body, 17).is_some_and(|digits| {
        let sum = weighted(
            &digits,
            &[7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2],
        );
        check.len() == 1 && "10X98765432".chars().nth(sum as usize % 11) == check.chars().next()
    })
}

fn is_payment_card(text: &str) -> bool {
    digits(text).is_some_and(|digits| {
        (13..=19).contains(&digits.len()) && matches!(digits[0], 2..=6) && luhn(&digits)
    })
}

#[cfg(test)]
mod tests;
