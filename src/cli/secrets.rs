//! Files of secrets: the seed of a run beside its lineage, and the secret of a
//! dataset.
//!
//! A secret is one line of 64 hexadecimal digits in a file that its owner
//! alone may read. A file is never written through a link, and never over
//! what is there but by putting a new file in its place.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use vizard_anonymizer::microdata::{TableError, from_hex, to_hex};
use vizard_anonymizer::privacy::Seed;

use super::exit::Exit;
use super::new_folder::parent_of;
use crate::config::{SecretFileError, read_secret_file};
use crate::job::draw_seed;

/// Where the seed of a run is kept whose lineage is in a file: `FILE.seed`.
pub fn beside(lineage: &Path) -> PathBuf {
    let mut name = lineage.as_os_str().to_owned();
    name.push(".seed");
    name.into()
}

/// A private file that is written and has no name yet. Its owner alone may read
/// it. The name is given in one step: a link of that name is replaced, never
/// followed.
pub struct Unnamed {
    file: tempfile::NamedTempFile,
    path: PathBuf,
}

impl Unnamed {
    /// Writes bytes through to the disk, beside `path`.
    pub fn write(path: &Path, bytes: &[u8]) -> Result<Self, Exit> {
        let written = || {
            let folder = parent_of(path);
            // Such files are their owner's alone.
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(bytes)?;
            file.as_file().sync_all()?;
            Ok::<_, std::io::Error>(file)
        };
        let file = written().with_context(|| format!("{} cannot be written", path.display()))?;
        Ok(Self {
            file,
            path: path.into(),
        })
    }

    /// The same with a secret.
    pub fn of_secret(path: &Path, secret: &Seed) -> Result<Self, Exit> {
        Self::write(path, format!("{}\n", to_hex(secret.as_bytes())).as_bytes())
    }

    /// Gives it its name.
    pub fn finish(self) -> Result<(), Exit> {
        let named = self.file.persist(&self.path);
        named.with_context(|| format!("{} cannot be written", self.path.display()))?;
        Ok(())
    }
}

/// Whether something that is neither a file nor a link has this name.
pub fn is_no_file(path: &Path) -> bool {
    let kind = std::fs::symlink_metadata(path).map(|metadata| metadata.file_type());
    kind.is_ok_and(|kind| !kind.is_file() && !kind.is_symlink())
}

/// Reads a secret; a file that is missing or holds anything else is a fault
/// of the input.
pub fn read(path: &Path) -> Result<Seed, Exit> {
    // A pipe would wait for ever.
    if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(at_fault(path, "is no plain file"));
    }
    match read_secret_file(path) {
        Ok(text) => parse(path, &text),
        Err(SecretFileError::Unreadable(kind)) => Err(at_fault(path, &kind.to_string())),
        Err(error) => Err(at_fault(path, &error.to_string())),
    }
}

/// Reads the secret of a dataset; makes one where there is no such file.
pub fn read_or_make(path: &Path) -> Result<Seed, Exit> {
    let secret = draw_seed()?;
    match create(path, &secret) {
        Ok(()) => Ok(secret),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => read(path),
        Err(error) => {
            let failed = anyhow::Error::from(error);
            Err(failed
                .context(format!("{} cannot be made", path.display()))
                .into())
        }
    }
}

/// A new file follows no link: where one stands, it exists already.
fn create(path: &Path, secret: &Seed) -> std::io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    writeln!(file, "{}", to_hex(secret.as_bytes()))?;
    file.sync_all()
}

fn parse(path: &Path, text: &str) -> Result<Seed, Exit> {
    let line = text.strip_suffix('\n').unwrap_or(text);
    let bytes = from_hex(line).map(Seed::from_bytes);
    bytes.ok_or_else(|| at_fault(path, "not one line of 64 hexadecimal digits"))
}

fn at_fault(path: &Path, what: &str) -> Exit {
    let source = path.display().to_string();
    Exit::Input(source, TableError::Read(what.into()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        let metadata = std::fs::symlink_metadata(path).expect("it is there");
        metadata.permissions().mode() & 0o777
    }

    #[test]
    fn a_secret_is_made_once_and_is_its_owners() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("secret");
        let made = read_or_make(&path).expect("made");
        assert_eq!(mode(&path), 0o600);
        assert!(read_or_make(&path).expect("read") == made);
    }

    #[test]
    fn a_seed_takes_the_place_of_a_link_and_not_of_what_it_points_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        std::fs::write(&target, "kept").expect("written");
        symlink(&target, &link).expect("linked");
        let seed = Seed::of_number(3);
        let written = Unnamed::of_secret(&link, &seed).expect("written");
        written.finish().expect("named");
        assert_eq!(std::fs::read_to_string(&target).expect("text"), "kept");
        assert_eq!(mode(&link), 0o600);
        assert!(read(&link).expect("read") == seed);
    }

    #[test]
    fn a_secret_that_is_missing_or_malformed_is_a_fault_of_the_input() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.seed");
        assert!(matches!(read(&path), Err(Exit::Input(..))));
        let digits = "a".repeat(64);
        for text in [
            "",
            "a",
            &digits[1..],
            &format!("{digits}\n\n"),
            &"g".repeat(64),
        ] {
            std::fs::write(&path, text).expect("written");
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("set");
            assert!(matches!(read(&path), Err(Exit::Input(..))), "{text:?}");
        }
        std::fs::write(&path, digits + "\n").expect("written");
        assert!(read(&path).is_ok());
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).expect("set");
        let Err(Exit::Input(_, error)) = read(&path) else {
            panic!("a file that others may read was read");
        };
        assert!(error.to_string().contains("mode 0644"), "{error}");
    }
}
