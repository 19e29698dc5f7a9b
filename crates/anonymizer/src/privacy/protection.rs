//! How one attribute's sensitive values are protected.
//!
//! Each model of a release has protections of a kind of its own ([`InBucket`],
//! [`InBlock`], [`InGroup`]), so that a policy cannot ask for what no checks
//! of its model show. [`Protection`] is any of them, for those who ask one
//! question of all models.

use super::parameter::{C, L, Share, T};

/// How cells are protected that share a bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InBucket {
    /// No value in more than 1 in l of a bucket; with `min_spread` (*ours*)
    /// a bucket also spans at least that numeric range, or that many branches
    /// of the hierarchy's root.
    Diversity {
        /// The floor; personal terms may ask for more.
        l: L,
        /// Least spread of a bucket.
        min_spread: Spread,
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

/// How values are protected that share a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InBlock {
    /// No value in more than 1 in l of a block; personal terms may ask for more.
    pub l: L,
    /// Least spread of a block (*ours*).
    pub min_spread: Spread,
}

/// How values are protected that are published exactly, beside the group of
/// their record: what holds of the values of every group of rows that cannot be
/// told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InGroup {
    /// How diverse they are.
    pub diversity: Option<Diversity>,
    /// Within t of the distribution of the whole published table.
    pub closeness: Option<T>,
    /// How far apart the least and the largest known value are.
    pub min_spread: Spread,
}

/// The protection of one attribute, whatever the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Protection {
    /// No value in more than 1 in l of a bucket, of a block, or of the
    /// fingerprints of a group.
    Diversity {
        /// The floor; personal terms may ask for more.
        l: L,
        /// Least spread of a bucket or block.
        min_spread: Spread,
    },
    /// [`InBucket::Closeness`].
    Closeness {
        /// The bound for everyone.
        t: T,
        /// Largest share of one value in a bucket.
        max_posterior: Share,
    },
    /// The probability of a subject's own value, given the published values of
    /// their group, is at most this or the subject's own bound, whichever is
    /// stricter (`[PERS]`).
    Leakage {
        /// The bound for everyone.
        max_leakage: Share,
    },
    /// [`InGroup`].
    InGroup {
        /// How diverse values are.
        diversity: Option<Diversity>,
        /// Within t of the distribution of the whole published table.
        closeness: Option<T>,
        /// How far apart the least and the largest known value are.
        min_spread: Spread,
    },
}

impl Protection {
    /// The least spread that is asked for, where one is.
    pub fn min_spread(self) -> Option<f64> {
        match self {
            Self::Diversity { min_spread, .. } | Self::InGroup { min_spread, .. } => {
                min_spread.get()
            }
            Self::Closeness { .. } | Self::Leakage { .. } => None,
        }
    }
}

impl From<InBucket> for Protection {
    fn from(protection: InBucket) -> Self {
        match protection {
            InBucket::Diversity { l, min_spread } => Self::Diversity { l, min_spread },
            InBucket::Closeness { t, max_posterior } => Self::Closeness { t, max_posterior },
        }
    }
}

impl From<InBlock> for Protection {
    fn from(InBlock { l, min_spread }: InBlock) -> Self {
        Self::Diversity { l, min_spread }
    }
}

impl From<InBlock> for InBucket {
    fn from(InBlock { l, min_spread }: InBlock) -> Self {
        Self::Diversity { l, min_spread }
    }
}

impl From<InGroup> for Protection {
    fn from(protection: InGroup) -> Self {
        Self::InGroup {
            diversity: protection.diversity,
            closeness: protection.closeness,
            min_spread: protection.min_spread,
        }
    }
}

/// What the known values of a number or date must span in every group, largest
/// minus smallest ((k, e)-anonymity, Zhang et al. 2007).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Spread {
    /// Nothing is asked.
    #[default]
    Nothing,
    /// What the table's own scale says ([`Requirements`](super::Requirements)
    /// knows it): a tenth of what lies between the 5th and the 95th of a
    /// hundred known values.
    OfScale,
    /// This much, in the attribute's unit; days for dates.
    AtLeast(f64),
}

impl Spread {
    /// The least spread, where one is asked for and known.
    pub fn get(self) -> Option<f64> {
        match self {
            Self::AtLeast(least) if least > 0.0 => Some(least),
            _ => None,
        }
    }
}

/// How diverse the values of a group are (Machanavajjhala et al. 2006).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Diversity {
    /// At least l different values.
    Distinct(L),
    /// The entropy of the values is at least ln l.
    Entropy(L),
    /// The most frequent value occurs less than c times as often as all
    /// values together from the l-th most frequent one on.
    Recursive {
        /// The factor.
        c: C,
        /// From which rank on values count together.
        l: L,
    },
}

impl Diversity {
    /// The l of whichever form.
    pub const fn l(self) -> L {
        match self {
            Self::Distinct(l) | Self::Entropy(l) | Self::Recursive { l, .. } => l,
        }
    }
}
