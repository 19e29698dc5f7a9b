//! Published tables as Arrow columns: what Parquet and Arrow IPC share.
//!
//! | column | Arrow |
//! |---|---|
//! | group, block, bucket, count | `Int64`, null for none |
//! | number or date, generalized | `<a>_min` and `<a>_max`: `Int64`, `Float64` or `Date32`, null where empty, masked or missing |
//! | number or date, exact | `<a>`, null where empty, masked or missing |
//! | category, attribute, values of categories alone | dictionary of `Utf8` in text form, null where empty |
//! | category, where some cell of the column is a set | list of `Utf8`, the categories that it may be, of one where that is known; null where empty or masked |
//! | values, of attributes of one type | `<a>`: `Int64`, `Float64` or `Date32`, null where empty, masked or missing |
//! | values, of attributes of several types | `<a>_integer`, `<a>_decimal`, `<a>_date` and `<a>_categorical`, as far as there are such: one of them has the value, the others are null |
//! | fingerprint | list of `Utf8` labels, null where empty or masked |
//!
//! A column of numbers, dates, lists or such values that has a masked cell is
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
pub(super) use schema::{arrow_schema, fields_of};
pub(super) use write::record_batch;
