//! Documents of the pure layers, described for openapi.yaml.
//!
//! Schemas, terms and manifests are read and written by `microdata` and
//! `release`, which know nothing of OpenAPI. These structs say the same in its
//! words; the tests hold real documents against them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::described_formats::{CellFormatDocument, FileFormatDocument};
use crate::job::PartSizes;

/// The schema of a dataset.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Schema, examples(json!({
    "name": "admissions-2026-q3",
    "subject_key": "patient",
    "attributes": [
        {"name": "patient", "role": "identifier"},
        {"name": "age", "role": "semi_sensitive", "type": "integer"},
        {"name": "education", "role": "quasi_identifier", "type": "categorical", "hierarchy": "education"},
        {"name": "salary", "role": "sensitive", "type": "integer"}
    ],
    "default_preference": {"max_leakage": 0.2}
})))]
pub struct SchemaDocument {
    /// Name of the dataset, 1 to 64 characters.
    pub name: String,
    /// The identifier attribute that names the subject.
    pub subject_key: String,
    /// Which spellings of a subject's key are one, in records, terms and paths:
    /// all three rules where nothing is said; none by an empty list. For good.
    #[serde(default)]
    #[schema(max_items = 3)]
    pub subject_key_normalization: Option<Vec<KeyRuleWord>>,
    /// How many records a subject has.
    #[serde(default = "one")]
    pub multiplicity: MultiplicityWord,
    /// What happens to an empty cell: the upload is refused (`reject`), the
    /// record is left out and counted (`drop`), or the missing value is a value
    /// of its own in attributes of every type, published as `(missing)`
    /// (`category`).
    #[serde(default = "reject")]
    pub missing: MissingWord,
    /// What happens to columns that the schema does not name: the upload is
    /// refused, or they are read past and never stored (`ignore`).
    #[serde(default = "refuse")]
    pub extra_columns: ExtraColumnsWord,
    /// How text files are written; UTF-8 with commas, a decimal point and
    /// `YYYY-MM-DD` where nothing is said.
    #[serde(default)]
    pub format: Option<FileFormatDocument>,
    /// The attributes in order.
    pub attributes: Vec<AttributeDocument>,
    /// Terms of subjects who gave none.
    #[serde(default)]
    pub default_preference: Option<TermsDocument>,
    /// What people call the dataset, by language (tags as `en` or `de-CH`); up to 200
    /// characters. Patients and analysts read it.
    #[serde(default)]
    pub title: BTreeMap<String, String>,
    /// What the data are wanted for, by language; up to 4,000 characters.
    #[serde(default)]
    pub purpose: BTreeMap<String, String>,
    /// Who answers questions and how they are reached, by language; up to 4,000 characters.
    #[serde(default)]
    pub contact: BTreeMap<String, String>,
}

fn one() -> MultiplicityWord {
    MultiplicityWord::one
}

fn refuse() -> ExtraColumnsWord {
    ExtraColumnsWord::refuse
}

fn reject() -> MissingWord {
    MissingWord::reject
}

/// One attribute of a schema.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Attribute)]
pub struct AttributeDocument {
    /// Unique in the schema, 1 to 64 characters.
    pub name: String,
    /// What the attribute is to an adversary.
    pub role: RoleWord,
    /// What its values are; an identifier and an ignored attribute need none.
    #[serde(default)]
    pub r#type: Option<TypeWord>,
    /// Name of its hierarchy.
    #[serde(default)]
    pub hierarchy: Option<String>,
    /// Texts of cells that stand for a missing value, beside the empty one: up
    /// to 32 of 1 to 64 characters, not for the subject key.
    #[serde(default)]
    #[schema(max_items = 32)]
    pub missing_values: Vec<String>,
    /// Values that are what they seem, and that the answer to an upload does
    /// not ask about: days of a date, leading zeros of an integer.
    #[serde(default)]
    pub meant: Vec<DoubtWord>,
    /// How its cells are written, where they differ from the file's.
    #[serde(default)]
    pub format: Option<CellFormatDocument>,
    /// What is changed of its values before any engine sees them. Records are
    /// stored as they came; manifests repeat it in `transformed`.
    #[serde(default)]
    pub transform: Option<TransformDocument>,
    /// What people call it, by language (tags as `en` or `de-CH`); up to 200 characters.
    #[serde(default)]
    pub title: BTreeMap<String, String>,
    /// What it says, by language; up to 4,000 characters.
    #[serde(default)]
    pub description: BTreeMap<String, String>,
}

/// What is changed of an attribute's values before any engine sees them.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Transform, examples(json!({"top": 90}), json!({"shift_days": 182}),
    json!({"days_since": "admission", "top": 365})))]
pub struct TransformDocument {
    /// Larger numbers become this one; of integers, decimals and `days_since`, and
    /// a number of that type.
    #[serde(default)]
    pub top: Option<f64>,
    /// Smaller numbers become this one, which lies below `top`.
    #[serde(default)]
    pub bottom: Option<f64>,
    /// All dates of a subject are moved by the same number of days, drawn for the
    /// subject from 1 to this many, back or forth; the same in every date.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 3653)]
    pub shift_days: Option<u32>,
    /// A date becomes the days since the record's date of this name: an integer.
    #[serde(default)]
    pub days_since: Option<String>,
}

