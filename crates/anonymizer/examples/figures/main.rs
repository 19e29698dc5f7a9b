//! Figures of engines, attacks, queries and wide tables, for the documents.
//!
//! ```text
//! cargo run --release --example figures -- NAME …
//! ```
//! A file or folder each; its first lines say what it prints and which options
//! it takes.

mod arguments;
mod arp;
mod attack;
mod lgb;
mod load;
mod mondrian;
mod one_to_many;
mod personalized;
mod queries;
mod query_error;
mod series;
mod slicing;
mod timed;
mod wide;

/// Why there are no figures.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Prints figures, as the command line asks for them.
type Print = fn() -> Result<(), Failure>;

/// A name, and what prints its figures.
const FIGURES: [(&str, Print); 11] = [
    ("arp", arp::run),
    ("attack", attack::run),
    ("lgb", lgb::run),
    ("mondrian", mondrian::run),
    ("one_to_many", one_to_many::run),
    ("personalized", personalized::run),
    ("queries", queries::run),
    ("query_error", query_error::run),
    ("series", series::run),
    ("slicing", slicing::run),
    ("wide", wide::run),
];

fn main() -> Result<(), Failure> {
    let name = std::env::args().nth(1).unwrap_or_default();
    let named = FIGURES.iter().find(|(of, _)| *of == name);
    let Some((_, run)) = named else {
        let names: Vec<_> = FIGURES.iter().map(|(name, _)| *name).collect();
        return Err(format!("name the figures: {}", names.join(", ")).into());
    };
    run()
}
