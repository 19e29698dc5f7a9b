//! What a group of persons must satisfy: size, and l-diversity of
//! fingerprints and of exactly published values.

use crate::engine::kernel::PartCondition;

use super::partition::Fingerprints;
use super::persons::Persons;
use super::trees::Trees;

/// Conditions of every group.
pub(super) struct Conditions<'a> {
    /// What is asked of every person, at once.
    terms: Vec<PersonConditions>,
    fingerprints: &'a Fingerprints,
    floors: Floors,
    /// Exactly published values of each fingerprint; empty without `value_l`.
    values: Vec<Vec<u32>>,
    nodes: usize,
}

/// What the job asks of every group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Floors {
    pub k_group: u32,
    pub l: u32,
    pub value_l: u32,
}

/// A person's fingerprint, and the k and l that they ask for themself.
#[derive(Clone, Copy)]
struct PersonConditions {
    fingerprint: u32,
    k: u32,
    l: u32,
}

/// Counts, all zero between uses.
#[derive(Default)]
pub(super) struct Counts {
    of_fingerprint: Vec<u32>,
    of_value: Vec<u32>,
}

impl<'a> Conditions<'a> {
    /// Conditions over the published fingerprints.
    pub fn new(
        persons: &Persons<'_>,
        fingerprints: &'a Fingerprints,
        trees: &Trees,
        floors: Floors,
    ) -> Self {
        let is_value = |node: &u32| {
            let node = trees.node(*node);
            node.first == node.last
        };
        let values = match floors.value_l {
            1 => Vec::new(),
            _ => fingerprints
                .nodes
                .iter()
                .map(|nodes| nodes.iter().copied().filter(is_value).collect())
                .collect(),
        };
        let own = persons.k.iter().zip(&persons.l);
        let terms = own.zip(&fingerprints.of_person);
        let terms = terms.map(|((&k, &l), &fingerprint)| PersonConditions { fingerprint, k, l });
        Self {
            terms: terms.collect(),
            fingerprints,
            floors,
            values,
            nodes: trees.len(),
        }
    }

    fn values_hold(&self, group: &[u32], counts: &mut Counts) -> bool {
        if self.values.is_empty() {
            return true;
        }
        let mut most = 0_u32;
        let values =
            |person: &u32| &self.values[self.fingerprints.of_person[*person as usize] as usize];
        for &value in group.iter().flat_map(values) {
            let count = &mut counts.of_value[value as usize];
            *count += 1;
            most = most.max(*count);
        }
        for &value in group.iter().flat_map(values) {
            counts.of_value[value as usize] = 0;
        }
        u64::from(most) * u64::from(self.floors.value_l) <= group.len() as u64
    }
}

impl PartCondition for Conditions<'_> {
    type Buffers = Counts;

    fn buffers(&self) -> Counts {
        Counts {
            of_fingerprint: vec![0; self.fingerprints.nodes.len()],
            of_value: if self.values.is_empty() {
                Vec::new()
            } else {
                vec![0; self.nodes]
            },
        }
    }

    fn least(&self) -> usize {
        self.floors.k_group.max(self.floors.l) as usize
    }

    /// Whether these persons may be a group; they may be fewer than the least.
    fn holds(&self, group: &[u32], counts: &mut Counts) -> bool {
        if group.len() < self.least() {
            return false;
        }
        let size = group.len() as u64;
        let (mut most, mut k, mut l) = (0_u32, 1, self.floors.l);
        for &person in group {
            let terms = self.terms[person as usize];
            let count = &mut counts.of_fingerprint[terms.fingerprint as usize];
            *count += 1;
            most = most.max(*count);
            k = k.max(terms.k);
            l = l.max(terms.l);
        }
        for &person in group {
            let fingerprint = self.terms[person as usize].fingerprint;
            counts.of_fingerprint[fingerprint as usize] = 0;
        }
        u64::from(k) <= size
            && u64::from(most) * u64::from(l) <= size
            && self.values_hold(group, counts)
    }
}
