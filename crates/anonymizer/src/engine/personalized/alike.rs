//! Published groups: groups with equal generalized quasi-identifiers are one,
//! since nobody can tell which of them a person is in.

use rayon::prelude::*;

use crate::engine::kernel::{Covers, Included};
use crate::microdata::RowClasses;

/// Joins groups of one equivalence class; the first of them gives its place.
pub(super) fn join_alike(included: &Included<'_>, groups: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    let cells: Vec<Vec<u32>> = included
        .quasi
        .par_iter()
        .map(|(_, column)| {
            let mut covers = Covers::new(&column.domain);
            let groups = groups.iter();
            groups.map(|group| covers.cover(column, group)).collect()
        })
        .collect();
    let mut classes = RowClasses::whole(groups.len());
    for of_group in cells {
        classes.refine(|at| of_group[at]);
    }
    classes.join(groups)
}
