//! Pages for people.
//!
//! Reports and explorations are files of their own that need nothing else, made
//! of text alone; `pages` are what a browser finds at the service, `consent` what
//! somebody finds there whose data are in question.

mod browser_rules;
pub mod consent;
pub mod exploration;
mod markup;
mod pages;
pub mod report;

pub use exploration::exploration_page;
pub use pages::pages;
pub use report::report_page;
