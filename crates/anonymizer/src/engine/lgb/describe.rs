//! `lgb` as an engine of the list.

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::info::{Engine, Info};
use crate::microdata::{Multiplicity, Schema, Table};
use crate::privacy::{Policy, Requirements};
use crate::release::Release;
use crate::release::layout::{BUCKETS, GROUP_BUCKETS, MICRODATA};

use super::params::Params;
use super::run;

impl Engine for Params {
    const INFO: Info = Info {
        name: "lgb",
        title: "Local generalization and bucketization",
        question: "Publish generalized records with sensitive values in buckets beside them, where people may \
                   say for themselves what is sensitive and how likely a leak they accept?",
        costs: "Quasi-identifiers become ranges and nodes; inside a bucket nobody can tell whose a \
                value is.",
        needs: "One record a person, and a sensitive or semi-sensitive attribute no value of which is \
                more than 1 in l.",
        multiplicity: Multiplicity::One,
        guarantees: &[
            "k_anonymity",
            "l_diversity",
            "t_closeness",
            "min_spread",
            "max_leakage",
        ],
        tables: &[MICRODATA, BUCKETS, GROUP_BUCKETS],
        papers: &[
            "Local Generalization and Bucketization Technique for Personalized Privacy Preservation",
        ],
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
