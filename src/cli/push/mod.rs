//! `vizard push FILE`: one command for a schedule.
//!
//! Uploads a file of records, runs a job on the version that it makes, reads
//! report and verification, and publishes the release where all figures are
//! within their bounds; else it stays a draft. The same file again does nothing
//! twice, for as long as the server keeps idempotency keys: upload and job are
//! answered as before. A job that failed is run anew.

mod figures;
mod file;
mod records;
mod server;
mod steps;
mod story;

use std::path::PathBuf;

use clap::Args;

use super::exit::Exit;
use super::options::runtime;
use file::PushFile;
use records::Upload;
use server::Server;
use steps::Push;
use story::Story;

/// Options of `vizard push`.
#[derive(Args, Debug)]
pub struct Options {
    /// What is pushed where, YAML or JSON (docs/OPERATING.md, "On a schedule")
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Check the file, and let the server check the records: nothing is kept, and no job runs
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON document at the end; steps go to standard error
    #[arg(long)]
    json: bool,
}

/// Pushes, and says each step.
pub fn run(options: &Options) -> Result<(), Exit> {
    let mut story = Story::new(options.json);
    let ended = push(options, &mut story);
    if options.json {
        story.finish(&ended)?;
    }
    ended
}

fn push(options: &Options, story: &mut Story) -> Result<(), Exit> {
    let file = PushFile::read(&options.file)?;
    let key = file.key()?;
    let records = Upload::open(&file.records)?;
    runtime()?.block_on(async {
        let server = Server::new(&file, &key)?;
        let push = Push {
            file,
            records,
            server,
        };
        if options.dry_run {
            push.check_records(story).await
        } else {
            push.run(story).await
        }
    })
}
