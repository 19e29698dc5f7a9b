//! The schema of a dataset: names, roles and types of its attributes.
//!
//! A [`Schema`] is valid by construction: it is read from its JSON document
//! (data.md) or not at all. Unknown fields are refused.

use serde::{Deserialize, Serialize};

use super::attribute::{Attribute, AttributeType, Role, check_name};
use super::dialect::{FileFormat, or_default};
use super::error::TableError;
use super::index::AttributeIndex;
use super::preference::Terms;
use super::subject_key::{KeyName, KeyRule, row_key};
use super::wording::{DatasetWording, Wording};

/// Number of semi-sensitive and sensitive attributes that a schema may have:
/// each record's flags are one machine word.
pub const PROTECTED_MAX: usize = 64;

/// How many records a subject has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Multiplicity {
    /// Exactly one; a second one is an error.
    #[default]
    One,
    /// One or more (1:M data).
    Many,
}

/// What happens to an empty cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingPolicy {
    /// The upload is refused.
    #[default]
    Reject,
    /// The record is left out and counted.
    Drop,
    /// The missing value is a value of its own in every type, written
    /// [`MISSING_LABEL`](super::value_text::MISSING_LABEL).
    Category,
}

/// What happens to columns that the schema does not name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExtraColumns {
    /// The upload is refused.
    #[default]
    Refuse,
    /// They are read past and never stored.
    Ignore,
}

impl ExtraColumns {
    fn is_refuse(&self) -> bool {
        *self == Self::Refuse
    }
}

/// The schema of a dataset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SchemaDocument", into = "SchemaDocument")]
pub struct Schema {
    name: String,
    subject_key: AttributeIndex,
    /// Whether the number of a record is its key, which no column has.
    pub(super) has_row_keys: bool,
    /// `None` where nothing is said of them.
    pub(super) key_rules: Option<Vec<KeyRule>>,
    multiplicity: Multiplicity,
    missing: MissingPolicy,
    extra_columns: ExtraColumns,
    format: FileFormat,
    attributes: Vec<Attribute>,
    /// Ignored attributes, each with its place among all.
    ignored: Vec<(usize, Attribute)>,
    default_preference: Option<Terms>,
    wording: DatasetWording,
}

/// The schema as it is written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchemaDocument {
    name: String,
    subject_key: KeyName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subject_key_normalization: Option<Vec<KeyRule>>,
    #[serde(default)]
    multiplicity: Multiplicity,
    #[serde(default)]
    missing: MissingPolicy,
    #[serde(default, skip_serializing_if = "ExtraColumns::is_refuse")]
    extra_columns: ExtraColumns,
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_canonical"
    )]
    format: FileFormat,
    attributes: Vec<Attribute>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    default_preference: Option<Terms>,
    #[serde(default, skip_serializing_if = "Wording::is_empty")]
    title: Wording,
    #[serde(default, skip_serializing_if = "Wording::is_empty")]
    purpose: Wording,
    #[serde(default, skip_serializing_if = "Wording::is_empty")]
    contact: Wording,
}

fn is_canonical(format: &FileFormat) -> bool {
    *format == FileFormat::default()
}

impl Schema {
    /// Name of the dataset.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The identifier that names the subject.
    pub fn subject_key(&self) -> AttributeIndex {
        self.subject_key
    }

    /// How many records a subject has.
    pub fn multiplicity(&self) -> Multiplicity {
        self.multiplicity
    }

    /// What happens to an empty cell.
    pub fn missing(&self) -> MissingPolicy {
        self.missing
    }

    /// The attributes in order, but for those that are ignored.
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// Number of attributes that are ignored.
    pub fn ignored(&self) -> usize {
        self.ignored.len()
    }

    /// What happens to columns that the schema does not name.
    pub fn extra_columns(&self) -> ExtraColumns {
        self.extra_columns
    }

    /// How text files are written.
    pub fn format(&self) -> &FileFormat {
        &self.format
    }

    /// Whether a column of this name, which no attribute has, is read past.
    pub fn reads_past(&self, name: &[u8]) -> bool {
        self.extra_columns == ExtraColumns::Ignore
            || self
                .ignored
                .iter()
                .any(|(_, attribute)| attribute.name.as_bytes() == name)
    }

    /// Whether a cell of the attribute may be empty whatever the missing-value
    /// policy says: an identifier that is not the subject key.
    pub fn may_be_empty(&self, index: AttributeIndex) -> bool {
        index != self.subject_key
            && self.attribute(index).role == Role::Identifier
            && !self.is_index_date(index)
    }

