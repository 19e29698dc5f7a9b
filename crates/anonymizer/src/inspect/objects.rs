//! NDJSON: an object a line, inspected member by member.

use std::io::Read;

use rustc_hash::FxHashMap;

use super::columns::TakeRow;
use super::dialect::Found;
use super::given::{Given, JsonCounts, NESTED};
use super::inspection::{InspectError, InspectLimits};
use crate::microdata::{FileFormat, JsonKind, ScannedObject, ScannedRow, TableError, scan_objects};

/// The member by which a resource of FHIR says what it is.
const RESOURCE: &str = "resourceType";
const FHIR: &str = "resources of FHIR, which nest: the shipped mapping `fhir` makes records of them \
                    (docs/DATA.md, \"Several tables\")";

/// The members of all objects, in the order in which they came.
#[derive(Default)]
struct Members {
    at: FxHashMap<String, usize>,
    names: Vec<String>,
    counts: Vec<JsonCounts>,
    records: u64,
    is_fhir: bool,
    has_too_many: bool,
}

impl Members {
    /// The place of a name that is known, or becomes known here.
    fn place(&mut self, name: &str, columns_max: usize) -> Option<usize> {
        if let Some(&at) = self.at.get(name) {
            return Some(at);
        }
        if self.names.len() == columns_max {
            self.has_too_many = true;
            return None;
        }
        let at = self.names.len();
        self.at.insert(name.to_owned(), at);
        self.names.push(name.to_owned());
        self.counts.push(JsonCounts::default());
        Some(at)
    }

    fn add(&mut self, kind: JsonKind, at: usize) {
        let counts = &mut self.counts[at];
        *match kind {
            JsonKind::Text => &mut counts.texts,
            JsonKind::Whole => &mut counts.wholes,
            JsonKind::Fraction => &mut counts.fractions,
            JsonKind::Truth => &mut counts.truths,
            JsonKind::Nested => &mut counts.nested,
            JsonKind::Null => &mut counts.nulls,
        } += 1;
    }
}

/// Finds the members of all objects, and what their values are; reads the whole
/// input once.
pub(super) fn find(input: impl Read, limits: &InspectLimits) -> Result<Found, InspectError> {
    let mut members = Members::default();
    let bounds = (limits.read.record_bytes_max, limits.read.json_depth_max);
    scan_objects(input, bounds, &mut |object| {
        if let ScannedObject::Members(_, of_line) = object {
            members.records += 1;
            for member in of_line {
                members.is_fhir |= members.records == 1 && member.name == RESOURCE;
                if let Some(at) = members.place(member.name, limits.columns_max) {
                    members.add(member.kind, at);
                }
            }
        }
        !members.is_fhir && !members.has_too_many
    })?;
    if members.is_fhir {
        return Err(InspectError::NoTable(format!("the file is {FHIR}")));
    }
    if members.has_too_many {
        return Err(InspectError::NoTable(format!(
            "the file has more than {} members",
            limits.columns_max
        )));
    }
    if members.records == 0 {
        return Err(InspectError::NoTable(
            "the file begins as JSON and has no line that is one object: write NDJSON, an object a \
             line without line breaks inside"
                .into(),
        ));
    }
    let givens: Vec<Given> = members.counts.iter().map(JsonCounts::given).collect();
    Ok(Found {
        questions: questions(&members, &givens),
        format: FileFormat::default(),
        evidence: vec![format!(
            "NDJSON: an object a line, {} members",
            members.names.len()
        )],
        header: members.names,
        givens,
        malformed: "are no JSON object, or have a member twice",
    })
}

/// What an upload refuses, and what it reads past.
fn questions(members: &Members, givens: &[Given]) -> Vec<String> {
    let mut questions = Vec::new();
    for ((name, counts), given) in members.names.iter().zip(&members.counts).zip(givens) {
        let lacking = members.records.saturating_sub(counts.all());
        match given {
            Given::Unread(why) if *why == NESTED => questions.push(format!(
                "{name}: {why} (docs/DATA.md, \"Several tables\")"
            )),
            Given::Unread(why) => questions.push(format!("{name}: {why}")),
            _ if lacking > 0 => questions.push(format!(
                "{name}: {lacking} objects have no such member, which an upload refuses: write null \
                 where there is no value"
            )),
            _ => {}
        }
    }
    questions
}

/// Hands each object to `each` as a row, in the order of `header`.
pub(super) fn scan(
    input: impl Read,
    (header, limits): (&[String], &InspectLimits),
    each: &mut TakeRow<'_>,
) -> Result<(), TableError> {
    let at: FxHashMap<&str, usize> = (0..)
        .zip(header)
        .map(|(at, name)| (name.as_str(), at))
        .collect();
    let mut cells: Vec<(u64, Vec<u8>)> = vec![(0, Vec::new()); header.len()];
    let bounds = (limits.read.record_bytes_max, limits.read.json_depth_max);
    scan_objects(input, bounds, &mut |object| match object {
        ScannedObject::Members(line, members) => {
            cells.iter_mut().for_each(|(_, cell)| cell.clear());
            let mut is_twice = false;
            for member in members {
                let Some((seen, cell)) = at.get(member.name).map(|&at| &mut cells[at]) else {
                    continue;
                };
                is_twice |= *seen == line;
                *seen = line;
                cell.clear();
                cell.extend_from_slice(member.text);
            }
            if is_twice {
                return each(ScannedRow::Malformed(line));
            }
            let mut row = cells.iter().map(|(_, cell)| cell.as_slice());
            each(ScannedRow::Cells(line, &mut row))
        }
        ScannedObject::Malformed(line) => each(ScannedRow::Malformed(line)),
        ScannedObject::TooLong(line) => each(ScannedRow::TooLong(line)),
    })
}
