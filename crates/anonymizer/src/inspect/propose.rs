//! From counted columns to a proposed schema.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::columns::{Column, Columns};
use super::dialect::Found;
use super::draft::Draft;
use super::forms::TWO_DIGIT_YEARS_FROM;
use super::inspection::{AttributeProposal, InspectError, Inspection};
use super::measured::{records_of_sets, risk_of, small_sets};
use super::names::{Meaning, meaning_of};
use super::persons::sets_of_values;
use super::rules::rules_for;
use super::settle::{file_format, prior_sign, take_missing_words, words_of};
use crate::microdata::attribute::NAME_CHARACTERS_MAX;
use crate::microdata::{AttributeType, DateFormat, FileFormat, Role, Schema};

/// Words for missing values that a schema may name.
const WORDS_MAX: usize = 32;
/// Sensitive attributes that are proposed: each asks for values of its own in
/// every group.
const SENSITIVE_MAX: usize = 3;
const NO_HEADER: &str =
    "the first line seems to be a record: put a line with the names of the columns above it";
/// Rank of findings among sensitive attributes: the last.
const FINDING: u8 = 3;
/// Share of missing values from which on an attribute is no sensitive one: l of
/// 5 could not be kept.
const MISSING_SHARE_MAX: f64 = 1.0 / 6.0;

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
    check_no_record(&found.header, &columns.columns)?;
    let mut questions = questions_of_lines(&columns, &found);
    let (mut drafts, has_nameless) = drafts_of(&found, &columns.columns);
    if has_nameless {
        questions.push(format!(
            "columns without a name, or with one of more than {NAME_CHARACTERS_MAX} characters or \
             with control characters, are read past"
        ));
    }
    let mut format = file_format(&found, &mut drafts, &mut questions);
    take_missing_words(&mut drafts, &mut questions);
    let words = words_of(&drafts);
    if words.len() > WORDS_MAX {
        questions.push(format!(
            "more than {WORDS_MAX} words stand for missing values: write them alike"
        ));
    }
    format.missing_values = words.into_iter().take(WORDS_MAX).collect();
    let key = key_of(&drafts, columns.records);
    for (at, draft) in drafts.iter_mut().enumerate() {
        draft.take_role(columns.records, Some(at) == key);
    }
    if let Some(key) = key.filter(|&key| !drafts[key].column.is_unique(columns.records)) {
        leave_out_what_changes(&mut drafts, key);
    }
    questions.extend(limit_roles(&mut drafts, columns.records));
    let multiplicity = multiplicity_of(&drafts, key, columns.records, &mut questions);
    let quasi: Vec<(String, &Column)> = drafts
        .iter()
        .filter(|draft| draft.role == Role::QuasiIdentifier)
        .map(|draft| (draft.name.to_owned(), draft.column))
        .collect();
    let sets = small_sets(&quasi);
    let (attributes, hierarchies) = attributes_of(&mut drafts);
    let frame = (name, has_nameless);
    let schema = schema_of(frame, (&drafts, key, multiplicity), &format)?;
    let measured = columns
        .columns
        .first()
        .map_or(0, |column| column.hashes.len());
    Ok(Inspection {
        records: columns.records,
        is_cut,
        evidence: found.evidence.clone(),
        questions,
        attributes,
        sets,
        records_measured: measured as u64,
        records_of_sets: records_of_sets(measured) as u64,
        sets_of_values: sets_of_values(&schema, &drafts, key),
        schema: Some(schema),
        hierarchies,
        sensitive: drafts.iter().filter_map(Draft::sensitive_count).collect(),
        format,
    })
}

/// A draft of each column that can have a name, and whether some cannot.
fn drafts_of<'c>(found: &'c Found, columns: &'c [Column]) -> (Vec<Draft<'c>>, bool) {
    let prior = prior_sign(columns, found.format.delimiter_byte());
    let header = &found.header;
    let is_name = |name: &String| {
        let length = name.chars().count();
        (1..=NAME_CHARACTERS_MAX).contains(&length) && !name.contains(char::is_control)
    };
    let named = header.iter().zip(columns).filter(|(name, _)| is_name(name));
    let drafts = named.map(|(name, column)| Draft::new(name, column, prior));
    (drafts.collect(), !header.iter().all(is_name))
}

/// How many records a person has, which is told where it is not one.
fn multiplicity_of(
    drafts: &[Draft<'_>],
    key: Option<usize>,
    records: u64,
    questions: &mut Vec<String>,
) -> &'static str {
    let Some(key) = key.map(|key| &drafts[key]) else {
        questions.push(
            "no column names the person: is each row one person? Then take subject_key {\"row\": true} \
             (on the command line alone); else add a column with a number of each person, the same in \
             all of their records"
                .into(),
        );
        return "one";
    };
    if key.column.is_unique(records) {
        if key.meaning != Some(Meaning::PersonNumber) {
            questions.push(format!(
                "`{}` is taken for the number of a person, one record each: if people repeat, name \
                 the column that says so in subject_key",
                key.name
            ));
        }
        return "one";
    }
    let (subjects, _) = key.column.distinct();
    questions.push(format!(
        "`{}` has {subjects} values in {records} records: many records a person (1:M)",
        key.name
    ));
    "many"
}