    /// The same schema with attributes changed.
    pub(super) fn with_attributes(&self, change: impl Fn(&mut Attribute)) -> Self {
        let mut schema = self.clone();
        schema.attributes.iter_mut().for_each(change);
        schema
    }

    /// Terms of subjects who gave none.
    pub fn default_preference(&self) -> Option<&Terms> {
        self.default_preference.as_ref()
    }

    /// What people read of the dataset.
    pub fn wording(&self) -> &DatasetWording {
        &self.wording
    }

    /// The attribute at `index`.
    pub fn attribute(&self, index: AttributeIndex) -> &Attribute {
        &self.attributes[index.at()]
    }

    /// Position of the attribute called `name`.
    pub fn find(&self, name: &str) -> Option<AttributeIndex> {
        let at = self
            .attributes
            .iter()
            .position(|attribute| attribute.name == name)?;
        Some(AttributeIndex::from_usize(at))
    }

    /// Positions of the attributes for which `wanted` holds, in schema order.
    pub fn select(&self, wanted: impl Fn(&Attribute) -> bool) -> Vec<AttributeIndex> {
        let all = self.attributes.iter().enumerate();
        all.filter(|(_, attribute)| wanted(attribute))
            .map(|(at, _)| AttributeIndex::from_usize(at))
            .collect()
    }

    /// Semi-sensitive and sensitive attributes in schema order; at most
    /// [`PROTECTED_MAX`]. A bit of a record's flags counts in this order.
    pub fn protectable(&self) -> Vec<AttributeIndex> {
        self.select(Attribute::is_protectable)
    }

    /// Names of protectable attributes that `other` has and does not protect,
    /// or of sensitive ones that it protects for those alone who ask for it.
    pub fn protects_beyond<'s>(&'s self, other: &Self) -> Vec<&'s str> {
        let own = self.protectable().into_iter();
        own.map(|index| self.attribute(index))
            .filter(|own| {
                let known = other.find(&own.name).map(|index| other.attribute(index));
                known.is_some_and(|known| own.is_protected_beyond(known))
            })
            .map(|own| own.name.as_str())
            .collect()
    }

    /// Whether those who say nothing may ask for more here than under `other`:
    /// there is a default preference, and it is another one.
    pub fn asks_beyond(&self, other: &Self) -> bool {
        self.default_preference.is_some() && self.default_preference != other.default_preference
    }

    /// Every attribute that may be published (all but identifiers), in order.
    pub fn publishable(&self) -> Vec<AttributeIndex> {
        self.select(|attribute| attribute.role != Role::Identifier)
    }
}

impl TryFrom<SchemaDocument> for Schema {
    type Error = TableError;

    fn try_from(mut document: SchemaDocument) -> Result<Self, TableError> {
        let has_row_keys = document.subject_key == KeyName::of_rows();
        if has_row_keys {
            if document.multiplicity == Multiplicity::Many {
                return Err(TableError::Schema(
                    "a number of a row names one record: multiplicity is one".into(),
                ));
            }
            document.attributes.push(row_key());
        }
        let key_name = document.subject_key.attribute();
        check_name("dataset", &document.name).map_err(TableError::Schema)?;
        document.format.check().map_err(TableError::Schema)?;
        check_attributes(&document.attributes, &document.format)?;
        let (ignored, attributes): (Vec<_>, Vec<_>) = (0..)
            .zip(document.attributes)
            .partition(|(_, attribute)| attribute.role == Role::Ignore);
        let attributes: Vec<Attribute> = attributes.into_iter().map(|(_, one)| one).collect();
        let is_key = |attribute: &Attribute| attribute.name == key_name;
        let key = match attributes.iter().position(is_key) {
            Some(key) if attributes[key].role == Role::Identifier => key,
            None if !ignored.iter().any(|(_, attribute)| is_key(attribute)) => {
                return Err(TableError::Schema("subject_key names no attribute".into()));
            }
            _ => {
                return Err(TableError::Schema(
                    "subject_key must be an identifier".into(),
                ));
            }
        };
        if !attributes[key].missing_values.is_empty() {
            return Err(TableError::Schema(
                "subject_key has no missing_values: it is never empty".into(),
            ));
        }
        let schema = Self {
            name: document.name,
            subject_key: AttributeIndex::from_usize(key),
            has_row_keys,
            key_rules: document.subject_key_normalization,
            multiplicity: document.multiplicity,
            missing: document.missing,
            extra_columns: document.extra_columns,
            format: document.format,
            attributes,
            ignored,
            default_preference: document.default_preference,
            wording: DatasetWording {
                title: document.title,
                purpose: document.purpose,
                contact: document.contact,
            },
        };
        schema.wording.check().map_err(TableError::Schema)?;
        if let Some(terms) = &schema.default_preference {
            terms.check(&schema).map_err(|(field, _)| {
                TableError::Schema(format!("default_preference: {field} does not fit"))
            })?;
        }
        Ok(schema)
    }
}

