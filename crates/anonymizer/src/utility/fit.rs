//! One statistic that a steward names: how far the release's is from the original's.
//!
//! Over the published records: what is left out is told beside it. The difference is
//! rounded to a step that is at least ten times as far as one record can move it,
//! with the release's cells as they are, so that it tells no record. Only the release's cells and buckets are
//! used for its side, read as in [`super::group_means`]: the middle of a cell, the
//! mean of a bucket. Rows whose cell is masked are in no mean and no slope, on
//! neither side.

use serde::{Deserialize, Serialize};

use crate::microdata::{AttributeType, Role, Schema};
use crate::release::{Cell, JoinedAttribute};

use super::evidence::{Evidence, EvidenceError, JoinedEvidence};
use super::group_means::{Averaged, averaged, deviation};
use super::report::{Audience, Description};
use super::spread::Spread;

/// So many records have to move a statistic by a step.
const RECORDS_PER_STEP: f64 = 10.0;

/// What this measure is.
pub const DESCRIPTION: Description = Description {
    title: "Fit of the statistic",
    audience: Audience::Steward,
    definition: "The statistic that the job names, of the release minus of the original, over the published records; rounded to `step`, which ten records at least must move. mean: of the middles of cells and the means of buckets. cross_table: half the sum of the differences of the shares of all pairs of at most 16 intervals each. regression: slope of the first on the second, in standard deviations of the original.",
    source: "ours",
};

/// The statistic that a steward names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "statistic", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fit {
    /// The mean of a number or date.
    Mean {
        /// The attribute.
        of: String,
    },
    /// How often values of two attributes stand together.
    CrossTable {
        /// One attribute.
        of: String,
        /// The other.
        by: String,
    },
    /// The slope of a number on another one.
    Regression {
        /// The number that is explained.
        of: String,
        /// The number that explains it.
        on: String,
    },
}

/// Why a schema does not have a statistic.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FitMismatch {
    /// No attribute of this name.
    #[error("names an attribute that the schema does not have")]
    Unknown,
    /// Identifiers are in no release.
    #[error("`{0}` is an identifier, which no release has")]
    NotPublished(String),
    /// Means and slopes are of numbers.
    #[error("`{0}` is no number and no date")]
    NoNumber(String),
    /// One attribute beside itself.
    #[error("needs two different attributes")]
    OneAttribute,
}

/// How far a statistic of the release is from that of the original.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FitError {
    /// The statistic.
    #[serde(flatten)]
    pub fit: Fit,
    /// Release − original, rounded to the step; none where one of both has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<f64>,
    /// What the difference is rounded to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
}

impl Fit {
    /// Whether the statistic is one of this schema.
    ///
    /// # Errors
    /// An attribute that is not there, is not published, or is no number where one
    /// is needed.
    pub fn check(&self, schema: &Schema) -> Result<(), FitMismatch> {
        let (names, are_numbers) = match self {
            Self::Mean { of } => (vec![of], true),
            Self::CrossTable { of, by } => (vec![of, by], false),
            Self::Regression { of, on } => (vec![of, on], true),
        };
        for name in &names {
            let Some(index) = schema.find(name) else {
                return Err(FitMismatch::Unknown);
            };
            let attribute = schema.attribute(index);
            if attribute.role == Role::Identifier {
                return Err(FitMismatch::NotPublished(attribute.name.clone()));
            }
            if are_numbers && attribute.kind == Some(AttributeType::Categorical) {
                return Err(FitMismatch::NoNumber(attribute.name.clone()));
            }
        }
        match names.as_slice() {
            [one, other] if one == other => Err(FitMismatch::OneAttribute),
            _ => Ok(()),
        }
    }
}

/// Measures a statistic; nothing where the release has no rows that show both
/// attributes.
///
/// # Errors
/// Tables that are no rows of one record each, or do not fit together.
pub fn measure(evidence: &Evidence<'_>, fit: &Fit) -> Result<Option<FitError>, EvidenceError> {
    let prepared = JoinedEvidence::new(evidence)?;
    let rows = prepared.joined.rows();
    let number = |name: &str| {
        let found = prepared.attributes().find(|one| one.published.name == name);
        found.map(|attribute| known(attribute.published, averaged(&prepared, attribute)))
    };
    let found = match fit {
        Fit::Mean { of } => number(of).map(|of| mean(rows, &of)),
        Fit::Regression { of, on } => number(of)
            .zip(number(on))
            .map(|(of, on)| regression(rows, (&of, &on))),
        Fit::CrossTable { of, by } => {
            let spreads = Spread::all(&prepared);
            let spread = |name: &str| spreads.iter().find(|one| one.name() == name);
            spread(of)
                .zip(spread(by))
                .map(|(of, by)| cross_table(rows, (of, by)))
        }
    };
    Ok(found.map(|found| {
        let rounded = found.map(|(difference, influence)| {
            let step = step(influence);
            ((difference / step).round() * step, step)
        });
        FitError {
            fit: fit.clone(),
            difference: rounded.map(|(difference, _)| difference),
            step: rounded.map(|(_, step)| step),
        }
    }))
}

