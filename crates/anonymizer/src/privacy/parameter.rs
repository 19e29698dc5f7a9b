//! The parameters of the privacy models, each with its bounds and source.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A parameter out of its bounds: which one, and what it must be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} must be {bounds}")]
pub struct ParameterError {
    /// Name of the parameter.
    pub name: &'static str,
    /// What it must be.
    pub bounds: &'static str,
}

/// JSON Schema of a parameter: its bounds, in the place of each use.
macro_rules! bounded {
    ($name:ident, $schema:tt) => {
        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

macro_rules! whole_number {
    ($(#[$doc:meta])* $name:ident, $label:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "u32", into = "u32")]
        pub struct $name(u32);

        impl $name {
            /// The weakest value, which asks for nothing.
            pub const NONE: Self = Self(1);

            /// The parameter, if it is at least 1.
            pub fn new(value: u32) -> Result<Self, ParameterError> {
                match value {
                    0 => Err(ParameterError { name: $label, bounds: "a whole number of at least 1" }),
                    _ => Ok(Self(value)),
                }
            }

            /// The next stronger one.
            pub const fn one_more(self) -> Self {
                Self(self.0.saturating_add(1))
            }

            /// The next weaker one; the weakest stays.
            pub const fn one_less(self) -> Self {
                match self.0 {
                    0..=2 => Self(1),
                    value => Self(value - 1),
                }
            }

            /// The number itself.
            pub const fn get(self) -> u32 {
                self.0
            }
        }

        impl TryFrom<u32> for $name {
            type Error = ParameterError;

            fn try_from(value: u32) -> Result<Self, ParameterError> {
                Self::new(value)
            }
        }

        impl From<$name> for u32 {
            fn from(parameter: $name) -> u32 {
                parameter.0
            }
        }

        bounded!($name, {"type": "integer", "minimum": 1, "maximum": u32::MAX});
    };
}

whole_number!(
    /// Least number of records that look the same (k-anonymity, Samarati &
    /// Sweeney 1998). 1 asks for nothing.
    K,
    "k"
);
whole_number!(
    /// No sensitive value in more than 1 in l of a bucket or group
    /// (l-diversity, Machanavajjhala et al. 2006, in the frequency form of
    /// Xiao & Tao 2006). 1 asks for nothing.
    L,
    "l"
);

/// A share of a whole in parts per billion, so that it compares exactly with
/// a ratio of counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Share(u32);

impl Share {
    /// Parts in the whole.
    pub const WHOLE_PARTS: u64 = 1_000_000_000;
    /// The whole, which bounds nothing.
    pub const ALL: Self = Self(1_000_000_000);

    /// One in ten.
    pub const TENTH: Self = Self(100_000_000);

    /// One in four.
    pub const QUARTER: Self = Self(250_000_000);

    /// The smallest share, one part per billion.
    pub const LEAST: Self = Self(1);

    /// The share nearest to `value`, which lies in (0, 1].
    pub fn new(value: f64) -> Result<Self, ParameterError> {
        let parts = (value * 1e9).round();
        if value > 0.0 && value <= 1.0 && parts >= 1.0 {
            Ok(Self(parts as u32))
        } else {
            Err(ParameterError {
                name: "share",
                bounds: "above 0 (by at least 1e-9) and at most 1",
            })
        }
    }

    /// The share of so many parts per billion, at least one and at most all.
    pub fn of_parts(parts: u32) -> Self {
        Self(parts.clamp(Self::LEAST.0, Self::ALL.0))
    }

    /// The smallest n with 1/n at most this share.
    pub fn reciprocal_ceiling(self) -> u32 {
        Self::ALL.0.div_ceil(self.0)
    }

    /// Whether `count` of `size` is at most this share.
    pub fn allows(self, count: u64, size: u64) -> bool {
        u128::from(count) * u128::from(Self::WHOLE_PARTS) <= u128::from(size) * u128::from(self.0)
    }

    /// Parts per billion.
    pub const fn parts(self) -> u32 {
        self.0
    }

    /// The share as a number.
    pub fn get(self) -> f64 {
        f64::from(self.0) / 1e9
    }
}

impl TryFrom<f64> for Share {
    type Error = ParameterError;

    fn try_from(value: f64) -> Result<Self, ParameterError> {
        Self::new(value)
    }
}

impl From<Share> for f64 {
    fn from(share: Share) -> f64 {
        share.get()
    }
}

bounded!(Share, {"type": "number", "exclusiveMinimum": 0, "maximum": 1});

/// Largest distance between the distribution in a bucket or group and the
/// distribution it is measured against (t-closeness, Li et al. 2007), in
/// [0, 1], kept in parts per billion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct T(u32);

impl T {
    /// The parameter, if it lies in [0, 1].
    pub fn new(value: f64) -> Result<Self, ParameterError> {
        if (0.0..=1.0).contains(&value) {
            Ok(Self((value * 1e9).round() as u32))
        } else {
            Err(ParameterError {
                name: "t",
                bounds: "at least 0 and at most 1",
            })
        }
    }

    /// Whether the distance `numerator / denominator` is at most t. 1 allows
    /// every distance, also those above 1 that missing numbers have.
    pub fn allows(self, numerator: u128, denominator: u128) -> bool {
        let parts = u128::from(self.0);
        let whole = u128::from(Share::WHOLE_PARTS);
        parts == whole || numerator * whole <= parts * denominator
    }

    /// The parameter as a number.
    pub fn get(self) -> f64 {
        f64::from(self.0) / 1e9
    }
}

impl TryFrom<f64> for T {
    type Error = ParameterError;

    fn try_from(value: f64) -> Result<Self, ParameterError> {
        Self::new(value)
    }
}

impl From<T> for f64 {
    fn from(t: T) -> f64 {
        t.get()
    }
}

bounded!(T, {"type": "number", "minimum": 0, "maximum": 1});

/// How much more often the most frequent value of a group may occur than all
/// values together from the l-th most frequent one on: the c of recursive
/// (c, l)-diversity (Machanavajjhala et al. 2006), kept in parts per billion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct C(u64);

impl C {
    /// Largest factor.
    const MOST: f64 = 1e6;

    /// The factor nearest to `value`, which lies in (0, 1,000,000].
    pub fn new(value: f64) -> Result<Self, ParameterError> {
        let parts = (value * 1e9).round();
        if value <= Self::MOST && parts >= 1.0 {
            Ok(Self(parts as u64))
        } else {
            Err(ParameterError {
                name: "c",
                bounds: "above 0 (by at least 1e-9) and at most 1000000",
            })
        }
    }

    /// Whether `most` is less than c times `rest`.
    pub fn exceeds(self, most: u64, rest: u64) -> bool {
        u128::from(most) * u128::from(Share::WHOLE_PARTS) < u128::from(self.0) * u128::from(rest)
    }

    /// The factor as a number.
    pub fn get(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl TryFrom<f64> for C {
    type Error = ParameterError;

    fn try_from(value: f64) -> Result<Self, ParameterError> {
        Self::new(value)
    }
}

impl From<C> for f64 {
    fn from(c: C) -> f64 {
        c.get()
    }
}

bounded!(C, {"type": "number", "exclusiveMinimum": 0, "maximum": 1_000_000});

/// How many times as well as without a release values may be guessed with it, in
/// parts per million.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Lift(u32);

impl Lift {
    /// The factor as a number.
    pub fn get(self) -> f64 {
        f64::from(self.0) / 1e6
    }
}

impl TryFrom<f64> for Lift {
    type Error = ParameterError;

    fn try_from(value: f64) -> Result<Self, ParameterError> {
        if (1.0..=1000.0).contains(&value) {
            Ok(Self((value * 1e6).round() as u32))
        } else {
            Err(ParameterError {
                name: "lift",
                bounds: "from 1 to 1000",
            })
        }
    }
}

impl From<Lift> for f64 {
    fn from(lift: Lift) -> f64 {
        lift.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_allows_exact_equality_and_nothing_above() {
        let fifth = Share::new(0.2).unwrap();
        assert!(fifth.allows(1, 5));
        assert!(!fifth.allows(200_001, 1_000_000));
        assert!(Share::ALL.allows(7, 7));
        assert!(Share::new(0.8).unwrap().allows(4, 5));
        assert!(!Share::new(0.799_999_999).unwrap().allows(4, 5));
    }

    #[test]
    fn t_allows_exact_equality_and_nothing_above() {
        let t = T::new(0.2).unwrap();
        assert!(t.allows(1, 5));
        assert!(!t.allows(2_000_001, 10_000_000));
    }

    #[test]
    fn a_t_of_one_allows_every_distance() {
        assert!(T::new(1.0).unwrap().allows(9, 8));
        assert!(!T::new(0.999_999_999).unwrap().allows(9, 8));
    }

    #[test]
    fn c_is_exceeded_strictly() {
        let c = C::new(1.5).unwrap();
        assert!(c.exceeds(2, 2));
        assert!(!c.exceeds(3, 2));
        assert!(!c.exceeds(0, 0));
        for value in [0.0, -1.0, 1e-10, 1e7, f64::NAN] {
            assert!(C::new(value).is_err());
        }
    }

    #[test]
    fn parameters_out_of_bounds_are_refused() {
        assert!(K::new(0).is_err());
        assert!(L::new(0).is_err());
        for value in [-0.1, 1.1, f64::NAN] {
            assert!(T::new(value).is_err());
            assert!(Share::new(value).is_err());
        }
        assert!(Share::new(0.0).is_err());
    }
}
