//! Which statements the store ran, told by its own trace.
//!
//! Whether two answers took equally long is a matter of chance on a busy
//! machine; whether they took the same statements is not. The recorder hears
//! what runs on this thread alone, so a test that uses it runs on one thread
//! (`#[tokio::test]` without a flavour).

use std::sync::{Arc, Mutex, OnceLock};

use tracing::field::{Field, Visit};
use tracing::subscriber::DefaultGuard;
use tracing::{Dispatch, Event, Level, Metadata, Subscriber, span};

/// Name under which the store tells its statements.
const TARGET: &str = "vizard::statements";

/// Hears the statements of this thread until it is dropped.
pub struct Statements {
    heard: Arc<Mutex<Vec<String>>>,
    _listening: DefaultGuard,
}

impl Statements {
    /// Begins to listen.
    ///
    /// Where there is one listener alone, `tracing` asks only the thread that
    /// comes first whether anybody listens, and keeps a no of another test's
    /// thread for good. A second one, which hears nothing, has it ask them all.
    pub fn listen() -> Self {
        static SECOND: OnceLock<Dispatch> = OnceLock::new();
        SECOND.get_or_init(|| Dispatch::new(Listener(Arc::default())));
        let heard = Arc::<Mutex<Vec<String>>>::default();
        let listener = Listener(Arc::clone(&heard));
        Self {
            heard,
            _listening: tracing::subscriber::set_default(listener),
        }
    }

    /// What ran since the last call.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.heard.lock().expect("no panic"))
    }
}

struct Listener(Arc<Mutex<Vec<String>>>);

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == TARGET && *metadata.level() == Level::TRACE
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Text(&self.0));
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

struct Text<'a>(&'a Mutex<Vec<String>>);

impl Visit for Text<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "statement" {
            self.0.lock().expect("no panic").push(value.to_owned());
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}
