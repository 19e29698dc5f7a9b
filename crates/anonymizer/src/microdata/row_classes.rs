//! Classes of rows that agree in what is compared (equivalence classes).

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// The class of each row, numbered from 0 in order of first appearance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowClasses {
    /// Class of each row.
    pub of_row: Vec<u32>,
    /// Number of classes.
    pub number: usize,
}

impl RowClasses {
    /// All rows in one class.
    pub fn whole(rows: usize) -> Self {
        Self {
            of_row: vec![0; rows],
            number: usize::from(rows > 0),
        }
    }

    /// Rows with equal keys in one class; one key a row.
    pub fn of_keys<K: Eq + Hash>(keys: impl Iterator<Item = K>) -> Self {
        let mut numbers: FxHashMap<K, u32> = FxHashMap::default();
        let of_row = keys.map(|key| {
            let next = numbers.len() as u32;
            *numbers.entry(key).or_insert(next)
        });
        Self {
            of_row: of_row.collect(),
            number: numbers.len(),
        }
    }

    /// Keeps rows in one class only where they agree in `value` too.
    pub fn refine<V: Eq + Hash>(&mut self, mut value: impl FnMut(usize) -> V) {
        let mut numbers: FxHashMap<(u32, V), u32> = FxHashMap::default();
        for (row, class) in self.of_row.iter_mut().enumerate() {
            let next = numbers.len() as u32;
            *class = *numbers.entry((*class, value(row))).or_insert(next);
        }
        self.number = numbers.len();
    }

    /// The rows of each class, ascending.
    pub fn members(&self) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); self.number];
        for (row, &class) in self.of_row.iter().enumerate() {
            members[class as usize].push(row);
        }
        members
    }

    /// Groups in order of rows, those of one class joined; the first of a class
    /// gives its place.
    pub fn join(&self, groups: impl IntoIterator<Item = Vec<u32>>) -> Vec<Vec<u32>> {
        let mut joined = vec![Vec::new(); self.number];
        for (group, &class) in groups.into_iter().zip(&self.of_row) {
            joined[class as usize].extend(group);
        }
        joined
    }

    /// Number of rows of each class.
    pub fn sizes(&self) -> Vec<u32> {
        let mut sizes = vec![0; self.number];
        for &class in &self.of_row {
            sizes[class as usize] += 1;
        }
        sizes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_numbered_in_order_of_first_appearance() {
        let classes = RowClasses::of_keys(["b", "a", "b", "c"].into_iter());
        assert_eq!(
            (classes.of_row.as_slice(), classes.number),
            (&[0, 1, 0, 2][..], 3)
        );
        assert_eq!(classes.members(), [vec![0, 2], vec![1], vec![3]]);
        assert_eq!(classes.sizes(), [2, 1, 1]);
        let groups = [vec![7, 1], vec![5], vec![3], vec![]];
        assert_eq!(classes.join(groups), [vec![7, 1, 3], vec![5], vec![]]);
    }

    #[test]
    fn refining_by_each_attribute_is_the_same_as_comparing_all_of_them() {
        let rows = [(1, 'x'), (2, 'x'), (1, 'y'), (1, 'x'), (2, 'y'), (2, 'x')];
        let mut refined = RowClasses::whole(rows.len());
        assert_eq!(refined.number, 1);
        refined.refine(|row| rows[row].0);
        refined.refine(|row| rows[row].1);
        assert_eq!(refined, RowClasses::of_keys(rows.iter()));
        let mut none = RowClasses::whole(0);
        none.refine(|row| row);
        assert_eq!(none.number, 0);
    }
}
