//! Progress on a terminal: a bar with step, rate and time left.
//!
//! Nothing is drawn where standard error is no terminal.

use std::sync::atomic::{AtomicU32, Ordering};

use indicatif::{ProgressBar, ProgressStyle};

use vizard_anonymizer::engine::Progress;

/// Ticks of one step of the bar.
const TICKS: u64 = 1000;

/// A bar that shows one step at a time.
pub struct Bar {
    bar: ProgressBar,
    step: AtomicU32,
}

impl Bar {
    /// A bar that waits for its first report.
    pub fn new() -> Self {
        let bar = ProgressBar::new(TICKS);
        let style = ProgressStyle::with_template(
            "{prefix:>7} {msg:<28} {wide_bar} {percent:>3} %  {eta:>4} left  {elapsed} so far",
        );
        if let Ok(style) = style {
            bar.set_style(style);
        }
        Self {
            bar,
            step: AtomicU32::new(0),
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Progress for Bar {
    fn report(&self, step: u32, steps: u32, label: &'static str, fraction: f64) {
        if self.step.swap(step, Ordering::Relaxed) != step {
            self.bar.reset();
            self.bar.set_prefix(format!("{step}/{steps}"));
            self.bar.set_message(label);
        }
        self.bar
            .set_position((fraction.clamp(0.0, 1.0) * TICKS as f64) as u64);
    }
}
