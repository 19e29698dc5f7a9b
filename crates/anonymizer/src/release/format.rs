//! The formats that a published table can be had in.

use serde::{Deserialize, Serialize};

/// A format of published tables. CSV is the canonical one; the others are
/// made from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// `text/csv`.
    #[default]
    Csv,
    /// One JSON object a row.
    Ndjson,
    /// A Parquet file.
    Parquet,
    /// An Arrow IPC stream.
    Arrow,
    /// An Arrow IPC file, with a footer that says where each batch is.
    ArrowFile,
}

impl Format {
    /// All formats, the canonical one first.
    pub const ALL: [Self; 5] = [
        Self::Csv,
        Self::Ndjson,
        Self::Parquet,
        Self::Arrow,
        Self::ArrowFile,
    ];

    /// The word for the format, in `?format=`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Ndjson => "ndjson",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::ArrowFile => "arrow-file",
        }
    }

    /// What stands behind the dot of a file's name.
    pub fn extension(self) -> &'static str {
        match self {
            // As Arrow's own documents call streams and files.
            Self::Arrow => "arrows",
            Self::ArrowFile => "arrow",
            other => other.as_str(),
        }
    }

    /// The format that a word names.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == word)
    }

    /// The media type, without parameters.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv",
            Self::Ndjson => "application/x-ndjson",
            Self::Parquet => "application/vnd.apache.parquet",
            Self::Arrow => "application/vnd.apache.arrow.stream",
            Self::ArrowFile => "application/vnd.apache.arrow.file",
        }
    }

    /// The format that a media type (without parameters) names.
    pub fn of_media_type(media_type: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|format| format.media_type().eq_ignore_ascii_case(media_type))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_media_types_name_their_formats() {
        for format in Format::ALL {
            assert_eq!(Format::parse(format.as_str()), Some(format));
            assert_eq!(Format::of_media_type(format.media_type()), Some(format));
            let word = serde_json::to_value(format).unwrap();
            assert_eq!(word, format.as_str());
        }
        assert_eq!(Format::parse("xlsx"), None);
        assert_eq!(Format::of_media_type("TEXT/CSV"), Some(Format::Csv));
    }
}
