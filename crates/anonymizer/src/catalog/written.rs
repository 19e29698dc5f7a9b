//! A release written down as text, and its manifest.

use std::io;

use crate::engine::Scratch;
use crate::privacy::Requirements;
use crate::release::{
    Kept, Lineage, MadeBy, MadeInParts, Manifest, Normalized, PublishedExactly, TableLineage,
    Transformed, guarantees, rounded_to_tens, statement,
};

use super::encoded::{EncodedTable, TableWriter, TextRooms};
use super::engines::Outcome;
use super::parts::Union;
use super::produce::Assignment;

/// What was written of a release.
pub(super) struct Written {
    tables: Vec<EncodedTable>,
    lineage: Lineage,
    /// Records that were left out.
    pub excluded: u64,
    kept: Option<Kept>,
    parts: Option<MadeInParts>,
}

impl Written {
    /// Writes the tables down; the engine's own are dropped.
    ///
    /// # Errors
    /// What a room says.
    pub fn of(made: Outcome, scratch: &dyn Scratch, rooms: &mut TextRooms<'_>) -> io::Result<Self> {
        let release = match made {
            Outcome::Whole(release) => release,
            Outcome::Parts(union) => return Self::of_parts(*union, scratch, rooms),
        };
        let tables = release.tables.iter();
        let tables = tables
            .map(|table| EncodedTable::write(table, rooms(&table.name)?))
            .collect::<io::Result<Vec<EncodedTable>>>()?;
        Ok(Self {
            tables,
            lineage: release.lineage,
            excluded: release.excluded,
            kept: release.kept,
            parts: release.parts,
        })
    }

    /// Writes a release in parts, chunk after chunk of its rows.
    fn of_parts(
        union: Union,
        scratch: &dyn Scratch,
        rooms: &mut TextRooms<'_>,
    ) -> io::Result<Self> {
        let (excluded, parts) = (union.excluded, union.made_in_parts);
        let mut tables: Vec<(String, TableWriter)> = Vec::new();
        let mut lineage: Vec<TableLineage> = Vec::new();
        union.write(scratch, &mut |chunk, subjects| {
            if tables.last().is_none_or(|(name, _)| *name != chunk.name) {
                // The first table has a row a subject.
                if tables.is_empty() {
                    lineage.push(TableLineage {
                        table: chunk.name.clone(),
                        subjects: Vec::new(),
                    });
                }
                let writer = TableWriter::new(rooms(&chunk.name)?);
                tables.push((chunk.name.clone(), writer));
            }
            if let Some(lineage) = lineage.first_mut() {
                lineage.subjects.extend(subjects);
            }
            match tables.last_mut() {
                Some((_, writer)) => writer.rows(&chunk),
                None => Ok(()),
            }
        })?;
        let tables = tables.into_iter();
        Ok(Self {
            tables: tables.map(|(_, writer)| writer.finish()).collect(),
            lineage: Lineage { tables: lineage },
            excluded,
            kept: None,
            parts,
        })
    }
}

/// Describes what was written.
pub(super) fn describe(
    assignment: &Assignment,
    requirements: &Requirements,
    written: Written,
) -> (Manifest, Vec<EncodedTable>, Lineage) {
    let (tables, lineage) = (written.tables, written.lineage);
    let records = lineage.tables.iter();
    let records = records.map(|table| table.subjects.len() as u64);
    let records = records.max().unwrap_or(0);
    let engine = assignment.engine.name();
    let (schema, policy) = (assignment.table.schema(), requirements.ordered());
    let manifest = Manifest {
        format: Manifest::FORMAT.into(),
        engine: engine.into(),
        parameters: assignment.engine.parameters().clone(),
        records,
        excluded: rounded_to_tens(written.excluded),
        suppressed: rounded_to_tens(assignment.suppressed),
        normalized: Normalized::of(assignment.table),
        transformed: Transformed::of(schema),
        guarantees: guarantees(policy, schema),
        adversary: statement::adversary(engine, policy),
        not_protected: statement::not_protected(
            engine,
            schema,
            policy,
            (
                assignment.accept_exact,
                assignment.input.series,
                requirements.history(),
            ),
        ),
        published_exactly: PublishedExactly::default(),
        accept_exact: assignment.accept_exact.to_vec(),
        kept: written.kept.map(Kept::published),
        parts: written.parts,
        tables: tables
            .iter()
            .map(|table| table.description.clone())
            .collect(),
        input: assignment.input.clone(),
        made_by: MadeBy {
            vizard: env!("CARGO_PKG_VERSION").into(),
        },
        unverified: false,
        reproducible_seed: assignment.reproducible_seed,
    };
    (manifest, tables, lineage)
}
