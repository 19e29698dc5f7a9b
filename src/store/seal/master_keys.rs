//! Master keys: what wraps the data keys, and never enters the database.
//!
//! A file of lines `id base64-of-32-bytes`, or the same text in the
//! environment. The first line is the current key: it wraps what is made from
//! now on. The others still open what they wrapped, until `vizard keys
//! rotate-master` has wrapped everything anew. Empty lines and lines that begin
//! with `#` say nothing.
//!
//! The file is read again when a data key is made, and when a wrapped one names
//! a master key that is not known: so a key may be rotated while servers run. A
//! file that others than its owner may read is refused. Keys are overwritten in
//! memory when they are dropped, and never printed; errors name lines and ids.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use super::associated_data::AssociatedData;
use super::data_key::{DataKey, DataKeyBits};
use super::envelope::{SealError, SealingKey, derivation};
use crate::config::{SecretFileError, read_secret_file};

/// Says what is derived; a data key uses another.
const SALT: &[u8] = b"vizard master key 1";

/// Longest id of a master key.
const ID_CHARACTERS_MAX: usize = 64;

/// Why master keys cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MasterKeyError {
    /// The file cannot be read, or others than its owner may read it.
    #[error("the master key file {0}")]
    File(#[from] SecretFileError),
    /// A line is not `id base64-of-32-bytes`.
    #[error("line {0} of the master keys is not an id and the base64 of 32 bytes")]
    Line(usize),
    /// Two lines have the same id.
    #[error("line {0} of the master keys repeats an id")]
    Repeated(usize),
    /// There is no key.
    #[error("the master keys name no key")]
    Empty,
}

/// One master key.
pub(in crate::store) struct MasterKey {
    /// Its name, kept beside what it wrapped.
    pub(in crate::store) id: String,
    sealing: SealingKey,
}

impl MasterKey {
    /// Wraps a data key at its place, which names this master key.
    pub(super) fn wrap(
        &self,
        associated: &AssociatedData<'_>,
        bits: &DataKeyBits,
    ) -> Result<Vec<u8>, SealError> {
        self.sealing.seal(associated, bits.0.to_vec())
    }

    /// The bits of a data key that this master key wrapped at that place.
    pub(super) fn unwrap(
        &self,
        associated: &AssociatedData<'_>,
        wrapped: Vec<u8>,
    ) -> Result<DataKeyBits, SealError> {
        let opened = Zeroizing::new(self.sealing.open(associated, wrapped)?);
        let bits = opened.as_slice().try_into();
        Ok(DataKeyBits(Zeroizing::new(
            bits.map_err(|_| SealError::Damaged)?,
        )))
    }

    /// The data key that this master key wrapped at that place.
    pub(super) fn data_key(
        &self,
        associated: &AssociatedData<'_>,
        wrapped: Vec<u8>,
    ) -> Result<DataKey, SealError> {
        self.unwrap(associated, wrapped)?.key()
    }
}

/// The master keys of this process.
pub struct MasterKeys {
    /// Read again when it may have changed; absent: given once.
    file: Option<PathBuf>,
    keys: RwLock<Vec<Arc<MasterKey>>>,
}

impl std::fmt::Debug for MasterKeys {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("MasterKeys(…)")
    }
}

impl MasterKeys {
    /// The keys of a file, which its owner alone may read.
    pub fn from_file(path: &Path) -> Result<Self, MasterKeyError> {
        Ok(Self {
            keys: RwLock::new(read_file(path)?),
            file: Some(path.to_owned()),
        })
    }

    /// The keys of a text, one a line.
    pub fn from_text(text: &str) -> Result<Self, MasterKeyError> {
        Ok(Self {
            keys: RwLock::new(parse(text)?),
            file: None,
        })
    }

    /// The key that wraps what is made now: the first of the file as it is.
    pub(in crate::store) fn current(&self) -> Result<Arc<MasterKey>, MasterKeyError> {
        self.read_again()?;
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        keys.first().cloned().ok_or(MasterKeyError::Empty)
    }

