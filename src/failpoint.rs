//! Places at which a test may end, stop or delay this very process.
//!
//! The fault suite (`tests/service/faults`) kills real servers. Killing at a
//! random time rarely hits the few instructions that matter: after the commit
//! and before the answer, between two chunks of one version. There the code
//! says `failpoint::reached("…")`, and a test says in `VIZARD_FAILPOINT` what
//! shall happen:
//!
//! | order | effect at that place |
//! |---|---|
//! | `upload-committed` | SIGKILL the first time |
//! | `upload-committed:3` | SIGKILL the third time |
//! | `job-run=stop` | SIGSTOP every time; the test sends SIGCONT |
//! | `job-loaded=stall:1500` | the thread sleeps 1,500 ms every time |
//!
//! The order is read once. Without `debug_assertions` nothing of this is
//! compiled: a released program has no failpoints, whatever its environment.

/// Says that the place called `name` is reached.
#[cfg(debug_assertions)]
pub fn reached(name: &str) {
    order::given(name);
}

/// Says that the place called `name` is reached; a released program does not care.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn reached(_name: &str) {}

#[cfg(debug_assertions)]
mod order {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use rustix::process::{Signal, getpid, kill_process};

    /// Name of the environment variable.
    const VARIABLE: &str = "VIZARD_FAILPOINT";

    /// Time within which a signal to this process has stopped this thread too.
    const SIGNAL_TIME: Duration = Duration::from_millis(50);

    #[derive(Debug, PartialEq, Eq)]
    pub(super) enum Effect {
        Kill,
        Stop,
        Stall(Duration),
    }

    /// What shall happen where.
    #[derive(Debug)]
    pub(super) struct Order {
        pub(super) name: String,
        /// Only this time, counted from 1; `None`: every time.
        pub(super) nth: Option<u64>,
        pub(super) effect: Effect,
        reached: AtomicU64,
    }

    pub(super) fn given(name: &str) {
        static ORDER: OnceLock<Option<Order>> = OnceLock::new();
        let order = ORDER.get_or_init(|| {
            let text = std::env::var(VARIABLE).ok()?;
            let order = Order::parse(&text);
            if order.is_none() {
                tracing::error!("{VARIABLE} cannot be read: there is no failpoint");
            }
            order
        });
        if let Some(order) = order.as_ref()
            && order.is_due(name)
        {
            order.follow();
        }
    }

    impl Order {
        /// Reads `name[:nth][=kill|=stop|=stall:MILLISECONDS]`.
        pub(super) fn parse(text: &str) -> Option<Self> {
            let (place, effect) = text.split_once('=').unwrap_or((text, "kill"));
            let (name, nth) = match place.split_once(':') {
                Some((name, nth)) => (name, Some(nth.parse().ok()?)),
                None => (place, None),
            };
            let effect = match effect.split_once(':') {
                None if effect == "kill" => Effect::Kill,
                None if effect == "stop" => Effect::Stop,
                Some(("stall", time)) => Effect::Stall(Duration::from_millis(time.parse().ok()?)),
                _ => return None,
            };
            (!name.is_empty()).then(|| Self {
                name: name.to_owned(),
                nth,
                effect,
                reached: AtomicU64::new(0),
            })
        }

        /// Whether the place is the order's, and this the time that it names.
        pub(super) fn is_due(&self, name: &str) -> bool {
            if self.name != name {
                return false;
            }
            let time = 1 + self.reached.fetch_add(1, Ordering::Relaxed);
            self.nth.is_none_or(|nth| nth == time)
        }

        fn follow(&self) {
            match self.effect {
                Effect::Kill => loop {
                    // Nothing after this place may happen, not even on this thread.
                    let _ = kill_process(getpid(), Signal::KILL);
                    std::thread::sleep(SIGNAL_TIME);
                },
                Effect::Stop => {
                    let _ = kill_process(getpid(), Signal::STOP);
                    std::thread::sleep(SIGNAL_TIME);
                }
                Effect::Stall(time) => std::thread::sleep(time),
            }
        }
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use std::time::Duration;

    use super::order::{Effect, Order};

    #[test]
    fn an_order_names_a_place_a_time_and_an_effect() {
        let read = |text: &str| {
            let order = Order::parse(text).expect("an order");
            (order.name, order.nth, order.effect)
        };
        assert_eq!(read("a-place"), ("a-place".into(), None, Effect::Kill));
        assert_eq!(read("it:3"), ("it".into(), Some(3), Effect::Kill));
        assert_eq!(read("it=stop"), ("it".into(), None, Effect::Stop));
        let stall = Effect::Stall(Duration::from_millis(250));
        assert_eq!(read("it:2=stall:250"), ("it".into(), Some(2), stall));
    }

    #[test]
    fn an_order_that_cannot_be_read_is_none() {
        for text in ["", ":1", "it:x", "it=explode", "it=stall", "it=stall:soon"] {
            assert!(Order::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn an_order_is_due_at_its_place_and_its_time_alone() {
        let order = |text: &str| Order::parse(text).expect("an order");
        let third = order("here:3");
        let due = ["here", "there", "here", "here", "here"].map(|place| third.is_due(place));
        assert_eq!(due, [false, false, false, true, false]);
        let always = order("here=stop");
        assert!(always.is_due("here") && always.is_due("here") && !always.is_due("there"));
    }
}
