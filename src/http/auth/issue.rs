//! Making keys: for `POST /v1/keys`, for the command line, and the first
//! admin key of an empty store.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::principal::OPERATOR;
use super::role::Role;
use super::token::NewToken;
use crate::config::{GuessableKey, Secret, Settings, judge_admin_key};
use crate::failpoint;
use crate::ids::DatasetId;
use crate::store::{Act, KeyRow, Store, StoreError};

/// Characters in the name of a key.
const NAME_CHARACTERS_MAX: usize = 200;

/// Name of the file that the first admin key is written to.
const FILE_NAME: &str = "admin-key";

/// How the operator gets in.
#[derive(Debug)]
pub enum AdminKey {
    /// By the key of their own choosing (`VIZARD_ADMIN_KEY`).
    Chosen,
    /// By an admin key that was made before.
    Present,
    /// By the new key in this file, which only its owner may read.
    Written(PathBuf),
    /// By this new key, which is nowhere else: print it once.
    Print(Secret),
}

/// Why no key was made.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The chosen key is too easy to guess.
    #[error(transparent)]
    Guessable(#[from] GuessableKey),
    /// The name is empty, too long, or holds characters that move a terminal's cursor.
    #[error("a name has 1 to {NAME_CHARACTERS_MAX} characters, none of them a control character")]
    Name,
    /// The key would open nothing.
    #[error("a key needs a role")]
    NoRole,
    /// The operating system has no randomness to give.
    #[error("the operating system gives no random numbers")]
    Randomness,
    /// The file could not be written.
    #[error("the admin key could not be written to {path}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: std::io::Error,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Makes a key; the token is readable in this answer alone, and in what `act`
/// keeps of it under seal. Roles may come in any order and more than once.
pub async fn create_key(
    store: &dyn Store,
    act: impl FnOnce(&Secret) -> Act<KeyRow>,
    name: String,
    roles: &[Role],
    datasets: Option<Vec<DatasetId>>,
) -> Result<(KeyRow, Secret), KeyError> {
    let is_long = !(1..=NAME_CHARACTERS_MAX).contains(&name.chars().count());
    if is_long || name.chars().any(char::is_control) {
        return Err(KeyError::Name);
    }
    if roles.is_empty() {
        return Err(KeyError::NoRole);
    }
    let mut roles = roles.to_vec();
    roles.sort_unstable();
    roles.dedup();
    let token = NewToken::generate().map_err(|_| KeyError::Randomness)?;
    let act = act(&token.text);
    let key = token.row(name, &roles, datasets);
    Ok((store.key_create(act, key).await?, token.text))
}

/// Makes sure that somebody can administer the service.
///
/// Where no key was chosen and none has the role `admin`, makes one: written
/// with mode 0600 beside an embedded store, else returned to be printed.
/// Several processes that start on one empty store make one key.
pub async fn ensure_admin_key(
    store: &dyn Store,
    settings: &Settings,
) -> Result<AdminKey, KeyError> {
    if let Some(key) = &settings.admin_key {
        judge_admin_key(key.expose())?;
        return Ok(AdminKey::Chosen);
    }
    if store.admin_key_exists().await? {
        return Ok(AdminKey::Present);
    }
    let token = NewToken::generate().map_err(|_| KeyError::Randomness)?;
    let embedded = settings.store_url().starts_with("sqlite:");
    let path = settings.data_dir.join(FILE_NAME);
    if embedded {
        // Before the key exists: a crash in between leaves a file that opens
        // nothing, and the next start writes it anew.
        write_private(&path, token.text.expose()).map_err(|source| KeyError::Write {
            path: path.clone(),
            source,
        })?;
    }
    failpoint::reached("admin-key-written");
    let key = token.row("first admin key".into(), &[Role::Admin], None);
    let made = store.key_create_first_admin(Act::by(OPERATOR), key).await?;
    failpoint::reached("admin-key-committed");
    match (made, embedded) {
        (false, _) => Ok(AdminKey::Present),
        (true, true) => Ok(AdminKey::Written(path)),
        (true, false) => Ok(AdminKey::Print(token.text)),
    }
}

fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    // A new file gets its mode when it is made; an old one may have another.
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    writeln!(file, "{text}")?;
    file.sync_all()
}
