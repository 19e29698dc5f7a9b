//! Reading a row: each column by name and kind, damage as `Inconsistent`.
//!
//! A column that does not hold what the store writes is an error of its own,
//! with table, column and the row's key. The key is made of ids and positions
//! and never of a subject.

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{Decode, Postgres, Row as _, Sqlite, Type};
use uuid::Uuid;
use vizard_anonymizer::microdata::Sha256;

use crate::store::StoreError;

/// Columns that may name a row in an error.
const KEY_COLUMNS: [&str; 10] = [
    "id",
    "dataset_id",
    "release_id",
    "owner_id",
    "object_id",
    "version",
    "epoch",
    "revision",
    "table_position",
    "position",
];

enum Inner {
    Postgres(PgRow),
    Sqlite(SqliteRow),
}

/// A row of either database.
pub(in crate::store) struct Row {
    table: &'static str,
    inner: Inner,
}

impl Row {
    pub(super) fn postgres(table: &'static str, row: PgRow) -> Self {
        Self {
            table,
            inner: Inner::Postgres(row),
        }
    }

    pub(super) fn sqlite(table: &'static str, row: SqliteRow) -> Self {
        Self {
            table,
            inner: Inner::Sqlite(row),
        }
    }

    /// The error that a column does not hold what was written.
    pub(in crate::store) fn inconsistent(&self, column: &'static str) -> StoreError {
        let mut key = Vec::new();
        for name in KEY_COLUMNS {
            if let Ok(id) = self.try_column::<Uuid>(name) {
                key.push(id.to_string());
            } else if let Ok(number) = self.try_column::<i64>(name) {
                key.push(format!("{name} {number}"));
            }
        }
        StoreError::Inconsistent {
            table: self.table,
            column,
            row: key.join(" "),
        }
    }

    fn try_column<T>(&self, column: &'static str) -> Result<T, sqlx::Error>
    where
        T: for<'r> Decode<'r, Postgres> + Type<Postgres>,
        T: for<'r> Decode<'r, Sqlite> + Type<Sqlite>,
    {
        match &self.inner {
            Inner::Postgres(row) => row.try_get(column),
            Inner::Sqlite(row) => row.try_get(column),
        }
    }

    fn column<T>(&self, column: &'static str) -> Result<T, StoreError>
    where
        T: for<'r> Decode<'r, Postgres> + Type<Postgres>,
        T: for<'r> Decode<'r, Sqlite> + Type<Sqlite>,
    {
        self.try_column(column)
            .map_err(|_| self.inconsistent(column))
    }

    /// An id.
    pub(in crate::store) fn uuid(&self, column: &'static str) -> Result<Uuid, StoreError> {
        self.column(column)
    }

    /// An id, or null.
    pub(in crate::store) fn uuid_or_null(
        &self,
        column: &'static str,
    ) -> Result<Option<Uuid>, StoreError> {
        self.column(column)
    }

    /// A text.
    pub(in crate::store) fn text(&self, column: &'static str) -> Result<String, StoreError> {
        self.column(column)
    }

    /// A text, or null.
    pub(in crate::store) fn text_or_null(
        &self,
        column: &'static str,
    ) -> Result<Option<String>, StoreError> {
        self.column(column)
    }

    /// Bytes.
    pub(in crate::store) fn bytes(&self, column: &'static str) -> Result<Vec<u8>, StoreError> {
        self.column(column)
    }

    /// Bytes, or null.
    pub(in crate::store) fn bytes_or_null(
        &self,
        column: &'static str,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        self.column(column)
    }

    /// A number of things: never negative.
    pub(in crate::store) fn count(&self, column: &'static str) -> Result<u64, StoreError> {
        u64::try_from(self.column::<i64>(column)?).map_err(|_| self.inconsistent(column))
    }

    /// A small number of things, or a position.
    pub(in crate::store) fn count32(&self, column: &'static str) -> Result<u32, StoreError> {
        u32::try_from(self.column::<i64>(column)?).map_err(|_| self.inconsistent(column))
    }

    /// A number of things, or null.
    pub(in crate::store) fn count_or_null(
        &self,
        column: &'static str,
    ) -> Result<Option<u64>, StoreError> {
        self.column::<Option<i64>>(column)?
            .map(|number| u64::try_from(number).map_err(|_| self.inconsistent(column)))
            .transpose()
    }

    /// A small number of things, or null.
    pub(in crate::store) fn count32_or_null(
        &self,
        column: &'static str,
    ) -> Result<Option<u32>, StoreError> {
        self.column::<Option<i64>>(column)?
            .map(|number| u32::try_from(number).map_err(|_| self.inconsistent(column)))
            .transpose()
    }

    /// A truth.
    pub(in crate::store) fn truth(&self, column: &'static str) -> Result<bool, StoreError> {
        self.column(column)
    }

    /// A time.
    pub(in crate::store) fn time(&self, column: &'static str) -> Result<DateTime<Utc>, StoreError> {
        self.time_or_null(column)?
            .ok_or_else(|| self.inconsistent(column))
    }

    /// A time, or null.
    pub(in crate::store) fn time_or_null(
        &self,
        column: &'static str,
    ) -> Result<Option<DateTime<Utc>>, StoreError> {
        let time = match &self.inner {
            Inner::Postgres(row) => row.try_get::<Option<DateTime<Utc>>, _>(column).ok(),
            Inner::Sqlite(row) => match row.try_get::<Option<i64>, _>(column) {
                Ok(None) => Some(None),
                Ok(Some(micros)) => DateTime::from_timestamp_micros(micros).map(Some),
                Err(_) => None,
            },
        };
        time.ok_or_else(|| self.inconsistent(column))
    }

    /// A document.
    pub(in crate::store) fn json(&self, column: &'static str) -> Result<Value, StoreError> {
        self.json_or_null(column)?
            .ok_or_else(|| self.inconsistent(column))
    }

    /// A document, or null.
    pub(in crate::store) fn json_or_null(
        &self,
        column: &'static str,
    ) -> Result<Option<Value>, StoreError> {
        self.text_or_null(column)?
            .map(|text| serde_json::from_str(&text).map_err(|_| self.inconsistent(column)))
            .transpose()
    }

    /// A SHA-256.
    pub(in crate::store) fn digest(&self, column: &'static str) -> Result<[u8; 32], StoreError> {
        self.bytes(column)?
            .try_into()
            .map_err(|_| self.inconsistent(column))
    }

    /// A word of a closed list.
    pub(in crate::store) fn word<T>(
        &self,
        column: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, StoreError> {
        parse(&self.text(column)?).ok_or_else(|| self.inconsistent(column))
    }

    /// Bytes that must match the SHA-256 in the column beside them.
    pub(in crate::store) fn checked_bytes(
        &self,
        column: &'static str,
        digest_column: &'static str,
    ) -> Result<Vec<u8>, StoreError> {
        let bytes = self.bytes(column)?;
        if Sha256::of(&bytes) == self.digest(digest_column)? {
            Ok(bytes)
        } else {
            Err(self.inconsistent(column))
        }
    }
}
