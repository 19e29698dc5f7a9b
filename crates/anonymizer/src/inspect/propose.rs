//! From counted columns to a proposed schema.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::columns::{Column, Columns};
use super::dialect::Found;
use super::forms::{Cells, TWO_DIGIT_YEARS_FROM, cells_of, other_order, shown_sign};
use super::measured::{risk_of, small_sets};
use super::names::{Meaning, meaning_of};
use super::roles::{Known, are_codes, role_of};
use super::rules::rules_for;
use super::{AttributeProposal, InspectError, Inspection, SensitiveCount};
use crate::microdata::attribute::NAME_CHARACTERS_MAX;
use crate::microdata::{AttributeType, DateFormat, DecimalSign, FileFormat, Role, Schema};

/// Sensitive attributes that are proposed: each asks for values of its own in
/// every group.
const SENSITIVE_MAX: usize = 3;
/// Rank of findings among sensitive attributes: the last.
const FINDING: u8 = 3;
/// Share of missing values from which on an attribute is no sensitive one: l of
/// 5 could not be kept.
const MISSING_SHARE_MAX: f64 = 1.0 / 6.0;
/// Days that programs write where none is known.
const NO_DAYS: [&str; 2] = ["9999-12-31", "1900-01-01"];
/// Share of a day that stands for none, at most.
const NO_DAY_SHARE: f64 = 0.3;

/// One column on its way to a proposal.
struct Draft<'c> {
    name: &'c str,
    column: &'c Column,
    cells: Cells,
    meaning: Option<Meaning>,
    role: Role,
    reasons: Vec<String>,
    /// Words for a missing value that only this column has.
    missing_values: Vec<String>,
    hierarchy: bool,
}

/// Proposes a schema for the columns.
pub(super) fn propose(
    (name, is_cut): (&str, bool),
    found: Found,
    columns: Columns,
) -> Result<Inspection, InspectError> {
    check_header(&found.header)?;
    if columns.records == 0 {
        return Err(InspectError::NoTable(
            "the file has a header and no record behind it".into(),
        ));
    }
    let mut questions = questions_of_lines(&columns, &found);
    let prior = prior_sign(&columns.columns);
    let mut drafts: Vec<Draft<'_>> = Vec::new();
    let mut has_nameless = false;
    for (name, column) in found.header.iter().zip(&columns.columns) {
        let is_name = !name.is_empty() && name.chars().count() <= NAME_CHARACTERS_MAX;
        if is_name {
            drafts.push(Draft::new(name, column, prior));
        } else {
            has_nameless = true;
        }
    }
    if has_nameless {
        questions.push(format!(
            "columns without a name, or with one of more than {NAME_CHARACTERS_MAX} characters, \
             are read past"
        ));
    }
    let format = file_format(&found, &mut drafts, &mut questions);
    take_missing_words(&mut drafts);
    let key = key_of(&drafts, columns.records);
    for (at, draft) in drafts.iter_mut().enumerate() {
        draft.take_role(columns.records, Some(at) == key);
    }
    questions.extend(limit_roles(&mut drafts, columns.records));
    let multiplicity = key.map(|key| {
        if drafts[key].column.is_unique() {
            "one"
        } else {
            "many"
        }
    });
    match (key, multiplicity) {
        (None, _) => questions.push(
            "no column names the person: add one with a number of each person, the same in all of \
             their records"
                .into(),
        ),
        (Some(key), Some("many")) => {
            let (subjects, _) = drafts[key].column.distinct();
            questions.push(format!(
                "`{}` has {subjects} values in {} records: many records a person (1:M)",
                drafts[key].name, columns.records
            ));
        }
        _ => {}
    }
    let quasi: Vec<(String, &Column)> = drafts
        .iter()
        .filter(|draft| draft.role == Role::QuasiIdentifier)
        .map(|draft| (draft.name.to_owned(), draft.column))
        .collect();
    let sets = small_sets(&quasi);
    let (attributes, hierarchies) = attributes_of(&mut drafts);
    let frame = (name, has_nameless);
    let schema = key.map(|key| schema_of(frame, (&drafts, key, multiplicity), &format));
    let measured = columns
        .columns
        .first()
        .map_or(0, |column| column.hashes.len());
    Ok(Inspection {
        records: columns.records,
        is_cut,
        evidence: found.evidence,
        questions,
        attributes,
        sets,
        records_measured: measured as u64,
        schema: schema.transpose()?,
        hierarchies,
        sensitive: drafts.iter().filter_map(Draft::sensitive_count).collect(),
        format,
    })
}

