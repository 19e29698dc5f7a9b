//! Which looks are equal: to an adversary such groups are one.

use rustc_hash::FxHashMap;

/// Positions of equal looks together, in order of the first.
pub(super) fn alike(looks: impl Iterator<Item = String>) -> Vec<Vec<usize>> {
    let mut position: FxHashMap<String, usize> = FxHashMap::default();
    let mut classes: Vec<Vec<usize>> = Vec::new();
    for (at, look) in looks.enumerate() {
        let next = classes.len();
        match *position.entry(look).or_insert(next) {
            class if class == next => classes.push(vec![at]),
            class => classes[class].push(at),
        }
    }
    classes
}
