//! Clusters that look alike.
//!
//! To an adversary clusters with the same published quasi-identifiers are one.
//! Sizes and supports only grow by that, but the l of one cluster's member
//! then has to hold over the other's fingerprints as well (*ours*).

use rustc_hash::FxHashMap;

use crate::engine::kernel::is_eligible;
use crate::engine::one_to_many::persons::Persons;
use crate::engine::one_to_many::publish::look;

use super::itemsets::Cut;

/// The clusters with those that look alike joined, in order of the first.
pub(super) fn joined(persons: &Persons<'_>, clusters: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    let mut position: FxHashMap<String, usize> = FxHashMap::default();
    let mut joined: Vec<Vec<u32>> = Vec::with_capacity(clusters.len());
    for cluster in clusters {
        let next = joined.len();
        match *position.entry(look(persons, &cluster)).or_insert(next) {
            at if at == next => joined.push(cluster),
            at => joined[at].extend(cluster),
        }
    }
    joined
}

/// Persons who ask for an l that does not hold over all clusters that look
/// like theirs.
pub(super) fn beyond_their_l(persons: &Persons<'_>, clusters: &[(Vec<u32>, Cut)]) -> Vec<u32> {
    if persons.l.iter().all(|&l| l == 1) {
        return Vec::new();
    }
    let mut alike: FxHashMap<String, Vec<usize>> = FxHashMap::default();
    for (at, (members, _)) in clusters.iter().enumerate() {
        alike.entry(look(persons, members)).or_default().push(at);
    }
    let mut classes: Vec<Vec<usize>> = alike.into_values().collect();
    classes.retain(|class| class.len() > 1);
    classes.sort_unstable();
    let mut beyond = Vec::new();
    for class in classes {
        let mut counts: FxHashMap<Vec<u32>, u64> = FxHashMap::default();
        let mut nodes = Vec::new();
        let members = || class.iter().flat_map(|&at| &clusters[at].0).copied();
        for &at in &class {
            let (members, cut) = &clusters[at];
            for &person in members {
                cut.fingerprint(persons.items(person), &mut nodes);
                *counts.entry(nodes.clone()).or_default() += 1;
            }
        }
        let most = counts.into_values().max().unwrap_or(0);
        let size = members().count() as u64;
        beyond.extend(members().filter(|&person| {
            let l = persons.l[person as usize];
            l > 1 && !is_eligible(most, size, l)
        }));
    }
    beyond
}