fn check_header(header: &[String]) -> Result<(), InspectError> {
    let is_value = |name: &&String| {
        let is_number = name.replace(',', ".").parse::<f64>().is_ok();
        let day = |form: &str| DateFormat::new(form).day_of(name, Some(TWO_DIGIT_YEARS_FROM));
        is_number || day("DD.MM.YYYY").is_some() || day("YYYY-MM-DD").is_some()
    };
    if header.iter().filter(is_value).count() * 4 > header.len() {
        return Err(InspectError::NoTable(
            "the first line seems to be a record: put a line with the names of the columns above it"
                .into(),
        ));
    }
    let mut seen = BTreeSet::new();
    let twice = header
        .iter()
        .filter(|name| !name.is_empty())
        .find(|name| !seen.insert(*name));
    match twice {
        // A name of the header is no value of a person.
        Some(name) => Err(InspectError::NoTable(format!(
            "the header has the name `{name}` twice: give each column its own"
        ))),
        None => Ok(()),
    }
}

fn questions_of_lines(columns: &Columns, found: &Found) -> Vec<String> {
    let told = |lines: &[u64]| {
        let lines: Vec<String> = lines.iter().map(u64::to_string).collect();
        lines.join(", ")
    };
    let mut questions = Vec::new();
    let (first, count) = &columns.odd_lines;
    if *count > 0 {
        questions.push(format!(
            "{count} lines have other than {} cells, first in {}: an upload refuses them",
            found.header.len(),
            told(first)
        ));
    }
    let (first, count) = &columns.malformed;
    if *count > 0 {
        questions.push(format!(
            "{count} lines have a quote in the wrong place, first in {}",
            told(first)
        ));
    }
    if let Some(line) = columns.too_long {
        questions.push(format!(
            "line {line} is too long for a record: nothing behind it was read; is a quote open?"
        ));
    }
    let broken: u64 = columns.columns.iter().map(|column| column.broken).sum();
    if broken > 0 {
        questions.push(format!("{broken} cells are no text of the encoding"));
    }
    questions
}

/// The sign of fractions that some columns show and none contradicts.
fn prior_sign(columns: &[Column]) -> Option<DecimalSign> {
    let shown: Vec<DecimalSign> = columns.iter().filter_map(shown_sign).collect();
    let commas = shown
        .iter()
        .filter(|sign| **sign == DecimalSign::Comma)
        .count();
    match (commas, shown.len() - commas) {
        (0, 0) => None,
        (commas, points) if commas > points => Some(DecimalSign::Comma),
        _ => Some(DecimalSign::Point),
    }
}

impl<'c> Draft<'c> {
    fn new(name: &'c str, column: &'c Column, prior: Option<DecimalSign>) -> Self {
        let meaning = meaning_of(name);
        let mut cells = cells_of(column, prior);
        let mut reasons = std::mem::take(&mut cells.reasons);
        if cells.kind == Some(AttributeType::Integer)
            && let Some(why) = are_codes(column, &cells, meaning)
        {
            cells.kind = Some(AttributeType::Categorical);
            cells.format = Default::default();
            reasons.push(why);
        }
        Self {
            name,
            column,
            meaning,
            role: Role::QuasiIdentifier,
            reasons,
            missing_values: Vec::new(),
            hierarchy: false,
            cells,
        }
    }

    fn take_role(&mut self, records: u64, is_key: bool) {
        let (role, reasons) = role_of(&Known {
            column: self.column,
            cells: &self.cells,
            meaning: self.meaning,
            records,
            is_key,
        });
        self.role = role;
        self.reasons.extend(reasons);
    }

    fn is_published(&self) -> bool {
        !matches!(self.role, Role::Identifier | Role::Ignore)
    }

    fn known(&self, records: u64) -> u64 {
        records.saturating_sub(self.cells.missing)
    }

    fn sensitive_count(&self) -> Option<SensitiveCount> {
        (self.role == Role::Sensitive).then(|| {
            let known = self.column.values.iter();
            let known = known.filter(|(text, _)| !self.cells.missing_words.contains(text));
            SensitiveCount {
                attribute: self.name.to_owned(),
                most_frequent: known.map(|(_, count)| *count).max().unwrap_or_default(),
                missing: self.cells.missing,
                distinct: self.column.distinct().0,
            }
        })
    }
}

