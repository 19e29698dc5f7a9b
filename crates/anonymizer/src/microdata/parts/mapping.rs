//! Which table of the parts gives which attribute: a mapping document, or the
//! headers of the parts.
//!
//! A mapping names tables. Of each it says whether a subject has one row or many
//! there, where the subject's key stands, and where each attribute does: the
//! name of a column of CSV, or a path into a resource of NDJSON, where the table
//! is called as the type of resource. Without a mapping each part is a table,
//! and the schema's roles say of how many rows: data never decide it.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::path::Path;
use crate::microdata::attribute::Role;
use crate::microdata::error::TableError;
use crate::microdata::expectation::expectation;
use crate::microdata::index::AttributeIndex;
use crate::microdata::intake::told_name;
use crate::microdata::json_shape::{json_shape, repeated_member};
use crate::microdata::schema::{Multiplicity, Schema};

/// Bytes of a mapping document.
const MAPPING_BYTES_MAX: usize = 1 << 20;
/// Levels that a mapping nests.
const MAPPING_LEVELS: usize = 4;
/// Tables that a mapping may name.
const TABLES_MAX: usize = 64;

/// Mappings that are part of the program, by name.
const SHIPPED: [(&str, &str); 2] = [
    ("fhir", include_str!("fhir.json")),
    ("omop", include_str!("omop.json")),
];

/// A mapping of tables to the attributes of a schema.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// The attribute that is the subject key.
    subject: String,
    #[serde(default)]
    unknown_subjects: UnknownSubjects,
    /// Address of the server whose resources these are, where references have it.
    #[serde(default)]
    base: Option<String>,
    tables: BTreeMap<String, TableDocument>,
}

/// What becomes of rows whose subject no table of one row a subject knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum UnknownSubjects {
    /// All of it is refused.
    #[default]
    Refuse,
    /// They are left out and counted.
    Drop,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TableDocument {
    rows: RowsOfSubject,
    subject: String,
    #[serde(default)]
    attributes: BTreeMap<String, String>,
}

/// How many rows a subject has in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RowsOfSubject {
    /// At most one.
    One,
    /// Any number.
    Many,
}

/// Where a value stands.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The name of a column.
    pub column: String,
    /// The same text as a path, or how it is none.
    pub path: Result<Path, &'static str>,
}

impl Place {
    fn of(text: &str) -> Self {
        Self {
            column: text.trim().to_owned(),
            path: Path::read(text.trim()),
        }
    }
}

/// A table that records are joined from.
#[derive(Clone, Debug)]
pub(super) struct TablePlan {
    /// Its name in the mapping, or its position.
    pub name: String,
    pub rows: RowsOfSubject,
    pub subject: Place,
    /// Its attributes, and where they stand.
    pub attributes: Vec<(AttributeIndex, Place)>,
    /// Whether a part of it was there.
    pub is_brought: bool,
    /// Rows read.
    pub read: u64,
    /// Rows of unknown subjects.
    pub unknown: u64,
}

/// The tables that records are joined from.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// Whether a mapping says what they are.
    pub is_mapped: bool,
    pub tables: Vec<TablePlan>,
    /// Whether rows of unknown subjects are left out.
    pub drops_unknown: bool,
    /// Address before the types of references, without a slash at its end.
    pub base: Option<String>,
}

fn wrong(what: impl Into<String>) -> TableError {
    TableError::Parts(what.into())
}

const TWO_OF_MANY: &str = "two tables have many rows a subject. Joined, each row of one would meet \
    each row of the other, and records would say what nobody observed: make a dataset of each";

