//! What a job is: its specification, its failures as problems, and whether a
//! draft still gives everyone what they ask for.
//!
//! The state machine is kept by the store (docs/STORE.md draws it); this
//! room holds the documents that `http`, `worker` and `cli` agree on.

pub mod approval;
pub mod coarse;
mod comparison;
pub mod composition;
pub mod consent;
mod draw;
mod exploration;
mod failure;
pub mod floors;
mod memory;
mod name;
mod spec;

pub use comparison::{ComparedFigure, compared};
pub use draw::{NoRandomness, draw_seed};
pub use exploration::{
    ExplorationSpec, KEEP_MAX, KeptExploration, SECONDS_MAX, SettingOutcome, figures, not_measured,
};
pub use failure::JobFailure;
pub use memory::{JobSize, estimate_bytes, population_table_bytes};
pub use name::{NAME_CHARACTERS_MAX, job_name};
pub use spec::{
    JobSpec, OfflineSpec, PartSizes, PreferenceUse, PublishMode, ReportOptions, RunSpec,
    SeriesOptions,
};