/// The dialect that most columns share; what differs stays with the column.
fn file_format(found: &Found, drafts: &mut [Draft<'_>], questions: &mut Vec<String>) -> FileFormat {
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
            Some(sign) if sign == of_file => {
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
    let sure: Vec<DateFormat> = drafts
        .iter()
        .filter(|draft| !draft.cells.is_ambiguous_day)
        .flat_map(|draft| draft.cells.format.dates.clone())
        .collect();
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
        let day_of = |form: &DateFormat| form.to_string().chars().take(2).collect::<String>();
        let votes = |wanted: &DateFormat| {
            let same = sure.iter().filter(|one| day_of(one) == day_of(wanted));
            same.count()
        };
        let (taken, refused) = if votes(&other) > votes(&form) {
            (other, form)
        } else {
            (form, other)
        };
        let by = match votes(&taken) > votes(&refused) {
            true => "as other columns are written",
            false => "nothing shows which it is",
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
fn take_missing_words(drafts: &mut [Draft<'_>]) {
    let words: BTreeSet<String> = words_of(drafts);
    for draft in drafts.iter_mut() {
        let is_text = draft.cells.kind == Some(AttributeType::Categorical);
        for word in &words {
            let known = draft.cells.missing_words.contains(word);
            if let Some(&count) = draft.column.values.get(word).filter(|_| is_text && !known) {
                draft.cells.missing_words.push(word.clone());
                draft.cells.missing += count;
            }
        }
        if draft.cells.kind == Some(AttributeType::Date) {
            take_no_days(draft);
        }
    }
}

fn words_of(drafts: &[Draft<'_>]) -> BTreeSet<String> {
    let words = drafts
        .iter()
        .flat_map(|draft| draft.cells.missing_words.iter());
    words.cloned().collect()
}

/// Days that stand for none, where a few have them.
fn take_no_days(draft: &mut Draft<'_>) {
    let all: u64 = draft.column.values.values().sum();
    for word in NO_DAYS {
        let day = DateFormat::new("YYYY-MM-DD").day_of(word, None);
        let same = draft.column.values.iter();
        let count: u64 = same
            .filter(|(text, _)| day.is_some() && draft.cells.day_of(text) == day)
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

/// The column that names the person: by its name, then by having its own value
/// for every record.
fn key_of(drafts: &[Draft<'_>], records: u64) -> Option<usize> {
    let can_be = |draft: &Draft<'_>| {
        let is_number = draft.cells.kind == Some(AttributeType::Decimal)
            || draft.cells.kind == Some(AttributeType::Date);
        draft.cells.missing == 0 && !is_number && !draft.cells.is_free_text
    };
    let is_nearly_own = |draft: &Draft<'_>| {
        let (distinct, _) = draft.column.distinct();
        distinct * 1000 > records
    };
    let rank = |draft: &Draft<'_>| {
        let is_unique = draft.column.is_unique();
        match draft.meaning {
            Some(Meaning::PersonNumber) if is_nearly_own(draft) => Some(0),
            Some(Meaning::CaseNumber) if is_unique => Some(1),
            Some(Meaning::OtherNumber) if is_unique => Some(2),
            Some(Meaning::CaseNumber)
                if is_nearly_own(draft) && draft.known(records) == records =>
            {
                Some(4)
            }
            _ if is_unique && draft.cells.identifier.is_some() => Some(3),
            _ => None,
        }
    };
    let ranked = drafts.iter().enumerate().filter(|(_, draft)| can_be(draft));
    let ranked = ranked.filter_map(|(at, draft)| Some((rank(draft)?, at)));
    ranked.min().map(|(_, at)| at)
}

/// Fewer sensitive attributes and no attribute that tells more than another: so
/// that the proposal makes a release that is worth something.
/// What a person must know of it.
fn limit_roles(drafts: &mut [Draft<'_>], records: u64) -> Option<String> {
    let has_age = drafts
        .iter()
        .any(|draft| draft.meaning == Some(Meaning::Age) && draft.is_published());
    for draft in drafts.iter_mut() {
        if has_age && draft.meaning == Some(Meaning::BirthDate) && draft.is_published() {
            draft.role = Role::Ignore;
            draft
                .reasons
                .push("ignored: the age says enough, and a day of birth tells much".into());
        }
        let share = draft.cells.missing as f64 / records.max(1) as f64;
        if draft.role == Role::Sensitive && share > MISSING_SHARE_MAX {
            draft.role = Role::Ignore;
            draft.reasons.push(format!(
                "ignored: {:.0} % of the values are missing, more than l = 5 allows",
                100.0 * share
            ));
        }
    }
    let rank = |draft: &Draft<'_>| match draft.meaning {
        Some(Meaning::Diagnosis) => 0,
        Some(Meaning::Medication | Meaning::Procedure) => 1,
        Some(Meaning::Money) => 2,
        _ => FINDING,
    };
    let mut sensitive: Vec<(u8, usize)> = (0..drafts.len())
        .filter(|&at| drafts[at].role == Role::Sensitive)
        .map(|at| (rank(&drafts[at]), at))
        .collect();
    sensitive.sort_unstable();
    let all = sensitive.len();
    let has_other = sensitive.first().is_some_and(|(rank, _)| *rank < FINDING);
    for (place, &(rank, at)) in sensitive.iter().enumerate() {
        if place >= SENSITIVE_MAX || (has_other && rank == FINDING) {
            drafts[at].role = Role::Ignore;
            let why =
                "ignored: one of many sensitive attributes; declare it sensitive if you need it";
            drafts[at].reasons.push(why.into());
        }
    }
    let kept = drafts
        .iter()
        .filter(|draft| draft.role == Role::Sensitive)
        .count();
    (all > kept).then(|| {
        format!(
            "{kept} of {all} sensitive attributes are proposed, since each asks for values of its \
             own in every group: declare sensitive those that you need, and ignore the others"
        )
    })
}

type Rules = BTreeMap<String, crate::microdata::HierarchyRule>;

fn attributes_of(drafts: &mut [Draft<'_>]) -> (Vec<AttributeProposal>, Rules) {
    let mut used = Rules::new();
    let mut attributes = Vec::new();
    for draft in drafts {
        let rules = match draft.is_published() {
            true => rules_for(draft.column, &draft.cells, draft.meaning),
            false => Vec::new(),
        };
        let is_tree = |rule: &crate::microdata::HierarchyRule| {
            use crate::microdata::HierarchyRule::{Icd10, Prefixes};
            matches!(rule, Icd10 { .. } | Prefixes { .. })
        };
        if draft.role == Role::QuasiIdentifier
            && let Some(first) = rules.first().filter(|first| is_tree(&first.rule))
        {
            used.insert(draft.name.to_owned(), first.rule.clone());
            draft.hierarchy = true;
        }
        let (distinct, is_estimate) = draft.column.distinct();
        let words = draft.cells.missing_words.iter();
        let words = words.filter(|word| draft.column.values.contains_key(*word));
        attributes.push(AttributeProposal {
            name: draft.name.to_owned(),
            role: draft.role,
            kind: draft.cells.kind,
            reasons: draft.reasons.clone(),
            distinct: distinct - (words.count() as u64).min(distinct),
            is_estimate,
            missing: draft.cells.missing,
            risk: (draft.role == Role::QuasiIdentifier).then(|| risk_of(draft.column)),
            hierarchies: rules,
        });
    }
    (attributes, used)
}

fn schema_of(
    (name, has_nameless): (&str, bool),
    (drafts, key, multiplicity): (&[Draft<'_>], usize, Option<&str>),
    format: &FileFormat,
) -> Result<Schema, InspectError> {
    let mut format = format.clone();
    let words = words_of(drafts);
    format.missing_values = words.into_iter().take(32).collect();
    let misses = drafts
        .iter()
        .any(|draft| draft.is_published() && draft.cells.missing > 0);
    let attributes: Vec<Value> = drafts.iter().map(Draft::document).collect();
    let mut document = json!({
        "name": name.chars().filter(|one| !one.is_control()).take(NAME_CHARACTERS_MAX).collect::<String>(),
        "subject_key": drafts[key].name,
        "multiplicity": multiplicity,
        "missing": if misses { "category" } else { "reject" },
        "format": format,
        "attributes": attributes,
    });
    if has_nameless {
        document["extra_columns"] = json!("ignore");
    }
    let schema = serde_json::from_value(document);
    schema.map_err(|error| {
        InspectError::NoTable(format!(
            "no schema can be proposed for this header ({})",
            crate::microdata::expectation(&error)
        ))
    })
}

impl Draft<'_> {
    fn document(&self) -> Value {
        let mut document = json!({"name": self.name, "role": self.role});
        if self.is_published() {
            document["type"] = json!(self.cells.kind);
            if self.hierarchy {
                document["hierarchy"] = json!(self.name);
            }
            if !self.missing_values.is_empty() {
                document["missing_values"] = json!(self.missing_values);
            }
            let format = json!(self.cells.format);
            if format.as_object().is_some_and(|format| !format.is_empty()) {
                document["format"] = format;
            }
        }
        document
    }
}
