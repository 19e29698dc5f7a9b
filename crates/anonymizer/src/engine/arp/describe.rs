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
        question: "Publish exact quasi-identifiers, with each sensitive value as one of a small set?",
        costs: "A value is one of about l; counts by quasi-identifiers stay near the truth.",
        needs: "One record a person, and a sensitive attribute no value of which is more than 1 in l.",
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
        question: "Publish exact quasi-identifiers, with sensitive values counted by block?",
        costs: "A value is told for a block of people, not for one of them.",
        needs: "One record a person, and a sensitive attribute no value of which is more than 1 in l.",
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
        question: "Publish exact quasi-identifiers and a table of sensitive values by group, as simply \
                   as it can be read?",
        costs: "Somebody who knows that a person is in the data has their exact record, without \
                the sensitive value.",
        needs: "One record a person, and a sensitive attribute no value of which is more than 1 in l.",
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
        question: "Publish generalized records whose groups overlap, so that less is lost than with \
                   groups?",
        costs: "Each quasi-identifier becomes a range or a set of its own.",
        needs: "One record a person, and a sensitive attribute no value of which is more than 1 in l.",
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
