//! Cells: the few kinds of value that statements are given.
//!
//! | cell | PostgreSQL | SQLite |
//! |---|---|---|
//! | `Uuid` | uuid | BLOB of 16 bytes |
//! | `Text` | text | TEXT |
//! | `Integer` | bigint | INTEGER |
//! | `Bytes` | bytea | BLOB |
//! | `Time` | timestamptz | INTEGER, microseconds since 1970 |
//!
//! A null has a kind, because PostgreSQL wants to know it. Documents and lists
//! of ids travel as JSON in `Text`, so that one statement takes any number.

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Postgres, Sqlite};
use uuid::Uuid;

/// A value for a placeholder.
#[derive(Clone)]
pub(in crate::store) enum Cell {
    Uuid(Option<Uuid>),
    Text(Option<String>),
    Integer(Option<i64>),
    Bytes(Option<Vec<u8>>),
    Time(Option<DateTime<Utc>>),
}

/// The cells of a statement, in the order of its placeholders.
macro_rules! cells {
    ($($value:expr),* $(,)?) => {
        vec![$($crate::store::session::Cell::from($value)),*]
    };
}
pub(in crate::store) use cells;

/// Ids as one cell: a JSON array of their 32 digits.
pub(in crate::store) fn id_list(ids: impl IntoIterator<Item = Uuid>) -> String {
    let ids: Vec<String> = ids.into_iter().map(|id| id.simple().to_string()).collect();
    Value::from(ids).to_string()
}

/// `From` for a plain type and for its option.
macro_rules! cell_from {
    ($plain:ty, $kind:ident) => {
        impl From<$plain> for Cell {
            fn from(value: $plain) -> Self {
                Self::$kind(Some(value))
            }
        }

        impl From<Option<$plain>> for Cell {
            fn from(value: Option<$plain>) -> Self {
                Self::$kind(value)
            }
        }
    };
}
cell_from!(Uuid, Uuid);
cell_from!(String, Text);
cell_from!(Vec<u8>, Bytes);
cell_from!(DateTime<Utc>, Time);

impl From<&str> for Cell {
    fn from(value: &str) -> Self {
        Self::Text(Some(value.to_owned()))
    }
}

impl From<u64> for Cell {
    /// Past `i64::MAX` there is no row: the largest number finds none either.
    fn from(value: u64) -> Self {
        Self::Integer(Some(i64::try_from(value).unwrap_or(i64::MAX)))
    }
}

impl From<Option<u64>> for Cell {
    fn from(value: Option<u64>) -> Self {
        value.map_or(Self::Integer(None), Self::from)
    }
}

impl From<u32> for Cell {
    fn from(value: u32) -> Self {
        Self::Integer(Some(value.into()))
    }
}

impl From<[u8; 32]> for Cell {
    fn from(value: [u8; 32]) -> Self {
        Self::Bytes(Some(value.to_vec()))
    }
}

impl From<&Value> for Cell {
    fn from(value: &Value) -> Self {
        Self::Text(Some(value.to_string()))
    }
}

/// A statement with its cells, for PostgreSQL.
pub(super) fn postgres_query(
    statement: &'static str,
    cells: Vec<Cell>,
) -> Query<'static, Postgres, PgArguments> {
    cells
        .into_iter()
        .fold(sqlx::query(statement), |query, cell| match cell {
            Cell::Uuid(value) => query.bind(value),
            Cell::Text(value) => query.bind(value),
            Cell::Integer(value) => query.bind(value),
            Cell::Bytes(value) => query.bind(value),
            Cell::Time(value) => query.bind(value),
        })
}

/// A statement with its cells, for SQLite.
pub(super) fn sqlite_query(
    statement: &'static str,
    cells: Vec<Cell>,
) -> Query<'static, Sqlite, SqliteArguments> {
    cells
        .into_iter()
        .fold(sqlx::query(statement), |query, cell| match cell {
            Cell::Uuid(value) => query.bind(value),
            Cell::Text(value) => query.bind(value),
            Cell::Integer(value) => query.bind(value),
            Cell::Bytes(value) => query.bind(value),
            Cell::Time(value) => query.bind(value.map(|time| time.timestamp_micros())),
        })
}
