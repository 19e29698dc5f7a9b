//! The command line: one file a command.
//!
//! `serve`, `work`, `demo`, `keys` and `migrate` work on a store; `inspect`,
//! `risk`, `hierarchy`, `anonymize`, `explore`, `compare`, `query` and `verify` work on files, with the same
//! engines and the same verifier; `push` sends a file to a server on a schedule;
//! `consent-texts` writes texts to be changed; `openapi` and `healthcheck` serve builds and containers. Every option of a
//! service is also an environment variable.

mod access_options;
mod anchor;
mod anonymize;
mod check;
pub mod client;
mod compare;
mod consent_texts;
mod demo;
mod environment;
mod exit;
mod explore;
mod healthcheck;
mod hierarchy;
mod input;
mod inspect;
mod keys;
mod limits;
mod listen;
mod new_folder;
mod open_files;
mod options;
mod parts;
mod pinned;
mod policy_options;
mod progress;
mod purposes;
mod push;
mod query;
mod release_folder;
mod release_hierarchies;
mod risk;
mod sample;
mod secrets;
mod serve;
mod store_address;
mod telemetry;
mod verify;
mod work;
mod written_tables;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use exit::Exit;

/// Publishes tables about people while keeping each person's own privacy terms.
#[derive(Parser)]
#[command(name = "vizard", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve the API, with workers in the same process.
    Serve(Box<serve::Options>),
    /// Work on jobs only; any number of machines on one PostgreSQL.
    Work(work::Options),
    /// Say what a file is, and propose a specification for it.
    Inspect(inspect::Options),
    /// Say who stands out in records, before any job.
    Risk(risk::Options),
    /// Say what a hierarchy is, and what records have that it lacks.
    Hierarchy(hierarchy::Options),
    /// Run one job on files, without a server.
    Anonymize(anonymize::Options),
    /// Try many settings on files, and say which are worth having.
    Explore(explore::Options),
    /// Set two releases on files side by side.
    Compare(compare::Options),
    /// Ask a release on files: counts, sums and averages with bounds.
    Query(query::Options),
    /// Check a release on files against the records it was made from.
    Verify(verify::Options),
    /// Upload a file to a server, run a job on it and publish the release, on a schedule.
    Push(push::Options),
    /// Run the whole story on the bundled sample over HTTP, then go on serving.
    Demo(demo::Options),
    /// Create, list and revoke API keys; rotate the master key.
    Keys(keys::Options),
    /// Bring the store's tables up to date and end.
    Migrate(options::StoreOption),
    /// Write the texts of the consent pages as files, to be changed.
    ConsentTexts(consent_texts::Options),
    /// Print the API's description (OpenAPI 3.1, YAML).
    Openapi,
    /// Ask a running server whether it is ready; for containers.
    Healthcheck(healthcheck::Options),
}

/// The commands with their options.
fn program() -> clap::Command {
    Cli::command()
}

/// Parses the arguments, runs the command, answers its exit code.
pub fn run() -> ExitCode {
    crate::telemetry::tell_places_only();
    let cli = Cli::parse();
    let ended = match cli.command {
        Command::Inspect(options) => inspect::run(&options),
        Command::Risk(options) => risk::run(&options),
        Command::Hierarchy(options) => hierarchy::run(&options),
        Command::Anonymize(options) => anonymize::run(&options),
        Command::Explore(options) => explore::run(&options),
        Command::Compare(options) => compare::run(&options),
        Command::Query(options) => query::run(&options),
        Command::Verify(options) => verify::run(&options),
        Command::Push(options) => push::run(&options),
        Command::ConsentTexts(options) => consent_texts::run(&options),
        Command::Openapi => openapi(),
        Command::Serve(options) => serve::run(*options),
        Command::Work(options) => work::run(options),
        Command::Demo(options) => demo::run(options),
        Command::Keys(options) => keys::run(options),
        Command::Migrate(options) => migrate(&options),
        Command::Healthcheck(options) => healthcheck::run(&options),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(exit) => exit.report(),
    }
}

fn openapi() -> Result<(), Exit> {
    print!("{}", crate::http::openapi::document_yaml());
    Ok(())
}

fn migrate(options: &options::StoreOption) -> Result<(), Exit> {
    options.warn_of_password();
    options::runtime()?.block_on(async {
        let store = options.open(true).await?;
        println!("the store is at version {}", store.schema_version().await?);
        store.close().await?;
        Ok(())
    })
}
