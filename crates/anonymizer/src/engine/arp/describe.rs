//! `arp` and its comparators as engines of the list.

use serde_json::Value;

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::info::{Engine, Info};
use crate::microdata::{Multiplicity, Schema, Table};
use crate::privacy::{BlockForm, Policy, Requirements};
use crate::release::Release;
use crate::release::layout::{MICRODATA, QUASI, SENSITIVE};

use super::comparators::{aip, anatomy};
use super::params::{AipParams, AnatomyParams, Params, RingParams, refuse_withdrawn};
use super::{ring, run};

impl Engine for Params {
    const INFO: Info = Info {
        name: "arp",
        title: "Anonymization on refining partition",
        multiplicity: Multiplicity::One,
        guarantees: &[
            "l_diversity",
            "min_spread",
            "randomized_response",
            "max_leakage",
        ],
        tables: &[QUASI, SENSITIVE, MICRODATA],
        papers: &["Anonymization on refining partition: same privacy, more utility"],
    };

    fn refuse_withdrawn(parameters: &Value) -> Result<(), EngineError> {
        refuse_withdrawn(parameters)
    }

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

impl Engine for AipParams {
    const INFO: Info = Info {
        name: "aip",
        title: "Bucketization of the initial partition",
        multiplicity: Multiplicity::One,
        guarantees: &["l_diversity", "min_spread", "max_leakage"],
        tables: &[QUASI, SENSITIVE],
        papers: &["Anonymization on refining partition: same privacy, more utility"],
    };

    fn policy(&self, schema: &Schema) -> Result<Policy, EngineError> {
        self.0.policy(schema, BlockForm::Eligible)
    }

    fn run(
        &self,
        table: &Table,
        requirements: &Requirements,
        context: &RunContext<'_>,
    ) -> Result<Release, EngineError> {
        aip::run(table, requirements, &self.0, context)
    }
}

impl Engine for AnatomyParams {
    const INFO: Info = Info {
        name: "anatomy",
        title: "Anatomy",
        multiplicity: Multiplicity::One,
        guarantees: &["l_diversity", "min_spread", "max_leakage"],
        tables: &[QUASI, SENSITIVE],
        papers: &["Anatomy: simple and effective privacy preservation"],
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
        anatomy::run(table, requirements, self, context)
    }
}

impl Engine for RingParams {
    const INFO: Info = Info {
        name: "ng",
        title: "Ring generalization of the initial partition",
        multiplicity: Multiplicity::One,
        guarantees: &["ring_diversity", "max_leakage"],
        tables: &[MICRODATA],
        papers: &["Non-homogeneous generalization in privacy preserving data publishing"],
    };

    fn policy(&self, schema: &Schema) -> Result<Policy, EngineError> {
        self.0.policy(schema, BlockForm::Ring)
    }

    fn run(
        &self,
        table: &Table,
        requirements: &Requirements,
        context: &RunContext<'_>,
    ) -> Result<Release, EngineError> {
        ring::run(table, requirements, &self.0, context)
    }
}
