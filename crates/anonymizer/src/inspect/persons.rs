//! The sets of sensitive values of people with many records, as a table.
//!
//! How large l may be with many records a person depends on how many of them
//! have one set of values, and on which sets can be told apart. No count of
//! single values says that. So a table of the key and the sensitive attributes
//! alone is made of the cells that are held, read as an upload would read them;
//! who proposes a job tries it on that.

use std::fmt::Write as _;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::draft::Draft;
use crate::microdata::value_text::date_text;
use crate::microdata::{
    AttributeType, HierarchySet, Multiplicity, ReadLimits, RecordFormat, Role, Schema, SubjectKeys,
    Table, TableBuilder, Target, read_records,
};

/// Name of the key in the table.
const KEY: &str = "(person)";
/// People whose sets are looked at; of more, those with the least hashes.
const PEOPLE_MAX: usize = 50_000;

/// The sets of sensitive values; nothing where a person has one record, nothing
/// is sensitive, or an upload would not take the cells.
pub(super) fn sets_of_values(
    schema: &Schema,
    drafts: &[Draft<'_>],
    key: Option<usize>,
) -> Option<Arc<Table>> {
    let key = &drafts[key?];
    let sensitive: Vec<&Draft<'_>> = drafts
        .iter()
        .filter(|draft| draft.role == Role::Sensitive)
        .collect();
    if schema.multiplicity() != Multiplicity::Many || sensitive.is_empty() {
        return None;
    }
    let schema = of_sets(schema, &sensitive)?;
    let mut people: Vec<u32> = key.column.hashes.clone();
    people.sort_unstable();
    people.dedup();
    people.truncate(PEOPLE_MAX);
    let last = people.last().copied()?;
    let texts: Vec<FxHashMap<u32, &str>> = sensitive
        .iter()
        .map(|draft| draft.column.texts_by_hash())
        .collect();
    let mut lines = String::new();
    for (at, person) in key.column.hashes.iter().enumerate() {
        if *person > last {
            continue;
        }
        // Writing to a text cannot fail.
        let _ = write!(lines, "{{\"{KEY}\": {person}");
        for (draft, texts) in sensitive.iter().zip(&texts) {
            let name = Value::from(draft.name);
            let cell = cell_of(draft, texts, draft.column.hashes[at]);
            let _ = write!(lines, ", {name}: {cell}");
        }
        lines.push_str("}\n");
    }
    read(&schema, lines.as_bytes())
}

/// The schema of the key and the sensitive attributes alone.
fn of_sets(schema: &Schema, sensitive: &[&Draft<'_>]) -> Option<Schema> {
    let mut document = serde_json::to_value(schema).ok()?;
    let mut attributes = vec![json!({"name": KEY, "role": "identifier"})];
    if sensitive.iter().any(|draft| draft.name == KEY) {
        return None;
    }
    attributes.extend(sensitive.iter().map(|draft| draft.document()));
    document["subject_key"] = json!(KEY);
    document["attributes"] = attributes.into();
    serde_json::from_value(document).ok()
}

/// A cell as JSON: of a value that is not kept another one, alike for alike.
fn cell_of(draft: &Draft<'_>, texts: &FxHashMap<u32, &str>, hash: u32) -> String {
    let is_number = !draft.column.given.is_written();
    match (hash, texts.get(&hash), draft.cells.kind) {
        (0, ..) => "null".into(),
        (_, Some(text), Some(AttributeType::Integer | AttributeType::Decimal)) if is_number => {
            (*text).to_owned()
        }
        (_, Some(text), _) => Value::from(*text).to_string(),
        (_, None, Some(AttributeType::Date)) => {
            Value::from(date_text((hash % 40_000) as i32)).to_string()
        }
        (_, None, Some(AttributeType::Categorical)) => Value::from(hash.to_string()).to_string(),
        (_, None, _) => hash.to_string(),
    }
}

fn read(schema: &Schema, lines: &[u8]) -> Option<Arc<Table>> {
    let hierarchies = HierarchySet::new();
    let mut builder = TableBuilder::new(Arc::new(schema.clone()), &hierarchies).ok()?;
    let target = Target {
        schema,
        hierarchies: &hierarchies,
        limits: ReadLimits::default(),
    };
    let mut room = Vec::new();
    // Many records a person: no key is looked for.
    let mut subjects = SubjectKeys::new([0; 16], &mut room);
    let mut sink = |chunk| builder.push(chunk);
    read_records(
        lines,
        RecordFormat::Ndjson,
        &target,
        &mut subjects,
        &mut sink,
    )
    .ok()?;
    builder.finish().ok().map(Arc::new)
}
