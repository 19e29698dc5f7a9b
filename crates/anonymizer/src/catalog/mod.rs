//! The closed list of engines, and the one way from a table to a release.
//!
//! [`Engine`] dispatches; [`mod@produce`] runs an engine, encodes what it made,
//! reads the bytes back and hands them to the verifier and the measures. Both
//! the worker and the offline command go through it, so no release is made
//! without it.

mod encoded;
mod engines;
pub mod exploration;
mod identifying;
mod parameters;
mod parts;
mod produce;
mod purpose;
mod purposes;
mod report;
mod runs;
mod written;

pub use encoded::{EncodedTable, Piece, TextRoom, TextRooms, in_memory, written_file};
pub use engines::{Engine, descriptions};
pub use identifying::{Identifying, IdentifyingBy, check_accepted, how_to_mend, is_reason};
pub use parts::elsewhere;
pub use produce::{
    Assignment, Observer, ProduceError, Produced, Stage, Unobserved, attacks, produce,
};
pub use purpose::{JobProposal, PURPOSES, Purpose, job_for};
pub use purposes::Purposes;
pub use report::{check_fit, report};
