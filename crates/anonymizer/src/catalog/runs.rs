//! An engine whose type is not known: what the catalog and parts of tables run.

use std::fmt;

use crate::engine::{self, EngineError, RunContext};
use crate::microdata::{Schema, Table};
use crate::privacy::{Policy, Requirements};
use crate::release::Release;

/// [`engine::Engine`] whose type is not known.
pub(super) trait Runs: fmt::Debug + Send + Sync {
    fn outline_is_own_tree(&self) -> bool;

    fn policy(&self, schema: &Schema) -> Result<Policy, EngineError>;

    fn run(
        &self,
        table: &Table,
        requirements: &Requirements,
        context: &RunContext<'_>,
    ) -> Result<Release, EngineError>;
}

impl<E: engine::Engine> Runs for E {
    fn outline_is_own_tree(&self) -> bool {
        E::outline_is_own_tree(self)
    }

    fn policy(&self, schema: &Schema) -> Result<Policy, EngineError> {
        E::policy(self, schema)
    }

    fn run(
        &self,
        table: &Table,
        requirements: &Requirements,
        context: &RunContext<'_>,
    ) -> Result<Release, EngineError> {
        E::run(self, table, requirements, context)
    }
}
