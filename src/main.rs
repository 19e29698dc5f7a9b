//! The program `vizard`: everything is in the library.

use std::process::ExitCode;

/// A job frees millions of texts between others that stay. The system's allocator
/// keeps such pages; this one gives them back within seconds, on threads of its own.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    vizard::cli::run()
}
