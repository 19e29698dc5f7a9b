//! Answers on l in terms of what was ordered.
//!
//! Where values are missing engines keep an l of one more than was ordered,
//! with the missing value counted ([`Requirements`]). An answer names
//! the l to order.

use crate::engine::error::{EngineError, Infeasible};
use crate::microdata::Schema;
use crate::privacy::{L, Protection, Requirements};

/// The lowest and the highest of some codes, the missing value aside.
pub fn known_ends(codes: impl Iterator<Item = u32>, missing: Option<u32>) -> Option<(u32, u32)> {
    let known = codes.filter(|&code| Some(code) != missing);
    known.fold(None, |ends, code| {
        let (low, high) = ends.unwrap_or((code, code));
        Some((low.min(code), high.max(code)))
    })
}

/// Why an l of one more is kept than was ordered, behind a condition.
pub const MISSING_COUNTS_NOT: &str = "; a missing value counts for no l, so where values are \
    missing one more is kept than is ordered: leave out the records without one (`missing`: \
    `drop`) for a larger l";

/// The error with its l as it is ordered.
pub fn as_ordered(error: EngineError, schema: &Schema, requirements: &Requirements) -> EngineError {
    match error {
        EngineError::Infeasible(answer) if answer.parameter == "l" => {
            of_l(*answer, schema, requirements).into()
        }
        other => other,
    }
}

fn of_l(mut answer: Infeasible, schema: &Schema, requirements: &Requirements) -> Infeasible {
    let mut all = requirements.protected();
    let kept = all.find(|&index| {
        let attribute = &schema.attribute(requirements.attribute(index)).name;
        let named = answer.attribute.as_ref();
        requirements.lacking().contains(index)
            && named.is_none_or(|named| named == attribute)
            && matches!(
                requirements.protection(index),
                Protection::Diversity { l, .. } if l > L::NONE
            )
    });
    let Some(index) = kept else {
        return answer;
    };
    if let Some(value) = answer.strongest_value {
        let l = requirements.l_of_known(index, value as u32);
        answer.strongest_value = Some(f64::from(l));
        answer.strongest = format!("l ≤ {l}");
    }
    answer.condition += MISSING_COUNTS_NOT;
    answer
}
