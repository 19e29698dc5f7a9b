//! Means and deviations from sums that add up over portions of a release.

/// Something of each row.
pub(super) type OfRow<'g, T> = Box<dyn Fn(usize) -> T + Sync + 'g>;

/// What is no more of a number than this is the rounding of sums.
pub(super) const ROUNDING: f64 = 1e-12;

/// A sum of numbers and of their weights.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Mean {
    sum: f64,
    weight: f64,
}

impl Mean {
    /// Of nothing.
    pub(super) const NONE: Self = Self {
        sum: 0.0,
        weight: 0.0,
    };

    /// Adds a number, if it is one.
    pub(super) fn add(&mut self, number: f64, weight: f64) {
        if !number.is_nan() {
            self.sum += number * weight;
            self.weight += weight;
        }
    }

    /// Adds what another one has summed.
    pub(super) fn add_all(&mut self, other: Self) {
        self.sum += other.sum;
        self.weight += other.weight;
    }

    /// Adds a share of what another one has summed.
    pub(super) fn add_share(&mut self, other: &Self, share: f64) {
        self.sum += other.sum * share;
        self.weight += other.weight * share;
    }

    /// Weight of all numbers.
    pub(super) fn weight(self) -> f64 {
        self.weight
    }

    /// The mean; none of nothing.
    pub(super) fn get(self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.sum / self.weight)
    }

    /// The numbers of so many rows.
    pub(super) fn of(rows: usize, number: &OfRow<'_, f64>) -> Self {
        let mut mean = Self::default();
        (0..rows).for_each(|row| mean.add(number(row), 1.0));
        mean
    }

    /// Their squared distances from a number.
    pub(super) fn of_squares(rows: usize, number: &OfRow<'_, f64>, middle: f64) -> Self {
        let mut squares = Self::default();
        (0..rows).for_each(|row| squares.add((number(row) - middle).powi(2), 1.0));
        squares
    }

    /// Of squared distances from a number the standard deviation; none where all
    /// are equal, but for the rounding of their mean.
    pub(super) fn root(self, middle: f64) -> Option<f64> {
        let deviation = self.get().map(f64::sqrt);
        deviation.filter(|&deviation| deviation > ROUNDING * middle.abs())
    }
}

/// The standard deviation of numbers that are not missing; none of equal ones.
pub(super) fn deviation(rows: usize, number: &OfRow<'_, f64>) -> Option<f64> {
    let middle = Mean::of(rows, number).get()?;
    Mean::of_squares(rows, number, middle).root(middle)
}