/// What values may be asked about.
#[derive(Deserialize, ToSchema)]
#[schema(as = Doubt)]
pub enum DoubtWord {
    /// 9999-12-31, which many programs write where no day is known, or where
    /// nothing ends.
    #[serde(rename = "day_9999_12_31")]
    LastDay,
    /// 1900-01-01, which many programs write where no day is known.
    #[serde(rename = "day_1900_01_01")]
    FirstDay,
    /// Whole numbers that begin with a zero: rather codes, whose zeros are lost.
    #[serde(rename = "leading_zeros")]
    LeadingZeros,
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident as $public:ident { $($word:ident),* }) => {
        $(#[$doc])*
        #[derive(Deserialize, ToSchema)]
        #[schema(as = $public)]
        #[allow(non_camel_case_types, reason = "the words as they are written")]
        pub enum $name { $(
            #[doc = stringify!($word)]
            $word
        ),* }
    };
}

words! {
    /// What an attribute is to an adversary.
    RoleWord as AttributeRole { identifier, quasi_identifier, semi_sensitive, sensitive, insensitive, ignore }
}
words! {
    /// What the values of an attribute are.
    TypeWord as AttributeType { integer, decimal, date, categorical }
}
words! {
    /// Letters and marks in one piece (`nfc`); no characters that nobody sees
    /// (`zero_width`); no white space at both ends (`trim`).
    KeyRuleWord as KeyRule { nfc, zero_width, trim }
}
words! {
    /// How many records a subject has.
    MultiplicityWord as Multiplicity { one, many }
}
words! {
    /// What happens to columns that the schema does not name.
    ExtraColumnsWord as ExtraColumns { refuse, ignore }
}
words! {
    /// What happens to an empty cell.
    MissingWord as MissingPolicy { reject, drop, category }
}
words! {
    /// What the cells of a published column are.
    ContentWord as Content {
        group, block, bucket, generalized, exact, fingerprint, attribute, value, count,
        counterfeits, column
    }
}

/// What a subject asks for.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Terms, examples(json!({
    "sensitive": ["age"], "max_leakage": 0.25, "max_reidentification": 0.1
})))]
pub struct TermsDocument {
    /// Semi-sensitive attributes whose value is to be treated as sensitive.
    #[serde(default)]
    pub sensitive: Option<Vec<String>>,
    /// Probability with which a sensitive value may be linked to the subject.
    #[serde(default)]
    pub max_leakage: Option<MaxLeakageDocument>,
    /// Probability with which a published row may be linked to the subject; above 0, at most 1.
    #[serde(default)]
    #[schema(exclusive_minimum = 0.0, maximum = 1.0)]
    pub max_reidentification: Option<f64>,
    /// Whether the subject is in no release made from now on.
    #[serde(default)]
    pub exclude: bool,
    /// Nodes of a sensitive attribute's hierarchy: any value under them leaks.
    #[serde(default)]
    pub guard: BTreeMap<String, Vec<String>>,
    /// In a request: the subject of the path once more, if at all.
    #[serde(default)]
    pub subject: Option<String>,
}

/// A bound for all attributes, or one for each attribute named.
#[derive(Deserialize, ToSchema)]
#[schema(as = MaxLeakage)]
#[serde(untagged)]
pub enum MaxLeakageDocument {
    /// For all attributes that the job protects by l-diversity; above 0, at most 1.
    #[schema(title = "all")]
    All(f64),
    /// For the named attributes; each above 0, at most 1.
    #[schema(title = "by attribute")]
    PerAttribute(BTreeMap<String, f64>),
}

