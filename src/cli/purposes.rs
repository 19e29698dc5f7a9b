//! Options of what releases are for: an operator's own purposes.

use std::path::PathBuf;

use clap::Args;
use vizard_anonymizer::catalog::{Purpose, Purposes};

use super::exit::Exit;
use super::input::read;

/// Purposes beside those that everybody has.
#[derive(Args, Clone, Debug)]
pub struct PurposeOptions {
    /// File of your own purposes beside `public` and `contract`: a JSON list of `{"name", "max_reidentification", "l", "readers", "source"}`
    #[arg(long, env = "VIZARD_PURPOSE_FILE", value_name = "FILE")]
    purpose_file: Option<PathBuf>,
}

impl PurposeOptions {
    /// The purposes that there are.
    pub fn read(&self) -> Result<Purposes, Exit> {
        let Some(path) = &self.purpose_file else {
            return Ok(Purposes::default());
        };
        Purposes::with_own(&read(path)?)
            .map_err(|what| Exit::Usage(format!("{}: {what}", path.display())))
    }
}

/// The purpose of a name.
pub fn named<'p>(purposes: &'p Purposes, name: &str) -> Result<&'p Purpose, Exit> {
    purposes.find(name).ok_or_else(|| {
        let names = purposes.names().join(", ");
        // The last of two and more.
        let names = match names.rsplit_once(", ") {
            Some((before, last)) => format!("{before} and {last}"),
            None => names,
        };
        Exit::Usage(format!("--purpose {name}: there is {names}"))
    })
}
