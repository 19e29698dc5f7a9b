//! Time as a parameter.
//!
//! Nothing above the pure layers asks the operating system for the time by
//! itself: it is handed a `Clock`. The server hands down `SystemClock`; tests
//! hand down `ManualClock` and move it, so that an expired lease costs no
//! waiting. Times are UTC and cut to whole microseconds, the resolution that
//! both databases keep, so that a time read back equals the time written.

use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};

/// Tells the time.
pub trait Clock: Send + Sync + 'static {
    /// The present moment, in whole microseconds.
    fn now(&self) -> DateTime<Utc>;
}

/// The clock of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that asks the system"
    )]
    fn now(&self) -> DateTime<Utc> {
        Utc::now().trunc_subsecs(6)
    }
}

/// A clock that stands still until it is moved: for tests.
#[derive(Debug)]
pub struct ManualClock {
    now: Mutex<DateTime<Utc>>,
}

impl ManualClock {
    /// A clock that stands at `start`.
    pub fn new(start: DateTime<Utc>) -> Self {
        Self {
            now: Mutex::new(start.trunc_subsecs(6)),
        }
    }

    /// Moves the clock by `step`, which may be negative.
    pub fn advance(&self, step: TimeDelta) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        *now = (*now + step).trunc_subsecs(6);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> DateTime<Utc> {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manual_clock_moves_only_when_told() {
        let start = DateTime::from_timestamp(1_800_000_000, 0).expect("in range");
        let clock = ManualClock::new(start);
        assert_eq!(clock.now(), start);
        clock.advance(TimeDelta::seconds(30));
        assert_eq!(clock.now() - start, TimeDelta::seconds(30));
        clock.advance(TimeDelta::days(-1));
        assert_eq!(
            clock.now() - start,
            TimeDelta::seconds(30) - TimeDelta::days(1)
        );
    }

    #[test]
    fn system_clock_counts_whole_microseconds() {
        let now = SystemClock.now();
        assert_eq!(now.timestamp_subsec_nanos() % 1000, 0);
    }
}
