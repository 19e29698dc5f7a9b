//! Explorations: many settings on one version, and which of them are worth having.
//!
//! [`Grid`] says what is tried, and gives its settings; [`Measures`] are what a
//! verified release loses and what its readers may find, in a few figures;
//! [`front()`] are the settings that no other one beats, and [`best`] those of them
//! that are near to losing nothing and telling nothing. *Ours.*
//!
//! An exploration looks at releases and never changes how one is made: each is
//! verified as any other. Its figures are for stewards: they come from the
//! original table.

mod front;
mod grid;
mod measures;

pub use front::{Axes, LossAxis, RiskAxis, best, front};
pub use grid::{
    EngineChoice, Grid, GridError, GridSettings, RefusedSetting, SETTINGS_MAX, Setting,
};
pub use measures::Measures;

#[cfg(test)]
mod tests;
