//! From what a run made to what the store commits.

use rayon::prelude::*;
use serde_json::{Value, json};
use vizard_anonymizer::catalog::{EncodedTable, Piece, Produced};
use vizard_anonymizer::microdata::{Schema, Table, from_hex};
use vizard_anonymizer::release::{PIECE_BYTES_MAX, pack};

use crate::ids::ReleaseId;
use crate::job::consent::JobPromise;
use crate::job::floors::Made;
use crate::job::{JobFailure, JobSpec, PublishMode};
use crate::store::{
    NewPiece, NewReleaseTable, OperatorRules, PublishRequest, ReleaseCommit, publish_questions,
};

/// What one job commits: documents, compressed pieces, lineage, and with
/// `"publish": "automatic"` the checks that publishing asks for.
pub fn commit(
    table: &Table,
    spec: &JobSpec,
    produced: Produced,
    operator: OperatorRules,
) -> Result<ReleaseCommit, JobFailure> {
    let report = produced.report.unwrap_or(Value::Null);
    let lineage = produced.lineage.to_csv(table);
    let candidates = produced.candidates.to_bytes();
    let candidates = candidates.map_err(|_| JobFailure::Internal)?;
    let tables: Option<Vec<NewReleaseTable>> =
        produced.tables.into_iter().map(compressed).collect();
    let verification = document(&produced.verdict)?;
    let publish = match spec.publish {
        PublishMode::Manual => None,
        PublishMode::Automatic => {
            let promised = JobPromise::of(spec, Schema::clone(table.schema()))?;
            let made = Made::of(&report, &verification);
            let (check, rules) = publish_questions(promised, spec, made, operator);
            Some(PublishRequest {
                rules: Some(rules),
                ..check.into()
            })
        }
    };
    Ok(ReleaseCommit {
        id: ReleaseId::generate(),
        manifest: document(&produced.manifest)?,
        claims: json!({
            "records": produced.manifest.records,
            "excluded": produced.excluded,
            "suppressed": produced.suppressed,
            "guarantees": document(&produced.manifest.guarantees)?,
            "accept_exact": document(&produced.manifest.accept_exact)?,
        }),
        report,
        verification,
        lineage,
        candidates,
        tables: tables.ok_or(JobFailure::Internal)?,
        explored: None,
        publish,
    })
}

fn document(written: &impl serde::Serialize) -> Result<Value, JobFailure> {
    serde_json::to_value(written).map_err(|_| JobFailure::Internal)
}

fn compressed(table: EncodedTable) -> Option<NewReleaseTable> {
    let compress = |pieces: &[Piece]| {
        let text = table.text(pieces).ok()?;
        Some(NewPiece {
            bytes: pack(&text).ok()?,
            raw_bytes: text.len() as u64,
            rows: pieces.iter().map(|piece| piece.rows).sum(),
        })
    };
    let stored: Option<Vec<NewPiece>> = stored_together(&table.pieces)
        .into_par_iter()
        .map(compress)
        .collect();
    let description = table.description;
    Some(NewReleaseTable {
        columns: serde_json::to_value(&description.columns).ok()?,
        rows: description.rows,
        sha256: from_hex(&description.sha256)?,
        name: description.name,
        pieces: stored?,
    })
}

/// Pieces in runs that are stored as one: as many as fit
/// [`PIECE_BYTES_MAX`], at least one.
fn stored_together(pieces: &[Piece]) -> Vec<&[Piece]> {
    let mut runs = Vec::new();
    let mut rest = pieces;
    while let Some(first) = rest.first() {
        let end = first.bytes.start + PIECE_BYTES_MAX as u64;
        let fit = rest.partition_point(|piece| piece.bytes.end <= end);
        let (run, behind) = rest.split_at(fit.max(1));
        runs.push(run);
        rest = behind;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_stored_together_up_to_the_size_of_a_stored_piece() {
        let most = PIECE_BYTES_MAX as u64;
        let lengths = [most - 10, 10, 1, most - 2, 2, 2 * most, 5];
        let mut end = 0;
        let pieces = lengths.map(|length| {
            end += length;
            Piece {
                bytes: end - length..end,
                rows: 1,
            }
        });
        let runs = stored_together(&pieces);
        let lengths: Vec<usize> = runs.iter().map(|run| run.len()).collect();
        assert_eq!(lengths, [2, 2, 1, 1, 1]);
        assert_eq!(runs.concat(), pieces);
        assert!(stored_together(&[]).is_empty());
    }
}
