//! Searches for the strongest parameter that holds. Each value that is
//! returned was tried.

use crate::engine::error::EngineError;

/// The least of `from..=to` that holds, by bisection; `None` where `to` does
/// not hold. `from` is tried first, because it often holds.
pub fn least(
    from: u32,
    to: u32,
    mut holds: impl FnMut(u32) -> Result<bool, EngineError>,
) -> Result<Option<u32>, EngineError> {
    if from > to {
        return Ok(None);
    }
    if holds(from)? {
        return Ok(Some(from));
    }
    if from == to || !holds(to)? {
        return Ok(None);
    }
    let (mut fails, mut fits) = (from, to);
    while fits - fails > 1 {
        let middle = fails + (fits - fails) / 2;
        if holds(middle)? {
            fits = middle;
        } else {
            fails = middle;
        }
    }
    Ok(Some(fits))
}

/// The largest value, at most `start`, that `bound` does not object to;
/// `None` where none from 1 on is left. `bound` tries a value and gives a
/// bound on the next one to try, or nothing.
pub fn largest(
    start: u64,
    mut bound: impl FnMut(u32) -> Result<Option<u64>, EngineError>,
) -> Result<Option<u32>, EngineError> {
    let mut value = u32::try_from(start).unwrap_or(u32::MAX);
    while value > 0 {
        match bound(value)? {
            None => return Ok(Some(value)),
            Some(bound) => value = bound.min(u64::from(value) - 1) as u32,
        }
    }
    Ok(None)
}

/// The most members, at most `start`, that can be asked for so that as many
/// are left. `left` tries a number, and says how many are left where that is
/// what refuses it.
pub fn most_left(
    start: u64,
    mut left: impl FnMut(u32) -> Result<Option<u64>, EngineError>,
) -> Result<Option<u32>, EngineError> {
    largest(start, |asked| {
        let left = left(asked)?;
        Ok(left.filter(|&left| left < u64::from(asked)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_that_holds_was_tried_and_the_one_before_it_fails() {
        for to in 1..40 {
            for first in 1..=to {
                let found = least(1, to, |value| Ok(value >= first)).unwrap();
                assert_eq!(found, Some(first), "of {to}");
            }
            assert_eq!(least(1, to, |_| Ok(false)).unwrap(), None);
        }
        assert_eq!(least(3, 2, |_| Ok(true)).unwrap(), None);
    }

    #[test]
    fn the_largest_follows_its_bounds_and_always_comes_down() {
        let mut tried = Vec::new();
        let found = largest(u64::MAX, |value| {
            tried.push(value);
            Ok(match value {
                u32::MAX => Some(9),
                // A bound above the value itself.
                9 => Some(100),
                _ => None,
            })
        });
        assert_eq!((found.unwrap(), tried), (Some(8), vec![u32::MAX, 9, 8]));
        assert_eq!(largest(5, |_| Ok(Some(0))).unwrap(), None);
        assert_eq!(largest(0, |_| Ok(None)).unwrap(), None);
    }

    #[test]
    fn as_many_are_left_as_are_asked_for() {
        // Of those who are asked for a tenth are excluded, to the next even number.
        let left = |asked: u32| Ok(Some(u64::from(asked - asked / 10) & !1));
        assert_eq!(most_left(25, left).unwrap(), Some(8));
        assert_eq!(most_left(25, |_| Ok(None)).unwrap(), Some(25));
        assert_eq!(most_left(25, |_| Ok(Some(25))).unwrap(), Some(25));
        assert_eq!(most_left(25, |_| Ok(Some(0))).unwrap(), None);
    }

    #[test]
    fn a_stop_ends_a_search() {
        let stopped = || Err(EngineError::Cancelled);
        assert_eq!(least(1, 9, |_| stopped()), Err(EngineError::Cancelled));
        let largest = largest(9, |_| Err(EngineError::Cancelled));
        assert_eq!(largest, Err(EngineError::Cancelled));
    }
}
