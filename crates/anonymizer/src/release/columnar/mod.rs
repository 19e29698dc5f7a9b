//! Published tables as Arrow columns: what Parquet and Arrow IPC share.
//!
//! | column | Arrow |
//! |---|---|
//! | group, block, bucket, count | `Int64`, null for none |
//! | number or date, generalized | `<a>_min` and `<a>_max`: `Int64`, `Float64` or `Date32`, null where empty, masked or missing |
//! | number or date, exact | `<a>`, null where empty, masked or missing |
//! | category, attribute, value | dictionary of `Utf8` in text form, null where empty |
//! | fingerprint | list of `Utf8` labels, null where empty or masked |
//!
//! A column of numbers, dates or fingerprints that has a masked cell is
//! followed by `<a>_masked`, one of numbers or dates some of which are missing
//! by `<a>_missing`, which is true beside the ends of a cell whose value may be
//! missing instead; the manifest's column description says so, hence
//! it is known before the first row. A name that is already taken gets `_`
//! appended. Dictionaries are canonical: their order comes from the published
//! rows, never from the source.

mod read;
mod schema;
mod write;

pub(super) use read::BatchReader;
pub(super) use schema::arrow_schema;
pub(super) use write::record_batch;
