//! Open files: every connection is one, and the usual soft limit of 1,024 is
//! less than a service with its database and its uploads needs.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files beside the connections: the store, uploads on their way, the log.
const BESIDE_CONNECTIONS: u64 = 200;

/// Raises the soft limit as far as the hard one lets it, and says so in the
/// log where that is too little for so many connections.
pub fn allow_connections(connections_max: u64) {
    let needed = connections_max.saturating_add(BESIDE_CONNECTIONS);
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= needed) {
        return;
    }
    let wanted = maximum.map_or(needed, |maximum| needed.min(maximum));
    let raised = Rlimit {
        current: Some(wanted),
        maximum,
    };
    if setrlimit(Resource::Nofile, raised).is_err() || wanted < needed {
        tracing::warn!(
            needed,
            allowed = wanted,
            "fewer files may be open than connections_max needs"
        );
    }
}
