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
    /// A category as the list of those that it may be.
    Set,
    /// Values of several attributes: a field for each type that they have.
    Values(Kinds),
}

/// Types of the attributes that a column has values of; at least one is of
/// numbers or dates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kinds([bool; 4]);

impl Kinds {
    /// The axis of each type, and none for texts, with the type's word.
    const ALL: [(Option<Axis>, &str); 4] = [
        (Some(Axis::Integer), "_integer"),
        (Some(Axis::Decimal), "_decimal"),
        (Some(Axis::Date), "_date"),
        (None, "_categorical"),
    ];

    /// `None` where there are no numbers and no dates.
    fn of(column: &ColumnDescription) -> Option<Self> {
        let mut kinds = [false; 4];
        for kind in column.types.values() {
            kinds[match kind {
                AttributeType::Integer => 0,
                AttributeType::Decimal => 1,
                AttributeType::Date => 2,
                AttributeType::Categorical => 3,
            }] = true;
        }
        kinds[..3].contains(&true).then_some(Self(kinds))
    }

    /// Axes, and none for texts, in order of the fields.
    pub(super) fn axes(self) -> impl Iterator<Item = Option<Axis>> {
        let kinds = Self::ALL.into_iter().zip(self.0);
        kinds
            .filter(|(_, is_there)| *is_there)
            .map(|((axis, _), _)| axis)
    }

    /// What follows the column's name in those of the fields; nothing where
    /// there is one type alone.
    fn suffixes(self) -> Vec<&'static str> {
        let kinds = Self::ALL.into_iter().zip(self.0);
        let words = kinds.filter(|(_, is_there)| *is_there);
        let words: Vec<&str> = words.map(|((_, word), _)| word).collect();
        match words.len() {
            1 => vec![""],
            _ => words,
        }
    }
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
            (Content::Generalized, None) if column.sets => Self::Set,
            (Content::Value, _) => Kinds::of(column).map_or(Self::Text, Self::Values),
            (Content::Generalized | Content::Exact | Content::Attribute, _) => Self::Text,
        }
    }

    /// Whether a field beside the column says which cells are masked.
    pub(super) fn has_mask(self, column: &ColumnDescription) -> bool {
        column.masked && self != Self::Text && self != Self::Number
    }

    /// Whether it has numbers or dates.
    pub(super) fn has_numbers(self) -> bool {
        matches!(self, Self::Interval(_) | Self::Point(_) | Self::Values(_))
    }

    /// The fields of the column itself: what follows its name, and the type.
    fn fields(self) -> Vec<(&'static str, DataType)> {
        let list = || DataType::List(item_field());
        match self {
            Self::Number => vec![("", DataType::Int64)],
            Self::Interval(axis) => {
                vec![("_min", axis.data_type()), ("_max", axis.data_type())]
            }
            Self::Point(axis) => vec![("", axis.data_type())],
            Self::Text => vec![("", text_type())],
            Self::List | Self::Set => vec![("", list())],
            Self::Values(kinds) => {
                let types = kinds
                    .axes()
                    .map(|axis| axis.map_or_else(text_type, Axis::data_type));
                kinds.suffixes().into_iter().zip(types).collect()
            }
        }
    }

    /// How many of them have a value where there is one.
    pub(super) fn filled(self) -> usize {
        match self {
            Self::Values(_) => 1,
            other => other.width(),
        }
    }

    /// Number of fields of the column itself.
    pub(super) fn width(self) -> usize {
        self.fields().len()
    }

    /// Whether a field beside the column says which values may be missing.
    pub(super) fn tells_missing(self, column: &ColumnDescription) -> bool {
        column.missing && self.has_numbers()
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
    Arc::new(Schema::new(all_fields(columns).0))
}

/// The names of the fields that each column becomes.
pub(in crate::release) fn fields_of(columns: &[ColumnDescription]) -> Vec<Vec<String>> {
    let (fields, ends) = all_fields(columns);
    let mut first = 0;
    let names = ends.into_iter().map(|end| {
        let own = &fields[first..end];
        first = end;
        own.iter().map(|field| field.name().clone()).collect()
    });
    names.collect()
}

/// The fields of all columns, and where those of each end.
fn all_fields(columns: &[ColumnDescription]) -> (Vec<Field>, Vec<usize>) {
    let (mut fields, mut ends): (Vec<Field>, Vec<usize>) = (Vec::new(), Vec::new());
    for column in columns {
        let shape = Shape::of(column);
        for (suffix, data_type) in shape.fields() {
            let name = field_name(column, suffix, columns, &fields);
            fields.push(Field::new(name, data_type, true));
        }
        if shape.has_mask(column) {
            let name = field_name(column, "_masked", columns, &fields);
            fields.push(Field::new(name, DataType::Boolean, true));
        }
        if shape.tells_missing(column) {
            let name = field_name(column, "_missing", columns, &fields);
            fields.push(Field::new(name, DataType::Boolean, true));
        }
        ends.push(fields.len());
    }
    (fields, ends)
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
            sets: false,
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
