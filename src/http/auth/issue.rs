//! Making keys: for `POST /v1/keys`, for the command line, and the first
//! admin key of an empty store.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::principal::OPERATOR;
use super::role::Role;
use super::token::NewToken;
use crate::config::{GuessableKey, Secret, Settings, judge_admin_key};
use crate::failpoint;
use crate::ids::DatasetId;
use crate::store::{Act, KeyRow, Store, StoreError};

/// Characters in the name of a key.
const NAME_CHARACTERS_MAX: usize = 200;

/// The longest life that can be asked for a key: ten years.
pub const KEY_LIFETIME_S_MAX: u64 = 10 * 365 * 24 * 60 * 60;

/// Name of the file that the first admin key is written to.
const FILE_NAME: &str = "admin-key";

/// Pause before the folder is asked for again.
const TURN_PAUSE: Duration = Duration::from_millis(20);

/// How the operator gets in.
#[derive(Debug)]
pub enum AdminKey {
    /// By the key of their own choosing (`VIZARD_ADMIN_KEY`).
    Chosen,
    /// By an admin key that was made before.
    Present,
    /// By the new key in this file, which only its owner may read.
    Written(PathBuf),
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
    /// It would live for no time, or for longer than anybody can tell.
    #[error("a key lives for 1 to {KEY_LIFETIME_S_MAX} seconds, or until it is revoked")]
    Lifetime,
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

/// A key as somebody wants it.
#[derive(Clone, Debug)]
pub struct KeyWish {
    /// What people call it.
    pub name: String,
    /// What it may do, in any order and more than once.
    pub roles: Vec<Role>,
    /// The datasets it is tied to; `None`: all.
    pub datasets: Option<Vec<DatasetId>>,
    /// How long it lives, in seconds; `None`: until it is revoked.
    pub lifetime_s: Option<u64>,
}

impl KeyWish {
    /// A key for all datasets, until it is revoked.
    pub fn new(name: impl Into<String>, roles: impl Into<Vec<Role>>) -> Self {
        Self {
            name: name.into(),
            roles: roles.into(),
            datasets: None,
            lifetime_s: None,
        }
    }

    fn check(&self) -> Result<(), KeyError> {
        let is_long = !(1..=NAME_CHARACTERS_MAX).contains(&self.name.chars().count());
        if is_long || self.name.chars().any(char::is_control) {
            return Err(KeyError::Name);
        }
        if self.roles.is_empty() {
            return Err(KeyError::NoRole);
        }
        let lives = self.lifetime_s.unwrap_or(1);
        if !(1..=KEY_LIFETIME_S_MAX).contains(&lives) {
            return Err(KeyError::Lifetime);
        }
        Ok(())
    }
}

/// Makes a key; the token is readable in this answer alone, and in what `act`
/// keeps of it under seal.
pub async fn create_key(
    store: &Store,
    act: impl FnOnce(&Secret) -> Act<KeyRow>,
    mut wish: KeyWish,
) -> Result<(KeyRow, Secret), KeyError> {
    wish.check()?;
    wish.roles.sort_unstable();
    wish.roles.dedup();
    let token = NewToken::generate().map_err(|_| KeyError::Randomness)?;
    let act = act(&token.text);
    let key = token.row(wish);
    Ok((store.key_create(act, key).await?, token.text))
}

/// Makes sure that somebody can administer the service.
///
/// Where no key was chosen and none has the role `admin`, makes one, and writes
/// it to a file of mode 0600 in the data folder. Several processes that start
/// on one empty store make one key.
pub async fn ensure_admin_key(store: &Store, settings: &Settings) -> Result<AdminKey, KeyError> {
    if let Some(key) = &settings.admin_key {
        judge_admin_key(key.expose())?;
        return Ok(AdminKey::Chosen);
    }
    if store.admin_key_exists().await? {
        return Ok(AdminKey::Present);
    }
    let path = settings.data_dir.join(FILE_NAME);
    let failed = |source| KeyError::Write {
        path: path.clone(),
        source,
    };
    let _turn = turn_in(&settings.data_dir).await.map_err(failed)?;
    if store.admin_key_exists().await? {
        return Ok(AdminKey::Present);
    }
    let token = NewToken::generate().map_err(|_| KeyError::Randomness)?;
    // Before the key exists: a crash in between leaves a file that opens
    // nothing, and the next start writes it anew.
    write_private(&path, token.text.expose()).map_err(failed)?;
    failpoint::reached("admin-key-written");
    let key = token.row(KeyWish::new("first admin key", [Role::Admin]));
    let made = store.key_create_first_admin(Act::by(OPERATOR), key).await?;
    failpoint::reached("admin-key-committed");
    if !made {
        // A process with another folder was first: this file opens nothing.
        fs::remove_file(&path).map_err(failed)?;
        return Ok(AdminKey::Present);
    }
    Ok(AdminKey::Written(path))
}

/// Waits until no other process makes the first key in this folder, and keeps
/// others waiting until the file is dropped: each would write over the other's.
async fn turn_in(folder: &Path) -> std::io::Result<fs::File> {
    fs::create_dir_all(folder)?;
    let file = fs::File::open(folder)?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::WouldBlock) => tokio::time::sleep(TURN_PAUSE).await,
            Err(fs::TryLockError::Error(error)) => return Err(error),
        }
    }
}

fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
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
