//! The anchor of the audit log: its head, kept outside the store.
//!
//! Anyone who can write to the database can cut the log and turn its head back,
//! or hash the whole chain anew. An anchor notices both. It is one line,
//! `POSITION:HASH`, in a file that an operator keeps where the database's
//! people cannot write, and it only ever moves on from a place that the log
//! still goes through: a log that was cut does not take its anchor with it.

use std::fmt;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use vizard_anonymizer::microdata::{from_hex, to_hex};

use super::audit::{AuditAnchor, AuditBreak, AuditFilter};
use super::durable::sync_folder_of;
use super::{Store, StoreError};

/// A text that is no `POSITION:HASH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an anchor is a position, a colon and 64 hexadecimal digits")]
pub struct NoAnchor;

impl fmt::Display for AuditAnchor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.position, to_hex(&self.hash))
    }
}

impl FromStr for AuditAnchor {
    type Err = NoAnchor;

    fn from_str(text: &str) -> Result<Self, NoAnchor> {
        let (position, hex) = text.split_once(':').ok_or(NoAnchor)?;
        let hash = from_hex(hex).ok_or(NoAnchor)?;
        let position = position.parse().map_err(|_| NoAnchor)?;
        Ok(Self { position, hash })
    }
}

/// Why an anchor could not be compared or moved on.
#[derive(Debug, thiserror::Error)]
pub enum AnchorError {
    /// The file cannot be read or written.
    #[error("the anchor file {path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// The file holds something else.
    #[error("the anchor file {path}: {source}")]
    Content {
        /// The file.
        path: PathBuf,
        /// What is missing.
        source: NoAnchor,
    },
    /// The log does not go through the anchor.
    #[error("the audit log is not the one that was anchored at {anchor}: {}", said(*.broken))]
    Broken {
        /// The anchor.
        anchor: AuditAnchor,
        /// `Truncated` or `Rewritten`.
        broken: AuditBreak,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn said(broken: AuditBreak) -> &'static str {
    match broken {
        AuditBreak::Truncated => "it is shorter",
        _ => "the row there is another one",
    }
}

/// The file that an anchor is kept in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnchorFile(PathBuf);

impl AnchorFile {
    /// The file at `path`, which need not be there yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    fn failed(&self, source: io::Error) -> AnchorError {
        let path = self.0.clone();
        AnchorError::File { path, source }
    }

    /// The anchor in the file; `None` where there is no file yet.
    pub fn read(&self) -> Result<Option<AuditAnchor>, AnchorError> {
        let text = match fs::read_to_string(&self.0) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.failed(error)),
        };
        let anchor = text.trim_end().parse();
        let path = || self.0.clone();
        let anchor = anchor.map_err(|source| AnchorError::Content {
            path: path(),
            source,
        })?;
        Ok(Some(anchor))
    }

    /// Puts an anchor into the file: the old one or the new one, never half.
    fn write(&self, anchor: AuditAnchor) -> Result<(), AnchorError> {
        let write = || {
            let folder = self.0.parent().filter(|one| !one.as_os_str().is_empty());
            // A name of its own: several processes may keep one anchor.
            let mut beside = tempfile::Builder::new()
                .prefix(".vizard-anchor-")
                // Less the bits of the umask, as a plain file has them.
                .permissions(PermissionsExt::from_mode(0o666))
                .tempfile_in(folder.unwrap_or(Path::new(".")))?;
            writeln!(beside, "{anchor}")?;
            beside.as_file().sync_all()?;
            beside.persist(&self.0)?;
            sync_folder_of(&self.0)
        };
        write().map_err(|error| self.failed(error))
    }

    /// An error unless the store's log goes through the anchor in the file.
    ///
    /// One row is looked at, not the chain: `audit_verify` walks that.
    pub async fn compare(&self, store: &Store) -> Result<Option<AuditAnchor>, AnchorError> {
        let Some(anchor) = self.read()? else {
            return Ok(None);
        };
        let behind = Some(anchor.position.saturating_add(1));
        let page = store.audit_list(1, behind, AuditFilter::default()).await?;
        let there = page
            .items
            .first()
            .filter(|row| row.position == anchor.position);
        let broken = match there {
            Some(row) if row.hash == anchor.hash => None,
            Some(_) => Some(AuditBreak::Rewritten),
            None if anchor.position == 0 => None,
            None => Some(AuditBreak::Truncated),
        };
        match broken {
            Some(broken) => Err(AnchorError::Broken { anchor, broken }),
            None => Ok(Some(anchor)),
        }
    }

    /// Moves the anchor on to the head of the log, if the log still goes
    /// through the old one.
    pub async fn advance(&self, store: &Store) -> Result<AuditAnchor, AnchorError> {
        let anchor = self.compare(store).await?;
        let head = store.audit_head().await?;
        match anchor {
            Some(anchor) if anchor.position >= head.position => Ok(anchor),
            _ => {
                self.write(head)?;
                Ok(head)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_that_share_a_file_do_not_stand_in_each_others_way() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = AnchorFile::new(folder.path().join("anchor"));
        std::thread::scope(|threads| {
            for position in 0..4 {
                let file = &file;
                threads.spawn(move || {
                    let hash = [0xa7; 32];
                    for _ in 0..50 {
                        file.write(AuditAnchor { position, hash }).expect("written");
                        file.read().expect("whole").expect("there");
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 1);
    }

    #[test]
    fn an_anchor_is_read_as_it_is_written() {
        let anchor = AuditAnchor {
            position: 41,
            hash: [0xa7; 32],
        };
        let text = anchor.to_string();
        assert_eq!(text, format!("41:{}", "a7".repeat(32)));
        assert_eq!(text.parse(), Ok(anchor));
        for text in [
            "",
            "41",
            "41:",
            "x:00",
            &format!("-1:{}", "00".repeat(32)),
            "1:é",
        ] {
            assert_eq!(text.parse::<AuditAnchor>(), Err(NoAnchor), "{text}");
        }
    }

    #[test]
    fn the_file_holds_the_last_anchor_and_nothing_beside_it() {
        let folder = tempfile::TempDir::new().expect("a folder");
        let file = AnchorFile::new(folder.path().join("anchor"));
        assert_eq!(file.read().expect("no file"), None);
        for position in [1, 2] {
            let anchor = AuditAnchor {
                position,
                hash: [position as u8; 32],
            };
            file.write(anchor).expect("it is written");
            assert_eq!(file.read().expect("it is read"), Some(anchor));
        }
        let files = fs::read_dir(folder.path()).expect("the folder");
        assert_eq!(files.count(), 1);
        fs::write(folder.path().join("anchor"), "scribble").expect("it is written");
        assert!(matches!(file.read(), Err(AnchorError::Content { .. })));
    }
}
