//! A job's policy: the floors that hold for every record.
//!
//! The protections of attributes are part of the [`Model`], each of the kind
//! that releases of that model can keep.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::microdata::AttributeIndex;

use super::parameter::{K, L, Share};
use super::protected::{ProtectedIndex, ProtectedSet};
use super::protection::{InBlock, InBucket, InGroup, Protection, Spread};
use super::slicing::Slicing;

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

/// The protections of attributes, in the order of
/// [`Schema::protectable`](crate::microdata::Schema::protectable).
pub type Protections<P> = Vec<(AttributeIndex, P)>;

/// What rows are and what is claimed about them, with the protection of each
/// semi-sensitive and sensitive attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Model {
    /// One row a record; sensitive values in buckets (`[LGB]`).
    Bucketized {
        /// Protection of each attribute.
        protections: Protections<InBucket>,
    },
    /// One row a record, in groups that share generalized quasi-identifiers;
    /// sensitive values as they are (`mondrian`).
    Generalized {
        /// Largest share of those who ask for something among those who are
        /// treated as if they did (*ours*).
        askers_share_max: Share,
        /// Protection of each attribute.
        protections: Protections<InGroup>,
    },
    /// One row a subject with the fingerprint of their sensitive values:
    /// (k, l)-diversity (`[1:M]`). [`Policy::k`] counts the subjects of a
    /// published fingerprint.
    Fingerprints {
        /// Floor of the number of subjects in a group.
        k_group: K,
        /// No exactly published value belongs to more than 1 in this many
        /// subjects of a group (*ours*); 1 asks for nothing.
        value_l: L,
        /// Quasi-identifiers of subjects whose records disagree.
        qid_conflict: QidConflict,
        /// The l of each sensitive attribute, which is that of fingerprints in
        /// a group.
        l: Protections<L>,
    },
    /// One row a subject with the generalized set of their sensitive values:
    /// (k, k^m)-anonymity (`[RMR]`). [`Policy::k`] counts the subjects of a
    /// cluster, and those in it who share any combination of values.
    Itemsets {
        /// Largest combination of values that an adversary knows.
        m: u32,
        /// Quasi-identifiers of subjects whose records disagree.
        qid_conflict: QidConflict,
        /// The sensitive attributes, which no l protects.
        sensitive: Vec<AttributeIndex>,
    },
    /// One row a record with a generalized sensitive value: k-anonymity with
    /// a bound on leakage that each subject sets (`[PERS]`).
    Personalized {
        /// How sensitive values of a group are generalized.
        recoding: Recoding,
        /// Largest share of those who ask for something among those who are
        /// treated as if they did (*ours*).
        askers_share_max: Share,
        /// The sensitive attribute.
        sensitive: AttributeIndex,
        /// The bound of leakage for everyone.
        max_leakage: Share,
    },
    /// Sensitive values in blocks of records (`[ARP]`, `[Xiao–Tao 2006a]`).
    Blocks {
        /// How the blocks are published.
        form: BlockForm,
        /// The sensitive attributes that are published.
        sensitive: ProtectedSet,
        /// Protection of each attribute, published or not.
        protections: Protections<InBlock>,
    },
    /// Values of columns permuted inside buckets (`[Slicing]`). [`Policy::k`]
    /// counts the records of a bucket.
    Sliced {
        /// Which attributes stay linked.
        slicing: Arc<Slicing>,
        /// Protection of each attribute.
        protections: Protections<InBucket>,
    },
}

impl Model {
    /// Number of attributes that are protected.
    pub fn protected(&self) -> usize {
        match self {
            Self::Bucketized { protections } | Self::Sliced { protections, .. } => {
                protections.len()
            }
            Self::Generalized { protections, .. } => protections.len(),
            Self::Fingerprints { l, .. } => l.len(),
            Self::Itemsets { sensitive, .. } => sensitive.len(),
            Self::Personalized { .. } => 1,
            Self::Blocks { protections, .. } => protections.len(),
        }
    }

