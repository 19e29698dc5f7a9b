//! Which Arrow fields a published column becomes.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};

use crate::microdata::AttributeType;
use crate::release::manifest::ColumnDescription;
use crate::release::table::Content;

/// How a published column is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// One integer.
    Number,
    /// Two ends.
    Interval(Axis),
    /// One number or date.
    Point(Axis),
    /// Text from a dictionary.
    Text,
    /// A list of labels.
    List,
}

/// What an end of an interval is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    Integer,
    Decimal,
    Date,
}

impl Axis {
    fn data_type(self) -> DataType {
        match self {
            Self::Integer => DataType::Int64,
            Self::Decimal => DataType::Float64,
            Self::Date => DataType::Date32,
        }
    }
}

impl Shape {
    /// The shape of a column.
    pub(super) fn of(column: &ColumnDescription) -> Self {
        let axis = match column.kind {
            Some(AttributeType::Integer) => Some(Axis::Integer),
            Some(AttributeType::Decimal) => Some(Axis::Decimal),
            Some(AttributeType::Date) => Some(Axis::Date),
            Some(AttributeType::Categorical) | None => None,
        };
        match (column.content, axis) {
            (
                Content::Group
                | Content::Block
                | Content::Bucket
                | Content::Count
                | Content::Counterfeits
                | Content::Column,
                _,
            ) => Self::Number,
            (Content::Generalized, Some(axis)) => Self::Interval(axis),
            (Content::Exact, Some(axis)) => Self::Point(axis),
            (Content::Fingerprint, _) => Self::List,
            (Content::Generalized | Content::Exact | Content::Attribute | Content::Value, _) => {
                Self::Text
            }
        }
    }

    /// Whether a field beside the column says which cells are masked.
    pub(super) fn has_mask(self, column: &ColumnDescription) -> bool {
        column.masked && matches!(self, Self::Interval(_) | Self::Point(_) | Self::List)
    }

    /// Whether a field beside the column says which values may be missing.
    pub(super) fn tells_missing(self, column: &ColumnDescription) -> bool {
        column.missing && matches!(self, Self::Interval(_) | Self::Point(_))
    }
}

/// A dictionary of texts.
pub(super) fn text_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// The labels of a list.
pub(super) fn item_field() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Utf8, false))
}

/// The Arrow schema of a table with these columns, whose names are unique.
pub(in crate::release) fn arrow_schema(columns: &[ColumnDescription]) -> SchemaRef {
    let mut fields: Vec<Field> = Vec::new();
    for column in columns {
        let shape = Shape::of(column);
        let (data_type, suffixes): (_, &[&str]) = match shape {
            Shape::Number => (DataType::Int64, &[""]),
            Shape::Interval(axis) => (axis.data_type(), &["_min", "_max"]),
            Shape::Point(axis) => (axis.data_type(), &[""]),
            Shape::Text => (text_type(), &[""]),
            Shape::List => (DataType::List(item_field()), &[""]),
        };
        for suffix in suffixes {
            let name = field_name(column, suffix, columns, &fields);
            fields.push(Field::new(name, data_type.clone(), true));
        }
        if shape.has_mask(column) {
            let name = field_name(column, "_masked", columns, &fields);
            fields.push(Field::new(name, DataType::Boolean, true));
        }
        if shape.tells_missing(column) {
            let name = field_name(column, "_missing", columns, &fields);
            fields.push(Field::new(name, DataType::Boolean, true));
        }
    }
    Arc::new(Schema::new(fields))
}

/// The column's own name, or one made from it that no column and no field has.
fn field_name(
    column: &ColumnDescription,
    suffix: &str,
    columns: &[ColumnDescription],
    fields: &[Field],
) -> String {
    let mut name = format!("{}{suffix}", column.name);
    let taken = |name: &str| {
        columns.iter().any(|column| column.name == name)
            || fields.iter().any(|field| field.name() == name)
    };
    while !suffix.is_empty() && taken(&name) {
        name.push('_');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, content: Content, kind: Option<AttributeType>) -> ColumnDescription {
        ColumnDescription {
            name: name.into(),
            content,
            kind,
            types: Default::default(),
            masked: false,
            missing: false,
        }
    }

    #[test]
    fn made_up_names_give_way_to_names_of_columns() {
        let date = Some(AttributeType::Date);
        let mut columns = vec![
            column("day", Content::Generalized, date),
            column("day_max", Content::Generalized, None),
            column("day_masked", Content::Exact, date),
        ];
        columns[0].masked = true;
        let schema = arrow_schema(&columns);
        let names: Vec<&str> = schema
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .collect();
        let expected = [
            "day_min",
            "day_max_",
            "day_masked_",
            "day_max",
            "day_masked",
        ];
        assert_eq!(names, expected);
    }
}
