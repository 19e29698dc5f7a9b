//! Processes of the program under test: started with faults built in, watched
//! and ended in every way there is.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use vizard::cli::client::Client;

use super::common::process::ADMIN_KEY;
use super::place::Place;

/// How long a process may take to end when it was asked to.
const ORDERLY_END_MAX: Duration = Duration::from_secs(60);

/// How long a process may take to get ready.
const START_MAX: Duration = Duration::from_secs(120);

/// Time between two looks at a process.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// A process that is not started yet.
pub struct Launch<'p> {
    place: &'p Place,
    command: Command,
}

impl<'p> Launch<'p> {
    /// A process on the store of `place`.
    pub fn new(place: &'p Place) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vizard"));
        command
            .env("VIZARD_STORE", place.url())
            .env("VIZARD_DATA", place.folder())
            .env("VIZARD_ADMIN_KEY", ADMIN_KEY)
            .env("VIZARD_THREADS", "2")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        Self { place, command }
    }

    /// Sets a variable of its environment; options of the program are `VIZARD_…`.
    pub fn with(mut self, variable: &str, value: impl ToString) -> Self {
        self.command.env(variable, value.to_string());
        self
    }

    /// Takes a variable away.
    pub fn without(mut self, variable: &str) -> Self {
        self.command.env_remove(variable);
        self
    }

    /// Gives an order to `vizard::failpoint`.
    pub fn failpoint(self, order: &str) -> Self {
        self.with("VIZARD_FAILPOINT", order)
    }

    /// Starts a server and waits until it listens.
    #[track_caller]
    pub fn serve(self) -> Program {
        let program = self.try_serve();
        program.unwrap_or_else(|log| panic!("the server did not start:\n{}", log.join("\n")))
    }

    /// Starts a server; the lines of its log if it ends before it listens.
    pub fn try_serve(mut self) -> Result<Program, Vec<String>> {
        self.command.args(["serve", "--listen", "127.0.0.1:0"]);
        self.start("listening on http://")
    }

    /// Starts a process that only works, and waits until it does.
    #[track_caller]
    pub fn work(mut self) -> Program {
        assert!(self.place.is_shared(), "SQLite has one process");
        self.command.arg("work");
        let program = self.start("working on ");
        program.unwrap_or_else(|log| panic!("the worker did not start:\n{}", log.join("\n")))
    }

    /// Waits for a line that begins with `ready`; what follows is the address.
    fn start(mut self, ready: &str) -> Result<Program, Vec<String>> {
        let mut child = self.command.spawn().expect("the program was built");
        let lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let mut program = Program {
            child,
            address: String::new(),
            log: Arc::default(),
        };
        // Somebody must read on, or the process would stop at a full pipe.
        let (log, ready) = (Arc::clone(&program.log), ready.to_owned());
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                match line.strip_prefix(&ready) {
                    // The test may have ended.
                    Some(address) => drop(tell.send(address.to_owned())),
                    None => log
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(line),
                }
            }
        });
        match told.recv_timeout(START_MAX) {
            Ok(address) => {
                program.address = address;
                Ok(program)
            }
            Err(RecvTimeoutError::Timeout) => panic!("it does not get ready:\n{}", program.log()),
            Err(RecvTimeoutError::Disconnected) => {
                program.child.wait().expect("it can be waited for");
                Err(program.log().lines().map(str::to_owned).collect())
            }
        }
    }
}

/// A running process; killed when dropped.
pub struct Program {
    child: Child,
    address: String,
    log: Arc<Mutex<Vec<String>>>,
}

impl Program {
    /// A client of this server with `token`.
    pub fn client(&self, token: &str) -> Client {
        let server = Client::plain(&self.address).expect("a client");
        server.with_token(token)
    }

    /// A client with the admin key.
    pub fn admin(&self) -> Client {
        self.client(ADMIN_KEY)
    }

    /// Where it listens.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Its number among processes.
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("it is there");
    }

    /// SIGTERM; waits for the orderly end and tells whether it was one.
    pub fn end_well(mut self) -> bool {
        self.signal(Signal::TERM);
        self.end(ORDERLY_END_MAX).success()
    }

    /// SIGKILL, and waits until it is gone.
    pub fn end_now(&mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it can be waited for");
    }

    /// The same, where it is not replaced.
    pub fn kill(mut self) {
        self.end_now();
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("it can be asked")
    }

    /// Waits for its end; panics with its log where it lives on.
    #[track_caller]
    pub fn end(&mut self, within: Duration) -> ExitStatus {
        let since = Instant::now();
        loop {
            if let Some(status) = self.ended() {
                return status;
            }
            assert!(since.elapsed() < within, "it lives:\n{}", self.log());
            std::thread::sleep(LOOK_INTERVAL);
        }
    }

    /// Waits until it has stopped itself (state `T`).
    pub async fn stopped(&self, within: Duration) {
        let since = Instant::now();
        while self.state() != 'T' {
            assert!(since.elapsed() < within, "it runs:\n{}", self.log());
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
    }

    /// One letter of /proc: `S` sleeps, `R` runs, `T` is stopped, `Z` has ended.
    fn state(&self) -> char {
        let path = format!("/proc/{}/stat", self.child.id());
        let text = std::fs::read_to_string(path).unwrap_or_default();
        // `pid (name) state …`, and a name may hold anything.
        let rest = text.rsplit(") ").next().unwrap_or_default();
        rest.chars().next().unwrap_or('Z')
    }

    /// What it wrote to standard error.
    pub fn log(&self) -> String {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.join("\n")
    }

    /// How many lines of its log contain `text`.
    pub fn logged(&self, text: &str) -> usize {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.iter().filter(|line| line.contains(text)).count()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("the log of a process of the failed test:\n{}", self.log());
        }
    }
}