    /// The attribute at a position, and its protection.
    ///
    /// # Panics
    /// Where there are fewer.
    pub fn protection(&self, index: ProtectedIndex) -> (AttributeIndex, Protection) {
        fn of<P: Copy + Into<Protection>>(
            (attribute, own): (AttributeIndex, P),
        ) -> (AttributeIndex, Protection) {
            (attribute, own.into())
        }
        let of_l = |l| {
            Protection::from(InBlock {
                l,
                min_spread: Spread::Nothing,
            })
        };
        let at = index.at();
        match self {
            Self::Bucketized { protections } | Self::Sliced { protections, .. } => {
                of(protections[at])
            }
            Self::Generalized { protections, .. } => of(protections[at]),
            Self::Fingerprints { l, .. } => (l[at].0, of_l(l[at].1)),
            Self::Itemsets { sensitive, .. } => (sensitive[at], of_l(L::NONE)),
            Self::Personalized {
                sensitive,
                max_leakage,
                ..
            } => {
                let max_leakage = *max_leakage;
                ([*sensitive][at], Protection::Leakage { max_leakage })
            }
            Self::Blocks { protections, .. } => of(protections[at]),
        }
    }

    /// Changes the l of every attribute that an l protects.
    pub fn change_l(&mut self, mut change: impl FnMut(ProtectedIndex, &mut L)) {
        let mut change = |at: usize, l: &mut L| change(ProtectedIndex(at as u8), l);
        match self {
            Self::Bucketized { protections } | Self::Sliced { protections, .. } => {
                for (at, (_, protection)) in protections.iter_mut().enumerate() {
                    if let InBucket::Diversity { l, .. } = protection {
                        change(at, l);
                    }
                }
            }
            Self::Fingerprints { l, .. } => {
                let all = l.iter_mut().enumerate();
                all.for_each(|(at, (_, l))| change(at, l));
            }
            Self::Blocks { protections, .. } => {
                let all = protections.iter_mut().enumerate();
                all.for_each(|(at, (_, protection))| change(at, &mut protection.l));
            }
            Self::Generalized { .. } | Self::Itemsets { .. } | Self::Personalized { .. } => {}
        }
    }

    /// Changes the least spread of every attribute that may have one.
    pub fn change_spreads(&mut self, mut change: impl FnMut(AttributeIndex, &mut Spread)) {
        match self {
            Self::Bucketized { protections } | Self::Sliced { protections, .. } => {
                for (attribute, protection) in protections {
                    if let InBucket::Diversity { min_spread, .. } = protection {
                        change(*attribute, min_spread);
                    }
                }
            }
            Self::Generalized { protections, .. } => {
                let all = protections.iter_mut();
                all.for_each(|(attribute, own)| change(*attribute, &mut own.min_spread));
            }
            Self::Blocks { protections, .. } => {
                let all = protections.iter_mut();
                all.for_each(|(attribute, own)| change(*attribute, &mut own.min_spread));
            }
            Self::Fingerprints { .. } | Self::Itemsets { .. } | Self::Personalized { .. } => {}
        }
    }
}

/// The floors of one job.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// What rows are, what is claimed about them, and how each semi-sensitive
    /// and sensitive attribute is protected.
    pub model: Model,
    /// Floor of every record's k.
    pub k: K,
    /// Whether subjects' preferences are joined (`"preferences": "apply"`).
    pub apply_preferences: bool,
}

impl Policy {
    /// Each protected attribute with its protection, in schema order.
    pub fn protections(&self) -> impl ExactSizeIterator<Item = (AttributeIndex, Protection)> + '_ {
        let all = 0..self.model.protected();
        all.map(|at| self.model.protection(ProtectedIndex(at as u8)))
    }

    /// The same with an l of one more for each of these attributes that has
    /// one of more than 1.
    #[must_use]
    pub(super) fn one_more(&self, of: ProtectedSet) -> Self {
        let mut policy = self.clone();
        policy.model.change_l(|index, l| {
            if *l > L::NONE && of.contains(index) {
                *l = l.one_more();
            }
        });
        policy
    }

    /// The same with an l of one less for each of these: what is ordered where
    /// this is kept.
    #[must_use]
    pub(super) fn one_less(&self, of: ProtectedSet) -> Self {
        let mut policy = self.clone();
        policy.model.change_l(|index, l| {
            if of.contains(index) {
                *l = l.one_less();
            }
        });
        policy
    }
}
