//! `mondrian` as an engine of the list.

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::info::{Engine, Info};
use crate::engine::kernel::{Effort, Partitioning, SplitChoice};
use crate::microdata::{Multiplicity, Schema, Table};
use crate::privacy::{Policy, Requirements};
use crate::release::Release;
use crate::release::layout::MICRODATA;

use super::params::Params;
use super::run;

impl Engine for Params {
    const INFO: Info = Info {
        name: "mondrian",
        title: "Generalization by multi-dimensional partition",
        question: "Publish generalized records in one table, so that at least k people look alike?",
        costs: "Quasi-identifiers become ranges and nodes; sensitive values stay beside them, held by l \
                or t if the job says so.",
        needs: "One record a person; it needs no sensitive attribute.",
        multiplicity: Multiplicity::One,
        guarantees: &[
            "k_anonymity",
            "distinct_l_diversity",
            "entropy_l_diversity",
            "recursive_l_diversity",
            "t_closeness",
            "min_spread",
            "max_leakage",
        ],
        tables: &[MICRODATA],
        papers: &["Mondrian multidimensional k-anonymity"],
    };

    fn policy(&self, schema: &Schema) -> Result<Policy, EngineError> {
        Self::policy(self, schema)
    }

    fn outline_is_own_tree(&self) -> bool {
        self.split == SplitChoice::Widest
            && self.partitioning == Partitioning::Strict
            && self.effort == Effort::None
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