impl Mapping {
    /// Reads a mapping document.
    ///
    /// # Errors
    /// [`TableError::Parts`] says what does not fit.
    pub fn read(text: &[u8]) -> Result<Self, TableError> {
        if text.len() > MAPPING_BYTES_MAX {
            return Err(wrong("the mapping has more than 1 MiB"));
        }
        if json_shape(text).levels > MAPPING_LEVELS {
            return Err(wrong("the mapping nests deeper than a mapping does"));
        }
        if let Some(name) = repeated_member(text) {
            let name = told_name(&name);
            return Err(wrong(format!(
                "in the mapping, the member `{name}` stands twice in one object"
            )));
        }
        serde_json::from_slice(text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let what = match error.classify() {
                serde_json::error::Category::Data => expectation(&error),
                _ => "no JSON".into(),
            };
            wrong(format!("the mapping, line {line}, column {column}: {what}"))
        })
    }

    /// The mapping of this name that is part of the program: `fhir` or `omop`.
    pub fn shipped(name: &str) -> Option<Self> {
        let (_, text) = SHIPPED.iter().find(|(known, _)| *known == name)?;
        Self::read(text.as_bytes()).ok()
    }

    /// Whether it has a table of this name, in whatever case: exports write
    /// names in small and in capital letters.
    pub fn names(&self, table: &str) -> bool {
        self.tables
            .keys()
            .any(|name| name.eq_ignore_ascii_case(table))
    }

    /// Its tables, held against a schema.
    pub(super) fn plan(&self, schema: &Schema) -> Result<Plan, TableError> {
        let key = schema.subject_key();
        if self.subject != schema.attribute(key).name {
            return Err(wrong(format!(
                "the mapping's subject is not the schema's subject key, `{}`",
                schema.attribute(key).name
            )));
        }
        if self.tables.is_empty() || self.tables.len() > TABLES_MAX {
            return Err(wrong(format!(
                "a mapping names from 1 to {TABLES_MAX} tables"
            )));
        }
        let mut places = vec![false; schema.attributes().len()];
        places[key.at()] = true;
        let mut tables = Vec::with_capacity(self.tables.len());
        for (name, document) in &self.tables {
            let mut attributes = Vec::with_capacity(document.attributes.len());
            for (attribute, text) in &document.attributes {
                let at = format!("table `{}`, `{}`", told_name(name), told_name(attribute));
                let index = schema.find(attribute);
                let index =
                    index.ok_or_else(|| wrong(format!("{at}: no attribute of the schema")))?;
                if index == key {
                    let what = "the subject key stands in `subject`, not among the attributes";
                    return Err(wrong(format!("{at}: {what}")));
                }
                if std::mem::replace(&mut places[index.at()], true) {
                    return Err(wrong(format!("{at}: another table has it as well")));
                }
                if *text == document.subject
                    || attributes
                        .iter()
                        .any(|(_, known): &(_, Place)| known.column == *text)
                {
                    return Err(wrong(format!(
                        "{at}: another attribute of the table has the same place"
                    )));
                }
                attributes.push((index, Place::of(text)));
            }
            tables.push(TablePlan::new(
                told_name(name),
                document.rows,
                (Place::of(&document.subject), attributes),
            ));
        }
        if let Some(at) = places.iter().position(|is_placed| !is_placed) {
            let name = &schema.attribute(AttributeIndex::from_usize(at)).name;
            return Err(wrong(format!("no table of the mapping has `{name}`")));
        }
        let plan = Plan {
            is_mapped: true,
            tables,
            drops_unknown: self.unknown_subjects == UnknownSubjects::Drop,
            base: self
                .base
                .as_deref()
                .map(|base| base.trim_end_matches('/').to_owned()),
        };
        plan.refuse_two_of_many()?;
        Ok(plan)
    }
}

impl TablePlan {
    fn new(
        name: String,
        rows: RowsOfSubject,
        (subject, attributes): (Place, Vec<(AttributeIndex, Place)>),
    ) -> Self {
        Self {
            name,
            rows,
            subject,
            attributes,
            is_brought: false,
            read: 0,
            unknown: 0,
        }
    }

    /// Whether a subject has many rows here.
    pub fn has_many(&self) -> bool {
        self.rows == RowsOfSubject::Many
    }

    /// The places of the subject key and of the attributes, in the order in
    /// which a row of the table is kept.
    pub fn places(&self) -> impl Iterator<Item = (Option<AttributeIndex>, &Place)> {
        let attributes = self.attributes.iter();
        let attributes = attributes.map(|(index, place)| (Some(*index), place));
        std::iter::once((None, &self.subject)).chain(attributes)
    }