    /// The key of an id, if it is known by now.
    pub(in crate::store) fn find(&self, id: &str) -> Option<Arc<MasterKey>> {
        self.known(id).or_else(|| {
            self.read_again().ok()?;
            self.known(id)
        })
    }

    fn known(&self, id: &str) -> Option<Arc<MasterKey>> {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        keys.iter().find(|key| key.id == id).cloned()
    }

    fn read_again(&self) -> Result<(), MasterKeyError> {
        if let Some(file) = &self.file {
            let read = read_file(file)?;
            *self.keys.write().unwrap_or_else(PoisonError::into_inner) = read;
        }
        Ok(())
    }
}

fn read_file(path: &Path) -> Result<Vec<Arc<MasterKey>>, MasterKeyError> {
    parse(&read_secret_file(path)?)
}

fn parse(text: &str) -> Result<Vec<Arc<MasterKey>>, MasterKeyError> {
    let mut keys: Vec<Arc<MasterKey>> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let key = parse_line(line).ok_or(MasterKeyError::Line(number))?;
        if keys.iter().any(|other| other.id == key.id) {
            return Err(MasterKeyError::Repeated(number));
        }
        keys.push(Arc::new(key));
    }
    if keys.is_empty() {
        Err(MasterKeyError::Empty)
    } else {
        Ok(keys)
    }
}

fn parse_line(line: &str) -> Option<MasterKey> {
    let (id, encoded) = line.split_once(char::is_whitespace)?;
    let of_an_id = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if id.len() > ID_CHARACTERS_MAX || !id.chars().all(of_an_id) {
        return None;
    }
    let decoded = Zeroizing::new(STANDARD.decode(encoded.trim_start()).ok()?);
    let bits: Zeroizing<[u8; 32]> = Zeroizing::new(decoded.as_slice().try_into().ok()?);
    Some(MasterKey {
        id: id.to_owned(),
        sealing: SealingKey::derive(&derivation(SALT, &bits)).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "one AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const TWO: &str = "two ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=";

    #[test]
    fn the_first_line_is_the_current_key_and_all_are_known() {
        let keys = MasterKeys::from_text(&format!("# kept since May\n\n{TWO}\n{ONE}\n"));
        let keys = keys.expect("two keys");
        assert_eq!(keys.current().expect("a key").id, "two");
        assert!(keys.find("one").is_some());
        assert!(keys.find("three").is_none());
    }

    #[test]
    fn a_line_that_is_no_key_is_named_by_its_number_and_not_repeated() {
        let short = "short AAECAwQFBgcICQoLDA0ODw==";
        let refused = [
            ("", MasterKeyError::Empty),
            ("one", MasterKeyError::Line(1)),
            (short, MasterKeyError::Line(1)),
            ("one !!!!", MasterKeyError::Line(1)),
            (&ONE.replace("one", "a/b"), MasterKeyError::Line(1)),
            (
                &format!("{ONE}\n{}", TWO.replace("two", "one")),
                MasterKeyError::Repeated(2),
            ),
        ];
        for (text, error) in refused {
            let answer = MasterKeys::from_text(text).expect_err("refused");
            assert_eq!(answer, error);
            assert!(!answer.to_string().contains("AAEC"));
        }
    }

    #[test]
    fn keys_are_not_printed() {
        let keys = MasterKeys::from_text(ONE).expect("a key");
        assert_eq!(format!("{keys:?}"), "MasterKeys(…)");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_may_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("master.keys");
        std::fs::write(&path, ONE).expect("written");
        for mode in [0o640, 0o604, 0o644, 0o620] {
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("set");
            let refused = MasterKeys::from_file(&path).err();
            assert_eq!(refused, Some(SecretFileError::Permissions(mode).into()));
        }
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("set");
        let keys = MasterKeys::from_file(&path).expect("its owner's alone");
        // A new first line is the current key without a restart.
        std::fs::write(&path, format!("{TWO}\n{ONE}\n")).expect("written");
        assert!(keys.find("two").is_some());
        assert_eq!(keys.current().expect("a key").id, "two");
    }
}
