//! The engines: pure functions from a table and its requirements to a release.
//!
//! The parameters of each implement [`Engine`] in the file `describe` of their
//! family, with what there is to say about them.
//! The same input gives the same bytes with any number of threads. A family
//! may use `kernel`, `context`, `error` and `info`, never another family.

pub mod arp;
pub mod baseline;
pub mod context;
pub mod error;
pub mod info;
pub mod kernel;
pub mod lgb;
pub mod one_to_many;
pub mod personalized;
pub mod slicing;

pub use crate::privacy::CancelFlag;
pub use context::{InMemory, PartOfTable, Progress, RunContext, Scratch, Silent, WholeTable};
pub use error::{EngineError, Infeasible};
pub use info::{Engine, Info};
