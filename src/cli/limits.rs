//! Limits of the service as options: one for every field of [`Limits`].
//!
//! An option is called like its field, with dashes, and so is its environment
//! variable, behind `VIZARD_`. Defaults are those of [`Limits`]; a field that
//! is forgotten here does not compile.

use clap::Args;
use clap::builder::RangedU64ValueParser;

use crate::config::Limits;

macro_rules! options {
    ($($(#[doc = $doc:literal])+ $name:ident, $env:literal, $unit:literal $(, $most:literal)?;)+) => {
        /// Limits on what clients may ask.
        #[derive(Args, Clone, Debug)]
        pub struct LimitOptions {
            $($(#[doc = $doc])+
            #[arg(long, env = $env, help_heading = "Limits", value_name = $unit, default_value_t = Limits::default().$name,
                value_parser = at_least_one()$(.range(1..=$most))?)]
            $name: u64,)+
        }

        impl LimitOptions {
            /// The limits that were asked for.
            pub fn limits(&self) -> Limits {
                Limits { $($name: self.$name,)+ }
            }
        }
    };
}

/// A limit of nothing would be a service that answers nobody.
fn at_least_one() -> RangedU64ValueParser {
    RangedU64ValueParser::new().range(1..)
}

options! {
    /// Largest upload of records, in bytes, packed and unpacked
    upload_bytes_max, "VIZARD_UPLOAD_BYTES_MAX", "BYTES";
    /// Largest JSON body, in bytes
    json_bytes_max, "VIZARD_JSON_BYTES_MAX", "BYTES";
    /// Largest hierarchy, in bytes
    hierarchy_bytes_max, "VIZARD_HIERARCHY_BYTES_MAX", "BYTES";
    /// Largest body of many preferences, in bytes
    preference_bytes_max, "VIZARD_PREFERENCE_BYTES_MAX", "BYTES";
    /// Largest population table, in bytes
    population_bytes_max, "VIZARD_POPULATION_BYTES_MAX", "BYTES";
    /// Combinations of values in one population table
    population_combinations_max, "VIZARD_POPULATION_COMBINATIONS_MAX", "N";
    /// How many times its packed size a compressed body may grow to
    inflation_ratio_max, "VIZARD_INFLATION_RATIO_MAX", "TIMES";
    /// How deep JSON may nest, in levels
    json_depth_max, "VIZARD_JSON_DEPTH_MAX", "LEVELS", 127;
    /// How fast a body must arrive, in bytes per second of waiting for it
    body_bytes_per_s_min, "VIZARD_BODY_BYTES_PER_S_MIN", "BYTES";
    /// Time over which that rate is averaged, in milliseconds
    body_window_ms, "VIZARD_BODY_WINDOW_MS", "MS";
    /// Time for a request's header to arrive, in milliseconds
    header_timeout_ms, "VIZARD_HEADER_TIMEOUT_MS", "MS";
    /// Largest request line with its header fields, in bytes
    header_bytes_max, "VIZARD_HEADER_BYTES_MAX", "BYTES";
    /// Header fields of one request
    header_fields_max, "VIZARD_HEADER_FIELDS_MAX", "N";
    /// Connections at one time
    connections_max, "VIZARD_CONNECTIONS_MAX", "N";
    /// Connections of one address on which no client is signed in
    anonymous_connections_of_address_max, "VIZARD_ANONYMOUS_CONNECTIONS_OF_ADDRESS_MAX", "N";
    /// How long a connection lasts on which no client signs in, in milliseconds
    anonymous_timeout_ms, "VIZARD_ANONYMOUS_TIMEOUT_MS", "MS";
    /// How long a connection lasts without a request, in milliseconds
    idle_timeout_ms, "VIZARD_IDLE_TIMEOUT_MS", "MS";
    /// How long an answer waits for its client, in milliseconds
    stall_timeout_ms, "VIZARD_STALL_TIMEOUT_MS", "MS";
    /// Downloads at one time; one of a columnar format counts eight
    downloads_max, "VIZARD_DOWNLOADS_MAX", "N";
    /// Downloads of one key at one time; one of a columnar format counts eight
    downloads_of_key_max, "VIZARD_DOWNLOADS_OF_KEY_MAX", "N";
    /// Event streams at one time
    event_streams_max, "VIZARD_EVENT_STREAMS_MAX", "N";
    /// Event streams of one key at one time
    event_streams_of_key_max, "VIZARD_EVENT_STREAMS_OF_KEY_MAX", "N";
    /// Time to read away what is left of a refused body, in milliseconds
    linger_ms, "VIZARD_LINGER_MS", "MS";
    /// Most bytes of a refused body that are read away
    linger_bytes_max, "VIZARD_LINGER_BYTES_MAX", "BYTES";
    /// Uploads at one time; further ones are asked to come again
    uploads_max, "VIZARD_UPLOADS_MAX", "N";
    /// Uploads of one key read at one time
    uploads_of_key_max, "VIZARD_UPLOADS_OF_KEY_MAX", "N";
    /// Records of one dataset version
    records_max, "VIZARD_RECORDS_MAX", "N";
    /// Attributes of one schema
    attributes_max, "VIZARD_ATTRIBUTES_MAX", "N";
    /// Distinct values of one attribute without a hierarchy
    distinct_values_max, "VIZARD_DISTINCT_VALUES_MAX", "N";
    /// Longest cell, in bytes
    cell_bytes_max, "VIZARD_CELL_BYTES_MAX", "BYTES";
    /// Longest record as it is written, in bytes
    record_bytes_max, "VIZARD_RECORD_BYTES_MAX", "BYTES";
    /// Nodes of one hierarchy
    hierarchy_nodes_max, "VIZARD_HIERARCHY_NODES_MAX", "N";
    /// Levels of one hierarchy
    hierarchy_levels_max, "VIZARD_HIERARCHY_LEVELS_MAX", "LEVELS", 256;
    /// Queued jobs of one dataset; further ones are asked to come again
    queued_jobs_max, "VIZARD_QUEUED_JOBS_MAX", "N";
    /// Queued jobs of the explorations of one dataset
    exploration_jobs_max, "VIZARD_EXPLORATION_JOBS_MAX", "N";
    /// Random queries behind the query error of one report
    report_queries_max, "VIZARD_REPORT_QUERIES_MAX", "N";
    /// Queries on releases answered at one time
    queries_max, "VIZARD_QUERIES_MAX", "N";
    /// Queries of one key answered at one time
    queries_of_key_max, "VIZARD_QUERIES_OF_KEY_MAX", "N";
    /// Longest time that answering one query takes, in milliseconds
    query_timeout_ms, "VIZARD_QUERY_TIMEOUT_MS", "MS";
    /// Memory for releases that are kept for queries, in bytes
    query_index_bytes_max, "VIZARD_QUERY_INDEX_BYTES_MAX", "BYTES";
    /// Requests of one key per second, on average
    requests_per_s_max, "VIZARD_REQUESTS_PER_S_MAX", "N", 0xFFFF_FFFF;
    /// Requests of one key at once
    requests_burst_max, "VIZARD_REQUESTS_BURST_MAX", "N", 0xFFFF_FFFF;
    /// Tokens not accepted before, per second and remote address
    token_attempts_per_s_max, "VIZARD_TOKEN_ATTEMPTS_PER_S_MAX", "N", 0xFFFF_FFFF;
    /// Tokens not accepted before, at once and per remote address
    token_attempts_burst_max, "VIZARD_TOKEN_ATTEMPTS_BURST_MAX", "N", 0xFFFF_FFFF;
}
