//! Prints what `lgb` does to a folder of benchmark data.
//!
//! ```text
//! cargo run --release --example lgb_figures -- FOLDER [--limit N] [--threads N] [--repeat N]
//! ```
//! One line each for `mdp` and `ncp` with the folder's preferences: time of
//! the engine, groups, C_DM, loss per quasi-identifier cell, records left out.

mod load;

use std::path::PathBuf;
use std::time::Instant;

use vizard::engine::{RunContext, lgb};
use vizard::privacy::Requirements;
use vizard::release::{Cells, Release};

use load::{Data, load};

/// Any error; it crosses threads.
type Failure = Box<dyn std::error::Error + Send + Sync>;

fn option(name: &str, default: usize) -> usize {
    let mut arguments = std::env::args().skip_while(|argument| argument != name);
    let value = arguments.nth(1).and_then(|value| value.parse().ok());
    value.unwrap_or(default)
}

fn main() -> Result<(), Failure> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("a folder is needed")?);
    let threads = option("--threads", 2);
    let read = Instant::now();
    let data = load(&folder, "lgb-mdp.json", option("--limit", usize::MAX - 1))?;
    println!(
        "{} records read in {:.2} s",
        data.table.records(),
        read.elapsed().as_secs_f64()
    );
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()?;
    for generalization in ["mdp", "ncp"] {
        for _ in 0..option("--repeat", 1) {
            pool.install(|| line(&data, generalization))?;
        }
    }
    Ok(())
}

fn line(data: &Data, generalization: &str) -> Result<(), Failure> {
    let params: lgb::Params = serde_json::from_value(serde_json::json!({
        "k": 5, "l": 5, "generalization": generalization,
        "attributes": {"sex": {"t_closeness": 0.2}},
    }))?;
    let policy = params.policy(data.table.schema())?;
    let requirements = Requirements::new(&data.table, policy, &data.preferences);
    let start = Instant::now();
    let release = lgb::run(&data.table, &requirements, &params, &RunContext::silent(1))?;
    let seconds = start.elapsed().as_secs_f64();
    let sizes = group_sizes(&release);
    let c_dm: u64 = sizes.iter().map(|size| size * size).sum();
    println!(
        "{generalization}: {seconds:.3} s, {} groups, largest {}, C_DM {c_dm}, excluded {}",
        sizes.len(),
        sizes.iter().max().unwrap_or(&0),
        release.excluded,
    );
    Ok(())
}

fn group_sizes(release: &Release) -> Vec<u64> {
    let mut sizes = Vec::new();
    if let Some(Cells::Numbers(groups)) = release.tables[0]
        .column("group")
        .map(|column| &column.cells)
    {
        for &group in groups {
            let at = group as usize - 1;
            if sizes.len() <= at {
                sizes.resize(at + 1, 0);
            }
            sizes[at] += 1;
        }
    }
    sizes
}
