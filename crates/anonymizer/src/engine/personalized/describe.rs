//! `personalized` as an engine of the list.

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::info::{Engine, Info};
use crate::microdata::{Multiplicity, Schema, Table};
use crate::privacy::{Policy, Requirements};
use crate::release::Release;
use crate::release::layout::MICRODATA;

use super::params::Params;
use super::run;

impl Engine for Params {
    const INFO: Info = Info {
        name: "personalized",
        title: "k-anonymization satisfying personalized privacy",
        question: "Publish generalized records where each person has their own bound on what may be \
                   linked to them?",
        costs: "A sensitive value may be published as a node of its hierarchy.",
        needs: "One record a person, and a sensitive attribute with a hierarchy, whose nodes people \
                name.",
        multiplicity: Multiplicity::One,
        guarantees: &["k_anonymity", "max_leakage"],
        tables: &[MICRODATA],
        papers: &["The k-anonymization method satisfying personalized privacy preservation"],
    };

    fn policy(&self, schema: &Schema) -> Result<Policy, EngineError> {
        Self::policy(self, schema)
    }

    fn run(
        &self,
        table: &Table,
        requirements: &Requirements,
        context: &RunContext<'_>,
    ) -> Result<Release, EngineError> {
        run(table, requirements, self, context)
    }
}
