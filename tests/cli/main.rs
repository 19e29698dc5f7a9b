//! Tests of the command line: help texts, exit codes, one command a module.

use std::process::Command;

#[test]
fn an_unknown_option_is_no_panic() {
    let answer = Command::new(env!("CARGO_BIN_EXE_vizard"))
        .arg("--no-such-option")
        .output()
        .expect("the binary was built");
    assert!(!String::from_utf8_lossy(&answer.stderr).contains("panicked"));
}
