//! The schema of a dataset: names, roles and types of its attributes.
//!
//! A [`Schema`] is valid by construction: it is read from its JSON document
//! (data.md) or not at all. Unknown fields are refused.

use serde::{Deserialize, Serialize};

use super::error::TableError;
use super::index::AttributeIndex;
use super::preference::Terms;
use super::spelling::{DEFAULT_FORMS, Form};
use super::subject_key::KeyRule;

/// Number of semi-sensitive and sensitive attributes that a schema may have:
/// each record's flags are one machine word.
pub const PROTECTED_MAX: usize = 64;
/// Characters in a name.
pub const NAME_CHARACTERS_MAX: usize = 64;

/// What an attribute is to an adversary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Names a person; never published.
    Identifier,
    /// Known to an adversary; generalized.
    QuasiIdentifier,
    /// Quasi-identifier or sensitive value, as each subject says.
    SemiSensitive,
    /// Sensitive for everyone.
    Sensitive,
    /// Published as it is.
    Insensitive,
    /// Read past, never stored; not among a schema's [`Schema::attributes`].
    Ignore,
}

/// What the values of an attribute are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttributeType {
    /// A whole number of 64 bits.
    Integer,
    /// A finite number of 64 bits.
    Decimal,
    /// A day.
    Date,
    /// Text.
    Categorical,
}

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

/// What values of an attribute are asked about, unless the schema says that they
/// are meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Doubt {
    /// 9999-12-31, which many programs write where no day is known, or where
    /// nothing ends.
    #[default]
    #[serde(rename = "day_9999_12_31")]
    LastDay,
    /// 1900-01-01, which many programs write where no day is known.
    #[serde(rename = "day_1900_01_01")]
    FirstDay,
    /// Whole numbers that begin with a zero: rather codes, whose zeros are lost.
    #[serde(rename = "leading_zeros")]
    LeadingZeros,
}

impl Doubt {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::LastDay, Self::FirstDay, Self::LeadingZeros];

    /// The word that a schema has for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::LastDay => "day_9999_12_31",
            Self::FirstDay => "day_1900_01_01",
            Self::LeadingZeros => "leading_zeros",
        }
    }

    /// Whether values of this type can be meant.
    pub const fn is_of(self, kind: AttributeType) -> bool {
        match self {
            Self::LastDay | Self::FirstDay => matches!(kind, AttributeType::Date),
            Self::LeadingZeros => matches!(kind, AttributeType::Integer),
        }
    }
}

/// Words for missing values that an attribute may have.
pub const MISSING_VALUES_MAX: usize = 32;

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

/// One attribute of a schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attribute {
    /// Unique in the schema, 1 to 64 characters.
    pub name: String,
    /// What the attribute is to an adversary.
    pub role: Role,
    /// What its values are; an identifier and an ignored attribute need none.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<AttributeType>,
    /// Name of its hierarchy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hierarchy: Option<String>,
    /// Which spellings are one value, of a sensitive or semi-sensitive
    /// category; all forms where nothing is said, none by an empty list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normalize: Option<Vec<Form>>,
    /// Texts of cells that stand for a missing value, beside the empty one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_values: Vec<String>,
    /// Values that are what they seem, and are not asked about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub meant: Vec<Doubt>,
}

impl Attribute {
    /// Whether a subject's value may have to be kept from an adversary:
    /// semi-sensitive or sensitive.
    pub fn is_protectable(&self) -> bool {
        matches!(self.role, Role::SemiSensitive | Role::Sensitive)
    }

    /// Whether some subject's value that is kept here would not be under
    /// `other`: a semi-sensitive value is, of those alone who name it.
    pub fn is_protected_beyond(&self, other: &Self) -> bool {
        match self.role {
            Role::Sensitive => other.role != Role::Sensitive,
            Role::SemiSensitive => !other.is_protectable(),
            _ => false,
        }
    }

    /// Whether spellings can be taken together: a sensitive or semi-sensitive
    /// category.
    pub fn has_spellings(&self) -> bool {
        self.is_protectable() && self.kind == Some(AttributeType::Categorical)
    }

    /// The forms by which spellings are one value.
    pub fn forms(&self) -> &[Form] {
        match (&self.normalize, self.has_spellings()) {
            (_, false) => &[],
            (Some(forms), true) => forms,
            (None, true) => DEFAULT_FORMS,
        }
    }
}

