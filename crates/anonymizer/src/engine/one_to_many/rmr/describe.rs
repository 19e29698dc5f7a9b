//! `rmr` as an engine of the list.

use crate::microdata::{Multiplicity, Schema, Table};
use crate::privacy::{Policy, Requirements};
use crate::release::Release;
use crate::release::layout::PERSONS;

use super::params::Params;
use super::run;
use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::info::{Engine, Info};

impl Engine for Params {
    const INFO: Info = Info {
        name: "rmr",
        title: "(k, k^m)-anonymity of quasi-identifiers and sets of values",
        question: "Publish people who have many records against somebody who knows up to m of a person's \
                   values already?",
        costs: "Quasi-identifiers and values are generalized; it promises nothing of a person's whole \
                set.",
        needs: "Many records a person, and hierarchies over the values.",
        multiplicity: Multiplicity::Many,
        guarantees: &["k_anonymity", "km_anonymity", "max_leakage"],
        tables: &[PERSONS],
        papers: &["Anonymizing data with relational and transaction attributes"],
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
