//! Shared pure blocks of the engines.
