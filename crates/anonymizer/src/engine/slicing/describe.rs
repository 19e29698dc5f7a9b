//! `slicing` as an engine of the list.

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::info::{Engine, Info};
use crate::microdata::{Multiplicity, Schema, Table};
use crate::privacy::{Policy, Requirements};
use crate::release::Release;
use crate::release::layout::{COLUMNS, SLICED};

use super::params::Params;
use super::run;

impl Engine for Params {
    const INFO: Info = Info {
        name: "slicing",
        title: "Slicing: columns permuted inside buckets",
        question: "Publish exact values in columns that are shuffled inside groups, so that what belongs \
                   together inside a column can be studied?",
        costs: "Between columns it is lost whose values belong together.",
        needs: "One record a person, and a sensitive attribute no value of which is more than 1 in l.",
        multiplicity: Multiplicity::One,
        guarantees: &[
            "k_anonymity",
            "l_diversity",
            "min_spread",
            "t_closeness",
            "max_leakage",
        ],
        tables: &[SLICED, COLUMNS],
        papers: &["Slicing: A New Approach for Privacy Preserving Data Publishing"],
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
