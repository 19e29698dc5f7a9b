//! The sums that a statistic is made from, portion by portion.
//!
//! Means and ranges are had when every portion was seen once; what is summed of
//! distances from a mean, and shares of all rows, needs a second look.

use crate::release::{Cell, JoinedAttribute};
use crate::utility::evidence::{Evidence, EvidenceError, JoinedEvidence};
use crate::utility::group_means::{Averaged, averaged};
use crate::utility::mean::{Mean, OfRow, ROUNDING};
use crate::utility::spread::Spread;
use crate::utility::whole::Whole;

use super::{Fit, FitError};

/// So many records have to move a statistic by a step.
const RECORDS_PER_STEP: f64 = 10.0;

/// What is seen of a release before its statistic is summed up.
#[derive(Clone, Debug)]
pub struct FitSeen {
    fit: Fit,
    /// None where the release does not have the attributes.
    seen: Option<Seen>,
}

#[derive(Clone, Debug)]
enum Seen {
    Mean(Numbers),
    Regression(Box<Pairs>),
    CrossTable,
}

/// The numbers of rows that show one.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    original: Mean,
    shown: Mean,
    /// Least and greatest of the original.
    low: f64,
    high: f64,
}

/// The numbers of two attributes, and of rows that show both.
#[derive(Clone, Copy, Debug)]
struct Pairs {
    of: Numbers,
    on: Numbers,
    /// Means of both in the original, of rows with both.
    original: [Mean; 2],
    /// The same as the release shows them.
    shown: [Mean; 2],
}

impl FitSeen {
    /// Nothing is seen yet.
    pub fn new(fit: Fit) -> Self {
        Self { fit, seen: None }
    }

    /// Sees a portion.
    ///
    /// # Errors
    /// Tables that are no rows of one record each, or do not fit together.
    pub fn see(&mut self, portion: &Evidence<'_>) -> Result<(), EvidenceError> {
        self.see_prepared(&JoinedEvidence::new(portion)?);
        Ok(())
    }

    pub(super) fn see_prepared(&mut self, prepared: &JoinedEvidence<'_>) {
        let rows = prepared.joined.rows();
        match &self.fit {
            Fit::Mean { of } => {
                if let Some(of) = number(prepared, of) {
                    let seen = self.seen.get_or_insert(Seen::Mean(Numbers::NONE));
                    if let Seen::Mean(numbers) = seen {
                        numbers.see(rows, &of);
                    }
                }
            }
            Fit::Regression { of, on } => {
                if let Some((of, on)) = number(prepared, of).zip(number(prepared, on)) {
                    let none = || Seen::Regression(Box::new(Pairs::NONE));
                    if let Seen::Regression(pairs) = self.seen.get_or_insert_with(none) {
                        pairs.see(rows, (&of, &on));
                    }
                }
            }
            Fit::CrossTable { of, by } => {
                let has = |name: &str| prepared.joined.attribute(name).is_some();
                self.seen = (has(of) && has(by)).then_some(Seen::CrossTable);
            }
        }
    }
}

/// The numbers of an attribute's rows; none where the release does not have it.
fn number<'g>(prepared: &'g JoinedEvidence<'_>, name: &str) -> Option<Averaged<'g>> {
    let found = prepared.attributes().find(|one| one.published.name == name);
    found.map(|attribute| known(attribute.published, averaged(prepared, attribute)))
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

impl Numbers {
    const NONE: Self = Self {
        original: Mean::NONE,
        shown: Mean::NONE,
        low: f64::INFINITY,
        high: f64::NEG_INFINITY,
    };

    fn see(&mut self, rows: usize, of: &Averaged<'_>) {
        self.original.add_all(Mean::of(rows, &of.original));
        self.shown.add_all(Mean::of(rows, &of.shown));
        let known = (0..rows).map(&of.original);
        for number in known.filter(|number| !number.is_nan()) {
            (self.low, self.high) = (self.low.min(number), self.high.max(number));
        }
    }

    /// How far the least and the greatest are apart.
    fn range(&self) -> Option<f64> {
        Some(self.high - self.low).filter(|range| *range > 0.0)
    }

    fn difference(&self) -> Moved {
        let (original, shown) = (self.original.get()?, self.shown.get()?);
        // Either side moves by so much.
        let influence = 2.0 * self.range()? / self.original.weight();
        Some((shown - original, influence))
    }
}

impl Pairs {
    const NONE: Self = Self {
        of: Numbers::NONE,
        on: Numbers::NONE,
        original: [Mean::NONE; 2],
        shown: [Mean::NONE; 2],
    };

    fn see(&mut self, rows: usize, (of, on): (&Averaged<'_>, &Averaged<'_>)) {
        self.of.see(rows, of);
        self.on.see(rows, on);
        let sides = [
            (&mut self.original, &of.original, &on.original),
            (&mut self.shown, &of.shown, &on.shown),
        ];
        for ([mean_of, mean_on], of, on) in sides {
            for (of, on) in pairs(rows, of, on) {
                mean_of.add(of, 1.0);
                mean_on.add(on, 1.0);
            }
        }
    }
}

/// The numbers of rows that have both.
fn pairs<'p>(
    rows: usize,
    of: &'p OfRow<'_, f64>,
    on: &'p OfRow<'_, f64>,
) -> impl Iterator<Item = (f64, f64)> + 'p {
    let pairs = (0..rows).map(move |row| (of(row), on(row)));
    pairs.filter(|(of, on)| !of.is_nan() && !on.is_nan())
}

