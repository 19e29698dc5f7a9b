//! GLP: how much probability a release puts on values that a record's
//! non-sensitive values never occur with.
//!
//! GLP = (1/n) Σ_t Σ_{s ∈ S − S_t} `Pr(t*[SA] = s)`, S_t the sensitive values
//! that occur with t's quasi-identifiers in the original. With blocks of at
//! least l values of equal share a record loses at least (l − |S_t|)/l, which
//! summed up is the floor.
//!
//! Low is not simply good: blocks that show equal quasi-identifiers and hold
//! all of their true values lose little and disclose by what they have in
//! common. The floor is no goal; the printed algorithm is the peer.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use serde::Serialize;

use crate::microdata::{Role, RowClasses};
use crate::privacy::Protection;

use super::candidates::Candidates;
use crate::utility::evidence::JoinedEvidence;
use crate::utility::report::{Audience, Description};

/// What this measure is.
pub const DESCRIPTION: Description = Description {
    title: "Correlation loss (GLP)",
    audience: Audience::Steward,
    definition: "(1/n) Σ over records t, over sensitive values s that do not occur with t's quasi-identifiers in the original, of the probability of s that the release leaves for t. The floor is Σ max(0, l − |S_t|)/(l·n), S_t the values that do occur. Low is not simply good: blocks of equal quasi-identifiers that all hold their true values lose little, and tell them to whoever compares those blocks (see the attack equal_vectors). Its peer is the figure of the printed algorithm (partitioning: paper).",
    source: "ARP (global loss of privacy-preserving publication); the floor is ours",
};

/// GLP by sensitive attribute.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Glp {
    /// Per attribute.
    pub attributes: BTreeMap<String, AttributeGlp>,
}

/// GLP of one attribute.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AttributeGlp {
    /// GLP, 0 to 1.
    pub glp: f64,
    /// What no blocks of l values can go below.
    pub floor: f64,
    /// Distinct combinations of quasi-identifiers.
    pub vectors: u64,
}

/// Measures every published sensitive attribute.
pub(super) fn measure(prepared: &JoinedEvidence<'_>, candidates: &[Candidates<'_>]) -> Glp {
    let (vector_of, vectors) = vectors(prepared);
    let requirements = prepared.evidence.requirements;
    let of_attribute = |candidates: &Candidates<'_>| {
        let l = match requirements.protection(candidates.index) {
            Protection::Diversity { l, .. } => requirements.l_of_known(candidates.index, l.get()),
            _ => 1,
        };
        let mut seen: FxHashSet<(u32, u32)> = FxHashSet::default();
        let mut number = vec![0_u32; vectors];
        for (&record, &vector) in prepared.records.iter().zip(&vector_of) {
            let own = candidates.attribute.original.code(record).0;
            number[vector as usize] += u32::from(seen.insert((vector, own)));
        }
        let (mut loss, mut floor) = (0.0, 0.0);
        for (row, &vector) in vector_of.iter().enumerate() {
            let values = candidates.of_row(row).iter();
            let unseen = values.filter(|&&(code, _)| !seen.contains(&(vector, code)));
            loss += unseen.map(|&(_, probability)| probability).sum::<f64>();
            floor += f64::from(l.saturating_sub(number[vector as usize])) / f64::from(l);
        }
        let records = vector_of.len().max(1) as f64;
        AttributeGlp {
            glp: loss / records,
            floor: floor / records,
            vectors: vectors as u64,
        }
    };
    let attributes = candidates.iter().map(|candidates| {
        let name = candidates.attribute.published.name.to_owned();
        (name, of_attribute(candidates))
    });
    Glp {
        attributes: attributes.collect(),
    }
}

/// The combination of original quasi-identifiers of each row, and how many
/// there are.
fn vectors(prepared: &JoinedEvidence<'_>) -> (Vec<u32>, usize) {
    let mut vectors = RowClasses::whole(prepared.records.len());
    let quasi = prepared.attributes();
    for attribute in quasi.filter(|attribute| attribute.role == Role::QuasiIdentifier) {
        vectors.refine(|row| attribute.original.code(prepared.records[row]).0);
    }
    (vectors.of_row, vectors.number.max(1))
}
