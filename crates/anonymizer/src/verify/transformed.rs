//! Values that the schema says are changed beforehand: the table that the release
//! was made from holds none that should have been changed.

use serde_json::Number;

use super::evidence::Evidence;
use super::verdict::{Check, Failures};
use crate::microdata::{Attribute, AttributeType, TableColumn, Values};

/// `transformed`, where the schema changes something.
pub(super) fn check(evidence: &Evidence) -> Option<Check> {
    let schema = evidence.table.schema();
    if !schema.is_transformed() {
        return None;
    }
    let mut failures = Failures::none();
    let columns = evidence.table.columns().iter();
    for (attribute, column) in schema.attributes().iter().zip(columns) {
        let TableColumn::Coded(column) = column else {
            continue;
        };
        if !is_within(attribute, column.domain.values()) {
            failures.add("a value lies beyond the top or the bottom that the schema declares");
        }
        let counts_days = attribute.transform.days_since.is_some();
        if counts_days && column.domain.kind() != AttributeType::Integer {
            failures.add("dates stand where the schema declares days since another date");
        }
    }
    Some(Check::structure("transformed", &failures))
}

/// Whether values, which ascend, lie between the bottom and the top.
fn is_within(attribute: &Attribute, values: &Values) -> bool {
    let bounds = [&attribute.transform.bottom, &attribute.transform.top];
    match values {
        Values::Integer(values) => {
            let [bottom, top] = bounds.map(|bound| bound.as_ref().and_then(Number::as_i64));
            lies_between(values, bottom, top)
        }
        Values::Decimal(values) => {
            let [bottom, top] = bounds.map(|bound| bound.as_ref().and_then(Number::as_f64));
            lies_between(values, bottom, top)
        }
        Values::Date(_) | Values::Category(_) => true,
    }
}

fn lies_between<N: PartialOrd + Copy>(ascending: &[N], bottom: Option<N>, top: Option<N>) -> bool {
    let [Some(&first), Some(&last)] = [ascending.first(), ascending.last()] else {
        return true;
    };
    bottom.is_none_or(|bottom| bottom <= first) && top.is_none_or(|top| last <= top)
}
