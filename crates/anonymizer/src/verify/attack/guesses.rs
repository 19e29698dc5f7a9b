//! What the attack `equal_vectors` counts: guesses of people's values. Counts of
//! portions of a release add up.

/// Units of a person.
pub const ONE: u64 = 1 << 20;

/// Guesses of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Guesses {
    pub people: u64,
    /// Right guesses and Σ 1/l, in units.
    pub right: u64,
    pub allowed: u64,
    /// People and right guesses of each vector.
    pub vectors: Vec<(u64, u64)>,
}

impl Guesses {
    pub fn add(&mut self, people: u64, right: u64, allowed: u64) {
        self.people += people;
        self.right += right;
        self.allowed += allowed;
        self.vectors.push((people, right));
    }

    pub fn rate(&self) -> Option<f64> {
        (self.people > 0).then(|| self.right as f64 / ONE as f64 / self.people as f64)
    }

    /// Variance of right guesses around `mean` units over `people`, in units
    /// squared.
    pub fn variance(&self, (mean, people): (u64, u64)) -> i128 {
        let expected = |own: u64| i128::from(own) * i128::from(mean) / i128::from(people.max(1));
        let single = expected(self.people) * i128::from(ONE);
        let together = self.vectors.iter().map(|&(people, right)| {
            let beyond = i128::from(right) - expected(people);
            beyond * beyond
        });
        single.max(together.sum())
    }
}

/// What the attack finds in one way to stand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Vectors in several classes.
    pub vectors: u64,
    /// Vectors with a value that all classes show.
    pub common: Guesses,
    /// Those with fewer than l such values.
    pub few: Guesses,
    pub steps: u64,
}

impl Found {
    pub fn add(&mut self, other: &Self) {
        self.vectors += other.vectors;
        self.steps = self.steps.max(other.steps);
        for (all, one) in [
            (&mut self.common, &other.common),
            (&mut self.few, &other.few),
        ] {
            all.people += one.people;
            all.right += one.right;
            all.allowed += one.allowed;
            all.vectors.extend(&one.vectors);
        }
    }
}

/// What the attack found, and what it finds when everyone is dealt out again.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    pub found: Found,
    pub again: Found,
    pub is_bounded: bool,
}

impl Compared {
    /// What was found in two portions of a release.
    pub fn joined(one: &Self, other: &Self) -> Self {
        let mut all = one.clone();
        all.found.add(&other.found);
        all.again.add(&other.again);
        all
    }
}
