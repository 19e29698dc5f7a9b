//! What cells are by the form of their file, where their texts need not say it.

use super::columns::Column;
use super::forms::{Cells, WHOLE_MAX, count, range_of};
use super::given::Given;
use crate::microdata::{AttributeType, CellFormat, DateFormat, DecimalSign, identifying_form};

/// How a time stands behind its day: where it is left out, a schema says so.
const MOMENT: &str = "YYYY-MM-DDThh:mm:ss";

impl Given {
    /// What the cells of a column are, where their texts need not say it.
    pub fn cells(self, column: &Column) -> Option<Cells> {
        let mut cells = Cells {
            missing: column.empty,
            ..Cells::default()
        };
        match self {
            Self::Text | Self::Mixed => return None,
            Self::Unread(_) => {}
            Self::Day => {
                cells.kind = Some(AttributeType::Date);
                cells.reasons.push("days, by the type of the column".into());
            }
            Self::Moment => {
                cells.kind = Some(AttributeType::Date);
                let why = "times, by the type of the column: the time behind the day is left out";
                cells.reasons.push(why.into());
                cells.format.dates = vec![DateFormat::new(MOMENT)];
            }
            Self::Whole | Self::Decimal | Self::Real => take_numbers(&mut cells, self, column),
        }
        Some(cells)
    }
}

fn take_numbers(cells: &mut Cells, given: Given, column: &Column) {
    let known: Vec<(&str, u64)> = column.texts().collect();
    let format = CellFormat {
        decimal: Some(DecimalSign::Point),
        ..CellFormat::default()
    };
    cells.range = range_of(known.iter().filter_map(|(text, _)| format.number_of(text)));
    let is_whole = count(&known, |text| text.contains(['.', 'e', 'E'])) == 0;
    let is_wide = cells
        .range
        .is_some_and(|(least, most)| least.min(-most) < -WHOLE_MAX);
    cells.kind = Some(match given {
        Given::Decimal => AttributeType::Decimal,
        Given::Whole if is_wide => AttributeType::Categorical,
        _ if is_whole && !is_wide => AttributeType::Integer,
        _ => AttributeType::Decimal,
    });
    if is_wide && given == Given::Whole {
        let why = "whole numbers of more than 64 bits: texts";
        cells.reasons.push(why.into());
    }
    if is_whole {
        cells.identifier = identifying_form(known.iter().map(|(text, _)| *text));
    }
}
