//! A disk of a few megabytes that a test fills and frees: a tmpfs.
//!
//! Root mounts it. Anybody else mounts it in a user namespace of a process
//! that holds it, and reaches it through `/proc/PID/root`, which PostgreSQL
//! running as the same user can, too. Either way the disk is gone when the
//! test process ends, however it ends: the process that holds it waits for
//! the end of its input.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::geteuid;

/// Name of the file that fills the disk.
const BALLAST: &str = "ballast";

/// Mounts, says so, and holds until its input ends.
const HOLD: &str = r#"
    mount -t tmpfs -o "size=$2m,mode=1777" tmpfs "$1" || exit 1
    echo mounted
    cat >/dev/null
    umount -l "$1"
    rmdir "$1" 2>/dev/null
"#;

/// A mounted disk.
pub struct SmallDisk {
    holder: Child,
    path: PathBuf,
}

impl SmallDisk {
    /// A disk of `mebibytes`; `None` where nobody lets us mount one, which is
    /// a failure under `CI=true`.
    pub fn mount(mebibytes: u64) -> Option<Self> {
        match Self::try_mount(mebibytes) {
            Ok(disk) => Some(disk),
            Err(error) => {
                let in_ci = std::env::var("CI").is_ok_and(|value| value == "true");
                assert!(!in_ci, "no small disk can be mounted: {error}");
                eprintln!("skipped: no small disk can be mounted: {error}");
                None
            }
        }
    }

    fn try_mount(mebibytes: u64) -> io::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("vizard-disk-")
            .disable_cleanup(true)
            .tempdir()?
            .keep();
        let is_root = geteuid().is_root();
        let mut command = Command::new(if is_root { "sh" } else { "unshare" });
        if !is_root {
            command.args(["--user", "--map-root-user", "--mount", "sh"]);
        }
        let mut holder = command
            .args(["-c", HOLD, "sh"])
            .arg(&folder)
            .arg(mebibytes.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut said = String::new();
        BufReader::new(holder.stdout.take().expect("piped")).read_line(&mut said)?;
        if said.trim() != "mounted" {
            holder.wait()?;
            fs::remove_dir(&folder)?;
            return Err(io::Error::other("mount was refused"));
        }
        let seen_by_all = PathBuf::from("/");
        let seen_by_holder = PathBuf::from(format!("/proc/{}/root", holder.id()));
        let root = if is_root { seen_by_all } else { seen_by_holder };
        let path = root.join(folder.strip_prefix("/").expect("an absolute path"));
        Ok(Self { holder, path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Fills it up to `leave` bytes.
    pub fn fill(&self, leave: u64) {
        let mut ballast = File::create(self.path.join(BALLAST)).expect("a file");
        let block = vec![0; 1 << 16];
        // The last block is written in part; then there is no room at all.
        let full = loop {
            if let Err(error) = ballast.write_all(&block) {
                break error;
            }
        };
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
        let length = ballast.metadata().expect("its length").len();
        ballast
            .set_len(length.saturating_sub(leave))
            .expect("shorter");
    }

    /// Frees what `fill` took.
    pub fn free(&self) {
        fs::remove_file(self.path.join(BALLAST)).expect("it was filled");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(self.holder.stdin.take());
        let _ = self.holder.wait();
    }
}
