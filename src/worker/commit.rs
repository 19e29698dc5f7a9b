//! From what a run made to what the store commits.

use rayon::prelude::*;
use serde_json::{Value, json};

use crate::catalog::{EncodedTable, Engine, Piece, Produced};
use crate::ids::ReleaseId;
use crate::job::consent::{self, TermsChange};
use crate::job::{JobFailure, JobSpec, PublishMode};
use crate::microdata::{Table, from_hex};
use crate::release::pack;
use crate::store::{NewPiece, NewReleaseTable, PublishCheck, PublishDecision, ReleaseCommit};

/// What one job commits: documents, compressed pieces, lineage, and with
/// `"publish": "automatic"` the check that publishing asks for.
pub fn commit(
    table: &Table,
    engine: &Engine,
    spec: &JobSpec,
    produced: Produced,
) -> Result<ReleaseCommit, JobFailure> {
    let lineage = produced.lineage.to_csv(table);
    let tables: Option<Vec<NewReleaseTable>> =
        produced.tables.into_iter().map(compressed).collect();
    let publish = match spec.publish {
        PublishMode::Manual => None,
        PublishMode::Automatic => Some(publish_check(table, engine)?),
    };
    Ok(ReleaseCommit {
        id: ReleaseId::generate(),
        manifest: document(&produced.manifest)?,
        claims: json!({
            "records": produced.manifest.records,
            "excluded": produced.manifest.excluded,
            "suppressed": produced.manifest.suppressed,
            "guarantees": document(&produced.manifest.guarantees)?,
        }),
        report: produced.report.unwrap_or(Value::Null),
        verification: document(&produced.verdict)?,
        lineage,
        tables: tables.ok_or(JobFailure::Internal)?,
        publish,
    })
}

fn document(written: &impl serde::Serialize) -> Result<Value, JobFailure> {
    serde_json::to_value(written).map_err(|_| JobFailure::Internal)
}

fn compressed(table: EncodedTable) -> Option<NewReleaseTable> {
    let description = table.description;
    let compress = |piece: Piece| {
        let bytes = pack(&piece.bytes).ok()?;
        Some(NewPiece {
            bytes,
            raw_bytes: piece.bytes.len() as u64,
            rows: piece.rows,
        })
    };
    Some(NewReleaseTable {
        columns: serde_json::to_value(&description.columns).ok()?,
        rows: description.rows,
        sha256: from_hex(&description.sha256)?,
        name: description.name,
        pieces: table
            .pieces
            .into_par_iter()
            .map(compress)
            .collect::<Option<_>>()?,
    })
}

fn publish_check(table: &Table, engine: &Engine) -> Result<PublishCheck, JobFailure> {
    let schema = std::sync::Arc::clone(table.schema());
    let policy = engine.policy(&schema)?;
    Ok(Box::new(move |changes, lineage| {
        let changes = changes.iter().map(|change| TermsChange {
            subject: &change.subject,
            old: change.old.as_ref(),
            new: change.new.as_ref(),
        });
        match consent::allows(&schema, &policy, changes, lineage) {
            true => PublishDecision::Allow,
            false => PublishDecision::Refuse,
        }
    }))
}
