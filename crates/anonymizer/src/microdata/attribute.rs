//! One attribute of a schema: its name, its role and what its cells are.

use serde::{Deserialize, Serialize};

use super::dialect::{CellFormat, FileFormat, or_default};
use super::spelling::{DEFAULT_FORMS, Form};
use super::transform::Transform;
use super::wording::Wording;

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
    /// Read past, never stored; not among a schema's [`Schema::attributes`](super::schema::Schema::attributes).
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

/// Most days by which dates are moved: ten years.
const SHIFT_DAYS_MAX: u32 = 3653;

/// Words of a kind that a schema may name for the cells of an attribute.
const WORDS_MAX: usize = 32;

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
    /// How its cells are written, where they differ from the file's.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_as_the_file"
    )]
    pub format: CellFormat,
    /// What is changed of its values before any engine sees them.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "Transform::is_nothing"
    )]
    pub transform: Transform,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Wording::is_empty")]
    pub title: Wording,
    /// What it says, for people.
    #[serde(default, skip_serializing_if = "Wording::is_empty")]
    pub description: Wording,
}

fn is_as_the_file(format: &CellFormat) -> bool {
    *format == CellFormat::default()
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

    /// What contradicts itself in what its values are changed by.
    fn check_transform(&self, place: &str) -> Result<(), String> {
        let transform = &self.transform;
        if transform.is_nothing() {
            return Ok(());
        }
        let says = |what: &str| Err(format!("{place}: transform: {what}"));
        if matches!(self.role, Role::Identifier | Role::Ignore) {
            return says("identifiers and ignored attributes are not published: take it away");
        }
        let is_date = self.kind == Some(AttributeType::Date);
        if !is_date && (transform.shift_days.is_some() || transform.days_since.is_some()) {
            return says("shift_days and days_since are for dates");
        }
        if transform.shift_days.is_some() && transform.days_since.is_some() {
            return says("days_since needs no shift_days: both dates are moved by the same days");
        }
        if transform
            .shift_days
            .is_some_and(|days| !(1..=SHIFT_DAYS_MAX).contains(&days))
        {
            return Err(format!(
                "{place}: transform: shift_days lies between 1 and {SHIFT_DAYS_MAX}"
            ));
        }
        let bounds = [&transform.bottom, &transform.top].map(Option::as_ref);
        let fits = match self.kind {
            Some(AttributeType::Decimal) => bounds.iter().flatten().all(|bound| {
                let bound = bound.as_f64();
                bound.is_some_and(f64::is_finite)
            }),
            Some(AttributeType::Integer) => bounds.iter().flatten().all(|one| one.is_i64()),
            Some(AttributeType::Date) if transform.days_since.is_some() => {
                bounds.iter().flatten().all(|one| one.is_i64())
            }
            _ => bounds.iter().all(Option::is_none),
        };
        if !fits {
            return says(
                "top and bottom are for integers, decimals and days_since, and are numbers of that \
                 type",
            );
        }
        let is_above = match bounds {
            [Some(bottom), Some(top)] => match (bottom.as_i64(), top.as_i64()) {
                (Some(bottom), Some(top)) => bottom >= top,
                _ => bottom.as_f64() >= top.as_f64(),
            },
            _ => false,
        };
        if is_above {
            return says("bottom lies below top");
        }
        Ok(())
    }

    /// What contradicts itself, in words that begin with `place`.
    pub(super) fn check(&self, place: &str, file: &FileFormat) -> Result<(), String> {
        let says = |what: &str| Err(format!("{place}: {what}"));
        check_name(place, &self.name)?;
        if self.normalize.is_some() && !self.has_spellings() {
            return says("normalize is for sensitive and semi-sensitive categories");
        }
        let needs_type = !matches!(self.role, Role::Identifier | Role::Ignore);
        if needs_type && self.kind.is_none() {
            return says("a type is needed unless the role is identifier or ignore");
        }
        if self.role == Role::Ignore && self.hierarchy.is_some() {
            return says("an ignored attribute has no hierarchy");
        }
        check_words(&format!("{place}: missing_values"), &self.missing_values)?;
        let fits = |doubt: &Doubt| self.kind.is_some_and(|kind| doubt.is_of(kind));
        if !self.meant.iter().all(fits) {
            return says("meant names days of a date, or leading_zeros of an integer");
        }
        self.title.check_title(&format!("{place}: title"))?;
        self.description
            .check_text(&format!("{place}: description"))?;
        self.check_transform(place)?;
        self.format.check(place, self, file)
    }
}

/// Words that cells may be: a few, none empty, since cells are trimmed.
pub(super) fn check_words(place: &str, words: &[String]) -> Result<(), String> {
    if words.len() > WORDS_MAX {
        return Err(format!("{place}: more than {WORDS_MAX} words"));
    }
    let is_cell = |word: &String| !word.is_empty() && word.trim() == word;
    if words.iter().all(is_cell) {
        words.iter().try_for_each(|word| check_name(place, word))
    } else {
        Err(format!(
            "{place}: words are texts without white space at their ends; an empty cell is a \
             missing value already"
        ))
    }
}

pub(super) fn check_name(place: &str, name: &str) -> Result<(), String> {
    let characters = name.chars().count();
    if characters == 0 || characters > NAME_CHARACTERS_MAX {
        return Err(format!(
            "{place}: a name has 1 to {NAME_CHARACTERS_MAX} characters"
        ));
    }
    if name.chars().any(char::is_control) {
        return Err(format!("{place}: a name holds no control character"));
    }
    Ok(())
}
