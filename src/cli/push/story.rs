//! What a push tells: a line a step, or one document at the end.
//!
//! With `--json` standard output has the document alone, whatever the end is,
//! and the lines go to standard error.

use serde_json::{Map, Value};

use super::super::exit::Exit;

/// What is told: a line a step, or one document.
pub struct Story {
    is_json: bool,
    document: Map<String, Value>,
}

impl Story {
    /// Nothing is told yet.
    pub fn new(is_json: bool) -> Self {
        Self {
            is_json,
            document: Map::new(),
        }
    }

    /// Tells a step.
    pub fn say(&self, line: &str) {
        if self.is_json {
            eprintln!("{line}");
        } else {
            println!("{line}");
        }
    }

    /// Keeps a member of the document.
    pub fn keep(&mut self, name: &str, value: impl Into<Value>) {
        self.document.insert(name.into(), value.into());
    }

    /// Prints the document.
    pub fn finish(mut self, ended: &Result<(), Exit>) -> Result<(), Exit> {
        let (code, outcome) = match ended {
            Ok(()) => (0, None),
            Err(exit) => (exit.code(), Some(outcome(exit))),
        };
        if let Some(outcome) = outcome {
            self.keep("outcome", outcome);
        }
        match ended {
            Err(Exit::Usage(text)) => self.keep("error", text.as_str()),
            Err(Exit::Internal(error)) => self.keep("error", format!("{error:#}")),
            _ => {}
        }
        self.keep("exit_code", code);
        println!("{}", serde_json::to_string_pretty(&self.document)?);
        Ok(())
    }
}

fn outcome(exit: &Exit) -> &'static str {
    match exit.code() {
        2 => "usage",
        3 => "refused",
        4 => "infeasible",
        5 => "verification_failed",
        6 => "threshold",
        7 => "stewards",
        _ => "failed",
    }
}
