//! From a predicate as it is written to a [`Condition`] on its attribute.

use std::collections::BTreeSet;

use crate::microdata::AttributeType;
use crate::microdata::value_text::date_days;

use super::condition::{Condition, Span};
use super::expression::{Comparison, InvalidQuery, Literal, Place, Test};
use super::knowledge::PublicDomain;

/// Makes the condition of the predicate at a place.
pub fn compile(test: &Test, domain: &PublicDomain, at: Place) -> Result<Condition, InvalidQuery> {
    let condition = match domain.kind {
        AttributeType::Integer => whole(test, integer_bound),
        AttributeType::Date => whole(test, day_bound),
        AttributeType::Decimal => real(test),
        AttributeType::Categorical => return category(test, domain, at),
    };
    condition.ok_or(InvalidQuery::ValueUnfit(at))
}

/// The whole numbers around a literal: the largest at most it, the smallest
/// at least it. Equal where the literal is whole.
type WholeBound = (i64, i64);

fn integer_bound(literal: &Literal) -> Option<WholeBound> {
    match *literal {
        Literal::Whole(value) => Some((value, value)),
        // Beyond 64 bits the cast stops at the last whole number, which no
        // published value lies behind.
        Literal::Number(value) if value.is_finite() => {
            Some((value.floor() as i64, value.ceil() as i64))
        }
        _ => None,
    }
}

fn day_bound(literal: &Literal) -> Option<WholeBound> {
    match literal {
        Literal::Text(text) => date_days(text.trim()).map(|day| (i64::from(day), i64::from(day))),
        _ => None,
    }
}

fn whole(test: &Test, bound: impl Fn(&Literal) -> Option<WholeBound>) -> Option<Condition> {
    let (least, most) = (i64::MIN, i64::MAX);
    let mut ranges = match test {
        Test::Between(lo, hi) => vec![(bound(lo)?.1, bound(hi)?.0)],
        Test::In(literals) => {
            let bounds: Option<BTreeSet<WholeBound>> = literals.iter().map(&bound).collect();
            let points = bounds?.into_iter();
            points.filter(|(below, above)| below == above).collect()
        }
        Test::Compare(comparison, literal) => {
            let (below, above) = bound(literal)?;
            let is_whole = below == above;
            let under = |value: i64| value.checked_sub(1).map(|hi| (least, hi));
            let over = |value: i64| value.checked_add(1).map(|lo| (lo, most));
            match comparison {
                Comparison::Less if is_whole => under(below).into_iter().collect(),
                Comparison::Less | Comparison::AtMost => vec![(least, below)],
                Comparison::Greater if is_whole => over(above).into_iter().collect(),
                Comparison::Greater | Comparison::AtLeast => vec![(above, most)],
                Comparison::Equal if is_whole => vec![(below, below)],
                Comparison::Equal => Vec::new(),
                Comparison::NotEqual if is_whole => {
                    under(below).into_iter().chain(over(above)).collect()
                }
                Comparison::NotEqual => vec![(least, most)],
            }
        }
    };
    ranges.retain(|(lo, hi)| lo <= hi);
    Some(Condition::Whole(ranges))
}

fn number(literal: &Literal) -> Option<f64> {
    match *literal {
        Literal::Whole(value) => Some(value as f64),
        Literal::Number(value) if value.is_finite() => Some(value),
        _ => None,
    }
}

fn real(test: &Test) -> Option<Condition> {
    let point = |value: f64| Span {
        lo: value,
        hi: value,
        lo_open: false,
        hi_open: false,
    };
    let under = |value: f64, open: bool| Span {
        hi: value,
        hi_open: open,
        ..Span::ALL
    };
    let over = |value: f64, open: bool| Span {
        lo: value,
        lo_open: open,
        ..Span::ALL
    };
    let spans = match test {
        Test::Between(lo, hi) => {
            let (lo, hi) = (number(lo)?, number(hi)?);
            if lo <= hi {
                vec![Span { hi, ..point(lo) }]
            } else {
                Vec::new()
            }
        }
        Test::In(literals) => {
            let values: Option<Vec<f64>> = literals.iter().map(number).collect();
            let mut values = values?;
            values.sort_by(f64::total_cmp);
            values.dedup();
            values.into_iter().map(point).collect()
        }
        Test::Compare(comparison, literal) => {
            let value = number(literal)?;
            match comparison {
                Comparison::Less => vec![under(value, true)],
                Comparison::AtMost => vec![under(value, false)],
                Comparison::Equal => vec![point(value)],
                Comparison::NotEqual => vec![under(value, true), over(value, true)],
                Comparison::AtLeast => vec![over(value, false)],
                Comparison::Greater => vec![over(value, true)],
            }
        }
    };
    Some(Condition::Real(spans))
}

fn category(test: &Test, domain: &PublicDomain, at: Place) -> Result<Condition, InvalidQuery> {
    let (literals, except) = match test {
        Test::In(literals) => (literals.as_slice(), false),
        Test::Compare(Comparison::Equal, literal) => (std::slice::from_ref(literal), false),
        Test::Compare(Comparison::NotEqual, literal) => (std::slice::from_ref(literal), true),
        _ => return Err(InvalidQuery::Unordered(at)),
    };
    // Codes that look like numbers may be written as such.
    let labels = literals.iter().map(|literal| match literal {
        Literal::Text(text) => Ok(text.trim().to_owned()),
        Literal::Whole(value) => Ok(value.to_string()),
        Literal::Number(_) => Err(InvalidQuery::ValueUnfit(at)),
    });
    let names: BTreeSet<String> = labels.collect::<Result<_, _>>()?;
    let Some(tree) = &domain.hierarchy else {
        let labels = names.iter().map(String::as_str);
        return Ok(Condition::of_labels(labels, domain, except));
    };
    let mut marked = vec![except; tree.leaf_count()];
    for name in &names {
        let node = tree.find(name).ok_or(InvalidQuery::UnknownValue(at))?;
        let node = tree.node(node);
        marked[node.first_leaf.at()..=node.last_leaf().at()].fill(!except);
    }
    Ok(Condition::of_leaves(tree, &marked))
}
