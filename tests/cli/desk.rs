//! A folder in which commands are run, as somebody at a desk does.

use std::path::PathBuf;
use std::process::Output;

use serde_json::Value;

use super::command;

/// A folder of its own, gone with the test.
pub struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    pub fn empty() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// A file of JSON.
    pub fn document(&self, name: &str) -> Value {
        let text = std::fs::read(self.path(name)).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    /// Runs a command in the folder.
    pub fn run(&self, arguments: &[&str]) -> Output {
        let mut command = command(arguments);
        command.current_dir(self.folder.path()).output().unwrap()
    }
}

/// All that a command said, on both streams.
pub fn said(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8(text).unwrap()
}
