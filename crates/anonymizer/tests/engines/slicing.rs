//! The slicing family: values of columns permuted inside buckets.

mod answers;
mod naive;
mod papers;
pub mod printed;
mod properties;
pub mod scenario;
