//! The server of one test process: found, initialized once, copied, started, ended.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use super::owner::Owner;

/// How long a server may take to start before the test gives up.
const START_LIMIT: Duration = Duration::from_secs(60);

/// A running server; it ends when this value is dropped or the process ends.
pub struct Server {
    home: PathBuf,
    watcher: Child,
    // A line tells the watching shell to start the server anew, the end to stop it.
    orders: Option<ChildStdin>,
}

impl Server {
    /// URL of the maintenance database over the Unix socket.
    pub fn url(&self) -> String {
        format!(
            "postgres://postgres@localhost:5432/postgres?host={}",
            self.home.display()
        )
    }

    /// The folder of its files.
    pub fn files(&self) -> PathBuf {
        self.home.join("data")
    }

    /// Ends the server without any clean-up (`immediate` mode, as a crash
    /// would) and starts it again; returns once it takes connections.
    pub fn restart_immediately(&mut self) -> io::Result<()> {
        let before = first_line(&self.home);
        let orders = self.orders.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        orders.write_all(b"restart\n")?;
        let since = Instant::now();
        while first_line(&self.home) == before {
            if since.elapsed() > START_LIMIT {
                return Err(io::Error::other("the server did not end"));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        wait_until_ready(&self.home, &mut self.watcher)
    }
}

/// Gives a folder to the user that the server runs as.
pub fn give_to_owner(folder: &Path) -> io::Result<()> {
    Owner::of_server()?.own(folder)
}

/// The number of the server's process, while there is one.
fn first_line(home: &Path) -> Option<String> {
    let file = fs::read_to_string(home.join("data/postmaster.pid")).ok()?;
    file.lines().next().map(str::to_owned)
}

/// The folder with `initdb` and `postgres`, the newest where there are several.
pub fn programs() -> Option<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    if let Ok(versions) = fs::read_dir("/usr/lib/postgresql") {
        folders.extend(versions.flatten().map(|version| version.path().join("bin")));
    }
    folders.sort_by_key(|folder| {
        let version = folder
            .parent()
            .and_then(Path::file_name)
            .and_then(|name| name.to_str());
        std::cmp::Reverse(
            version
                .and_then(|name| name.parse::<u32>().ok())
                .unwrap_or(0),
        )
    });
    if let Ok(answer) = Command::new("pg_config").arg("--bindir").output() {
        folders.push(PathBuf::from(
            String::from_utf8_lossy(&answer.stdout).trim(),
        ));
    }
    folders.extend(std::env::split_paths(
        &std::env::var_os("PATH").unwrap_or_default(),
    ));
    folders
        .into_iter()
        .find(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file())
}

/// Copies the template and starts a server on the copy; returns once it takes connections.
pub fn start(programs: &Path) -> io::Result<Server> {
    let owner = Owner::of_server()?;
    let template = template(programs, &owner)?;
    // Socket paths are limited to about 100 bytes, so the folder is a short one.
    let home = tempfile::Builder::new()
        .prefix("vizard-pg-")
        .disable_cleanup(true)
        .tempdir()?
        .keep();
    copy_folder(&template, &home.join("data"), &owner)?;
    owner.own(&home)?;
    let mut watcher = owner
        .command("sh")
        .args(["-c", WATCH, "sh"])
        .arg(&home)
        .arg(programs.join("postgres"))
        .arg("-D")
        .arg(home.join("data"))
        .arg("-k")
        .arg(&home)
        .args(SETTINGS)
        .current_dir("/")
        .stdin(Stdio::piped())
        // A signal to the test's process group (Ctrl-C) must not stop the clean-up.
        .process_group(0)
        .spawn()?;
    let orders = watcher.stdin.take();
    wait_until_ready(&home, &mut watcher)?;
    Ok(Server {
        home,
        watcher,
        orders,
    })
}

/// No network, and nothing of what keeps data safe when the machine dies.
const SETTINGS: &[&str] = &[
    "-p5432",
    "-clisten_addresses=",
    "-cfsync=off",
    "-cfull_page_writes=off",
    "-cmax_connections=200",
    "-cshared_buffers=32MB",
];

/// Runs the server until standard input ends, then leaves nothing behind.
/// Each line before is an order to let it crash and to start it again.
const WATCH: &str = r#"
    home=$1; shift
    "$@" >"$home/log" 2>&1 &
    server=$!
    while read -r order; do
        kill -QUIT "$server"
        wait "$server"
        "$@" >>"$home/log" 2>&1 &
        server=$!
    done
    kill -QUIT "$server" 2>/dev/null
    wait "$server"
    rm -rf "$home"
"#;

fn wait_until_ready(home: &Path, watcher: &mut Child) -> io::Result<()> {
    let started = Instant::now();
    loop {
        // The eighth line of the file is the state.
        let file = fs::read_to_string(home.join("data/postmaster.pid")).unwrap_or_default();
        if file
            .lines()
            .nth(7)
            .is_some_and(|state| state.trim() == "ready")
        {
            return Ok(());
        }
        if started.elapsed() > START_LIMIT || watcher.try_wait()?.is_some() {
            let log = fs::read_to_string(home.join("log")).unwrap_or_default();
            return Err(io::Error::other(format!(
                "no readiness; the server's log:\n{log}"
            )));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Path of the initialized folder that clusters are copied from, made on first use.
fn template(programs: &Path, owner: &Owner) -> io::Result<PathBuf> {
    let answer = Command::new(programs.join("initdb"))
        .arg("--version")
        .output()?;
    // "initdb (PostgreSQL) 15.18 (…)"
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    let version = text.split_whitespace().nth(2).unwrap_or("unknown");
    let base = owner.reachable(Path::new(env!("CARGO_TARGET_TMPDIR")));
    let name = format!("vizard-postgres-{version}-{}", owner.uid);
    let template = base.join(&name);
    let lock = fs::File::create(base.join(format!("{name}.lock")))?;
    lock.lock()?;
    if template.join("PG_VERSION").is_file() {
        return Ok(template);
    }
    let half = base.join(format!("{name}.half"));
    if half.exists() {
        fs::remove_dir_all(&half)?;
    }
    fs::create_dir(&half)?;
    owner.own(&half)?;
    let answer = owner
        .command(programs.join("initdb"))
        .args([
            "--no-sync",
            "--no-locale",
            "--encoding=UTF8",
            "--wal-segsize=1",
        ])
        .args(["--auth=trust", "--username=postgres", "-D"])
        .arg(&half)
        .current_dir("/")
        .output()?;
    if !answer.status.success() {
        return Err(io::Error::other(
            String::from_utf8_lossy(&answer.stderr).into_owned(),
        ));
    }
    fs::rename(&half, &template)?;
    Ok(template)
}

fn copy_folder(from: &Path, to: &Path, owner: &Owner) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target, owner)?;
        } else {
            fs::copy(entry.path(), &target)?;
            owner.own(&target)?;
        }
    }
    // The server refuses a data folder that others may read.
    fs::set_permissions(to, fs::Permissions::from_mode(0o700))?;
    owner.own(to)
}