/// The sums of a statistic.
#[derive(Clone, Debug)]
pub struct FitSums {
    fit: Fit,
    sums: Option<Sums>,
}

#[derive(Clone, Debug)]
enum Sums {
    Mean(Numbers),
    Regression(Box<Line>),
    CrossTable(CrossTable),
}

impl FitSums {
    /// Nothing is added yet of a release that was seen as a whole.
    pub fn new(seen: FitSeen) -> Self {
        let sums = seen.seen.map(|seen| match seen {
            Seen::Mean(numbers) => Sums::Mean(numbers),
            Seen::Regression(pairs) => Sums::Regression(Box::new(Line::new(*pairs))),
            Seen::CrossTable => Sums::CrossTable(CrossTable::default()),
        });
        Self {
            fit: seen.fit,
            sums,
        }
    }

    /// Adds a portion of a release that was seen as a whole.
    ///
    /// # Errors
    /// Tables that are no rows of one record each, or do not fit together.
    pub fn add(&mut self, portion: &Evidence<'_>, whole: &Whole) -> Result<(), EvidenceError> {
        let prepared = JoinedEvidence::new(portion)?;
        let spreads = whole.spreads(&prepared)?;
        self.add_prepared(&prepared, &spreads, whole);
        Ok(())
    }

    pub(super) fn add_prepared(
        &mut self,
        prepared: &JoinedEvidence<'_>,
        spreads: &[Spread<'_>],
        whole: &Whole,
    ) {
        let rows = prepared.joined.rows();
        match (&mut self.sums, &self.fit) {
            (Some(Sums::Regression(line)), Fit::Regression { of, on }) => {
                if let Some((of, on)) = number(prepared, of).zip(number(prepared, on)) {
                    line.add(rows, (&of, &on));
                }
            }
            (Some(Sums::CrossTable(table)), Fit::CrossTable { of, by }) => {
                let spread = |name: &str| spreads.iter().find(|one| one.name() == name);
                if let Some(both) = spread(of).zip(spread(by)) {
                    table.add(rows, both, whole.rows());
                }
            }
            _ => {}
        }
    }

    /// The statistic; nothing where the release does not have the attributes.
    pub fn finish(self) -> Option<FitError> {
        let found = match self.sums? {
            Sums::Mean(numbers) => numbers.difference(),
            Sums::Regression(line) => line.difference(),
            Sums::CrossTable(table) => table.difference(),
        };
        let rounded = found.map(|(difference, influence)| {
            let step = step(influence);
            ((difference / step).round() * step, step)
        });
        Some(FitError {
            fit: self.fit,
            difference: rounded.map(|(difference, _)| difference),
            step: rounded.map(|(_, step)| step),
        })
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

/// What a line through numbers is made from.
#[derive(Clone, Copy, Debug)]
struct Line {
    seen: Pairs,
    /// Squared distances of either number from its mean in the original.
    squares: [Mean; 2],
    original: Slope,
    shown: Slope,
}

/// Products of distances from the means, and squares of those of the second number.
#[derive(Clone, Copy, Debug, Default)]
struct Slope {
    with: f64,
    own: f64,
}

impl Line {
    fn new(seen: Pairs) -> Self {
        Self {
            seen,
            squares: [Mean::NONE; 2],
            original: Slope::default(),
            shown: Slope::default(),
        }
    }

    fn add(&mut self, rows: usize, (of, on): (&Averaged<'_>, &Averaged<'_>)) {
        let Pairs {
            original, shown, ..
        } = self.seen;
        let means = [self.seen.of, self.seen.on].map(|one| one.original.get());
        for ((squares, mean), one) in self.squares.iter_mut().zip(means).zip([of, on]) {
            if let Some(mean) = mean {
                squares.add_all(Mean::of_squares(rows, &one.original, mean));
            }
        }
        self.original
            .add(pairs(rows, &of.original, &on.original), original);
        self.shown.add(pairs(rows, &of.shown, &on.shown), shown);
    }

    fn difference(&self) -> Moved {
        let [of, on] = self.squares;
        let scale_of = of.root(self.seen.of.original.get()?)?;
        let scale_on = on.root(self.seen.on.original.get()?)?;
        let wide_of = self.seen.of.range()? / scale_of;
        let wide_on = self.seen.on.range()? / scale_on;
        // A record at the end of both ranges pulls the line by its distance from it.
        let influence =
            |(slope, own): (f64, f64)| wide_on * (wide_of + f64::abs(slope) * wide_on) / own;
        let units = (scale_of, scale_on);
        let rows = |means: [Mean; 2]| means[0].weight();
        let original = self.original.of(rows(self.seen.original), units)?;
        let shown = self.shown.of(rows(self.seen.shown), units)?;
        Some((shown.0 - original.0, influence(original) + influence(shown)))
    }
}

impl Slope {
    fn add(&mut self, pairs: impl Iterator<Item = (f64, f64)>, means: [Mean; 2]) {
        let [Some(mean_of), Some(mean_on)] = means.map(Mean::get) else {
            return;
        };
        for (of, on) in pairs {
            self.with += (of - mean_of) * (on - mean_on);
            self.own += (on - mean_on).powi(2);
        }
    }

    /// The slope of so many rows' numbers in these units, and the squares; none of a
    /// vertical line.
    fn of(self, rows: f64, (of, on): (f64, f64)) -> Option<(f64, f64)> {
        let (with, own) = (self.with / (of * on), self.own / (on * on));
        // Numbers that differ by less are equal.
        let least = rows * ROUNDING.powi(2);
        (own > least).then(|| (with / own, own))
    }
}

/// Shares of all rows by pair of intervals, of the release minus of the original.
#[derive(Clone, Debug, Default)]
struct CrossTable {
    rows: u64,
    shares: Vec<f64>,
}

impl CrossTable {
    /// Adds rows of a release of `all` rows.
    fn add(&mut self, rows: usize, (of, by): (&Spread<'_>, &Spread<'_>), all: u64) {
        let (of, by) = (of.grouping(), by.grouping());
        self.shares.resize(of.bins * by.bins, 0.0);
        self.rows += rows as u64;
        let each = 1.0 / all.max(1) as f64;
        for row in 0..rows {
            self.shares[(of.original)(row) * by.bins + (by.original)(row)] -= each;
            for &(one, share) in of.shares[(of.shown)(row)] {
                for &(other, also) in by.shares[(by.shown)(row)] {
                    let place = one as usize * by.bins + other as usize;
                    self.shares[place] += each * f64::from(share) * f64::from(also);
                }
            }
        }
    }

    fn difference(&self) -> Moved {
        if self.rows == 0 {
            return None;
        }
        let differ: f64 = self.shares.iter().map(|share| share.abs()).sum();
        // A record moves one share of each side.
        Some((differ / 2.0, 2.0 / self.rows as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(rows: usize, of: &Averaged<'_>) -> Moved {
        let mut numbers = Numbers::NONE;
        numbers.see(rows, of);
        numbers.difference()
    }

    fn regression(rows: usize, both: (&Averaged<'_>, &Averaged<'_>)) -> Moved {
        let mut pairs = Pairs::NONE;
        pairs.see(rows, both);
        let mut line = Line::new(pairs);
        line.add(rows, both);
        line.difference()
    }

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
}
