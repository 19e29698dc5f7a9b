//! `vizard keys`: API keys and master keys, beside a running server or without.

use std::time::Duration;

use clap::{Args, Subcommand};

use super::exit::Exit;
use super::options::{StoreOption, runtime};
use anyhow::Context;
use chrono::{DateTime, SecondsFormat, Utc};

use crate::http::auth::{KEY_LIFETIME_S_MAX, KeyWish, OPERATOR, Role, create_key};
use crate::ids::{DatasetId, KeyId};
use crate::store::{Act, KeyRow, PageRequest, Store};

/// Data keys wrapped anew in one transaction.
const REWRAP_BATCH: u32 = 500;

/// Pause before keys that somebody else holds are tried again.
const REWRAP_PAUSE: Duration = Duration::from_millis(200);

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
        /// How long the key lives, in seconds [default: until it is revoked]
        #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=KEY_LIFETIME_S_MAX))]
        expires_in_s: Option<u64>,
    },
    /// List the keys with state, roles, datasets, last use, name and end; never their tokens.
    List,
    /// Wrap the keys of all datasets under the first of the master keys, while servers run.
    RotateMaster,
    /// Revoke a key at once.
    Revoke {
        /// Id of the key
        id: KeyId,
    },
}

/// Runs one of them.
pub fn run(options: Options) -> Result<(), Exit> {
    runtime()?.block_on(async {
        let store = options.store.open_present().await?;
        let ended = command(store.as_ref(), options.command).await;
        store.close().await?;
        ended
    })
}

async fn command(store: &Store, command: Command) -> Result<(), Exit> {
    match command {
        Command::Create {
            roles,
            datasets,
            name,
            expires_in_s,
        } => {
            let wish = KeyWish {
                name,
                roles,
                datasets: (!datasets.is_empty()).then_some(datasets),
                lifetime_s: expires_in_s,
            };
            let made = create_key(store, |_| Act::by(OPERATOR), wish).await;
            let (row, token) = made.context("the key cannot be made")?;
            println!("{}\t{}", row.id, token.expose());
        }
        Command::List => {
            let mut page = PageRequest::default();
            loop {
                let keys = store.key_list(page, None).await?;
                for key in keys.items {
                    println!("{}", line(&key));
                }
                page.cursor = keys.next_cursor;
                if page.cursor.is_none() {
                    break;
                }
            }
        }
        Command::RotateMaster => rotate_master(store).await?,
        Command::Revoke { id } => {
            store.key_revoke(Act::by(OPERATOR), id).await?;
            println!("{id}\trevoked");
        }
    }
    Ok(())
}

/// Wraps a batch a transaction until none is left. Stopped, it is begun again.
async fn rotate_master(store: &Store) -> Result<(), Exit> {
    let mut rewrapped = 0;
    loop {
        let batch = store
            .data_keys_rewrap(Act::by(OPERATOR), REWRAP_BATCH)
            .await?;
        rewrapped += batch;
        let counts = store.data_key_counts().await?;
        if counts.earlier == 0 {
            println!(
                "{rewrapped} wrapped anew\t{} under the current master key\t{} destroyed",
                counts.current, counts.destroyed
            );
            return Ok(());
        }
        if batch == 0 {
            // Held by somebody at the moment.
            tokio::time::sleep(REWRAP_PAUSE).await;
        }
    }
}

/// A key in one line: id, state, roles, datasets, last use, name, end.
fn line(key: &KeyRow) -> String {
    let state = match (key.revoked_at, key.is_expired) {
        (Some(_), _) => "revoked",
        (None, true) => "expired",
        (None, false) => "active",
    };
    let datasets = match &key.datasets {
        None => "all".to_owned(),
        Some(ids) => {
            let ids: Vec<String> = ids.iter().map(DatasetId::to_string).collect();
            ids.join(",")
        }
    };
    let time = |time: Option<DateTime<Utc>>| match time {
        None => "never".to_owned(),
        Some(at) => at.to_rfc3339_opts(SecondsFormat::Secs, true),
    };
    let (last_used, end) = (time(key.last_used_at), time(key.expires_at));
    let (id, roles, name) = (key.id, key.roles.join(","), &key.name);
    format!("{id}\t{state}\t{roles}\t{datasets}\t{last_used}\t{name}\t{end}")
}

fn role(word: &str) -> Result<Role, String> {
    Role::parse(word)
        .ok_or_else(|| "must be analyst, consent, uploader, steward, auditor or admin".into())
}
