//! Published groups: groups with equal generalized quasi-identifiers are one,
//! since nobody can tell which of them a person is in.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::engine::kernel::{Covers, Included};

/// Joins groups that look the same; the first of them gives its place.
pub(super) fn join_alike(included: &Included<'_>, groups: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    let looks: Vec<Vec<u32>> = included
        .quasi
        .par_iter()
        .map(|(_, column)| {
            let mut covers = Covers::new(&column.domain);
            let groups = groups.iter();
            groups.map(|group| covers.cover(column, group)).collect()
        })
        .collect();
    let mut places: FxHashMap<Vec<u32>, usize> = FxHashMap::default();
    let mut joined: Vec<Vec<u32>> = Vec::with_capacity(groups.len());
    for (at, group) in groups.into_iter().enumerate() {
        let look = looks.iter().map(|of_group| of_group[at]).collect();
        let place = *places.entry(look).or_insert(joined.len());
        match joined.get_mut(place) {
            Some(first) => first.extend(group),
            None => joined.push(group),
        }
    }
    joined
}