/// The numbers of rows that show one. A masked cell has no middle: its ends would be
/// those of everybody in the table, also of who is left out.
fn known<'g>(published: &'g JoinedAttribute<'g>, of: Averaged<'g>) -> Averaged<'g> {
    let is_masked = |cell: &Cell| matches!(cell, Cell::Masked);
    let masked: Vec<bool> = published.cells.iter().map(is_masked).collect();
    let is_shown = move |row: usize| {
        let pool = published.buckets.as_ref().and_then(|all| all.pool_of(row));
        pool.is_some() || !masked[published.codes.at(row) as usize]
    };
    let is_original = is_shown.clone();
    let (shown, original) = (of.shown, of.original);
    let number = |is_there: bool, number: f64| if is_there { number } else { f64::NAN };
    Averaged {
        shown: Box::new(move |row| number(is_shown(row), shown(row))),
        original: Box::new(move |row| number(is_original(row), original(row))),
        name: of.name,
        is_sensitive: of.is_sensitive,
    }
}

/// A difference, and how far one record can move it.
type Moved = Option<(f64, f64)>;

/// The least of 1, 2, 5 times a power of ten that is so many times an influence.
fn step(influence: f64) -> f64 {
    let least = influence * RECORDS_PER_STEP;
    let power = 10_f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|step| step * power);
    let found = steps.into_iter().find(|step| *step >= least);
    found.unwrap_or(10.0 * power)
}

/// Least and greatest of numbers that are not missing.
fn range(rows: usize, number: &dyn Fn(usize) -> f64) -> Option<f64> {
    let known = (0..rows).map(number).filter(|number| !number.is_nan());
    let ends = known.fold(None, |ends: Option<(f64, f64)>, number| {
        Some(ends.map_or((number, number), |(low, high)| {
            (low.min(number), high.max(number))
        }))
    });
    ends.map(|(low, high)| high - low)
        .filter(|range| *range > 0.0)
}

fn mean(rows: usize, of: &Averaged<'_>) -> Moved {
    let mean = |number: &dyn Fn(usize) -> f64| {
        let known = (0..rows).map(number).filter(|number| !number.is_nan());
        let (sum, count) = known.fold((0.0, 0.0), |(sum, count), number| {
            (sum + number, count + 1.0)
        });
        (count > 0.0).then(|| (sum / count, count))
    };
    let ((original, count), (shown, _)) = (mean(&of.original)?, mean(&of.shown)?);
    // Either side moves by so much.
    let influence = 2.0 * range(rows, &of.original)? / count;
    Some((shown - original, influence))
}

fn regression(rows: usize, (of, on): (&Averaged<'_>, &Averaged<'_>)) -> Moved {
    let [scale_of, scale_on] = [of, on].map(|one| deviation(rows, &one.original));
    let (scale_of, scale_on) = (scale_of?, scale_on?);
    let slope = |of: &dyn Fn(usize) -> f64, on: &dyn Fn(usize) -> f64| {
        let pairs: Vec<(f64, f64)> = (0..rows)
            .map(|row| (of(row) / scale_of, on(row) / scale_on))
            .filter(|(of, on)| !of.is_nan() && !on.is_nan())
            .collect();
        let count = pairs.len() as f64;
        let sums = pairs
            .iter()
            .fold((0.0, 0.0), |sums, pair| (sums.0 + pair.0, sums.1 + pair.1));
        let (mean_of, mean_on) = (sums.0 / count, sums.1 / count);
        let (mut with, mut own) = (0.0, 0.0);
        for (of, on) in pairs {
            with += (of - mean_of) * (on - mean_on);
            own += (on - mean_on).powi(2);
        }
        (own > 0.0).then_some((with / own, own))
    };
    let wide = |one: &Averaged<'_>, scale: f64| Some(range(rows, &one.original)? / scale);
    let (wide_of, wide_on) = (wide(of, scale_of)?, wide(on, scale_on)?);
    // A record at the end of both ranges pulls the line by its distance from it.
    let influence = |(slope, own): (f64, f64)| wide_on * (wide_of + slope.abs() * wide_on) / own;
    let original = slope(&of.original, &on.original)?;
    let shown = slope(&of.shown, &on.shown)?;
    Some((shown.0 - original.0, influence(original) + influence(shown)))
}

