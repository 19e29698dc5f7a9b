//! Signals: "look again", sent when a change that somebody waits for commits.
//!
//! A signal carries nothing. A task that waits subscribes *first* and looks *then*,
//! so a change that falls between the two wakes at once; and every waiting
//! also ends by itself after a while, so a signal lost with a connection costs
//! a moment and never a job.

use tokio::sync::watch;

/// What may be waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Signal {
    /// A job can be acquired.
    JobQueued,
    /// A job's revision grew.
    JobChanged,
    /// A webhook can be told something.
    MessageDue,
}

impl Signal {
    /// All.
    pub(in crate::store) const ALL: [Self; 3] =
        [Self::JobQueued, Self::JobChanged, Self::MessageDue];

    /// The channel that carries it between processes on PostgreSQL.
    pub(in crate::store) fn channel(self) -> &'static str {
        match self {
            Self::JobQueued => "vizard_job_queued",
            Self::JobChanged => "vizard_job_changed",
            Self::MessageDue => "vizard_message_due",
        }
    }
}

/// The signals of one process.
#[derive(Debug, Default)]
pub(in crate::store) struct Signals {
    queued: watch::Sender<()>,
    changed: watch::Sender<()>,
    due: watch::Sender<()>,
}

impl Signals {
    fn sender(&self, signal: Signal) -> &watch::Sender<()> {
        match signal {
            Signal::JobQueued => &self.queued,
            Signal::JobChanged => &self.changed,
            Signal::MessageDue => &self.due,
        }
    }

    /// Wakes everybody who waits for a signal.
    pub(in crate::store) fn give(&self, signal: Signal) {
        self.sender(signal).send_replace(());
    }

    /// Wakes everybody: after the way to the database was interrupted.
    pub(in crate::store) fn give_all(&self) {
        for signal in Signal::ALL {
            self.give(signal);
        }
    }

    /// Registers interest; what is given from now on wakes the receiver.
    pub(in crate::store) fn subscribe(&self, signal: Signal) -> watch::Receiver<()> {
        self.sender(signal).subscribe()
    }
}
