//! A job's policy: the floors that hold for every record.

use crate::microdata::AttributeIndex;

use super::parameter::{K, L, Share, T};

/// How one attribute's flagged cells are protected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Protection {
    /// No value in more than 1 in l of a bucket; with `min_spread` (*ours*)
    /// a bucket also spans at least that numeric range, or that many branches
    /// of the hierarchy's root.
    Diversity {
        /// The floor; personal terms may ask for more.
        l: L,
        /// Least spread of a bucket.
        min_spread: Option<f64>,
    },
    /// Every bucket's distribution within t of the distribution of the
    /// attribute's flagged cells, and no value above `max_posterior`.
    Closeness {
        /// The bound for everyone.
        t: T,
        /// Largest share of one value in a bucket.
        max_posterior: Share,
    },
}

/// The floors of one job.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Floor of every record's k.
    pub k: K,
    /// Protection of each semi-sensitive and sensitive attribute, in the order
    /// of [`Schema::protectable`](crate::microdata::Schema::protectable).
    pub protections: Vec<(AttributeIndex, Protection)>,
    /// Whether subjects' preferences are joined (`"preferences": "apply"`).
    pub apply_preferences: bool,
}
