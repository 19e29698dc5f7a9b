//! The engine on made-up persons: its parts against plain versions of
//! themselves, and whole plans against their promise.

pub(in crate::engine::one_to_many) mod made;
mod parts;
mod whole;
