//! What a column is to an adversary, and why.

use super::columns::Column;
use super::forms::Cells;
use super::names::{Meaning, says_number};
use crate::microdata::hierarchy::rule::is_icd10;
use crate::microdata::{AttributeType, Role};

/// Distinct numbers up to which they may be codes of a category.
const CODES_MAX: u64 = 30;
/// Share of records with a text or a whole number of their own from which on it
/// names them.
const OWN_VALUE_SHARE: f64 = 0.9;

/// What is known of a column when its role is proposed.
pub(super) struct Known<'c> {
    pub name: &'c str,
    pub column: &'c Column,
    pub cells: &'c Cells,
    pub meaning: Option<Meaning>,
    pub records: u64,
    /// Whether it is the subject key.
    pub is_key: bool,
}

/// The role of a column and the reasons, a sentence each.
pub(super) fn role_of(known: &Known<'_>) -> (Role, Vec<String>) {
    let Known {
        name,
        column,
        cells,
        meaning,
        records,
        is_key,
    } = *known;
    let says = |role: Role, why: &str| (role, vec![why.to_owned()]);
    let (distinct, _) = column.distinct();
    let filled = records
        .saturating_sub(cells.missing)
        .saturating_sub(column.broken);
    if is_key {
        return says(Role::Identifier, "it names the person");
    }
    if filled == 0 {
        return says(Role::Ignore, "no record has a value");
    }
    if let Some(form) = cells.identifier {
        let why = format!("the values look like {}", form.words());
        return says(Role::Identifier, &why);
    }
    if cells.is_free_text || meaning == Some(Meaning::Text) {
        return says(
            Role::Identifier,
            "free text, which may name anybody; ignore it if it is not needed",
        );
    }
    if distinct <= 1 && cells.missing == 0 {
        return says(Role::Ignore, "every record has the same value");
    }
    let own = distinct as f64 / filled.max(1) as f64;
    let is_text = cells.kind == Some(AttributeType::Categorical);
    let can_name = is_text || cells.kind == Some(AttributeType::Integer);
    let is_many = distinct > CODES_MAX && (own > 0.2 || !is_code(meaning));
    if can_name && says_number(name) && is_many {
        return says(
            Role::Identifier,
            "its name says numbers of something, and there are many",
        );
    }
    if let Some(found) = by_meaning(meaning, cells, own) {
        return found;
    }
    if can_name && own >= OWN_VALUE_SHARE && distinct > 20 {
        return says(
            Role::Identifier,
            "nearly every record has its own value: it names the record",
        );
    }
    let values = column.values.iter();
    let looks_like_icd = values.filter(|(text, _)| is_icd10(text)).count();
    if is_text && looks_like_icd > 4 && looks_like_icd * 10 >= column.values.len() * 9 {
        return says(Role::Sensitive, "the values look like codes of ICD-10");
    }
    if cells.kind == Some(AttributeType::Decimal) {
        return says(
            Role::Sensitive,
            "a measured number: others hardly know it, and it may hurt",
        );
    }
    says(
        Role::QuasiIdentifier,
        "nothing speaks against that others know it: in doubt a quasi-identifier",
    )
}

/// Whether a column holds codes or amounts, of which there are many and which are
/// nobody's; numbers of visits are not.
fn is_code(meaning: Option<Meaning>) -> bool {
    matches!(
        meaning,
        Some(
            Meaning::Diagnosis
                | Meaning::Procedure
                | Meaning::Medication
                | Meaning::Money
                | Meaning::Finding
                | Meaning::PostalCode
        )
    )
}

fn by_meaning(meaning: Option<Meaning>, cells: &Cells, own: f64) -> Option<(Role, Vec<String>)> {
    let meaning = meaning?;
    let role = match meaning {
        Meaning::PersonNumber
        | Meaning::OtherNumber
        | Meaning::Name
        | Meaning::Address
        | Meaning::Contact => Role::Identifier,
        // A few numbers are codes of something else.
        Meaning::CaseNumber if own > 0.2 => Role::Identifier,
        Meaning::CaseNumber | Meaning::Text => return None,
        Meaning::BirthDate
        | Meaning::Age
        | Meaning::Day
        | Meaning::Sex
        | Meaning::PostalCode
        | Meaning::Place
        | Meaning::Social
        | Meaning::Care
        | Meaning::Duration => Role::QuasiIdentifier,
        Meaning::Diagnosis
        | Meaning::Procedure
        | Meaning::Medication
        | Meaning::Finding
        | Meaning::Money => Role::Sensitive,
    };
    let mut reasons = vec![format!("its name says {}", meaning.words())];
    if role == Role::QuasiIdentifier && own > 0.5 && cells.kind != Some(AttributeType::Integer) {
        reasons.push("most records have their own value: it tells much".into());
    }
    Some((role, reasons))
}

/// Whether numbers are codes of a category, and why.
pub(super) fn are_codes(
    column: &Column,
    cells: &Cells,
    meaning: Option<Meaning>,
) -> Option<String> {
    let (distinct, _) = column.distinct();
    let is_counted = matches!(
        meaning,
        Some(Meaning::Age | Meaning::Duration | Meaning::Money | Meaning::Finding)
    );
    match meaning {
        Some(
            Meaning::Sex
            | Meaning::PostalCode
            | Meaning::Place
            | Meaning::Social
            | Meaning::Care
            | Meaning::Diagnosis
            | Meaning::Procedure
            | Meaning::Medication,
        ) => {
            Some("numbers that are codes, by its name: as numbers they would become ranges".into())
        }
        _ if is_counted || cells.format.open_ended => None,
        _ if cells.kind != Some(AttributeType::Integer) => None,
        _ if distinct <= 2 => Some("two numbers: codes of a category".into()),
        _ => {
            let (least, most) = cells.range?;
            let is_dense = most - least < 3.0 * distinct as f64;
            let small = (0.0..=99.0).contains(&least) && most <= 99.0;
            (meaning.is_none() && distinct <= CODES_MAX.min(12) && is_dense && small).then(|| {
                "few small numbers: probably codes of a category; if they count something, \
                 declare it an integer"
                    .into()
            })
        }
    }
}
