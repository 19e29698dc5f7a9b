//! `vizard healthcheck`: asks a server whether it is ready.

use clap::Args;

use super::client::Client;
use super::exit::Exit;
use super::options::runtime;

/// Options of `vizard healthcheck`.
#[derive(Args, Debug)]
pub struct Options {
    /// Address of the server
    #[arg(
        long,
        env = "VIZARD_HEALTHCHECK",
        value_name = "ADDRESS",
        default_value = "127.0.0.1:8080"
    )]
    address: String,
}

/// Succeeds if the server answers that it is ready.
pub fn run(options: &Options) -> Result<(), Exit> {
    runtime()?.block_on(async {
        let answer = Client::new(&options.address, None).get("/readyz").await?;
        if answer.status == 200 {
            return Ok(());
        }
        Err(anyhow::anyhow!("the server is not ready: status {}", answer.status).into())
    })
}
