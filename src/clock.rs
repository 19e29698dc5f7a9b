//! Time as a parameter.
//!
//! Nothing above the pure layers asks the operating system for the time by
//! itself: it is handed a `Clock`. The server hands down `SystemClock`; tests
//! hand down `ManualClock` and move it, so that an expired lease costs no
//! waiting. The time of day may be set by anybody at any moment; what must run
//! out in due time is measured on the steady scale. Times are UTC and cut to whole microseconds, the resolution that
//! both databases keep, so that a time read back equals the time written.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};

/// Tells the time.
pub trait Clock: Send + Sync + 'static {
    /// The present moment, in whole microseconds.
    fn now(&self) -> DateTime<Utc>;

    /// The present moment on a scale that only the passing of time moves, for
    /// deadlines inside this process. It begins at the time of day when it was
    /// first asked, and says nothing about that time later.
    fn steady(&self) -> DateTime<Utc> {
        self.now()
    }
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
        (Utc::now() + shift()).trunc_subsecs(6)
    }

    fn steady(&self) -> DateTime<Utc> {
        static BEGIN: OnceLock<(DateTime<Utc>, Instant)> = OnceLock::new();
        let (time, instant) = BEGIN.get_or_init(|| (self.now(), Instant::now()));
        let passed = TimeDelta::from_std(instant.elapsed()).unwrap_or(TimeDelta::MAX);
        (*time + passed).trunc_subsecs(6)
    }
}

/// How far a test has set the clock: the seconds in the file that
/// `VIZARD_CLOCK_SHIFT_FILE` names. A released program knows no such variable.
#[cfg(debug_assertions)]
fn shift() -> TimeDelta {
    static FILE: OnceLock<Option<std::ffi::OsString>> = OnceLock::new();
    let file = FILE.get_or_init(|| std::env::var_os("VIZARD_CLOCK_SHIFT_FILE"));
    let text = file.as_ref().map(std::fs::read_to_string);
    let shift_s = text.and_then(|text| text.ok()?.trim().parse().ok());
    TimeDelta::seconds(shift_s.unwrap_or(0))
}

#[cfg(not(debug_assertions))]
fn shift() -> TimeDelta {
    TimeDelta::zero()
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
