//! A panic is told by its place alone.
//!
//! What a panic says was written for those who work on the code, and may
//! quote what it stumbled over: a cell, a subject, a token. The default hook
//! prints it to standard error. Ours tells file and line, which is what one
//! needs to find the fault, and counts it; with `RUST_BACKTRACE=1` it adds the
//! stack, which holds names of functions only.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic;

/// From now on no panic of this process prints its message.
pub fn tell_places_only() {
    panic::set_hook(Box::new(|panicked| {
        let place = panicked.location().map(ToString::to_string);
        let place = place.as_deref().unwrap_or("an unknown place");
        let stack = Backtrace::capture();
        let stack = (stack.status() == BacktraceStatus::Captured).then(|| stack.to_string());
        ::metrics::counter!("vizard_panics_total").increment(1);
        if tracing::dispatcher::has_been_set() {
            tracing::error!(place, stack, "a thread panicked");
        } else {
            eprintln!("panicked at {place}\n{}", stack.unwrap_or_default());
        }
    }));
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    /// Run by the test below, in a process of its own: a hook is for all threads.
    #[test]
    #[ignore = "a part of the test below"]
    fn panics_with_a_secret() {
        super::tell_places_only();
        let caught = std::panic::catch_unwind(|| panic!("a cell of row 7: canary-7731"));
        assert!(caught.is_err());
    }

    #[test]
    fn a_panic_is_told_by_its_place_and_not_by_what_it_says() {
        let own = std::env::current_exe().expect("this program");
        let mut child = Command::new(own);
        child.args(["--ignored", "--nocapture", "panics_with_a_secret"]);
        let output = child.output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert!(
            said.contains("panicked at src/telemetry/panics.rs:"),
            "{said}"
        );
        assert!(!said.contains("canary"), "{said}");
    }
}
