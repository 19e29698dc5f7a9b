//! What the parts of an upload brought.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use vizard_anonymizer::microdata::PartsSummary;

/// Tables about one subject, each a part with its own `content-type`, `text/csv` or
/// `application/x-ndjson`, and the name of its table; in any order.
#[derive(ToSchema)]
#[allow(dead_code, reason = "describes a body that is read as it arrives")]
pub(super) struct RecordParts {
    /// First, where it is there: which table gives which attribute
    /// (`application/json`), or `fhir` or `omop` (`text/plain`).
    mapping: Option<Value>,
}

/// What one table of an upload brought.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct PartView {
    /// Its name in the mapping; `part 2` and the like without one.
    #[schema(examples("Condition"))]
    table: String,
    /// Rows read.
    #[schema(examples(341_022))]
    rows: u64,
    /// Rows left out because nobody knows their subject.
    #[schema(examples(0))]
    unknown_subjects: u64,
}

/// Resources of an upload that its mapping does not name.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct OtherResourceView {
    /// Their type, as FHIR R4 names it; `other` where it names none.
    #[schema(examples("Observation"))]
    resource: String,
    /// How many there are.
    #[schema(examples(12))]
    count: u64,
}

/// The tables of an upload of parts.
pub(super) fn tables(parts: &PartsSummary) -> Vec<PartView> {
    let tables = parts.tables.iter().map(|table| PartView {
        table: table.table.clone(),
        rows: table.rows,
        unknown_subjects: table.unknown_subjects,
    });
    tables.collect()
}

/// What its mapping does not name.
pub(super) fn others(parts: &PartsSummary) -> Vec<OtherResourceView> {
    let others = parts.other_resources.iter();
    let others = others.map(|&(resource, count)| OtherResourceView {
        resource: resource.into(),
        count,
    });
    others.collect()
}