    /// The path of a place; the error says how its text is none.
    pub fn path_of<'p>(&self, place: &'p Place, nth: usize) -> Result<&'p Path, TableError> {
        place.path.as_ref().map_err(|how| {
            let which = match nth {
                0 => "the subject".to_owned(),
                nth => format!("attribute {nth}"),
            };
            wrong(format!(
                "table `{}`, {which}: no path into a resource: {how}",
                self.name
            ))
        })
    }
}

impl Plan {
    /// No table yet: each part is one.
    pub fn of_headers() -> Self {
        Self {
            is_mapped: false,
            tables: Vec::new(),
            drops_unknown: false,
            base: None,
        }
    }

    /// Position of the table of this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        let same = |table: &TablePlan| table.name == name;
        let alike = |table: &TablePlan| table.name.eq_ignore_ascii_case(name);
        let tables = self.tables.iter();
        let found = tables.clone().position(same);
        found.or_else(|| self.tables.iter().position(alike))
    }

    /// Adds the table of a part whose header has these attributes of the schema;
    /// its position.
    ///
    /// # Errors
    /// A part that says nothing of its subjects, or too many parts.
    pub fn add_of_header(
        &mut self,
        part: u32,
        attributes: &[AttributeIndex],
        schema: &Schema,
    ) -> Result<usize, TableError> {
        if attributes.is_empty() {
            return Err(wrong(format!(
                "part {part} has no attribute but the subject key"
            )));
        }
        if self.tables.len() >= TABLES_MAX {
            return Err(wrong(format!("more than {TABLES_MAX} tables")));
        }
        let role = |index: &AttributeIndex| schema.attribute(*index).role;
        let is_protected =
            |index: &AttributeIndex| matches!(role(index), Role::Sensitive | Role::SemiSensitive);
        let rows = match schema.multiplicity() {
            Multiplicity::Many if attributes.iter().any(is_protected) => RowsOfSubject::Many,
            _ => RowsOfSubject::One,
        };
        let place = |index: AttributeIndex| Place::of(&schema.attribute(index).name);
        let attributes = attributes.iter().map(|&index| (index, place(index)));
        let placed = (place(schema.subject_key()), attributes.collect());
        let mut table = TablePlan::new(format!("part {part}"), rows, placed);
        table.is_brought = true;
        self.tables.push(table);
        Ok(self.tables.len() - 1)
    }

    /// Refuses more than one table of many rows a subject.
    pub fn refuse_two_of_many(&self) -> Result<(), TableError> {
        let many = self.tables.iter().filter(|table| table.has_many());
        if many.count() > 1 {
            return Err(wrong(TWO_OF_MANY));
        }
        Ok(())
    }

    /// The table of each attribute, and its place in a row there, from 1; `None`
    /// where no table has it.
    pub fn places(&self, schema: &Schema) -> Vec<Option<(usize, usize)>> {
        let mut places = vec![None; schema.attributes().len()];
        for (at, table) in self.tables.iter().enumerate() {
            for (nth, (index, _)) in table.attributes.iter().enumerate() {
                places[index.at()] = Some((at, nth + 1));
            }
        }
        places
    }

    /// Whether a reference to a resource of this type is one to a subject.
    pub fn is_subject_type(&self, kind: &str) -> bool {
        let base = self.base.as_deref();
        let local = base.and_then(|base| kind.strip_prefix(base)?.strip_prefix('/'));
        let kind = local.unwrap_or(kind);
        if kind.contains('/') {
            return false;
        }
        let own = |table: &TablePlan| table.subject.path.as_ref().is_ok_and(Path::is_own_id);
        let mut tables = self.tables.iter().filter(|table| own(table)).peekable();
        tables.peek().is_none() || tables.any(|table| table.name == kind)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn schema() -> Schema {
        serde_json::from_value(
            json!({"name": "n", "subject_key": "p", "multiplicity": "many",
            "attributes": [{"name": "p", "role": "identifier"},
                {"name": "zip", "role": "quasi_identifier", "type": "categorical"},
                {"name": "icd", "role": "sensitive", "type": "categorical"}]}),
        )
        .unwrap()
    }

    fn mapping() -> Value {
        json!({"subject": "p", "tables": {
            "a": {"rows": "one", "subject": "id", "attributes": {"zip": "zip"}},
            "b": {"rows": "many", "subject": "pid", "attributes": {"icd": "code[0]"}}}})
    }

    fn refused(mapping: &Value) -> String {
        let read = Mapping::read(mapping.to_string().as_bytes());
        let Err(TableError::Parts(what)) = read.and_then(|read| read.plan(&schema())) else {
            panic!("refused: {mapping}");
        };
        what
    }

    #[test]
    fn shipped_mappings_are_read() {
        for (name, _) in SHIPPED {
            assert!(Mapping::shipped(name).is_some(), "{name}");
        }
        assert!(Mapping::shipped("hl7").is_none());
    }

    #[test]
    fn a_mapping_places_every_attribute_once() {
        let read = Mapping::read(mapping().to_string().as_bytes()).unwrap();
        let plan = read.plan(&schema()).unwrap();
        assert_eq!(plan.places(&schema()), [None, Some((0, 1)), Some((1, 1))]);
        let changes: [(&str, Value, &str); 9] = [
            ("/subject", json!("zip"), "subject key"),
            ("/tables", json!({}), "from 1 to"),
            (
                "/tables/a/attributes",
                json!({}),
                "no table of the mapping has `zip`",
            ),
            (
                "/tables/a/attributes",
                json!({"zip": "z", "x": "y"}),
                "no attribute",
            ),
            (
                "/tables/a/attributes",
                json!({"zip": "z", "p": "y"}),
                "stands in `subject`",
            ),
            (
                "/tables/b/attributes",
                json!({"zip": "z", "icd": "y"}),
                "another table",
            ),
            (
                "/tables/a/attributes",
                json!({"zip": "id"}),
                "the same place",
            ),
            ("/tables/a/rows", json!("many"), "what nobody observed"),
            ("/tables/a/rows", json!("some"), "expected `one` or `many`"),
        ];
        for (at, value, said) in changes {
            let mut changed = mapping();
            *changed.pointer_mut(at).unwrap() = value;
            let what = refused(&changed);
            assert!(what.contains(said), "{at}: {what}");
        }
    }

    #[test]
    fn unknown_fields_and_repeated_members_are_refused() {
        let mut more = mapping();
        more["tables"]["a"]["join"] = json!(1);
        assert!(refused(&more).contains("expected"), "{}", refused(&more));
        let twice = br#"{"subject": "p", "subject": "q", "tables": {}}"#;
        assert!(Mapping::read(twice).is_err());
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(Mapping::read(deep.as_bytes()).is_err());
    }

    #[test]
    fn roles_say_of_how_many_rows_a_part_is() {
        let schema = schema();
        let mut plan = Plan::of_headers();
        let all = schema.select(|attribute| attribute.role != Role::Identifier);
        plan.add_of_header(1, &all[..1], &schema).unwrap();
        plan.add_of_header(2, &all[1..], &schema).unwrap();
        let many: Vec<bool> = plan.tables.iter().map(TablePlan::has_many).collect();
        assert_eq!(many, [false, true]);
        assert!(plan.refuse_two_of_many().is_ok());
        plan.add_of_header(3, &all[1..], &schema).unwrap();
        assert!(plan.refuse_two_of_many().is_err());
    }

    #[test]
    fn a_reference_is_to_a_subject_where_its_type_is_a_table_of_its_own_id() {
        let fhir = Mapping::shipped("fhir").unwrap();
        let schema = serde_json::from_value(json!({"name": "n", "subject_key": "patient",
            "multiplicity": "many", "attributes": [{"name": "patient", "role": "identifier"},
                {"name": "birth_date", "role": "quasi_identifier", "type": "date"},
                {"name": "gender", "role": "quasi_identifier", "type": "categorical"},
                {"name": "postal_code", "role": "quasi_identifier", "type": "categorical"},
                {"name": "diagnosis", "role": "sensitive", "type": "categorical"}]}));
        let plan = fhir.plan(&schema.unwrap()).unwrap();
        assert!(plan.is_subject_type("Patient") && !plan.is_subject_type("Group"));
        assert!(!plan.is_subject_type("https://a.example/Patient"));
    }
}
