//! The engines: pure functions from a table and its requirements to a release.
//!
//! Every family has the shape
//! `run(&Table, &Requirements, &Params, &RunContext) -> Result<Release, EngineError>`.
//! The same input gives the same bytes with any number of threads. A family
//! may use `kernel`, `context` and `error`, never another family.

pub mod arp;
pub mod baseline;
pub mod context;
pub mod error;
pub mod kernel;
pub mod lgb;
pub mod one_to_many;
pub mod personalized;
pub mod slicing;

pub use crate::privacy::CancelFlag;
pub use context::{Progress, RunContext, Silent};
pub use error::{EngineError, Infeasible};
