//! What every engine is: parameters that give a policy and make a release, and
//! a description of them.
//!
//! The parameters of an engine implement [`Engine`]; the catalog lists their
//! types once and asks nothing else of them.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::microdata::{Multiplicity, Schema, Table};
use crate::privacy::{Policy, Requirements};
use crate::release::Release;

use super::context::RunContext;
use super::error::EngineError;

/// What an engine says about itself. Adversary and what is not protected are
/// words of releases ([`statement`](crate::release::statement)).
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Info {
    /// Name in the API and in manifests.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// The question that it answers: what is published of people, and for whom
    /// that is right.
    pub question: &'static str,
    /// What readers lose by it.
    pub costs: &'static str,
    /// What the data must have.
    pub needs: &'static str,
    /// Records of a subject in the datasets that it publishes.
    pub multiplicity: Multiplicity,
    /// Kinds of guarantees that its releases may claim.
    pub guarantees: &'static [&'static str],
    /// Tables that its releases may have.
    pub tables: &'static [&'static str],
    /// Titles of the papers that it is built by.
    pub papers: &'static [&'static str],
}

/// An engine with its parameters, whose JSON Schema is derived: bounds and
/// descriptions are those of the type.
pub trait Engine:
    fmt::Debug + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static
{
    /// What there is to say about it.
    const INFO: Info;

    /// An error that says what became of parameters which are no more.
    fn refuse_withdrawn(_parameters: &Value) -> Result<(), EngineError> {
        Ok(())
    }

    /// The floors that these parameters put under every record.
    fn policy(&self, schema: &Schema) -> Result<Policy, EngineError>;

    /// Whether the outline of a table in parts is the top of the engine's own tree
    /// of cuts: then parts change nothing, and may be of any size.
    fn outline_is_own_tree(&self) -> bool {
        false
    }

    /// Makes a release in rayon's current pool.
    fn run(
        &self,
        table: &Table,
        requirements: &Requirements,
        context: &RunContext<'_>,
    ) -> Result<Release, EngineError>;
}
