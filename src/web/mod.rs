//! Pages for people, made of text alone: no template language, no script.

pub mod report;

pub use report::report_page;