/// The schema of a dataset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SchemaDocument", into = "SchemaDocument")]
pub struct Schema {
    name: String,
    subject_key: AttributeIndex,
    /// `None` where nothing is said of them.
    pub(super) key_rules: Option<Vec<KeyRule>>,
    multiplicity: Multiplicity,
    missing: MissingPolicy,
    extra_columns: ExtraColumns,
    attributes: Vec<Attribute>,
    /// Ignored attributes, each with its place among all.
    ignored: Vec<(usize, Attribute)>,
    default_preference: Option<Terms>,
}

/// The schema as it is written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchemaDocument {
    name: String,
    subject_key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subject_key_normalization: Option<Vec<KeyRule>>,
    #[serde(default)]
    multiplicity: Multiplicity,
    #[serde(default)]
    missing: MissingPolicy,
    #[serde(default, skip_serializing_if = "ExtraColumns::is_refuse")]
    extra_columns: ExtraColumns,
    attributes: Vec<Attribute>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    default_preference: Option<Terms>,
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
        index != self.subject_key && self.attribute(index).role == Role::Identifier
    }

    /// Terms of subjects who gave none.
    pub fn default_preference(&self) -> Option<&Terms> {
        self.default_preference.as_ref()
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

    fn try_from(document: SchemaDocument) -> Result<Self, TableError> {
        check_name("dataset", &document.name)?;
        check_attributes(&document.attributes)?;
        let (ignored, attributes): (Vec<_>, Vec<_>) = (0..)
            .zip(document.attributes)
            .partition(|(_, attribute)| attribute.role == Role::Ignore);
        let attributes: Vec<Attribute> = attributes.into_iter().map(|(_, one)| one).collect();
        let is_key = |attribute: &Attribute| attribute.name == document.subject_key;
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
            key_rules: document.subject_key_normalization,
            multiplicity: document.multiplicity,
            missing: document.missing,
            extra_columns: document.extra_columns,
            attributes,
            ignored,
            default_preference: document.default_preference,
        };
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
        let subject_key = schema.attribute(schema.subject_key).name.clone();
        let mut attributes = schema.attributes;
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
            attributes,
            default_preference: schema.default_preference,
        }
    }
}

fn check_attributes(attributes: &[Attribute]) -> Result<(), TableError> {
    if attributes.len() > usize::from(u16::MAX) {
        return Err(TableError::Schema("more than 65535 attributes".into()));
    }
    let mut seen = rustc_hash::FxHashSet::default();
    for (position, attribute) in attributes.iter().enumerate() {
        let place = format!("attribute {}", position + 1);
        check_name(&place, &attribute.name)?;
        if !seen.insert(attribute.name.as_str()) {
            return Err(TableError::Schema(format!(
                "{place}: the name is given twice"
            )));
        }
        if attribute.normalize.is_some() && !attribute.has_spellings() {
            return Err(TableError::Schema(format!(
                "{place}: normalize is for sensitive and semi-sensitive categories"
            )));
        }
        let needs_type = !matches!(attribute.role, Role::Identifier | Role::Ignore);
        if needs_type && attribute.kind.is_none() {
            return Err(TableError::Schema(format!(
                "{place}: a type is needed unless the role is identifier or ignore"
            )));
        }
        if attribute.role == Role::Ignore && attribute.hierarchy.is_some() {
            return Err(TableError::Schema(format!(
                "{place}: an ignored attribute has no hierarchy"
            )));
        }
        check_missing_values(&place, &attribute.missing_values)?;
        let fits = |doubt: &Doubt| attribute.kind.is_some_and(|kind| doubt.is_of(kind));
        if !attribute.meant.iter().all(fits) {
            return Err(TableError::Schema(format!(
                "{place}: meant names days of a date, or leading_zeros of an integer"
            )));
        }
    }
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

fn check_missing_values(place: &str, words: &[String]) -> Result<(), TableError> {
    if words.len() > MISSING_VALUES_MAX {
        return Err(TableError::Schema(format!(
            "{place}: more than {MISSING_VALUES_MAX} missing_values"
        )));
    }
    let is_cell = |word: &String| !word.is_empty() && word.trim() == word;
    if words.iter().all(is_cell) {
        words.iter().try_for_each(|word| check_name(place, word))
    } else {
        Err(TableError::Schema(format!(
            "{place}: missing_values are texts without white space at their ends; an empty cell \
             is one already"
        )))
    }
}

fn check_name(place: &str, name: &str) -> Result<(), TableError> {
    let characters = name.chars().count();
    if characters == 0 || characters > NAME_CHARACTERS_MAX {
        return Err(TableError::Schema(format!(
            "{place}: a name has 1 to {NAME_CHARACTERS_MAX} characters"
        )));
    }
    if name.chars().any(char::is_control) {
        return Err(TableError::Schema(format!(
            "{place}: a name holds no control character"
        )));
    }
    Ok(())
}
