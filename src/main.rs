//! The program `vizard`: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    vizard::cli::run()
}
