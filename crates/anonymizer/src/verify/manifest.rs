//! The manifest, written anew: from what the job ordered, from its policy and
//! from the tables that were decoded, without a look at the manifest that is
//! there. Both must be the same to the byte, so that nothing else can be said
//! in it, and nothing left out.

use rayon::prelude::*;
use serde_json::Value;

use super::claims::claimed;
use super::conservation::everyone;
use super::evidence::Evidence;
use super::exact::published_exactly;
use super::shape::is_readable;
use super::verdict::{Check, Failures};
use crate::release::{
    MadeBy, Manifest, Normalized, PublishedTable, TableDescription, Transformed, encode_csv,
    rounded_to_tens, statement,
};

/// Bytes that are digested at a time: they are forgotten again, and fit a
/// processor's cache.
const DIGEST_BYTES: usize = 256 << 10;

/// `table_digests` and `manifest_as_rendered`.
pub(super) fn checks(evidence: &Evidence) -> [Check; 2] {
    let tables = evidence.tables.par_iter();
    let described: Vec<Option<TableDescription>> = tables.map(describe).collect();
    [
        table_digests(evidence, &described),
        manifest_as_rendered(evidence, described.into_iter().collect()),
    ]
}

/// The description of a table, with the digest of its CSV form written anew
/// from what was read; none if the table cannot be written.
fn describe(table: &PublishedTable) -> Option<TableDescription> {
    let is_whole = is_readable(table);
    is_whole.then(|| {
        let summary = encode_csv(table, DIGEST_BYTES, &mut |_, _| {});
        TableDescription::of(table, &summary)
    })
}

/// The SHA-256 that the manifest gives is that of the table.
fn table_digests(evidence: &Evidence, described: &[Option<TableDescription>]) -> Check {
    let mut failures = Failures::none();
    for (table, description) in evidence.tables.iter().zip(described) {
        let mut given = evidence.manifest.tables.iter();
        match given.find(|given| given.name == table.name) {
            None => failures.add("a table is not in the manifest"),
            Some(given) => {
                let same = description.as_ref().map(|made| &made.sha256) == Some(&given.sha256);
                if !same {
                    failures.add("a table is not the one whose digest the manifest gives");
                }
            }
        }
    }
    Check::structure("table_digests", &failures)
}

/// The manifest is the one that this release must have, to the byte.
fn manifest_as_rendered(evidence: &Evidence, tables: Option<Vec<TableDescription>>) -> Check {
    let mut failures = Failures::none();
    match tables {
        None => failures.add("not examined: a table cannot be written anew"),
        Some(tables) => compare(
            &rendered(evidence, tables),
            evidence.manifest,
            &mut failures,
        ),
    }
    Check::structure("manifest_as_rendered", &failures)
}

/// The manifest that a release of these tables must have.
fn rendered(evidence: &Evidence, tables: Vec<TableDescription>) -> Manifest {
    let ordered = &evidence.ordered;
    let schema = evidence.table.schema();
    let policy = evidence.requirements.ordered();
    // Every engine publishes the table with the rows of people first.
    let records = tables.first().map_or(0, |table| table.rows);
    Manifest {
        format: Manifest::FORMAT.into(),
        engine: ordered.engine.into(),
        parameters: ordered.parameters.clone(),
        records,
        excluded: rounded_to_tens(everyone(evidence.table).saturating_sub(records)),
        suppressed: rounded_to_tens(ordered.suppressed),
        normalized: Normalized::of(evidence.table),
        transformed: Transformed::of(schema),
        guarantees: claimed(schema, policy),
        adversary: statement::adversary(ordered.engine, policy),
        not_protected: statement::not_protected(
            ordered.engine,
            schema,
            policy,
            (
                ordered.accept_exact,
                ordered.input.series,
                evidence.requirements.history(),
            ),
        ),
        published_exactly: published_exactly(evidence.tables, evidence.requirements, schema),
        accept_exact: ordered.accept_exact.to_vec(),
        // Where there is something to keep, `blocks::kept` compares.
        kept: match evidence.requirements.history() {
            Some(_) => evidence.manifest.kept.clone(),
            None => None,
        },
        // How many there are follows from nothing that is published.
        parts: evidence
            .manifest
            .parts
            .filter(|made| ordered.parts == Some(made.sizes) && made.number > 0),
        tables,
        input: ordered.input.clone(),
        made_by: MadeBy {
            vizard: env!("CARGO_PKG_VERSION").into(),
        },
        unverified: false,
        reproducible_seed: ordered.reproducible_seed,
    }
}

/// Names the first field of `found` that is not as in `wanted`, never what is
/// in it.
fn compare(wanted: &Manifest, found: &Manifest, failures: &mut Failures) {
    let bytes = |manifest: &Manifest| serde_json::to_vec(manifest).ok();
    let written = bytes(found);
    if written.is_some() && written == bytes(wanted) {
        return;
    }
    let fields = |manifest: &Manifest| serde_json::to_value(manifest).unwrap_or(Value::Null);
    let (wanted, found) = (fields(wanted), fields(found));
    // Of texts, as 1 and 1.0 are the same number and not the same byte.
    let text = |document: &Value, name: &str| document.get(name).map(Value::to_string);
    let differs = |name: &str| text(&wanted, name) != text(&found, name);
    let mut notes = NOTES.iter();
    let first = notes.find(|(name, _)| differs(name));
    failures.add(first.map_or("the manifest is not as rendered", |&(_, note)| note));
}

macro_rules! notes {
    ($($name:literal),* $(,)?) => {
        [$(($name, concat!("`", $name, "` is not what a manifest of this release says"))),*]
    };
}

/// The fields of a manifest, and what is said of one that differs.
const NOTES: [(&str, &str); 20] = notes![
    "format",
    "engine",
    "parameters",
    "records",
    "excluded",
    "suppressed",
    "normalized",
    "transformed",
    "guarantees",
    "adversary",
    "not_protected",
    "published_exactly",
    "accept_exact",
    "kept",
    "parts",
    "tables",
    "input",
    "made_by",
    "unverified",
    "reproducible_seed",
];