impl From<Schema> for SchemaDocument {
    fn from(schema: Schema) -> Self {
        let key_name = schema.attribute(schema.subject_key).name.clone();
        let mut attributes = schema.attributes;
        let subject_key = if schema.has_row_keys {
            // No column has it: it stands behind all others.
            attributes.pop();
            KeyName::of_rows()
        } else {
            KeyName::Attribute(key_name)
        };
        for (place, attribute) in schema.ignored {
            attributes.insert(place, attribute);
        }
        Self {
            name: schema.name,
            subject_key,
            subject_key_normalization: schema.key_rules,
            multiplicity: schema.multiplicity,
            missing: schema.missing,
            extra_columns: schema.extra_columns,
            format: schema.format,
            attributes,
            default_preference: schema.default_preference,
            title: schema.wording.title,
            purpose: schema.wording.purpose,
            contact: schema.wording.contact,
        }
    }
}

fn check_attributes(attributes: &[Attribute], format: &FileFormat) -> Result<(), TableError> {
    if attributes.len() > usize::from(u16::MAX) {
        return Err(TableError::Schema("more than 65535 attributes".into()));
    }
    let mut seen = rustc_hash::FxHashSet::default();
    for (position, attribute) in attributes.iter().enumerate() {
        let place = format!("attribute {}", position + 1);
        attribute
            .check(&place, format)
            .map_err(TableError::Schema)?;
        if !seen.insert(attribute.name.as_str()) {
            return Err(TableError::Schema(format!(
                "{place}: the name is given twice"
            )));
        }
    }
    check_transforms(attributes).map_err(TableError::Schema)?;
    let protectable = attributes
        .iter()
        .filter(|attribute| attribute.is_protectable())
        .count();
    if protectable > PROTECTED_MAX {
        return Err(TableError::Schema(format!(
            "more than {PROTECTED_MAX} semi-sensitive and sensitive attributes"
        )));
    }
    Ok(())
}

/// What contradicts itself in what attributes together are changed by.
fn check_transforms(attributes: &[Attribute]) -> Result<(), String> {
    let find = |name: &str| attributes.iter().find(|one| one.name == name);
    for (position, attribute) in attributes.iter().enumerate() {
        let Some(index) = &attribute.transform.days_since else {
            continue;
        };
        let says = |what: &str| Err(format!("attribute {}: days_since {what}", position + 1));
        match find(index) {
            None => return says("names no attribute"),
            Some(index) if index.name == attribute.name => {
                return says("names the attribute itself");
            }
            Some(index) if index.kind != Some(AttributeType::Date) => {
                return says("names an attribute that is not of the type date");
            }
            Some(index) if index.role == Role::Ignore => {
                return says(
                    "names an ignored attribute, which is not stored: make it an identifier",
                );
            }
            Some(index) if index.transform.days_since.is_some() => {
                return says("names an attribute that is days itself");
            }
            Some(_) => {}
        }
    }
    let mut shifts = attributes.iter().filter_map(|one| one.transform.shift_days);
    let Some(days) = shifts.next() else {
        return Ok(());
    };
    if shifts.any(|other| other != days) {
        return Err(
            "transform: all dates of a subject are moved by the same days: give each the same \
             shift_days"
                .into(),
        );
    }
    // One date as it is beside one that was moved tells by how many days.
    let is_as_it_is = |attribute: &Attribute| {
        attribute.kind == Some(AttributeType::Date)
            && !matches!(attribute.role, Role::Identifier | Role::Ignore)
            && attribute.transform.is_nothing()
    };
    match attributes.iter().position(is_as_it_is) {
        None => Ok(()),
        Some(position) => Err(format!(
            "attribute {}: other dates are moved by shift_days, and a date as it is would tell by \
             how many days: give it shift_days or days_since too, or make it an identifier",
            position + 1
        )),
    }
}
