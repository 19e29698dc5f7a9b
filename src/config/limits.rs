//! Limits on what a client may ask: one name, one unit, one default each.
//!
//! The list below is the only one. It makes the fields of [`Limits`], their
//! defaults, and for each limit a [`Limit`] by which a refusal names it. The
//! command line (`cli::limits`) has an option of the same name for every
//! field, docs/OPERATING.md a line; a test holds the three together. Past a
//! limit the answer is 408, 413, 422, 429 or 431 at once, and never quotes
//! what was sent.

use std::fmt;
use std::time::Duration;

use vizard_anonymizer::microdata::{COMBINATIONS_MAX, HierarchyLimits, ReadLimits};

/// A limit as a refusal names it: name, value and unit, nothing of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Name of the setting.
    pub name: &'static str,
    /// Its value.
    pub value: u64,
    /// What it counts.
    pub unit: &'static str,
}

impl fmt::Display for Limit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, value, unit } = self;
        write!(formatter, "{name}, {value} {unit}")
    }
}

macro_rules! limits {
    ($($(#[doc = $doc:literal])+ $name:ident = $default:expr, $unit:literal;)+) => {
        /// Limits on what a client may ask of the service.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Limits {
            $($(#[doc = $doc])+ pub $name: u64,)+
        }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }

        impl Limits {
            /// Every limit, in the order of the list.
            pub fn all(&self) -> Vec<Limit> {
                vec![$(self.$name(),)+]
            }

            $($(#[doc = $doc])+
            pub const fn $name(&self) -> Limit {
                Limit { name: stringify!($name), value: self.$name, unit: $unit }
            })+
        }
    };
}

limits! {
    /// Bytes in the body of an upload of records, packed and unpacked.
    upload_bytes_max = 4 << 30, "bytes";
    /// Bytes in a JSON body.
    json_bytes_max = 1 << 20, "bytes";
    /// Bytes in a hierarchy, packed and unpacked.
    hierarchy_bytes_max = 16 << 20, "bytes";
    /// Bytes in a body of many preferences, packed and unpacked.
    preference_bytes_max = 32 << 20, "bytes";
    /// Bytes in a population table, packed and unpacked.
    population_bytes_max = 64 << 20, "bytes";
    /// Combinations of values in a population table.
    population_combinations_max = COMBINATIONS_MAX, "combinations";
    /// Times its packed size that a compressed body may grow to.
    inflation_ratio_max = 100, "times";
    /// Levels that JSON may nest: bodies, lines and hierarchies; at most 127.
    json_depth_max = 64, "levels";
    /// Bytes that must arrive of a body in each second of waiting for it.
    body_bytes_per_s_min = 1024, "bytes per second";
    /// Time over which that rate is averaged, in milliseconds.
    body_window_ms = 30_000, "milliseconds";
    /// Time for a request's whole header to arrive, in milliseconds.
    header_timeout_ms = 10_000, "milliseconds";
    /// Bytes in a request's line and header fields.
    header_bytes_max = 32 << 10, "bytes";
    /// Header fields of a request.
    header_fields_max = 100, "fields";
    /// Connections open at the same time.
    connections_max = 1_024, "connections";
    /// Connections of one address on which no client is signed in.
    anonymous_connections_of_address_max = 256, "connections";
    /// Time that a connection lasts on which no client signs in, in milliseconds.
    anonymous_timeout_ms = 30_000, "milliseconds";
    /// Time that a connection lasts without a request, in milliseconds.
    idle_timeout_ms = 120_000, "milliseconds";
    /// Time that an answer waits for its client, in milliseconds.
    stall_timeout_ms = 60_000, "milliseconds";
    /// Downloads at the same time; one of a columnar format counts eight.
    downloads_max = 512, "downloads";
    /// Downloads of one key at the same time; one of a columnar format counts eight.
    downloads_of_key_max = 64, "downloads";
    /// Event streams open at the same time.
    event_streams_max = 512, "event streams";
    /// Event streams of one key open at the same time.
    event_streams_of_key_max = 16, "event streams";
    /// Time in which what is left of a refused body is read away, in milliseconds.
    linger_ms = 2_000, "milliseconds";
    /// Bytes of a refused body that are read away.
    linger_bytes_max = 64 << 20, "bytes";
    /// Uploads read at the same time.
    uploads_max = 8, "uploads";
    /// Uploads of one key read at the same time.
    uploads_of_key_max = 4, "uploads";
    /// Records in a dataset version.
    records_max = 50_000_000, "records";
    /// Attributes of a schema.
    attributes_max = 512, "attributes";
    /// Distinct values of one attribute without a hierarchy.
    distinct_values_max = 100_000, "values";
    /// Bytes of one cell.
    cell_bytes_max = 4_096, "bytes";
    /// Bytes of one record as it is written, its line end included.
    record_bytes_max = 1 << 20, "bytes";
    /// Nodes of a hierarchy.
    hierarchy_nodes_max = 200_000, "nodes";
    /// Levels of a hierarchy, root and leaves included; at most 256.
    hierarchy_levels_max = 64, "levels";
    /// Queued jobs of one dataset.
    queued_jobs_max = 100, "jobs";
    /// Queued jobs of the explorations of one dataset.
    exploration_jobs_max = 400, "jobs";
    /// Random queries behind the query error of one report.
    report_queries_max = 100_000, "queries";
    /// Queries on releases answered at the same time.
    queries_max = 16, "queries";
    /// Queries of one key answered at the same time.
    queries_of_key_max = 4, "queries";
    /// Time that answering one query takes, in milliseconds.
    query_timeout_ms = 10_000, "milliseconds";
    /// Bytes of releases that are kept in memory for queries.
    query_index_bytes_max = 256 << 20, "bytes";
    /// Requests of one key in a second, on average.
    requests_per_s_max = 500, "requests per second";
    /// Requests of one key at once, before the average counts.
    requests_burst_max = 1_000, "requests";
    /// Tokens that were not accepted before, from one address in a second.
    token_attempts_per_s_max = 20, "tokens per second";
    /// Tokens that were not accepted before, from one address at once.
    token_attempts_burst_max = 200, "tokens";
}

impl Limits {
    /// Time for a request's header to arrive.
    pub const fn header_timeout(&self) -> Duration {
        Duration::from_millis(self.header_timeout_ms)
    }

    /// Time that a connection lasts on which no client signs in.
    pub const fn anonymous_timeout(&self) -> Duration {
        Duration::from_millis(self.anonymous_timeout_ms)
    }

    /// Time that a connection lasts without a request.
    pub const fn idle_timeout(&self) -> Duration {
        Duration::from_millis(self.idle_timeout_ms)
    }

    /// Time that an answer waits for its client.
    pub const fn stall_timeout(&self) -> Duration {
        Duration::from_millis(self.stall_timeout_ms)
    }

    /// Time over which the rate of a body is averaged.
    pub const fn body_window(&self) -> Duration {
        Duration::from_millis(self.body_window_ms)
    }

    /// Bytes that must arrive of a body within [`body_window`](Self::body_window); at least one.
    pub const fn body_window_bytes_min(&self) -> u64 {
        let bytes = self
            .body_bytes_per_s_min
            .saturating_mul(self.body_window_ms)
            / 1_000;
        if bytes == 0 { 1 } else { bytes }
    }

    /// Time in which what is left of a refused body is read away.
    pub const fn linger(&self) -> Duration {
        Duration::from_millis(self.linger_ms)
    }

    /// The part that readers of records and preferences hold to.
    pub fn of_records(&self) -> ReadLimits {
        ReadLimits {
            records_max: self.records_max,
            cell_bytes_max: count(self.cell_bytes_max),
            record_bytes_max: count(self.record_bytes_max),
            distinct_values_max: count(self.distinct_values_max),
            json_depth_max: count(self.json_depth_max),
            growth_ratio_max: self.inflation_ratio_max,
        }
    }

    /// The part that readers of hierarchies hold to.
    pub fn of_hierarchies(&self) -> HierarchyLimits {
        HierarchyLimits {
            hierarchy_nodes_max: count(self.hierarchy_nodes_max),
            hierarchy_levels_max: count(self.hierarchy_levels_max),
            json_depth_max: count(self.json_depth_max),
        }
    }
}

/// A limit as a count of things in memory.
fn count(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_named_with_its_value_and_unit() {
        let limits = Limits {
            cell_bytes_max: 7,
            ..Limits::default()
        };
        assert_eq!(
            limits.cell_bytes_max().to_string(),
            "cell_bytes_max, 7 bytes"
        );
    }

    #[test]
    fn readers_without_a_service_hold_to_the_same_defaults() {
        let limits = Limits::default();
        assert_eq!(limits.of_records(), ReadLimits::default());
    }

    #[test]
    fn a_window_always_asks_for_a_byte() {
        let limits = Limits {
            body_bytes_per_s_min: 1,
            body_window_ms: 10,
            ..Limits::default()
        };
        assert_eq!(limits.body_window_bytes_min(), 1);
        assert_eq!(Limits::default().body_window_bytes_min(), 30 * 1024);
    }
}
