//! `vizard keys`: API keys without a running server.

use clap::{Args, Subcommand};

use super::exit::Exit;
use super::options::{StoreOption, runtime};
use anyhow::Context;

use crate::http::auth::{NewToken, Role};
use crate::ids::{DatasetId, KeyId};
use crate::store::{KeyRow, NewKey, PageRequest, Store};

/// Options of `vizard keys`.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    store: StoreOption,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Make a key and print its token, which is shown only here.
    Create {
        /// A role of the key; may be given several times
        #[arg(long = "role", required = true, value_name = "ROLE", value_parser = role)]
        roles: Vec<Role>,
        /// Ties the key to a dataset; may be given several times
        #[arg(long = "dataset", value_name = "ID")]
        datasets: Vec<DatasetId>,
        /// What the key is for
        #[arg(long, default_value = "made on the command line")]
        name: String,
    },
    /// List the keys; never their tokens.
    List,
    /// Revoke a key at once.
    Revoke {
        /// Id of the key
        id: KeyId,
    },
}

/// Runs one of the three.
pub fn run(options: Options) -> Result<(), Exit> {
    runtime()?.block_on(async {
        let store = options.store.open(false).await?;
        let ended = command(store.as_ref(), options.command).await;
        store.close().await?;
        ended
    })
}

async fn command(store: &dyn Store, command: Command) -> Result<(), Exit> {
    match command {
        Command::Create {
            roles,
            datasets,
            name,
        } => {
            let datasets = (!datasets.is_empty()).then_some(datasets);
            let (row, token) = create(store, name, &roles, datasets).await?;
            println!("{}\t{token}", row.id);
        }
        Command::List => {
            let mut page = PageRequest::default();
            loop {
                let keys = store.key_list(page).await?;
                for key in keys.items {
                    let state = if key.revoked_at.is_some() {
                        "revoked"
                    } else {
                        "active"
                    };
                    println!("{}\t{state}\t{}\t{}", key.id, key.roles.join(","), key.name);
                }
                page.cursor = keys.next_cursor;
                if page.cursor.is_none() {
                    break;
                }
            }
        }
        Command::Revoke { id } => {
            store.key_revoke(id).await?;
            println!("{id}\trevoked");
        }
    }
    Ok(())
}

/// Makes a key; answers it with its token, which is nowhere else.
pub async fn create(
    store: &dyn Store,
    name: String,
    roles: &[Role],
    datasets: Option<Vec<DatasetId>>,
) -> anyhow::Result<(KeyRow, String)> {
    let token = NewToken::generate().context("the operating system gives no random numbers")?;
    let key = NewKey {
        id: token.key,
        name,
        roles: roles.iter().map(|role| role.as_str().to_owned()).collect(),
        datasets,
        secret_hash: token.secret_hash,
    };
    let row = store
        .key_create(key)
        .await
        .context("the key cannot be kept")?;
    Ok((row, token.text.expose().to_owned()))
}

fn role(word: &str) -> Result<Role, String> {
    Role::parse(word)
        .ok_or_else(|| "must be analyst, consent, uploader, steward, auditor or admin".into())
}
