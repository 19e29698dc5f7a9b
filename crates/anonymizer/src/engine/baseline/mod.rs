//! Engines that others are compared with, and that are good for a release of
//! their own.

pub mod mondrian;
