//! Clusters of one equivalence class.
//!
//! To an adversary clusters with the same published quasi-identifiers are one.
//! Sizes and supports only grow by that, but the l of one cluster's member
//! then has to hold over the other's fingerprints as well (*ours*).

use rustc_hash::FxHashMap;

use crate::engine::kernel::is_eligible;
use crate::engine::one_to_many::persons::Persons;
use crate::engine::one_to_many::publish::quasi_cells;
use crate::microdata::RowClasses;

use super::itemsets::Cut;

/// The clusters with those of one equivalence class joined, in order of the first.
pub(super) fn joined(persons: &Persons<'_>, clusters: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    let cells = clusters.iter().map(|cluster| quasi_cells(persons, cluster));
    RowClasses::of_keys(cells).join(clusters)
}

/// Persons who ask for an l that does not hold over all clusters of
/// their equivalence class.
pub(super) fn beyond_their_l(persons: &Persons<'_>, clusters: &[(Vec<u32>, Cut)]) -> Vec<u32> {
    if persons.l.iter().all(|&l| l == 1) {
        return Vec::new();
    }
    let cells = clusters
        .iter()
        .map(|(members, _)| quasi_cells(persons, members));
    let mut classes = RowClasses::of_keys(cells).members();
    classes.retain(|class| class.len() > 1);
    let mut beyond = Vec::new();
    for class in classes {
        let mut counts: FxHashMap<Vec<u32>, u64> = FxHashMap::default();
        let mut most = 0;
        let mut nodes = Vec::new();
        let members = || class.iter().flat_map(|&at| &clusters[at].0).copied();
        for &at in &class {
            let (members, cut) = &clusters[at];
            for &person in members {
                cut.fingerprint(persons.items(person), &mut nodes);
                let count = counts.entry(nodes.clone()).or_default();
                *count += 1;
                most = most.max(*count);
            }
        }
        let size = members().count() as u64;
        beyond.extend(members().filter(|&person| {
            let l = persons.l[person as usize];
            l > 1 && !is_eligible(most, size, l)
        }));
    }
    beyond
}
