//! Which people of a population table fit published cells.
//!
//! A *class* is rows that show the same cells. A person fits it who has, in every
//! attribute that both show, a value that the cell covers: a number of the
//! interval, a leaf under the node, a member of the set. A masked cell covers
//! everybody, and so does one whose value is in a bucket. Counted exactly, by a
//! tree over the combinations of the table ([`index`]).

mod axis;
mod index;
#[cfg(test)]
mod tests;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::cell::Cell;

use crate::microdata::{Form, Hierarchy, PopulationTable};
use crate::privacy::CancelFlag;

use axis::{Axis, Cover};
use index::PeopleIndex;

/// One attribute as classes show it.
pub struct ShownAttribute<'a> {
    /// Its name.
    pub name: &'a str,
    /// The cells that occur.
    pub cells: &'a [Cell],
    /// Position in `cells` of each class's cell.
    pub of_class: Vec<u32>,
    /// The hierarchy of its categories, where they have one.
    pub hierarchy: Option<&'a Hierarchy>,
    /// By which forms spellings are one value.
    pub forms: &'a [Form],
}

/// The people who fit each of so many classes; an attribute that the table does
/// not have says nothing of them. Takes rayon's current pool; `cancel` is heeded.
pub fn fitting(
    table: &PopulationTable,
    classes: usize,
    shown: &[ShownAttribute<'_>],
    cancel: &CancelFlag,
) -> Vec<u64> {
    let mut axes: Vec<Axis> = Vec::new();
    let mut columns: Vec<(&ShownAttribute<'_>, Vec<Cover>)> = Vec::new();
    for (attribute, column) in table.attributes().iter().zip(table.columns()) {
        if let Some(shown) = shown.iter().find(|one| one.name == attribute.name) {
            let axis = Axis::new(column, shown.hierarchy, shown.forms);
            let covers = shown.cells.iter().map(|cell| axis.cover(cell));
            columns.push((shown, covers.collect()));
            axes.push(axis);
        }
    }
    // Classes that show the same in these attributes are fitted by the same people.
    let mut numbers: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
    let mut asked: Vec<Vec<u32>> = Vec::new();
    let of_class = (0..classes).map(|class| {
        let key: Vec<u32> = columns.iter().map(|(one, _)| one.of_class[class]).collect();
        let next = asked.len() as u32;
        *numbers.entry(key).or_insert_with_key(|key| {
            asked.push(key.clone());
            next
        })
    });
    let of_class: Vec<u32> = of_class.collect();
    let index = PeopleIndex::new(&axes, table.counts());
    let found: Vec<u64> = asked
        .par_iter()
        .map_init(Vec::new, |open, key| {
            cancel.heed();
            let covers = columns.iter().zip(key);
            let covers: Vec<&Cover> = covers.map(|((_, all), &at)| &all[at as usize]).collect();
            index.count(&covers, open)
        })
        .collect();
    of_class
        .into_iter()
        .map(|number| found[number as usize])
        .collect()
}
