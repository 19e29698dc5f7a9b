//! Throw-away.
#[path = "../lgb_figures/load.rs"]
mod load;
mod preferences;
pub type Failure = Box<dyn std::error::Error + Send + Sync>;
fn main() -> Result<(), Failure> {
    for folder in std::env::args().skip(1) {
        for row in preferences::rows(std::path::Path::new(&folder))? { println!("{row}"); }
    }
    Ok(())
}
