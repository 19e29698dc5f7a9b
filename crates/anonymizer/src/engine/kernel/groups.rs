//! Finished groups: runs of records, and the terms that bound their size.

use rayon::prelude::*;

use crate::microdata::RecordIndex;
use crate::privacy::Requirements;

use super::mondrian::PartCondition;

/// Records in order of groups.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    records: Vec<u32>,
    /// First record of each group, and the number of records at the end.
    bounds: Vec<u32>,
}

impl Groups {
    /// Groups from records in order and a mark at the first record of each.
    pub fn from_starts(records: Vec<u32>, starts: &[bool]) -> Self {
        debug_assert_eq!(records.len(), starts.len());
        let marked = starts.iter().enumerate().filter(|(_, start)| **start);
        let mut bounds: Vec<u32> = marked.map(|(at, _)| at as u32).collect();
        bounds.push(records.len() as u32);
        Self { records, bounds }
    }

    /// Groups of rows that are positions in `records`.
    pub fn of_rows(mut rows: Vec<u32>, starts: &[bool], records: &[u32]) -> Self {
        let places = rows.par_iter_mut();
        places.for_each(|row| *row = records[*row as usize]);
        Self::from_starts(rows, starts)
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.bounds.len() - 1
    }

    /// Whether there is no group.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All records, group by group.
    pub fn records(&self) -> &[u32] {
        &self.records
    }

    /// Records of each group.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let bounds = self.bounds.windows(2);
        bounds.map(|pair| &self.records[pair[0] as usize..pair[1] as usize])
    }
}

impl PartCondition for KOfRows {
    type Buffers = ();

    fn buffers(&self) {}

    fn least(&self) -> usize {
        match self {
            Self::Same(k) => *k as usize,
            Self::Each(each) => each.least,
        }
    }

    fn enough(&self) -> usize {
        match self {
            Self::Same(k) => *k as usize,
            Self::Each(each) => each.most,
        }
    }

    fn tells_rows_apart(&self) -> bool {
        matches!(self, Self::Each(_))
    }

    fn holds(&self, rows: &[u32], _: &mut ()) -> bool {
        rows.len() >= self.of(rows)
    }
}

/// K of any set of rows: the strictest k of its members.
#[derive(Clone, Debug)]
pub enum KOfRows {
    /// Every row asks for the same.
    Same(u32),
    /// One k per row.
    Each(KOfEach),
}

/// One k per row.
#[derive(Clone, Debug)]
pub struct KOfEach {
    of_rows: Vec<u32>,
    /// The smallest of them, which every set asks for.
    least: usize,
    /// The largest of them; no set asks for more.
    most: usize,
}

impl KOfRows {
    /// Takes down what each record asks for; rows are numbered in the order
    /// of `records`.
    pub fn new(requirements: &Requirements, records: &[u32]) -> Self {
        if let [all] = requirements.distinct_terms() {
            return Self::Same(all.k);
        }
        let each: Vec<u32> = records
            .iter()
            .map(|&record| requirements.of(RecordIndex(record)).k)
            .collect();
        match each.first() {
            None => Self::Same(requirements.policy().k.get()),
            Some(&first) if each.iter().all(|&k| k == first) => Self::Same(first),
            Some(_) => Self::each(each),
        }
    }

    /// What each row asks for.
    pub fn each(of_rows: Vec<u32>) -> Self {
        let least = of_rows.iter().min().map_or(1, |&k| k as usize);
        let most = of_rows.iter().max().map_or(1, |&k| k as usize);
        Self::Each(KOfEach {
            of_rows,
            least,
            most,
        })
    }

    /// K of a set of rows; 1 for none.
    pub fn of(&self, rows: &[u32]) -> usize {
        match self {
            Self::Same(k) => *k as usize,
            Self::Each(each) => {
                let ks = rows.iter().map(|&row| each.of_rows[row as usize]);
                ks.max().unwrap_or(1) as usize
            }
        }
    }

    /// The k of one row.
    pub fn of_row(&self, row: u32) -> usize {
        match self {
            Self::Same(k) => *k as usize,
            Self::Each(each) => each.of_rows[row as usize] as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_set_has_fewer_rows_than_the_least_strict_of_all_asks_for() {
        let k = KOfRows::each(vec![3, 2, 5, 2]);
        assert_eq!((k.least(), k.enough()), (2, 5));
        assert_eq!((k.of(&[1, 3]), k.of(&[0, 2]), k.of_row(2)), (2, 5, 5));
        assert!(k.holds(&[1, 3], &mut ()) && k.holds(&[0, 1, 3], &mut ()));
        assert!(!k.holds(&[0, 1], &mut ()), "row 0 asks for three");
        assert_eq!(KOfRows::each(Vec::new()).least(), 1);
    }
}
