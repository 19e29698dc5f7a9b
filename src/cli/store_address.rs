//! The store's address: what it may say, and where it may be said.
//!
//! Records travel to PostgreSQL, so a server on another machine needs TLS that
//! cannot fall back to plain text (`sslmode`); who secures the network in
//! another way says so (`--insecure-store`). A password in the address is for
//! a file or the environment: everybody on the machine can read a command line.

use anyhow::Context;

use super::exit::Exit;
use super::options::{StoreOption, read_secret};
use super::telemetry::tell_warning;
use crate::config::Settings;
use crate::store;

impl StoreOption {
    /// The store's address; an error where records would travel in the open.
    pub fn url(&self) -> Result<String, Exit> {
        let url = self.settings()?.store_url();
        let open = store::open_host(&url).context("the store cannot be opened")?;
        match open {
            Some(host) if !self.insecure_store => Err(Exit::Usage(format!(
                "the store is on {host}, and its address does not require TLS: records could be \
                 read on the way; add `?sslmode=verify-full&sslrootcert=FILE` to the address, or \
                 say --insecure-store where nobody else reaches that network"
            ))),
            _ => Ok(url),
        }
    }

    /// Settings that say where the store is, and nothing else.
    pub fn settings(&self) -> Result<Settings, Exit> {
        let store = match &self.store_file {
            Some(path) => Some(read_secret(path, "the file of the store's address")?),
            None => self.store.clone(),
        };
        Ok(Settings {
            store,
            data_dir: self.data.clone(),
            ..Settings::default()
        })
    }

    /// Warns of a password that stands on the command line.
    pub fn warn_of_password(&self) {
        let said = |url: &String| {
            // `--store URL` or `--store=URL`; an address of the environment is not here.
            std::env::args_os().any(|argument| argument.to_string_lossy().ends_with(url))
        };
        if self
            .store
            .as_ref()
            .is_some_and(|url| has_password(url) && said(url))
        {
            tell_warning(
                "the password in --store can be read by everybody on this machine; \
                 put the address into a file (--store-file) or into VIZARD_STORE",
            );
        }
    }
}

/// Whether an address holds a password: `user:password@` or `?password=`.
fn has_password(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else {
        return false;
    };
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let authority = place.split('/').next().unwrap_or_default();
    let of_user = authority
        .rsplit_once('@')
        .and_then(|(user, _)| user.split_once(':'));
    let of_query = query
        .split('&')
        .find_map(|pair| pair.strip_prefix("password="));
    of_user.is_some_and(|(_, password)| !password.is_empty())
        || of_query.is_some_and(|password| !password.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_found_wherever_an_address_may_hold_it() {
        for url in [
            "postgres://vizard:secret@db/vizard",
            "postgresql://vizard:se%2Fcret@db",
            "postgres://db/vizard?sslmode=require&password=secret",
        ] {
            assert!(has_password(url), "{url}");
        }
        for url in [
            "sqlite:vizard.db",
            "postgres://db:5432/vizard",
            "postgres://vizard@db:5432/vizard",
            "postgres://vizard:@db/vizard",
            "postgres://vizard@db/a:b@c?passwords=x",
        ] {
            assert!(!has_password(url), "{url}");
        }
    }
}
