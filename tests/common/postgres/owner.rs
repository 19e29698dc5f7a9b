//! The user that PostgreSQL's programs run as.
//!
//! PostgreSQL refuses to run as root; then its processes alone take the uid of
//! `postgres`, else of `nobody`, and their files belong to that user.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Who runs the server: this user, or one without rights where this user is root.
pub struct Owner {
    pub uid: u32,
    gid: u32,
    /// Whether children must change to this user.
    changes: bool,
}

impl Owner {
    /// The server's user for whoever runs the tests.
    pub fn of_server() -> io::Result<Owner> {
        let me = fs::metadata("/proc/self")?;
        if me.uid() != 0 {
            return Ok(Owner {
                uid: me.uid(),
                gid: me.gid(),
                changes: false,
            });
        }
        let accounts = fs::read_to_string("/etc/passwd")?;
        let account = |name: &str| {
            let fields: Vec<&str> = accounts
                .lines()
                .map(|line| line.split(':').collect::<Vec<_>>())
                .find(|fields| fields[0] == name)?;
            Some(Owner {
                uid: fields.get(2)?.parse().ok()?,
                gid: fields.get(3)?.parse().ok()?,
                changes: true,
            })
        };
        account("postgres")
            .or_else(|| account("nobody"))
            .ok_or_else(|| io::Error::other("no user to run it as"))
    }

    /// A command that will run as this user.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        if self.changes {
            command.uid(self.uid).gid(self.gid);
        }
        command
    }

    /// Gives a file or folder to this user.
    pub fn own(&self, path: &Path) -> io::Result<()> {
        if self.changes {
            chown(path, Some(self.uid), Some(self.gid))
        } else {
            Ok(())
        }
    }

    /// `folder` where the owner can walk down to it, else the temporary folder.
    pub fn reachable(&self, folder: &Path) -> PathBuf {
        let open = |path: &Path| {
            fs::metadata(path).is_ok_and(|data| data.permissions().mode() & 0o001 != 0)
        };
        let walkable = !self.changes || folder.ancestors().all(open);
        if walkable {
            folder.to_path_buf()
        } else {
            std::env::temp_dir()
        }
    }
}
