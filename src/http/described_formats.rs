//! The format of files and of cells, described for openapi.yaml as `described`
//! does the rest of a schema.

use serde::Deserialize;
use utoipa::ToSchema;

/// How a text file of a dataset is written.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = FileFormat, examples(json!({
    "delimiter": ";", "encoding": "windows-1252", "decimal": ",", "thousands": ".",
    "dates": ["DD.MM.YYYY"], "missing_values": ["NULL", "NA"]
})))]
pub struct FileFormatDocument {
    /// Between cells of CSV: a tab or an ASCII sign; `,` where nothing is said.
    #[serde(default)]
    pub delimiter: Option<char>,
    /// Around cells of CSV: `"` (the default), `'` or `none`.
    #[serde(default)]
    pub quote: Option<QuoteWord>,
    /// Of CSV; JSON is UTF-8.
    #[serde(default)]
    pub encoding: Option<EncodingWord>,
    /// In numbers; a point where nothing is said.
    #[serde(default)]
    pub decimal: Option<DecimalWord>,
    /// Between groups of three digits; none where nothing is said.
    #[serde(default)]
    pub thousands: Option<ThousandsWord>,
    /// Forms of days, tried in order; `YYYY-MM-DD` where nothing is said.
    #[serde(default)]
    #[schema(max_items = 8)]
    pub dates: Vec<String>,
    /// First year that two digits stand for; needed where a form has `YY`.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 9900)]
    pub two_digit_years_from: Option<u16>,
    /// Texts of cells that stand for a missing value in every attribute.
    #[serde(default)]
    #[schema(max_items = 32)]
    pub missing_values: Vec<String>,
}

/// How the cells of one attribute are written, where they differ from the
/// file's.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = CellFormat, examples(json!({"dates": ["MM/DD/YYYY"]}), json!({"open_ended": true})))]
pub struct CellFormatDocument {
    /// In numbers; the file's where nothing is said.
    #[serde(default)]
    pub decimal: Option<DecimalWord>,
    /// Between groups of three digits. An attribute that names its decimal
    /// sign names this as well, or has none.
    #[serde(default)]
    pub thousands: Option<ThousandsWord>,
    /// Forms of days; the file's where nothing is said.
    #[serde(default)]
    #[schema(max_items = 8)]
    pub dates: Vec<String>,
    /// First year that two digits stand for; the file's where nothing is said.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 9900)]
    pub two_digit_years_from: Option<u16>,
    /// Whether `90+` and `<5` stand for their bounds, 90 and 5.
    #[serde(default)]
    pub open_ended: bool,
    /// Words that are read as `true`.
    #[serde(default)]
    #[schema(max_items = 32)]
    pub r#true: Vec<String>,
    /// Words that are read as `false`.
    #[serde(default)]
    #[schema(max_items = 32)]
    pub r#false: Vec<String>,
}

/// What stands around a cell that holds a delimiter.
#[derive(Deserialize, ToSchema)]
#[schema(as = Quote)]
pub enum QuoteWord {
    /// A double quote, doubled inside a cell.
    #[serde(rename = "\"")]
    Double,
    /// A single quote, doubled inside a cell.
    #[serde(rename = "'")]
    Single,
    /// Nothing: a quote is a character as any other.
    #[serde(rename = "none")]
    None,
}

/// How the bytes of a text file are characters.
#[derive(Deserialize, ToSchema)]
#[schema(as = Encoding)]
pub enum EncodingWord {
    /// UTF-8.
    #[serde(rename = "utf-8")]
    Utf8,
    /// Windows-1252.
    #[serde(rename = "windows-1252")]
    Windows1252,
    /// ISO 8859-1, read as Windows-1252.
    #[serde(rename = "iso-8859-1")]
    Latin1,
    /// ISO 8859-15.
    #[serde(rename = "iso-8859-15")]
    Latin9,
    /// UTF-16, the byte order as its mark says; little end first without one.
    #[serde(rename = "utf-16")]
    Utf16,
}

/// The sign before the fraction of a number.
#[derive(Deserialize, ToSchema)]
#[schema(as = DecimalSign)]
pub enum DecimalWord {
    /// As in 1.5.
    #[serde(rename = ".")]
    Point,
    /// As in 1,5.
    #[serde(rename = ",")]
    Comma,
}

/// The sign between groups of three digits.
#[derive(Deserialize, ToSchema)]
#[schema(as = Thousands)]
pub enum ThousandsWord {
    /// As in 1.234.
    #[serde(rename = ".")]
    Point,
    /// As in 1,234.
    #[serde(rename = ",")]
    Comma,
    /// As in 1 234, with a plain or a thin space, or one that does not break.
    #[serde(rename = " ")]
    Space,
    /// As in 1'234.
    #[serde(rename = "'")]
    Apostrophe,
}
