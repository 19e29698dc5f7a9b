//! How long the kernels take that a run spends its time in, on made-up records.
//!
//! ```text
//! cargo bench                           all of them
//! cargo bench -- partition              those whose name contains it
//! cargo bench -- --sample-count 20
//! ```
//! Everything goes through the public interface; what is private is measured
//! through the smallest door that leads to it (a region of the local search
//! through `Refinement`). Rayon uses all cores: `RAYON_NUM_THREADS=1` shows one.
//! Figures of whole runs are those of `scripts/compare`.

mod asking;
mod cancelling;
mod fitting;
mod grouping;
mod made;
mod publishing;
mod reading;
mod series;

fn main() {
    divan::main();
}
