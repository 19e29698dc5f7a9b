//! What a column holds, and which attributes that can be cells of.
//!
//! A cell is judged by its text, by the rules of every format; so a form is
//! the way from a value to its text. Whole numbers stand for themselves, and
//! for categories and identifiers too, as in NDJSON. A number with a fraction
//! may stand in a column of integers only if its fraction is zero (programs
//! keep integers as floats where some are missing). Truth values are no
//! cells, as in NDJSON: the formats have no one text for them.

use std::io::Write;

use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::data_type::Int96;
use parquet::schema::types::ColumnDescriptor;

use super::scanned::ColumnKind;
use crate::microdata::attribute::{Attribute, AttributeType, Role};
use crate::microdata::value_text::{date_text, decimal_text};

/// Digits behind the point of a decimal of 128 bits.
const SCALE_MAX: i32 = 38;
/// Bytes of a decimal of 128 bits, and of a UUID.
const WIDE_BYTES: i32 = 16;
const DAY_MILLISECONDS: i64 = 86_400_000;
/// Julian day of 1970-01-01, from which the old timestamps count.
const JULIAN_EPOCH: i64 = 2_440_588;

/// How the values of a column become text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// UTF-8.
    Text,
    /// Whole numbers.
    Signed,
    /// Whole numbers that use the sign's bit.
    Unsigned,
    /// Floats, in their shortest text.
    Real,
    /// Whole numbers with so many digits behind the point.
    Scaled(usize),
    /// Days since 1970-01-01.
    Day,
    /// Times since 1970-01-01, so many a day; a day if they fall on midnight.
    Moment(i64),
    /// The same, where the day alone is read.
    DayOfMoment(i64),
    /// Times of 96 bits, as old writers put them.
    OldMoment,
    /// The same, where the day alone is read.
    DayOfOldMoment,
    /// 16 bytes of a UUID.
    Uuid,
}

impl Form {
    /// The form of a flat column, if there is one.
    pub fn of(column: &ColumnDescriptor) -> Option<Self> {
        let length = column.type_length();
        let scaled = |scale: i32| match scale {
            0..=SCALE_MAX => Some(Self::Scaled(scale as usize)),
            _ => None,
        };
        let moment = |unit: &TimeUnit| {
            Self::Moment(match unit {
                TimeUnit::MILLIS => DAY_MILLISECONDS,
                TimeUnit::MICROS => DAY_MILLISECONDS * 1_000,
                TimeUnit::NANOS => DAY_MILLISECONDS * 1_000_000,
            })
        };
        let is_wide = physical_is_wide(column.physical_type(), length);
        match (column.physical_type(), column.logical_type_ref()) {
            (Type::BOOLEAN, _) => None,
            (Type::INT96, _) => Some(Self::OldMoment),
            (Type::FLOAT | Type::DOUBLE, None) => Some(Self::Real),
            (Type::FIXED_LEN_BYTE_ARRAY, _) if !is_wide => None,
            (_, Some(LogicalType::Decimal(decimal))) => scaled(decimal.scale),
            (Type::INT32 | Type::INT64, Some(LogicalType::Integer(integer))) => {
                Some(if integer.is_signed {
                    Self::Signed
                } else {
                    Self::Unsigned
                })
            }
            (Type::INT32, Some(LogicalType::Date)) => Some(Self::Day),
            (Type::INT64, Some(LogicalType::Timestamp(time))) => Some(moment(&time.unit)),
            (Type::BYTE_ARRAY, Some(LogicalType::String | LogicalType::Enum)) => Some(Self::Text),
            (Type::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Uuid)) if length == WIDE_BYTES => {
                Some(Self::Uuid)
            }
            (physical, None) => match (physical, column.converted_type()) {
                (_, ConvertedType::DECIMAL) => scaled(column.type_scale()),
                (Type::INT32 | Type::INT64, converted) => of_old_number(converted),
                (Type::BYTE_ARRAY, ConvertedType::JSON | ConvertedType::BSON) => None,
                // Old writers do not say that bytes are text.
                (Type::BYTE_ARRAY, _) => Some(Self::Text),
                _ => None,
            },
            _ => None,
        }
    }

    /// The same form, with times standing for their days.
    pub fn of_days(self) -> Self {
        match self {
            Self::Moment(units) => Self::DayOfMoment(units),
            Self::OldMoment => Self::DayOfOldMoment,
            form => form,
        }
    }

    /// What cells of this form are.
    pub fn kind(self) -> ColumnKind {
        match self {
            Self::Text | Self::Uuid => ColumnKind::Text,
            Self::Signed | Self::Unsigned | Self::Scaled(0) => ColumnKind::Whole,
            Self::Scaled(_) => ColumnKind::Decimal,
            Self::Real => ColumnKind::Real,
            Self::Day => ColumnKind::Day,
            Self::Moment(_) | Self::DayOfMoment(_) | Self::OldMoment | Self::DayOfOldMoment => {
                ColumnKind::Moment
            }
        }
    }

    /// Whether values of this form can be cells of the attribute.
    pub fn fits(self, attribute: &Attribute) -> bool {
        let kind = match attribute.role {
            Role::Identifier => AttributeType::Categorical,
            _ => attribute.kind.unwrap_or(AttributeType::Categorical),
        };
        match (self, kind) {
            (Self::Text, _) => true,
            (Self::Signed | Self::Unsigned | Self::Scaled(0), kind) => kind != AttributeType::Date,
            (Self::Real | Self::Scaled(_), kind) => {
                matches!(kind, AttributeType::Integer | AttributeType::Decimal)
            }
            (
                Self::Day
                | Self::Moment(_)
                | Self::DayOfMoment(_)
                | Self::OldMoment
                | Self::DayOfOldMoment,
                kind,
            ) => kind == AttributeType::Date,
            (Self::Uuid, kind) => kind == AttributeType::Categorical,
        }
    }

    /// Writes a whole number of 64 bits; those of 32 bits are widened.
    pub fn write_whole(self, value: i64, text: &mut Vec<u8>) {
        // Writing to a vector cannot fail.
        let _ = match self {
            Self::Unsigned => write!(text, "{}", value as u64),
            Self::Scaled(scale) => return write_scaled(i128::from(value), scale, text),
            Self::Day => match i32::try_from(value) {
                Ok(days) => write!(text, "{}", date_text(days)),
                Err(_) => write!(text, "day {value}"),
            },
            Self::DayOfMoment(units) => {
                return Self::Day.write_whole(value.div_euclid(units), text);
            }
            Self::Moment(units) => match (value.rem_euclid(units), value.div_euclid(units)) {
                (0, days) => return Self::Day.write_whole(days, text),
                // A time of day: text that is no day.
                _ => write!(text, "time {value}"),
            },
            _ => write!(text, "{value}"),
        };
    }

    /// Writes a time of 96 bits: nanoseconds of a Julian day.
    pub fn write_old_moment(self, value: &Int96, text: &mut Vec<u8>) {
        match value.data() {
            [low, high, day] if (*low, *high) == (0, 0) || self == Self::DayOfOldMoment => {
                Self::Day.write_whole(i64::from(*day) - JULIAN_EPOCH, text)
            }
            _ => text.extend_from_slice(b"time"),
        }
    }

    /// Writes a float.
    pub fn write_double(value: f64, text: &mut Vec<u8>) {
        text.extend_from_slice(decimal_text(value).as_bytes());
    }

    /// Writes a float of 32 bits: the shortest text that tells it from its
    /// neighbours, as its writer saw it.
    pub fn write_float(value: f32, text: &mut Vec<u8>) {
        // Writing to a vector cannot fail.
        let _ = write!(text, "{value}");
    }

    /// Writes bytes: text, a UUID, or a decimal with its highest byte first.
    pub fn write_bytes(self, bytes: &[u8], text: &mut Vec<u8>) {
        match (self, <[u8; 16]>::try_from(bytes)) {
            (Self::Scaled(scale), _) => match wide(bytes) {
                Some(value) => write_scaled(value, scale, text),
                None => text.extend_from_slice(b"no number"),
            },
            (Self::Uuid, Ok(bytes)) => {
                let uuid = uuid::Uuid::from_bytes(bytes);
                // Writing to a vector cannot fail.
                let _ = write!(text, "{}", uuid.hyphenated());
            }
            _ => text.extend_from_slice(bytes),
        }
    }
}

