//! `one_to_many` as an engine of the list.

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::info::{Engine, Info};
use crate::microdata::{Multiplicity, Schema, Table};
use crate::privacy::{Policy, Requirements};
use crate::release::Release;
use crate::release::layout::PERSONS;

use super::params::Params;
use super::run;

impl Engine for Params {
    const INFO: Info = Info {
        name: "one_to_many",
        title: "1:M-generalization with (k, l)-diversity",
        question: "Publish people who have many records (visits, diagnoses), each with the set of their \
                   values, so that no set is rare?",
        costs: "Values that few people have become nodes of their hierarchy; what is published is \
                people, without dates or order of their records.",
        needs: "Many records a person; hierarchies over the sensitive values make it worth more.",
        multiplicity: Multiplicity::Many,
        guarantees: &[
            "k_anonymity",
            "fingerprint_k",
            "l_diversity",
            "value_l",
            "max_leakage",
        ],
        tables: &[PERSONS],
        papers: &["Anonymizing 1:M microdata with high utility"],
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
