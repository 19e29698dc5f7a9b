//! The bundled sample: a made-up hospital table with hierarchies and
//! preferences, compiled in so that the demo needs no file.
//!
//! `crates/anonymizer/examples/make_sample` generates it.

/// Schema and job.
pub const SPEC: &[u8] = include_bytes!("../../sample/spec.json");
/// The records.
pub const RECORDS: &[u8] = include_bytes!("../../sample/records.csv");
/// What subjects ask for.
pub const PREFERENCES: &[u8] = include_bytes!("../../sample/preferences.csv");
/// Hierarchies by name.
pub const HIERARCHIES: &[(&str, &[u8])] = &[
    (
        "diagnosis",
        include_bytes!("../../sample/hierarchies/diagnosis.csv"),
    ),
    (
        "district",
        include_bytes!("../../sample/hierarchies/district.csv"),
    ),
    (
        "profession",
        include_bytes!("../../sample/hierarchies/profession.csv"),
    ),
];
