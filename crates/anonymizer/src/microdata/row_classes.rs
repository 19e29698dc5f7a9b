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

    /// The same, where values are small numbers such as codes: no table of pairs
    /// of classes and values is made.
    pub fn refine_by_code(&mut self, code: impl Fn(usize) -> u32) {
        self.number = refine_by_code(&mut self.of_row, code);
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

/// Keeps rows in one class only where they agree in a small number too, and says how
/// many classes there are. Classes are numbered from 0 without a gap, and are so again,
/// in order of first appearance.
///
/// Takes 4 bytes a row, 8 a class and 8 for each number up to that of rows; the time is
/// linear in all of them.
pub fn refine_by_code(class_of_row: &mut [u32], code: impl Fn(usize) -> u32) -> usize {
    let Some(&last) = class_of_row.iter().max() else {
        return 0;
    };
    // Rows sorted by class, by counting.
    let mut starts = vec![0_u32; last as usize + 2];
    for &class in &*class_of_row {
        starts[class as usize + 1] += 1;
    }
    for class in 0..=last as usize {
        starts[class + 1] += starts[class];
    }
    let mut rows = vec![0_u32; class_of_row.len()];
    for (row, &class) in (0_u32..).zip(&*class_of_row) {
        let next = &mut starts[class as usize];
        rows[*next as usize] = row;
        *next += 1;
    }
    // Each class now starts where the one before it ends.
    let largest = (0..class_of_row.len()).map(&code).max().unwrap_or(0);
    // Broken tables may show any number: those beyond all rows are looked up.
    let table = class_of_row.len().max(1 << 16).min(largest as usize + 1);
    let mut seen = vec![(u32::MAX, 0_u32); table];
    let mut seen_beyond: FxHashMap<u32, (u32, u32)> = FxHashMap::default();
    let (mut start, mut made) = (0, 0);
    for (class, &end) in (0..=last).zip(&starts) {
        for &row in &rows[start as usize..end as usize] {
            let code = code(row as usize);
            let (seen_in, number) = match seen.get_mut(code as usize) {
                Some(seen) => seen,
                None => seen_beyond.entry(code).or_insert((u32::MAX, 0)),
            };
            if *seen_in != class {
                (*seen_in, *number) = (class, made);
                made += 1;
            }
            class_of_row[row as usize] = *number;
        }
        start = end;
    }
    drop((starts, rows));
    let mut number_of = vec![u32::MAX; made as usize];
    let mut next = 0;
    for class in class_of_row {
        let number = &mut number_of[*class as usize];
        if *number == u32::MAX {
            *number = next;
            next += 1;
        }
        *class = *number;
    }
    made as usize
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
        none.refine_by_code(|row| row as u32);
        assert_eq!(none.number, 0);
    }

    #[test]
    fn refining_by_codes_is_the_same_as_by_any_values() {
        let code = |row: usize, of: usize| {
            let number = ((row * (7 + of) + row / 3) % (2 + 3 * of)) as u32;
            // Of a broken table: no number of a table that could be made.
            number.wrapping_sub(u32::from(of == 4))
        };
        for rows in [1, 2, 50, 1_000] {
            let (mut one, mut other) = (RowClasses::whole(rows), RowClasses::whole(rows));
            for of in 0..6 {
                one.refine(|row| code(row, of));
                other.refine_by_code(|row| code(row, of));
                assert_eq!(one, other);
            }
        }
    }
}
