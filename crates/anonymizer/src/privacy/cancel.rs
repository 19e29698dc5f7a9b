//! A request to stop, heeded by whatever takes long.
//!
//! Engines answer it with an error of their own. Verifier, measures and queries
//! have no use for one: what they would return is thrown away. They *heed* the
//! flag, which unwinds to [`CancelFlag::run`]. So no verdict and no report is
//! ever made of a part of the evidence.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

/// A request to stop, shared between the work and anyone who may cancel it.
#[derive(Clone, Debug, Default)]
pub struct CancelFlag(Arc<AtomicBool>);

/// The work was stopped before its end, because somebody asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

impl CancelFlag {
    /// One that nobody raises.
    pub fn never() -> &'static Self {
        static NEVER: LazyLock<CancelFlag> = LazyLock::new(CancelFlag::default);
        &NEVER
    }

    /// Asks the work to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Ends the work around it if somebody asked; only inside of
    /// [`CancelFlag::run`], on any thread that it waits for.
    pub fn heed(&self) {
        if self.is_cancelled() {
            // No panic hook runs: nothing is wrong.
            resume_unwind(Box::new(Cancelled));
        }
    }

    /// Runs work that heeds the flag.
    ///
    /// # Errors
    /// [`Cancelled`] where it ended early. Panics of the work go on.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> Result<T, Cancelled> {
        // Unwind safety: whatever the work shared is thrown away with it.
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(answer) => Ok(answer),
            Err(payload) if payload.is::<Cancelled>() => Err(Cancelled),
            Err(payload) => resume_unwind(payload),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    #[test]
    fn work_on_all_threads_ends_where_it_heeds_the_flag() {
        let flag = CancelFlag::default();
        let work = |flag: &CancelFlag| {
            let numbers = (0..1_000_u64).into_par_iter();
            let heeding = numbers.map(|number| {
                flag.heed();
                number
            });
            heeding.sum::<u64>()
        };
        assert_eq!(flag.run(|| work(&flag)), Ok(499_500));
        flag.cancel();
        assert_eq!(flag.run(|| work(&flag)), Err(Cancelled));
        let both = || rayon::join(|| flag.heed(), || flag.heed());
        assert_eq!(flag.run(both), Err(Cancelled));
    }

    #[test]
    #[should_panic(expected = "a fault")]
    fn a_panic_of_the_work_is_not_taken_for_it() {
        let flag = CancelFlag::default();
        flag.cancel();
        let _ = flag.run(|| panic!("a fault"));
    }
}
