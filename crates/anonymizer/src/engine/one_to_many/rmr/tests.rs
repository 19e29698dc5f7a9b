//! The engine on made-up persons: its parts against plain versions of
//! themselves, and whole plans against their promise.

mod made;
mod parts;
mod splits;
mod whole;