fn check_header(header: &[String]) -> Result<(), InspectError> {
    let is_value = |name: &&String| {
        let is_number = name.replace(',', ".").parse::<f64>().is_ok();
        let is_day = |form: &str| {
            let pattern = DateFormat::new(form).pattern(Some(TWO_DIGIT_YEARS_FROM));
            pattern.is_some_and(|pattern| pattern.day_of(name).is_some())
        };
        is_number || is_day("DD.MM.YYYY") || is_day("YYYY-MM-DD")
    };
    if header.iter().filter(is_value).count() * 4 > header.len() {
        return Err(InspectError::NoTable(NO_HEADER.into()));
    }
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, name) in header
        .iter()
        .enumerate()
        .filter(|(_, name)| !name.is_empty())
    {
        if let Some(first) = seen.insert(name, at) {
            // A first line may be somebody's record: it is not repeated.
            return Err(InspectError::NoTable(format!(
                "the header has one name twice, in columns {} and {}: give each column its own",
                first + 1,
                at + 1
            )));
        }
    }
    Ok(())
}

/// Refuses a first line whose cells stand among the values of their columns: it
/// is somebody's record, and no name may be made of it.
fn check_no_record(header: &[String], columns: &[Column]) -> Result<(), InspectError> {
    let pairs = header.iter().zip(columns);
    let values = pairs
        .filter(|(name, column)| column.values.len() > 1 && column.count_of(name).is_some())
        .count();
    let has_names = header.iter().any(|name| meaning_of(name).is_some());
    let is_mail = header.iter().any(|name| name.contains('@'));
    if values > 1 || (values == 1 && !has_names) || is_mail {
        return Err(InspectError::NoTable(NO_HEADER.into()));
    }
    Ok(())
}

fn questions_of_lines(columns: &Columns, found: &Found) -> Vec<String> {
    let told = |lines: &[u64]| {
        let lines: Vec<String> = lines.iter().map(u64::to_string).collect();
        lines.join(", ")
    };
    let mut questions = found.questions.clone();
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
            "{count} lines {}, first in {}",
            found.malformed,
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

/// The column that names the person: by its name, then by having its own value
/// for every record.
fn key_of(drafts: &[Draft<'_>], records: u64) -> Option<usize> {
    let can_be = |draft: &Draft<'_>| {
        let is_number = draft.cells.kind == Some(AttributeType::Decimal)
            || draft.cells.kind == Some(AttributeType::Date);
        draft.cells.missing == 0
            && !is_number
            && !draft.cells.is_free_text
            && draft.column.given.can_be_text()
    };
    let is_nearly_own = |draft: &Draft<'_>| {
        let (distinct, _) = draft.column.distinct();
        distinct * 1000 > records
    };
    let rank = |draft: &Draft<'_>| {
        let is_unique = draft.column.is_unique(records);
        match draft.meaning {
            Some(Meaning::PersonNumber) if is_nearly_own(draft) => Some(0),
            Some(Meaning::CaseNumber) if is_unique => Some(1),
            Some(Meaning::OtherNumber) if is_unique => Some(2),
            Some(Meaning::CaseNumber) if is_nearly_own(draft) => Some(4),
            _ if is_unique && draft.cells.identifier.is_some() => Some(3),
            None if is_unique => Some(5),
            _ => None,
        }
    };
    let ranked = drafts.iter().enumerate().filter(|(_, draft)| can_be(draft));
    // Of several, the one that tells most people apart.
    let ranked = ranked
        .filter_map(|(at, draft)| Some((rank(draft)?, Reverse(draft.column.distinct().0), at)));
    ranked.min().map(|(.., at)| at)
}

/// Ignores quasi-identifiers that differ between records of one person: many
/// records a person are published by what is the same in all of them.
fn leave_out_what_changes(drafts: &mut [Draft<'_>], key: usize) {
    let keys = &drafts[key].column.hashes;
    let changes: Vec<bool> = drafts
        .iter()
        .map(|draft| {
            if draft.role != Role::QuasiIdentifier {
                return false;
            }
            let mut first: FxHashMap<u32, u32> = FxHashMap::default();
            let pairs = keys.iter().zip(&draft.column.hashes);
            let differing =
                pairs.filter(|(key, value)| *first.entry(**key).or_insert(**value) != **value);
            // Hashes of two people may be one.
            differing.count() * 1000 > first.len()
        })
        .collect();
    for (draft, changes) in drafts.iter_mut().zip(changes) {
        if changes {
            draft.role = Role::Ignore;
            draft.reasons.push(
                "ignored: it differs between records of one person, and would tell their records \
                 apart"
                    .into(),
            );
        }
    }
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
        let rules = if draft.is_published() {
            rules_for(draft.column, &draft.cells, draft.meaning)
        } else {
            Vec::new()
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
        let words = words.filter(|word| draft.column.count_of(word).is_some());
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
    (drafts, key, multiplicity): (&[Draft<'_>], Option<usize>, &str),
    format: &FileFormat,
) -> Result<Schema, InspectError> {
    let misses = drafts
        .iter()
        .any(|draft| draft.is_published() && draft.cells.missing > 0);
    let attributes: Vec<Value> = drafts.iter().map(Draft::document).collect();
    let mut document = json!({
        "name": name.chars().filter(|one| !one.is_control()).take(NAME_CHARACTERS_MAX).collect::<String>(),
        "subject_key": match key {
            Some(key) => json!(drafts[key].name),
            None => json!({"row": true}),
        },
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