fn cross_table(rows: usize, (of, by): (&Spread<'_>, &Spread<'_>)) -> Moved {
    if rows == 0 {
        return None;
    }
    let (of, by) = (of.grouping(), by.grouping());
    let mut shares = vec![0.0_f64; of.bins * by.bins];
    let each = 1.0 / rows as f64;
    for row in 0..rows {
        shares[(of.original)(row) * by.bins + (by.original)(row)] -= each;
        for &(one, share) in of.shares[(of.shown)(row)] {
            for &(other, also) in by.shares[(by.shown)(row)] {
                let place = one as usize * by.bins + other as usize;
                shares[place] += each * f64::from(share) * f64::from(also);
            }
        }
    }
    let differ: f64 = shares.iter().map(|share| share.abs()).sum();
    // A record moves one share of each side.
    Some((differ / 2.0, 2.0 * each))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(original: [f64; 4], shown: [f64; 4]) -> Averaged<'static> {
        Averaged {
            name: "cost",
            is_sensitive: true,
            original: Box::new(move |row| original[row]),
            shown: Box::new(move |row| shown[row]),
        }
    }

    #[test]
    fn a_step_is_what_ten_records_move_at_least() {
        for (influence, expected) in [(0.1, 1.0), (0.11, 2.0), (0.5, 5.0), (0.51, 10.0)] {
            let step = step(influence);
            assert!((step - expected).abs() < 1e-9, "{influence}: {step}");
        }
    }

    #[test]
    fn a_mean_differs_by_what_cells_move_it() {
        let (difference, influence) =
            mean(4, &of([1.0, 3.0, 9.0, 11.0], [2.0, 2.0, 12.0, 12.0])).expect("numbers");
        assert!((difference - 1.0).abs() < 1e-12);
        assert!((influence - 2.0 * 10.0 / 4.0).abs() < 1e-12);
        let lacking = of([f64::NAN, 3.0, 9.0, 12.0], [f64::NAN, 3.0, 9.0, 12.0]);
        assert_eq!(mean(4, &lacking), Some((0.0, 6.0)));
        assert_eq!(mean(4, &of([2.0; 4], [2.0; 4])), None);
    }

    #[test]
    fn a_slope_is_in_standard_deviations_of_the_original() {
        let line = [1.0, 2.0, 3.0, 4.0];
        let doubled = [2.0, 4.0, 6.0, 8.0];
        // The slope of equal orders is 1 whatever the units; one of no relation is 0.
        let none = regression(4, (&of(doubled, [5.0; 4]), &of(line, line)));
        let (difference, _) = none.expect("a slope");
        assert!((difference + 1.0).abs() < 1e-12, "{difference}");
        let all = regression(4, (&of(doubled, doubled), &of(line, line)));
        assert!(all.expect("a slope").0.abs() < 1e-12);
        assert_eq!(regression(4, (&of(line, line), &of(line, [2.0; 4]))), None);
    }

    #[test]
    fn a_statistic_is_refused_where_the_schema_does_not_have_it() {
        let schema: Schema = serde_json::from_value(json!({
            "name": "made-up", "subject_key": "id", "attributes": [
                {"name": "id", "role": "identifier"},
                {"name": "age", "role": "quasi_identifier", "type": "integer"},
                {"name": "sex", "role": "quasi_identifier", "type": "categorical"}]
        }))
        .expect("a schema");
        let check = |fit: serde_json::Value| {
            let fit: Fit = serde_json::from_value(fit).expect("a statistic");
            fit.check(&schema).is_ok()
        };
        assert!(check(json!({"statistic": "mean", "of": "age"})));
        assert!(check(
            json!({"statistic": "cross_table", "of": "age", "by": "sex"})
        ));
        for wrong in [
            json!({"statistic": "mean", "of": "sex"}),
            json!({"statistic": "mean", "of": "id"}),
            json!({"statistic": "mean", "of": "nothing"}),
            json!({"statistic": "regression", "of": "age", "on": "sex"}),
            json!({"statistic": "cross_table", "of": "age", "by": "age"}),
        ] {
            assert!(!check(wrong.clone()), "{wrong}");
        }
        let more = json!({"statistic": "mean", "of": "age", "by": "sex"});
        assert!(serde_json::from_value::<Fit>(more).is_err());
    }
}
