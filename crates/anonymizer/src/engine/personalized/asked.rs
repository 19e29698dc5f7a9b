//! What each record asks for, as grouping and recoding need it.
//!
//! Records with equal terms share one [`Ask`]. K_i = max(k, ⌈1/pleak_i⌉, k_i):
//! in a group smaller than 1/pleak a subject's own record alone is a larger
//! share than they accept.
//!
//! A guard is the set of leaves under all guarded nodes of a subject; the
//! probability that their value is any of those leaves is bounded as well,
//! whatever their value is. A node that the hierarchy does not have cannot be
//! told from any other: it stands for all leaves.

use rustc_hash::FxHashMap;

use crate::microdata::{Codes, Hierarchy};
use crate::privacy::{RecordTerms, Requirements, Share};

use crate::engine::kernel::included::SensitiveColumn;

/// First and last leaf of runs, ascending, none touching another.
pub(super) type Leaves = Vec<(u32, u32)>;

/// What one record asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ask {
    /// K_i.
    pub k: u32,
    /// pleak_i.
    pub share: Share,
    /// Position of the guard among [`Asked::guards`].
    pub guard: Option<u32>,
}

/// What every record asks for.
#[derive(Debug)]
pub(super) struct Asked<'a> {
    asks: Vec<Ask>,
    of_record: &'a Codes,
    guards: Vec<Leaves>,
}

impl<'a> Asked<'a> {
    /// Reads the terms about one sensitive attribute.
    pub fn new(
        requirements: &'a Requirements,
        sensitive: SensitiveColumn<'_>,
        tree: &Hierarchy,
    ) -> Self {
        let mut guards = Vec::new();
        let mut positions: FxHashMap<Leaves, u32> = FxHashMap::default();
        let terms = requirements.distinct_terms().iter();
        let asks = terms.map(|terms| {
            let share = terms.max_share[sensitive.index.at()];
            let guard = guarded(terms, sensitive, tree).map(|leaves| {
                *positions.entry(leaves).or_insert_with_key(|leaves| {
                    guards.push(leaves.clone());
                    guards.len() as u32 - 1
                })
            });
            Ask {
                k: terms.k.max(share.reciprocal_ceiling()),
                share,
                guard,
            }
        });
        Self {
            asks: asks.collect(),
            of_record: requirements.terms_of_record(),
            guards,
        }
    }

    /// What a record asks for.
    #[inline]
    pub fn of(&self, record: u32) -> Ask {
        self.of_terms(self.of_record.at(record as usize))
    }

    /// What the terms at a position ask for.
    #[inline]
    pub fn of_terms(&self, at: u32) -> Ask {
        self.asks[at as usize]
    }

    /// Leaves of one guard.
    pub fn guard(&self, at: u32) -> &Leaves {
        &self.guards[at as usize]
    }
}

/// Leaves under the guarded nodes of a subject; none where nothing is guarded.
fn guarded(
    terms: &RecordTerms,
    sensitive: SensitiveColumn<'_>,
    tree: &Hierarchy,
) -> Option<Leaves> {
    let guards = terms.guard.iter();
    let nodes = guards.filter(|(index, _)| *index == sensitive.index);
    let mut leaves: Leaves = nodes
        .flat_map(|(_, labels)| labels)
        .map(|label| match tree.find(label) {
            None => (0, tree.leaf_count() as u32 - 1),
            Some(index) => {
                let node = tree.node(index);
                (node.first_leaf.0, node.last_leaf().0)
            }
        })
        .collect();
    leaves.sort_unstable();
    let mut joined: Leaves = Vec::with_capacity(leaves.len());
    for (first, last) in leaves {
        match joined.last_mut() {
            Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
            _ => joined.push((first, last)),
        }
    }
    (!joined.is_empty()).then_some(joined)
}
