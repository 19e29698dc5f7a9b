//! Attacks on single releases: what an adversary attains, and that the
//! verifier refuses a release that tells more than it may.
//!
//! The attacks are those of `examples/attack_figures`, which prints them on
//! benchmark data.

#[path = "../../examples/figures/attack/cells.rs"]
mod cells;
#[path = "attacks/dealers.rs"]
mod dealers;
#[path = "../../examples/figures/attack/equal_vectors.rs"]
#[allow(dead_code, reason = "the example prints more of it")]
mod equal_vectors;
#[path = "../../examples/figures/attack/sight.rs"]
#[allow(dead_code, reason = "the example reads more of it")]
mod sight;
#[path = "attacks/vectors.rs"]
mod vectors;

/// As the example has it.
type Failure = Box<dyn std::error::Error + Send + Sync>;