/// What is in a release, what it claims and against whom.
#[derive(Deserialize, ToSchema)]
#[schema(as = Manifest)]
pub struct ManifestDocument {
    /// `vizard-release/1`.
    pub format: String,
    /// Name of the engine.
    pub engine: String,
    /// The job's parameters, defaults filled in.
    #[schema(value_type = Object)]
    pub parameters: Value,
    /// Records published.
    pub records: u64,
    /// Records left out at their subject's wish or because their terms cannot be met;
    /// rounded to tens. Stewards only.
    #[serde(default)]
    #[schema(nullable = false)]
    pub excluded: Option<u64>,
    /// Records left out for another reason; rounded to tens. Stewards only.
    #[serde(default)]
    #[schema(nullable = false)]
    pub suppressed: Option<u64>,
    /// What is claimed; `kind` tells which of the other fields there are.
    #[schema(value_type = Vec<Object>)]
    pub guarantees: Vec<Value>,
    /// Against whom.
    pub adversary: String,
    /// What is not protected.
    pub not_protected: Vec<String>,
    /// Attributes that stand as they are (`attributes`: name, role, different
    /// values, share of records alone with theirs), and the share of records
    /// alone with all of them.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub published_exactly: Value,
    /// Attributes published although they may identify people, with reasons.
    #[serde(default)]
    #[schema(value_type = Vec<Object>, required = false)]
    pub accept_exact: Value,
    /// Other public releases of the same people: shared subjects, and what both
    /// releases tell together; counts rounded up to tens.
    #[serde(default)]
    #[schema(value_type = Vec<Object>, required = false)]
    pub composition: Value,
    /// What it keeps of public releases, where its series keeps sets of values.
    #[serde(default)]
    #[schema(required = false)]
    pub kept: Option<KeptDocument>,
    /// The parts that it was made in; absent where it was made as a whole, or where
    /// parts change nothing.
    #[serde(default)]
    #[schema(nullable = false)]
    pub parts: Option<MadeInPartsDocument>,
    /// Why it is an exception from the operator's floors (`reason`), and what is
    /// below them (`below`); absent where it is none.
    #[serde(default)]
    #[schema(value_type = Object, required = false)]
    pub floor_exception: Value,
    /// The tables.
    pub tables: Vec<TableDocument>,
    /// What it was made from.
    pub input: InputDocument,
    /// By which program.
    pub made_by: MadeByDocument,
}

/// The parts that a release was made in.
#[derive(Deserialize, ToSchema)]
#[schema(as = MadeInParts)]
pub struct MadeInPartsDocument {
    /// How large they are.
    pub sizes: PartSizes,
    /// How many there are.
    pub number: u64,
}

/// What a release keeps of the public releases of its subjects.
#[derive(Deserialize, ToSchema)]
#[schema(as = Kept)]
pub struct KeptDocument {
    /// Subjects who are in no release yet and wait for the next one; rounded to
    /// tens. Stewards only.
    #[serde(default)]
    #[schema(nullable = false)]
    pub waiting: Option<u64>,
    /// Subjects who were public and are left out, so that nobody is told from
    /// those who left or whose values changed, who are among them; rounded to
    /// tens. Of `nested`, stewards only.
    #[serde(default)]
    #[schema(nullable = false)]
    pub companions: Option<u64>,
    /// Whether its groups are those of public releases, joined to larger ones; absent
    /// where they are not.
    #[serde(default)]
    #[schema(nullable = false)]
    pub joins_groups: Option<bool>,
    /// `visible` where subjects whose value changed show another set; absent where
    /// they show the old one.
    #[serde(default)]
    #[schema(nullable = false)]
    pub changes: Option<String>,
    /// Each published sensitive attribute, where sets of values are kept.
    #[serde(default)]
    #[schema(required = false)]
    pub attributes: Vec<KeptAttributeDocument>,
}

/// How a sensitive attribute keeps the sets of values that were shown before.
#[derive(Deserialize, ToSchema)]
#[schema(as = KeptAttribute)]
pub struct KeptAttributeDocument {
    /// The attribute.
    pub attribute: String,
    /// Published values, counterfeits among them.
    pub values: u64,
    /// Values that belong to no row: they stand for subjects who left.
    pub counterfeits: u64,
    /// Rows whose value is another one now than those of the set that was shown
    /// of them, and is shown again; rounded to tens. Stewards only.
    #[serde(default)]
    #[schema(nullable = false)]
    pub outdated: Option<u64>,
    /// Rows that show another set than before, because their value changed; of
    /// `changes` that are visible.
    #[serde(default)]
    #[schema(nullable = false)]
    pub renewed: Option<u64>,
}

/// One table of a release.
#[derive(Deserialize, ToSchema)]
#[schema(as = TableDescription)]
pub struct TableDocument {
    /// Its name.
    pub name: String,
    /// Its rows.
    pub rows: u64,
    /// SHA-256 of its CSV form.
    pub sha256: String,
    /// Its columns in order.
    pub columns: Vec<ColumnDocument>,
}

/// One column of a table.
#[derive(Deserialize, ToSchema)]
#[schema(as = ColumnDescription)]
pub struct ColumnDocument {
    /// Its name in the header.
    pub name: String,
    /// What its cells are.
    pub content: ContentWord,
    /// Type of the attribute that it publishes.
    #[serde(default)]
    pub r#type: Option<TypeWord>,
}

/// What a release was made from.
#[derive(Deserialize, ToSchema)]
#[schema(as = InputDescription)]
pub struct InputDocument {
    /// The dataset.
    pub dataset: String,
    /// Its version.
    pub version: u64,
    /// How the release continues the public releases of the same people:
    /// `increments` has only subjects who were in none of them, with `nested` every
    /// subject keeps the group that they show, with `invariant` the sets of values.
    #[serde(default)]
    #[schema(required = false)]
    pub series: Option<String>,
}

/// The program that made a release.
#[derive(Deserialize, ToSchema)]
#[schema(as = MadeBy)]
pub struct MadeByDocument {
    /// Version of Vizard.
    pub vizard: String,
}
