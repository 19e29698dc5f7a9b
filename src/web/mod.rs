//! Pages for people, made of text alone: no template language, no script.

pub mod exploration;
mod markup;
pub mod report;

pub use exploration::exploration_page;
pub use report::report_page;
