//! A job's policy: the floors that hold for every record.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::microdata::AttributeIndex;

use super::parameter::{C, K, L, Share, T};
use super::requirements::{ProtectedIndex, ProtectedSet};
use super::slicing::Slicing;

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
    /// The probability of a subject's own value, given the published values of
    /// their group, is at most this or the subject's own bound, whichever is
    /// stricter (`[PERS]`).
    Leakage {
        /// The bound for everyone.
        max_leakage: Share,
    },
    /// Values are published exactly, beside the group of their record; what
    /// holds of the values of every group of rows that look the same.
    InGroup {
        /// How diverse they are.
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

/// Which quasi-identifiers a subject has whose records disagree (1:M data).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QidConflict {
    /// None: such a table is refused.
    #[default]
    Reject,
    /// Those of the subject's last record, in order of upload.
    Latest,
    /// Those of the subject's first record, in order of upload.
    First,
    /// All of them: the interval, lowest common ancestor or set that covers
    /// every record of the subject (*ours*).
    Hull,
}

/// How sensitive values of one group are generalized (`[PERS]`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Recoding {
    /// All of the group's values under a node become that node: what a group
    /// publishes are nodes, none above another (*ours*).
    #[default]
    GroupCut,
    /// One colliding value at a time, as the paper has it, which tells what the
    /// values were. Kept to compare.
    Paper,
}

/// How blocks of sensitive values are published (`[ARP]` and its comparators).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockForm {
    /// Exact non-sensitive values, and the values of each block: every value
    /// once a block.
    Distinct,
    /// The same, values as often as the block's l allows.
    Eligible,
    /// One row a record, non-sensitive values generalized over the block.
    Generalized,
    /// Columns of attributes, each in an order of its own within the block.
    Sliced,
    /// Exact non-sensitive values; a sensitive value is kept with this
    /// probability, else drawn from its block.
    Randomized {
        /// Probability that a value is kept.
        retention: Share,
        /// Largest probability of a value, given the rows of its block.
        max_posterior: Share,
    },
    /// One row a record, non-sensitive values generalized over a window of a
    /// ring of the block's records; which of them the sensitive value belongs
    /// to is decided by one random shift a block.
    Ring,
}

/// What rows are and what is claimed about them, beside the floors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Model {
    /// One row a record; sensitive values in buckets (`[LGB]`).
    Bucketized,
    /// One row a record, in groups that share generalized quasi-identifiers;
    /// sensitive values as they are (`mondrian`).
    Generalized {
        /// Largest share of those who ask for something among those who are
        /// treated as if they did (*ours*).
        askers_share_max: Share,
    },
    /// One row a subject with the fingerprint of their sensitive values:
    /// (k, l)-diversity (`[1:M]`). [`Policy::k`] counts the subjects of a
    /// published fingerprint; the l of every sensitive attribute is that of
    /// fingerprints in a group.
    Fingerprints {
        /// Floor of the number of subjects in a group.
        k_group: K,
        /// No exactly published value belongs to more than 1 in this many
        /// subjects of a group (*ours*); 1 asks for nothing.
        value_l: L,
        /// Quasi-identifiers of subjects whose records disagree.
        qid_conflict: QidConflict,
    },
    /// One row a subject with the generalized set of their sensitive values:
    /// (k, k^m)-anonymity (`[RMR]`). [`Policy::k`] counts the subjects of a
    /// cluster, and those in it who share any combination of values.
    Itemsets {
        /// Largest combination of values that an adversary knows.
        m: u32,
        /// Quasi-identifiers of subjects whose records disagree.
        qid_conflict: QidConflict,
    },
    /// One row a record with a generalized sensitive value: k-anonymity with
    /// a bound on leakage that each subject sets (`[PERS]`).
    Personalized {
        /// How sensitive values of a group are generalized.
        recoding: Recoding,
        /// Largest share of those who ask for something among those who are
        /// treated as if they did (*ours*).
        askers_share_max: Share,
    },
    /// Sensitive values in blocks of records (`[ARP]`, `[Xiao–Tao 2006a]`).
    Blocks {
        /// How the blocks are published.
        form: BlockForm,
        /// The sensitive attributes that are published.
        sensitive: ProtectedSet,
    },
    /// Values of columns permuted inside buckets (`[Slicing]`). [`Policy::k`]
    /// counts the records of a bucket.
    Sliced(Arc<Slicing>),
}

/// The floors of one job.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// What rows are and what is claimed about them.
    pub model: Model,
    /// Floor of every record's k.
    pub k: K,
    /// Protection of each semi-sensitive and sensitive attribute, in the order
    /// of [`Schema::protectable`](crate::microdata::Schema::protectable).
    pub protections: Vec<(AttributeIndex, Protection)>,
    /// Whether subjects' preferences are joined (`"preferences": "apply"`).
    pub apply_preferences: bool,
}

impl Policy {
    /// The same with an l of one more for each of these attributes that has
    /// one of more than 1.
    #[must_use]
    pub(super) fn one_more(&self, of: ProtectedSet) -> Self {
        let mut policy = self.clone();
        for (at, (_, protection)) in (0..).zip(&mut policy.protections) {
            if let Protection::Diversity { l, .. } = protection
                && *l > L::NONE
                && of.contains(ProtectedIndex(at))
            {
                *l = l.one_more();
            }
        }
        policy
    }

    /// The same with an l of one less for each of these: what is ordered where
    /// this is kept.
    #[must_use]
    pub(super) fn one_less(&self, of: ProtectedSet) -> Self {
        let mut policy = self.clone();
        for (at, (_, protection)) in (0..).zip(&mut policy.protections) {
            if let Protection::Diversity { l, .. } = protection
                && of.contains(ProtectedIndex(at))
            {
                *l = l.one_less();
            }
        }
        policy
    }
}