/// Whether bytes of a fixed length can be a number or a UUID.
fn physical_is_wide(physical: Type, length: i32) -> bool {
    physical == Type::FIXED_LEN_BYTE_ARRAY && (1..=WIDE_BYTES).contains(&length)
}

/// The form of a whole number as old writers annotate it.
fn of_old_number(converted: ConvertedType) -> Option<Form> {
    match converted {
        ConvertedType::NONE
        | ConvertedType::INT_8
        | ConvertedType::INT_16
        | ConvertedType::INT_32
        | ConvertedType::INT_64 => Some(Form::Signed),
        ConvertedType::UINT_8
        | ConvertedType::UINT_16
        | ConvertedType::UINT_32
        | ConvertedType::UINT_64 => Some(Form::Unsigned),
        ConvertedType::DATE => Some(Form::Day),
        ConvertedType::TIMESTAMP_MILLIS => Some(Form::Moment(DAY_MILLISECONDS)),
        ConvertedType::TIMESTAMP_MICROS => Some(Form::Moment(DAY_MILLISECONDS * 1_000)),
        _ => None,
    }
}

/// A number of at most 128 bits, its highest byte first.
fn wide(bytes: &[u8]) -> Option<i128> {
    let is_negative = bytes.first()? & 0x80 != 0;
    let mut room = [if is_negative { 0xFF } else { 0 }; 16];
    let start = room.len().checked_sub(bytes.len())?;
    room[start..].copy_from_slice(bytes);
    Some(i128::from_be_bytes(room))
}

/// Writes a number with `scale` digits behind the point, without zeros at its
/// end, so that a whole number is written as one.
fn write_scaled(value: i128, scale: usize, text: &mut Vec<u8>) {
    if value < 0 {
        text.push(b'-');
    }
    let digits = format!("{:0>width$}", value.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    text.extend_from_slice(whole.as_bytes());
    let fraction = fraction.trim_end_matches('0');
    if !fraction.is_empty() {
        text.push(b'.');
        text.extend_from_slice(fraction.as_bytes());
    }
}
